//! The receiver: sends credits and controls their rate.

use super::{Control, Credit, ExpressPass, ExpressPassParams, HostState, Law};
use crate::contract::{Header, HostCx, Np, NpTimer, Present};
use crate::expresspass::Feedback;
use crate::random::Stream;
use std::sync::Arc;
use units::Time;

/// The notification point, one per QP. Sends credits and controls their rate, which is a share of
/// the highest rate that the host's port passes.
#[derive(Debug)]
pub struct NotificationPoint {
    law: Arc<Law>,
    random: Stream,
    /// Time of the next credit. `NEVER` without a request.
    next_credit: Time,
    /// All messages that have begun are received completely.
    has_all: bool,
    /// When a packet of the sender last arrived.
    last_heard: Time,
    /// Number of the next credit to send.
    next_number: u32,
    /// Number of the next credit that data should carry.
    expected: u32,
    /// cur_rate.
    rate: f64,
    w: f64,
    /// The previous period had no congestion.
    was_increasing: bool,
    /// Credits that the data of this period accounts for, dropped ones included.
    counted: u32,
    dropped: u32,
    period_begin: Time,
    /// Average round trip from a credit to its data, ps; 0 before the first sample.
    rtt: f64,
}

/// Weight of a new sample in the average round trip (ns2-xpass).
const RTT_WEIGHT: f64 = 0.2;
/// What a period without congestion adds to w, in the authors' code (ns2-xpass).
const W_STEP: f64 = 0.05;

impl NotificationPoint {
    /// Returns the state of a new QP.
    pub fn new(host: &mut HostState) -> NotificationPoint {
        let random = Stream::new(host.seed, host.receivers);
        host.receivers += 1;
        NotificationPoint {
            law: Arc::clone(&host.law),
            random,
            next_credit: Time::NEVER,
            has_all: false,
            last_heard: Time::ZERO,
            next_number: 0,
            expected: 0,
            rate: 1.0,
            w: 0.0,
            was_increasing: false,
            counted: 0,
            dropped: 0,
            period_begin: Time::ZERO,
            rtt: 0.0,
        }
    }

    /// The credit rate, as a share of the highest.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// w, the aggressiveness.
    pub fn aggressiveness(&self) -> f64 {
        self.w
    }

    /// Starts the credits at once, for a request of this number of packets.
    pub fn begin(&mut self, now: Time, packets: u32) {
        self.last_heard = now;
        if self.next_credit != Time::NEVER {
            // A repeated request, while credits are in flight.
            return;
        }
        let params = &self.law.params;
        let ramp = f64::from(packets) / params.ramp_packets as f64;
        self.rate = params.initial_rate * ramp.min(1.0);
        self.w = params.initial_w;
        self.was_increasing = false;
        // Credits that were unused after the last stop do not count as dropped.
        self.expected = self.next_number;
        (self.counted, self.dropped) = (0, 0);
        self.period_begin = now;
        self.next_credit = now;
    }

    /// Stops the credits: the sender needs no more.
    pub fn stop(&mut self) {
        self.next_credit = Time::NEVER;
    }

    /// Handles data that arrived with the credit that permitted it.
    pub fn on_credited_data(&mut self, now: Time, credit: Credit) {
        self.last_heard = now;
        // The number wraps around. A credit from before the last request does not count.
        let gap = credit.number.wrapping_sub(self.expected);
        if gap < u32::MAX / 2 {
            self.counted += gap + 1;
            self.dropped += gap;
            self.expected = credit.number.wrapping_add(1);
        }
        let sample = now.saturating_sub(credit.sent_at).ps() as f64;
        let weight = if self.rtt == 0.0 { 1.0 } else { RTT_WEIGHT };
        self.rtt = (1.0 - weight) * self.rtt + weight * sample;
    }

