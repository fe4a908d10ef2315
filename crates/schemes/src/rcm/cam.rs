//! CFR: the flows of sampled packets (section 3.3).

use super::{FlowId, RegionParams};
use units::Time;

/// A sampled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    flow: FlowId,
    /// Through which port it came.
    input: u16,
    written: Time,
}

/// The content-addressable memory of an output queue: sampled flows, the oldest overwritten first. A
/// flow that was sampled several times has several entries.
#[derive(Clone, Debug)]
pub struct Cam {
    entries: Vec<Entry>,
    depth: usize,
    next: usize,
    age: Time,
    share: f64,
    /// As of the last entry.
    written: Time,
    harmful: Vec<(FlowId, u16)>,
}

impl Cam {
    /// An empty one.
    pub fn new(params: &RegionParams) -> Cam {
        let depth = params.cam_depth as usize;
        Cam {
            entries: Vec::with_capacity(depth),
            depth,
            next: 0,
            age: params.cam_age,
            share: params.harmful_share,
            written: Time::ZERO,
            harmful: Vec::new(),
        }
    }

    /// A packet of a flow that came through port `input` was sampled.
    pub fn write(&mut self, now: Time, flow: FlowId, input: u16) {
        let entry = Entry { flow, input, written: now };
        if self.entries.len() < self.depth {
            self.entries.push(entry);
        } else {
            self.entries[self.next] = entry;
        }
        self.next = (self.next + 1) % self.depth;
        self.written = now;
        self.find_harmful(now);
    }

    /// Counts the entries of each flow that are not too old, against those of the mean flow.
    fn find_harmful(&mut self, now: Time) {
        let fresh = || self.entries.iter().filter(|entry| now <= entry.written + self.age);
        let hits = |flow: FlowId| fresh().filter(|entry| entry.flow == flow).count();
        let mut flows: Vec<(FlowId, u16)> = Vec::with_capacity(self.depth);
        for entry in fresh() {
            if !flows.iter().any(|(flow, _)| *flow == entry.flow) {
                flows.push((entry.flow, entry.input));
            }
        }
        let mean = fresh().count() as f64 / flows.len() as f64;
        flows.retain(|(flow, _)| hits(*flow) as f64 >= self.share * mean);
        self.harmful = flows;
    }

    /// The harmful flows, each once, with the ports through which they come.
    #[inline]
    pub fn harmful(&self, now: Time) -> &[(FlowId, u16)] {
        if now <= self.written + self.age { &self.harmful } else { &[] }
    }

    /// Whether a flow is harmful: it has at least its share of the entries.
    #[inline]
    pub fn is_harmful(&self, now: Time, flow: FlowId) -> bool {
        self.harmful(now).iter().any(|(known, _)| *known == flow)
    }
}
