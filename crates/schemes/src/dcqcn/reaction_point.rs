//! The reaction point: what both variants share. Rates, alpha, recovery, and their timers.

use super::{DcqcnParams, mellanox, paper};
use crate::contract::{EcnCodePoint, PathFacts, SendLimits, SenderMetric};
use crate::dcqcn::{Form, MarkFeedback};
use crate::rate_window::RateWindow;
use crate::shared_law::Shared;
use std::sync::Arc;
use units::{Bytes, Rate, Time};

static LAWS: Shared<Law> = Shared::new();

/// The parameters as a reaction point uses them. All QPs with the same line rate and the same
/// window share one law.
///
/// It has cache lines of its own: `Arc` keeps the reference count next to it, and each clone writes
/// that count.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub(super) struct Law {
    form: Form,
    ack_echo: bool,
    clamp_target: bool,
    initial_alpha: f64,
    gain: f64,
    pub(super) alpha_timer: Time,
    pub(super) decrease_interval: Time,
    increase_timer: Time,
    byte_counter: u64,
    recovery_steps: u64,
    rate_ai: u64,
    pub(super) rate_hai: u64,
    /// Line rate in bits per second, like all rates here.
    line_rate: u64,
    min_rate: u64,
    pub(super) first_cnp_rate: f64,
    /// Limit of the bytes in flight.
    limit: RateWindow,
}

impl Law {
    /// Returns the law for a QP on this path.
    fn new(params: &DcqcnParams, path: &PathFacts) -> Law {
        let line_rate = path.line_rate.bps();
        Law {
            form: params.variant,
            ack_echo: params.notification == MarkFeedback::AckEcho,
            clamp_target: params.clamp_target,
            initial_alpha: params.initial_alpha,
            gain: params.gain,
            alpha_timer: params.alpha_timer,
            decrease_interval: params.decrease_interval,
            increase_timer: params.increase_timer,
            byte_counter: params.byte_counter.get(),
            recovery_steps: params.recovery_steps,
            rate_ai: params.rate_ai.bps(),
            rate_hai: params.rate_hai.bps(),
            line_rate,
            min_rate: params.min_rate.bps().min(line_rate),
            first_cnp_rate: params.first_cnp_rate,
            limit: RateWindow::new(params.window, path),
        }
    }
}

/// Alpha below this counts as zero: a cut by it takes less than 1 bit/s off a rate of 1.6 Tb/s.
const NEGLIGIBLE_ALPHA: f64 = 1e-12;

/// The smallest step of time. Adding it turns "due until" into "due before".
const TICK: Time = Time::from_ps(1);

/// The reaction point, one per QP. Its methods take plain values, so that other schemes can use it.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    pub(super) law: Arc<Law>,
    /// R_C, never above `target`.
    pub(super) current: u64,
    /// R_T, never above the line rate.
    pub(super) target: u64,
    /// Alpha after the last update before `alpha_due`. Updates are applied when alpha is needed.
    alpha: f64,
    /// When the first update that `alpha` does not include is due. `NEVER` before the first
    /// notification.
    pub(super) alpha_due: Time,
    /// Mellanox only: a notification came since the last update of alpha.
    pub(super) alpha_notified: bool,
    /// Mellanox only: time of the first notification. The decrease checks are counted from it.
    pub(super) first_notified: Time,
    /// Mellanox only: time of the decrease check that will cut.
    pub(super) cut_due: Time,
    /// When the increase timer expires. `NEVER` before the first cut.
    increase_due: Time,
    /// TC: increases by the timer since the last cut.
    timer_stage: u64,
    /// BC: increases by the byte counter since the last cut.
    byte_stage: u64,
    /// Bytes until the byte counter's next increase.
    bytes_left: u64,
    /// Before this time, the rate does not change.
    hold_until: Time,
    /// The window at the present rate.
    window: Bytes,
}

