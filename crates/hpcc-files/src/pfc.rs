//! `pfc.txt`: a line for each PFC frame, when the port that it pauses or resumes has received it.
//!
//! ```text
//! 2000007564 0 0 1 1
//! ```
//!
//! Time in nanoseconds, node, 1 if that is a switch, port, 1 for a pause and 0 for a resume.

use crate::error::Result;
use crate::tokens::{Row, rows};
use std::fmt;
use units::{NodeId, Time};

/// A PFC frame that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcRow {
    /// When, in whole nanoseconds.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// The port, counted from 1.
    pub port: u32,
    /// Whether it pauses; else it resumes.
    pub pause: bool,
}

impl fmt::Display for PfcRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PfcRow { time, node, is_switch, port, pause } = self;
        write!(f, "{} {node} {} {port} {}", time.ns(), u8::from(*is_switch), u8::from(*pause))
    }
}

/// Reads such a file.
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
