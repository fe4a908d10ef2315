//! Numbers of flows that had not completed when the run ended.

use crate::record::record;
use model::Cause;

record! {
    unfinished_fields:
    /// Numbers of flows that had not completed when the run ended, by the cause.
    pub struct Unfinished {
        /// Flows of which a packet, or its ACK, was lost, and nothing sends it again.
        pub lost: u64,
        /// Flows that their scheme lets send no more, though all that they sent has arrived.
        pub stopped: u64,
        /// Flows with links on their path that wait for each other in a circle of PFC pauses.
        pub deadlock: u64,
        /// Flows with a port on their path that stays paused, because the PFC frame that ends the
        /// pause was lost.
        pub paused: u64,
        /// Flows of which no packet gets through to the receiver, or back.
        pub disconnected: u64,
        /// Flows after another one: the one that they answer, or one ahead on their QP or port.
        pub waiting: u64,
        /// Flows that were still sending, or whose last packets were on their way.
        pub sending: u64,
        /// Flows that had not started.
        pub not_started: u64,
    }
}

impl Unfinished {
    /// Counts flows by their causes.
    pub fn count(causes: impl IntoIterator<Item = Cause>) -> Unfinished {
        let mut counts = Unfinished::default();
        for cause in causes {
            *match cause {
                Cause::Lost => &mut counts.lost,
                Cause::Stopped => &mut counts.stopped,
                Cause::Deadlock => &mut counts.deadlock,
                Cause::Paused => &mut counts.paused,
                Cause::Disconnected => &mut counts.disconnected,
                Cause::Waiting => &mut counts.waiting,
                Cause::Sending => &mut counts.sending,
                Cause::NotStarted => &mut counts.not_started,
            } += 1;
        }
        counts
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        let Unfinished {
            lost,
            stopped,
            deadlock,
            paused,
            disconnected,
            waiting,
            sending,
            not_started,
        } = self;
        lost + stopped + deadlock + paused + disconnected + waiting + sending + not_started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_is_counted_once() {
        let all = [
            Cause::Lost,
            Cause::Stopped,
            Cause::Deadlock,
            Cause::Paused,
            Cause::Disconnected,
            Cause::Waiting,
            Cause::Sending,
            Cause::NotStarted,
        ];
        for cause in all {
            assert_eq!(Unfinished::count([cause, cause]).total(), 2);
        }
        let two = Unfinished::count([Cause::Lost, Cause::Sending, Cause::Lost]);
        assert_eq!((two.lost, two.sending), (2, 1));
        assert_eq!(Unfinished::count(all).total(), 8);
    }
}
