//! Sizes of packets on the wire, in bytes.

use crate::network::setup::Setup;
use schemes::contract::WireFacts;
use units::Bytes;

/// The largest control packet of a scheme that is allowed.
pub(crate) const MAX_CONTROL: u32 = 2_048;

/// Sizes of a run's packets on the wire.
pub(crate) struct WireSizes {
    pub(crate) profile: wire::Profile,
    /// Payload of a full data packet.
    pub(crate) payload: u32,
    /// A full data packet, not the first of its message.
    pub(crate) full_packet: u32,
    /// The largest data packet or ACK. The first packet of a message has one more header.
    pub(crate) max_data_or_ack: u32,
    pub(crate) ack_size: u16,
    pub(crate) pfc_size: u16,
    /// What the scheme is shown.
    pub(crate) facts: WireFacts,
    /// What the scheme adds to each data packet.
    data_meta: u32,
}

impl WireSizes {
    /// `data_meta` and `ack_meta`: what the scheme adds to data packets and ACKs.
    pub(crate) fn new(setup: &Setup, (data_meta, ack_meta): (u32, u32)) -> WireSizes {
        let (profile, payload) = (setup.wire, setup.payload);
        let full_packet = profile.data_bytes(payload, false, data_meta);
        let ack_size = profile.ack_bytes(ack_meta);
        WireSizes {
            profile,
            payload,
            full_packet,
            max_data_or_ack: profile.data_bytes(payload, true, data_meta).max(ack_size),
            ack_size: ack_size as u16,
            pfc_size: profile.pfc_bytes() as u16,
            facts: WireFacts {
                packet_bytes: Bytes::new(u64::from(full_packet)),
                ack_bytes: Bytes::new(u64::from(ack_size)),
                min_control_bytes: Bytes::new(u64::from(profile.control_bytes(0))),
            },
            data_meta,
        }
    }

    /// The size of a data packet.
    #[inline]
    pub(crate) fn data_size(&self, payload: u32, first_of_message: bool) -> u16 {
        self.profile.data_bytes(payload, first_of_message, self.data_meta) as u16
    }

    /// The size of a control packet with this payload.
    ///
    /// # Panics
    /// If it exceeds [`MAX_CONTROL`].
    pub(crate) fn control_size(&self, payload: u32) -> u16 {
        let bytes = self.profile.control_bytes(payload);
        assert!(bytes <= MAX_CONTROL, "a control packet of {bytes} B; allowed: {MAX_CONTROL}");
        bytes as u16
    }

    /// The size of the smallest packet.
    pub(crate) fn min_packet(&self) -> u64 {
        let min = self.data_size(1, false).min(self.ack_size).min(self.pfc_size);
        self.facts.min_control_bytes.get().min(u64::from(min))
    }

    /// A size that no packet exceeds.
    #[inline]
    pub(crate) fn max_packet(&self) -> u64 {
        u64::from(self.max_data_or_ack.max(MAX_CONTROL))
    }
}
