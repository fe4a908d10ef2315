use crate::ethernet::{EthernetHeader, FCS_BYTES, MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES};
use crate::ip::{Ipv4Header, UdpHeader};
use crate::roce::{Aeth, Bth, ICRC_BYTES, Reth};

/// How packet sizes are counted. Sizes are bytes of link time: two profiles that count the same
/// packet differently keep a link busy for a different time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// RoCEv2 on Ethernet as it is: all headers, ICRC, FCS, the 64-byte minimum, preamble and gap
    /// (InfiniBand volume 1 with annex A17; IEEE 802.3).
    #[default]
    Rocev2,
    /// The packets of the HPCC simulator: 48 bytes around the payload, no FCS, preamble or gap;
    /// ACKs padded to 60 bytes (alibaba-edu/High-Precision-Congestion-Control).
    HpccNs3,
}

/// Ethernet, IPv4 and UDP, as in front of every RoCEv2 packet.
const ROUTED: u32 = (EthernetHeader::BYTES + Ipv4Header::BYTES + UdpHeader::BYTES) as u32;
/// What closes every RoCEv2 packet.
const CHECKS: u32 = (ICRC_BYTES + FCS_BYTES) as u32;
/// The frame of an ACK that carries nothing for the scheme.
const ACK_FRAME: u32 = ROUTED + (Bth::BYTES + Aeth::BYTES) as u32 + CHECKS;

/// The HPCC simulator's data header: 14 for a PPP-shaped link layer, IPv4 20, UDP 8, sequence
/// number and priority 6.
const NS3_DATA: u32 = 48;
/// Header bytes of the HPCC simulator's ACKs and NACKs: Ethernet 14, IPv4 20, and 12 for ports,
/// flags, priority and sequence number.
const NS3_ACK: u32 = 46;
/// Its least ACK size.
const NS3_LEAST_ACK: u32 = 60;
/// Its PFC frame: 14, IPv4 20, time, queue length and index 9.
const NS3_PFC: u32 = 43;

impl Profile {
    /// Bytes of link time that every packet takes beside its frame.
    pub const fn preamble_and_gap(self) -> u32 {
        match self {
            Profile::Rocev2 => PREAMBLE_AND_GAP_BYTES as u32,
            Profile::HpccNs3 => 0,
        }
    }

    /// A data packet of `payload` bytes that carries `meta` bytes for the scheme.
    /// `first_of_message`: the first or only packet of an RDMA WRITE, which has a RETH.
    pub const fn data_bytes(self, payload: u32, first_of_message: bool, meta: u32) -> u32 {
        match self {
            Profile::Rocev2 => {
                let reth = if first_of_message { Reth::BYTES as u32 } else { 0 };
                // The BTH's pad count fills the payload up to a multiple of four.
                let padded = payload.next_multiple_of(4);
                self.framed(ROUTED + Bth::BYTES as u32 + reth + meta + padded + CHECKS)
            }
            Profile::HpccNs3 => NS3_DATA + meta + payload,
        }
    }

    /// An ACK or NACK that carries `meta` bytes for the scheme.
    pub const fn ack_bytes(self, meta: u32) -> u32 {
        match self {
            Profile::Rocev2 => self.framed(ACK_FRAME + meta),
            Profile::HpccNs3 => larger(NS3_ACK + meta, NS3_LEAST_ACK),
        }
    }

    /// A scheme's control packet, such as a CNP, whose Ethernet frame is `frame` bytes, FCS
    /// included.
    pub const fn control_bytes(self, frame: u32) -> u32 {
        match self {
            Profile::Rocev2 => self.framed(frame),
            // The simulator sends none. Those of the THEMIS prototype, which is made from it, are
            // CNPs of 60 bytes: as its ACKs, with what the frame has more than an ACK's.
            Profile::HpccNs3 => self.ack_bytes(frame.saturating_sub(ACK_FRAME)),
        }
    }

    /// A PFC frame.
    pub const fn pfc_bytes(self) -> u32 {
        match self {
            Profile::Rocev2 => self.framed(0),
            Profile::HpccNs3 => NS3_PFC,
        }
    }

    /// The link time of an Ethernet frame, which has a least size.
    const fn framed(self, frame: u32) -> u32 {
        larger(frame, MIN_FRAME_BYTES as u32) + self.preamble_and_gap()
    }
}

/// `u32::max` in const functions.
const fn larger(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}
