//! Quantities as people write them: `100Gbps`, `1.5us`, `320KB`, `40km`.
//!
//! A quantity is a decimal number and a unit. Decimals are parsed exactly, never through a float;
//! what is finer than the smallest step (a picosecond, a bit per second, a byte) rounds up.

use crate::{Bytes, Rate, Time};
use std::fmt;

/// Why a text is not the quantity that was asked for, in one sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

/// What one kind of quantity is called and which units it is written in.
struct Dimension {
    /// With its article, to open a sentence.
    name: &'static str,
    example: &'static str,
    /// Each unit with its worth in the smallest step.
    units: &'static [(&'static str, u64)],
}

const TIME: Dimension = Dimension {
    name: "a time",
    example: "1.5us",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
};

const RATE: Dimension = Dimension {
    name: "a rate",
    example: "100Gbps",
    units: &[
        ("bps", 1),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
};

const SIZE: Dimension = Dimension {
    name: "a size",
    example: "320KB",
    units: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
};

/// Lengths are worth the picoseconds that light takes along them: 5 ns for a metre of fibre.
const LENGTH: Dimension =
    Dimension { name: "a length", example: "40km", units: &[("m", 5_000), ("km", 5_000_000)] };

const DIMENSIONS: [&Dimension; 4] = [&TIME, &RATE, &SIZE, &LENGTH];

/// More decimals than this are refused; with at most 12 digits in a unit, products fit 128 bits.
const MAX_DECIMALS: usize = 24;

/// A time such as `1.5us`: ps, ns, us, ms or s.
///
/// ```
/// use units::{Time, parse_time};
/// assert_eq!(parse_time("1.5us"), Ok(Time::from_ns(1500)));
/// assert_eq!(
///     parse_time("5").unwrap_err().to_string(),
///     "a time needs its unit, such as \"1.5us\"; got \"5\""
/// );
/// ```
pub fn parse_time(text: &str) -> Result<Time, ParseError> {
    TIME.parse(text).map(Time::from_ps)
}

/// A rate such as `100Gbps`: bps, Kbps, Mbps, Gbps or Tbps.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    RATE.parse(text).map(Rate::from_bps)
}

/// A size such as `320KB`: B, KB, MB, GB (powers of 1000), KiB, MiB or GiB (powers of 1024).
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseError> {
    SIZE.parse(text).map(Bytes::new)
}

/// The one-way propagation delay of a fibre of a length such as `300m` or `40km`, at 5 ns per
/// metre.
pub fn parse_length(text: &str) -> Result<Time, ParseError> {
    LENGTH.parse(text).map(Time::from_ps)
}

impl Dimension {
    fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(self.error(format_args!("{} cannot be negative", self.name), text));
        }
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = (&text[..unit_at], text[unit_at..].trim_start());
        if number.is_empty() {
            return Err(self.error(
                format_args!(
                    "{} is a number and its unit, such as \"{}\"",
                    self.name, self.example
                ),
                text,
            ));
        }
        if unit.is_empty() {
            return Err(self.error(
                format_args!("{} needs its unit, such as \"{}\"", self.name, self.example),
                text,
            ));
        }
        let Some(&(_, worth)) = self.units.iter().find(|(known, _)| *known == unit) else {
            return Err(self.unknown_unit(unit, text));
        };
        self.scale(number, worth, text)
    }

    /// `number` times `worth`, exactly, rounded up.
    fn scale(&self, number: &str, worth: u64, text: &str) -> Result<u64, ParseError> {
        let (whole, decimals) = match number.split_once('.') {
            None => (number, ""),
            Some((whole, decimals)) => {
                if whole.is_empty() || decimals.is_empty() || decimals.contains('.') {
                    return Err(
                        self.error(format_args!("\"{number}\" is not a decimal number"), text)
                    );
                }
                (whole, decimals.trim_end_matches('0'))
            }
        };
        if decimals.len() > MAX_DECIMALS {
            return Err(self.error(format_args!("more than {MAX_DECIMALS} decimals"), text));
        }
        let too_large =
            || self.error(format_args!("{} this large cannot be held", self.name), text);
        let digits = |part: &str| -> Option<u128> {
            if part.is_empty() { Some(0) } else { part.parse().ok() }
        };
        let whole = digits(whole).and_then(|n| n.checked_mul(u128::from(worth)));
        let one = 10_u128.pow(decimals.len() as u32);
        let part = digits(decimals).map(|n| (n * u128::from(worth)).div_ceil(one));
        whole
            .zip(part)
            .and_then(|(whole, part)| whole.checked_add(part))
            .and_then(|sum| u64::try_from(sum).ok())
            .ok_or_else(too_large)
    }

    fn unknown_unit(&self, unit: &str, text: &str) -> ParseError {
        let starts_exponent = unit.strip_prefix(['e', 'E']).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-')
        });
        if starts_exponent {
            return self.error(format_args!("{} is written without an exponent", self.name), text);
        }
        let other = DIMENSIONS
            .iter()
            .find(|dimension| dimension.units.iter().any(|(known, _)| *known == unit));
        if let Some(other) = other {
            return self.error(
                format_args!(
                    "{} is needed, such as \"{}\", not {}",
                    self.name, self.example, other.name
                ),
                text,
            );
        }
        let meant = self.units.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        if let Some((meant, _)) = meant {
            return self
                .error(format_args!("unknown unit \"{unit}\"; did you mean \"{meant}\"?"), text);
        }
        let known: Vec<&str> = self.units.iter().map(|(known, _)| *known).collect();
        self.error(
            format_args!(
                "unknown unit \"{unit}\"; {} is written in {}",
                self.name,
                known.join(", ")
            ),
            text,
        )
    }

    fn error(&self, what: fmt::Arguments<'_>, text: &str) -> ParseError {
        // A text of any length ends up in one line on a terminal.
        let shown: String = text.chars().take(40).collect();
        let dots = if shown.len() < text.len() { "..." } else { "" };
        ParseError { message: format!("{what}; got {:?}", format!("{shown}{dots}")) }
    }
}
