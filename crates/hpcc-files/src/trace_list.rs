//! `trace.txt`: a number, then the nodes whose packets are traced.

use crate::error::{FileError, Result, Warning, counted};
use crate::tokens::Tokens;
use crate::topology::Topology;
use units::NodeId;

/// Reads the nodes to trace, in the order of the file. One that is listed twice is recorded twice.
pub fn parse(text: &[u8], topology: &Topology, warnings: &mut Vec<Warning>) -> Result<Vec<NodeId>> {
    let mut tokens = Tokens::new(text);
    let promised = tokens.whole("the number of nodes", 0..=u64::from(u32::MAX))?;
    let mut nodes = Vec::new();
    let mut unknown: Option<(usize, usize, u64)> = None;
    for found in 0..promised {
        let Some(token) = tokens.next() else {
            return Err(FileError::new(format!(
                "the first line promises {}, but the file has {found}",
                counted(promised, "node", "nodes")
            ))
            .at(tokens.line())
            .hint("is it complete?"));
        };
        let number = token.whole("node", 0..=u64::from(u32::MAX))? as usize;
        if number < topology.is_switch.len() {
            nodes.push(NodeId::new(number as u32));
        } else {
            unknown.get_or_insert((token.line, number, 0)).2 += 1;
        }
    }
    if let Some((line, number, count)) = unknown {
        let others = if count > 1 { format!(" ({} more like it)", count - 1) } else { "".into() };
        warnings.push(Warning::at(
            line,
            format!("there is no node {number}{others}: skipped, as in the original"),
        ));
    }
    tokens.warn_trailing("the last node", warnings);
    Ok(nodes)
}
