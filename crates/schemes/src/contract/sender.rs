//! The reaction point: what a scheme does at the sender.

use super::{EcnCodePoint, Header, HostCx, PathFacts, RpTimerSlot, Scheme};
use units::{Bytes, Rate, Time};

/// What a sender may do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendLimits {
    /// Pacing rate, in wire bytes; the line rate or more means unpaced. Probes show the number, so
    /// a law returns at most the line rate, or the rate of [`UNLIMITED`](SendLimits::UNLIMITED). If
    /// the scheme has a parameter `min_rate`, the rate is at least that or the line rate, whichever
    /// is less.
    pub rate: Rate,
    /// Payload bytes in flight below which a packet may leave. The last packet may overshoot it by
    /// less than a packet, so a window of one byte lets one packet go. A window of 0 stops the QP
    /// for good, unless a timer ([`RpTimer`](super::RpTimer)) or a control packet opens it.
    pub window: Bytes,
    /// First byte of the QP's stream for which the sender has no credit (credit schemes).
    pub credit_limit: u64,
    /// No data before this time.
    pub not_before: Time,
}

impl SendLimits {
    /// Line rate, no window, no credits.
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
    /// Payload bytes that this ACK newly acknowledges. With selective repeat also bytes that
    /// arrived ahead of others.
    pub newly_acked: Bytes,
    /// Payload bytes that the sender takes for lost since this ACK, and sends again (selective
    /// repeat). Zero for a sender that goes back.
    pub newly_lost: Bytes,
    /// First byte of the stream that the sender has not sent yet.
    pub next_to_send: u64,
    /// The receiver saw a gap: the sender goes back to `next_expected`.
    pub nack: bool,
    /// The code point of the data packet that this ACK answers.
    pub echo: EcnCodePoint,
    /// From the data packet's departure at the sender to this ACK's arrival.
    pub rtt: Time,
    /// What the ACK carries for the scheme. A NACK carries what the packet that was out of order
    /// carried.
    pub meta: &'a S::Meta,
}

impl<S: Scheme> Ack<'_, S> {
    /// Returns the same ACK for the scheme that this one is made of and whose part of the packet is
    /// `meta`.
    #[inline]
    pub fn with_meta<'m, Inner: Scheme>(&self, meta: &'m Inner::Meta) -> Ack<'m, Inner> {
        Ack {
            next_expected: self.next_expected,
            newly_acked: self.newly_acked,
            newly_lost: self.newly_lost,
            next_to_send: self.next_to_send,
            nack: self.nack,
            echo: self.echo,
            rtt: self.rtt,
            meta,
        }
    }
    /// Returns whether it acknowledges bytes that were not acknowledged before. NACKs and repeated
    /// ACKs do not: they answer packets that the receiver discarded.
    #[inline]
    pub fn acks_new_data(&self) -> bool {
        !self.nack && self.newly_acked != Bytes::ZERO
    }
    /// Returns whether it tells of a loss: the sender goes back, or sends some packets again.
    #[inline]
    pub fn shows_loss(&self) -> bool {
        self.nack || self.newly_lost != Bytes::ZERO
    }
    /// Returns the first byte that counts as not sent. After a NACK that is `next_expected`,
    /// because the sender goes back to it.
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
    /// Returns whether a change of the rate moves the time of the next packet. The answer must not
    /// change while the QP is open.
    #[inline(always)]
    fn pacing(&self) -> Pacing {
        Pacing::FromNextPacket
    }

    /// Makes the reaction point of a QP that begins at `now`.
    fn open(params: &S::Params, host: &mut S::Host, path: &PathFacts, now: Time) -> Self;
    /// Returns what the QP may do now. Read after each hook.
    fn limits(&self) -> SendLimits;
    /// Called for each data packet that leaves; the hook may write into its header and `meta`. The
    /// gap to the next packet is computed from [`limits`](Rp::limits) after this.
    fn on_send(&mut self, _cx: &mut HostCx<'_, S>, _data: &mut Header, _meta: &mut S::Meta) {}
    /// Called when an ACK or NACK arrives.
    fn on_ack(&mut self, _cx: &mut HostCx<'_, S>, _ack: &Ack<'_, S>) {}
    /// Called when one of the scheme's control packets arrives.
    fn on_ctl(&mut self, _cx: &mut HostCx<'_, S>, _ctl: &S::Ctl) {}
    /// Called when a message is posted, and when the last byte of all posted messages leaves for
    /// the first time. `left` bytes are still to be sent for the first time. Not called for the
    /// bytes in between.
    fn on_backlog(&mut self, _cx: &mut HostCx<'_, S>, _left: Bytes) {}
    /// Called when the retransmission timeout passes without an ACK and the sender goes back.
    fn on_retransmission_timeout(&mut self, _cx: &mut HostCx<'_, S>) {}
    /// Returns the value of a quantity at `now`, for a probe: finite and not negative. It must not
    /// change what follows. `None`: there is none. By default the rate and the window of
    /// [`limits`](Rp::limits), if they limit.
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
