//! The InfiniBand transport headers that RoCEv2 carries in UDP (InfiniBand volume 1, chapter 9;
//! annex A17).

use crate::header::{DecodeError, head, head_mut, u24};

/// Invariant CRC, the last four bytes of the UDP payload.
pub const ICRC_BYTES: usize = 4;

/// What a packet is: opcodes of the reliable connection, and the CNP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum Opcode {
    SendFirst = 0x00,
    SendMiddle = 0x01,
    SendLast = 0x02,
    SendOnly = 0x04,
    WriteFirst = 0x06,
    WriteMiddle = 0x07,
    WriteLast = 0x08,
    WriteOnly = 0x0a,
    ReadRequest = 0x0c,
    ReadResponseFirst = 0x0d,
    ReadResponseMiddle = 0x0e,
    ReadResponseLast = 0x0f,
    ReadResponseOnly = 0x10,
    Acknowledge = 0x11,
    CongestionNotification = 0x81,
}

impl Opcode {
    /// All of them.
    pub const ALL: [Opcode; 15] = [
        Opcode::SendFirst,
        Opcode::SendMiddle,
        Opcode::SendLast,
        Opcode::SendOnly,
        Opcode::WriteFirst,
        Opcode::WriteMiddle,
        Opcode::WriteLast,
        Opcode::WriteOnly,
        Opcode::ReadRequest,
        Opcode::ReadResponseFirst,
        Opcode::ReadResponseMiddle,
        Opcode::ReadResponseLast,
        Opcode::ReadResponseOnly,
        Opcode::Acknowledge,
        Opcode::CongestionNotification,
    ];
}

/// Base transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// What the packet is.
    pub opcode: Opcode,
    /// SE: the receiver's application is to be woken.
    pub solicited: bool,
    /// M: the migration state.
    pub migrated: bool,
    /// Bytes that fill the payload up to a multiple of four, 2 bits; more are cut off.
    pub pad: u8,
    /// P_Key.
    pub partition: u16,
    /// FECN.
    pub forward_congestion: bool,
    /// BECN, set in a CNP.
    pub backward_congestion: bool,
    /// The receiving QP, 24 bits; more are cut off.
    pub queue_pair: u32,
    /// A: the sender wants an ACK.
    pub ack_requested: bool,
    /// Packet sequence number, 24 bits; more are cut off.
    pub sequence: u32,
}

impl Bth {
    /// Its size.
    pub const BYTES: usize = 12;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        let bit = |set: bool, position: u32| u8::from(set) << position;
        let [_, q0, q1, q2] = self.queue_pair.to_be_bytes();
        let [_, s0, s1, s2] = self.sequence.to_be_bytes();
        let [p0, p1] = self.partition.to_be_bytes();
        *out = [
            self.opcode as u8,
            // The low four bits are the header version, 0.
            bit(self.solicited, 7) | bit(self.migrated, 6) | (self.pad & 0b11) << 4,
            p0,
            p1,
            bit(self.forward_congestion, 7) | bit(self.backward_congestion, 6),
            q0,
            q1,
            q2,
            bit(self.ack_requested, 7),
            s0,
            s1,
            s2,
        ];
        Ok(())
    }

    /// Reads it from the front of `bytes`. Reserved bits are not looked at.
    pub fn parse(bytes: &[u8]) -> Result<Bth, DecodeError> {
        let &[opcode, flags, p0, p1, congestion, q0, q1, q2, ack, s0, s1, s2] =
            head::<{ Self::BYTES }>(bytes)?;
        let opcode = Opcode::ALL
            .into_iter()
            .find(|known| *known as u8 == opcode)
            .ok_or(DecodeError::Field("opcode"))?;
        if flags & 0b1111 != 0 {
            return Err(DecodeError::Field("transport header version"));
        }
        Ok(Bth {
            opcode,
            solicited: flags & 0x80 != 0,
            migrated: flags & 0x40 != 0,
            pad: flags >> 4 & 0b11,
            partition: u16::from_be_bytes([p0, p1]),
            forward_congestion: congestion & 0x80 != 0,
            backward_congestion: congestion & 0x40 != 0,
            queue_pair: u24(q0, q1, q2),
            ack_requested: ack & 0x80 != 0,
            sequence: u24(s0, s1, s2),
        })
    }
}

