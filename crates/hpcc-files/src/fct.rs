//! `fct.txt`: one line for each flow, written when the flow finishes.
//!
//! ```text
//! 0b000001 0b000201 10000 100 50000000 2000000000 8893010 4204320
//! ```
//!
//! The columns are addresses and ports of sender and receiver, the size in bytes, and in
//! nanoseconds start, FCT, and the FCT of the flow alone by the original's formula. ConWeave has
//! the numbers of the hosts in place of their addresses.

use crate::address;
use crate::error::Result;
use crate::tokens::{Row, rows};
use std::fmt;
use std::net::Ipv4Addr;
use units::{Bytes, Time};

/// A flow that finished. Times are in whole nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FctRow {
    /// Address of the sender.
    pub src: Ipv4Addr,
    /// Address of the receiver.
    pub dst: Ipv4Addr,
    /// Source port: 10000 and up for each pair of hosts.
    pub sport: u16,
    /// Destination port: a tag.
    pub dport: u16,
    /// Payload.
    pub size: Bytes,
    /// Time at which its QP was made.
    pub start: Time,
    /// Time from `start` until the sender had the ACK of the last byte.
    pub fct: Time,
    /// FCT of the flow alone in the network, by the original's formula.
    pub ideal_fct: Time,
}

impl FctRow {
    /// The line in a file of ConWeave.
    pub fn with_numbers(&self) -> String {
        format!("{} {} {}", address::node(self.src), address::node(self.dst), self.rest())
    }

    /// The columns after the hosts.
    fn rest(&self) -> String {
        let FctRow { sport, dport, size, start, fct, ideal_fct, .. } = self;
        let (size, start, fct) = (size.get(), start.ns(), fct.ns());
        format!("{sport} {dport} {size} {start} {fct} {}", ideal_fct.ns())
    }
}

impl fmt::Display for FctRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x} {:08x} {}", self.src.to_bits(), self.dst.to_bits(), self.rest())
    }
}

/// Reads a file of completion times.
pub fn parse(text: &[u8]) -> Result<Vec<FctRow>> {
    rows(text, |row: &mut Row<'_>| {
        Ok(FctRow {
            src: row.address("the sender's address")?,
            dst: row.address("the receiver's address")?,
            sport: row.whole("source port", u64::from(u16::MAX))? as u16,
            dport: row.whole("destination port", u64::from(u16::MAX))? as u16,
            size: Bytes::new(row.whole("size", u64::MAX)?),
            start: row.nanoseconds("start")?,
            fct: row.nanoseconds("FCT")?,
            ideal_fct: row.nanoseconds("ideal FCT")?,
        })
    })
}
