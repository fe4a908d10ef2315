//! Priority flow control (IEEE 802.1Qbb; frame in IEEE 802.3 annex 31D).

use crate::ethernet::{EthernetHeader, MAC_CONTROL};
use crate::header::{DecodeError, head, head_mut};

/// MAC address that all PFC frames go to: the peer of the link and no further.
pub const DESTINATION: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// MAC control opcode of PFC.
pub const OPCODE: u16 = 0x0101;

/// A PFC frame, padded to the least frame size, without FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcFrame {
    /// MAC address of the port that sends it.
    pub source: [u8; 6],
    /// For each priority: `None` leaves it as it is, zero quanta resume it, others pause it.
    pub quanta: [Option<u16>; 8],
}

/// Where the MAC control opcode, the class-enable vector and the pause times are.
const OPCODE_AT: usize = EthernetHeader::BYTES;
const ENABLE_AT: usize = OPCODE_AT + 2;
const TIMES_AT: usize = ENABLE_AT + 2;

impl PfcFrame {
    /// Its size.
    pub const BYTES: usize = 60;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        out.fill(0);
        let header = EthernetHeader {
            destination: DESTINATION,
            source: self.source,
            ethertype: MAC_CONTROL,
        };
        header.emit(out)?;
        out[OPCODE_AT..ENABLE_AT].copy_from_slice(&OPCODE.to_be_bytes());
        for (priority, quanta) in self.quanta.iter().enumerate() {
            let Some(quanta) = quanta else { continue };
            // The vector's high byte is reserved.
            out[ENABLE_AT + 1] |= 1 << priority;
            let at = TIMES_AT + 2 * priority;
            out[at..at + 2].copy_from_slice(&quanta.to_be_bytes());
        }
        Ok(())
    }

    /// Reads it from the front of `bytes`. Padding is not looked at.
    pub fn parse(bytes: &[u8]) -> Result<PfcFrame, DecodeError> {
        let frame = head::<{ Self::BYTES }>(bytes)?;
        let header = EthernetHeader::parse(frame)?;
        if header.destination != DESTINATION {
            return Err(DecodeError::Field("destination"));
        }
        if header.ethertype != MAC_CONTROL {
            return Err(DecodeError::Field("ethertype"));
        }
        let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        if word(OPCODE_AT) != OPCODE {
            return Err(DecodeError::Field("opcode"));
        }
        let enabled = word(ENABLE_AT);
        let quanta = std::array::from_fn(|priority| {
            (enabled >> priority & 1 == 1).then(|| word(TIMES_AT + 2 * priority))
        });
        Ok(PfcFrame { source: header.source, quanta })
    }
}
