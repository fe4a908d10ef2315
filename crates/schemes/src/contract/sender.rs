//! The reaction point: what a scheme does at the sender.

use super::{EcnCodePoint, Header, HostCx, PathFacts, RpTimerSlot, Scheme};
use units::{Bytes, Rate, Time};

/// What a sender may do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendLimits {
    /// Pacing rate, in wire bytes; at or above the line rate means unpaced. A law keeps to the line
    /// rate or says [`EVERYTHING`](SendLimits::UNLIMITED)'s, as probes show the number; and to at least the
    /// scheme's parameter `min_rate` (or the line rate, if that is less), where it has one of this
    /// name.
    pub rate: Rate,
    /// A packet may leave while fewer payload bytes than this are in flight: the last one may
    /// overshoot by less than a packet, and a window of one byte is one of a packet. None at all stops
    /// the QP for good, unless [`next_timer`](super::RpTimer::next_timer) or a control packet opens it again.
    pub window: Bytes,
    /// First byte of the QP's stream that has no permission yet (credit schemes).
    pub credit_limit: u64,
    /// No data before this time.
    pub not_before: Time,
}

impl SendLimits {
    /// Line rate, no window.
    pub const UNLIMITED: SendLimits = SendLimits {
        rate: Rate::from_bps(u64::MAX),
        window: Bytes::UNLIMITED,
        credit_limit: u64::MAX,
        not_before: Time::ZERO,
    };
}

/// An acknowledgement as the reaction point sees it.
#[derive(Debug)]
pub struct Ack<'a, S: Scheme> {
    /// First byte of the QP's stream that the receiver still waits for.
    pub next_expected: u64,
    /// Payload bytes that this ACK newly acknowledges.
    pub newly_acked: Bytes,
    /// First byte of the stream that the sender has not sent yet.
    pub next_to_send: u64,
    /// The receiver saw a gap: the sender goes back to `next_expected`.
    pub nack: bool,
    /// The code point of the data packet that this ACK answers.
    pub echo: EcnCodePoint,
    /// From the data packet's departure at the sender to this ACK's arrival.
    pub rtt: Time,
    /// What the ACK carries for the scheme. A NACK carries what the packet out of order did.
    pub meta: &'a S::Meta,
}

impl<S: Scheme> Ack<'_, S> {
    /// Whether it acknowledges anything; NACKs and repeated ACKs tell of packets that were thrown away.
    #[inline]
    pub fn acks_new_data(&self) -> bool {
        !self.nack && self.newly_acked != Bytes::ZERO
    }
    /// First byte not sent yet; after a NACK the sender goes back, and what lies beyond is not sent.
    #[inline]
    pub fn highest_sent(&self) -> u64 {
        if self.nack { self.next_expected } else { self.next_to_send }
    }
}

/// A quantity of the reaction point that a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderMetric {
    /// Pacing rate, bits per second.
    Rate,
    /// Window, bytes.
    Window,
    /// The scheme's congestion estimate, such as DCQCN's alpha or HPCC's U.
    Alpha,
}

/// From when on a change of the pacing rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// From the gap after the next packet: a time that is already set stays.
    FromNextPacket,
    /// At once: it moves the time of the packet that is waited for, as in a pacer that reads the
    /// rate continuously.
    Continuous,
}

/// Reaction point: sets the rate and window of a QP at the sender.
pub trait Rp<S: Scheme>: Sized + Send + 'static {
    /// Whether it has a timer: [`Present`](super::Present) with an implementation of
    /// [`RpTimer`](super::RpTimer), else [`Absent`](super::Absent).
    type Timer: RpTimerSlot<S, Self>;
    /// Whether a change of the rate moves the time of the next packet.
    const PACING: Pacing = Pacing::FromNextPacket;

    /// A QP begins at `now`.
    fn open(params: &S::Params, host: &mut S::Host, path: &PathFacts, now: Time) -> Self;
    /// What the QP may do now. Read after each hook.
    fn limits(&self) -> SendLimits;
    /// A data packet leaves; its header and what it carries may still be written. The gap to the
    /// next one is computed from [`limits`](Rp::limits) after this.
    fn on_send(&mut self, _cx: &mut HostCx<'_, S>, _data: &mut Header, _meta: &mut S::Meta) {}
    /// An ACK or NACK arrived.
    fn on_ack(&mut self, _cx: &mut HostCx<'_, S>, _ack: &Ack<'_, S>) {}
    /// One of the scheme's control packets arrived.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// A message was posted, or the last byte of all that were posted left for the first time. `left`
    /// bytes are still to be sent for the first time. Not called as other bytes leave.
    fn on_backlog(&mut self, _cx: &mut HostCx<'_, S>, _left: Bytes) {}
    /// Nothing was acknowledged for the retransmission timeout: the sender goes back.
    fn on_retransmission_timeout(&mut self, _cx: &mut HostCx<'_, S>) {}
    /// The value of a quantity at `now`, for a probe: finite and not negative; must not change what
    /// follows.
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        let limits = self.limits();
        match what {
            SenderMetric::Rate if limits.rate.bps() != u64::MAX => Some(limits.rate.bps() as f64),
            SenderMetric::Window if limits.window != Bytes::UNLIMITED => {
                Some(limits.window.get() as f64)
            }
            _ => None,
        }
    }
}
