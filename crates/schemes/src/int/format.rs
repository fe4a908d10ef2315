//! How exact INT records are.

use super::IntRecord;
use super::stack::{TIME_BITS, mask};
use crate::contract::{LinkRates, RateCode};
use units::{Rate, Time};
use wire::int::IntHop;

/// The precision of INT records: full, or what 64 bits hold.
///
/// Times and bytes sent wrap around in each format, and so do the differences that a sender
/// computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntFormat(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Full,
    Paper,
    /// With `uncoded`, a port whose rate has no code reports the rate of the first code.
    Simulator {
        sent: Field,
        queue: Field,
        uncoded: bool,
    },
}

/// Field widths of the HPCC simulator's format, and of the paper's, except for the queue.
const NARROW_TIME_BITS: u32 = 24;
const NARROW_SENT_BITS: u32 = 20;
const NARROW_QUEUE_BITS: u32 = 17;
/// Bytes per unit of the two fields.
const SENT_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

/// A field for bytes in whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    /// Bytes per unit, at least 2.
    unit: u64,
    /// The bits of the number of units that are kept.
    kept: u64,
    /// `2^64 / unit`, rounded up. A division by a number that the compiler does not know takes as
    /// long as all else about a record.
    reciprocal: u64,
}

impl Field {
    /// The field for bytes sent, in both formats. `multiple` scales the unit.
    const fn sent(multiple: u32) -> Field {
        Field::new(SENT_UNIT, multiple, NARROW_SENT_BITS)
    }

    /// The field for the queue in the HPCC simulator's format.
    const fn queue(multiple: u32) -> Field {
        Field::new(QUEUE_UNIT, multiple, NARROW_QUEUE_BITS)
    }

    const fn new(unit: u64, multiple: u32, bits: u32) -> Field {
        let unit = unit * multiple as u64;
        Field { unit, kept: mask(bits), reciprocal: (u64::MAX / unit) + 1 }
    }

    /// Returns the number of whole units.
    #[inline(always)]
    fn units(self, bytes: u64) -> u64 {
        if bytes >> u32::BITS != 0 {
            return self.units_of_many(bytes);
        }
        // The reciprocal is too large by less than 1, and the product by less than 2^32. That adds
        // no unit: the exact product is at least 2^64 / unit below the next whole number of them.
        ((u128::from(bytes) * u128::from(self.reciprocal)) >> u64::BITS) as u64
    }

    #[cold]
    fn units_of_many(self, bytes: u64) -> u64 {
        bytes / self.unit
    }

    /// Returns `bytes` rounded down to whole units and wrapped around.
    #[inline(always)]
    fn rounded(self, bytes: u64) -> u64 {
        (self.units(bytes) & self.kept) * self.unit
    }

    /// Returns how much was added from `older` to `newer`, if the field did not wrap around twice.
    #[inline(always)]
    fn between(self, newer: u64, older: u64) -> u64 {
        (self.units(newer).wrapping_sub(self.units(older)) & self.kept) * self.unit
    }
}

impl IntFormat {
    /// Full precision.
    pub const FULL: IntFormat = IntFormat(Form::Full);
    /// The paper's 64 bits: whole nanoseconds, bytes sent in units of 128 bytes, and queues in
    /// units of 80 bytes, capped at the maximum of the field.
    pub const PAPER: IntFormat = IntFormat(Form::Paper);
    /// The rates that have a code in the HPCC simulator's format.
    pub const SIMULATOR_RATES: [Rate; 5] = [
        Rate::from_gbps(25),
        Rate::from_gbps(50),
        Rate::from_gbps(100),
        Rate::from_gbps(200),
        Rate::from_gbps(400),
    ];
    /// Returns the HPCC simulator's format: whole nanoseconds, bytes sent in units of 128 bytes and
    /// queues in units of 80 bytes, both times `multiple`.
    pub fn hpcc_ns3(multiple: u32) -> IntFormat {
        let multiple = multiple.max(1);
        let (sent, queue) = (Field::sent(multiple), Field::queue(multiple));
        IntFormat(Form::Simulator { sent, queue, uncoded: false })
    }

    /// Returns this format with one change: a port whose rate has no code leaves the field at 0,
    /// which is 25 Gb/s.
    pub fn with_uncoded(self) -> IntFormat {
        match self.0 {
            Form::Simulator { sent, queue, .. } => {
                IntFormat(Form::Simulator { sent, queue, uncoded: true })
            }
            _ => self,
        }
    }

