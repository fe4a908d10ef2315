//! Where records are stored. When they exceed their share of memory, they are moved to a file
//! during the run. Each such span of time is sorted by itself, so the file is in order, and reading
//! it takes little memory.

use crate::network::setup::{Setup, Spill};
use crate::observe::recorder::{Events, PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::{Reading, Samples};
use crate::observe::sequence::{Appender, Extent, Kept, Sequence};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fmt, process};
use units::Time;

/// The records of all nodes in a span of time, sorted.
pub(crate) struct Batch {
    pub(crate) events: Events,
    /// By probe.
    pub(crate) readings: Vec<Vec<Reading>>,
}

impl Batch {
    /// Collects and sorts records. `fill` adds those of one node after another.
    pub(crate) fn new(probes: usize, fill: impl FnOnce(&mut Batch)) -> Batch {
        let mut batch = Batch {
            events: Events::default(),
            readings: (0..probes).map(|_| Vec::new()).collect(),
        };
        fill(&mut batch);
        batch.sort();
        batch
    }

    fn sort(&mut self) {
        // Stable: records of one instant stay in the order of nodes, those of a node in its order.
        self.events.pfc.sort_by_key(|event| event.time);
        self.events.packets.sort_by_key(|event| event.time);
        self.events.queues.sort_by_key(|block| block.time);
        for readings in &mut self.readings {
            readings.sort_unstable_by_key(Reading::place);
        }
    }
}

/// Collects the records of a run.
pub(crate) struct Store {
    spill: Spill,
    file: Option<(Arc<File>, u64)>,
    /// A span that could not be written. Nothing is recorded after it.
    unwritten: Option<(Batch, io::Error)>,
    pfc: Kept,
    packets: Kept,
    queues: Kept,
    /// By probe, with its start and its interval.
    readings: Vec<(Kept, Time, Time)>,
}

/// All records of a run.
pub(crate) struct Gathered {
    pub(crate) pfc: Sequence<PfcEvent>,
    pub(crate) packets: Sequence<PacketEvent>,
    pub(crate) queues: Sequence<QueueBlock>,
    pub(crate) samples: Samples,
    pub(crate) failure: Option<SpillError>,
}

/// Why records end before the run does.
#[derive(Clone, Debug)]
pub struct SpillError {
    /// The directory of the file.
    pub directory: PathBuf,
    /// The error of the operating system.
    pub reason: String,
}

impl fmt::Display for SpillError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot write to a file in {}: {}", self.directory.display(), self.reason)
    }
}

impl Store {
    pub(crate) fn new(setup: &Setup) -> Store {
        Store {
            spill: setup.spill.clone(),
            file: None,
            unwritten: None,
            pfc: Kept::default(),
            packets: Kept::default(),
            queues: Kept::default(),
            readings: setup
                .probes
                .iter()
                .map(|probe| (Kept::default(), probe.start, probe.interval))
                .collect(),
        }
    }

    /// The number of probes.
    pub(crate) fn probes(&self) -> usize {
        self.readings.len()
    }

    /// Bytes of records that stay in memory.
    pub(crate) fn max_held_bytes(&self) -> u64 {
        self.spill.max_held_bytes
    }

    /// Writes a span of records to the file. Returns whether that succeeded.
    pub(crate) fn put(&mut self, batch: Batch) -> bool {
        if self.unwritten.is_none() {
            match self.write(&batch) {
                Ok(()) => return true,
                Err(error) => self.unwritten = Some((batch, error)),
            }
        } else if let Some((unwritten, _)) = &mut self.unwritten {
            unwritten.append(batch);
        }
        false
    }

    fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let (file, end) = match &self.file {
            Some(file) => file.clone(),
            None => (Arc::new(unlinked_file(&self.spill.directory)?), 0),
        };
        let mut out = Appender { file: &file, end };
        // Extents are listed once all is written: what a failed write leaves in the file is not
        // read.
        let Events { pfc, packets, queues } = &batch.events;
        let extents = (out.write(pfc)?, out.write(packets)?, out.write(queues)?);
        let readings: Vec<Extent> =
            batch.readings.iter().map(|all| out.write(all)).collect::<io::Result<_>>()?;
        let end = out.end;
        self.pfc.add(extents.0, pfc.len());
        self.packets.add(extents.1, packets.len());
        self.queues.add(extents.2, queues.len());
        for (((kept, ..), extent), all) in
            self.readings.iter_mut().zip(readings).zip(&batch.readings)
        {
            kept.add(extent, all.len());
        }
        self.file = Some((file, end));
        Ok(())
    }

    /// Returns all records. `last`: those that are not in the file.
    pub(crate) fn finish(self, last: Batch) -> Gathered {
        let Store { spill, file, unwritten, pfc, packets, queues, readings } = self;
        let (rest, failure) = match unwritten {
            None => (last, None),
            Some((mut rest, error)) => {
                rest.append(last);
                let reason = error.to_string();
                (rest, Some(SpillError { directory: spill.directory, reason }))
            }
        };
        let file = file.map(|(file, _)| file);
        let samples = readings.into_iter().zip(rest.readings);
        let samples =
            samples.map(|((kept, start, interval), rest)| (start, interval, kept.and(&file, rest)));
        Gathered {
            samples: Samples::new(samples),
            pfc: pfc.and(&file, rest.events.pfc),
            packets: packets.and(&file, rest.events.packets),
            queues: queues.and(&file, rest.events.queues),
            failure,
        }
    }
}

impl Batch {
    /// Appends the records of a later span.
    fn append(&mut self, mut later: Batch) {
        let (events, later_events) = (&mut self.events, &mut later.events);
        events.pfc.append(&mut later_events.pfc);
        events.packets.append(&mut later_events.packets);
        events.queues.append(&mut later_events.queues);
        for (all, later) in self.readings.iter_mut().zip(&mut later.readings) {
            all.append(later);
        }
    }
}

/// Creates a file in a directory and removes its name, so that only this process can find it.
///
/// # Errors
/// With the error of the operating system.
pub fn unlinked_file(directory: &Path) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".rocelab-{}-{number}.records", process::id());
        let path = directory.join(name);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            // Left by another process with this number, on another machine or ended long ago.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
