//! PFC pauses that last at the end of a run, and which of them would never end.

use crate::host::unfinished::Unfinished;
use std::collections::{BTreeMap, BTreeSet};
use units::{NodeId, Time};

/// A port that its peer pauses in a priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    /// The node of the port, and the number of the port.
    pub(crate) node: u32,
    pub(crate) port: u16,
    /// The node at the other end.
    pub(crate) peer: u32,
    pub(crate) priority: u8,
    /// When it began.
    pub(crate) since: Time,
    /// The peer still wants it. Otherwise the frame that ends it is in flight, or lost.
    pub(crate) is_wanted: bool,
}

/// A pause that lasts this long is not due to congestion alone.
const LONG: Time = Time::from_us(500);

/// No frame that ends a pause is in flight for this long.
const ENDLESS: Time = Time::from_ms(10);

/// By node, the pauses that it waits for in one priority: the peer, and since when.
type Waits = Vec<Vec<(NodeId, Time)>>;

/// Finds a deadlock at `end`: a circle of links that have all been paused for [`LONG`] in one
/// priority. Returns its nodes, in the order of the circle, and since when all links are paused.
pub(crate) fn deadlock(pauses: &[Pause], nodes: usize, end: Time) -> Option<(Vec<NodeId>, Time)> {
    (0..8).find_map(|priority| circle(&in_circles(priority, pauses, nodes, end)))
}

/// The pauses in a priority that lead to a circle, directly or not.
fn in_circles(priority: u8, pauses: &[Pause], nodes: usize, end: Time) -> Waits {
    let mut waits: Waits = vec![Vec::new(); nodes];
    for pause in pauses.iter().filter(|pause| pause.priority == priority) {
        if pause.since + LONG <= end {
            waits[pause.node as usize].push((NodeId::new(pause.peer), pause.since));
        }
    }
    // A node that waits for no other is in no circle.
    loop {
        let free: Vec<bool> = waits.iter().map(Vec::is_empty).collect();
        let before: usize = waits.iter().map(Vec::len).sum();
        for of_node in &mut waits {
            of_node.retain(|(peer, _)| !free[peer.index()]);
        }
        if before == waits.iter().map(Vec::len).sum::<usize>() {
            return waits;
        }
    }
}

/// Finds a circle among nodes each of which waits for another one of them.
fn circle(waits: &Waits) -> Option<(Vec<NodeId>, Time)> {
    let first = waits.iter().position(|of_node| !of_node.is_empty())?;
    let mut path: Vec<(NodeId, Time)> = Vec::new();
    let mut here = NodeId::new(first as u32);
    loop {
        if let Some(begin) = path.iter().position(|(node, _)| *node == here) {
            let circle = &path[begin..];
            let since = circle.iter().map(|(_, since)| *since).max()?;
            return Some((circle.iter().map(|(node, _)| *node).collect(), since));
        }
        let (peer, since) = waits[here.index()][0];
        path.push((here, since));
        here = peer;
    }
}

/// The ports, by node, number and priority, that would never send again, and why: they wait for a
/// circle of pauses, or for a frame that was lost. `resumes`: the priorities, as a bit mask, of
/// frames in flight that end a pause.
pub(crate) fn endless(
    pauses: &[Pause],
    nodes: usize,
    end: Time,
    resumes: u8,
) -> BTreeMap<(u32, u16, u8), Unfinished> {
    let mut found = BTreeMap::new();
    for priority in 0..8 {
        let of_priority = || pauses.iter().filter(|pause| pause.priority == priority);
        let waits = in_circles(priority, pauses, nodes, end);
        let is_long = |pause: &Pause| pause.since + LONG <= end;
        let is_forgotten = |pause: &Pause| {
            !pause.is_wanted && (resumes & 1 << priority == 0 || pause.since + ENDLESS <= end)
        };
        let place = |pause: &Pause| (pause.node, pause.port, priority);
        // Nodes that cannot send through one of their ports.
        let mut held = BTreeSet::new();
        for pause in of_priority() {
            if is_long(pause) && !waits[pause.peer as usize].is_empty() {
                found.insert(place(pause), Unfinished::Deadlock);
            } else if is_forgotten(pause) {
                found.insert(place(pause), Unfinished::Paused);
                held.insert(pause.node);
            }
        }
        loop {
            let before = held.len();
            for pause in of_priority().filter(|pause| is_long(pause)) {
                if held.contains(&pause.peer) {
                    found.entry(place(pause)).or_insert(Unfinished::Paused);
                    held.insert(pause.node);
                }
            }
            if held.len() == before {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port of `node` towards `peer`, paused in a priority since `since` us.
    fn pause(node: u32, peer: u32, priority: u8, since: u64) -> Pause {
        Pause { node, port: 0, peer, priority, since: Time::from_us(since), is_wanted: true }
    }

    const END: Time = Time::from_ms(2);

    fn circle_of(pauses: &[Pause]) -> Option<(Vec<u32>, Time)> {
        let (nodes, since) = deadlock(pauses, 3, END)?;
        Some((nodes.iter().map(|node| node.get()).collect(), since))
    }

    #[test]
    fn a_circle_is_in_one_priority() {
        let with = |priority, since| {
            circle_of(&[pause(0, 1, 3, 100), pause(1, 2, 3, 200), pause(2, 0, priority, since)])
        };
        assert_eq!(with(3, 150), Some((vec![0, 1, 2], Time::from_us(200))));
        assert_eq!(with(4, 150), None, "what waits for another priority's pause is not held by it");
        // Paused in both priorities, in that of the circle only for a moment.
        let both = |since| {
            let last = [pause(2, 0, 4, 150), pause(2, 0, 3, since)];
            circle_of(&[&[pause(0, 1, 3, 100), pause(1, 2, 3, 200)], &last[..]].concat())
        };
        assert_eq!(both(1_900), None);
        assert_eq!(both(300), Some((vec![0, 1, 2], Time::from_us(300))));
    }

    #[test]
    fn who_waits_for_a_circle_is_in_the_deadlock() {
        let ring = [pause(0, 1, 3, 100), pause(1, 0, 3, 200), pause(2, 0, 3, 300)];
        let all = endless(&ring, 3, END, 0);
        assert_eq!(all.len(), 3);
        assert!(all.values().all(|&why| why == Unfinished::Deadlock));
        let open = endless(&ring[1..], 3, END, 0);
        assert!(open.is_empty(), "the pause of node 0 is wanted and may end: {open:?}");
    }

    #[test]
    fn a_pause_that_the_peer_does_not_want_never_ends() {
        let mut forgotten = pause(1, 2, 3, 1_900);
        forgotten.is_wanted = false;
        let behind = [pause(0, 1, 3, 500), pause(0, 2, 4, 500), forgotten];
        let all = endless(&behind, 3, END, 0);
        assert_eq!(all.keys().copied().collect::<Vec<_>>(), [(0, 0, 3), (1, 0, 3)]);
        assert!(all.values().all(|&why| why == Unfinished::Paused));
        assert!(endless(&behind, 3, END, 1 << 3).is_empty(), "the frame may be on its way");
        assert_eq!(endless(&behind, 3, Time::from_ms(12), 1 << 3).len(), 2);
    }
}
