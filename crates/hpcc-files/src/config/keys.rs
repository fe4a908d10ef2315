//! The keys of a configuration, and how the values after them are read.

use super::{CcMode, Config, LinkDown, forks};
use crate::error::{Result, Warning};
use crate::quantity;
use crate::tokens::Tokens;
use std::collections::BTreeMap;
use std::path::PathBuf;
use units::{Bytes, NodeId, Rate, Time};

/// Every key of the original. [`forks`] has those of its forks.
const KEYS: [&str; 51] = [
    "ACK_HIGH_PRIO",
    "ALPHA_RESUME_INTERVAL",
    "BUFFER_SIZE",
    "CC_MODE",
    "CLAMP_TARGET_RATE",
    "DATA_RATE",
    "DCTCP_RATE_AI",
    "ENABLE_QCN",
    "ENABLE_THEMIS",
    "ENABLE_TRACE",
    "ERROR_RATE_PER_LINK",
    "EWMA_GAIN",
    "FAST_REACT",
    "FAST_RECOVERY_TIMES",
    "FCT_OUTPUT_FILE",
    "FLOW_FILE",
    "GLOBAL_T",
    "HAS_WIN",
    "INT_MULTI",
    "KMAX_MAP",
    "KMIN_MAP",
    "L2_ACK_INTERVAL",
    "L2_BACK_TO_ZERO",
    "L2_CHUNK_SIZE",
    "LINK_DELAY",
    "LINK_DOWN",
    "MIN_RATE",
    "MI_THRESH",
    "MULTI_RATE",
    "PACKET_PAYLOAD_SIZE",
    "PAUSE_TIME",
    "PFC_OUTPUT_FILE",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "PMAX_MAP",
    "QLEN_MON_END",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "RATE_AI",
    "RATE_BOUND",
    "RATE_DECREASE_INTERVAL",
    "RATE_HAI",
    "RP_TIMER",
    "SAMPLE_FEEDBACK",
    "SIMULATOR_STOP_TIME",
    "TOPOLOGY_FILE",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "U_TARGET",
    "VAR_WIN",
];

/// Returns the key that `token` spells.
pub(super) fn known(token: &[u8]) -> Option<&'static str> {
    KEYS.iter().copied().find(|key| key.as_bytes() == token)
}

/// Whether a second value of `key` adds to the first one instead of replacing it.
pub(super) fn is_map(key: &str) -> bool {
    key.ends_with("_MAP")
}

/// Returns the key that `token` is probably a misspelling of.
pub(super) fn nearest(token: &[u8]) -> Option<&'static str> {
    // Other formats have a sign between key and value.
    let token = token.split(|byte| matches!(byte, b'=' | b':')).next()?;
    // A longer word is no typing error.
    let token = std::str::from_utf8(token).ok().filter(|token| token.len() <= 40)?;
    let token = token.to_ascii_uppercase();
    let letters = Letters::of(&token);
    let length = token.chars().count();
    KEYS.into_iter()
        .chain(forks::read_keys())
        // Files in other formats have thousands of such words. Computing the distance takes
        // microseconds for each pair; length and letters alone rule out nearly all pairs.
        .filter(|key| key.len().abs_diff(length) <= most_typos(key))
        .filter(|key| letters.missing(&Letters::of(key)) <= most_typos(key))
        .map(|key| (strsim::damerau_levenshtein(&token, key), key))
        .filter(|(distance, key)| *distance <= most_typos(key))
        .min()
        .map(|(_, key)| key)
}

/// Maximum number of typing errors in a word that is still taken for this key.
fn most_typos(key: &str) -> usize {
    key.len() / 4
}

/// Counts the letters of a word. Characters beyond `Z` count as one letter.
struct Letters([u8; 64]);

impl Letters {
    fn of(token: &str) -> Letters {
        let mut counts = [0; 64];
        for letter in token.chars() {
            let slot = (letter as usize).saturating_sub(usize::from(b' ')).min(63);
            counts[slot] += 1;
        }
        Letters(counts)
    }

