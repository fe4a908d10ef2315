//! In-band network telemetry (INT): what a switch writes into a passing data packet about the port
//! through which it leaves, as HPCC reads it (SIGCOMM 2019,
//! section 3).
//!
//! Records are kept at full precision, or as exact as the HPCC simulator's format leaves them
//! ([`IntFormat`]). The 64-bit format of the paper, with its rounding and its wrap-around, is an
//! encoding and lives in the `wire` crate; [`IntRecord::narrowed`] gives what is left of a record that
//! has been through it, [`IntStack::continued`] undoes the wrap-around.

use crate::contract::{
    Body, Cp, Kind, Local, Packet, PortFacts, PortLocal, PortView, Scheme, SwitchFacts,
};
use units::{NodeId, PortId, Rate, Time};
use wire::int::{IntHop, RATES};

/// What one switch port says of itself as a packet begins to leave through it.
///
/// Every packet carries several, so a record is no larger than it must be: 24 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// When the packet began to leave (ts).
    pub time: Time,
    /// Bytes that the port had sent until then, the packet itself not counted (txBytes).
    pub tx_bytes: u64,
    /// Bytes left waiting at the port, all priorities, the packet itself not counted (qlen).
    pub queue_bytes: u32,
    /// The port's rate in units of [`RATE_UNIT`].
    rate: u32,
}

/// A record gives the port's rate in these: 100 kb/s. Link rates are multiples of it.
const RATE_UNIT: u64 = 100_000;

/// A port's rate as its records give it.
#[derive(Clone, Copy, Debug)]
pub struct StampedRate(u32);

impl StampedRate {
    fn of(rate: Rate) -> StampedRate {
        StampedRate(u32::try_from(rate.bps().div_ceil(RATE_UNIT)).unwrap_or(u32::MAX))
    }
    #[inline]
    fn record(self, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
        let queue_bytes = u32::try_from(queue_bytes).unwrap_or(u32::MAX);
        IntRecord { time, tx_bytes, queue_bytes, rate: self.0 }
    }
}

impl IntRecord {
    /// A record of a port of this rate (B), to the next 100 kb/s.
    #[inline]
    pub fn new(rate: Rate, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
        StampedRate::of(rate).record(time, tx_bytes, queue_bytes)
    }

    /// The port's rate (B).
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(u64::from(self.rate) * RATE_UNIT)
    }

    /// The record as the 64-bit format has it. A rate without a code is told as the next one below.
    fn to_wire(self) -> IntHop {
        let rate = RATES.into_iter().rev().find(|known| *known <= self.rate()).unwrap_or(RATES[0]);
        IntHop::new(rate, self.time, self.tx_bytes, u64::from(self.queue_bytes))
            .expect("the rate has a code")
    }

    /// What the 64-bit format leaves of the record: rounded down, time and bytes wrapped around.
    pub fn narrowed(self) -> IntRecord {
        let hop = self.to_wire();
        let rate = hop.rate().expect("the code is one of a rate");
        IntRecord::new(rate, hop.wrapped_time(), hop.wrapped_sent(), hop.queue_bytes())
    }

    /// This narrowed record with time and bytes that go on from those of an earlier one of the same
    /// port, less than 16.8 ms and 134 MB ago.
    fn continued(self, earlier: &IntRecord) -> IntRecord {
        let (new, old) = (self.to_wire(), earlier.to_wire());
        IntRecord {
            time: earlier.time + Time::from_ns(new.span_ns(&old)),
            tx_bytes: earlier.tx_bytes + new.sent_between(&old),
            ..self
        }
    }
}

/// What a record's way through a packet leaves of it: all, or what 64 bits of the HPCC simulator's
/// format hold.
///
/// Rounded records are kept unwrapped; the differences that a sender takes wrap around as its fields
/// do: a time of 24 bits, bytes sent of 20 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntFormat {
    /// What the units of bytes are multiplied with (INT_MULTI); 0 where nothing is lost.
    multiple: u32,
    /// A port whose rate has no code tells the first code's.
    uncoded: bool,
}

