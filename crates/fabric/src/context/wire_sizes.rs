//! Sizes of packets on the wire, in bytes.

use crate::network::setup::Setup;
use schemes::contract::WireFacts;
use units::{Bytes, MixSide};

/// Sizes of a run's packets on the wire.
pub(crate) struct WireSizes {
    pub(crate) profile: wire::Profile,
    /// Payload of a full data packet.
    pub(crate) payload: u32,
    /// A full data packet, not the first of its message.
    pub(crate) full_packet: u32,
    /// The longest packet: of data, where the first of a message has one more header, an ACK, or a
    /// control packet of the scheme.
    pub(crate) max_packet: Bytes,
    /// An ACK; the larger one of a mix.
    pub(crate) ack_size: u16,
    pub(crate) pfc_size: u16,
    /// What the scheme is shown.
    pub(crate) facts: WireFacts,
    /// What each scheme of the run and load balancing add to a data packet.
    data_meta: [u32; 2],
    /// An ACK of each scheme of the run.
    ack_sizes: [u16; 2],
}

impl WireSizes {
    /// `meta`: what each scheme of the run adds to data packets and ACKs; twice the same unless the
    /// run has two. `max_control_frame`: the longest frame of the scheme's control packets.
    pub(crate) fn new(setup: &Setup, meta: [(u32, u32); 2], max_control_frame: u32) -> WireSizes {
        let (profile, payload) = (setup.wire, setup.payload);
        let meta = meta.map(|(data, ack)| (data + setup.balance.data_bytes(), ack));
        let data_meta = meta[0].0.max(meta[1].0);
        let ack_meta = meta[0].1.max(meta[1].1);
        let full_packet = profile.data_bytes(payload, false, data_meta);
        let ack_size = profile.ack_bytes(ack_meta);
        let max_data = profile.data_bytes(payload, true, data_meta);
        let max_packet = max_data.max(ack_size).max(profile.control_bytes(max_control_frame));
        WireSizes {
            profile,
            payload,
            full_packet,
            max_packet: Bytes::new(u64::from(max_packet)),
            ack_size: ack_size as u16,
            pfc_size: profile.pfc_bytes() as u16,
            facts: WireFacts {
                profile,
                packet_bytes: Bytes::new(u64::from(full_packet)),
                ack_bytes: Bytes::new(u64::from(ack_size)),
                min_control_bytes: Bytes::new(u64::from(profile.control_bytes(0))),
            },
            data_meta: meta.map(|(data, _)| data),
            ack_sizes: meta.map(|(_, ack)| profile.ack_bytes(ack) as u16),
        }
    }

    /// The size of a data packet of a QP with this scheme.
    #[inline]
    pub(crate) fn data_size(&self, payload: u32, first_of_message: bool, side: MixSide) -> u16 {
        let meta = self.data_meta[side.index()];
        self.profile.data_bytes(payload, first_of_message, meta) as u16
    }

    /// A full data packet of a QP with this scheme, not the first of its message.
    pub(crate) fn full_packet_of(&self, side: MixSide) -> Bytes {
        Bytes::new(u64::from(self.data_size(self.payload, false, side)))
    }

    /// The size of an ACK of a QP with this scheme.
    #[inline]
    pub(crate) fn ack_size_of(&self, side: MixSide) -> u16 {
        self.ack_sizes[side.index()]
    }

    /// Returns the size on the wire of a control packet whose Ethernet frame is `frame` bytes, FCS
    /// included.
    ///
    /// # Panics
    /// If the scheme says that its frames are shorter.
    pub(crate) fn control_size(&self, frame: u32) -> u16 {
        let (bytes, max) = (self.profile.control_bytes(frame), self.max_packet);
        assert!(u64::from(bytes) <= max.get(), "a control packet of {bytes} B; allowed: {max}");
        bytes as u16
    }

    /// The size of the smallest packet.
    pub(crate) fn min_packet(&self) -> u64 {
        let of_side = |side| self.data_size(1, false, side).min(self.ack_size_of(side));
        let [first, second] = MixSide::ALL.map(of_side);
        let min = first.min(second).min(self.pfc_size);
        self.facts.min_control_bytes.get().min(u64::from(min))
    }
}