    /// Returns a lower bound on the distance between two words: the number of letters that one has
    /// and the other lacks, whichever is larger.
    fn missing(&self, other: &Letters) -> usize {
        let lacks = |(a, b): (&u8, &u8)| usize::from(a.saturating_sub(*b));
        let here: usize = self.0.iter().zip(&other.0).map(lacks).sum();
        let there: usize = other.0.iter().zip(&self.0).map(lacks).sum();
        here.max(there)
    }
}

/// Reads the value of `key`, which is in `line`.
pub(super) fn read(
    config: &mut Config,
    key: &'static str,
    line: usize,
    tokens: &mut Tokens<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    const U32: u64 = u32::MAX as u64;
    const MOST_US: u64 = 1_000_000_000_000;
    let mut values = Values { key, line, tokens, warnings };
    match key {
        "TOPOLOGY_FILE" => config.topology_file = values.path()?,
        "FLOW_FILE" => config.flow_file = values.path()?,
        "TRACE_FILE" => config.trace_file = Some(values.path()?),
        "TRACE_OUTPUT_FILE" => config.trace_output_file = Some(values.path()?),
        "FCT_OUTPUT_FILE" => config.fct_output_file = values.path()?,
        "PFC_OUTPUT_FILE" => config.pfc_output_file = values.path()?,
        "QLEN_MON_FILE" => config.qlen_mon_file = Some(values.path()?),
        "QLEN_MON_START" => config.qlen_mon_start = values.nanoseconds()?,
        "QLEN_MON_END" => config.qlen_mon_end = values.nanoseconds()?,
        "ENABLE_TRACE" => config.enable_trace = values.flag()?,
        "SIMULATOR_STOP_TIME" => config.simulator_stop_time = values.stop_time()?,
        "LINK_DOWN" => config.link_down = values.link_down()?,
        "ERROR_RATE_PER_LINK" => config.error_rate_per_link = values.fraction()?,
        // The maximum that fits an IP packet.
        "PACKET_PAYLOAD_SIZE" => config.packet_payload_size = Bytes::new(values.whole(1, 65_000)?),
        "L2_CHUNK_SIZE" => config.l2_chunk_size = Bytes::new(values.whole(0, U32)?),
        "L2_ACK_INTERVAL" => config.l2_ack_interval = Bytes::new(values.whole(0, U32)?),
        "L2_BACK_TO_ZERO" => config.l2_back_to_zero = values.flag()?,
        "ACK_HIGH_PRIO" => config.ack_high_prio = values.flag()?,
        "HAS_WIN" => config.has_win = values.flag()?,
        // Compared with 1, unlike the other flags.
        "GLOBAL_T" => config.global_t = values.whole(0, U32)? == 1,
        "VAR_WIN" => config.var_win = values.flag()?,
        "RATE_BOUND" => config.rate_bound = values.flag()?,
        // In MiB. The original counts bytes in 32 bits.
        "BUFFER_SIZE" => config.buffer_size = Bytes::new(values.whole(1, 4095)? << 20),
        // Frames of the original have 32 bits for it.
        "PAUSE_TIME" => config.pause_time = values.microseconds(U32)?,
        "ENABLE_QCN" => config.enable_qcn = values.flag()?,
        "KMIN_MAP" => values.map(&mut config.kmin, Values::kilobytes)?,
        "KMAX_MAP" => values.map(&mut config.kmax, Values::kilobytes)?,
        "PMAX_MAP" => values.map(&mut config.pmax, Values::decimal)?,
        "INT_MULTI" => config.int_multi = values.whole(0, U32)? as u32,
        "CC_MODE" => config.cc_mode = values.cc_mode()?,
        "RATE_AI" => config.rate_ai = Some(values.rate()?),
        "RATE_HAI" => config.rate_hai = Some(values.rate()?),
        "MIN_RATE" => config.min_rate = values.rate_above_zero()?,
        "EWMA_GAIN" => config.ewma_gain = Some(values.fraction()?),
        "ALPHA_RESUME_INTERVAL" => config.alpha_resume_interval = values.microseconds(MOST_US)?,
        "RATE_DECREASE_INTERVAL" => config.rate_decrease_interval = values.microseconds(MOST_US)?,
        "RP_TIMER" => config.rp_timer = Some(values.microseconds(MOST_US)?),
        "FAST_RECOVERY_TIMES" => config.fast_recovery_times = values.whole(0, U32)? as u32,
        "CLAMP_TARGET_RATE" => config.clamp_target_rate = values.flag()?,
        "DCTCP_RATE_AI" => config.dctcp_rate_ai = values.rate()?,
        "U_TARGET" => config.u_target = values.decimal_above(0.0)?,
        "MI_THRESH" => config.mi_thresh = values.whole(0, U32)? as u32,
        "FAST_REACT" => config.fast_react = values.flag()?,
        "MULTI_RATE" => config.multi_rate = values.flag()?,
        "SAMPLE_FEEDBACK" => config.sample_feedback = values.flag()?,
        "PINT_LOG_BASE" => config.pint_log_base = values.decimal_above(1.0)?,
        "PINT_PROB" => config.pint_prob = values.fraction()?,
        "ENABLE_THEMIS" => config.enable_themis = Some(values.flag()?),
        "USE_DYNAMIC_PFC_THRESHOLD" => {
            if !values.flag()? {
                values.warn("0 changes nothing, as in the original: the threshold is dynamic");
            }
        }
        "DATA_RATE" | "LINK_DELAY" => {
            values.token()?;
            values.warn("is ignored, as in the original: each link has its own in the topology");
        }
        _ => unreachable!("{key} is a key"),
    }
    Ok(())
}

