//! A file as words between white space: the original reads all of its inputs in this way.

use crate::error::{FileError, Result, Warning};
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use units::Time;

/// A word and its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub text: &'a [u8],
    pub line: usize,
}

/// The words of a file, in order.
pub(crate) struct Tokens<'a> {
    rest: &'a [u8],
    line: usize,
}

/// White space as C defines it.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a [u8]) -> Tokens<'a> {
        // Some editors put a byte-order mark in front of UTF-8.
        Tokens { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), line: 1 }
    }

    /// Returns the next word. At the end of the file, the error says that `what` is missing.
    pub fn need(&mut self, what: &str) -> Result<Token<'a>> {
        self.next().ok_or_else(|| {
            FileError::new(format!("the file ends where {what} should be"))
                .at(self.line)
                .hint("is it complete?")
        })
    }

    /// Reads a whole number within `range`, in decimal digits.
    pub fn whole(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64> {
        self.need(what)?.whole(what, range)
    }

    /// Returns the maximum number of entries that can follow if each takes at least `least` bytes.
    pub fn room(&self, least: usize) -> usize {
        // The last entry needs no end of line.
        (self.rest.len() + 1) / least
    }

    /// Warns of words after the last one that is needed, which `last` describes, such as `the last
    /// link`.
    pub fn warn_trailing(&mut self, last: &str, warnings: &mut Vec<Warning>) {
        if let Some(token) = self.next() {
            warnings.push(Warning::at(
                token.line,
                format!(
                    "there is more after {last}, beginning with {}: not read, as in the original",
                    token.shown()
                ),
            ));
        }
    }

    /// The text that is left.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The line at which the search for the next word begins.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let mut start = 0;
        while start < self.rest.len() && is_space(self.rest[start]) {
            self.line += usize::from(self.rest[start] == b'\n');
            start += 1;
        }
        let rest = &self.rest[start..];
        let end = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
        let (text, rest) = rest.split_at(end);
        self.rest = rest;
        (!text.is_empty()).then_some(Token { text, line: self.line })
    }
}

impl Token<'_> {
    /// Returns the word in quotes, fit for a line on a terminal.
    pub fn shown(&self) -> String {
        const MAX: usize = 40;
        // A character has at most four bytes.
        let head = &self.text[..self.text.len().min(4 * MAX)];
        let shown: String = String::from_utf8_lossy(head).chars().take(MAX).collect();
        let dots = if shown.len() < self.text.len() { "..." } else { "" };
        format!("{:?}", format!("{shown}{dots}"))
    }

    /// Returns the word as text if it is UTF-8.
    pub fn str(&self) -> Option<&str> {
        std::str::from_utf8(self.text).ok()
    }

    /// An error: `what` needs something else than this word.
    pub fn wrong(&self, what: &str, needs: &str) -> FileError {
        let error =
            FileError::new(format!("{what} needs {needs}, got {}", self.shown())).at(self.line);
        if self.begins_comment() { error.hint("the format has no comments") } else { error }
    }

    /// Whether it is where other formats begin a comment.
    pub fn begins_comment(&self) -> bool {
        self.text.starts_with(b"#") || self.text.starts_with(b"//")
    }

    pub fn whole(&self, what: &str, range: RangeInclusive<u64>) -> Result<u64> {
        let digits = self.text.iter().all(u8::is_ascii_digit);
        self.str()
            .filter(|_| digits)
            .and_then(|text| text.parse().ok())
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                let needs = if *most == u64::MAX {
                    format!("a whole number, {least} or more")
                } else {
                    format!("a whole number from {least} to {most}")
                };
                self.wrong(what, &needs)
            })
    }

    /// Reads a flag: a number, or `true` or `false`, as SimAI writes it.
    pub fn flag(&self, what: &str) -> Result<bool> {
        match self.text {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => match self.whole(what, 0..=u64::from(u32::MAX)) {
                Ok(number) => Ok(number != 0),
                Err(_) => Err(self.wrong(what, "0 or 1")),
            },
        }
    }

    /// Reads a decimal number that is not negative.
    pub fn decimal(&self, what: &str) -> Result<f64> {
        self.str()
            .and_then(|text| text.parse().ok())
            .filter(|number: &f64| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.wrong(what, "a decimal number, 0 or more"))
    }

    /// Reads a probability.
    pub fn fraction(&self, what: &str) -> Result<f64> {
        self.decimal(what)
            .ok()
            .filter(|number| *number <= 1.0)
            .ok_or_else(|| self.wrong(what, "a number from 0 to 1"))
    }
}

/// A line of an output file. Outputs, unlike inputs, are read line by line.
pub(crate) struct Row<'a> {
    tokens: Tokens<'a>,
    line: usize,
}

/// Returns the lines of `text` that are not blank.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = Row<'_>> {
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, line)| Row { tokens: Tokens::new(line), line: index + 1 })
        .filter(|row| !row.at_end())
}

/// Reads each line with `read`, which must use all of it.
pub(crate) fn rows<'a, T>(
    text: &'a [u8],
    read: impl Fn(&mut Row<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    lines(text)
        .map(|mut row| {
            let read = read(&mut row)?;
            row.end()?;
            Ok(read)
        })
        .collect()
}

impl<'a> Row<'a> {
    pub fn line(&self) -> usize {
        self.line
    }

    pub fn at_end(&self) -> bool {
        self.tokens.rest.iter().all(|&byte| is_space(byte))
    }

    /// Takes the next word if it is `token`. Returns whether it was.
    pub fn skip_word(&mut self, token: &[u8]) -> bool {
        let before = self.tokens.rest;
        let is_it = self.tokens.next().is_some_and(|found| found.text == token);
        if !is_it {
            self.tokens.rest = before;
        }
        is_it
    }

    /// Returns an error if the line has another word.
    pub fn end(&mut self) -> Result<()> {
        match self.tokens.next() {
            None => Ok(()),
            Some(token) => {
                let what = format!("the line goes on with {}", token.shown());
                Err(FileError::new(what).at(self.line))
            }
        }
    }

    fn token(&mut self, what: &str) -> Result<Token<'a>> {
        let line = self.line;
        self.tokens
            .next()
            .map(|token| Token { line, ..token })
            .ok_or_else(|| FileError::new(format!("the line ends where {what} should be")).at(line))
    }

    pub fn whole(&mut self, what: &str, most: u64) -> Result<u64> {
        self.token(what)?.whole(what, 0..=most)
    }

    pub fn nanoseconds(&mut self, what: &str) -> Result<Time> {
        self.whole(what, u64::MAX / 1000).map(Time::from_ns)
    }

    /// Reads an IPv4 address in eight hexadecimal digits.
    pub fn address(&mut self, what: &str) -> Result<Ipv4Addr> {
        let token = self.token(what)?;
        token
            .str()
            .filter(|text| text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|text| u32::from_str_radix(text, 16).ok())
            .map(Ipv4Addr::from_bits)
            .ok_or_else(|| token.wrong(what, "eight hexadecimal digits"))
    }
}
