//! From the fabric's output to what a run leaves behind: tables, summary, traces, captures,
//! warnings.

pub(crate) mod capture;
mod marking_warnings;
pub(crate) mod report;
mod scheme_warnings;
pub(crate) mod traces;
mod warnings;

pub(crate) use warnings::in_advance as warnings_in_advance;
