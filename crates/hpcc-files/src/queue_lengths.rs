//! `qlen.txt`: histograms of the queues of switches, in blocks.
//!
//! ```text
//! time: 2000000000
//! 3 1 1 0 2
//! 3 2 3
//! ```
//!
//! A line has switch, port (from 1) and a histogram of all samples so far: how many saw 0 to 999
//! bytes, how many 1000 to 1999, and so on, over all queues of the port together. Samples are
//! [`SAMPLE_INTERVAL`] apart. A block is written at each sample whose time is a multiple of
//! [`BLOCK_INTERVAL`].

use crate::error::{FileError, Result};
use crate::tokens::{Row, lines};
use std::io::{self, Write};
use units::{Bytes, NodeId, Time};

/// Time between two samples.
pub const SAMPLE_INTERVAL: Time = Time::from_ns(100);
/// Time between two blocks.
pub const BLOCK_INTERVAL: Time = Time::from_ms(100);

/// The width of a bin in bytes.
const BIN: u64 = 1000;

/// A histogram of queue lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Samples in bins of 1000 bytes, up to the longest queue that was seen.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Counts a sample.
    pub fn add(&mut self, queue: Bytes) {
        let bin = (queue.get() / BIN) as usize;
        if self.counts.len() <= bin {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
    }
}

/// The histogram of one port in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortQueue {
    /// The switch.
    pub switch: NodeId,
    /// The port, counted from 1.
    pub port: u32,
    /// All samples so far.
    pub histogram: Histogram,
}

/// A block of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Time at which it was written, in whole nanoseconds.
    pub time: Time,
    /// Its ports, ordered by switch and port.
    pub ports: Vec<PortQueue>,
}

/// Writes a block: at `time`, the histogram of each port of each switch.
pub fn write_block<'a>(
    out: &mut impl Write,
    time: Time,
    ports: impl IntoIterator<Item = (NodeId, u32, &'a Histogram)>,
) -> io::Result<()> {
    writeln!(out, "time: {}", time.ns())?;
    for (switch, port, histogram) in ports {
        write!(out, "{switch} {port}")?;
        for count in &histogram.counts {
            write!(out, " {count}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Reads a file of queue lengths.
pub fn parse(text: &[u8]) -> Result<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    for mut row in lines(text) {
        if row.skip_word(b"time:") {
            blocks.push(Block { time: row.nanoseconds("time")?, ports: Vec::new() });
            row.end()?;
            continue;
        }
        let port = read_port(&mut row)?;
        match blocks.last_mut() {
            Some(block) => block.ports.push(port),
            None => {
                return Err(FileError::new("a port stands before the first `time:`").at(row.line()));
            }
        }
    }
    Ok(blocks)
}

fn read_port(row: &mut Row<'_>) -> Result<PortQueue> {
    let switch = NodeId::new(row.whole("switch", u64::from(u32::MAX))? as u32);
    let port = row.whole("port", u64::from(u32::MAX))? as u32;
    let mut histogram = Histogram::default();
    while !row.at_end() {
        histogram.counts.push(row.whole("count", u64::MAX)?);
    }
    Ok(PortQueue { switch, port, histogram })
}
