//! IPv4 and UDP, as RoCEv2 uses them (RFC 791, RFC 768, RFC 3168; InfiniBand annex A17).

use crate::header::{DecodeError, head, head_mut};

/// Protocol number of UDP.
pub const UDP: u8 = 17;
/// UDP destination port of RoCEv2.
pub const ROCEV2_PORT: u16 = 4791;

/// The ECN field of an IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The sender cannot do ECN.
    NotCapable = 0b00,
    /// Capable, ECT(1).
    Capable1 = 0b01,
    /// Capable, ECT(0).
    #[default]
    Capable0 = 0b10,
    /// Congestion experienced (CE).
    CongestionExperienced = 0b11,
}

impl Ecn {
    fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Capable1,
            0b10 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        }
    }
}

/// An IPv4 header without options, of a datagram that is not to be fragmented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Differentiated services code point, 6 bits; more are cut off.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes of the datagram, this header included.
    pub total_length: u16,
    /// Identification.
    pub identification: u16,
    /// Hops left.
    pub ttl: u8,
    /// What the datagram carries.
    pub protocol: u8,
    /// Address of the sender.
    pub source: [u8; 4],
    /// Address of the receiver.
    pub destination: [u8; 4],
}

/// Flags and fragment offset: don't fragment, offset 0.
const DONT_FRAGMENT: u16 = 0x4000;

impl Ipv4Header {
    /// Its size.
    pub const BYTES: usize = 20;

    /// Writes it, with its checksum, to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        // Version 4, five words of header.
        out[0] = 0x45;
        out[1] = self.dscp << 2 | self.ecn as u8;
        out[2..4].copy_from_slice(&self.total_length.to_be_bytes());
        out[4..6].copy_from_slice(&self.identification.to_be_bytes());
        out[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
        out[8] = self.ttl;
        out[9] = self.protocol;
        out[10..12].fill(0);
        out[12..16].copy_from_slice(&self.source);
        out[16..20].copy_from_slice(&self.destination);
        let checksum = !ones_complement_sum(out);
        out[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Ipv4Header, DecodeError> {
        let header = head::<{ Self::BYTES }>(bytes)?;
        let &[
            version,
            service,
            l0,
            l1,
            i0,
            i1,
            f0,
            f1,
            ttl,
            protocol,
            _,
            _,
            s @ ..,
            d0,
            d1,
            d2,
            d3,
        ] = header;
        if version != 0x45 {
            return Err(DecodeError::Field("version and header length"));
        }
        if ones_complement_sum(header) != 0xffff {
            return Err(DecodeError::Checksum);
        }
        if u16::from_be_bytes([f0, f1]) != DONT_FRAGMENT {
            return Err(DecodeError::Field("fragment"));
        }
        Ok(Ipv4Header {
            dscp: service >> 2,
            ecn: Ecn::from_bits(service),
            total_length: u16::from_be_bytes([l0, l1]),
            identification: u16::from_be_bytes([i0, i1]),
            ttl,
            protocol,
            source: s,
            destination: [d0, d1, d2, d3],
        })
    }
}

/// The sum of the 16-bit words, carries added back in (RFC 1071).
fn ones_complement_sum(header: &[u8; Ipv4Header::BYTES]) -> u16 {
    let (words, _) = header.as_chunks::<2>();
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    // Ten words leave a carry of at most 9, and adding it may carry once more.
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// A UDP header without checksum, as RoCEv2 has it: the ICRC protects more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Differs between QPs, so that ECMP spreads them: 0xC000 and up.
    pub source_port: u16,
    /// [`ROCEV2_PORT`].
    pub destination_port: u16,
    /// Bytes of the datagram, this header included.
    pub length: u16,
}

impl UdpHeader {
    /// Its size.
    pub const BYTES: usize = 8;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        out[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..6].copy_from_slice(&self.length.to_be_bytes());
        out[6..8].fill(0);
        Ok(())
    }

    /// Reads it from the front of `bytes`; a checksum is not looked at.
    pub fn parse(bytes: &[u8]) -> Result<UdpHeader, DecodeError> {
        let &[s0, s1, d0, d1, l0, l1, _, _] = head::<{ Self::BYTES }>(bytes)?;
        Ok(UdpHeader {
            source_port: u16::from_be_bytes([s0, s1]),
            destination_port: u16::from_be_bytes([d0, d1]),
            length: u16::from_be_bytes([l0, l1]),
        })
    }
}