    /// Returns whether this format can encode a port of this rate.
    pub fn encodes(self, rate: Rate) -> bool {
        match self.0 {
            Form::Paper => wire::int::RATES.contains(&rate),
            Form::Simulator { uncoded: false, .. } => IntFormat::SIMULATOR_RATES.contains(&rate),
            _ => true,
        }
    }

    /// Returns the code that a port of this rate writes into its records.
    pub fn code(self, rates: &LinkRates, rate: Rate) -> RateCode {
        let told = match self.0 {
            Form::Full | Form::Paper => rate,
            Form::Simulator { uncoded, .. } => {
                let known = !uncoded || IntFormat::SIMULATOR_RATES.contains(&rate);
                if known { rate } else { IntFormat::SIMULATOR_RATES[0] }
            }
        };
        rates.code(told)
    }

    /// Returns `record` as this format encodes it, rounded down and wrapped around.
    #[inline(always)]
    pub fn round(self, record: IntRecord) -> IntRecord {
        if matches!(self.0, Form::Full) { record } else { self.narrowed(record) }
    }

    /// Like [`round`](IntFormat::round), for a format that is not full.
    #[inline(always)]
    pub(super) fn narrowed(self, record: IntRecord) -> IntRecord {
        let IntRecord { rate, time, tx_bytes, queue_bytes } = record;
        let Form::Simulator { sent, queue, .. } = self.0 else {
            return IntFormat::of_paper(rate, time, tx_bytes, queue_bytes);
        };
        IntRecord {
            rate,
            time: Time::from_ns(time.ns() & mask(NARROW_TIME_BITS)),
            tx_bytes: sent.rounded(tx_bytes),
            queue_bytes: queue.rounded(queue_bytes),
        }
    }

    /// Returns a record as the paper's format encodes it.
    #[cold]
    fn of_paper(rate: RateCode, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
        let hop = IntHop::new(wire::int::RATES[0], time, tx_bytes, queue_bytes)
            .expect("the rate has a code");
        IntRecord {
            rate,
            time: hop.wrapped_time(),
            tx_bytes: hop.wrapped_sent(),
            queue_bytes: hop.queue_bytes(),
        }
    }

    /// Returns whether records keep full precision.
    #[inline(always)]
    pub(crate) fn is_full(self) -> bool {
        matches!(self.0, Form::Full)
    }

    /// Returns whether records carry the number of their path. In the HPCC simulator they do not:
    /// records of two paths are compared as if they were of one.
    #[inline]
    pub fn has_path_id(self) -> bool {
        !matches!(self.0, Form::Simulator { .. })
    }

    /// Returns the time from `older` to `newer`; zero if time runs backwards and does not wrap
    /// around.
    #[inline(always)]
    pub fn span(self, newer: &IntRecord, older: &IntRecord) -> Time {
        if matches!(self.0, Form::Full) {
            let span = newer.time.ps().wrapping_sub(older.time.ps()) & mask(TIME_BITS);
            let back = span >> (TIME_BITS - 1) != 0;
            return if back { Time::ZERO } else { Time::from_ps(span) };
        }
        Time::from_ns(IntFormat::narrow_span(newer, older))
    }

    /// Returns the span of narrow records, whole nanoseconds.
    #[inline(always)]
    fn narrow_span(newer: &IntRecord, older: &IntRecord) -> u64 {
        newer.time.ns().wrapping_sub(older.time.ns()) & mask(NARROW_TIME_BITS)
    }

    /// Returns the [span](IntFormat::span) in nanoseconds.
    #[inline(always)]
    pub fn span_ns(self, newer: &IntRecord, older: &IntRecord) -> f64 {
        if self.is_full() {
            return self.span(newer, older).ps() as f64 / 1000.0;
        }
        // A whole number below 2^24, which is exact.
        IntFormat::narrow_span(newer, older) as i64 as f64
    }

    /// Returns the bytes that the port sent from `older` to `newer`.
    #[inline(always)]
    pub fn sent_between(self, newer: &IntRecord, older: &IntRecord) -> u64 {
        let (newer, older) = (newer.tx_bytes, older.tx_bytes);
        match self.0 {
            Form::Full => u64::from((newer as u32).wrapping_sub(older as u32)),
            Form::Paper => const { Field::sent(1) }.between(newer, older),
            Form::Simulator { sent, .. } => sent.between(newer, older),
        }
    }
}
