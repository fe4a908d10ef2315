//! The paper's window form of HPCC. Line numbers refer to Algorithm 1 (SIGCOMM 2019).

use super::{HpccParams, float, whole};
use crate::contract::{LinkRates, PathFacts, SendLimits};
use crate::hpcc::BaseRtt;
use crate::int::{IntFormat, IntStack, PreviousRecords};
use crate::shared_law::Shared;
use std::sync::Arc;
use units::{Bytes, Rate, Time};

/// Picoseconds in a second times bits in a byte.
const PS_BITS: f64 = 8e12;

/// The busiest link among an ACK's records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Index of its record.
    pub hop: usize,
    /// Its normalised bytes in flight since the previous ACK (u, lines 5 to 7).
    pub inflight: f64,
}

/// What follows the measurement of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowStep {
    /// W is computed from W^c and U (ComputeWind).
    Computed,
    /// W is W^c.
    Reference,
}

static LAWS: Shared<Law> = Shared::new();

/// The part of the algorithm that is equal for all QPs with the same line rate and T. They share
/// it.
///
/// It has cache lines of its own: `Arc` keeps the reference count next to it, and each clone writes
/// that count.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Law {
    eta: f64,
    max_stage: u32,
    fast_reaction: bool,
    /// T, picoseconds.
    base_rtt: f64,
    /// W_init, bytes.
    full_window: f64,
    /// The window at the minimum rate, bytes.
    min_window: f64,
    /// W_AI, bytes.
    increase: f64,
    min_rate: Rate,
    line_rate: Rate,
    payload: Bytes,
    format: IntFormat,
    rates: LinkRates,
}

impl Law {
    /// Returns the law for a QP on this path.
    pub fn new(params: &HpccParams, path: &PathFacts) -> Law {
        let rtt = if params.base_rtt == BaseRtt::Path { path.base_rtt } else { path.network_rtt };
        Law::with_rtt(params, path.line_rate, rtt, path.payload, &path.rates)
    }

    /// Returns the law for a loop with T = `rtt`, whatever the path.
    pub fn with_rtt(
        params: &HpccParams,
        line_rate: Rate,
        rtt: Time,
        payload: Bytes,
        rates: &LinkRates,
    ) -> Law {
        let base_rtt = rtt.ps().max(1) as f64;
        let bytes_at = |rate: Rate| rate.bps() as f64 * base_rtt / PS_BITS;
        let full_window = bytes_at(line_rate);
        let increase = if params.rate_ai == Rate::ZERO {
            full_window * (1.0 - params.eta) / params.expected_flows as f64
        } else {
            bytes_at(params.rate_ai)
        };
        let min_rate = params.min_rate.min(line_rate);
        Law {
            eta: params.eta,
            max_stage: params.max_stage as u32,
            fast_reaction: params.fast_reaction,
            base_rtt,
            full_window,
            min_window: bytes_at(min_rate),
            increase,
            min_rate,
            line_rate,
            payload,
            format: params.format(),
            rates: rates.clone(),
        }
    }

    /// Replaces the format of the INT records.
    pub fn with_format(self, format: IntFormat) -> Law {
        Law { format, ..self }
    }

    /// Returns an equal law that is already in use, if there is one, and otherwise this law.
    pub fn shared(self) -> Arc<Law> {
        LAWS.share(self)
    }

    /// Clamps a window. The paper has no bounds. Like the HPCC simulator, we keep the rate between
    /// the minimum and the line rate.
    fn bounded(&self, window: f64) -> f64 {
        window.clamp(self.min_window, self.full_window)
    }
}

/// The reaction point, one per QP. Its methods take plain values, so that other schemes can use it.
#[derive(Clone, Debug)]
pub struct ReactionPoint<const N: usize> {
    law: Arc<Law>,
    /// W, bytes.
    window: f64,
    /// W^c, bytes.
    reference: f64,
    /// U.
    utilisation: f64,
    inc_stage: u32,
    /// lastUpdateSeq: the first byte sent under the present reference window.
    last_update: u64,
    /// L.
    records: PreviousRecords<N>,
    /// R, the pacing rate, which follows from W.
    rate: Rate,
}