const TIME_MASK: u64 = (1 << 24) - 1;
const SENT_MASK: u64 = (1 << 20) - 1;
const QUEUE_MASK: u64 = (1 << 17) - 1;
/// Bytes that the fields count in.
const SENT_UNIT: u64 = 128;
const QUEUE_UNIT: u64 = 80;

impl IntFormat {
    /// Nothing is lost.
    pub const FULL: IntFormat = IntFormat { multiple: 0, uncoded: false };
    /// The rates that the HPCC simulator's format has a code for.
    pub const RATES: [Rate; 5] = [
        Rate::from_gbps(25),
        Rate::from_gbps(50),
        Rate::from_gbps(100),
        Rate::from_gbps(200),
        Rate::from_gbps(400),
    ];

    /// The HPCC simulator's: whole nanoseconds, bytes sent in units of 128 and queues in units of 80
    /// bytes, both times `multiple`.
    pub fn hpcc_ns3(multiple: u32) -> IntFormat {
        IntFormat { multiple: multiple.max(1), uncoded: false }
    }

    /// The same, where a port whose rate has no code leaves the field as it was: at 0, which is
    /// 25 Gb/s.
    pub fn with_uncoded(self) -> IntFormat {
        IntFormat { uncoded: true, ..self }
    }

    /// Whether it can tell of a port of this rate.
    pub fn knows(self, rate: Rate) -> bool {
        self == IntFormat::FULL || self.uncoded || IntFormat::RATES.contains(&rate)
    }

    /// Whole units of `unit` bytes, times `multiple`. It is 1 nearly always, and then the compiler knows
    /// what it divides by; a division takes as long as all else that is done with a record.
    #[inline(always)]
    fn units(self, bytes: u64, unit: u64) -> u64 {
        if self.multiple == 1 { bytes / unit } else { bytes / (unit * u64::from(self.multiple)) }
    }

    /// What it leaves of `record`. A queue of 2^17 units or more wraps around.
    #[inline]
    pub fn round(self, record: IntRecord) -> IntRecord {
        if self == IntFormat::FULL {
            return record;
        }
        let multiple = u64::from(self.multiple);
        let queue = self.units(u64::from(record.queue_bytes), QUEUE_UNIT) & QUEUE_MASK;
        let told = if self.uncoded && !IntFormat::RATES.contains(&record.rate()) {
            IntRecord::new(IntFormat::RATES[0], Time::ZERO, 0, 0).rate
        } else {
            record.rate
        };
        IntRecord {
            time: Time::from_ns(record.time.ns()),
            tx_bytes: self.units(record.tx_bytes, SENT_UNIT) * SENT_UNIT * multiple,
            queue_bytes: (queue * QUEUE_UNIT * multiple) as u32,
            rate: told,
        }
    }

    /// Nanoseconds from `older` to `newer`; 0 where time runs backwards and does not wrap around.
    #[inline]
    pub fn span_ns(self, newer: &IntRecord, older: &IntRecord) -> f64 {
        if self == IntFormat::FULL {
            return newer.time.saturating_sub(older.time).ps() as f64 / 1000.0;
        }
        (newer.time.ns().wrapping_sub(older.time.ns()) & TIME_MASK) as f64
    }

    /// Bytes that the port sent from `older` to `newer`.
    #[inline]
    pub fn sent_between(self, newer: &IntRecord, older: &IntRecord) -> u64 {
        if self == IntFormat::FULL {
            return newer.tx_bytes.saturating_sub(older.tx_bytes);
        }
        let sent = |record: &IntRecord| self.units(record.tx_bytes, SENT_UNIT);
        let units = sent(newer).wrapping_sub(sent(older)) & SENT_MASK;
        units * SENT_UNIT * u64::from(self.multiple)
    }
}

/// The records of a path, first switch first, with room for `N` hops. Their number comes first in
/// memory, next to the packet's header, as every hop reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct IntStack<const N: usize> {
    hops: u8,
    path: u32,
    records: [IntRecord; N],
}

