//! Rates and times as ns-3 spells and computes them: anything finer than its step (a bit per
//! second, a nanosecond) is cut off.

use crate::error::Result;
use crate::tokens::Token;
use units::{Rate, Time};

/// Nanoseconds in a unit of time. Minutes and longer came with later versions of ns-3.
const TIMES: [(&str, u64); 8] = [
    ("s", NS_PER_S),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("min", 60 * NS_PER_S),
    ("h", 3_600 * NS_PER_S),
    ("d", 86_400 * NS_PER_S),
    ("y", 31_536_000 * NS_PER_S),
];
/// Units smaller than a nanosecond: how many make one.
const FINE_TIMES: [(&str, f64); 2] = [("ps", 1e3), ("fs", 1e6)];

const NS_PER_S: u64 = 1_000_000_000;

/// The prefixes of a rate. They go with bits and with bytes.
const PREFIXES: [(&str, f64); 8] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("", 1.0),
];

/// Returns the time that ns-3 makes of a number of seconds.
///
/// ns-3 holds times in 64.64-bit fixed point. The number, which is already rounded to a double, is
/// cut to 2^-64, multiplied exactly, and cut to a nanosecond. So about half of all times with
/// nanosecond digits come out one nanosecond short. A product of doubles would be wrong here: it
/// rounds up again what the double lost. Returns `None` if a [`Time`] cannot hold the result.
///
/// ```
/// use hpcc_files::quantity::seconds;
/// assert_eq!(seconds(2.0003).unwrap().ns(), 2_000_300_000);
/// assert_eq!(seconds(2.000013841).unwrap().ns(), 2_000_013_840);
/// assert_eq!(seconds(-1.0), None);
/// ```
pub fn seconds(value: f64) -> Option<Time> {
    fixed(value, NS_PER_S)
}

/// Reads a number of seconds, the value of `what`.
pub(crate) fn seconds_of(token: Token<'_>, what: &str) -> Result<Time> {
    seconds(token.decimal(what)?).ok_or_else(|| token.wrong(what, "less than 200 days, in seconds"))
}

/// Returns `value` times `worth` nanoseconds, computed as [`seconds`] describes.
fn fixed(value: f64, worth: u64) -> Option<Time> {
    const ONE: f64 = (1_u128 << 64) as f64;
    if !(0.0..1e12).contains(&value) {
        return None;
    }
    let whole = value.floor();
    let part = ((value - whole) * ONE) as u128;
    let worth = u128::from(worth);
    let ns = whole as u128 * worth + ((part * worth) >> 64);
    u64::try_from(ns * 1000).ok().map(Time::from_ps)
}

/// Reads a time such as `1000ns` or `0.0015ms`. A number alone is in seconds.
pub(crate) fn time(token: Token<'_>, what: &str) -> Result<Time> {
    let needs = "a number and its unit";
    let (number, unit) =
        split(token).ok_or_else(|| token.wrong(what, needs).hint("such as 1us"))?;
    let fine = FINE_TIMES
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|&(_, parts)| fixed((number / parts).floor(), 1));
    let found = fine.or_else(|| {
        let unit = if unit.is_empty() { "s" } else { unit };
        TIMES.iter().find(|(name, _)| *name == unit).map(|&(_, worth)| fixed(number, worth))
    });
    match found {
        Some(Some(time)) => Ok(time),
        Some(None) => Err(token.wrong(what, "a time of less than 200 days")),
        None => Err(token.wrong(what, "a time in s, ms, us, ns, ps or fs").hint("such as 1us")),
    }
}

/// Reads a rate such as `100Gbps` or `40Gb/s`; a `B` means bytes. A number alone is in bits per
/// second.
pub(crate) fn rate(token: Token<'_>, what: &str) -> Result<Rate> {
    let hint = "such as 100Gbps";
    let (number, unit) =
        split(token).ok_or_else(|| token.wrong(what, "a number and its unit").hint(hint))?;
    let scaled = if unit.is_empty() { Some(number) } else { rate_unit(unit).map(|w| number * w) };
    match scaled {
        // 2^63 bps.
        Some(bps) if bps < 9.2e18 => Ok(Rate::from_bps(bps as u64)),
        Some(_) => Err(token.wrong(what, "a rate that can be held")),
        None => Err(token.wrong(what, "a rate in bps or b/s with k, M or G").hint(hint)),
    }
}

