//! The HPCC simulator's form of HPCC: Algorithm 1 (SIGCOMM 2019) on the rate R = W / T. Rates are
//! whole bits per second, and floating-point operations have the simulator's order. So the same
//! ACKs give the same rates to the bit.
//!
//! It differs from the window form in these points:
//!
//! - Every ACK counts, including NACKs and repeated ACKs.
//! - The first ACK only stores its records.
//! - ACKs from paths of more than `max_hops` switches are not measured.
//! - The end of the round trip never moves back.
//! - Rate and window both limit the sender.

use super::{HpccParams, float, whole};
use crate::contract::{LinkRates, PathFacts, SendLimits, SenderMetric};
use crate::hpcc::BaseRtt;
use crate::int::{IntFormat, IntStack, PreviousRecords};
use crate::rate_window::RateWindow;
use crate::shared_law::Shared;
use std::sync::Arc;
use units::{Bytes, Rate, Time};

/// The state from which a rate follows: of the path's busiest link, or of one hop.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// U.
    utilisation: f64,
    /// R^c, bits per second.
    reference: u64,
    inc_stage: u64,
    /// The last ACK had a new record of it.
    fresh: bool,
}

static LAWS: Shared<Law> = Shared::new();

/// The part of the law that is equal for all QPs with the same line rate and T. They share it.
///
/// It has cache lines of its own: `Arc` keeps the reference count next to it, and each clone writes
/// that count.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
struct Law {
    eta: f64,
    max_stage: u64,
    fast_reaction: bool,
    sample_feedback: bool,
    format: IntFormat,
    rates: LinkRates,
    max_hops: usize,
    /// T, nanoseconds.
    base_rtt: f64,
    /// W_init, bytes: the window at line rate.
    full_window: f64,
    /// Line rate in bits per second, like all rates here.
    line_rate: u64,
    min_rate: u64,
    increase: u64,
    limit: RateWindow,
    per_hop: bool,
}

/// The reaction point, one per QP. Its methods take plain values, so that other schemes can use it.
#[derive(Clone, Debug)]
pub struct ReactionPoint<const N: usize> {
    law: Arc<Law>,
    /// One track for the path, or one for each hop.
    tracks: Box<[Track]>,
    /// How many of them an ACK has had a record for.
    used: usize,
    /// lastUpdateSeq: an ACK beyond this byte updates the reference rate. 0 before the first ACK.
    last_update: u64,
    /// L.
    records: PreviousRecords<N>,
    rate: Rate,
    window: Bytes,
}

impl Law {
    /// Returns the law for a QP on this path.
    fn new(params: &HpccParams, path: &PathFacts) -> Law {
        let rtt = if params.base_rtt == BaseRtt::Path { path.base_rtt } else { path.network_rtt };
        let limit = RateWindow::new(params.window, path);
        let full_window = limit.full().unwrap_or_else(|| path.line_rate.bytes_in(rtt).get());
        let line_rate = path.line_rate.bps();
        let increase = if params.rate_ai == Rate::ZERO {
            (line_rate as f64 * (1.0 - params.eta) / params.expected_flows as f64) as u64
        } else {
            params.rate_ai.bps()
        };
        Law {
            eta: params.eta,
            max_stage: params.max_stage,
            fast_reaction: params.fast_reaction,
            sample_feedback: params.sample_feedback,
            format: params.format(),
            rates: path.rates.clone(),
            max_hops: params.max_hops as usize,
            base_rtt: nanoseconds(rtt).max(1.0),
            full_window: full_window.max(1) as f64,
            line_rate,
            min_rate: params.min_rate.bps().min(line_rate),
            increase,
            limit,
            per_hop: params.rate_per_hop,
        }
    }
}

