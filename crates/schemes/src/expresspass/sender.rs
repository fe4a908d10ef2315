//! The sender's half: asks for credits, and sends a packet for each.

use super::{Control, Credit, ExpressPass, ExpressPassParams, HostState};
use crate::contract::{Ack, Header, HostCx, PathFacts, Present, Rp, RpTimer, SendLimits};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// A request on the wire, the shortest frame with preamble and gap.
const REQUEST_BYTES: Bytes = Bytes::new(84);
/// The wait for an answer is doubled no more often than this.
const MAX_DOUBLINGS: u32 = 20;

/// Where a sender stands with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It wants nothing.
    Idle,
    /// It asked, and no credit came yet.
    Asked,
    /// Credits come.
    Fed,
    /// It stopped the credits early; those under way should do.
    Stopped,
}

/// The reaction point, one per QP: asks for credits, and sends a packet for each.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    request_timeout: Time,
    /// How long the slowest link of the path takes to send a request.
    request_time: Time,
    /// Requests since the last credit.
    unanswered: u32,
    early_stop: bool,
    payload: u64,
    state: State,
    /// Credits not spent yet, oldest first.
    credits: VecDeque<Credit>,
    /// Packets to send, spent credits aside.
    packets: u64,
    /// End of the last message; first byte never sent; first byte to send; first byte not
    /// acknowledged.
    posted: u64,
    highest_sent: u64,
    next: u64,
    acknowledged: u64,
    /// When the request first went out, and when it is repeated.
    asked_at: Time,
    ask_again: Time,
    /// From a request to its first credit. That may answer an earlier one, but takes the path's at least.
    round_trip: Time,
    base_rtt: Time,
    /// Early stop: begin of the present round trip and the credits since.
    round_begin: Time,
    round_credits: u64,
}

impl ReactionPoint {
    /// The reaction point of a QP that begins.
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
            round_begin: Time::ZERO,
            round_credits: 0,
        }
    }

    /// Packets for which there is no credit.
    fn uncovered(&self) -> u64 {
        self.packets.saturating_sub(self.credits.len() as u64)
    }

    fn ask(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if matches!(self.state, State::Idle | State::Stopped) {
            self.state = State::Asked;
            self.asked_at = cx.now;
        }
        self.unanswered = self.unanswered.saturating_add(1);
        cx.host.asking_until = cx.host.asking_until.max(cx.now).saturating_add(self.request_time);
        self.ask_again = cx.now.saturating_add(self.patience(cx));
        cx.send(Control::Request(u32::try_from(self.uncovered()).unwrap_or(u32::MAX)));
    }

    /// How long it waits for a credit before it asks again: the request timeout, as long as the requests of
    /// its host need less than half the link for that.
    ///
    /// On slower links requests would wait behind one another and grow in number without end. There it waits
    /// until they would have been sent twice, and twice as long after each request that has no answer.
    fn patience(&self, cx: &HostCx<'_, ExpressPass>) -> Time {
        let twice = cx.host.asking_until.saturating_sub(cx.now).saturating_mul(2);
        if twice <= self.request_timeout {
            return self.request_timeout;
        }
        let doublings = self.unanswered.saturating_sub(1).min(MAX_DOUBLINGS);
        twice.saturating_mul(1 << doublings)
    }

    /// Asks for credits where there is need and nobody asked.
    fn ask_if_needed(&mut self, cx: &mut HostCx<'_, ExpressPass>) {
        if matches!(self.state, State::Idle | State::Stopped) && self.uncovered() > 0 {
            self.ask(cx);
        }
    }

    /// There is a credit for everything.
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
        if matches!(self.state, State::Asked | State::Fed) {
            // It may be one from before the last stop, and the request lost.
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
                // What was under way is there by then.
                self.ask_again = cx.now + self.round_trip * 2;
            }
            self.round_begin = cx.now;
            self.round_credits = 0;
        }
    }

    /// The sender goes on from another byte than it would have. Message ends between there and the
    /// end may make more packets of it: for those it asks when it comes to them.
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
