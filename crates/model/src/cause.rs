//! Why messages are not finished.

/// Why a flow had not completed when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A packet of it, or its ACK, was lost, and nothing sends it again.
    Lost,
    /// Its scheme lets it send no more, though all that it sent has arrived.
    Stopped,
    /// Links on its path wait for each other in a circle of PFC pauses.
    Deadlock,
    /// A port on its path stays paused, because the PFC frame that ends the pause was lost.
    Paused,
    /// No packet gets through to its receiver, or back.
    Disconnected,
    /// Another flow comes first: the one that it answers, or one ahead of it on its QP. Or its port
    /// has missed its wake-up and waits for another flow.
    Waiting,
    /// It was still sending, or its last packets were on their way.
    Sending,
    /// It had not started.
    NotStarted,
}

impl Cause {
    /// Its name in tables and in `summary.json`.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Lost => "lost",
            Cause::Stopped => "stopped",
            Cause::Deadlock => "deadlock",
            Cause::Paused => "paused",
            Cause::Disconnected => "disconnected",
            Cause::Waiting => "waiting",
            Cause::Sending => "sending",
            Cause::NotStarted => "not_started",
        }
    }
}
