//! Where a scenario was written.

use crate::error::ScenarioError;
use crate::tree::Tree;
use std::path::PathBuf;

/// The file of a scenario, if it came from one, and the lines of its keys, if it was written: for
/// what is found wrong after it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub file: Option<PathBuf>,
    /// Without what is in long lists: of messages and links nobody speaks any more.
    pub keys: Option<Tree>,
}

impl Source {
    /// `error` with its place.
    pub fn with_location(&self, error: ScenarioError) -> ScenarioError {
        let line = self.keys.as_ref().and_then(|keys| keys.line_of(&error.key));
        error.at_line(line).in_file(self.file.as_deref())
    }
}

/// What a scenario says does not depend on where it is written.
impl PartialEq for Source {
    fn eq(&self, _: &Source) -> bool {
        true
    }
}
