//! The sending end of a link, and the classes of packets on it.

use crate::arrival_key;
use units::Time;

/// The class of a packet. Of packets that arrive at a device at the same instant, the lower class
/// is handled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Pause and resume frames.
    FlowControl,
    /// Acknowledgements and notifications.
    Control,
    /// Everything else.
    Data,
}

/// The sending end of a directed link. It knows where the link's packets arrive.
#[derive(Clone, Debug)]
pub struct Link {
    pub(crate) device: u32,
    pub(crate) port: u16,
    /// For each class, the number of its last packet among those that arrive at one instant. Each
    /// class has its own, because packets of one class may overtake those of another.
    numbers: [u8; 3],
    /// For each class, when the last packet arrives.
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
    /// down. An instant has room for four packets. The next ones arrive a picosecond later.
    #[inline]
    pub(crate) fn position(&mut self, arrival: Time, class: Class) -> (Time, u8) {
        let which = class as usize;
        let (last, number) = (&mut self.lasts[which], &mut self.numbers[which]);
        if arrival > *last {
            (*last, *number) = (arrival, 0);
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

    /// Classes may overtake each other, so that no pause frame waits behind packets that take
    /// longer.
    #[test]
    fn only_packets_of_a_class_keep_their_order() {
        let mut link = Link::new(0, 0);
        let us = Time::from_us;
        assert_eq!(link.position(us(20), Class::Control), (us(20), 0));
        for class in [Class::FlowControl, Class::Data] {
            assert_eq!(link.position(us(10), class), (us(10), 0));
        }
        assert_eq!(link.position(us(20), Class::Control), (us(20), 1));
        assert_eq!(link.position(us(15), Class::Control), (us(20), 2));
        assert_eq!(link.position(us(15), Class::Control), (us(20), 3));
        let later = us(20) + Time::from_ps(1);
        assert_eq!(
            link.position(us(15), Class::Control),
            (later, 0),
            "an instant has room for four"
        );
    }
}
