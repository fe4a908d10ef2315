//! Links that PFC pauses in a circle: each waits for the next, and none goes on.

use fabric::Output;
use units::{NodeId, Time};

/// Congestion alone lets links go on after less.
const LONG: Time = Time::from_us(500);

/// The nodes of a circle of links that have all been paused for long when the run ends, in its order,
/// and since when all of them have; `None` where there is none.
pub(crate) fn find(output: &Output, nodes: usize) -> Option<(Vec<NodeId>, Time)> {
    let end = output.outcome.end;
    let mut paused: Vec<Vec<(NodeId, Time)>> = vec![Vec::new(); nodes];
    for port in &output.ports {
        if let Some(since) = port.paused_since
            && since + LONG <= end
        {
            paused[port.node.index()].push((port.peer, since));
        }
    }
    // Who waits for nobody is in no circle.
    loop {
        let free: Vec<bool> = paused.iter().map(Vec::is_empty).collect();
        let before: usize = paused.iter().map(Vec::len).sum();
        for waits in &mut paused {
            waits.retain(|(peer, _)| !free[peer.index()]);
        }
        if before == paused.iter().map(Vec::len).sum::<usize>() {
            break;
        }
    }
    // All that are left wait for one that is: the way from any of them ends in a circle.
    let first = paused.iter().position(|waits| !waits.is_empty())?;
    let mut way: Vec<(NodeId, Time)> = Vec::new();
    let mut here = NodeId::new(first as u32);
    loop {
        if let Some(begin) = way.iter().position(|(node, _)| *node == here) {
            let circle = &way[begin..];
            let since = circle.iter().map(|(_, since)| *since).max()?;
            return Some((circle.iter().map(|(node, _)| *node).collect(), since));
        }
        let (peer, since) = paused[here.index()][0];
        way.push((here, since));
        here = peer;
    }
}
