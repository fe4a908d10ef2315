//! From the fabric's output to what a run leaves behind: tables, summary, traces, captures,
//! warnings.

pub(crate) mod capture;
mod idle_settings;
mod marking_warnings;
pub(crate) mod report;
mod scheme_warnings;
pub(crate) mod traces;
mod warnings;

use results::{Warning, WarningKind};
pub(crate) use warnings::{changes_from, in_advance as warnings_in_advance};

/// The order of the events of one nanosecond. It decides what a user can change, and so what
/// warnings advise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventOrder {
    /// rocelab's own: every key of the scenario can be set.
    Fast,
    /// ns-3's: the files of the HPCC simulator are taken as they are.
    Ns3,
}

impl EventOrder {
    /// Adds to a warning about settings what to do where no key of the scenario can be set.
    fn advise(self, mut warning: Warning) -> Warning {
        if (warning.kind, self) == (WarningKind::Settings, EventOrder::Ns3) {
            warning.text.push_str(
                "; with --order ns3 no key can be set: change the configuration, or leave out the \
                 order",
            );
        }
        warning
    }
}
