//! What the author of a file with an entry a line probably got wrong.

use crate::error::{FileError, counted};
use crate::tokens::{Token, Tokens};

/// Returns `error`, an entry of `text` that cannot be read, with a hint at its cause: a comment, or
/// the first line with another number of words than `columns`. `is_entry` tells the lines that hold
/// one entry, by their number and words.
pub(crate) fn blamed(
    error: FileError,
    text: &[u8],
    columns: &[&str],
    is_entry: impl Fn(usize, &[Token<'_>]) -> bool,
) -> FileError {
    let Some(line) = error.line else { return error };
    let before = text.split(|&byte| byte == b'\n').take(line);
    for (number, words) in (1..).zip(before) {
        let words: Vec<Token<'_>> = Tokens::new(words).collect();
        if !is_entry(number, &words) {
            continue;
        }
        if words.iter().any(Token::begins_comment) {
            return error.hint(format!("the format has no comments, and line {number} has one"));
        }
        if words.len() != columns.len() {
            return error.hint(format!(
                "line {number} has {}, not {}: {}",
                counted(words.len() as u64, "word", "words"),
                columns.len(),
                columns.join(", ")
            ));
        }
    }
    error
}
