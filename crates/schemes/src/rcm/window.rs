//! RCC: the send window of a port (section 3.4).

use super::{MAX_DEGREE, RegionParams};
use crate::rcm::CutRule;
use units::{Rate, Time};

/// A packet that leaves through the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Time at which it leaves.
    pub now: Time,
    /// Size in bytes.
    pub size: u64,
    /// Whether its flow is harmful.
    pub harmful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No congestion.
    Off,
    /// W and Wc are being measured: bytes sent since congestion began, and the part of harmful
    /// flows.
    Measures { sent: u64, harmful: u64 },
    /// Bytes sent in the present window, and the part of harmful flows.
    Limits { sent: u64, harmful: u64, ends: Time },
}

/// The window of a port: W = Wc + Wnc (equation 3).
#[derive(Clone, Debug)]
pub struct SendWindow {
    rate: Rate,
    min_window: u64,
    max_window: u64,
    packet: u64,
    compound: bool,
    state: State,
    /// W.
    window: f64,
    /// Wc as measured, the present Wc, and its minimum.
    measured: f64,
    limit: f64,
    min_limit: f64,
    /// The degree by which the measured Wc will be cut.
    degree: u8,
    /// Harmful flows wait until this time. In the past if they may send.
    held_until: Time,
}

impl SendWindow {
    /// Returns the window of a port of this rate, with packets of up to `packet` bytes.
    pub fn new(params: &RegionParams, rate: Rate, packet: u64) -> SendWindow {
        SendWindow {
            rate,
            min_window: params.min_window.get(),
            max_window: params.max_window.get(),
            packet,
            compound: params.cut_rule == CutRule::Compound,
            state: State::Off,
            window: 0.0,
            measured: 0.0,
            limit: 0.0,
            min_limit: 0.0,
            degree: 0,
            held_until: Time::ZERO,
        }
    }

    /// Returns whether harmful flows are limited.
    #[inline]
    pub fn limits(&self) -> bool {
        matches!(self.state, State::Limits { .. })
    }

    /// Returns whether there is congestion.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.state != State::Off
    }

    /// Returns W, Wc and Wnc in bytes, if harmful flows are limited.
    pub fn window_parts(&self) -> Option<(f64, f64, f64)> {
        self.limits().then_some((self.window, self.limit, self.window - self.limit))
    }

    /// Notes congestion of this degree (Fb in 63rds of its maximum). Starts the measurement, or
    /// cuts Wc by Fb Gd: the measured Wc, or what is left of it (equation 5). The maximum Fb halves
    /// Wc.
    pub fn cut(&mut self, degree: u8) {
        self.degree = degree;
        let factor = 1.0 - f64::from(degree) / (2.0 * f64::from(MAX_DEGREE));
        match self.state {
            State::Off => self.state = State::Measures { sent: 0, harmful: 0 },
            State::Measures { .. } => {}
            State::Limits { .. } if self.compound => self.limit *= factor,
            State::Limits { .. } => self.limit = self.measured * factor,
        }
        self.find_held();
    }

    /// Ends the limit: congestion is over.
    pub fn end_congestion(&mut self) {
        self.state = State::Off;
        self.find_held();
    }

    /// Counts a packet that was sent. `all_sent` returns whether all harmful flows have sent a
    /// packet since congestion began, and their number.
    pub fn sent(&mut self, packet: &SentPacket, all_sent: impl FnOnce() -> (bool, usize)) {
        let SentPacket { now, size, harmful: is_harmful } = *packet;
        let of_harmful = if is_harmful { size } else { 0 };
        match self.state {
            State::Off => {}
            State::Measures { sent, harmful } => {
                let (sent, harmful) = (sent + size, harmful + of_harmful);
                self.state = State::Measures { sent, harmful };
                if sent < self.min_window {
                    return;
                }
                let (all, flows) = all_sent();
                if !all && sent < self.max_window {
                    return;
                }
                self.window = sent as f64;
                // Each harmful flow may always send a packet. Otherwise it would never be seen
                // again.
                let min_limit = ((self.packet * flows.max(1) as u64) as f64).min(self.window);
                self.min_limit = min_limit.max(self.packet as f64);
                self.measured = (harmful as f64).max(min_limit);
                self.limit = self.measured;
                let ends = now + self.period();
                self.state = State::Limits { sent: 0, harmful: 0, ends };
                self.cut(self.degree);
            }
            State::Limits { mut sent, mut harmful, mut ends } => {
                if now >= ends || sent as f64 >= self.window {
                    // The excess of the last packet is missing now, but no more than a packet: the
                    // rest was sent when nobody else did, or before Wc was cut.
                    let excess = (harmful as f64 - self.allowed()).max(0.0) as u64;
                    (sent, harmful) = (0, excess.min(self.packet));
                    ends = now + self.period();
                }
                self.state =
                    State::Limits { sent: sent + size, harmful: harmful + of_harmful, ends };
                self.find_held();
            }
        }
    }

    /// Returns Wc, which is at least a packet for each flow.
    #[inline]
    fn allowed(&self) -> f64 {
        self.limit.max(self.min_limit)
    }

    /// Returns the time that W takes at the port's rate.
    fn period(&self) -> Time {
        self.rate.time_for(units::Bytes::new(self.window as u64))
    }

    /// Returns until when harmful flows wait because they have used up Wc; `None` if they may send.
    #[inline]
    pub fn held_until(&self, now: Time) -> Option<Time> {
        (now < self.held_until).then_some(self.held_until)
    }

    /// Updates `held_until`, which is read more often than it changes.
    #[inline]
    fn find_held(&mut self) {
        self.held_until = match self.state {
            State::Limits { sent, harmful, ends }
                if harmful as f64 >= self.allowed() && (sent as f64) < self.window =>
            {
                ends
            }
            _ => Time::ZERO,
        };
    }
}
