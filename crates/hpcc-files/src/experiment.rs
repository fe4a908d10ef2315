//! All input files of one run of the original.

use crate::config::{self, Config};
use crate::error::{FileError, Result, Warning};
use crate::flows::{self, Flow, FlowFile};
use crate::topology::{self, Topology};
use crate::trace_list;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use units::NodeId;
use units::text::io_reason;

/// Maximum size of a configuration. A larger file is something else.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Maximum size of each of the other input files.
const MAX_BYTES: u64 = 1 << 30;

/// A configuration and the files that it names, read and checked against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The configuration.
    pub config: Config,
    /// The network.
    pub topology: Topology,
    /// The flows, in the order of their starts.
    pub flows: Vec<Flow>,
    /// Whether `fct.txt` is one of ConWeave: it has a key of that simulator, and its flows have no
    /// port.
    pub writes_conweave_fct: bool,
    /// The nodes whose packets are traced; none unless `ENABLE_TRACE`. Each event is recorded as
    /// often as its node is listed.
    pub traced: Vec<NodeId>,
    /// Warnings about the files.
    pub warnings: Vec<Warning>,
}

/// Reads only a topology file.
///
/// # Errors
/// If it cannot be read or is no topology.
pub fn read_topology(path: &Path) -> Result<Topology> {
    read_as(path, MAX_BYTES, &mut Vec::new(), topology::parse)
}

impl Experiment {
    /// Reads the configuration in `path` and the files that it names. Names are relative to
    /// `directory`. The original uses the working directory, which is `""`.
    ///
    /// # Errors
    /// If something cannot be read or used. The error carries the warnings up to there.
    pub fn read(path: &Path, directory: &Path) -> Result<Experiment> {
        let mut warnings = Vec::new();
        match Experiment::read_all(path, directory, &mut warnings) {
            Ok(experiment) => Ok(Experiment { warnings, ..experiment }),
            Err(error) => Err(FileError { warnings, ..error }),
        }
    }

    /// Reads the files. Warnings go to `warnings`, in errors as well as in success.
    fn read_all(path: &Path, directory: &Path, warnings: &mut Vec<Warning>) -> Result<Experiment> {
        let mut config = read_as(path, MAX_CONFIG_BYTES, warnings, config::parse)?;
        let files = Files { path, directory, config: &config };
        let topology = &config.topology_file;
        let topology = files.read("TOPOLOGY_FILE", topology, warnings, |text, warnings| {
            let topology = topology::parse(text, warnings)?;
            topology.check_delays()?;
            Ok(topology)
        })?;
        config::check(&config, &topology).map_err(|error| error.in_file(path))?;
        let odd = config::oddities(&mut config, &topology).into_iter();
        warnings.extend(odd.map(|warning| Warning { file: Some(path.to_owned()), ..warning }));
        let files = Files { path, directory, config: &config };
        let FlowFile { flows, has_port } =
            files.read("FLOW_FILE", &config.flow_file, warnings, |text, warnings| {
                flows::parse(text, &topology, warnings)
            })?;
        let writes_conweave_fct = config.conweave_key().is_some() && !has_port;
        let mut traced = Vec::new();
        if let Some(file) = config.trace_file.as_ref().filter(|_| config.enable_trace) {
            if files.place(file).exists() {
                traced = files.read("TRACE_FILE", file, warnings, |text, warnings| {
                    trace_list::parse(text, &topology, warnings)
                })?;
            } else {
                let what = format!("{} does not exist: no packets are traced", file.display());
                let told = config.places.error("TRACE_FILE", format!("TRACE_FILE: {what}"));
                let (line, message) = (told.line, told.message);
                warnings.push(Warning { file: Some(path.to_owned()), line, message });
            }
        }
        let told = [
            (!traced.is_empty() && config.trace_output_file.is_none()).then_some((
                "TRACE_FILE",
                "TRACE_OUTPUT_FILE",
                "no packet traces",
            )),
            config.qlen_mon_file.is_none().then_some((
                "QLEN_MON_START",
                "QLEN_MON_FILE",
                "no queue lengths",
            )),
        ];
        for (key, needs, what) in told.into_iter().flatten() {
            if let Some(line) = config.places.line(key) {
                let message = format!("{key} is given without {needs}: {what} are written");
                warnings.push(Warning { file: Some(path.to_owned()), line: Some(line), message });
            }
        }
        let warnings = Vec::new();
        Ok(Experiment { config, topology, flows, writes_conweave_fct, traced, warnings })
    }
}

