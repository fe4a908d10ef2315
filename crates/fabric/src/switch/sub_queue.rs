//! Queues of a congestion point within one priority: for each destination, for each flow, for
//! harmful flows. Their heads are gated. Those whose gates are open take turns.

use crate::packet::{Packet, Scheme};
use engine::{Fifo, Handle, Packets};
use schemes::contract::Gate;
use std::collections::VecDeque;
use units::Time;

/// Maximum number of sub-queues of a port.
const MAX_SUB_QUEUES: u32 = 1 << 24;

#[derive(Debug, Default)]
struct SubQueue {
    fifo: Fifo,
    priority: u8,
}

/// The sub-queues that may send now.
pub(crate) struct ReadySubQueues {
    /// Priorities that have such a sub-queue.
    pub(crate) priorities: u16,
    /// By priority: index in the round of the first one.
    pub(crate) indices: [u32; 8],
    /// Priorities in which it goes before the port's own queue.
    pub(crate) ahead: u16,
    /// When the first gate opens of those that wait for time only.
    pub(crate) wait: Time,
}

/// The sub-queues of a port.
#[derive(Debug, Default)]
pub(crate) struct SubQueues {
    /// By number. Number 0 is the port's own queue and stays empty here.
    queues: Vec<SubQueue>,
    /// Sub-queues that are not empty, next one first.
    round: VecDeque<u32>,
    /// Priorities in which a sub-queue sent last, so that it is the turn of the port's own queue.
    own_turn: u8,
}

impl SubQueues {
    pub(crate) fn push<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        number: u32,
        priority: u8,
        handle: Handle,
    ) {
        if self.queues.len() <= number as usize {
            // The numbers size a list.
            assert!(
                number < MAX_SUB_QUEUES,
                "{} returns the sub-queue {number}; numbers must be below {MAX_SUB_QUEUES}",
                S::NAME
            );
            self.queues.resize_with(number as usize + 1, SubQueue::default);
        }
        let queue = &mut self.queues[number as usize];
        if queue.fifo.is_empty() {
            queue.priority = priority;
            self.round.push_back(number);
        }
        debug_assert_eq!(queue.priority, priority, "a sub-queue belongs to one priority");
        queue.fifo.push(packets, handle);
    }

    /// Returns which sub-queues may send now.
    pub(crate) fn open<S: Scheme>(
        &self,
        packets: &Packets<'_, Packet<S>>,
        paused: u16,
        gate: impl Fn(u32, &Packet<S>) -> Gate,
    ) -> ReadySubQueues {
        let mut open =
            ReadySubQueues { priorities: 0, indices: [0; 8], ahead: 0, wait: Time::NEVER };
        for (index, &number) in self.round.iter().enumerate() {
            let queue = &self.queues[number as usize];
            let bit = 1 << queue.priority;
            if (paused | open.priorities) & bit != 0 {
                continue;
            }
            let head = queue.fifo.peek(packets).expect("only filled ones are in the round");
            match gate(number, head) {
                gate @ (Gate::Open | Gate::OpenFirst) => {
                    open.priorities |= bit;
                    open.ahead |= if gate == Gate::OpenFirst { bit } else { 0 };
                    open.indices[queue.priority as usize & 7] = index as u32;
                }
                Gate::ClosedUntil(time) => open.wait = open.wait.min(time),
                Gate::Closed => {}
            }
        }
        open
    }

    /// Returns whether a sub-queue sends instead of the port's own queue of this priority. If both
    /// have packets, they alternate.
    pub(crate) fn is_turn_of_sub_queue(&mut self, priority: usize, own_waits: bool) -> bool {
        let bit = 1 << priority;
        if own_waits && self.own_turn & bit != 0 {
            self.own_turn &= !bit;
            return false;
        }
        self.own_turn |= bit;
        true
    }

    /// Removes any waiting packet.
    pub(crate) fn remove_any<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
    ) -> Option<Handle> {
        let &number = self.round.front()?;
        let queue = &mut self.queues[number as usize];
        let handle = queue.fifo.pop(packets).expect("only filled ones are in the round");
        if queue.fifo.is_empty() {
            self.round.pop_front();
        }
        Some(handle)
    }

    /// Removes a waiting packet of a priority, out of turn.
    pub(crate) fn remove_of<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        priority: u8,
    ) -> Option<Handle> {
        let of_priority = |&number: &u32| self.queues[number as usize].priority == priority;
        let index = self.round.iter().position(of_priority)?;
        Some(self.pop(packets, index as u32))
    }

    /// Takes the head of the sub-queue at this index of the round.
    pub(crate) fn pop<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        index: u32,
    ) -> Handle {
        let number = self.round.remove(index as usize).expect("the index is below the length");
        let queue = &mut self.queues[number as usize];
        let handle = queue.fifo.pop(packets).expect("only filled ones are in the round");
        if !queue.fifo.is_empty() {
            self.round.push_back(number);
        }
        handle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PfcFrame;
    use engine::arena::Arena;
    use schemes::none::NoControl;

    /// Protects memory from a scheme that takes a hash for the number of a queue.
    #[test]
    #[should_panic(expected = "none returns the sub-queue 16777216")]
    fn a_number_that_is_no_small_one_is_refused() {
        let arena = Arena::new();
        let mut packets = arena.packets();
        let mut push = |queues: &mut SubQueues, number| {
            let handle = packets.insert(PfcFrame::Pause.packet::<NoControl>(Time::ZERO, 3, 64));
            queues.push(&packets, number, 3, handle);
        };
        let mut queues = SubQueues::default();
        push(&mut queues, 1_000);
        push(&mut queues, MAX_SUB_QUEUES);
    }
}
