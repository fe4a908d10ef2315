//! Files that a scenario names.

use crate::error::{Result, ScenarioError};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use units::text::io_reason;

/// Larger files are no scenario and no workload.
const MAX_FILE: u64 = 1 << 30;

/// Reads the file `name`, relative to `base`; `key` is what named it.
pub(crate) fn read(name: &str, base: Option<&Path>, key: &str) -> Result<(PathBuf, String)> {
    let path = match base {
        Some(base) => base.join(name),
        None => PathBuf::from(name),
    };
    let text = read_path(&path).map_err(|why| ScenarioError::new(key, why))?;
    Ok((path, text))
}

/// Reads a file of text; the error says which file and why not.
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
    String::from_utf8(bytes).map_err(|_| format!("cannot read {shown}: it is not UTF-8 text"))
}
