//! The messages of a host that were not finished when the run ended.

use super::{FlowOutcome, Host, ReceiverSlot};
use crate::hooks::NpTimerOf;
use crate::host::qp::{Messages, Sender};
use crate::network::flow::NO_FLOW;
use crate::packet::{Address, Scheme};
use model::Cause;
use schemes::contract::NpTimerSlot;
use std::collections::BTreeSet;
use units::Time;

impl FlowOutcome {
    fn is_open(&self) -> bool {
        self.fct == Time::NEVER
    }
}

impl<S: Scheme> Host<S> {
    /// Whether all messages that this host sends are finished.
    pub(crate) fn is_done(&self) -> bool {
        !self.outcomes.iter().any(FlowOutcome::is_open)
    }

    /// The retransmission timeout of a sending end with what it has in flight.
    pub(crate) fn timeout_of(&self, slot: u32) -> Time {
        self.common.recovery.timeout(self.cold.outstanding(slot))
    }

    /// The sending end that packets with this address belong to.
    pub(crate) fn sender(&self, address: &Address) -> Option<&Sender<S>> {
        self.senders.get(address.sender_slot).filter(|sender| sender.matches(address))
    }

    /// The position in its stream that a receiving end waits for.
    pub(crate) fn expected(&self, number: u32) -> u64 {
        match self.receiver_slots[number as usize] {
            ReceiverSlot::Unopened => 0,
            ReceiverSlot::Open(slot) => {
                self.receivers.get(slot).map_or(0, |receiver| receiver.expected)
            }
            ReceiverSlot::Finished(all) => all,
        }
    }

    /// When the timer of a notification point expires.
    pub(crate) fn receiver_timer(&self, number: u32) -> Time {
        match self.receiver_slots[number as usize] {
            ReceiverSlot::Open(slot) => self
                .receivers
                .get(slot)
                .map_or(Time::NEVER, |receiver| NpTimerOf::<S>::next_timer(&receiver.np)),
            ReceiverSlot::Unopened | ReceiverSlot::Finished(_) => Time::NEVER,
        }
    }

    /// Whether a sending end may send, but its port will not see that before something else happens
    /// ([`ScanQuirks::missed_wakeup`](crate::ScanQuirks::missed_wakeup)).
    pub(crate) fn sleeps(&self, sender: &Sender<S>) -> bool {
        let nic = &self.nics[usize::from(sender.nic)];
        let is_paused = nic.port.is_paused(Some(sender.priority));
        nic.scan.is_some() && nic.due == Time::NEVER && !is_paused && sender.ready_at().is_some()
    }

    /// Adds its messages that are not finished when the run ends at `end`, and why. `cause` says
    /// why those of an open sending end, in a slot, are not.
    pub(crate) fn add_unfinished(
        &self,
        end: Time,
        cause: impl Fn(u32, &Sender<S>) -> Cause,
        found: &mut Vec<(u32, Cause)>,
    ) {
        for (slot, sender) in self.senders.iter().filter(|(_, sender)| sender.open) {
            let Messages { oldest, sending } = self.cold.messages(sender, slot);
            if oldest.flow != NO_FLOW {
                let cause = cause(slot, sender);
                self.add_of_qp(oldest.flow, sending.flow, cause, found);
            }
        }
        let due: BTreeSet<u32> = self.timers.posts().collect();
        for (&flow, outcome) in self.outgoing.iter().zip(&self.outcomes) {
            if outcome.posted != Time::NEVER {
                continue;
            }
            let row = &self.common.flows[flow as usize];
            let waits = if row.has_dependency { !due.contains(&flow) } else { row.start < end };
            found.push((flow, if waits { Cause::Waiting } else { Cause::NotStarted }));
        }
    }

    /// Adds the posted messages of a QP from `oldest` on. The QP is at `sending`, which is
    /// unfinished for this reason.
    fn add_of_qp(&self, oldest: u32, sending: u32, cause: Cause, found: &mut Vec<(u32, Cause)>) {
        let (mut flow, mut is_behind) = (oldest, false);
        while flow != NO_FLOW {
            let row = &self.common.flows[flow as usize];
            let outcome = &self.outcomes[row.index_at_sender as usize];
            if outcome.posted == Time::NEVER {
                return;
            }
            if outcome.is_open() {
                found.push((flow, if is_behind { Cause::Waiting } else { cause }));
            }
            is_behind |= match cause {
                Cause::Sending => flow == sending,
                // All messages on the path wait for the same reason.
                Cause::Deadlock | Cause::Paused | Cause::Disconnected => false,
                Cause::Lost | Cause::Stopped | Cause::Waiting | Cause::NotStarted => true,
            };
            flow = row.next_on_qp;
        }
    }
}
