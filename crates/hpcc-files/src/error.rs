//! Errors and warnings about a file, each in one line that a person can act on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use units::text::{io_reason, printable};

/// Maximum number of characters of a message: it must stay one line for any file.
const MAX_MESSAGE: usize = 600;

/// Result of the functions of this crate.
pub type Result<T> = std::result::Result<T, FileError>;

/// An error: why a file was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file, if it is known.
    pub file: Option<PathBuf>,
    /// The line of the file, counted from 1, if one line is at fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// A hint: what to do about it.
    pub hint: Option<String>,
    /// Warnings about the files that were read so far. They may show the reason.
    pub warnings: Vec<Warning>,
}

impl FileError {
    /// Makes an error of the file as a whole.
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
        FileError::new(format!("cannot read: {}", io_reason(error)))
    }

    /// Adds the line at fault.
    #[must_use]
    pub fn at(mut self, line: usize) -> FileError {
        self.line = Some(line);
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> FileError {
        self.hint = Some(printable(&hint.into(), MAX_MESSAGE));
        self
    }

    /// Adds the file in which it was found.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> FileError {
        self.file = Some(file.to_path_buf());
        self
    }
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

/// A warning: what is odd about a file that can still be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, where it is known.
    pub file: Option<PathBuf>,
    /// The line of the file, counted from 1, if it concerns one line.
    pub line: Option<usize>,
    /// What is odd, and how the reader treats it.
    pub message: String,
}

impl Warning {
    /// Makes a warning about the file as a whole.
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

/// A number with its noun: `1 link`, `2 links`.
pub(crate) fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
