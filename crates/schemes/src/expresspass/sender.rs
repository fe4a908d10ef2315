//! The sender: requests credits, and sends one packet for each.

use super::{Control, Credit, ExpressPass, ExpressPassParams, HostState};
use crate::contract::{Ack, Header, HostCx, PathFacts, Present, Rp, RpTimer, SendLimits};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A request on the wire: the minimum frame with preamble and gap.
const REQUEST_BYTES: Bytes = Bytes::new(84);
/// Maximum number of times that the wait for an answer is doubled.
const MAX_DOUBLINGS: u32 = 20;

/// State of the credits between a sender and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No credits are needed.
    Idle,
    /// A request was sent, and no credit has come.
    Asked,
    /// Credits are arriving.
    Fed,
    /// The sender stopped the credits early, because those in flight should suffice.
    Stopped,
}

/// The reaction point, one per QP: requests credits, and sends one packet for each.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    request_timeout: Time,
    /// Time that the slowest link of the path takes to send a request.
    request_time: Time,
    /// Number of requests since the last credit.
    unanswered: u32,
    early_stop: bool,
    payload: u64,
    state: State,
    /// Credits that are not used yet, oldest first.
    credits: VecDeque<Credit>,
    /// Packets to send. Packets that used a credit are not counted.
    packets: u64,
    /// End of the last message. Then the first byte that was never sent, the first byte to send,
    /// and the first byte that is not acknowledged.
    posted: u64,
    highest_sent: u64,
    next: u64,
    acknowledged: u64,
    /// When the request was first sent, and when it is repeated.
    asked_at: Time,
    ask_again: Time,
    /// Time from a request to its first credit, at least the path's round trip. (The credit may
    /// answer an earlier request.)
    round_trip: Time,
    base_rtt: Time,
    /// When the last credit came, and the longest time between two since the request.
    last_credit: Time,
    longest_gap: Time,
    /// For the early stop: start of the present round trip, and the credits since then.
    round_begin: Time,
    round_credits: u64,
}

impl ReactionPoint {
    /// Returns the state of a new QP.
    pub fn new(params: &ExpressPassParams, path: &PathFacts) -> ReactionPoint {
        ReactionPoint {
            request_timeout: params.request_timeout,
            request_time: path.bottleneck_rate.time_for(REQUEST_BYTES),
            unanswered: 0,
            early_stop: params.early_stop,
            payload: path.payload.get(),
            state: State::Idle,
            credits: VecDeque::new(),
            packets: 0,
            posted: 0,
            highest_sent: 0,
            next: 0,
            acknowledged: 0,
            asked_at: Time::ZERO,
            ask_again: Time::NEVER,
            round_trip: path.base_rtt,
            base_rtt: path.base_rtt,
            last_credit: Time::ZERO,
            longest_gap: Time::ZERO,
            round_begin: Time::ZERO,
            round_credits: 0,
        }
    }

    /// Returns the number of packets without a credit.
    fn uncovered(&self) -> u64 {
        self.packets.saturating_sub(self.credits.len() as u64)
    }

    fn ask(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if matches!(self.state, State::Idle | State::Stopped) {
            self.state = State::Asked;
            self.asked_at = cx.now;
            self.longest_gap = Time::ZERO;
        }
        self.unanswered = self.unanswered.saturating_add(1);
        cx.host.asking_until = cx.host.asking_until.max(cx.now).saturating_add(self.request_time);
        self.ask_again = cx.now.saturating_add(self.patience(cx));
        cx.send(Control::Request(u32::try_from(self.uncovered()).unwrap_or(u32::MAX)));
    }

    /// Returns how long to wait for a credit before the request is repeated. This is the request
    /// timeout, if the requests of the host need less than half of the link during it.
    ///
    /// On slower links, requests would queue up without bound. There the sender waits until all of
    /// them could have been sent twice, and doubles that after each request without an answer.
    ///
    /// Where many QPs share a receiver, credits of each are rare. If all of them asked again
    /// between two credits, requests would fill the link. So a QP waits twice as long as it ever
    /// had to since it asked.
    fn patience(&self, cx: &HostCx<'_, ExpressPass>) -> Time {
        self.patience_for_requests(cx).max(self.longest_gap.saturating_mul(2))
    }

    fn patience_for_requests(&self, cx: &HostCx<'_, ExpressPass>) -> Time {
        let twice = cx.host.asking_until.saturating_sub(cx.now).saturating_mul(2);
        if twice <= self.request_timeout {
            return self.request_timeout;
        }
        let doublings = self.unanswered.saturating_sub(1).min(MAX_DOUBLINGS);
        twice.saturating_mul(1 << doublings)
    }

