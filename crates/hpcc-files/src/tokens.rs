//! A file as words between white space, which is how the original reads all of its inputs.

use crate::error::{FileError, Result, Warning};
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use units::Time;

/// A word and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub text: &'a [u8],
    pub line: usize,
}

/// The words of a file, one after the other.
pub(crate) struct Tokens<'a> {
    rest: &'a [u8],
    line: usize,
}

/// White space as C sees it.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a [u8]) -> Tokens<'a> {
        // Some editors put a mark in front of UTF-8.
        Tokens { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), line: 1 }
    }

    /// The next word; `what` it should be goes into the error at the end of the file.
    pub fn need(&mut self, what: &str) -> Result<Token<'a>> {
        self.next().ok_or_else(|| {
            FileError::new(format!("the file ends where {what} should be"))
                .at(self.line)
                .hint("is it complete?")
        })
    }

    /// A whole number within `range`, in decimal digits.
    pub fn whole(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64> {
        self.need(what)?.whole(what, range)
    }

    /// No more than this many entries can follow, when each takes `least` bytes or more.
    pub fn room(&self, least: usize) -> usize {
        // The last one needs no end of line.
        (self.rest.len() + 1) / least
    }

    /// Warns of words after the last that are asked for, such as `the last link`.
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

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where the next word is looked for.
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
    /// The word in quotes, fit for a line on a terminal.
    pub fn shown(&self) -> String {
        const MAX: usize = 40;
        // Four bytes make a character at most.
        let head = &self.text[..self.text.len().min(4 * MAX)];
        let shown: String = String::from_utf8_lossy(head).chars().take(MAX).collect();
        let dots = if shown.len() < self.text.len() { "..." } else { "" };
        format!("{:?}", format!("{shown}{dots}"))
    }

    /// The word as UTF-8, if it is that.
    pub fn str(&self) -> Option<&str> {
        std::str::from_utf8(self.text).ok()
    }

    /// The error that `what` needs something else than this word.
    pub fn wrong(&self, what: &str, needs: &str) -> FileError {
        FileError::new(format!("{what} needs {needs}, got {}", self.shown())).at(self.line)
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

    /// A decimal number that is not negative.
    pub fn decimal(&self, what: &str) -> Result<f64> {
        self.str()
            .and_then(|text| text.parse().ok())
            .filter(|number: &f64| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.wrong(what, "a decimal number, 0 or more"))
    }

    /// A probability.
    pub fn fraction(&self, what: &str) -> Result<f64> {
        self.decimal(what)
            .ok()
            .filter(|number| *number <= 1.0)
            .ok_or_else(|| self.wrong(what, "a number from 0 to 1"))
    }
}

/// A line of an output file. Unlike inputs, these are lines.
pub(crate) struct Row<'a> {
    tokens: Tokens<'a>,
    line: usize,
}

/// The lines of `text` that hold something.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = Row<'_>> {
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, line)| Row { tokens: Tokens::new(line), line: index + 1 })
        .filter(|row| !row.at_end())
}

/// Reads each line with `read`, which takes all of it.
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

    /// Whether the next word is `token`, which is then taken.
    pub fn skip_word(&mut self, token: &[u8]) -> bool {
        let before = self.tokens.rest;
        let is_it = self.tokens.next().is_some_and(|found| found.text == token);
        if !is_it {
            self.tokens.rest = before;
        }
        is_it
    }

    /// Nothing more may follow.
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

    /// An IPv4 address as eight hexadecimal digits.
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