impl<const N: usize> ReactionPoint<N> {
    /// Returns the state of a new QP: at line rate, with U = 1.
    pub fn new(params: &HpccParams, path: &PathFacts) -> ReactionPoint<N> {
        let law = LAWS.share(Law::new(params, path));
        let Law { line_rate, limit, per_hop, .. } = *law;
        let track = Track { utilisation: 1.0, reference: line_rate, inc_stage: 0, fresh: false };
        let tracks = if per_hop { N.max(1) } else { 1 };
        ReactionPoint {
            law,
            tracks: vec![track; tracks].into(),
            used: if per_hop { 0 } else { 1 },
            last_update: 0,
            records: PreviousRecords::NONE,
            rate: Rate::from_bps(line_rate),
            window: limit.at(line_rate),
        }
    }

    /// Rate and window, as limits for the sender.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, window: self.window, ..SendLimits::UNLIMITED }
    }

    /// U. If each hop has its own, the largest of those that the path has had.
    pub fn utilisation(&self) -> f64 {
        let known = &self.tracks[..self.used.max(1)];
        known.iter().fold(0.0, |most, track| track.utilisation.max(most))
    }

    /// R^c. If each hop has its own, the lowest.
    pub fn reference(&self) -> Rate {
        Rate::from_bps(self.tracks.iter().map(|track| track.reference).min().unwrap_or(0))
    }

    /// Limits U to eta: the measured load is no reason to cut.
    pub fn ignore_overload(&mut self) {
        for track in &mut self.tracks {
            track.utilisation = track.utilisation.min(self.law.eta);
        }
    }

    /// Handles an ACK or NACK up to `acknowledged`. The sender has sent up to `sent`. Returns
    /// whether the rate was computed again.
    pub fn acknowledge(
        &mut self,
        now: Time,
        acknowledged: u64,
        sent: u64,
        records: &IntStack<N>,
    ) -> bool {
        self.acknowledge_with(now, acknowledged, sent, records, |_| {})
    }

    /// Like [`acknowledge`](Self::acknowledge), but calls `adjust` between measuring and computing
    /// the rate.
    pub fn acknowledge_with(
        &mut self,
        now: Time,
        acknowledged: u64,
        sent: u64,
        records: &IntStack<N>,
        adjust: impl FnOnce(&mut ReactionPoint<N>),
    ) -> bool {
        let full = acknowledged > self.last_update;
        if !full && !self.law.fast_reaction {
            return false;
        }
        let mut computed = false;
        let stale = self.records.is_stale(self.law.format, now);
        let elsewhere = self.law.format.has_path_id() && records.path() != self.records.path();
        if self.last_update == 0 || elsewhere || stale {
            // The first ACK, or the first one on another path.
            self.records = PreviousRecords::from(now, records);
        } else if records.hops() <= self.law.max_hops && self.measure(now, records, full) {
            adjust(self);
            self.react(full);
            computed = true;
        }
        self.end_round(full, sent);
        computed
    }

    /// Like [`acknowledge`](Self::acknowledge), if the switches have measured U themselves, as with
    /// PINT.
    pub fn acknowledge_with_utilisation(
        &mut self,
        acknowledged: u64,
        sent: u64,
        utilisation: f64,
    ) -> bool {
        let full = acknowledged > self.last_update;
        let computed = self.last_update != 0;
        if computed {
            self.used = self.used.max(1);
            for track in &mut self.tracks[..self.used] {
                track.utilisation = utilisation;
                track.fresh = true;
            }
            self.react(full);
        }
        self.end_round(full, sent);
        computed
    }

    fn end_round(&mut self, full: bool, sent: u64) {
        if full || self.last_update == 0 {
            self.last_update = self.last_update.max(sent);
        }
    }

    /// MeasureInflight. Returns whether any hop has a new record.
    fn measure(&mut self, now: Time, ack: &IntStack<N>, full: bool) -> bool {
        let law = &*self.law;
        let per_hop = law.per_hop;
        if per_hop {
            self.used = self.used.max(ack.hops());
        }
        let tracks = &mut self.tracks[..self.used];
        for track in &mut *tracks {
            track.fresh = false;
        }
        let (mut max_load, mut span_of_max, mut any) = (0.0, 0.0, false);
        for (hop, new) in ack.records().enumerate() {
            if law.sample_feedback && !full && new.queue_bytes == 0 {
                continue;
            }
            any = true;
            let old = self.records.replace(now, hop, &new);
            let span = law.format.span_ns(&new, &old);
            // The simulator divides by a span of zero: the load becomes infinite with weight zero,
            // and not a number from then on. Packets take longer than its nanosecond, so this does
            // not occur.
            let rate = law.rates.rate(new.rate);
            if span > 0.0 && rate != Rate::ZERO {
                let rate = float(rate.bps());
                let sent = law.format.sent_between(&new, &old);
                let tx_rate = float(sent * 8) / (span * NANOSECOND);
                let queue = float(new.queue_bytes.min(old.queue_bytes));
                let load = tx_rate / rate + queue * float(law.line_rate) / rate / law.full_window;
                if per_hop {
                    tracks[hop].average(load, span, law.base_rtt);
                } else if load > max_load {
                    (max_load, span_of_max) = (load, span);
                }
            }
            if per_hop {
                tracks[hop].fresh = true;
            }
        }
        if any && !per_hop {
            tracks[0].average(max_load, span_of_max, law.base_rtt);
            tracks[0].fresh = true;
        }
        any
    }

    /// ComputeWind. If `full`, the reference rate is updated, too.
    fn react(&mut self, full: bool) {
        let Law { eta, max_stage, increase, min_rate, line_rate, limit, .. } = *self.law;
        let mut lowest = line_rate;
        for track in &mut self.tracks[..self.used] {
            let mut next = *track;
            if track.fresh {
                let load = track.utilisation / eta;
                let base = if load >= 1.0 || track.inc_stage >= max_stage {
                    next.inc_stage = 0;
                    quotient(track.reference, load)
                } else {
                    next.inc_stage += 1;
                    track.reference
                };
                let rate = base.saturating_add(increase);
                next.reference = rate.clamp(min_rate, line_rate);
            }
            lowest = lowest.min(next.reference);
            if full {
                *track = next;
            }
        }
        self.rate = Rate::from_bps(lowest);
        if limit.follows_rate() {
            self.window = limit.at(lowest);
        }
    }

    /// Returns the value that a probe shows.
    pub fn observe(&self, what: SenderMetric) -> Option<f64> {
        match what {
            SenderMetric::Rate => Some(self.rate.bps() as f64),
            SenderMetric::Window => {
                (self.window != Bytes::UNLIMITED).then_some(self.window.get() as f64)
            }
            SenderMetric::Alpha => Some(self.utilisation()),
        }
    }
}

impl Track {
    /// Moves U towards `load`, the average over `span`, with the weight of that span in T.
    fn average(&mut self, load: f64, span: f64, base_rtt: f64) {
        let span = span.min(base_rtt);
        self.utilisation = (self.utilisation * (base_rtt - span) + load * span) / base_rtt;
    }
}

/// One nanosecond in seconds.
const NANOSECOND: f64 = 1e-9;

/// Returns a rate divided by a load, in whole bits per second. A quotient that 64 bits cannot hold
/// is 0, as where the simulator converts it on x86-64. An idle hop with a rate of its own has such
/// a quotient: its load is 0.
fn quotient(rate: u64, load: f64) -> u64 {
    let exact = float(rate) / load;
    if exact < i64::MAX as f64 {
        return whole(exact);
    }
    // 2^64.
    if exact < u64::MAX as f64 { exact as u64 } else { 0 }
}

/// Returns a span in nanoseconds. Exact for whole nanoseconds.
fn nanoseconds(span: Time) -> f64 {
    span.ps() as f64 / 1000.0
}
