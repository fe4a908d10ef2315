//! Where records are stored. When they exceed their share of memory, they are moved to a file
//! during the run. Each such span of time is sorted by itself, so the file is in order, and reading
//! it takes little memory.

use crate::network::setup::{Setup, Spill};
use crate::observe::recorder::{PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::{Reading, Samples};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fmt, process};
use units::Time;

/// A record that can be stored in a file.
pub(crate) trait Stored: Clone + Send + Sync {
    /// Appends the record.
    fn store(&self, out: &mut Vec<u8>);
    /// Reads a record.
    fn load(from: &mut impl Read) -> io::Result<Self>;
}

/// Reads the next `N` bytes.
pub(crate) fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).map(|()| bytes)
}

/// Consecutive bytes of a file: their position and their number.
type Extent = (u64, u64);

/// Bytes that are written or read at a time.
const BLOCK: usize = 256 << 10;

/// Records in the order of time. Older ones may be in a file. Clones share all of them.
#[derive(Debug)]
pub struct Sequence<T> {
    file: Option<Arc<File>>,
    extents: Arc<Vec<Extent>>,
    stored: u64,
    rest: Arc<Vec<T>>,
}

impl<T> Clone for Sequence<T> {
    fn clone(&self) -> Sequence<T> {
        let Sequence { file, extents, stored, rest } = self;
        let (file, extents, rest) = (file.clone(), Arc::clone(extents), Arc::clone(rest));
        Sequence { file, extents, stored: *stored, rest }
    }
}

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence { file: None, extents: Arc::default(), stored: 0, rest: Arc::default() }
    }
}

impl<T> Sequence<T> {
    /// The number of records.
    pub fn len(&self) -> u64 {
        self.stored + self.rest.len() as u64
    }

    /// The number of records that are in memory.
    pub fn in_memory(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> From<Vec<T>> for Sequence<T> {
    /// Records that are in order, all of them in memory.
    fn from(records: Vec<T>) -> Sequence<T> {
        Sequence { rest: Arc::new(records), ..Sequence::default() }
    }
}

#[expect(private_bounds, reason = "only records of this crate are stored")]
impl<T: Stored> Sequence<T> {
    /// The records, in order.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<T>> + Send + use<T> {
        let Sequence { file, extents, stored, rest } = self.clone();
        let mut source = file.map(|file| {
            BufReader::with_capacity(BLOCK, Extents { file, extents, next: 0, within: 0 })
        });
        let from_file = (0..stored).filter_map(move |_| Some(T::load(source.as_mut()?)));
        let from_memory = (0..rest.len()).map(move |index| Ok(rest[index].clone()));
        // The first error ends the sequence.
        let mut failed = false;
        from_file.chain(from_memory).map_while(move |record| {
            let goes_on = !failed;
            failed |= record.is_err();
            goes_on.then_some(record)
        })
    }
}

/// Reads extents of a file as if they were one.
struct Extents {
    file: Arc<File>,
    extents: Arc<Vec<Extent>>,
    /// The extent that is read next, and how many bytes of it have been read.
    next: usize,
    within: u64,
}

impl Read for Extents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(&(begin, length)) = self.extents.get(self.next) {
            let left = length - self.within;
            if left == 0 {
                (self.next, self.within) = (self.next + 1, 0);
                continue;
            }
            let wanted = left.min(buffer.len() as u64) as usize;
            let read = self.file.read_at(&mut buffer[..wanted], begin + self.within)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.within += read as u64;
            return Ok(read);
        }
        Ok(0)
    }
}

/// The records of all nodes in a span of time, sorted.
pub(crate) struct Batch {
    pub(crate) pfc: Vec<PfcEvent>,
    pub(crate) packets: Vec<PacketEvent>,
    pub(crate) queues: Vec<QueueBlock>,
    /// By probe.
    pub(crate) readings: Vec<Vec<Reading>>,
}

impl Batch {
    /// Collects and sorts records. `fill` adds those of one node after another.
    pub(crate) fn new(probes: usize, fill: impl FnOnce(&mut Batch)) -> Batch {
        let mut batch = Batch {
            pfc: Vec::new(),
            packets: Vec::new(),
            queues: Vec::new(),
            readings: (0..probes).map(|_| Vec::new()).collect(),
        };
        fill(&mut batch);
        // Stable: records of one instant stay in the order of nodes, those of a node in its order.
        batch.pfc.sort_by_key(|event| event.time);
        batch.packets.sort_by_key(|event| event.time);
        batch.queues.sort_by_key(|block| block.time);
        for readings in &mut batch.readings {
            readings.sort_unstable_by_key(Reading::place);
        }
        batch
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

/// The records of one kind in the file.
#[derive(Default)]
struct Kept {
    extents: Vec<Extent>,
    records: u64,
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
            None => (Arc::new(self.spill.new_file()?), 0),
        };
        let mut out = Out { file: &file, end };
        // Extents are listed once all is written: what a failed write leaves in the file is not
        // read.
        let pfc = out.write(&batch.pfc)?;
        let packets = out.write(&batch.packets)?;
        let queues = out.write(&batch.queues)?;
        let readings: Vec<Extent> =
            batch.readings.iter().map(|all| out.write(all)).collect::<io::Result<_>>()?;
        let end = out.end;
        self.pfc.add(pfc, batch.pfc.len());
        self.packets.add(packets, batch.packets.len());
        self.queues.add(queues, batch.queues.len());
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
            pfc: pfc.and(&file, rest.pfc),
            packets: packets.and(&file, rest.packets),
            queues: queues.and(&file, rest.queues),
            failure,
        }
    }
}

impl Batch {
    /// Appends the records of a later span.
    fn append(&mut self, mut later: Batch) {
        self.pfc.append(&mut later.pfc);
        self.packets.append(&mut later.packets);
        self.queues.append(&mut later.queues);
        for (all, later) in self.readings.iter_mut().zip(&mut later.readings) {
            all.append(later);
        }
    }
}

impl Kept {
    fn add(&mut self, extent: Extent, records: usize) {
        if records > 0 {
            self.extents.push(extent);
            self.records += records as u64;
        }
    }

    /// The sequence of these records and of `rest`, which stayed in memory.
    fn and<T>(self, file: &Option<Arc<File>>, rest: Vec<T>) -> Sequence<T> {
        Sequence {
            file: file.clone(),
            extents: Arc::new(self.extents),
            stored: self.records,
            rest: Arc::new(rest),
        }
    }
}

/// Appends to the file.
struct Out<'a> {
    file: &'a File,
    end: u64,
}

impl Out<'_> {
    fn write<T: Stored>(&mut self, records: &[T]) -> io::Result<Extent> {
        let begin = self.end;
        let mut bytes = Vec::with_capacity(BLOCK);
        for record in records {
            record.store(&mut bytes);
            if bytes.len() > BLOCK - 256 {
                self.append(&mut bytes)?;
            }
        }
        self.append(&mut bytes)?;
        Ok((begin, self.end - begin))
    }

    fn append(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.file.write_all_at(bytes, self.end)?;
        self.end += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

impl Spill {
    /// Creates a file and removes its name, so that only this process can find it.
    ///
    /// # Errors
    /// With the error of the operating system.
    pub fn new_file(&self) -> io::Result<File> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".rocelab-{}-{number}.records", process::id());
            let path = self.directory.join(name);
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
}