/// RDMA extended transport header: where a WRITE or READ goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address at the receiver.
    pub address: u64,
    /// R_Key.
    pub key: u32,
    /// Bytes of the message.
    pub length: u32,
}

impl Reth {
    /// Its size.
    pub const BYTES: usize = 16;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        out[0..8].copy_from_slice(&self.address.to_be_bytes());
        out[8..12].copy_from_slice(&self.key.to_be_bytes());
        out[12..16].copy_from_slice(&self.length.to_be_bytes());
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Reth, DecodeError> {
        let &[a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, l0, l1, l2, l3] =
            head::<{ Self::BYTES }>(bytes)?;
        Ok(Reth {
            address: u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            key: u32::from_be_bytes([k0, k1, k2, k3]),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        })
    }
}

/// What an ACK packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syndrome {
    /// All is well up to the sequence number; 5 bits of credit count.
    Ack(u8),
    /// The receiver is not ready; 5 bits of timer code.
    ReceiverNotReady(u8),
    /// A sequence number is missing: go back.
    SequenceError,
}

/// ACK extended transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// What is said.
    pub syndrome: Syndrome,
    /// Message sequence number, 24 bits; more are cut off.
    pub message: u32,
}

impl Aeth {
    /// Its size.
    pub const BYTES: usize = 4;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        let syndrome = match self.syndrome {
            Syndrome::Ack(credits) => credits & 0x1f,
            Syndrome::ReceiverNotReady(timer) => 0x20 | timer & 0x1f,
            Syndrome::SequenceError => 0x60,
        };
        let [_, m0, m1, m2] = self.message.to_be_bytes();
        *out = [syndrome, m0, m1, m2];
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Aeth, DecodeError> {
        let &[syndrome, m0, m1, m2] = head::<{ Self::BYTES }>(bytes)?;
        let syndrome = match syndrome {
            0x00..=0x1f => Syndrome::Ack(syndrome),
            0x20..=0x3f => Syndrome::ReceiverNotReady(syndrome & 0x1f),
            0x60 => Syndrome::SequenceError,
            _ => return Err(DecodeError::Field("syndrome")),
        };
        Ok(Aeth { syndrome, message: u24(m0, m1, m2) })
    }
}

/// A congestion notification packet, from the BTH on and without ICRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CnpPacket {
    /// P_Key.
    pub partition: u16,
    /// The QP whose sender is to slow down, 24 bits; more are cut off.
    pub queue_pair: u32,
    /// Bytes that the standard reserves, zero in a plain CNP. Some schemes put a window or a rate
    /// there.
    pub reserved: [u8; 16],
}

impl CnpPacket {
    /// Its size.
    pub const BYTES: usize = Bth::BYTES + 16;

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        let bth = Bth {
            opcode: Opcode::CongestionNotification,
            solicited: false,
            migrated: false,
            pad: 0,
            partition: self.partition,
            forward_congestion: false,
            backward_congestion: true,
            queue_pair: self.queue_pair,
            ack_requested: false,
            sequence: 0,
        };
        bth.emit(out)?;
        out[Bth::BYTES..].copy_from_slice(&self.reserved);
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<CnpPacket, DecodeError> {
        let packet = head::<{ Self::BYTES }>(bytes)?;
        let bth = Bth::parse(packet)?;
        if bth.opcode != Opcode::CongestionNotification {
            return Err(DecodeError::Field("opcode"));
        }
        if !bth.backward_congestion {
            return Err(DecodeError::Field("BECN"));
        }
        Ok(CnpPacket {
            partition: bth.partition,
            queue_pair: bth.queue_pair,
            reserved: *head(&packet[Bth::BYTES..])?,
        })
    }
}
