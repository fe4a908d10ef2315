//! What keeps packets from a host forever, at the end of a run.

use crate::context::NetworkContext;
use crate::network::graph::LinkEnd;
use model::Cause;
use std::collections::BTreeMap;
use units::Time;

/// Paths at the end of a run, and what blocks them.
pub(super) struct Obstacles<'a> {
    pub(super) common: &'a NetworkContext,
    /// When the run ended.
    pub(super) end: Time,
    /// Ports, by node, number and priority, that will never send again, and why.
    pub(super) endless: BTreeMap<(u32, u16, u8), Cause>,
}

/// Packets of a QP in one direction.
pub(super) struct Stream {
    pub(super) hash: u32,
    pub(super) priority: u8,
    /// Whether they may take any of the shortest paths.
    pub(super) is_spread: bool,
    /// Whether the first port sends them even while it is paused.
    pub(super) ignores_pause: bool,
}

impl Obstacles<'_> {
    /// What blocks the path of packets from host `from` to host `to` forever.
    pub(super) fn between(&self, (from, to): (u32, u32), stream: &Stream) -> Option<Cause> {
        let Stream { hash, priority, is_spread, ignores_pause } = *stream;
        let NetworkContext { graph, routes, ecmp, .. } = self.common;
        let (first, last) = (graph.hosts[from as usize], graph.hosts[to as usize]);
        let epoch = graph.epoch_at(self.end);
        if is_spread {
            return self.on_any_path((from, to), hash, priority);
        }
        let (mut node, mut held) = (first, None);
        while node != last {
            let candidates = routes.next_hops(node, to, epoch);
            if candidates.is_empty() {
                return Some(Cause::Disconnected);
            }
            let port = ecmp.pick(node, candidates, (from, to), hash);
            let link = graph.ports(node)[port.index()];
            if graph.error_rate_at(node, port.index(), self.end) >= 1.0 {
                return Some(Cause::Disconnected);
            }
            if !(ignores_pause && node == first) {
                held = held.or(self.endless.get(&(node, port.get(), priority)).copied());
            }
            node = link.peer;
        }
        held
    }

    /// What blocks packets that may take any of the shortest paths, on one of these.
    fn on_any_path(&self, ends: (u32, u32), hash: u32, priority: u8) -> Option<Cause> {
        let NetworkContext { graph, routes, .. } = self.common;
        let first = graph.hosts[ends.0 as usize];
        let epoch = graph.epoch_at(self.end);
        if routes.next_hops(first, ends.1, epoch).is_empty() {
            return Some(Cause::Disconnected);
        }
        let mut found = None;
        self.common.shares(ends, hash, epoch, &mut |link, _| {
            found = found.or_else(|| self.on_link(link, priority));
        });
        found
    }

    /// What blocks the ACKs of a QP on one of their paths. `ends` and the first of `hashes` are
    /// those of its data, which has a path.
    pub(super) fn of_acks(
        &self,
        ends: (u32, u32),
        hashes: (u32, u32),
        priority: u8,
    ) -> Option<Cause> {
        let epoch = self.common.graph.epoch_at(self.end);
        let mut found = None;
        self.common.ack_paths(ends, hashes, epoch, &mut |path, _| {
            found = found.or_else(|| path.iter().find_map(|link| self.on_link(link, priority)));
        });
        found
    }

    /// What blocks packets on a link, found by its far end.
    fn on_link(&self, link: &LinkEnd, priority: u8) -> Option<Cause> {
        let graph = &self.common.graph;
        let here = graph.ports(link.peer)[link.peer_port as usize];
        let endless = self.endless.get(&(here.peer, here.peer_port, priority)).copied();
        let rate = graph.error_rate_at(link.peer, usize::from(link.peer_port), self.end);
        endless.or((rate >= 1.0).then_some(Cause::Disconnected))
    }
}
