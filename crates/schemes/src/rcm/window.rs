//! RCC: the send window of a port (section 3.4).

use super::{MAX_DEGREE, RegionParams};
use units::{Rate, Time};

/// A packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// When.
    pub now: Time,
    /// Its size.
    pub size: u64,
    /// Its flow is harmful.
    pub harmful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No congestion.
    Off,
    /// W and Wc are being found out: what was sent since congestion began, and what of that by
    /// harmful flows.
    Measures { sent: u64, harmful: u64 },
    /// What was sent in the present window, and what of that by harmful flows.
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
    /// Wc as measured, and now; and its least.
    measured: f64,
    limit: f64,
    min_limit: f64,
    /// The degree that the measured Wc will be cut by.
    degree: u8,
    /// Until when harmful flows wait; long ago where they don't.
    held_until: Time,
}

impl SendWindow {
    /// The window of a port of this rate, with packets of up to `packet` bytes.
    pub fn new(params: &RegionParams, rate: Rate, packet: u64) -> SendWindow {
        SendWindow {
            rate,
            min_window: params.least_window.get(),
            max_window: params.most_window.get(),
            packet,
            compound: params.cuts == "compound",
            state: State::Off,
            window: 0.0,
            measured: 0.0,
            limit: 0.0,
            min_limit: 0.0,
            degree: 0,
            held_until: Time::ZERO,
        }
    }

    /// Whether harmful flows are limited.
    #[inline]
    pub fn limits(&self) -> bool {
        matches!(self.state, State::Limits { .. })
    }

    /// Whether there is congestion.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.state != State::Off
    }

    /// W, Wc, Wnc in bytes, where harmful flows are limited.
    pub fn window_parts(&self) -> Option<(f64, f64, f64)> {
        self.limits().then_some((self.window, self.limit, self.window - self.limit))
    }

    /// Congestion of this degree (Fb in 63rds of its most): begins, or cuts Wc by Fb Gd, where the
    /// greatest Fb halves it: of what was measured, or of what is left (equation 5).
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

    /// Congestion is over.
    pub fn end_congestion(&mut self) {
        self.state = State::Off;
        self.find_held();
    }

    /// A packet was sent; `all_sent` tells whether all harmful flows have sent one since congestion
    /// began, and how many they are.
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
                // Each harmful flow may always send a packet, or it would never be seen again.
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
                    // What the last packet took too much is missing now, and no more: the rest they sent
                    // where nobody else did, or before Wc was cut.
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

    /// Wc, which never falls below a packet of each flow.
    #[inline]
    fn allowed(&self) -> f64 {
        self.limit.max(self.min_limit)
    }

    /// W at the port's rate.
    fn period(&self) -> Time {
        self.rate.time_for(units::Bytes::new(self.window as u64))
    }

    /// Until when harmful flows wait, as they have spent Wc; `None` where they may send.
    #[inline]
    pub fn held_until(&self, now: Time) -> Option<Time> {
        (now < self.held_until).then_some(self.held_until)
    }

    /// Finds that anew: it is asked more often than it changes.
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
