use crate::arrival_key;
use units::Time;

/// What goes first when packets arrive at a device at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Pause and resume.
    FlowControl,
    /// Acknowledgements, notifications.
    Control,
    /// The rest.
    Data,
}

/// The sending end of a directed link: where its packets arrive.
#[derive(Clone, Debug)]
pub struct Link {
    pub(crate) device: u32,
    pub(crate) port: u16,
    /// By class, as those of one may overtake those of another: when the last one arrives, and its number at
    /// that instant.
    numbers: [u8; 3],
    lasts: [Time; 3],
}

impl Link {
    /// A link to `port` of the device with index `device`.
    pub fn new(device: u32, port: u16) -> Link {
        assert!((port as usize) < arrival_key::MAX_PORTS, "a device has at most 1024 ports");
        Link { device, port, numbers: [0; 3], lasts: [Time::ZERO; 3] }
    }

    /// When a packet arrives that should at `arrival`, and its number among those of that instant: so they
    /// stay in order where frames take no time at all, as a compatibility profile truncates. An instant has
    /// room for four; the next ones come a picosecond later.
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

    /// Protects pauses from what waits at the other end: classes overtake each other where some of them take
    /// longer there.
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