impl ReactionPoint {
    /// Returns the state of a new QP: at line rate, without a rate limiter until the first
    /// notification (section 3.1).
    pub fn new(params: &DcqcnParams, path: &PathFacts) -> ReactionPoint {
        let law = LAWS.share(Law::new(params, path));
        let Law { line_rate, initial_alpha, byte_counter, limit, .. } = *law;
        ReactionPoint {
            law,
            current: line_rate,
            target: line_rate,
            alpha: initial_alpha,
            alpha_due: Time::NEVER,
            alpha_notified: false,
            first_notified: Time::NEVER,
            cut_due: Time::NEVER,
            increase_due: Time::NEVER,
            timer_stage: 0,
            byte_stage: 0,
            bytes_left: byte_counter,
            hold_until: Time::ZERO,
            window: limit.at(line_rate),
        }
    }

    /// Returns whether an ACK that echoes a CE mark counts as a notification.
    #[inline]
    pub fn uses_ecn_echo(&self) -> bool {
        self.law.ack_echo
    }

    /// R_C at the time of the last call that had a time.
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.current)
    }

    /// R_T at the time of the last call that had a time.
    #[inline]
    pub fn target_rate(&self) -> Rate {
        Rate::from_bps(self.target)
    }

    /// Rate and window at the time of the last call that had a time.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate(), window: self.window, ..SendLimits::UNLIMITED }
    }

    /// Returns alpha after all updates due until `now`.
    pub fn alpha(&self, now: Time) -> f64 {
        let mut then = self.clone();
        then.advance_to(now);
        then.age_alpha(now + TICK);
        then.alpha
    }

    /// Runs the timers that are due until `now`.
    #[inline]
    pub fn advance_to(&mut self, now: Time) {
        self.run_timers(now + TICK);
    }

    /// Counts `bytes` that left the sender, for the byte counter.
    #[inline]
    pub fn count_bytes(&mut self, now: Time, mut bytes: u64) {
        self.advance_to(now);
        let counting = self.law.byte_counter != 0 && self.increase_due != Time::NEVER;
        if !counting || now < self.hold_until {
            return;
        }
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.law.byte_counter;
            self.increase();
            self.byte_stage += 1;
        }
        self.bytes_left -= bytes;
    }

    /// Reacts to a notification: a CNP, or an ACK that echoes a CE mark.
    pub fn notify(&mut self, now: Time) {
        // A notification comes before the timers that are due at its instant.
        self.run_timers(now);
        if now < self.hold_until {
            return;
        }
        match self.law.form {
            Form::Paper => paper::notify(self, now),
            Form::Mellanox => mellanox::notify(self, now),
        }
    }

    /// Reacts to an ACK with this ECN echo, if echoes count as notifications.
    #[inline]
    pub fn on_ecn_echo(&mut self, now: Time, echo: EcnCodePoint) {
        if self.uses_ecn_echo() && echo == EcnCodePoint::CongestionExperienced {
            self.notify(now);
        }
    }

    /// Keeps the rate as it is until `until`. Notifications and increases that are due before then
    /// have no effect. An earlier `until` shortens the present hold.
    pub fn hold(&mut self, now: Time, until: Time) {
        self.run_timers(now);
        self.hold_until = until;
    }

    /// Returns the value that a probe shows at `now`.
    pub fn metric_at(&self, now: Time, what: SenderMetric) -> Option<f64> {
        let mut then = self.clone();
        then.advance_to(now);
        match what {
            SenderMetric::Rate => Some(then.current as f64),
            SenderMetric::Window => {
                (then.window != Bytes::UNLIMITED).then_some(then.window.get() as f64)
            }
            SenderMetric::Alpha => Some(then.alpha(now)),
        }
    }

    /// Returns when a timer next changes the window, if the window follows the rate. The sender
    /// must then be checked: it may be allowed to send, or have to stop. Returns `NEVER` otherwise.
    #[inline]
    pub fn next_window(&self) -> Time {
        if !self.law.limit.follows_rate() {
            return Time::NEVER;
        }
        let rises = self.current < self.law.line_rate;
        self.cut_due.min(if rises { self.increase_due } else { Time::NEVER })
    }

    /// Runs the timers that are due before `end`.
    #[inline]
    fn run_timers(&mut self, end: Time) {
        while self.increase_due.min(self.cut_due) < end {
            if self.increase_due <= self.cut_due {
                self.run_increase_timer(end);
            } else {
                let now = self.cut_due;
                self.cut_due = Time::NEVER;
                if now >= self.hold_until {
                    self.age_alpha(now + TICK);
                    self.cut(now);
                }
            }
        }
    }

    /// Handles the increase timer, which expired before `end`.
    fn run_increase_timer(&mut self, end: Time) {
        let now = self.increase_due;
        let mut steps = 1;
        if now >= self.hold_until {
            if self.current == self.law.line_rate {
                // At line rate an expiry only counts a step, so all expiries before `end` are
                // handled at once. If a cut is due among them, it resets count and timer anyway.
                let last = end - TICK;
                steps += (last - now).ps() / self.law.increase_timer.ps();
            } else {
                self.increase();
            }
            self.timer_stage += steps;
        }
        self.increase_due = now + self.law.increase_timer * steps;
    }

    /// Does one step of recovery (section 3.1, equations 3 and 4).
    ///
    /// The stages count the steps that were completed since the cut. So there are F steps of fast
    /// recovery, as in the text and in the firmware. The authors' simulator counts first and does
    /// F - 1.
    fn increase(&mut self) {
        let law = &*self.law;
        let (min_stage, max_stage) = if law.byte_counter == 0 {
            (self.timer_stage, self.timer_stage)
        } else {
            (self.timer_stage.min(self.byte_stage), self.timer_stage.max(self.byte_stage))
        };
        let raise = if max_stage < law.recovery_steps {
            0
        } else if min_stage > law.recovery_steps {
            match law.form {
                Form::Paper => paper::hyper_increase(law, min_stage - law.recovery_steps),
                Form::Mellanox => law.rate_hai,
            }
        } else {
            law.rate_ai
        };
        // A target above the line rate has no meaning, and would hide a later cut.
        self.target = self.target.saturating_add(raise).min(law.line_rate);
        // Rounded up: rounded down, the rate would stay 1 bit/s below its target for ever.
        self.set_current((self.current + self.target).div_ceil(2));
    }

    /// Cuts the rate by alpha / 2 and starts its recovery (section 3.1, equation 1).
    pub(super) fn cut(&mut self, now: Time) {
        if self.law.clamp_target || self.timer_stage != 0 || self.byte_stage != 0 {
            self.target = self.current;
        }
        let cut = (self.current as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.set_current(cut);
        self.timer_stage = 0;
        self.byte_stage = 0;
        self.bytes_left = self.law.byte_counter;
        self.increase_due = now + self.law.increase_timer;
    }

    pub(super) fn raise_alpha(&mut self) {
        let g = self.law.gain;
        self.alpha = (1.0 - g) * self.alpha + g;
    }

    /// Applies the updates of alpha that are due before `end` (section 3.1, equation 2).
    ///
    /// Alpha decays step by step, because a power would round differently. After a long silence the
    /// loop ends early, when alpha is negligible.
    pub(super) fn age_alpha(&mut self, end: Time) {
        if self.alpha_due < end && self.alpha_notified {
            self.alpha_notified = false;
            self.raise_alpha();
            self.alpha_due += self.law.alpha_timer;
        }
        if self.alpha_due >= end {
            return;
        }
        let steps = 1 + (end - TICK - self.alpha_due).ps() / self.law.alpha_timer.ps();
        self.alpha_due += self.law.alpha_timer * steps;
        let factor = 1.0 - self.law.gain;
        if factor >= 1.0 {
            return;
        }
        for _ in 0..steps {
            if self.alpha < NEGLIGIBLE_ALPHA {
                self.alpha = 0.0;
                break;
            }
            self.alpha *= factor;
        }
    }

    pub(super) fn set_current(&mut self, rate: u64) {
        let Law { min_rate, line_rate, limit, .. } = *self.law;
        self.current = rate.clamp(min_rate, line_rate);
        self.window = limit.at(self.current);
    }
}
