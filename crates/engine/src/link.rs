use crate::key;
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
    /// Of flow control, which may overtake the others, and of those: when the last one arrives, and its
    /// number at that instant.
    numbers: [u8; 2],
    lasts: [Time; 2],
}

impl Link {
    /// A link to `port` of the device with index `device`.
    pub fn new(device: u32, port: u16) -> Link {
        assert!((port as usize) < key::MAX_PORTS, "a device has at most 1024 ports");
        Link { device, port, numbers: [0; 2], lasts: [Time::ZERO; 2] }
    }

    /// The device at its end.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// When a packet arrives that should at `arrival`, and its number among those of that instant: so they
    /// stay in order where frames take no time at all, as a compatibility profile truncates. An instant has
    /// room for four; the next ones come a picosecond later.
    #[inline]
    pub(crate) fn position(&mut self, arrival: Time, class: Class) -> (Time, u8) {
        let which = usize::from(class != Class::FlowControl);
        let (last, number) = (&mut self.lasts[which], &mut self.numbers[which]);
        if arrival > *last {
            (*last, *number) = (arrival, 0);
        } else if *number < key::SAME_INSTANT - 1 {
            *number += 1;
        } else {
            (*last, *number) = (*last + Time::from_ps(1), 0);
        }
        (*last, *number)
    }
}
