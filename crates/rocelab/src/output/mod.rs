//! From the fabric's output to what a run leaves behind: tables, summary, traces, captures,
//! warnings.

pub(crate) mod capture;
mod marking_warnings;
pub(crate) mod report;
mod scheme_warnings;
pub(crate) mod traces;
mod warnings;

/// The order of the events of one nanosecond. It decides what a user can change, and so what
/// warnings advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventOrder {
    /// rocelab's own: every key of the scenario can be set.
    Fast,
    /// ns-3's: the files of the HPCC simulator are taken as they are.
    Ns3,
}

pub(crate) use warnings::in_advance as warnings_in_advance;
