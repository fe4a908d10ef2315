//! CONGA: leaves choose the path whose most loaded link is least loaded, as packets tell them.

use super::balance::DECAY_INTERVAL;
use super::paths::Path;
use crate::event_list::Kind;
use crate::packets::PacketKind;
use crate::simulation::Simulation;
use std::collections::{BTreeMap, HashMap};

/// The share that a decay takes.
const DECAY: f64 = 0.2;
/// Levels of a link at its rate.
const LEVELS: f64 = 8.0;
/// How many neighbouring paths a new flowlet chooses among.
const CANDIDATES: usize = 4;

/// What a switch has measured and heard.
#[derive(Default)]
pub(super) struct Conga {
    /// By port: bytes that went to it, which decay.
    bytes: HashMap<u32, u32>,
    /// By destination leaf and path: its level, and when the leaf said so.
    to: HashMap<(u32, Path), (u32, u64)>,
    /// By source leaf, then path: its level, and when a packet had it.
    from: HashMap<u32, BTreeMap<Path, (u32, u64)>>,
}

impl Conga {
    /// Forgets what is older than `age`.
    pub(super) fn forget(&mut self, now: u64, age: u64) {
        for (level, heard) in self.to.values_mut() {
            if now - *heard > age {
                *level = 0;
            }
        }
        for paths in self.from.values_mut() {
            paths.retain(|_, (_, seen)| now - *seen <= age);
        }
    }

    fn decay(&mut self) {
        for bytes in self.bytes.values_mut() {
            *bytes = (f64::from(*bytes) * (1.0 - DECAY)) as u32;
        }
    }
}

/// The level of a link with `rate` to which `bytes` went.
fn level(bytes: u32, rate: u64) -> u32 {
    let full = rate as f64 * (DECAY_INTERVAL as f64 * 1e-9) / DECAY;
    (f64::from(bytes.wrapping_mul(8)) / full * LEVELS) as u32
}

impl Simulation<'_> {
    pub(super) fn route_conga(&mut self, slot: u32) {
        if self.packets.get(slot).kind != PacketKind::Data {
            return self.forward_by_policy(slot);
        }
        let node = self.switch_of(slot);
        self.start_timers(node);
        let (source, destination) = self.leaves_of(slot);
        if source == destination {
            return self.forward_by_policy(slot);
        }
        if node == destination {
            self.hear(node, source, slot);
            return self.forward_by_policy(slot);
        }
        if node == source {
            let about = self.feedback(node, destination);
            let flow = self.packets.get(slot).flow;
            let path = match self.flowlet(node, flow) {
                Some(path) => path,
                None => self.best_path(node, destination),
            };
            self.note_flowlet(node, flow, path);
            let tag = self.conweave.tag(slot);
            (tag.path, tag.hop, tag.level, tag.about) = (path, 0, 0, about);
        } else {
            self.conweave.tag(slot).hop += 1;
        }
        let tag = *self.conweave.tag(slot);
        let level = self.measure(node, tag.path.port_at(tag.hop), slot);
        let seen = &mut self.conweave.tag(slot).level;
        *seen = level.max(*seen);
        self.forward_along(node, tag.path, tag.hop, slot);
    }

    /// A path from a leaf and its level, for that leaf to know; `None` if it has sent nothing
    /// lately.
    fn feedback(&mut self, node: u32, leaf: u32) -> Option<(Path, u32)> {
        let paths = self.conweave.conga[node as usize].from.get(&leaf)?;
        if paths.is_empty() {
            return None;
        }
        let place = self.rand.draw() as usize % paths.len();
        let (&path, &(level, _)) = paths.iter().nth(place).expect("it is one of them");
        Some((path, level))
    }

    /// A leaf takes note of what a packet tells.
    fn hear(&mut self, node: u32, source: u32, slot: u32) {
        let now = self.events.now();
        let tag = *self.conweave.tag(slot);
        let conga = &mut self.conweave.conga[node as usize];
        if let Some((path, level)) = tag.about {
            conga.to.insert((source, path), (level, now));
        }
        conga.from.entry(source).or_default().insert(tag.path, (tag.level, now));
    }

    /// Counts a packet that goes to a port; returns the port's level.
    fn measure(&mut self, node: u32, number: u32, slot: u32) -> u32 {
        let size = u32::from(self.packets.get(slot).size);
        let rate = self.ports[self.port_of(node, number) as usize].rate;
        let bytes = self.conweave.conga[node as usize].bytes.entry(number).or_default();
        *bytes = bytes.wrapping_add(size);
        level(*bytes, rate)
    }

    /// One of the best of four neighbouring paths, the first of which is drawn.
    fn best_path(&mut self, node: u32, leaf: u32) -> Path {
        let paths = self.conweave.paths.between(node, leaf);
        let first = match paths.len() >= CANDIDATES {
            true => self.rand.draw() as usize % (paths.len() - CANDIDATES + 1),
            false => 0,
        };
        let conga = &self.conweave.conga[node as usize];
        let level_of = |path: Path| {
            let number = path.port_at(0);
            let rate = self.ports[self.port_of(node, number) as usize].rate;
            let here = conga.bytes.get(&number).map_or(0, |&bytes| level(bytes, rate));
            let there = conga.to.get(&(leaf, path)).map_or(0, |&(level, _)| level);
            here.max(there)
        };
        let candidates = paths.iter().skip(first).take(CANDIDATES);
        let levels: Vec<(u32, Path)> = candidates.map(|&path| (level_of(path), path)).collect();
        let least = levels.iter().map(|&(level, _)| level).min();
        let best: Vec<Path> = levels
            .iter()
            .filter(|&&(level, _)| Some(level) == least)
            .map(|&(_, path)| path)
            .collect();
        best[self.rand.draw() as usize % best.len()]
    }

    /// What a switch has measured decays.
    pub(crate) fn on_decay(&mut self, node: u32) {
        self.conweave.conga[node as usize].decay();
        self.events.schedule(DECAY_INTERVAL, Kind::Decay, node, 0);
    }
}
