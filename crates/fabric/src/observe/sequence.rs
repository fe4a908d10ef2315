//! Sequences of records, of which older ones may be in a file.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

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
pub(crate) type Extent = (u64, u64);

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

/// The records of one kind in the file.
#[derive(Default)]
pub(crate) struct Kept {
    extents: Vec<Extent>,
    records: u64,
}

impl Kept {
    /// Adds what [`Appender::write`] wrote.
    pub(crate) fn add(&mut self, extent: Extent, records: usize) {
        if records > 0 {
            self.extents.push(extent);
            self.records += records as u64;
        }
    }

    /// The sequence of these records and of `rest`, which stayed in memory.
    pub(crate) fn and<T>(self, file: &Option<Arc<File>>, rest: Vec<T>) -> Sequence<T> {
        Sequence {
            file: file.clone(),
            extents: Arc::new(self.extents),
            stored: self.records,
            rest: Arc::new(rest),
        }
    }
}

/// Appends to the file.
pub(crate) struct Appender<'a> {
    pub(crate) file: &'a File,
    pub(crate) end: u64,
}

impl Appender<'_> {
    /// Writes records of one kind. Returns where they are.
    pub(crate) fn write<T: Stored>(&mut self, records: &[T]) -> io::Result<Extent> {
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
