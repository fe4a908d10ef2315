//! Warnings of a run, and which of them cast doubt on its numbers.

use crate::record::record;

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// Flows had not completed, so that they are in no statistic of completion times.
    UnfinishedFlows,
    /// Flows are unfinished only because the run stops at a time that the user set.
    CutOffFlows,
    /// PFC pauses links in a circle.
    Deadlock,
    /// Packets of a lossless class were dropped.
    LosslessDrops,
    /// Data was sent again for nothing.
    Retransmissions,
    /// Probes, traces or the summary lack a part of the run.
    Records,
    /// A setting has another effect than one may expect, or none.
    Settings,
}

impl WarningKind {
    /// As `summary.json` has it.
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::UnfinishedFlows => "unfinished-flows",
            WarningKind::CutOffFlows => "cut-off-flows",
            WarningKind::Deadlock => "deadlock",
            WarningKind::LosslessDrops => "lossless-drops",
            WarningKind::Retransmissions => "retransmissions",
            WarningKind::Records => "records",
            WarningKind::Settings => "settings",
        }
    }

    /// Whether the numbers of the run may not be what they seem, so that `--strict` fails.
    pub fn casts_doubt(self) -> bool {
        match self {
            WarningKind::UnfinishedFlows
            | WarningKind::CutOffFlows
            | WarningKind::Deadlock
            | WarningKind::LosslessDrops => true,
            WarningKind::Retransmissions | WarningKind::Records | WarningKind::Settings => false,
        }
    }
}

record! {
    warning_fields:
    /// What a warning is about.
    pub struct WarningInfo {
        /// Its kind, such as `deadlock` or `unfinished-flows`.
        pub kind: String,
        /// Whether the numbers of the run may not be what they seem.
        pub casts_doubt: bool,
    }
}

impl From<WarningKind> for WarningInfo {
    fn from(kind: WarningKind) -> WarningInfo {
        WarningInfo { kind: kind.name().to_owned(), casts_doubt: kind.casts_doubt() }
    }
}

/// Something that the user should know of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The sentences that are shown.
    pub text: String,
}
