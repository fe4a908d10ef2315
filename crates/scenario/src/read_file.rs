//! Files that a scenario names.

use crate::error::{Result, ScenarioError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::text::io_reason;

/// Larger files are no scenario and no workload.
const MAX_FILE: u64 = 1 << 30;
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The files that a scenario names. Each is read once.
#[derive(Debug, Default)]
pub struct Files {
    /// What relative paths are relative to, if not the working directory.
    base: Option<PathBuf>,
    /// Those that were read before, by their paths.
    known: BTreeMap<PathBuf, Arc<str>>,
    /// The others that were read, by their paths.
    read: RefCell<BTreeMap<PathBuf, Arc<str>>>,
}

impl Files {
    /// Those beside the file `origin` of a scenario.
    pub fn beside(origin: Option<&Path>) -> Files {
        let base = origin.and_then(Path::parent).map(Path::to_path_buf);
        Files { base, ..Files::default() }
    }

    /// Takes the texts of files that were read before, by their paths.
    #[must_use]
    pub fn with_texts(self, known: BTreeMap<PathBuf, Arc<str>>) -> Files {
        Files { known, ..self }
    }

    /// The texts of the files that were not read before, by their paths.
    pub fn into_texts(self) -> BTreeMap<PathBuf, Arc<str>> {
        self.read.into_inner()
    }

    /// Reads the file `name`; `key` is what named it.
    pub(crate) fn read(&self, name: &str, key: &str) -> Result<(PathBuf, Arc<str>)> {
        let path = match &self.base {
            Some(base) => base.join(name),
            None => PathBuf::from(name),
        };
        let mut read = self.read.borrow_mut();
        if let Some(text) = self.known.get(&path).or_else(|| read.get(&path)) {
            return Ok((path, Arc::clone(text)));
        }
        let text: Arc<str> = read_path(&path).map_err(|why| ScenarioError::new(key, why))?.into();
        read.insert(path.clone(), Arc::clone(&text));
        Ok((path, text))
    }
}

/// Reads a file of text, without the byte-order mark that some editors put in front of it. The
/// error says which file and why not.
pub(crate) fn read_path(path: &Path) -> std::result::Result<String, String> {
    let shown = path.display();
    let cannot = |error: io::Error| format!("cannot read {shown}: {}", io_reason(&error));
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(format!("cannot read {shown}: it is a directory"));
    }
    // A pipe may never be written to, and a device may have no end.
    if !metadata.is_file() {
        return Err(format!("cannot read {shown}: it is not a regular file"));
    }
    let too_large = || Err(format!("cannot read {shown}: it is larger than 1 GiB"));
    if metadata.len() > MAX_FILE {
        return too_large();
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE {
        return too_large();
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|_| format!("cannot read {shown}: it is not UTF-8 text"))
}
