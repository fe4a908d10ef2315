//! INT in HPCC's format (SIGCOMM 2019, as FNCC section 4.3 repeats it): hop count 4 bits and path
//! id 12 bits, then for each hop rate 4 bits, time 24, bytes sent 20 and queue length 16.
//!
//! Times and counters wrap around; [`IntHop::span_ns`] and [`IntHop::sent_between`] take their
//! differences. Units are those of the HPCC simulator: nanoseconds, 128 bytes and 80 bytes. The
//! paper does not say which rate has which code; [`RATES`] is ours.

use crate::header::{DecodeError, head, head_mut};
use units::{Rate, Time};

/// The rates that have a code, which is the index.
pub const RATES: [Rate; 12] = [
    Rate::from_gbps(1),
    Rate::from_gbps(10),
    Rate::from_gbps(20),
    Rate::from_gbps(25),
    Rate::from_gbps(40),
    Rate::from_gbps(50),
    Rate::from_gbps(100),
    Rate::from_gbps(200),
    Rate::from_gbps(400),
    Rate::from_gbps(800),
    Rate::from_gbps(1600),
    Rate::from_gbps(3200),
];
/// Bytes sent are counted in these.
pub const SENT_UNIT: u64 = 128;
/// Queue lengths are counted in these, in bytes.
pub const QUEUE_UNIT: u64 = 80;

const TIME_BITS: u32 = 24;
const SENT_BITS: u32 = 20;
const QUEUE_BITS: u32 = 16;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// What precedes the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntHeader {
    /// Records that are filled, 4 bits; more are cut off.
    pub hops: u8,
    /// The switches' numbers, exclusive-ored: another value means another path. 12 bits.
    pub path: u16,
}

impl IntHeader {
    /// Its size.
    pub const BYTES: usize = 2;

    /// The header after the switch with this number has added its record.
    pub const fn through(self, switch: u16) -> IntHeader {
        IntHeader { hops: self.hops.saturating_add(1), path: (self.path ^ switch) & 0xfff }
    }

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        *out = (u16::from(self.hops) << 12 | self.path & 0xfff).to_be_bytes();
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<IntHeader, DecodeError> {
        let word = u16::from_be_bytes(*head(bytes)?);
        Ok(IntHeader { hops: (word >> 12) as u8, path: word & 0xfff })
    }
}

/// The record of one hop, in the units of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntHop {
    /// Index into [`RATES`], 4 bits.
    rate: u8,
    /// Nanoseconds modulo 2^24.
    time: u32,
    /// Units of [`SENT_UNIT`] modulo 2^20.
    sent: u32,
    /// Units of [`QUEUE_UNIT`], at most 2^16 - 1.
    queue: u16,
}

impl IntHop {
    /// Its size.
    pub const BYTES: usize = 8;

    /// The record that says this as far as the format can: rounded down, wrapped around, and the
    /// queue no longer than it can say. `None` where the rate has no code.
    pub fn new(rate: Rate, time: Time, tx_bytes: u64, queue_bytes: u64) -> Option<IntHop> {
        let code = RATES.iter().position(|known| *known == rate)?;
        Some(IntHop {
            rate: code as u8,
            time: (time.ns() & mask(TIME_BITS)) as u32,
            sent: ((tx_bytes / SENT_UNIT) & mask(SENT_BITS)) as u32,
            queue: (queue_bytes / QUEUE_UNIT).min(mask(QUEUE_BITS)) as u16,
        })
    }

    /// The port's rate; `None` for a code that stands for none.
    pub fn rate(&self) -> Option<Rate> {
        RATES.get(usize::from(self.rate)).copied()
    }
    /// Bytes waiting at the port.
    pub fn queue_bytes(&self) -> u64 {
        u64::from(self.queue) * QUEUE_UNIT
    }
    /// When the record was made, modulo 16.8 ms.
    pub fn wrapped_time(&self) -> Time {
        Time::from_ns(u64::from(self.time))
    }
    /// Bytes that the port had sent, modulo 134 MB.
    pub fn wrapped_sent(&self) -> u64 {
        u64::from(self.sent) * SENT_UNIT
    }
    /// Nanoseconds from `earlier` to this record, if they are less than 16.8 ms apart.
    pub fn span_ns(&self, earlier: &IntHop) -> u64 {
        u64::from(self.time.wrapping_sub(earlier.time)) & mask(TIME_BITS)
    }
    /// Bytes that the port sent from `earlier` to this record, if they are less than 134 MB.
    pub fn sent_between(&self, earlier: &IntHop) -> u64 {
        (u64::from(self.sent.wrapping_sub(earlier.sent)) & mask(SENT_BITS)) * SENT_UNIT
    }

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        let word = u64::from(self.rate) << (TIME_BITS + SENT_BITS + QUEUE_BITS)
            | u64::from(self.time) << (SENT_BITS + QUEUE_BITS)
            | u64::from(self.sent) << QUEUE_BITS
            | u64::from(self.queue);
        *out = word.to_be_bytes();
        Ok(())
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<IntHop, DecodeError> {
        let word = u64::from_be_bytes(*head(bytes)?);
        Ok(IntHop {
            rate: (word >> (TIME_BITS + SENT_BITS + QUEUE_BITS)) as u8,
            time: (word >> (SENT_BITS + QUEUE_BITS) & mask(TIME_BITS)) as u32,
            sent: (word >> QUEUE_BITS & mask(SENT_BITS)) as u32,
            queue: word as u16,
        })
    }
}

/// What an FNCC ACK carries behind its AETH and before the records (FNCC sections 3.2.3 and 4.3):
/// the number of flows, then HPCC's header. The records follow in the order in which the ACK
/// collects them, that of the last hop first. The paper's text leaves the order of the two open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FnccAck {
    /// N, the receiver's concurrent flows.
    pub flows: u16,
    /// How many records follow, and of which path.
    pub int: IntHeader,
}

impl FnccAck {
    /// Its size.
    pub const BYTES: usize = 2 + IntHeader::BYTES;

    /// Bytes of it and room for the records of `hops` switches.
    pub const fn bytes_with(hops: usize) -> usize {
        Self::BYTES + hops * IntHop::BYTES
    }

    /// Writes it to the front of `out`.
    pub fn emit(&self, out: &mut [u8]) -> Result<(), DecodeError> {
        let out: &mut [u8; Self::BYTES] = head_mut(out)?;
        out[..2].copy_from_slice(&self.flows.to_be_bytes());
        self.int.emit(&mut out[2..])
    }

    /// Reads it from the front of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<FnccAck, DecodeError> {
        let packet: &[u8; Self::BYTES] = head(bytes)?;
        let flows = u16::from_be_bytes([packet[0], packet[1]]);
        Ok(FnccAck { flows, int: IntHeader::parse(&packet[2..])? })
    }
}
