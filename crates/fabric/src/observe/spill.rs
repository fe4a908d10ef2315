//! Records that outgrow their share of memory go to a file as the run goes on. They are sorted a span of
//! time after the other, and so read back in order with little memory.

use crate::network::setup::{Setup, Spill};
use crate::observe::recorder::{PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::{Reading, Samples};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fmt, process};
use units::Time;

/// What a file of records holds one after the other.
pub(crate) trait Stored: Clone + Send + Sync {
    /// Appends the record.
    fn store(&self, out: &mut Vec<u8>);
    /// Reads one back.
    fn load(from: &mut impl Read) -> io::Result<Self>;
}

/// The next bytes.
pub(crate) fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).map(|()| bytes)
}

/// Consecutive bytes of a file: where they begin, and how many there are.
type Extent = (u64, u64);

/// Bytes that are written or read at once.
const BLOCK: usize = 256 << 10;

/// Records in the order of time, the older ones in a file. Copies share them.
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
    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.stored + self.rest.len() as u64
    }

    /// How many of them are in memory.
    pub fn in_memory(&self) -> usize {
        self.rest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[expect(private_bounds, reason = "only records of this crate are stored")]
impl<T: Stored> Sequence<T> {
    /// The records, in order.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<T>> + Send + use<T> {
        let Sequence { file, extents, stored, rest } = self.clone();
        let mut source = file.map(|file| {
            BufReader::with_capacity(BLOCK, Extents { file, extents, next: 0, within: 0 })
        });
        let from_file = (0..stored).filter_map(move |_| Some(T::load(source.as_mut()?)));
        let from_memory = (0..rest.len()).map(move |index| Ok(rest[index].clone()));
        // Nothing follows an error.
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
    /// The extent at hand, and what has been read of it.
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
            let most = left.min(buffer.len() as u64) as usize;
            let read = self.file.read_at(&mut buffer[..most], begin + self.within)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.within += read as u64;
            return Ok(read);
        }
        Ok(0)
    }
}

/// What all nodes recorded in a span of time, in order.
pub(crate) struct Batch {
    pub(crate) pfc: Vec<PfcEvent>,
    pub(crate) packets: Vec<PacketEvent>,
    pub(crate) queues: Vec<QueueBlock>,
    /// By probe.
    pub(crate) readings: Vec<Vec<Reading>>,
}

impl Batch {
    /// What nodes recorded; `fill` adds the records of one node after the other.
    pub(crate) fn new(probes: usize, fill: impl FnOnce(&mut Batch)) -> Batch {
        let mut batch = Batch {
            pfc: Vec::new(),
            packets: Vec::new(),
            queues: Vec::new(),
            readings: (0..probes).map(|_| Vec::new()).collect(),
        };
        fill(&mut batch);
        // Records of an instant stay in the order of nodes, and those of a node in its own.
        batch.pfc.sort_by_key(|event| event.time);
        batch.packets.sort_by_key(|event| event.time);
        batch.queues.sort_by_key(|block| block.time);
        for readings in &mut batch.readings {
            readings.sort_unstable_by_key(Reading::place);
        }
        batch
    }
}

/// Where records of a run are gathered.
pub(crate) struct Store {
    spill: Spill,
    file: Option<(Arc<File>, u64)>,
    /// A span that could not be written: nothing is recorded after it.
    unwritten: Option<(Batch, io::Error)>,
    pfc: Kept,
    packets: Kept,
    queues: Kept,
    /// By probe: when it looks first, and how often.
    readings: Vec<(Kept, Time, Time)>,
}

/// What the file holds of a kind of records.
#[derive(Default)]
struct Kept {
    extents: Vec<Extent>,
    records: u64,
}

/// The records of a run.
pub(crate) struct Gathered {
    pub(crate) pfc: Sequence<PfcEvent>,
    pub(crate) packets: Sequence<PacketEvent>,
    pub(crate) queues: Sequence<QueueBlock>,
    pub(crate) samples: Samples,
    pub(crate) failure: Option<SpillError>,
}

/// Why records ended before the run did.
#[derive(Clone, Debug)]
pub struct SpillError {
    /// Where they were to go.
    pub directory: PathBuf,
    /// What the system says.
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

    /// How many probes there are.
    pub(crate) fn probes(&self) -> usize {
        self.readings.len()
    }

    /// Bytes of records that stay in memory.
    pub(crate) fn max_held_bytes(&self) -> u64 {
        self.spill.max_held_bytes
    }

    /// Writes a span of records to the file. Whether it could.
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
            None => (Arc::new(nameless(&self.spill.directory)?), 0),
        };
        let mut out = Out { file: &file, end };
        // What a failed write leaves in the file is not read: extents are listed when all is there.
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

    /// All records, `last` being those that the file does not have.
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
    /// Adds what was recorded after it.
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

    /// These and then those that stayed in memory.
    fn and<T>(self, file: &Option<Arc<File>>, rest: Vec<T>) -> Sequence<T> {
        Sequence {
            file: file.clone(),
            extents: Arc::new(self.extents),
            stored: self.records,
            rest: Arc::new(rest),
        }
    }
}

/// The end of the file.
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

/// A new file that only this process can find.
fn nameless(directory: &Path) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".rocelab-{}-{number}.records", process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            // Another process of this number, on another machine or long gone.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