/// Returns the bits per second in `unit`.
fn rate_unit(unit: &str) -> Option<f64> {
    let body = unit.strip_suffix("ps").or_else(|| unit.strip_suffix("/s"))?;
    let (prefix, bits) = match body.strip_suffix('b') {
        Some(prefix) => (prefix, 1.0),
        None => (body.strip_suffix('B')?, 8.0),
    };
    PREFIXES.iter().find(|(name, _)| *name == prefix).map(|(_, scale)| scale * bits)
}

/// Splits `token` into the number at its beginning and the rest.
fn split<'a>(token: Token<'a>) -> Option<(f64, &'a str)> {
    let text = std::str::from_utf8(token.text).ok()?;
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..unit_at].parse().ok()?;
    number.is_finite().then_some((number, &text[unit_at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token<'_> {
        Token { text: text.as_bytes(), line: 1 }
    }

    #[test]
    fn times_in_every_unit() {
        for (text, ns) in [
            ("1000ns", 1000),
            ("1us", 1000),
            ("0.0015ms", 1500),
            (".5us", 500),
            ("0.001s", 1_000_000),
            // Cutting to 2^-64 of a second loses less than a microsecond.
            ("0.000001s", 999),
            ("2", 2_000_000_000),
            ("0", 0),
            ("1.9ns", 1),
            ("1999ps", 1),
            ("3000000fs", 3),
            ("1min", 60_000_000_000),
            ("1h", 3_600_000_000_000),
        ] {
            assert_eq!(time(token(text), "delay").unwrap(), Time::from_ns(ns), "{text}");
        }
        for text in ["", "us", "1e3ns", "1 us", "-1us", "1Us", "1.2.3us", "9y", "1µs", "1e999s"] {
            assert!(time(token(text), "delay").is_err(), "{text}");
        }
    }

    #[test]
    fn rates_in_every_unit() {
        for (text, bps) in [
            ("100Gbps", 100_000_000_000),
            ("40Gb/s", 40_000_000_000),
            ("0.1Gbps", 100_000_000),
            ("1000Mb/s", 1_000_000_000),
            ("5kbps", 5_000),
            ("5Kb/s", 5_000),
            ("1MBps", 8_000_000),
            ("1KiB/s", 8_192),
            ("1Gib/s", 1_073_741_824),
            ("64b/s", 64),
            ("64", 64),
        ] {
            assert_eq!(rate(token(text), "rate").unwrap(), Rate::from_bps(bps), "{text}");
        }
        for text in ["", "Gbps", "1Tbps", "1gbps", "1Gb", "1Gbit", "-1Gbps", "1e9bps", "1KGbps"] {
            assert!(rate(token(text), "rate").is_err(), "{text}");
        }
        assert!(rate(token("10000000000Gbps"), "rate").is_err());
    }

    /// Starts of flows and the original's values for them. They are chosen so that a product of
    /// doubles, rounding, or exact decimals would give another nanosecond.
    #[test]
    fn seconds_as_the_original_has_them() {
        for (value, ns) in [
            (2.0, 2_000_000_000),
            (2.0003, 2_000_300_000),
            (2.000003075, 2_000_003_074),
            (2.0000138400000002, 2_000_013_840),
            (0.0, 0),
            // Cut to 2^-64 this is less than a nanosecond.
            (1e-9, 0),
            (1e-20, 0),
        ] {
            assert_eq!(seconds(value), Some(Time::from_ns(ns)), "{value}");
        }
        for value in [-1.0, f64::NAN, f64::INFINITY, 1e9, 1e300] {
            assert_eq!(seconds(value), None, "{value}");
        }
    }
}