/// The words that follow a key.
struct Values<'w, 't> {
    key: &'static str,
    line: usize,
    tokens: &'w mut Tokens<'t>,
    warnings: &'w mut Vec<Warning>,
}

impl<'t> Values<'_, 't> {
    fn token(&mut self) -> Result<crate::tokens::Token<'t>> {
        self.tokens.need(&format!("the value of {}", self.key))
    }

    fn warn(&mut self, what: &str) {
        self.warnings.push(Warning::at(self.line, format!("{} {what}", self.key)));
    }

    fn path(&mut self) -> Result<PathBuf> {
        let token = self.token()?;
        if known(token.text).is_some() {
            return Err(token.wrong(self.key, "the name of a file"));
        }
        token
            .str()
            .filter(|name| !name.contains('\0'))
            .map(PathBuf::from)
            .ok_or_else(|| token.wrong(self.key, "a name in UTF-8, without a null"))
    }

    fn whole(&mut self, least: u64, most: u64) -> Result<u64> {
        self.token()?.whole(self.key, least..=most)
    }

    fn flag(&mut self) -> Result<bool> {
        self.token()?.flag(self.key)
    }

    fn fraction(&mut self) -> Result<f64> {
        self.token()?.fraction(self.key)
    }

    fn decimal_above(&mut self, least: f64) -> Result<f64> {
        let token = self.token()?;
        let number = token.decimal(self.key)?;
        if number > least {
            Ok(number)
        } else {
            Err(token.wrong(self.key, &format!("a number above {least}")))
        }
    }

    fn rate(&mut self) -> Result<Rate> {
        quantity::rate(self.token()?, self.key)
    }

    fn rate_above_zero(&mut self) -> Result<Rate> {
        let token = self.token()?;
        let rate = quantity::rate(token, self.key)?;
        if rate == Rate::ZERO {
            return Err(token.wrong(self.key, "a rate above 0").hint("such as 100Mb/s"));
        }
        Ok(rate)
    }

    fn decimal(&mut self) -> Result<f64> {
        self.token()?.decimal(self.key)
    }

    /// Reads a time in seconds. One beyond 200 days means the end of all events.
    fn stop_time(&mut self) -> Result<Option<Time>> {
        self.decimal().map(quantity::seconds)
    }

    /// Reads a number of nanoseconds, or of seconds if it has a decimal point, as in ConWeave.
    fn nanoseconds(&mut self) -> Result<Time> {
        let token = self.token()?;
        if token.text.contains(&b'.') {
            return quantity::seconds_of(token, self.key);
        }
        token.whole(self.key, 0..=u64::MAX / 1000).map(Time::from_ns)
    }

    /// Reads a number of up to `most` microseconds. The original cuts off its fraction.
    fn microseconds(&mut self, most: u64) -> Result<Time> {
        let token = self.token()?;
        let number = token.decimal(self.key)?;
        if number > most as f64 {
            return Err(token.wrong(self.key, &format!("at most {most} microseconds")));
        }
        if number.fract() != 0.0 {
            self.warn(&format!(
                "is {} us: fractions are cut off, as in the original",
                number.floor()
            ));
        }
        Ok(Time::from_us(number as u64))
    }

    fn kilobytes(&mut self) -> Result<Bytes> {
        // The original computes this number times 1000 in 32 bits.
        self.whole(0, u64::from(u32::MAX) / 1000).map(|kb| Bytes::new(kb * 1000))
    }

    fn cc_mode(&mut self) -> Result<CcMode> {
        let mode = CcMode::new(self.whole(0, u64::from(u32::MAX))? as u32);
        if let CcMode::None(number) = mode {
            self.warn(&format!(
                "{number} is no control law (1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT): \
                 packets go at line rate, as in the original"
            ));
        }
        Ok(mode)
    }

    /// Reads `n rate value ...` and adds the entries to the map.
    fn map<T>(
        &mut self,
        map: &mut BTreeMap<Rate, T>,
        value: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<()> {
        let entries = self.whole(0, u64::from(u32::MAX))?;
        let key = self.key;
        let pairs = if entries == 1 { "pair" } else { "pairs" };
        for _ in 0..entries {
            let rate = self.whole(1, u64::MAX);
            let (rate, value) = rate
                .and_then(|rate| Ok((Rate::from_bps(rate), value(self)?)))
                .map_err(|error| {
                    error.hint(format!(
                        "after the number {entries}, {key} needs {entries} {pairs} of a rate in \
                         bit/s and a value"
                    ))
                })?;
            map.insert(rate, value);
        }
        Ok(())
    }

    fn link_down(&mut self) -> Result<Option<LinkDown>> {
        let after = Time::from_us(self.whole(0, 1_000_000_000_000)?);
        let a = NodeId::new(self.whole(0, u64::from(u32::MAX))? as u32);
        let b = NodeId::new(self.whole(0, u64::from(u32::MAX))? as u32);
        let at = Time::from_ms(2000) + after;
        Ok((after > Time::ZERO).then_some(LinkDown { at, a, b }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound by letters must not rule out a word that the distance accepts.
    #[test]
    fn letters_bound_the_distance() {
        let tokens =
            ["KMIN_MAP", "KMNI_MAP", "KMAX", "", "é_MAP", "MIN_RATE", "AIR_ETAM", "RATE__AI"];
        for a in tokens.iter().chain(&KEYS) {
            for b in tokens.iter().chain(&KEYS) {
                let missing = Letters::of(a).missing(&Letters::of(b));
                assert!(missing <= strsim::damerau_levenshtein(a, b), "{a} {b}");
            }
        }
        assert_eq!(nearest(b"KMNI_MAP"), Some("KMIN_MAP"));
        assert_eq!(nearest(b"rate-ai=1"), Some("RATE_AI"));
        assert_eq!(nearest(b"TOPOLOGY"), None);
    }

    /// `read` has no catch-all arm, so a key without an arm would end the process.
    #[test]
    fn each_key_is_read() {
        for key in KEYS {
            let text = b"1 1 1 1 1";
            let mut tokens = Tokens::new(text);
            let mut config = Config::new();
            // Whether 1 is a valid value does not matter here.
            let _ = read(&mut config, key, 1, &mut tokens, &mut Vec::new());
        }
    }
}
