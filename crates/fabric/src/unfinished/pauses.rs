//! PFC pauses that last at the end of a run, and which of them would never end.

use model::Cause;
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

/// Finds a deadlock at `end`: a circle of links that have all been paused for [`LONG`] in one
/// priority, each by the node at the end of the one before. Returns its nodes, in the order of the
/// circle, and since when all links are paused.
pub(crate) fn deadlock(pauses: &[Pause], end: Time) -> Option<(Vec<NodeId>, Time)> {
    (0..8).find_map(|priority| circle(&in_circles(priority, pauses, end)))
}

/// Whether a paused link may have to wait for another one: the peer's packets may leave through
/// that. No packet goes back where it came from.
fn may_wait_for(pause: &Pause, next: &Pause) -> bool {
    next.node == pause.peer && next.peer != pause.node
}

/// The pauses in a priority that lead to a circle, directly or not.
fn in_circles(priority: u8, pauses: &[Pause], end: Time) -> Vec<Pause> {
    let is_long = |pause: &&Pause| pause.priority == priority && pause.since + LONG <= end;
    let mut left: Vec<Pause> = pauses.iter().filter(is_long).copied().collect();
    // A pause that waits for no other is in no circle.
    loop {
        let before = left.clone();
        left.retain(|pause| before.iter().any(|next| may_wait_for(pause, next)));
        if left.len() == before.len() {
            return left;
        }
    }
}

/// Finds a circle among pauses each of which waits for another one of them.
fn circle(pauses: &[Pause]) -> Option<(Vec<NodeId>, Time)> {
    let mut path: Vec<&Pause> = Vec::new();
    let mut here = pauses.first()?;
    loop {
        let is_here = |pause: &&Pause| (pause.node, pause.port) == (here.node, here.port);
        if let Some(begin) = path.iter().position(is_here) {
            let circle = &path[begin..];
            let since = circle.iter().map(|pause| pause.since).max()?;
            return Some((circle.iter().map(|pause| NodeId::new(pause.node)).collect(), since));
        }
        path.push(here);
        here = pauses.iter().find(|next| may_wait_for(here, next))?;
    }
}

/// The ports, by node, number and priority, that would never send again, and why: they wait for a
/// circle of pauses, or for a frame that was lost. `resumes`: the priorities, as a bit mask, of
/// frames in flight that end a pause.
pub(crate) fn endless(pauses: &[Pause], end: Time, resumes: u8) -> BTreeMap<(u32, u16, u8), Cause> {
    let mut found = BTreeMap::new();
    for priority in 0..8 {
        let of_priority = || pauses.iter().filter(|pause| pause.priority == priority);
        let circles = in_circles(priority, pauses, end);
        let is_long = |pause: &Pause| pause.since + LONG <= end;
        let is_forgotten = |pause: &Pause| {
            !pause.is_wanted && (resumes & 1 << priority == 0 || pause.since + ENDLESS <= end)
        };
        let key = |pause: &Pause| (pause.node, pause.port, priority);
        // Nodes that cannot send through one of their ports.
        let mut held = BTreeSet::new();
        for pause in of_priority() {
            if is_long(pause) && circles.iter().any(|next| may_wait_for(pause, next)) {
                found.insert(key(pause), Cause::Deadlock);
            } else if is_forgotten(pause) {
                found.insert(key(pause), Cause::Paused);
                held.insert(pause.node);
            }
        }
        loop {
            let before = held.len();
            for pause in of_priority().filter(|pause| is_long(pause)) {
                if held.contains(&pause.peer) {
                    found.entry(key(pause)).or_insert(Cause::Paused);
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
        let (nodes, since) = deadlock(pauses, END)?;
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
        let ring =
            [pause(0, 1, 3, 100), pause(1, 2, 3, 200), pause(2, 0, 3, 300), pause(3, 0, 3, 300)];
        let all = endless(&ring, END, 0);
        assert_eq!(all.len(), 4);
        assert!(all.values().all(|&why| why == Cause::Deadlock));
        let open = endless(&ring[1..], END, 0);
        assert!(open.is_empty(), "the pause of node 0 is wanted and may end: {open:?}");
    }

    /// No packet goes back over the link that it came by, so two such pauses do not wait for each
    /// other.
    #[test]
    fn a_link_that_is_paused_both_ways_is_no_circle() {
        let both = [pause(0, 1, 3, 100), pause(1, 0, 3, 200), pause(2, 0, 3, 300)];
        assert_eq!(circle_of(&both), None);
        assert!(endless(&both, END, 0).is_empty());
    }

    #[test]
    fn a_pause_that_the_peer_does_not_want_never_ends() {
        let mut forgotten = pause(1, 2, 3, 1_900);
        forgotten.is_wanted = false;
        let behind = [pause(0, 1, 3, 500), pause(0, 2, 4, 500), forgotten];
        let all = endless(&behind, END, 0);
        assert_eq!(all.keys().copied().collect::<Vec<_>>(), [(0, 0, 3), (1, 0, 3)]);
        assert!(all.values().all(|&why| why == Cause::Paused));
        assert!(endless(&behind, END, 1 << 3).is_empty(), "the frame may be on its way");
        assert_eq!(endless(&behind, Time::from_ms(12), 1 << 3).len(), 2);
    }
}
