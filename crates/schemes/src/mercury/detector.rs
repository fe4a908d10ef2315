//! Whether a port's queue is congestion, or may have been made by PFC.

use units::{Rate, Time};

/// Whether a port's queue says how its input compares with its rate. A `port-state` probe shows 0
/// for Determined without congestion, 1 for Determined with it, 2 for Undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Determined,
    /// PFC may have made the queue.
    Undetermined,
}

/// State-driven detection at a port's priority (Algorithm 1).
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    rate: Rate,
    /// Bytes, above which a queue is congestion.
    threshold: u64,
    /// T.
    period: Time,
    /// Last_State.
    state: State,
    /// When the present pause began; never outside of one.
    paused_at: Time,
    /// rxByte.
    received: u64,
    /// When T expires, and the queue when it began.
    check_at: Time,
    checked_queue: u64,
}

impl Detector {
    /// A port of this rate that was never paused.
    pub fn new(rate: Rate, threshold: u64, period: Time) -> Detector {
        Detector {
            rate,
            threshold,
            period,
            state: State::Determined,
            paused_at: Time::NEVER,
            received: 0,
            check_at: Time::ZERO,
            checked_queue: 0,
        }
    }

    /// The port's state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// The peer paused the port (lines 2 and 3), or repeats that it has.
    pub fn pause(&mut self, now: Time) {
        if self.paused_at == Time::NEVER {
            self.paused_at = now;
            self.received = 0;
            self.state = State::Undetermined;
        }
    }

    /// Bytes joined the queue (lines 4 and 5).
    #[inline]
    pub fn arrive(&mut self, bytes: u64) {
        if self.paused_at != Time::NEVER {
            self.received += bytes;
        }
    }

    /// The peer lets the port go on, where `queue` bytes wait (lines 7 to 14).
    pub fn resume(&mut self, now: Time, queue: u64) {
        if self.paused_at == Time::NEVER {
            return;
        }
        let drained = self.rate.bytes_in(now - self.paused_at).get();
        self.paused_at = Time::NEVER;
        self.state = if queue > self.threshold && self.received <= drained {
            State::Undetermined
        } else {
            State::Determined
        };
        self.begin_period(now, queue);
    }

    /// A packet left and `queue` bytes stay (lines 15 to 20).
    #[inline]
    pub fn depart(&mut self, now: Time, queue: u64) {
        let waits = self.state == State::Undetermined && self.paused_at == Time::NEVER;
        if !waits || now < self.check_at {
            return;
        }
        if queue > self.threshold && queue < self.checked_queue {
            self.begin_period(now, queue);
        } else {
            self.state = State::Determined;
        }
    }

    fn begin_period(&mut self, now: Time, queue: u64) {
        self.check_at = now + self.period;
        self.checked_queue = queue;
    }
}
