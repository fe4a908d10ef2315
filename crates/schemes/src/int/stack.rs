//! INT records as packets carry them, and as senders keep them.

use super::{IntFormat, IntRecord};
use crate::contract::RateCode;
use std::hint::select_unpredictable;
use units::{NodeId, PortId, Time};

/// A record without its rate, as packets carry it. Every packet has room for several records, and a
/// network has many packets, so it takes only 12 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Packed {
    /// The upper 36 bits are the time in picoseconds, which wraps around after 69 ms. The lower 28
    /// bits are the queue, up to 268 MB.
    time_and_queue: u64,
    /// Bytes sent. Wraps around after 4.3 GB.
    tx_bytes: u32,
}

const QUEUE_BITS: u32 = 28;
pub(super) const TIME_BITS: u32 = u64::BITS - QUEUE_BITS;

pub(super) const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Packed {
    #[inline(always)]
    fn new(record: &IntRecord) -> Packed {
        let queue = record.queue_bytes.min(mask(QUEUE_BITS));
        let time_and_queue = record.time.ps() << QUEUE_BITS | queue;
        Packed { time_and_queue, tx_bytes: record.tx_bytes as u32 }
    }
    #[inline(always)]
    fn record(self, rate: RateCode) -> IntRecord {
        let time_and_queue = self.time_and_queue;
        IntRecord {
            rate,
            time: Time::from_ps(time_and_queue >> QUEUE_BITS),
            tx_bytes: u64::from(self.tx_bytes),
            queue_bytes: time_and_queue & mask(QUEUE_BITS),
        }
    }
}

/// The records of a path, first switch first, with room for `N` hops. Their number comes first in
/// memory, next to the packet's header, because every hop reads it. With 5 hops and nothing else, a
/// packet takes two cache lines.
///
/// Times and bytes sent are those of [`IntRecord`]s that have wrapped around. [`IntFormat`]
/// computes their differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct IntStack<const N: usize> {
    hops: u8,
    rates: [RateCode; N],
    path: u16,
    records: [Packed; N],
}

impl<const N: usize> IntStack<N> {
    /// Returns the number of records.
    #[inline]
    pub fn hops(&self) -> usize {
        usize::from(self.hops)
    }

    /// Returns the records in order.
    #[inline]
    pub fn records(&self) -> impl ExactSizeIterator<Item = IntRecord> + '_ {
        (0..self.hops().min(N)).map(|hop| self.at(hop))
    }

    #[inline(always)]
    fn at(&self, hop: usize) -> IntRecord {
        self.records[hop].record(self.rates[hop])
    }

    /// Returns each record together with the previous one of the same port, if `earlier` is of the
    /// same path.
    #[inline]
    pub fn aligned_with<'a>(
        &'a self,
        earlier: &'a PreviousRecords<N>,
    ) -> impl Iterator<Item = (IntRecord, IntRecord)> + 'a {
        let known = if self.path == earlier.path { usize::from(earlier.hops) } else { 0 };
        // `hops` never exceeds N. The bound tells the compiler so, which then needs no panic.
        (0..self.hops().min(known).min(N)).map(|hop| {
            let rate = self.rates[hop];
            (self.records[hop].record(rate), earlier.records[hop].record(rate))
        })
    }

    /// Returns the number of the path (pathID), which depends on the ports passed and their order.
    /// Different numbers mean different paths. Of other paths, one in 65,536 has the same number.
    #[inline]
    pub fn path(&self) -> u16 {
        self.path
    }

    /// Splits the records: those of the first `hops` switches, to which path `path` leads, and the
    /// others.
    pub fn split(&self, hops: usize, path: u16) -> (IntStack<N>, IntStack<N>) {
        let hops = hops.min(self.hops());
        let mut parts = [IntStack::default(); 2];
        for (hop, (record, rate)) in self.records[..self.hops()].iter().zip(self.rates).enumerate()
        {
            let part = &mut parts[usize::from(hop >= hops)];
            let place = part.hops();
            part.records[place] = *record;
            part.rates[place] = rate;
            part.hops += 1;
        }
        let [first, second] = parts;
        (IntStack { path, ..first }, IntStack { path: self.path, ..second })
    }

    /// Adds the record of the next hop, a port of switch `node`. A full stack stays as it is.
    ///
    /// A run whose paths have more than `N` switches is refused before it starts
    /// ([`Needs::max_hops`](crate::contract::Needs::max_hops)). Only a packet that is in flight
    /// when a link fails or is repaired can pass more: it begins on an old path and ends on a new
    /// one. Its last switches leave no record.
    #[inline]
    pub fn push(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        self.push_if(true, node, port, record);
    }

    /// Like [`push`](Self::push) if `wanted`; otherwise changes nothing. Needs no branch, so it
    /// cannot be mispredicted.
    #[inline(always)]
    pub fn push_if(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord) {
        // If it is not wanted, the present content is written back.
        let wanted = wanted && self.hops() < N;
        let hop = self.hops().min(N - 1);
        let (old, new) = (self.records[hop], Packed::new(&record));
        self.records[hop] = Packed {
            time_and_queue: select_unpredictable(wanted, new.time_and_queue, old.time_and_queue),
            tx_bytes: select_unpredictable(wanted, new.tx_bytes, old.tx_bytes),
        };
        self.rates[hop] = select_unpredictable(wanted, record.rate, self.rates[hop]);
        self.hops += u8::from(wanted);
        // An odd multiplier mixes without loss. The upper bits are mixed best.
        let step = (node.get() << 8) ^ u32::from(port.get());
        let mixed = (u32::from(self.path).rotate_left(23) ^ step).wrapping_mul(0x9e37_79b1);
        self.path = select_unpredictable(wanted, (mixed >> 16) as u16, self.path);
    }
}

