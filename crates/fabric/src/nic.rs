//! A host's port: its queues of control packets, and the QPs that want to send data through it.

use crate::port::Port;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Time;

/// A port of a host.
pub(crate) struct Nic {
    pub(crate) port: Port,
    /// QPs that may send, by priority, next one first.
    ready: [VecDeque<u32>; 8],
    pub(crate) ready_mask: u16,
    /// QPs that wait for their pacing time.
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    /// When the next packet begins at the earliest.
    pub(crate) due: Time,
}

impl Nic {
    pub(crate) fn new(port: Port) -> Nic {
        Nic {
            port,
            ready: Default::default(),
            ready_mask: 0,
            paced: BinaryHeap::new(),
            due: Time::NEVER,
        }
    }

    #[inline]
    pub(crate) fn list(&mut self, priority: u8, qp: u32) {
        self.ready[priority as usize].push_back(qp);
        self.ready_mask |= 1 << priority;
    }

    #[inline]
    pub(crate) fn take(&mut self, priority: usize) -> u32 {
        let qp = self.ready[priority].pop_front().expect("the mask says there is one");
        if self.ready[priority].is_empty() {
            self.ready_mask &= !(1 << priority);
        }
        qp
    }

    #[inline]
    pub(crate) fn pace(&mut self, time: Time, qp: u32) {
        self.paced.push(Reverse((time, qp)));
    }

    /// A QP whose pacing time has come by `now`.
    #[inline]
    pub(crate) fn next_paced(&mut self, now: Time) -> Option<(Time, u32)> {
        let &Reverse((time, qp)) = self.paced.peek()?;
        if time > now {
            return None;
        }
        self.paced.pop();
        Some((time, qp))
    }

    /// Sets when the next packet begins, after something changed.
    #[inline]
    pub(crate) fn schedule(&mut self) {
        let open = (self.port.waiting | self.ready_mask) & !self.port.paused;
        self.due = self.port.due(open);
        if let Some(&Reverse((time, _))) = self.paced.peek() {
            self.due = self.due.min(time.max(self.port.free_at));
        }
    }
}