    /// Requests credits if some are needed and no request is open.
    fn ask_if_needed(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if matches!(self.state, State::Idle | State::Stopped) && self.uncovered() > 0 {
            self.ask(cx);
        }
    }

    /// Stops the credits: there is one for every packet.
    fn end(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if matches!(self.state, State::Asked | State::Fed) {
            cx.send(Control::Stop);
        }
        self.state = State::Idle;
        self.ask_again = Time::NEVER;
    }

    fn take(&mut self, cx: &mut HostCx<'_, ExpressPass>, credit: Credit) {
        self.round_credits += 1;
        if self.uncovered() == 0 {
            cx.host.wasted += 1;
            return;
        }
        self.credits.push_back(credit);
        self.unanswered = 0;
        if self.state == State::Fed {
            self.longest_gap = self.longest_gap.max(cx.now - self.last_credit);
        }
        self.last_credit = cx.now;
        if matches!(self.state, State::Asked | State::Fed) {
            // This may be a credit from before the last stop, and the request may be lost.
            self.ask_again = cx.now.saturating_add(self.patience(cx));
        }
        if self.state == State::Asked {
            self.state = State::Fed;
            self.round_trip = self.base_rtt.max(cx.now - self.asked_at);
            self.round_begin = cx.now;
            self.round_credits = 1;
        }
        let left = self.uncovered();
        if left == 0 {
            self.end(cx);
        } else if self.state == State::Fed
            && self.early_stop
            && cx.now - self.round_begin >= self.round_trip
        {
            if self.round_credits >= left {
                cx.send(Control::Stop);
                self.state = State::Stopped;
                // By then, all credits in flight have arrived.
                self.ask_again = cx.now + self.round_trip * 2;
            }
            self.round_begin = cx.now;
            self.round_credits = 0;
        }
    }

    /// Continues from another byte than the next one. Message ends on the way may split the bytes
    /// into more packets. The sender requests credits for these when it reaches them.
    fn go_on_from(&mut self, cx: &mut HostCx<'_, ExpressPass>, next: u64) {
        self.next = next;
        self.packets = (self.posted - self.next).div_ceil(self.payload);
        let needed = self.packets as usize;
        if self.credits.len() > needed {
            cx.host.wasted += (self.credits.len() - needed) as u64;
            self.credits.truncate(needed);
        }
        if self.uncovered() > 0 {
            self.ask_if_needed(cx);
        } else {
            self.end(cx);
        }
    }
}

impl Rp<ExpressPass> for ReactionPoint {
    type Timer = Present;
    fn open(
        params: &ExpressPassParams,
        _host: &mut HostState,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint {
        ReactionPoint::new(params, path)
    }
    /// A credit is for one packet, whichever is next.
    #[inline]
    fn limits(&self) -> SendLimits {
        let granted = if self.credits.is_empty() { 0 } else { u64::MAX };
        SendLimits { credit_limit: granted, ..SendLimits::UNLIMITED }
    }
    fn on_send(&mut self, cx: &mut HostCx<'_, ExpressPass>, data: &mut Header, meta: &mut Credit) {
        *meta = self.credits.pop_front().unwrap_or_default();
        cx.host.used += 1;
        self.packets = self.packets.saturating_sub(1);
        self.next = data.sequence + u64::from(data.payload);
        self.highest_sent = self.highest_sent.max(self.next);
        if self.packets == 0 && self.next < self.posted {
            self.go_on_from(cx, self.next);
        }
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, ExpressPass>, ack: &Ack<'_, ExpressPass>) {
        self.acknowledged = self.acknowledged.max(ack.next_expected);
        let goes_back = ack.nack && ack.next_expected == self.acknowledged;
        if goes_back || self.next < self.acknowledged {
            self.go_on_from(cx, self.acknowledged);
        }
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, ExpressPass>, control: &Control) {
        if let Control::Credit(credit) = control {
            self.take(cx, *credit);
        }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, ExpressPass>, left: Bytes) {
        let posted = self.highest_sent + left.get();
        self.packets += (posted - self.posted).div_ceil(self.payload);
        self.posted = posted;
        self.ask_if_needed(cx);
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        self.go_on_from(cx, self.acknowledged);
    }
}

impl RpTimer<ExpressPass> for ReactionPoint {
    fn next_timer(&self) -> Time {
        self.ask_again
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        self.ask(cx);
    }
}
