//! The sending end of a link, and the ranks of packets on it.

use crate::arrival_key;
use units::Time;

/// The rank of a packet. Of packets that arrive at a device at the same instant, the one of lower
/// rank is handled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rank {
    /// Handled before the others.
    First,
    /// Handled after packets of the first rank, and before those of the third.
    Second,
    /// Handled after the others.
    Third,
}

/// The sending end of a directed link. It knows where the link's packets arrive.
#[derive(Clone, Debug)]
pub struct Link {
    pub(crate) device: u32,
    pub(crate) port: u16,
    /// For each rank, the number of its last packet among those that arrive at one instant. Each
    /// rank has its own, because packets of one rank may overtake those of another.
    numbers: [u8; 3],
    /// For each rank, when the last packet arrives.
    lasts: [Time; 3],
}

impl Link {
    /// Makes a link to a port of the device with index `device`.
    pub fn new(device: u32, port: u16) -> Link {
        assert!((port as usize) < arrival_key::MAX_PORTS, "a device has at most 1024 ports");
        Link { device, port, numbers: [0; 3], lasts: [Time::ZERO; 3] }
    }

    /// Returns when a packet that is due at `arrival` arrives, and its number among those of that
    /// instant.
    ///
    /// The number keeps packets in order that take no time on the link, if devices round times
    /// down. The first of them has the number `first`. An instant has room for packets up to
    /// number three. The next ones arrive a picosecond later.
    #[inline]
    pub(crate) fn position(&mut self, arrival: Time, rank: Rank, first: u8) -> (Time, u8) {
        let which = rank as usize;
        let (last, number) = (&mut self.lasts[which], &mut self.numbers[which]);
        if arrival > *last {
            (*last, *number) = (arrival, first);
        } else if *number < arrival_key::MAX_SAME_INSTANT - 1 {
            *number += 1;
        } else {
            (*last, *number) = (*last + Time::from_ps(1), 0);
        }
        (*last, *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of different ranks may overtake each other: none waits behind packets that take
    /// longer.
    #[test]
    fn only_packets_of_a_rank_keep_their_order() {
        let mut link = Link::new(0, 0);
        let us = Time::from_us;
        assert_eq!(link.position(us(20), Rank::Second, 0), (us(20), 0));
        for rank in [Rank::First, Rank::Third] {
            assert_eq!(link.position(us(10), rank, 0), (us(10), 0));
        }
        assert_eq!(link.position(us(20), Rank::Second, 0), (us(20), 1));
        assert_eq!(link.position(us(15), Rank::Second, 0), (us(20), 2));
        assert_eq!(link.position(us(15), Rank::Second, 0), (us(20), 3));
        let later = us(20) + Time::from_ps(1);
        assert_eq!(
            link.position(us(15), Rank::Second, 0),
            (later, 0),
            "an instant has room for four"
        );
    }

    /// A packet that takes no time comes after one that takes time, whose number is not noted.
    #[test]
    fn the_first_packet_of_an_instant_may_have_number_one() {
        let (mut link, now) = (Link::new(0, 0), Time::from_us(20));
        for number in 1..4 {
            assert_eq!(link.position(now, Rank::First, 1), (now, number));
        }
        assert_eq!(link.position(now, Rank::First, 1), (now + Time::from_ps(1), 0));
    }
}
