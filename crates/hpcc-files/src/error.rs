//! What is wrong with a file, in one line that a person can act on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use units::text::printable;

/// Most characters of what is wrong or odd: it is a line, whatever a file says.
const MAX_MESSAGE: usize = 600;

/// Short for a result of this crate.
pub type Result<T> = std::result::Result<T, FileError>;

/// Why a file was refused.
///
/// ```
/// let error = hpcc_files::topology::parse(b"2 0 1\n0 1 fast 1us 0", &mut Vec::new()).unwrap_err();
/// assert_eq!(error.line, Some(2));
/// assert_eq!(
///     error.in_file("topology.txt".as_ref()).to_string(),
///     "topology.txt:2: rate needs a number and its unit, got \"fast\"; hint: such as 100Gbps"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file, where it is known.
    pub file: Option<PathBuf>,
    /// The line of the file, counted from 1, where one is at fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is odd about the files that were read before: it may be why.
    pub warnings: Vec<Warning>,
}

impl FileError {
    /// The file as a whole is at fault.
    pub fn new(message: impl Into<String>) -> FileError {
        FileError {
            file: None,
            line: None,
            message: printable(&message.into(), MAX_MESSAGE),
            hint: None,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn unreadable(error: &io::Error) -> FileError {
        FileError::new(format!("cannot read: {}", why(error)))
    }

    /// The same with the line at fault.
    #[must_use]
    pub fn at(mut self, line: usize) -> FileError {
        self.line = Some(line);
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> FileError {
        self.hint = Some(printable(&hint.into(), MAX_MESSAGE));
        self
    }

    /// The same with the file it was found in.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> FileError {
        self.file = Some(file.to_path_buf());
        self
    }
}

/// What went wrong, without its number, which says nothing to people.
pub(crate) fn why(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.file.as_deref(), self.line)?;
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FileError {}

/// What is odd about a file that can be used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, where it is known.
    pub file: Option<PathBuf>,
    /// The line of the file, counted from 1, where it is about one.
    pub line: Option<usize>,
    /// What is odd, and what is made of it.
    pub message: String,
}

impl Warning {
    /// A warning that is about no line.
    pub fn new(message: impl Into<String>) -> Warning {
        let message = printable(&message.into(), MAX_MESSAGE);
        Warning { file: None, line: None, message }
    }

    pub(crate) fn at(line: usize, message: impl Into<String>) -> Warning {
        Warning { line: Some(line), ..Warning::new(message) }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.file.as_deref(), self.line)?;
        f.write_str(&self.message)
    }
}

fn write_place(
    f: &mut fmt::Formatter<'_>,
    file: Option<&Path>,
    line: Option<usize>,
) -> fmt::Result {
    match (file, line) {
        (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display()),
        (Some(file), None) => write!(f, "{}: ", file.display()),
        (None, Some(line)) => write!(f, "line {line}: "),
        (None, None) => Ok(()),
    }
}