/// The files that a configuration names.
struct Files<'a> {
    /// Where the configuration is.
    path: &'a Path,
    /// The directory that names are relative to.
    directory: &'a Path,
    config: &'a Config,
}

impl Files<'_> {
    /// Returns the path of a file, spelt as in the configuration if that is possible.
    fn place(&self, file: &Path) -> PathBuf {
        let here = self.directory == Path::new(".");
        if here { file.to_owned() } else { self.directory.join(file) }
    }

    /// Reads the file that `key` names with `parse`. If it does not exist, the error is one of the
    /// configuration.
    fn read<T>(
        &self,
        key: &str,
        file: &Path,
        warnings: &mut Vec<Warning>,
        parse: impl FnOnce(&[u8], &mut Vec<Warning>) -> Result<T>,
    ) -> Result<T> {
        let path = self.place(file);
        let text = match read_file(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(Unread::Unfit(error)) => return Err(error.in_file(&path)),
            Err(Unread::Failed(error)) => {
                let why = format!("{key}: cannot read {}: {}", path.display(), io_reason(&error));
                let told = self.config.places.error(key, why).in_file(self.path);
                return Err(FileError { hint: self.elsewhere(file, &error), ..told });
            }
        };
        parse_as(&path, &text, warnings, parse)
    }

    /// A hint for a missing file that exists beside the configuration.
    fn elsewhere(&self, file: &Path, error: &io::Error) -> Option<String> {
        let beside = self.path.parent()?;
        let name = Path::new(file.file_name()?);
        let found = [file, name].map(|file| beside.join(file)).into_iter();
        let found =
            found.filter(|_| error.kind() == ErrorKind::NotFound).find(|it| it.is_file())?;
        let here = self.directory.as_os_str().is_empty() || self.directory == Path::new(".");
        let relative = if here {
            "the working directory".to_owned()
        } else {
            self.directory.display().to_string()
        };
        Some(format!("names are relative to {relative}; there is {}", found.display()))
    }
}

/// Reads `path` with `parse`. Its error and warnings get the name of the file.
fn read_as<T>(
    path: &Path,
    longest: u64,
    warnings: &mut Vec<Warning>,
    parse: impl FnOnce(&[u8], &mut Vec<Warning>) -> Result<T>,
) -> Result<T> {
    match read_file(path, longest) {
        Ok(text) => parse_as(path, &text, warnings, parse),
        Err(Unread::Unfit(error)) => Err(error.in_file(path)),
        Err(Unread::Failed(error)) => Err(FileError::unreadable(&error).in_file(path)),
    }
}

/// Applies `parse` to the text of `path`. Its error and warnings get the name of the file.
fn parse_as<T>(
    path: &Path,
    text: &[u8],
    warnings: &mut Vec<Warning>,
    parse: impl FnOnce(&[u8], &mut Vec<Warning>) -> Result<T>,
) -> Result<T> {
    let first = warnings.len();
    let parsed = parse(text, warnings);
    for warning in &mut warnings[first..] {
        warning.file = Some(path.to_path_buf());
    }
    parsed.map_err(|error| error.in_file(path))
}

/// An error: why a file has no text.
enum Unread {
    Failed(io::Error),
    Unfit(FileError),
}

/// Whether reading a file ends: it is a regular file, or one that the caller has opened, such as
/// `/dev/stdin`. Nobody may ever write to a named pipe, and a device may have no end.
fn is_readable(path: &Path) -> io::Result<bool> {
    let open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];
    let kind = path.metadata()?;
    Ok(kind.is_file() || kind.is_dir() || open.iter().any(|open| path.starts_with(open)))
}

/// Reads the bytes of a file, up to a limit because some files have no end.
fn read_file(path: &Path, longest: u64) -> std::result::Result<Vec<u8>, Unread> {
    if !is_readable(path).map_err(Unread::Failed)? {
        return Err(Unread::Failed(io::Error::other("it is not a regular file")));
    }
    let mut text = Vec::new();
    match File::open(path).and_then(|file| file.take(longest + 1).read_to_end(&mut text)) {
        Err(error) => Err(Unread::Failed(error)),
        Ok(_) if text.len() as u64 > longest => {
            Err(Unread::Unfit(FileError::new(format!("is larger than {} MiB", longest >> 20))))
        }
        Ok(_) if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") => {
            Err(Unread::Unfit(FileError::new("is UTF-16 text").hint("save it as UTF-8")))
        }
        Ok(_) => Ok(text),
    }
}
