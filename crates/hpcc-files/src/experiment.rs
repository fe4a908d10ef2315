//! All that one run of the original is given.

use crate::config::{self, Config};
use crate::error::{FileError, Result, Warning};
use crate::flows::{self, Flow};
use crate::topology::{self, Topology};
use crate::trace_list;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use units::NodeId;

/// A configuration larger than this is something else.
const LONGEST_CONFIG: u64 = 1 << 20;
/// The same for the other files.
const LONGEST: u64 = 1 << 30;

/// A configuration and the files that it names, read and checked against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The configuration.
    pub config: Config,
    /// The network.
    pub topology: Topology,
    /// The flows, in the order of their starts.
    pub flows: Vec<Flow>,
    /// The nodes whose packets are traced; none unless `ENABLE_TRACE`.
    pub traced: Vec<NodeId>,
    /// What is odd about the files.
    pub warnings: Vec<Warning>,
}

/// Reads a topology file alone.
///
/// # Errors
/// Where it can't be read, or is none.
pub fn read_topology(path: &Path) -> Result<Topology> {
    read_as(path, LONGEST, &mut Vec::new(), topology::parse)
}

impl Experiment {
    /// Reads the configuration in `path` and the files that it names. Names are relative to
    /// `directory`; the original takes the working directory, which is `""`.
    pub fn read(path: &Path, directory: &Path) -> Result<Experiment> {
        let mut warnings = Vec::new();
        let config = read_as(path, LONGEST_CONFIG, &mut warnings, config::parse)?;
        let topology = directory.join(&config.topology_file);
        let topology = read_as(&topology, LONGEST, &mut warnings, topology::parse)?;
        config::check(&config, &topology).map_err(|error| error.in_file(path))?;
        let flows = directory.join(&config.flow_file);
        let flows = read_as(&flows, LONGEST, &mut warnings, |text, warnings| {
            flows::parse(text, &topology, warnings)
        })?;
        let mut traced = Vec::new();
        if let Some(file) = config.trace_file.as_ref().filter(|_| config.enable_trace) {
            let file = directory.join(file);
            if file.exists() {
                traced = read_as(&file, LONGEST, &mut warnings, |text, warnings| {
                    trace_list::parse(text, &topology, warnings)
                })?;
            } else {
                let what = "does not exist: no packets are traced";
                warnings.push(Warning { file: Some(file), ..Warning::new(what) });
            }
        }
        Ok(Experiment { config, topology, flows, traced, warnings })
    }
}

/// Reads `path` with `parse`; what that has to say carries the name of the file.
fn read_as<T>(
    path: &Path,
    longest: u64,
    warnings: &mut Vec<Warning>,
    parse: impl FnOnce(&[u8], &mut Vec<Warning>) -> Result<T>,
) -> Result<T> {
    let first = warnings.len();
    let parsed = read_file(path, longest).and_then(|text| parse(&text, warnings));
    for warning in &mut warnings[first..] {
        warning.file = Some(path.to_path_buf());
    }
    parsed.map_err(|error| error.in_file(path))
}

/// The bytes of a file. Some files have no end, so there is a limit.
fn read_file(path: &Path, longest: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    match File::open(path).and_then(|file| file.take(longest + 1).read_to_end(&mut text)) {
        Err(error) => Err(FileError::unreadable(&error)),
        Ok(_) if text.len() as u64 > longest => {
            Err(FileError::new(format!("is larger than {} MiB", longest >> 20)))
        }
        Ok(_) => Ok(text),
    }
}
