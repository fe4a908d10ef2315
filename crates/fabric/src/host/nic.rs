//! A host's port: its queues of control packets, and the QPs that want to send data through it.

use crate::compat::qp_scan::QpScan;
use crate::host::tournament::Tournament;
use crate::port::Port;
use std::collections::VecDeque;
use units::Time;

/// A port of a host.
pub(crate) struct Nic {
    pub(crate) port: Port,
    /// QPs that may send, by priority, the next one first.
    ready: [VecDeque<u32>; 8],
    pub(crate) ready_mask: u16,
    /// Pacing times of QPs that wait for them.
    paced: Tournament,
    /// State of the scan, if QPs are scanned as in the HPCC simulator and not listed.
    pub(crate) scan: Option<Box<QpScan>>,
    /// The earliest time at which the next packet may begin.
    pub(crate) due: Time,
}

impl Nic {
    pub(crate) fn new(port: Port, scan: Option<Box<QpScan>>) -> Nic {
        Nic {
            port,
            scan,
            ready: Default::default(),
            ready_mask: 0,
            paced: Tournament::default(),
            due: Time::NEVER,
        }
    }

    /// Adds a QP to the ready ones of its priority.
    #[inline]
    pub(crate) fn mark_ready(&mut self, priority: u8, qp: u32) {
        self.ready[priority as usize].push_back(qp);
        self.ready_mask |= 1 << priority;
    }

    /// Takes the next ready QP of a priority.
    #[inline]
    pub(crate) fn take(&mut self, priority: usize) -> u32 {
        let qp = self.ready[priority].pop_front().expect("the mask says there is one");
        if self.ready[priority].is_empty() {
            self.ready_mask &= !(1 << priority);
        }
        qp
    }

    /// The QPs that are likely to send soon, if one of this priority sends now.
    #[inline]
    pub(crate) fn likely_next(&self, priority: usize) -> impl Iterator<Item = u32> {
        self.ready[priority].get(1).copied().into_iter().chain(self.next_in_pace())
    }

    /// Forgets all QPs.
    pub(crate) fn clear(&mut self) {
        self.ready.iter_mut().for_each(VecDeque::clear);
        self.ready_mask = 0;
        self.paced.clear();
        if let Some(scan) = &mut self.scan {
            scan.table.clear();
        }
    }

    /// Has a QP wait for its pacing time, `time` at the latest.
    #[inline]
    pub(crate) fn pace(&mut self, time: Time, qp: u32) {
        if time < self.paced.at(qp) {
            self.paced.set(qp, time);
        }
    }

    /// Takes a QP whose pacing time is `now` or earlier.
    #[inline]
    pub(crate) fn next_paced(&mut self, now: Time) -> Option<u32> {
        if self.paced.earliest() > now {
            return None;
        }
        let qp = self.paced.first()?;
        self.paced.set(qp, Time::NEVER);
        Some(qp)
    }

    /// The QP with the earliest pacing time.
    #[inline]
    pub(crate) fn next_in_pace(&self) -> Option<u32> {
        self.paced.first()
    }

    /// Forgets a QP that is closed.
    pub(crate) fn forget(&mut self, qp: u32) {
        self.paced.set(qp, Time::NEVER);
    }

    /// Whether the port would send nothing else at `now` than a packet of `priority`.
    #[inline]
    pub(crate) fn is_idle(&self, priority: u8, now: Time) -> bool {
        self.due > now
            && self.port.can_send_priority_now(priority, now)
            && !self.port.is_shaped()
            && self.scan.is_none()
    }

    /// Whether no other QP is ready, and none reaches its pacing time by `now`.
    #[inline]
    pub(crate) fn is_only_ready(&self, now: Time) -> bool {
        self.ready_mask == 0 && self.paced.earliest() > now
    }

    /// Has the port look for a packet after an event at `now` that may let one go.
    #[inline]
    pub(crate) fn wake(&mut self, now: Time) {
        self.port.free_at = self.port.free_at.max(now);
        if let Some(scan) = &mut self.scan
            && !scan.busy
        {
            scan.trigger = scan.trigger.min(now);
        }
        self.schedule();
    }

    /// Whether the scan at `now` was scheduled before `sent`, the time at which a packet that
    /// arrives at `now` was scheduled.
    pub(crate) fn ns3_scheduled_before(&self, now: Time, sent: Time) -> bool {
        let Some(scan) = self.scan.as_ref().filter(|_| self.due == now) else { return false };
        if scan.busy {
            self.port.last_departure < sent
        } else {
            scan.trigger <= now || scan.decided < sent
        }
    }

    /// Sets `due` after something changed.
    #[inline]
    pub(crate) fn schedule(&mut self) {
        if let Some(scan) = &self.scan {
            self.due = if scan.busy { self.port.free_at } else { scan.trigger.min(scan.wake) };
            return;
        }
        let open = (self.port.waiting | self.ready_mask) & !self.port.paused;
        self.due = self.port.due(open).min(self.paced.earliest().max(self.port.free_at));
    }
}
