//! Links that PFC pauses in a circle: each waits for the next, and none goes on.

use fabric::PortReport;
use units::{NodeId, Time};

/// Congestion alone lets links go on after less.
const LONG: Time = Time::from_us(500);

/// The nodes of a circle of links that have all been paused for long when the run ends at `end`, in its
/// order, and since when all of them have; `None` where there is none. All in one priority: a pause holds
/// no other.
pub(crate) fn find(ports: &[PortReport], nodes: usize, end: Time) -> Option<(Vec<NodeId>, Time)> {
    (0..8).find_map(|priority| find_in(priority, ports, nodes, end))
}

fn find_in(
    priority: usize,
    ports: &[PortReport],
    nodes: usize,
    end: Time,
) -> Option<(Vec<NodeId>, Time)> {
    let mut paused: Vec<Vec<(NodeId, Time)>> = vec![Vec::new(); nodes];
    for port in ports {
        if let Some(since) = port.paused_since[priority]
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

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::PortCounters;
    use units::{PortId, Rate};

    /// A port of `node` towards `peer`, and a priority of it that is paused since so many us.
    fn port(node: u32, peer: u32, priority: usize, since: u64) -> PortReport {
        let mut paused_since = [None; 8];
        paused_since[priority] = Some(Time::from_us(since));
        PortReport {
            node: NodeId::new(node),
            port: PortId::new(0),
            peer: NodeId::new(peer),
            rate: Rate::from_gbps(100),
            counters: PortCounters::default(),
            paused_since,
        }
    }

    fn circle(ports: &[PortReport]) -> Option<(Vec<u32>, Time)> {
        let (nodes, since) = find(ports, 3, Time::from_ms(2))?;
        Some((nodes.iter().map(|node| node.get()).collect(), since))
    }

    #[test]
    fn a_circle_is_in_one_priority() {
        let with = |priority, since| {
            circle(&[port(0, 1, 3, 100), port(1, 2, 3, 200), port(2, 0, priority, since)])
        };
        assert_eq!(with(3, 150), Some((vec![0, 1, 2], Time::from_us(200))));
        assert_eq!(with(4, 150), None, "what waits for another priority's pause is not held by it");
        // Paused in both, and in the circle's for a moment only.
        let mut both = port(2, 0, 4, 150);
        both.paused_since[3] = Some(Time::from_us(1_900));
        assert_eq!(circle(&[port(0, 1, 3, 100), port(1, 2, 3, 200), both]), None);
        both.paused_since[3] = Some(Time::from_us(300));
        let all = circle(&[port(0, 1, 3, 100), port(1, 2, 3, 200), both]);
        assert_eq!(all, Some((vec![0, 1, 2], Time::from_us(300))));
    }
}
