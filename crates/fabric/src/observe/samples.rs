//! What probes saw. A run may take millions of samples, so a node keeps of each only what the probe does
//! not know: which of its instants and targets, and the value.

use crate::observe::spill::{Sequence, Stored, array};
use std::io::{self, Read};
use units::Time;

/// A value that a probe saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Index of the target in the probe's list.
    pub target: u32,
    /// When.
    pub time: Time,
    /// The value, in the probe's unit.
    pub value: f64,
}

/// A sample as a node keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Instants of the probe before it.
    instant: u32,
    target: u32,
    value: f64,
}

impl Reading {
    /// Memory that one takes.
    pub(crate) const BYTES: u64 = size_of::<Reading>() as u64;

    /// What readings of a probe are sorted by.
    pub(crate) fn place(&self) -> (u32, u32) {
        (self.instant, self.target)
    }
}

impl Stored for Reading {
    fn store(&self, out: &mut Vec<u8>) {
        out.extend(self.instant.to_le_bytes());
        out.extend(self.target.to_le_bytes());
        out.extend(self.value.to_bits().to_le_bytes());
    }

    fn load(from: &mut impl Read) -> io::Result<Reading> {
        Ok(Reading {
            instant: u32::from_le_bytes(array(from)?),
            target: u32::from_le_bytes(array(from)?),
            value: f64::from_bits(u64::from_le_bytes(array(from)?)),
        })
    }
}

/// Readings of the first block of a log, and of the largest.
const FIRST: usize = 64;
const LARGEST: usize = 4096;

/// What a probe saw on a node, in the order of instants. Blocks stay where they are as it grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    blocks: Vec<Vec<Reading>>,
}

impl Log {
    pub(crate) fn push(&mut self, instant: u32, target: u32, value: f64) {
        let reading = Reading { instant, target, value };
        let size = match self.blocks.last_mut() {
            Some(block) if block.len() < block.capacity() => return block.push(reading),
            Some(block) => LARGEST.min(2 * block.len()),
            None => FIRST,
        };
        let mut block = Vec::with_capacity(size);
        block.push(reading);
        self.blocks.push(block);
    }

    /// Moves all readings to the end of `all`.
    pub(crate) fn hand_over(&mut self, all: &mut Vec<Reading>) {
        self.blocks.drain(..).for_each(|block| all.extend(block));
    }
}

/// What the probes of a run saw.
#[derive(Clone, Debug)]
pub struct Samples {
    probes: Vec<OfProbe>,
}

#[derive(Clone, Debug)]
struct OfProbe {
    start: Time,
    interval: Time,
    readings: Sequence<Reading>,
}

impl Samples {
    /// Of each probe when it looks first, how often, and what it saw.
    pub(crate) fn new(probes: impl Iterator<Item = (Time, Time, Sequence<Reading>)>) -> Samples {
        let of = |(start, interval, readings)| OfProbe { start, interval, readings };
        Samples { probes: probes.map(of).collect() }
    }

    /// How many samples a probe took. `probe` is its index in the setup.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn count(&self, probe: usize) -> usize {
        self.probes[probe].readings.len() as usize
    }

    /// What a probe saw, by time and then target. `probe` is its index in the setup.
    ///
    /// # Errors
    /// Where a file that holds them cannot be read.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn of(&self, probe: usize) -> impl Iterator<Item = io::Result<Sample>> + Send + use<> {
        let OfProbe { start, interval, ref readings } = self.probes[probe];
        let sample = move |Reading { instant, target, value }| Sample {
            target,
            time: start + interval * u64::from(instant),
            value,
        };
        readings.iter().map(move |reading| reading.map(sample))
    }
}
