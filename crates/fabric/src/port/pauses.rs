//! What keeps a port from sending: pauses of its peer, and a link that has failed.

use super::Port;
use crate::packet::PfcFrame;
use std::mem;
use units::Time;

impl Port {
    /// Pauses or resumes a priority for a PFC frame of the peer. Returns whether that changed
    /// anything.
    pub(crate) fn receive_pfc(&mut self, priority: u8, frame: PfcFrame, now: Time) -> bool {
        self.counters.pause_frames_received += u64::from(frame == PfcFrame::Pause);
        self.heed(priority, frame, now)
    }

    /// Pauses or resumes a priority as if the peer had sent a PFC frame. Returns whether that
    /// changed anything.
    pub(crate) fn heed(&mut self, priority: u8, frame: PfcFrame, now: Time) -> bool {
        let before = self.paused;
        match frame {
            PfcFrame::Pause => self.paused |= 1 << priority,
            PfcFrame::Resume => self.paused &= !(1 << priority),
        }
        if before == 0 && self.paused != 0 {
            self.paused_since = now;
        }
        if self.paused & !before != 0 {
            self.class_paused_since[priority as usize & 7] = now;
        }
        if before != 0 && self.paused == 0 {
            self.counters.paused += now - self.paused_since;
        }
        before != self.paused
    }

    /// Takes the link down: nothing leaves any more, and pauses end. Returns the priorities that
    /// were paused.
    pub(crate) fn set_link_down(&mut self, now: Time) -> u16 {
        if self.paused != 0 {
            self.counters.paused += now - self.paused_since;
        }
        self.down = true;
        mem::replace(&mut self.paused, u16::MAX)
    }

    /// Brings the link up again.
    pub(crate) fn set_link_up(&mut self) {
        self.down = false;
        self.paused = 0;
    }

    /// Returns whether the link has failed.
    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        self.down
    }

    /// Returns how long the peer has paused at least one priority, up to `now`.
    pub(crate) fn paused_time(&self, now: Time) -> Time {
        if !self.is_paused(None) {
            return self.counters.paused;
        }
        self.counters.paused + now.saturating_sub(self.paused_since)
    }

    /// Returns by priority since when the peer pauses it.
    pub(crate) fn paused_since(&self) -> [Option<Time>; 8] {
        std::array::from_fn(|priority| {
            self.is_paused(Some(priority as u8)).then(|| self.class_paused_since[priority])
        })
    }

    /// Returns whether the peer pauses a priority, or any.
    pub(crate) fn is_paused(&self, priority: Option<u8>) -> bool {
        let asked = priority.map_or(u16::MAX, |priority| 1 << priority);
        self.paused & asked != 0 && !self.down
    }
}
