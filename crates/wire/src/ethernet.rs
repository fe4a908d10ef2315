//! Ethernet (IEEE 802.3).

use crate::header::{DecodeError, head, head_mut};

/// Preamble and start-of-frame delimiter (8) and the least gap between packets (12).
pub const PREAMBLE_AND_GAP_BYTES: usize = 20;
/// Frame check sequence.
pub const FCS_BYTES: usize = 4;
/// The least frame, FCS included.
pub const MIN_FRAME_BYTES: usize = 64;

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of MAC control, PFC among it (IEEE 802.3 clause 31).
pub const MAC_CONTROL: u16 = 0x8808;

/// The header of an untagged frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetHeader {
    /// MAC address of the receiver.
    pub destination: [u8; 6],
    /// MAC address of the sender.
    pub source: [u8; 6],
    /// What the frame carries.
    pub ethertype: u16,
}

impl EthernetHeader {
    /// Its size.
    pub const BYTES: usize = 14;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        out[0..6].copy_from_slice(&self.destination);
        out[6..12].copy_from_slice(&self.source);
        out[12..14].copy_from_slice(&self.ethertype.to_be_bytes());
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<EthernetHeader, DecodeError> {
        let &[d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1] =
            head::<{ Self::BYTES }>(bytes)?;
        Ok(EthernetHeader {
            destination: [d0, d1, d2, d3, d4, d5],
            source: [s0, s1, s2, s3, s4, s5],
            ethertype: u16::from_be_bytes([t0, t1]),
        })
    }
}
