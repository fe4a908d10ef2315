//! Computes what a queue would be if the port had never been paused. Only the simulator can know
//! it; it is used for counters.

use units::{Rate, Time};

/// The bytes of a queue that pauses kept from leaving, for one priority of a port.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// The present pause is counted up to this time. `NEVER` outside of a pause.
    counted_to: Time,
    kept: u64,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses { counted_to: Time::NEVER, kept: 0 }
    }
}

impl Pauses {
    /// Notes that the peer pauses the port, where `queue` bytes wait. Repeated pauses change
    /// nothing.
    pub fn pause(&mut self, now: Time, queue: u64) {
        if self.counted_to == Time::NEVER {
            self.counted_to = now;
            // Bytes that have left since no longer count.
            self.kept = self.kept.min(queue);
        }
    }

    /// Notes that the peer resumes the port.
    pub fn resume(&mut self, now: Time, rate: Rate, queue: u64) {
        self.kept(now, rate, queue);
        self.counted_to = Time::NEVER;
    }

    /// Returns how many of the `queue` bytes that wait would have left if the port had never been
    /// paused.
    #[inline]
    pub fn kept(&mut self, now: Time, rate: Rate, queue: u64) -> u64 {
        if self.counted_to != Time::NEVER {
            self.kept += rate.bytes_in(now - self.counted_to).get();
            self.counted_to = now;
        }
        self.kept = self.kept.min(queue);
        self.kept
    }
}
