//! Samples of probes. A run may take many millions, so a node keeps of each only what the probe
//! does not imply: the number of the instant, the target, and the value.

use crate::observe::sequence::{Sequence, Stored, array};
use std::io::{self, Read};
use units::Time;

/// A sample of a probe.
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
    /// The number of instants of the probe before it.
    instant: u32,
    target: u32,
    value: f64,
}

impl Reading {
    /// Memory of one reading.
    pub(crate) const BYTES: u64 = size_of::<Reading>() as u64;

    /// The key by which readings of a probe are sorted.
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

/// Readings in the first block of a log, and in the largest.
const FIRST_BLOCK: usize = 64;
const MAX_BLOCK: usize = 4096;

/// The readings of a probe at a node, by instant. A log grows by blocks and moves none of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    blocks: Vec<Vec<Reading>>,
}

impl Log {
    pub(crate) fn push(&mut self, instant: u32, target: u32, value: f64) {
        let reading = Reading { instant, target, value };
        let size = match self.blocks.last_mut() {
            Some(block) if block.len() < block.capacity() => return block.push(reading),
            Some(block) => MAX_BLOCK.min(2 * block.len()),
            None => FIRST_BLOCK,
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

/// The samples of all probes of a run.
#[derive(Clone, Debug, Default)]
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
    /// `probes`: of each probe its start, its interval, and its readings.
    pub(crate) fn new(probes: impl Iterator<Item = (Time, Time, Sequence<Reading>)>) -> Samples {
        let of = |(start, interval, readings)| OfProbe { start, interval, readings };
        Samples { probes: probes.map(of).collect() }
    }

    /// The number of samples that a probe took. `probe` is its index in the setup.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn count(&self, probe: usize) -> usize {
        self.probes[probe].readings.len() as usize
    }

    /// The samples of a probe, by time and then target. `probe` is its index in the setup.
    ///
    /// # Errors
    /// If a file that holds them cannot be read.
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
