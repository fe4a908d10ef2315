//! Words of a configuration that are no key.

use super::keys;
use crate::error::Warning;
use crate::tokens::Token;
use std::collections::BTreeMap;

/// Tokens that are no key, gathered by line.
#[derive(Default)]
pub(super) struct Skipped {
    lines: Vec<SkippedLine>,
    /// Number of further lines.
    more: usize,
    last_line: usize,
}

struct SkippedLine {
    line: usize,
    /// The first of them, as warnings list them.
    shown: Vec<String>,
    /// The keys that some of these words were probably meant to be, and the words.
    meant: Vec<(&'static str, String)>,
    tokens: usize,
    comment: bool,
}

impl Skipped {
    /// Number of lines that are listed. Further lines are only counted.
    const MAX_LINES: usize = 20;
    /// Number of words of a line that are listed. Further words are only counted.
    const MAX_TOKENS: usize = 8;

    pub(super) fn add(&mut self, token: Token<'_>) {
        if token.line == self.last_line {
            if self.more == 0
                && let Some(last) = self.lines.last_mut()
            {
                // Words that may be misspelt keys. Of a comment, its first word is enough.
                let is_name = token.text.first().is_some_and(u8::is_ascii_alphabetic);
                // The numbers behind a misspelt key are its values.
                last.tokens += usize::from(is_name || last.comment);
                if is_name && !last.comment && last.shown.len() < Self::MAX_TOKENS {
                    last.shown.push(token.shown());
                    last.meant.extend(keys::nearest(token.text).map(|key| (key, token.shown())));
                }
            }
            return;
        }
        self.last_line = token.line;
        if self.lines.len() == Self::MAX_LINES {
            self.more += 1;
            return;
        }
        let comment = token.begins_comment();
        self.lines.push(SkippedLine {
            line: token.line,
            shown: vec![token.shown()],
            meant: keys::nearest(token.text)
                .filter(|_| !comment)
                .map(|key| (key, token.shown()))
                .into_iter()
                .collect(),
            tokens: 1,
            comment,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a word in `line` follows a sign that often begins a comment.
    pub(super) fn in_comment(&self, line: usize) -> bool {
        self.lines.last().is_some_and(|last| last.line == line && last.comment)
    }

    /// The keys that words were probably meant to be: the first such word of each, and its line.
    pub(super) fn meant(&self) -> BTreeMap<&'static str, (String, usize)> {
        let mut meant = BTreeMap::new();
        for found in &self.lines {
            for (key, token) in &found.meant {
                meant.entry(*key).or_insert_with(|| (token.clone(), found.line));
            }
        }
        meant
    }

    pub(super) fn warn(self, warnings: &mut Vec<Warning>) {
        for found in self.lines {
            let shown = found.shown.join(", ");
            let what = match (found.tokens, found.tokens - found.shown.len()) {
                (1, _) => format!("{shown} is not a key"),
                (_, 0) => format!("{shown} are not keys"),
                (_, more) => format!("{shown} and {more} more are not keys"),
            };
            let keys: Vec<&str> = found.meant.iter().map(|(key, _)| *key).collect();
            let meant = if keys.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", keys.join(", "))
            };
            warnings.push(Warning::at(found.line, format!("{what}: skipped{meant}")));
        }
        if self.more > 0 {
            warnings.push(Warning::at(
                self.last_line,
                format!("{} more lines have words that are not keys", self.more),
            ));
        }
    }
}
