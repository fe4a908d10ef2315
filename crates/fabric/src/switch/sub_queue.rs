//! Queues that a congestion point keeps apart within a priority: one per destination, per flow, of
//! harmful flows. Their heads are gated; those that may go take turns.

use crate::packet::{Packet, Scheme};
use engine::{Fifo, Handle, Packets};
use schemes::contract::Gate;
use std::collections::VecDeque;
use units::Time;

#[derive(Debug, Default)]
struct SubQueue {
    fifo: Fifo,
    priority: u8,
}

/// Which sub-queues may send now.
pub(crate) struct ReadySubQueues {
    /// Priorities that have one.
    pub(crate) priorities: u16,
    /// For each of them the place in the round of the first that may.
    pub(crate) places: [u32; 8],
    /// Those of them in which it goes before the port's own queue.
    pub(crate) ahead: u16,
    /// When the first gate opens that only waits for time.
    pub(crate) wait: Time,
}

/// The sub-queues of a port.
#[derive(Debug, Default)]
pub(crate) struct SubQueues {
    /// By number; number 0 is the port's own queue and stays empty here.
    queues: Vec<SubQueue>,
    /// Those that are not empty, next one first.
    round: VecDeque<u32>,
    /// Priorities in which a sub-queue sent last, and the port's own queue has its turn.
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

    /// Which may send now.
    pub(crate) fn open<S: Scheme>(
        &self,
        packets: &Packets<'_, Packet<S>>,
        paused: u16,
        gate: impl Fn(u32, &Packet<S>) -> Gate,
    ) -> ReadySubQueues {
        let mut open =
            ReadySubQueues { priorities: 0, places: [0; 8], ahead: 0, wait: Time::NEVER };
        for (place, &number) in self.round.iter().enumerate() {
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
                    open.places[queue.priority as usize & 7] = place as u32;
                }
                Gate::ClosedUntil(time) => open.wait = open.wait.min(time),
                Gate::Closed => {}
            }
        }
        open
    }

    /// Whether a sub-queue rather than the port's own queue of this priority goes now: they
    /// alternate where both have packets.
    pub(crate) fn is_turn_of_sub_queue(&mut self, priority: usize, own_waits: bool) -> bool {
        let bit = 1 << priority;
        if own_waits && self.own_turn & bit != 0 {
            self.own_turn &= !bit;
            return false;
        }
        self.own_turn |= bit;
        true
    }

    /// Takes any packet that waits here.
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

    /// Takes the head of the open sub-queue at this place in the round.
    pub(crate) fn pop<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        place: u32,
    ) -> Handle {
        let number = self.round.remove(place as usize).expect("it has a place");
        let queue = &mut self.queues[number as usize];
        let handle = queue.fifo.pop(packets).expect("only filled ones are in the round");
        if !queue.fifo.is_empty() {
            self.round.push_back(number);
        }
        handle
    }
}