    /// Returns whether the credits are no longer needed: all data has arrived, and the sender's
    /// stop was lost.
    fn is_forgotten(&self, now: Time) -> bool {
        let patience = self.law.params.request_timeout.max(Time::from_ps(2 * self.rtt as u64));
        self.has_all && now >= self.last_heard + patience
    }

    /// Returns the credit that is due at `now`, and schedules the next one.
    pub fn credit(&mut self, now: Time) -> Credit {
        self.control(now);
        let spread = self.law.params.credit_spread.get();
        let extra =
            if spread == 0 { 0 } else { (self.random.fraction() * (spread + 1) as f64) as u8 };
        let credit = Credit { number: self.next_number, sent_at: now, extra };
        self.next_number = self.next_number.wrapping_add(1);
        let jitter = 1.0 + self.law.params.jitter * (2.0 * self.random.fraction() - 1.0);
        let gap = self.law.min_gap.ps() as f64 / self.rate * jitter;
        self.next_credit = now + Time::from_ps((gap as u64).max(1));
        credit
    }

    /// Controls the rate, once per round trip in which data came (Algorithm 1).
    fn control(&mut self, now: Time) {
        let period = (now - self.period_begin).ps() as f64;
        if self.counted == 0 || period < self.rtt {
            return;
        }
        let Law { params, min_gap } = &*self.law;
        let min_gap = min_gap.ps() as f64;
        let loss = f64::from(self.dropped) / f64::from(self.counted);
        let code = params.feedback == Feedback::Code;
        let target = if code { (1.0 - self.rate) * params.target_loss } else { params.target_loss };
        // The paper's target is above the highest rate, by the tolerated loss.
        let max = if code { 1.0 } else { 1.0 + params.target_loss };
        if loss > target {
            let kept = if code {
                f64::from(self.counted - self.dropped) * min_gap / period
            } else {
                self.rate * (1.0 - loss)
            };
            self.rate = (kept * (1.0 + target)).min(self.rate);
            self.w = (self.w / 2.0).max(params.min_w);
            self.was_increasing = false;
        } else {
            if self.was_increasing {
                let raised = if code { self.w + W_STEP } else { (self.w + params.max_w) / 2.0 };
                self.w = raised.min(params.max_w);
            }
            self.was_increasing = true;
            self.rate = (1.0 - self.w) * self.rate + self.w * max;
        }
        // At least one credit per round trip.
        let min = (min_gap / self.rtt.max(min_gap)).min(max);
        self.rate = self.rate.clamp(min, max);
        (self.counted, self.dropped) = (0, 0);
        self.period_begin = now;
    }
}

impl Np<ExpressPass> for NotificationPoint {
    type Timer = Present;
    fn open(_params: &ExpressPassParams, host: &mut HostState, _now: Time) -> NotificationPoint {
        NotificationPoint::new(host)
    }
    #[inline]
    fn on_packet(&mut self, cx: &mut HostCx<'_, ExpressPass>, _data: &Header, meta: &Credit) {
        self.on_credited_data(cx.now, *meta);
    }
    #[inline]
    fn on_kept_data(
        &mut self,
        _cx: &mut HostCx<'_, ExpressPass>,
        _data: &Header,
        _meta: &mut Credit,
    ) {
        self.has_all = false;
    }
    fn on_message_end(&mut self, _cx: &mut HostCx<'_, ExpressPass>, _is_last: bool) {
        self.has_all = true;
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, ExpressPass>, control: &Control) {
        match control {
            Control::Request(packets) => {
                self.begin(cx.now, *packets);
                if self.next_credit == cx.now {
                    self.on_timer(cx);
                }
            }
            Control::Stop => self.stop(),
            Control::Credit(_) => {}
        }
    }
}

impl NpTimer<ExpressPass> for NotificationPoint {
    #[inline]
    fn next_timer(&self) -> Time {
        self.next_credit
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if self.is_forgotten(cx.now) {
            return self.stop();
        }
        cx.host.sent += 1;
        cx.send(Control::Credit(self.credit(cx.now)));
    }
}
