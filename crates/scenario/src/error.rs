//! What is wrong with a scenario, in one line that a person can act on.

use std::fmt;
use std::path::{Path, PathBuf};
use units::text::{MAX_SHOWN, printable};

/// Short for a result of this crate.
pub type Result<T> = std::result::Result<T, ScenarioError>;

/// Why a scenario was refused.
///
/// ```
/// let error = scenario::parse("[run]\nseed = 'x'", None, &[]).unwrap_err();
/// assert_eq!((error.key.as_str(), error.line), ("run.seed", Some(2)));
/// assert_eq!(
///     error.to_string(),
///     "line 2: run.seed: needs a whole number, 0 or more, got \"x\""
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, where the scenario came from one.
    pub file: Option<PathBuf>,
    /// The key with its path, such as `topology.k` or `traffic.0.load`; empty where the text as a
    /// whole is at fault.
    pub key: String,
    /// The line of the file, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ScenarioError {
    /// The value of `key` is at fault.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> ScenarioError {
        ScenarioError {
            file: None,
            key: key.into(),
            line: None,
            message: printable(&message.into(), MAX_SHOWN_MESSAGE),
            hint: None,
        }
    }

    /// Adds advice that fixes it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> ScenarioError {
        self.hint = Some(printable(&hint.into(), MAX_HINT));
        self
    }

    /// Adds the file it was found in, unless one is known already.
    #[must_use]
    pub fn in_file(mut self, file: Option<&Path>) -> ScenarioError {
        if self.file.is_none() {
            self.file = file.map(Path::to_path_buf);
        }
        self
    }

    /// Adds its line, unless one is known already, and replaces the key by what may be shown.
    #[must_use]
    pub(crate) fn at_line(mut self, line: Option<usize>) -> ScenarioError {
        self.line = self.line.or(line);
        self.key = printable(&self.key, MAX_SHOWN);
        self
    }
}

/// Most characters of what is wrong: an error is a line, whatever a file says.
const MAX_SHOWN_MESSAGE: usize = 600;
/// Most characters of advice, which may list what there is to choose from.
const MAX_HINT: usize = 1500;

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// The member of `known` that `word` was probably meant to be.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance of a long word takes long, and is large.
    if word.len() > MAX_SHOWN {
        return None;
    }
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| {
            // Words without a letter in common are as far apart as the longer one is long.
            let longer = candidate.chars().count().max(word.chars().count());
            *distance < longer && *distance <= 1 + longer / 3
        })
        .map(|(_, candidate)| candidate)
}

/// Advice for a word that is not among `known`.
pub(crate) fn known_words<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let known: Vec<&str> = known.into_iter().collect();
            format!("known: {}", known.join(", "))
        }
    }
}
