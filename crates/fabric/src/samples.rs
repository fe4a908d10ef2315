//! What probes saw. A run may take millions of samples, so a node keeps of each only what the probe does
//! not know: which of its instants and targets, and the value.

use crate::network::Probe;
use std::iter;
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
struct Reading {
    /// Instants of the probe before it.
    instant: u32,
    target: u32,
    value: f64,
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

    fn iter(&self) -> impl Iterator<Item = Reading> {
        self.blocks.iter().flatten().copied()
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
    logs: Vec<Log>,
}

impl Samples {
    /// Of probes that have not seen anything.
    pub(crate) fn new(probes: &[Probe]) -> Samples {
        let of = |probe: &Probe| OfProbe {
            start: probe.start,
            interval: probe.interval,
            logs: Vec::new(),
        };
        Samples { probes: probes.iter().map(of).collect() }
    }

    /// Adds what a node's probes saw.
    pub(crate) fn add(&mut self, logs: impl IntoIterator<Item = (u32, Log)>) {
        for (probe, log) in logs {
            self.probes[probe as usize].logs.push(log);
        }
    }

    /// How many samples a probe took. `probe` is its index in the setup.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn count(&self, probe: usize) -> usize {
        self.probes[probe].logs.iter().flat_map(|log| &log.blocks).map(Vec::len).sum()
    }

    /// What a probe saw, by time and then target. `probe` is its index in the setup.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn of(&self, probe: usize) -> impl Iterator<Item = Sample> {
        let OfProbe { start, interval, logs } = &self.probes[probe];
        let mut logs: Vec<_> = logs.iter().map(|log| log.iter().peekable()).collect();
        let at_an_instant = move || {
            let heads = logs.iter_mut().filter_map(|log| log.peek());
            let instant = heads.map(|reading| reading.instant).min()?;
            let mut readings = Vec::new();
            for log in &mut logs {
                let here = |reading: &Reading| reading.instant == instant;
                readings.extend(iter::from_fn(|| log.next_if(here)));
            }
            readings.sort_by_key(|reading| reading.target);
            Some(readings)
        };
        iter::from_fn(at_an_instant).flatten().map(|Reading { instant, target, value }| Sample {
            target,
            time: *start + *interval * u64::from(instant),
            value,
        })
    }
}
