//! What a receiving end keeps ahead of the first packet that is missing.

use std::collections::VecDeque;

/// A packet that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptPacket {
    pub(crate) payload: u16,
    /// The message that it ends.
    pub(crate) ends: Option<u32>,
}

/// What becomes of a packet that is not the next in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept.
    Kept,
    /// It has arrived before.
    Duplicate,
    /// It is too far ahead, and is discarded.
    Beyond,
}

/// The packets that a QP's receiver keeps. Packets are known by their numbers in the stream.
#[derive(Debug, Default)]
pub(crate) struct ReorderBuffer {
    /// The number of the first packet that is missing.
    expected: u32,
    /// By distance from the packet after that one. The last is not `None`.
    kept: VecDeque<Option<KeptPacket>>,
    bytes: u64,
}

impl ReorderBuffer {
    /// Forgets everything, for another QP.
    pub(crate) fn reset(&mut self) {
        self.kept.clear();
        (self.expected, self.bytes) = (0, 0);
    }

    /// Payload bytes that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How far ahead of the first missing packet a packet is.
    pub(crate) fn distance(&self, number: u32) -> u32 {
        number.saturating_sub(self.expected)
    }

    /// Keeps a packet that is not the next in order, if it is new and at most `limit` packets after
    /// the first missing one.
    pub(crate) fn keep(&mut self, number: u32, packet: KeptPacket, limit: u32) -> Fate {
        let Some(ahead) = number.checked_sub(self.expected).filter(|&ahead| ahead > 0) else {
            return Fate::Duplicate;
        };
        if ahead > limit {
            return Fate::Beyond;
        }
        let place = ahead as usize - 1;
        if place >= self.kept.len() {
            self.kept.resize(place + 1, None);
        }
        if self.kept[place].is_some() {
            return Fate::Duplicate;
        }
        self.kept[place] = Some(packet);
        self.bytes += u64::from(packet.payload);
        Fate::Kept
    }

    /// The next packet in order has arrived. Calls `each` with the kept ones that are in order now.
    #[inline]
    pub(crate) fn advance(&mut self, mut each: impl FnMut(KeptPacket)) {
        self.expected += 1;
        while let Some(Some(packet)) = self.kept.pop_front() {
            self.expected += 1;
            self.bytes -= u64::from(packet.payload);
            each(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the order and the limit, packets come out in order, each once, and a packet
        /// that was beyond the limit can come again.
        #[test]
        fn packets_come_out_in_order(
            order in Just((0u32..60).collect::<Vec<u32>>()).prop_shuffle(),
            limit in 1u32..60,
        ) {
            let mut buffer = ReorderBuffer::default();
            let (mut out, mut left) = (Vec::new(), order);
            while !left.is_empty() {
                let mut again = Vec::new();
                for number in std::mem::take(&mut left) {
                    let packet = KeptPacket { payload: 1, ends: Some(number) };
                    if number == buffer.expected {
                        out.push(number);
                        buffer.advance(|packet| out.push(packet.ends.unwrap()));
                        continue;
                    }
                    let ahead = number.wrapping_sub(buffer.expected);
                    match buffer.keep(number, packet, limit) {
                        Fate::Kept => {
                            prop_assert_eq!(buffer.distance(number), ahead);
                            prop_assert_eq!(buffer.keep(number, packet, limit), Fate::Duplicate);
                        }
                        Fate::Beyond => {
                            prop_assert!(ahead > limit);
                            again.push(number);
                        }
                        Fate::Duplicate => prop_assert!(false, "it comes once"),
                    }
                }
                left = again;
            }
            prop_assert_eq!(out, (0..60).collect::<Vec<u32>>());
            prop_assert_eq!(buffer.bytes(), 0);
        }
    }
}