impl<const N: usize> ReactionPoint<N> {
    /// Returns the state of a new QP: W_init = B_NIC T, so at line rate (section 3.2).
    pub fn new(params: &HpccParams, path: &PathFacts) -> ReactionPoint<N> {
        ReactionPoint::under(Law::new(params, path).shared())
    }

    /// Returns the state of a new QP under this law.
    pub fn under(law: Arc<Law>) -> ReactionPoint<N> {
        let (full_window, rate) = (law.full_window, law.line_rate);
        let mut rp = ReactionPoint {
            law,
            window: full_window,
            reference: full_window,
            // The paper gives no initial value. As in the HPCC simulator, the link is just full.
            utilisation: 1.0,
            inc_stage: 0,
            last_update: 0,
            records: PreviousRecords::NONE,
            rate,
        };
        rp.set_window(full_window);
        rp
    }

    /// Shortens T to `rtt`, if that is shorter. Windows shrink in proportion, and rates stay the
    /// same.
    pub fn shorten(&mut self, rtt: Time) {
        let base_rtt = rtt.ps().max(1) as f64;
        let by = base_rtt / self.law.base_rtt;
        if by >= 1.0 {
            return;
        }
        let law = Arc::make_mut(&mut self.law);
        law.base_rtt = base_rtt;
        for bytes in [&mut law.full_window, &mut law.min_window, &mut law.increase] {
            *bytes *= by;
        }
        self.window *= by;
        self.reference *= by;
        self.set_window(self.window);
    }

