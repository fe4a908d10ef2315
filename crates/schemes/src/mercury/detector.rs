//! Detects whether a port's queue is congestion, or may be due to PFC.

use units::{Rate, Time};

/// Whether a port's queue says how its input compares with its rate. A `port-state` probe shows 0
/// for Determined without congestion, 1 for Determined with it, and 2 for Undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The queue says so.
    Determined,
    /// PFC may have caused the queue.
    Undetermined,
}

/// State-driven detection for one priority of a port (Algorithm 1).
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    rate: Rate,
    /// Queue length in bytes above which the port is congested.
    threshold: u64,
    /// T.
    period: Time,
    /// Last_State.
    state: State,
    /// Start of the present pause. `NEVER` outside of a pause.
    paused_at: Time,
    /// rxByte.
    received: u64,
    /// When T expires, and the queue at its start.
    check_at: Time,
    checked_queue: u64,
}

impl Detector {
    /// Returns the detector of a port of this rate that was never paused.
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

    /// Follows a new rate of the port, with its threshold.
    pub fn set_rate(&mut self, rate: Rate, threshold: u64) {
        (self.rate, self.threshold) = (rate, threshold);
    }

    /// Returns the port's state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Notes that the peer paused the port (lines 2 and 3). Repeated pauses change nothing.
    pub fn pause(&mut self, now: Time) {
        if self.paused_at == Time::NEVER {
            self.paused_at = now;
            self.received = 0;
            self.state = State::Undetermined;
        }
    }

    /// Counts bytes that joined the queue (lines 4 and 5).
    #[inline]
    pub fn arrive(&mut self, bytes: u64) {
        if self.paused_at != Time::NEVER {
            self.received += bytes;
        }
    }

    /// Notes that the peer resumed the port, where `queue` bytes wait (lines 7 to 14).
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

    /// Checks the queue if T has expired. A packet has left and `queue` bytes stay (lines 15 to
    /// 20).
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
