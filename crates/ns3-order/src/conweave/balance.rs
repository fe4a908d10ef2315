//! Which way a packet goes. ACKs and control packets go by the hash of their flow, whatever
//! balances the load.

use super::paths::Path;
use crate::event_list::Kind;
use crate::network::FourTuple;
use crate::packets::PacketKind;
use crate::simulation::Simulation;
use hpcc_files::LoadBalancing;

/// A flow that was silent for longer begins a new flowlet, in nanoseconds.
const FLOWLET_GAP: u64 = 100_000;
/// CONGA: time between two decays of its measurements, in nanoseconds.
pub(super) const DECAY_INTERVAL: u64 = 50_000;
/// After this time CONGA and ConWeave forget what was not used, in nanoseconds.
const CONGA_AGE: u64 = 500_000;
const CONWEAVE_AGE: u64 = 2_000_000;
/// How many ports DRILL draws.
const SAMPLES: usize = 2;

/// What a leaf tells flows apart by in its table of flowlets. There it mixes port and priority, so
/// that some flows to one host share an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FlowletKey {
    dst: u32,
    sport: u16,
    /// The destination port, with the bits of the priority set, too.
    dport: u16,
}

/// The present flowlet of a flow at a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flowlet {
    path: Path,
    /// When its last packet came, in nanoseconds.
    last: u64,
}

impl Simulation<'_> {
    /// Handles a packet that came in at port `index` of a switch.
    pub(crate) fn route(&mut self, index: u32, slot: u32) {
        self.packets.get_mut(slot).ingress = index;
        match self.settings.balance {
            LoadBalancing::Ecmp | LoadBalancing::Drill | LoadBalancing::LetFlow => {
                self.forward_by_policy(slot);
            }
            LoadBalancing::Conga => self.route_conga(slot),
            LoadBalancing::ConWeave => self.route_conweave(slot),
        }
    }

    /// The switch that a packet is in.
    pub(super) fn switch_of(&self, slot: u32) -> u32 {
        self.ports[self.packets.get(slot).ingress as usize].node
    }

    /// The leaves of a packet's source and destination.
    pub(super) fn leaves_of(&self, slot: u32) -> (u32, u32) {
        let FourTuple { src, dst, .. } = self.four_tuple(slot);
        (self.conweave.paths.leaf(src), self.conweave.paths.leaf(dst))
    }

    /// Forwards a packet as the switch does without paths.
    pub(super) fn forward_by_policy(&mut self, slot: u32) {
        let node = self.switch_of(slot);
        let Some(hashed) = self.hashed_next_hop(node, slot) else {
            return self.drop_packet(self.packets.get(slot).ingress, slot);
        };
        let is_data = self.packets.get(slot).kind == PacketKind::Data;
        let out = match self.settings.balance {
            LoadBalancing::Drill if is_data => self.least_loaded(node, self.four_tuple(slot).dst),
            LoadBalancing::LetFlow if is_data => self.letflow(node, slot).unwrap_or(hashed),
            _ => hashed,
        };
        self.store(out, slot);
    }

    /// Forwards data along its path.
    pub(super) fn forward_along(&mut self, node: u32, path: Path, hop: u8, slot: u32) {
        let out = self.port_of(node, path.port_at(hop));
        self.store(out, slot);
    }

    /// The port of a node with a number that counts from 1.
    pub(super) fn port_of(&self, node: u32, number: u32) -> u32 {
        self.nodes[node as usize].ports[number as usize - 1]
    }

    /// DRILL: the port with the fewest bytes, of two that are drawn and of the best one for this
    /// destination before.
    fn least_loaded(&mut self, node: u32, dst: u32) -> u32 {
        let mut shuffled = std::mem::take(&mut self.conweave.shuffled);
        shuffled.extend_from_slice(self.routes.next_hops(node, dst));
        for last in 1..shuffled.len() {
            shuffled.swap(last, self.rand.draw() as usize % (last + 1));
        }
        let load = |port: u32| self.ports[port as usize].queued as u32;
        let before = self.conweave.best.get(&(node, dst)).copied();
        let mut best = before.map(|port| (load(port), port));
        for &port in shuffled.iter().take(SAMPLES) {
            if best.is_none_or(|(least, _)| load(port) < least) {
                best = Some((load(port), port));
            }
        }
        let (_, port) = best.expect("there is a next hop");
        shuffled.clear();
        self.conweave.shuffled = shuffled;
        self.conweave.best.insert((node, dst), port);
        port
    }

    /// LetFlow: the port of data between leaves; `None` where the destination's leaf has it.
    fn letflow(&mut self, node: u32, slot: u32) -> Option<u32> {
        let (source, destination) = self.leaves_of(slot);
        if node == destination {
            return None;
        }
        if node == source {
            let flow = self.packets.get(slot).flow;
            let path = match self.flowlet(node, flow) {
                Some(path) => path,
                None => {
                    let paths = self.conweave.paths.between(source, destination);
                    paths[self.rand.draw() as usize % paths.len()]
                }
            };
            self.note_flowlet(node, flow, path);
            let tag = self.conweave.tag(slot);
            (tag.path, tag.hop) = (path, 0);
        } else {
            self.conweave.tag(slot).hop += 1;
        }
        let tag = *self.conweave.tag(slot);
        Some(self.port_of(node, tag.path.port_at(tag.hop)))
    }

    fn flowlet_key(&self, flow: u32) -> FlowletKey {
        let flow = &self.flows[flow as usize];
        let dport = flow.dport | u16::from(flow.priority);
        FlowletKey { dst: flow.dst, sport: flow.sport, dport }
    }

    /// The path of a flow's flowlet, unless a new one begins.
    pub(super) fn flowlet(&self, leaf: u32, flow: u32) -> Option<Path> {
        let flowlet = self.conweave.flowlets.get(&(leaf, self.flowlet_key(flow)))?;
        (self.events.now() - flowlet.last <= FLOWLET_GAP).then_some(flowlet.path)
    }

    /// Notes a packet of a flowlet.
    pub(super) fn note_flowlet(&mut self, leaf: u32, flow: u32, path: Path) {
        let key = (leaf, self.flowlet_key(flow));
        self.conweave.flowlets.insert(key, Flowlet { path, last: self.events.now() });
    }

    /// Starts the timers of a switch with its first packet.
    pub(super) fn start_timers(&mut self, node: u32) {
        if std::mem::replace(&mut self.conweave.timers_run[node as usize], true) {
            return;
        }
        if self.settings.balance == LoadBalancing::Conga {
            self.events.schedule(DECAY_INTERVAL, Kind::Decay, node, 0);
        }
        self.events.schedule(self.age(), Kind::Aging, node, 0);
    }

    fn age(&self) -> u64 {
        match self.settings.balance {
            LoadBalancing::Conga => CONGA_AGE,
            _ => CONWEAVE_AGE,
        }
    }

    /// A switch forgets what was not used.
    pub(crate) fn on_aging(&mut self, node: u32) {
        let (now, age) = (self.events.now(), self.age());
        self.conweave.aged_at[node as usize] = now;
        self.conweave.conga[node as usize].forget(now, age);
        self.events.schedule(age, Kind::Aging, node, 0);
    }

    /// Whether a switch has forgotten what was last used at `last`.
    pub(super) fn is_forgotten(&self, node: u32, last: u64) -> bool {
        self.conweave.aged_at[node as usize].saturating_sub(last) > CONWEAVE_AGE
    }
}
