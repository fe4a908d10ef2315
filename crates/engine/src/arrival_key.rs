//! The entry of a mailbox: 64 bits whose numerical order is the order in which a device handles its
//! arrivals.
//!
//! ```text
//! | time in the window: 20 | rank: 2  | port, rotated by time: 10 | same instant: 2 | handle: 30 |
//! ```
//!
//! The time is in picoseconds since the window began. The handle never decides: no two packets of
//! one port and rank have equal "same instant" numbers at the same time.

use crate::arena::HANDLE_BITS;
use crate::link::Rank;
use units::Time;

/// The maximum number of ports of a device.
pub(crate) const MAX_PORTS: usize = 1 << 10;
const SAME_BITS: u32 = 2;
/// The maximum number of packets of a link and rank that arrive at the same instant.
pub(crate) const MAX_SAME_INSTANT: u8 = 1 << SAME_BITS;
const PORT_SHIFT: u32 = HANDLE_BITS + SAME_BITS;
const RANK_SHIFT: u32 = PORT_SHIFT + 10;
const TIME_SHIFT: u32 = RANK_SHIFT + 2;

/// Which port goes first among arrivals of one rank at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// A different port at each time, so that no port is always served first.
    #[default]
    RotatePorts,
    /// The port with the lowest number. The device may then put the arrivals of an instant into an
    /// [order of its own](crate::Device::reorder_arrivals).
    DeviceOrder,
}

impl TieBreak {
    pub(crate) fn rotation(self) -> PortRotation {
        match self {
            TieBreak::RotatePorts => PortRotation(0x9e37_79b9_7f4a_7c15),
            TieBreak::DeviceOrder => PortRotation::NONE,
        }
    }
}

/// How the order of ports changes with time. A time is multiplied by this number, and the highest
/// bits of the product are added to the port by exclusive or.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortRotation(u64);

impl PortRotation {
    /// Ports go in the order of their numbers at any time.
    pub(crate) const NONE: PortRotation = PortRotation(0);

    /// The bits that are added to a port number at `time`.
    #[inline(always)]
    fn bits_at(self, time: Time) -> u64 {
        time.ps().wrapping_mul(self.0) >> 54
    }
}

/// An entry without its time, for a packet whose window is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Tail(u64);

impl Tail {
    #[inline]
    pub(crate) fn new(
        rotation: PortRotation,
        time: Time,
        rank: Rank,
        port: u16,
        same_instant: u8,
        handle: u32,
    ) -> Tail {
        Tail(
            (rank as u64) << RANK_SHIFT
                | (u64::from(port) ^ rotation.bits_at(time)) << PORT_SHIFT
                | u64::from(same_instant) << HANDLE_BITS
                | u64::from(handle),
        )
    }
}

/// The entry of an arrival. Entries of a window are ordered as the arrivals are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Entry(u64);

impl Entry {
    /// No arrival. It is later than any arrival.
    pub const NONE: Entry = Entry(u64::MAX);

    /// Makes the entry of an arrival `offset_ps` picoseconds after its window began.
    #[inline]
    pub(crate) fn new(offset_ps: u64, tail: Tail) -> Entry {
        let Entry(first) = Entry::first_at(offset_ps);
        Entry(first | tail.0)
    }

    /// Returns an entry that is not after any arrival `offset_ps` picoseconds after the window
    /// began, and after those before.
    #[inline]
    pub(crate) fn first_at(offset_ps: u64) -> Entry {
        debug_assert!(offset_ps < 1 << 20, "windows are at most a microsecond");
        Entry(offset_ps << TIME_SHIFT)
    }

    /// Returns when the packet arrives, in picoseconds since its window began.
    #[inline(always)]
    pub const fn offset_ps(self) -> u64 {
        self.0 >> TIME_SHIFT
    }

    /// Returns when the packet arrives, if its window began at `begin`.
    #[inline]
    pub(crate) fn time(self, begin: Time) -> Time {
        Time::from_ps(begin.ps() + self.offset_ps())
    }

    /// Returns whether the packet arrives later than that of `other`, in one window.
    #[inline]
    pub(crate) fn is_later(self, other: Entry) -> bool {
        self.offset_ps() > other.offset_ps()
    }

    /// Returns the port at which the packet arrives at `time`.
    #[inline]
    pub(crate) fn port(self, rotation: PortRotation, time: Time) -> u16 {
        ((self.0 >> PORT_SHIFT & (MAX_PORTS as u64 - 1)) ^ rotation.bits_at(time)) as u16
    }

    /// Returns the handle of the packet.
    #[inline]
    pub(crate) fn handle(self) -> u32 {
        (self.0 & ((1 << HANDLE_BITS) - 1)) as u32
    }

    /// Returns the number whose order is that of entries.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    #[cfg(test)]
    pub(crate) fn from_bits(bits: u64) -> Entry {
        Entry(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_and_sort_by_time_then_rank() {
        let (rotation, from) = (TieBreak::RotatePorts.rotation(), Time::from_us(7));
        for (since, rank, port_number, raw) in [
            (0, Rank::First, 0, 0),
            (999_999, Rank::Third, 1023, (1 << 30) - 1),
            (83_840, Rank::Second, 5, 77),
        ] {
            let at = from + Time::from_ps(since);
            let entry = Entry::new(since, Tail::new(rotation, at, rank, port_number, 3, raw));
            assert_eq!(entry.time(from), at);
            assert_eq!(entry.port(rotation, at), port_number);
            assert_eq!(entry.handle(), raw);
            assert!(Entry::first_at(since) <= entry && entry < Entry::first_at(since + 1));
            assert!(entry < Entry::NONE && Entry::NONE.is_later(entry));
        }
        let at = |since, rank, port| {
            let rotation = TieBreak::DeviceOrder.rotation();
            Entry::new(since, Tail::new(rotation, Time::from_ps(since), rank, port, 0, 9))
        };
        assert!(at(1, Rank::Third, 0) < at(2, Rank::First, 0), "time before rank");
        assert!(at(1, Rank::First, 900) < at(1, Rank::Second, 3), "rank before port");
        assert!(at(1, Rank::Second, 3) < at(1, Rank::Second, 4), "the lowest port first");
    }

    #[test]
    fn no_port_is_always_first_among_equal_arrivals() {
        let rotation = TieBreak::RotatePorts.rotation();
        let first = (0..10_000)
            .filter(|&t| {
                let time = Time::from_ps(t * 83_840);
                let tail = |port| Tail::new(rotation, time, Rank::Third, port, 0, 0);
                tail(3) < tail(4)
            })
            .count();
        assert!((4_500..5_500).contains(&first), "{first} of 10000");
    }
}
