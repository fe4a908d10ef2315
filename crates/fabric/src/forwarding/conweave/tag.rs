//! What packets carry between top-of-rack switches.

use units::Time;

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Data that asks for nothing.
    Data = 0,
    /// Data that asks for a reply: the first of an epoch.
    Request = 1,
    /// Data that asks for a clear: the last on the old path.
    Tail = 2,
    /// Answers a request.
    Reply = 3,
    /// Answers a tail: nothing is left on the old path.
    Clear = 4,
    /// A packet was marked on its path.
    Notify = 5,
}

const KINDS: [Kind; 6] =
    [Kind::Data, Kind::Request, Kind::Tail, Kind::Reply, Kind::Clear, Kind::Notify];

/// A time of a switch in whole microseconds, as 16 bits hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u16);

impl Stamp {
    pub(crate) const ZERO: Stamp = Stamp(0);

    pub(crate) fn new(now: Time) -> Stamp {
        Stamp((now.ns() / 1000) as u16)
    }

    /// The time from `earlier` to this one; zero if that is later.
    pub(crate) fn since(self, Stamp(earlier): Stamp) -> Time {
        let passed = self.0.wrapping_sub(earlier) as i16;
        Time::from_us(u64::from(passed.max(0).unsigned_abs()))
    }
}

/// What a packet carries: a path of 8 bits, 7 bits of flags and numbers, and two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) kind: Kind,
    /// The lowest two bits of the flow's epoch.
    pub(crate) epoch: u8,
    /// It may have overtaken packets on the old path.
    pub(crate) is_rerouted: bool,
    /// Which path it takes.
    pub(crate) path: u8,
    /// Which of the paths from here on that is. Not on the wire: a switch that forwards by paths
    /// knows it from the path and its place.
    pub(crate) rest: u8,
    /// When it left the source switch.
    pub(crate) sent: Stamp,
    /// When the tail left it; of rerouted packets and the tail.
    pub(crate) tail_sent: Stamp,
}

/// A packet without a tag has this one.
pub(crate) const NO_TAG: u64 = 0;

impl Tag {
    pub(crate) fn to_bits(self) -> u64 {
        1 | (self.kind as u64) << 1
            | u64::from(self.epoch & 3) << 4
            | u64::from(self.is_rerouted) << 6
            | u64::from(self.path) << 8
            | u64::from(self.rest) << 16
            | u64::from(self.sent.0) << 32
            | u64::from(self.tail_sent.0) << 48
    }

    pub(crate) fn from_bits(bits: u64) -> Option<Tag> {
        (bits != NO_TAG).then(|| Tag {
            kind: KINDS[(bits >> 1 & 7) as usize],
            epoch: (bits >> 4 & 3) as u8,
            is_rerouted: bits >> 6 & 1 == 1,
            path: (bits >> 8) as u8,
            rest: (bits >> 16) as u8,
            sent: Stamp((bits >> 32) as u16),
            tail_sent: Stamp((bits >> 48) as u16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tags_hold_what_is_written(
            kind in 0..6_usize,
            epoch in 0..4_u8,
            is_rerouted in any::<bool>(),
            (path, rest) in any::<(u8, u8)>(),
            (sent, tail_sent) in any::<(u16, u16)>(),
        ) {
            let (sent, tail_sent) = (Stamp(sent), Stamp(tail_sent));
            let tag =
                Tag { kind: KINDS[kind], epoch, is_rerouted, path, rest, sent, tail_sent };
            prop_assert_eq!(Tag::from_bits(tag.to_bits()), Some(tag));
        }

        /// Also when the 16 bits begin again, as they do each 65.5 ms.
        #[test]
        fn stamps_tell_times_up_to_half_of_their_range(
            start in 0..1_000_000_u64,
            passed in 0..32_000_u64,
        ) {
            let at = |us: u64| Stamp::new(Time::from_us(us));
            prop_assert_eq!(at(start + passed).since(at(start)), Time::from_us(passed));
            if passed > 0 {
                prop_assert_eq!(at(start).since(at(start + passed)), Time::ZERO);
            }
        }
    }

    #[test]
    fn a_tag_of_no_packet_is_none() {
        assert_eq!(Tag::from_bits(NO_TAG), None);
    }
}