impl<const N: usize> IntStack<N> {
    /// The records that were pushed, in order.
    #[inline]
    pub fn records(&self) -> &[IntRecord] {
        // `hops` never exceeds N; `get` says so to the compiler, which then needs no panic.
        self.records.get(..usize::from(self.hops)).unwrap_or(&self.records)
    }

    /// Another number means another path (pathID); the ports passed and their order make it.
    #[inline]
    pub fn path(&self) -> u32 {
        self.path
    }

    /// The records of the first `hops` switches, to which path `path` leads, and the others.
    pub fn split(&self, hops: usize, path: u32) -> (IntStack<N>, IntStack<N>) {
        let (first, last) = self.records().split_at(hops.min(self.records().len()));
        let stack = |part: &[IntRecord], path| {
            let mut records = [IntRecord::default(); N];
            records[..part.len()].copy_from_slice(part);
            IntStack { hops: part.len() as u8, path, records }
        };
        (stack(first, path), stack(last, self.path))
    }

    /// Adds the record of the next hop, a port of switch `node`. A run whose paths are longer than `N` is refused before it
    /// starts ([`Scheme::MAX_HOPS`]), so a full stack is a mistake in the program.
    #[inline]
    pub fn push(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        debug_assert!(usize::from(self.hops) < N, "the path has more than {N} switches");
        if let Some(free) = self.records.get_mut(usize::from(self.hops)) {
            *free = record;
            self.hops += 1;
            // An odd multiplier mixes and loses nothing.
            let hop = (node.get() << 8) ^ u32::from(port.get());
            self.path = (self.path.rotate_left(7) ^ hop).wrapping_mul(0x9e37_79b1);
        }
    }
}

impl<const N: usize> IntStack<N> {
    /// A stack of narrowed records with time and bytes that go on from those of the stack before it.
    /// On another path there is nothing to go on from.
    pub fn continued(&self, earlier: &IntStack<N>) -> IntStack<N> {
        let mut stack = *self;
        if self.path == earlier.path {
            for (record, earlier) in stack.records.iter_mut().zip(earlier.records()) {
                *record = record.continued(earlier);
            }
        }
        stack
    }
}

impl<const N: usize> Default for IntStack<N> {
    fn default() -> IntStack<N> {
        const { assert!(N <= u8::MAX as usize) };
        IntStack { hops: 0, path: 0, records: [IntRecord::default(); N] }
    }
}

/// What a packet carries, where INT records are part of it.
pub trait CarriesInt {
    /// Adds the record of the port of switch `node` that the packet is leaving through.
    fn push_record(&mut self, node: NodeId, port: PortId, record: IntRecord);
}

impl<const N: usize> CarriesInt for IntStack<N> {
    #[inline]
    fn push_record(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        self.push(node, port, record);
    }
}

/// A switch that stamps each data packet as it begins to leave.
#[derive(Clone, Copy, Debug)]
pub struct StampInt {
    node: NodeId,
    format: IntFormat,
}

impl StampInt {
    /// The stamping part of a switch.
    pub fn new(facts: &SwitchFacts<'_>) -> StampInt {
        StampInt::with_format(facts, IntFormat::FULL)
    }
    /// The same with records of this format.
    pub fn with_format(facts: &SwitchFacts<'_>, format: IntFormat) -> StampInt {
        StampInt { node: facts.node, format }
    }
}

impl<S: Scheme> Cp<S> for StampInt
where
    S::Meta: CarriesInt,
{
    type Level = PortLocal;
    type Port = StampedRate;

    fn port(&self, _params: &S::Params, facts: &PortFacts) -> StampedRate {
        StampedRate::of(facts.rate)
    }

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut Local,
        port: &mut StampedRate,
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        // ACKs and NACKs carry the records of the data packet that they answer.
        if packet.header.kind == Kind::Data
            && let Body::Meta(meta) = &mut packet.body
        {
            let record = port.record(cx.now, view.tx_bytes, view.queue_bytes);
            meta.push_record(self.node, view.port, self.format.round(record));
        }
    }
}
