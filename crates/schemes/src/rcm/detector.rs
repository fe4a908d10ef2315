//! CRD: detects congestion of a queue from samples, as QCN does (section 3.2).

use super::{MAX_DEGREE, RegionParams};
use crate::random::Stream;
use units::Time;

/// Bytes from one sample to the next, in 150ths of the bytes without congestion. The index is the
/// upper three bits of the quantised Fb (802.1Qau).
const INTERVALS: [f64; 8] = [150.0, 75.0, 50.0, 37.5, 30.0, 25.0, 21.5, 18.5];

/// Counts bytes until the next sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    left: f64,
    jitter: f64,
    random: Stream,
}

impl Sampling {
    /// Returns a counter whose first sample comes after `interval` bytes. Each sample is up to
    /// `jitter` of its interval early or late.
    pub fn new(interval: f64, jitter: f64, seed: u64) -> Sampling {
        let mut sampling = Sampling { left: 0.0, jitter, random: Stream::new(seed, 0) };
        sampling.restart(interval);
        sampling
    }

    /// Counts `bytes` that passed. Returns whether to sample them.
    #[inline]
    pub fn count_bytes(&mut self, bytes: u64) -> bool {
        self.left -= bytes as f64;
        self.left <= 0.0
    }

    /// Sets the next sample `interval` bytes ahead, plus jitter.
    pub fn restart(&mut self, interval: f64) {
        self.left = interval * (1.0 + self.jitter * (2.0 * self.random.fraction() - 1.0));
    }
}

/// The detector of a queue.
#[derive(Clone, Debug)]
pub struct Detector {
    equilibrium: f64,
    weight: f64,
    interval: f64,
    quiet_samples: u64,
    memory: Time,
    sampling: Sampling,
    /// The queue length at the last sample.
    before: f64,
    /// Fb at the last sample, in 6 bits.
    degree: u8,
    /// Without further samples, the queue counts as congested until this time.
    congested_until: Time,
    calm: u64,
}

impl Detector {
    /// Returns the detector of an empty queue.
    pub fn new(params: &RegionParams, seed: u64) -> Detector {
        let interval = params.sample_interval.get() as f64;
        Detector {
            equilibrium: params.equilibrium.get() as f64,
            weight: params.growth_weight,
            interval,
            quiet_samples: params.quiet_samples,
            memory: params.memory,
            sampling: Sampling::new(interval, params.sample_jitter, seed),
            before: 0.0,
            degree: 0,
            congested_until: Time::ZERO,
            calm: 0,
        }
    }

    /// Counts a packet of `size` bytes that joins the queue. Returns whether to sample it.
    #[inline]
    pub fn count_bytes(&mut self, size: u64) -> bool {
        self.sampling.count_bytes(size)
    }

    /// Samples the queue, where `queue` bytes wait. Returns Fb = Q_off + w Q_delta (equation 1), at
    /// most [`max_feedback`](Detector::max_feedback).
    pub fn sample(&mut self, now: Time, queue: u64) -> f64 {
        let queue = queue as f64;
        let feedback = (queue - self.equilibrium) + self.weight * (queue - self.before);
        let feedback = feedback.min(self.max_feedback());
        self.degree = self.degree_of(feedback);
        self.before = queue;
        let was = self.is_congested(now);
        self.calm = if feedback > 0.0 { 0 } else { self.calm + 1 };
        let congested = feedback > 0.0 || (was && self.calm < self.quiet_samples);
        self.congested_until = if congested { now + self.memory } else { Time::ZERO };
        let interval = self.interval * INTERVALS[usize::from(self.degree / 8)];
        self.sampling.restart(interval / INTERVALS[0]);
        feedback
    }

    /// Returns the maximum Fb, of a queue that has grown from zero to twice its equilibrium: (2 w +
    /// 1) Q_eq.
    pub fn max_feedback(&self) -> f64 {
        (2.0 * self.weight + 1.0) * self.equilibrium
    }

    /// Returns Fb in 6 bits.
    pub fn degree_of(&self, feedback: f64) -> u8 {
        (feedback.clamp(0.0, self.max_feedback()) * f64::from(MAX_DEGREE) / self.max_feedback())
            .round() as u8
    }

    /// Returns whether the queue is congested: it was at the last sample, which is at most `memory`
    /// ago.
    #[inline]
    pub fn is_congested(&self, now: Time) -> bool {
        now < self.congested_until
    }

    /// Returns until when the queue counts as congested without further samples. In the past if it
    /// is not.
    #[inline]
    pub fn congested_until(&self) -> Time {
        self.congested_until
    }

    /// Returns Fb in 6 bits at the last sample; 0 if the queue is not congested.
    pub fn degree(&self, now: Time) -> u8 {
        if self.is_congested(now) { self.degree } else { 0 }
    }
}
