//! INT records as packets carry them, and as senders keep them.

use super::{IntFormat, IntRecord};
use crate::contract::RateCode;
use std::hint::select_unpredictable;
use units::{NodeId, PortId, Time};

/// A record without its rate, as packets carry it. Every packet has room for several, and networks
/// have many packets: 12 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Packed {
    /// Picoseconds, of which 36 bits are left: they wrap around after 69 ms. Below them the queue, up
    /// to 268 MB.
    time_and_queue: u64,
    /// Wraps around after 4.3 GB.
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
/// memory, next to the packet's header, as every hop reads it. With 5 hops, and nothing else, a packet
/// takes two cache lines.
///
/// Times and bytes sent are those of [`IntRecord`]s that have wrapped around; [`IntFormat`] takes their
/// differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct IntStack<const N: usize> {
    hops: u8,
    rates: [RateCode; N],
    path: u16,
    records: [Packed; N],
}

impl<const N: usize> IntStack<N> {
    /// How many records were pushed.
    #[inline]
    pub fn hops(&self) -> usize {
        usize::from(self.hops)
    }

    /// They, in order.
    #[inline]
    pub fn records(&self) -> impl ExactSizeIterator<Item = IntRecord> + '_ {
        (0..self.hops().min(N)).map(|hop| self.at(hop))
    }

    #[inline(always)]
    fn at(&self, hop: usize) -> IntRecord {
        self.records[hop].record(self.rates[hop])
    }

    /// Each record with the one of `earlier` of the same port, if `earlier` is of the same path.
    #[inline]
    pub fn aligned_with<'a>(
        &'a self,
        earlier: &'a PreviousRecords<N>,
    ) -> impl Iterator<Item = (IntRecord, IntRecord)> + 'a {
        let known = if self.path == earlier.path { usize::from(earlier.hops) } else { 0 };
        // `hops` never exceeds N; the compiler does not know, and needs no panic this way.
        (0..self.hops().min(known).min(N)).map(|hop| {
            let rate = self.rates[hop];
            (self.records[hop].record(rate), earlier.records[hop].record(rate))
        })
    }

    /// Another number means another path (pathID); the ports passed and their order make it. One other
    /// path of 65,536 has the same.
    #[inline]
    pub fn path(&self) -> u16 {
        self.path
    }

    /// The records of the first `hops` switches, to which path `path` leads, and the others.
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
    /// ([`Scheme::MAX_HOPS`]). Only a packet that is in flight when a link fails or is repaired can
    /// pass more: it begins on a path of before and ends on one of after. Its last switches leave no
    /// record.
    #[inline]
    pub fn push(&mut self, node: NodeId, port: PortId, record: IntRecord) {
        self.push_if(true, node, port, record);
    }

    /// The same if it is `wanted`, which the processor need not guess.
    #[inline(always)]
    pub fn push_if(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord) {
        // Where it is not wanted, what is there is written again.
        let wanted = wanted && self.hops() < N;
        let hop = self.hops().min(N - 1);
        let (old, new) = (self.records[hop], Packed::new(&record));
        self.records[hop] = Packed {
            time_and_queue: select_unpredictable(wanted, new.time_and_queue, old.time_and_queue),
            tx_bytes: select_unpredictable(wanted, new.tx_bytes, old.tx_bytes),
        };
        self.rates[hop] = select_unpredictable(wanted, record.rate, self.rates[hop]);
        self.hops += u8::from(wanted);
        // An odd multiplier mixes and loses nothing; the upper bits are mixed best.
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

/// The records that a sender compares the next ones with. Their rates are those of the next ones, of the
/// same ports; every QP has them.
#[derive(Clone, Debug)]
pub struct PreviousRecords<const N: usize> {
    hops: u8,
    path: u16,
    /// When they came, [`TICK_BITS`] of its picoseconds left out.
    came: u32,
    records: [Packed; N],
}

/// A tick is about a microsecond.
const TICK_BITS: u32 = 20;
/// Records that come further apart than this, about 10 ms, are not compared: the bytes that a link of
/// 3.2 Tb/s sends until then are about the most that full ones can tell.
const MAX_GAP: u32 = (Time::from_ms(10).ps() >> TICK_BITS) as u32;

impl<const N: usize> PreviousRecords<N> {
    /// Before the first.
    pub const NONE: PreviousRecords<N> = PreviousRecords {
        hops: 0,
        path: 0,
        came: 0,
        records: [Packed { time_and_queue: 0, tx_bytes: 0 }; N],
    };

    /// Those that come `now`.
    #[inline(always)]
    pub fn from(now: Time, stack: &IntStack<N>) -> PreviousRecords<N> {
        let IntStack { hops, path, records, .. } = *stack;
        PreviousRecords { hops, path, came: Self::tick(now), records }
    }

    #[inline(always)]
    fn tick(time: Time) -> u32 {
        (time.ps() >> TICK_BITS) as u32
    }

    /// Whether records of this format are too old to compare those with that come `now`. 64 bits can't
    /// say.
    #[inline]
    pub fn is_stale(&self, format: IntFormat, now: Time) -> bool {
        format.is_full() && Self::tick(now).wrapping_sub(self.came) > MAX_GAP
    }

    /// Makes them fit to be beside `stack`, which comes `now`: those that are too old are forgotten, and where
    /// their format tells no path, they are taken as of the same.
    #[inline(always)]
    pub fn prepare_for(&mut self, format: IntFormat, now: Time, stack: &IntStack<N>) {
        if self.is_stale(format, now) {
            *self = Self::NONE;
        }
        // Asked last, as a path seldom changes.
        if self.path != stack.path && !format.has_path_id() {
            self.path = stack.path;
        }
    }

    /// See [`IntStack::path`].
    pub fn path(&self) -> u16 {
        self.path
    }

    /// Puts a record that comes `now` in the place of the one of this hop, which it returns; all zero
    /// where there was none.
    pub fn replace(&mut self, now: Time, hop: usize, record: &IntRecord) -> IntRecord {
        let old = std::mem::replace(&mut self.records[hop], Packed::new(record));
        self.came = Self::tick(now);
        old.record(record.rate)
    }
}