    /// Rate and window, as limits for the sender.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        // A window below one packet would stop the sender; then the pace alone limits it.
        let window = Bytes::new(whole(self.window)).max(self.law.payload);
        SendLimits { rate: self.rate, window, ..SendLimits::UNLIMITED }
    }
    /// Returns T.
    #[inline]
    pub fn base_rtt(&self) -> Time {
        Time::from_ps(self.law.base_rtt as u64)
    }
    /// U, the moving average of the busiest link's normalised bytes in flight.
    #[inline]
    pub fn utilisation(&self) -> f64 {
        self.utilisation
    }
    /// Limits U to eta: the measured load is no reason to cut.
    #[inline]
    pub fn ignore_overload(&mut self) {
        self.utilisation = self.utilisation.min(self.law.eta);
    }
    /// W, in bytes.
    #[inline]
    pub fn window(&self) -> f64 {
        self.window
    }
    /// W^c, in bytes.
    #[inline]
    pub fn reference(&self) -> f64 {
        self.reference
    }
    /// Sets W^c, in bytes, within its bounds. For schemes that know a better value.
    #[inline]
    pub fn set_reference(&mut self, reference: f64) {
        self.reference = self.law.bounded(reference);
    }

    /// Handles an ACK up to `next_expected` that is neither a NACK nor a duplicate (NewAck, lines
    /// 21 to 27).
    pub fn new_ack(
        &mut self,
        now: Time,
        next_expected: u64,
        next_to_send: u64,
        records: &IntStack<N>,
    ) {
        self.new_ack_with(now, next_expected, next_to_send, records, |_, _, _| {
            WindowStep::Computed
        });
    }

    /// Like [`new_ack`](Self::new_ack), but calls `adjust` between measuring and computing the
    /// window, and asks it how. The last argument of `adjust` says whether W^c is updated.
    pub fn new_ack_with(
        &mut self,
        now: Time,
        next_expected: u64,
        next_to_send: u64,
        records: &IntStack<N>,
        adjust: impl FnOnce(&mut ReactionPoint<N>, Bottleneck, bool) -> WindowStep,
    ) {
        let full = next_expected > self.last_update;
        // Without fast reaction, ACKs in between are not measured either, so that the next
        // measurement spans the round trip.
        if !full && !self.law.fast_reaction {
            return;
        }
        let measured = self.measure(now, records);
        if let Some(bottleneck) = measured {
            match adjust(self, bottleneck, full) {
                WindowStep::Computed => self.compute_window(full),
                WindowStep::Reference => {
                    self.set_window(self.reference);
                    self.inc_stage = 0;
                }
            }
        }
        // The first ACK starts the first round trip. If a later ACK has no new records, the next
        // ACK updates W^c instead. Otherwise tables that are updated now and then would let whole
        // round trips pass.
        if full && (measured.is_some() || self.last_update == 0) {
            self.last_update = next_to_send;
        }
    }

    /// Like [`new_ack`](Self::new_ack), if the switches have measured U themselves, as with PINT.
    pub fn new_ack_with_utilisation(
        &mut self,
        next_expected: u64,
        next_to_send: u64,
        utilisation: f64,
    ) {
        let full = next_expected > self.last_update;
        // The first ACK only starts the first round trip. With records, it would only store them.
        if self.last_update != 0 {
            self.utilisation = utilisation;
            self.compute_window(full);
        }
        if full {
            self.last_update = next_to_send;
        }
    }

    /// MeasureInflight (lines 1 to 10): updates U, and L (line 27). Returns `None` if there is
    /// nothing to compare with: on the first ACK, without any switch, if no records came for long,
    /// or if the path has changed (known only if records carry its number).
    pub fn measure(&mut self, now: Time, ack: &IntStack<N>) -> Option<Bottleneck> {
        let Law { format, rates, base_rtt, .. } = &*self.law;
        self.records.prepare_for(*format, now, ack);
        // The largest u so far, as bits plus 1; 0 is none. For numbers that are not negative, bits
        // sort as the numbers do. A branch on which link is the busiest would be mispredicted
        // often, and this form needs none.
        let (mut max_bits, mut max_hop, mut max_span) = (0, 0, 0);
        for (hop, (new, old)) in ack.aligned_with(&self.records).enumerate() {
            let span = format.span(&new, &old).ps();
            let bytes_per_ps = rates.bytes_per_ps(new.rate);
            // Lines 4 and 5. The smaller of the two queues filters out noise.
            let tx_rate = float(format.sent_between(&new, &old)) / float(span);
            let queue = float(new.queue_bytes.min(old.queue_bytes));
            let inflight = queue / (bytes_per_ps * base_rtt) + tx_rate / bytes_per_ps;
            // Two records of one instant give no rate. Neither do records that run backwards, if
            // ACKs ever overtake each other.
            let is_valid = span != 0 && bytes_per_ps != 0.0;
            // Line 6. With equal values, the first hop counts.
            let this = if is_valid { inflight.to_bits() + 1 } else { 0 };
            if this > max_bits {
                (max_bits, max_hop, max_span) = (this, hop, span);
            }
        }
        self.records = PreviousRecords::from(now, ack);
        if max_bits == 0 {
            return None;
        }
        let bottleneck = Bottleneck { hop: max_hop, inflight: f64::from_bits(max_bits - 1) };
        let span = float(max_span);
        // Lines 8 and 9.
        let weight = span.min(*base_rtt) / base_rtt;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * bottleneck.inflight;
        Some(bottleneck)
    }

    /// ComputeWind (lines 11 to 20) and the pacing rate R = W / T (line 27). If `full`, the
    /// reference window is updated, too.
    pub fn compute_window(&mut self, full: bool) {
        let Law { eta, max_stage, increase, .. } = *self.law;
        // Line 12.
        let multiplicative = self.utilisation >= eta || self.inc_stage >= max_stage;
        let base = if multiplicative {
            // An idle path has U = 0: the quotient is infinite, and is clamped like any other.
            self.reference / (self.utilisation / eta)
        } else {
            self.reference
        };
        self.set_window(base + increase);
        if full {
            self.inc_stage = if multiplicative { 0 } else { self.inc_stage + 1 };
            self.reference = self.window;
        }
    }

    fn set_window(&mut self, window: f64) {
        let Law { base_rtt, full_window, min_rate, line_rate, .. } = *self.law;
        self.window = self.law.bounded(window);
        let rate = if self.window == full_window {
            // Exactly the line rate: rounding must not take 1 bit/s off.
            line_rate
        } else {
            Rate::from_bps(whole(self.window * PS_BITS / base_rtt))
        };
        self.rate = rate.clamp(min_rate, line_rate);
    }
}
