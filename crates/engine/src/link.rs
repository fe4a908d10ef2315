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
    same_instant: u8,
    last: Time,
}

impl Link {
    /// A link to `port` of the device with index `device`.
    pub fn new(device: u32, port: u16) -> Link {
        assert!((port as usize) < crate::key::MAX_PORTS, "a device has at most 1024 ports");
        Link { device, port, same_instant: 0, last: Time::NEVER }
    }

    /// The device at its end.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Numbers packets that arrive at the same instant (a frame may take no time at all where a
    /// compatibility profile truncates), so that they stay in order.
    #[inline]
    pub(crate) fn position(&mut self, arrival: Time) -> u8 {
        if arrival == self.last {
            self.same_instant += 1;
            debug_assert!(self.same_instant < 4, "four packets of a link at one instant");
        } else {
            self.same_instant = 0;
            self.last = arrival;
        }
        self.same_instant
    }
}
