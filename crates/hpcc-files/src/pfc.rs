//! `pfc.txt`: one line for each PFC frame, written when the port that it pauses or resumes receives
//! it.
//!
//! ```text
//! 2000007564 0 0 1 1
//! ```
//!
//! The columns are time in nanoseconds, node, 1 for a switch or 0 for a host, port, and 1 for a
//! pause or 0 for a resume.

use crate::error::Result;
use crate::tokens::{Row, rows};
use std::fmt;
use units::{NodeId, Time};

/// A PFC frame that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcRow {
    /// Time, in whole nanoseconds.
    pub time: Time,
    /// The node that received it.
    pub node: NodeId,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// The port, counted from 1.
    pub port: u32,
    /// Whether it is a pause; otherwise it is a resume.
    pub pause: bool,
}

impl fmt::Display for PfcRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PfcRow { time, node, is_switch, port, pause } = self;
        write!(f, "{} {node} {} {port} {}", time.ns(), u8::from(*is_switch), u8::from(*pause))
    }
}

/// Reads a file of PFC frames.
pub fn parse(text: &[u8]) -> Result<Vec<PfcRow>> {
    rows(text, |row: &mut Row<'_>| {
        Ok(PfcRow {
            time: row.nanoseconds("time")?,
            node: NodeId::new(row.whole("node", u64::from(u32::MAX))? as u32),
            is_switch: row.whole("kind of node", 1)? == 1,
            port: row.whole("port", u64::from(u32::MAX))? as u32,
            pause: row.whole("kind of frame", 1)? == 1,
        })
    })
}
