//! `flow.txt`: the number of flows, then one line for each.
//!
//! ```text
//! 2
//! 0 1 3 100 50000 2.0
//! 1 0 3 200 1000000 2.0003
//! ```
//!
//! The columns are source, destination, priority group, destination port, size in bytes and start
//! in seconds. The port is a tag: by convention 100 for flows of the workload, 200 for an incast.
//! Files of ConWeave have no port; all of their flows have [`WORKLOAD_PORT`].

use crate::columns;
use crate::error::{FileError, Result, Warning, counted};
use crate::quantity;
use crate::tokens::{Token, Tokens};
use crate::topology::Topology;
use units::{Bytes, NodeId, Priority, Time, cancel};

/// A message between two hosts, with a QP of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its sender.
    pub src: NodeId,
    /// Its receiver.
    pub dst: NodeId,
    /// Its priority group, 1 to 7; 3 by convention.
    pub priority: Priority,
    /// Destination port: a tag.
    pub dport: u16,
    /// Payload.
    pub size: Bytes,
    /// Start in whole nanoseconds, cut as in the original: see [`quantity::seconds`].
    pub start: Time,
    /// Its line in the file. 32 bits keep a flow at 32 bytes: files may have millions.
    pub line: u32,
}

/// What a flow file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFile {
    /// The flows, in the order of their starts.
    pub flows: Vec<Flow>,
    /// Whether they give a destination port: the original's have six columns, ConWeave's five.
    pub has_port: bool,
}

/// Reads the flows between hosts of `topology`.
pub fn parse(text: &[u8], topology: &Topology, warnings: &mut Vec<Warning>) -> Result<FlowFile> {
    const MIN_FLOW_BYTES: usize = "0 1 3 1 1 2\n".len();
    let mut tokens = Tokens::new(text);
    let promised = tokens.whole("the number of flows", 0..=u64::from(u32::MAX))? as usize;
    let mut flows: Vec<Flow> = Vec::with_capacity(promised.min(tokens.room(MIN_FLOW_BYTES)));
    let has_port = has_port(&tokens, promised);
    if !has_port {
        warnings.push(Warning::new(
            "five columns, as in ConWeave: flows have no destination port, and get 100",
        ));
    }
    let mut large: Option<(usize, u64)> = None;
    while flows.len() < promised {
        let Some(first) = tokens.next() else {
            return Err(FileError::new(format!(
                "the first line promises {}, but the file has {}",
                counted(promised as u64, "flow", "flows"),
                flows.len()
            ))
            .at(tokens.line())
            .hint(
                "is it complete? The original repeats the last flow until it has as many; write \
                 the number of lines into the first",
            ));
        };
        cancel::check();
        let hinted = |error| {
            let columns: &[&str] = if has_port { &COLUMNS } else { &COLUMNS_OF_CONWEAVE };
            columns::blamed(error, text, columns, |line, words| line > 1 && !words.is_empty())
        };
        let flow = read_flow(first, &mut tokens, has_port, topology).map_err(hinted)?;
        if flows.last().is_some_and(|before| before.start > flow.start) {
            let what = "this flow starts before the one above it: with such files the original \
                        sets its clock back";
            let error = FileError::new(what)
                .at(first.line)
                .hint("sort the flows by their start, the last column");
            return Err(hinted(error));
        }
        if flow.size.get() > u64::from(u32::MAX) {
            large.get_or_insert((first.line, 0)).1 += 1;
        }
        flows.push(flow);
    }
    if let Some((line, count)) = large {
        let flows = if count == 1 { "this flow has".into() } else { format!("{count} flows have") };
        warnings.push(Warning::at(
            line,
            format!(
                "{flows} 4 GiB or more: sent in full; the original can't read such a size, nor \
                 anything after the first"
            ),
        ));
    }
    tokens.warn_trailing("the last flow", warnings);
    Ok(FlowFile { flows, has_port })
}

const COLUMNS: [&str; 6] = ["source", "destination", "priority group", "port", "size", "start"];
const COLUMNS_OF_CONWEAVE: [&str; 5] = ["source", "destination", "priority group", "size", "start"];

/// The destination port of flows that give none.
pub const WORKLOAD_PORT: u16 = 100;

/// See [`FlowFile::has_port`].
fn has_port(tokens: &Tokens<'_>, promised: usize) -> bool {
    let mut words = Tokens::new(tokens.rest());
    let Some(first) = words.next() else { return true };
    let columns = 1 + words.by_ref().take_while(|word| word.line == first.line).count();
    // The original reads words, whatever line they are in.
    columns != 5 || Tokens::new(tokens.rest()).count() == promised.saturating_mul(6)
}

fn read_flow(
    first: Token<'_>,
    tokens: &mut Tokens<'_>,
    has_port: bool,
    topology: &Topology,
) -> Result<Flow> {
    let src = host(first, "source", topology)?;
    let dst = host(tokens.need("the destination of a flow")?, "destination", topology)?;
    if src == dst {
        return Err(FileError::new(format!("a flow from host {src} to itself")).at(first.line));
    }
    let priority = priority(tokens.need("priority group")?)?;
    let dport = if has_port {
        tokens.whole("destination port", 0..=u64::from(u16::MAX))? as u16
    } else {
        WORKLOAD_PORT
    };
    let token = tokens.need("the size of a flow")?;
    if token.text == b"0" {
        return Err(FileError::new(format!("the flow from {src} to {dst} has 0 bytes"))
            .at(token.line)
            .hint("leave it out: the original never sends nor ends such a flow"));
    }
    let size = token.whole("size", 1..=i64::MAX as u64)?;
    let token = tokens.need("the start of a flow")?;
    let start = quantity::seconds_of(token, "start")?;
    let size = Bytes::new(size);
    Ok(Flow { src, dst, priority, dport, size, start, line: first.line as u32 })
}

fn priority(token: Token<'_>) -> Result<Priority> {
    if token.text == b"0" {
        let what = "priority group 0 is not served: the original counts its packets in no buffer, \
                    and PFC does not pause them";
        return Err(FileError::new(what).at(token.line).hint("use 1 to 7; 3 is usual"));
    }
    Ok(Priority::new(token.whole("priority group", 1..=7)? as u8))
}

fn host(token: Token<'_>, what: &str, topology: &Topology) -> Result<NodeId> {
    let node = topology.node(token, what)?;
    if topology.is_switch[node.index()] {
        return Err(FileError::new(format!("{what} {node} is a switch"))
            .at(token.line)
            .hint("only hosts send and receive"));
    }
    Ok(node)
}
