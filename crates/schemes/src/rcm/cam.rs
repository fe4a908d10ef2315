//! CFR: the flows of sampled packets (section 3.3).

use super::{FlowId, RegionParams};
use units::Time;

/// A sampled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    flow: FlowId,
    /// Port through which it came.
    input: u16,
    written: Time,
}

/// The content-addressable memory of an output queue: sampled flows, of which the oldest is
/// overwritten first. A flow that was sampled several times has several entries.
#[derive(Clone, Debug)]
pub struct Cam {
    entries: Vec<Entry>,
    depth: usize,
    next: usize,
    age: Time,
    share: f64,
    /// Time of the newest entry. The harmful flows were found then.
    written: Time,
    harmful: Vec<(FlowId, u16)>,
    /// Scratch space to count the entries of each flow.
    hits: Vec<u32>,
}

impl Cam {
    /// Returns an empty CAM.
    pub fn new(params: &RegionParams) -> Cam {
        let depth = params.cam_depth as usize;
        Cam {
            entries: Vec::with_capacity(depth),
            depth,
            next: 0,
            age: params.cam_age,
            share: params.harmful_share,
            written: Time::ZERO,
            harmful: Vec::with_capacity(depth),
            hits: Vec::with_capacity(depth),
        }
    }

    /// Writes a sampled packet of a flow that came through port `input`.
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

    /// Finds the harmful flows: compares the number of valid entries of each flow with that of the
    /// mean flow.
    fn find_harmful(&mut self, now: Time) {
        self.harmful.clear();
        self.hits.clear();
        let mut fresh = 0;
        for entry in self.entries.iter().filter(|entry| now <= entry.written + self.age) {
            fresh += 1;
            match self.harmful.iter().position(|(flow, _)| *flow == entry.flow) {
                Some(place) => self.hits[place] += 1,
                None => {
                    self.harmful.push((entry.flow, entry.input));
                    self.hits.push(1);
                }
            }
        }
        let mean = f64::from(fresh) / self.harmful.len() as f64;
        let mut hits = self.hits.iter();
        let mut is_harmful =
            || hits.next().is_some_and(|&hits| f64::from(hits) >= self.share * mean);
        self.harmful.retain(|_| is_harmful());
    }

    /// Returns the harmful flows, each once, with the ports through which they come.
    #[inline]
    pub fn harmful(&self, now: Time) -> &[(FlowId, u16)] {
        if now <= self.written + self.age { &self.harmful } else { &[] }
    }

    /// Returns whether a flow is harmful.
    #[inline]
    pub fn is_harmful(&self, now: Time, flow: FlowId) -> bool {
        self.harmful(now).iter().any(|(known, _)| *known == flow)
    }
}
