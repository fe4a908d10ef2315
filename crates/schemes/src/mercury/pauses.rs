//! What a queue would be had nobody paused the port: the simulator's own knowledge, to count with.

use units::{Rate, Time};

/// The bytes of a queue that pauses kept from leaving, at a port's priority.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// Up to when the present pause is counted; never outside of one.
    counted_to: Time,
    kept: u64,
}

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses { counted_to: Time::NEVER, kept: 0 }
    }
}

impl Pauses {
    /// The peer pauses the port, where `queue` bytes wait, or repeats that it does.
    pub fn pause(&mut self, now: Time, queue: u64) {
        if self.counted_to == Time::NEVER {
            self.counted_to = now;
            // What has left since is kept no more.
            self.kept = self.kept.min(queue);
        }
    }

    /// The peer lets the port go on.
    pub fn resume(&mut self, now: Time, rate: Rate, queue: u64) {
        self.kept(now, rate, queue);
        self.counted_to = Time::NEVER;
    }

    /// How many of the `queue` bytes that wait would have left had nobody paused the port.
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
