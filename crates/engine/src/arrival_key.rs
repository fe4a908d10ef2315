//! The entry of a mailbox: 64 bits whose numerical order is the order in which a device handles its
//! arrivals.
//!
//! ```text
//! | time in the window: 20 | class: 2 | port, rotated by time: 10 | same instant: 2 | handle: 30 |
//! ```
//!
//! The time is in picoseconds since the window began. The handle never decides: no two packets of
//! one port and class have equal "same instant" numbers at the same time.

use crate::arena::HANDLE_BITS;
use units::Time;

/// The maximum number of ports of a device.
pub(crate) const MAX_PORTS: usize = 1 << 10;
const SAME_BITS: u32 = 2;
/// The maximum number of packets of a link and class that arrive at the same instant.
pub(crate) const MAX_SAME_INSTANT: u8 = 1 << SAME_BITS;
const PORT_SHIFT: u32 = HANDLE_BITS + SAME_BITS;
const CLASS_SHIFT: u32 = PORT_SHIFT + 10;
const TIME_SHIFT: u32 = CLASS_SHIFT + 2;

/// Which port goes first among arrivals of one class at the same instant.
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
        PortRotation(match self {
            TieBreak::RotatePorts => 0x9e37_79b9_7f4a_7c15,
            TieBreak::DeviceOrder => 0,
        })
    }
}

/// How the order of ports changes with time. A time is multiplied by this number, and the highest
/// bits of the product are added to the port by exclusive or.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortRotation(u64);

impl PortRotation {
    /// The bits that are added to a port number at `time`.
    #[inline(always)]
    fn bits_at(self, time: Time) -> u64 {
        time.ps().wrapping_mul(self.0) >> 54
    }
}

/// Makes an entry without its time, for a packet whose window is not known yet.
#[inline]
pub(crate) fn tail(
    rotation: PortRotation,
    time: Time,
    class: u8,
    port: u16,
    same_instant: u8,
    handle: u32,
) -> u64 {
    u64::from(class) << CLASS_SHIFT
        | (u64::from(port) ^ rotation.bits_at(time)) << PORT_SHIFT
        | u64::from(same_instant) << HANDLE_BITS
        | u64::from(handle)
}

/// Makes the entry of an arrival `offset_ps` picoseconds after its window began.
#[inline]
pub(crate) fn entry(offset_ps: u64, tail: u64) -> u64 {
    debug_assert!(offset_ps < 1 << 20, "windows are at most a microsecond");
    offset_ps << TIME_SHIFT | tail
}

/// Returns when the packet of an entry arrives, in picoseconds since its window began.
#[inline(always)]
pub const fn offset_ps(entry: u64) -> u64 {
    entry >> TIME_SHIFT
}

/// Returns when the packet of an entry arrives, if its window began at `from`.
#[inline]
pub(crate) fn time(entry: u64, from: Time) -> Time {
    Time::from_ps(from.ps() + (entry >> TIME_SHIFT))
}

/// Whether the packet of `entry` arrives later than that of `other`, in one window.
#[inline]
pub(crate) fn is_later(entry: u64, other: u64) -> bool {
    entry >> TIME_SHIFT > other >> TIME_SHIFT
}

/// Returns the port at which the packet of an entry arrives at `time`.
#[inline]
pub(crate) fn port(rotation: PortRotation, entry: u64, time: Time) -> u16 {
    ((entry >> PORT_SHIFT & (MAX_PORTS as u64 - 1)) ^ rotation.bits_at(time)) as u16
}

/// Returns the handle of the packet of an entry.
#[inline]
pub(crate) fn handle(entry: u64) -> u32 {
    (entry & ((1 << HANDLE_BITS) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_and_sort_by_time_then_class() {
        let (rotation, from) = (TieBreak::RotatePorts.rotation(), Time::from_us(7));
        for (since, class, port_number, raw) in
            [(0, 0, 0, 0), (999_999, 2, 1023, (1 << 30) - 1), (83_840, 1, 5, 77)]
        {
            let at = from + Time::from_ps(since);
            let entry = entry(since, tail(rotation, at, class, port_number, 3, raw));
            assert_eq!(time(entry, from), at);
            assert_eq!(port(rotation, entry, at), port_number);
            assert_eq!(handle(entry), raw);
        }
        let at = |since, class, port| {
            entry(
                since,
                tail(TieBreak::DeviceOrder.rotation(), Time::from_ps(since), class, port, 0, 9),
            )
        };
        assert!(at(1, 2, 0) < at(2, 0, 0), "time before class");
        assert!(at(1, 0, 900) < at(1, 1, 3), "class before port");
        assert!(at(1, 1, 3) < at(1, 1, 4), "the lowest port first");
    }

    #[test]
    fn no_port_is_always_first_among_equal_arrivals() {
        let rotation = TieBreak::RotatePorts.rotation();
        let first = (0..10_000)
            .filter(|&t| {
                let time = Time::from_ps(t * 83_840);
                tail(rotation, time, 2, 3, 0, 0) < tail(rotation, time, 2, 4, 0, 0)
            })
            .count();
        assert!((4_500..5_500).contains(&first), "{first} of 10000");
    }
}
