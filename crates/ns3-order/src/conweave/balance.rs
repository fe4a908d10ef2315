//! Which way a packet goes. ACKs and control packets go by the hash of their flow, whatever
//! balances the load.

use super::paths::{Path, port_at};
use crate::event_list::Kind;
use crate::packets::PacketKind;
use crate::simulation::Simulation;
use hpcc_files::LoadBalancing;

/// A flow that was silent for longer begins a new flowlet, in nanoseconds.
const FLOWLET_GAP: u64 = 100_000;
/// CONGA: time between two decays of its measurements.
pub(super) const DECAY_INTERVAL: u64 = 50_000;
/// After this time CONGA and ConWeave forget what was not used.
const CONGA_AGE: u64 = 500_000;
const CONWEAVE_AGE: u64 = 2_000_000;
/// How many ports DRILL draws.
const SAMPLES: usize = 2;

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
        let (src, dst, ..) = self.four_tuple(slot);
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
            LoadBalancing::Drill if is_data => self.least_loaded(node, self.four_tuple(slot).1),
            LoadBalancing::LetFlow if is_data => self.letflow(node, slot).unwrap_or(hashed),
            _ => hashed,
        };
        self.store(out, slot);
    }

    /// Forwards data along its path.
    pub(super) fn forward_along(&mut self, node: u32, path: Path, hop: u8, slot: u32) {
        let out = self.port_of(node, port_at(path, hop));
        self.store(out, slot);
    }

    /// The port of a node with a number that counts from 1.
    pub(super) fn port_of(&self, node: u32, number: u32) -> u32 {
        self.nodes[node as usize].ports[number as usize - 1]
    }

    /// DRILL: the port with the fewest bytes, of two that are drawn and of the best one for this
    /// destination before.
    fn least_loaded(&mut self, node: u32, dst: u32) -> u32 {
        let mut shuffled = self.routes.next_hops(node, dst).to_vec();
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
        Some(self.port_of(node, port_at(tag.path, tag.hop)))
    }

    /// The key of a flow in the table of flowlets. There it mixes two fields, so that some flows to
    /// one host share an entry.
    fn flowlet_key(&self, flow: u32) -> (u32, u16, u16) {
        let flow = &self.flows[flow as usize];
        (flow.dst, flow.sport, flow.dport | u16::from(flow.priority))
    }

    /// The path of a flow's flowlet, unless a new one begins.
    pub(super) fn flowlet(&self, leaf: u32, flow: u32) -> Option<Path> {
        let &(path, last) = self.conweave.flowlets.get(&(leaf, self.flowlet_key(flow)))?;
        (self.events.now() - last <= FLOWLET_GAP).then_some(path)
    }

    /// Notes a packet of a flowlet.
    pub(super) fn note_flowlet(&mut self, leaf: u32, flow: u32, path: Path) {
        let key = (leaf, self.flowlet_key(flow));
        self.conweave.flowlets.insert(key, (path, self.events.now()));
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