impl<const N: usize> Default for IntStack<N> {
    fn default() -> IntStack<N> {
        const { assert!(N <= u8::MAX as usize) };
        let (rates, records) = ([RateCode::default(); N], [Packed::default(); N]);
        IntStack { hops: 0, rates, path: 0, records }
    }
}

/// The previous records, which a sender compares with the next ones. Their rates are those of the
/// next ones, which are of the same ports. Every QP has them.
#[derive(Clone, Debug)]
pub struct PreviousRecords<const N: usize> {
    hops: u8,
    path: u16,
    /// Arrival time without the lowest [`TICK_BITS`] of its picoseconds.
    came: u32,
    records: [Packed; N],
}

/// A tick is about one microsecond.
const TICK_BITS: u32 = 20;
/// Records in full precision that arrive further apart than this are not compared. A link of
/// 3.2 Tb/s sends about the maximum of the bytes-sent counter in that time.
pub const MAX_RECORD_AGE: Time = Time::from_ms(10);

impl<const N: usize> PreviousRecords<N> {
    /// No records yet.
    pub const NONE: PreviousRecords<N> = PreviousRecords {
        hops: 0,
        path: 0,
        came: 0,
        records: [Packed { time_and_queue: 0, tx_bytes: 0 }; N],
    };

    /// Returns the records of `stack`, which arrives `now`.
    #[inline(always)]
    pub fn from(now: Time, stack: &IntStack<N>) -> PreviousRecords<N> {
        let IntStack { hops, path, records, .. } = *stack;
        PreviousRecords { hops, path, came: Self::tick(now), records }
    }

    #[inline(always)]
    const fn tick(time: Time) -> u32 {
        (time.ps() >> TICK_BITS) as u32
    }

    /// Returns whether these records are too old to compare with records that arrive `now`. The
    /// 64-bit formats cannot tell.
    #[inline]
    pub fn is_stale(&self, format: IntFormat, now: Time) -> bool {
        format.is_full() && Self::tick(now).wrapping_sub(self.came) > Self::tick(MAX_RECORD_AGE)
    }

    /// Prepares the comparison with `stack`, which arrives `now`. Records that are too old are
    /// removed. If their format has no path number, they count as being of the same path.
    #[inline(always)]
    pub fn prepare_for(&mut self, format: IntFormat, now: Time, stack: &IntStack<N>) {
        if self.is_stale(format, now) {
            *self = Self::NONE;
        }
        // Checked last, because a path seldom changes.
        if self.path != stack.path && !format.has_path_id() {
            self.path = stack.path;
        }
    }

    /// Returns the number of the path, see [`IntStack::path`].
    pub fn path(&self) -> u16 {
        self.path
    }

    /// Replaces the record of this hop by one that arrives `now`. Returns the old record, which is
    /// all zero if there was none.
    pub fn replace(&mut self, now: Time, hop: usize, record: &IntRecord) -> IntRecord {
        let old = std::mem::replace(&mut self.records[hop], Packed::new(record));
        self.came = Self::tick(now);
        old.record(record.rate)
    }
}
