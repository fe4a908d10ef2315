//! ConWeave: the source's leaf measures the round trip, and moves a flow to another path when a
//! reply is late. The destination's leaf holds packets of the new path back until the last one of
//! the old path has come.
//!
//! An epoch begins with a packet that asks for a reply. If the reply is late, the next packet is
//! the tail: the last on the old path. Packets after it are rerouted. The reply to the tail ends
//! the epoch.

use super::paths::{Mark, Path, Tag, length};
use crate::event_list::{Handle, Kind};
use crate::packets::{Packet, PacketKind};
use crate::simulation::Simulation;
use fabric::ns3::murmur3;

/// Bytes of a reply and of a notice of congestion.
const CONTROL_SIZE: u16 = 64;
/// How many entries a leaf has for paths that it avoids.
const ENTRIES: u32 = 65_536;

/// What the source's leaf keeps of a flow.
#[derive(Clone, Debug)]
pub(super) struct Source {
    is_known: bool,
    /// The epoch may end with the next packet.
    is_stable: bool,
    last: u64,
    /// When the reply is late; `None` if it has come, or if it was late.
    deadline: Option<u64>,
    epoch: u32,
    is_rerouted: bool,
    path: Path,
    tail_at: u64,
}

impl Source {
    pub(super) const NEW: Source = Source {
        is_known: false,
        is_stable: true,
        last: 0,
        deadline: Some(0),
        epoch: 0,
        is_rerouted: false,
        path: super::NO_PATH,
        tail_at: 0,
    };
}

/// What the destination's leaf keeps of a flow.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    last: u64,
    epoch: u32,
    /// The tail has come, or is not waited for.
    is_rerouted: bool,
    /// When the last packet of the old path was sent and came, and whether one came in this epoch.
    old_sent_at: u64,
    old_came_at: u64,
    has_old: bool,
    tail_at: u64,
    /// It holds packets back: those, and when they go.
    holds: bool,
    held: Vec<u32>,
    flush: Handle,
}

impl Destination {
    pub(super) const NEW: Destination = Destination {
        last: 0,
        epoch: 1,
        is_rerouted: false,
        old_sent_at: 0,
        old_came_at: 0,
        has_old: false,
        tail_at: 0,
        holds: false,
        held: Vec::new(),
        flush: Handle::NONE,
    };
}

impl Simulation<'_> {
    pub(super) fn route_conweave(&mut self, slot: u32) {
        let node = self.switch_of(slot);
        self.start_timers(node);
        let (source, destination) = self.leaves_of(slot);
        let kind = self.packets.get(slot).kind;
        let is_control = kind == PacketKind::Control;
        if source == destination || !(kind == PacketKind::Data || is_control) {
            return self.forward_by_policy(slot);
        }
        match (is_control, node == source, node == destination) {
            (true, _, true) => self.take_control(node, slot),
            (true, ..) => self.forward_by_policy(slot),
            (false, true, _) => self.send_from_leaf(node, destination, slot),
            (false, _, true) => self.receive_at_leaf(node, slot),
            (false, ..) => {
                let tag = self.conweave.tag(slot);
                tag.hop += 1;
                let (path, hop) = (tag.path, tag.hop);
                self.forward_along(node, path, hop, slot);
            }
        }
    }

    /// The source's leaf gives data its path.
    fn send_from_leaf(&mut self, node: u32, leaf: u32, slot: u32) {
        let now = self.events.now();
        let flow = self.packets.get(slot).flow as usize;
        if self.is_forgotten(node, self.conweave.sources[flow].last) {
            self.conweave.sources[flow] = Source::NEW;
        }
        let times = self.settings.reroute;
        let entry = &mut self.conweave.sources[flow];
        let is_new = !std::mem::replace(&mut entry.is_known, true);
        let expired = entry.last + times.inactive < now;
        let begins = expired || entry.is_stable;
        if begins {
            entry.is_stable = false;
        }
        entry.last = now;
        let mut is_late = false;
        if begins {
            let paths = self.conweave.paths.between(node, leaf);
            let hops = paths.first().map_or(0, |&path| length(path));
            entry.deadline = Some(now + times.hop * (hops * 2) + times.reply_extra);
            entry.epoch += 1;
            entry.is_rerouted = false;
        } else if entry.deadline.is_some_and(|deadline| deadline < now) {
            entry.deadline = None;
            is_late = true;
        }
        let is_rerouted = !is_late && entry.is_rerouted;
        entry.is_rerouted |= is_late;
        let (found, drawn) = self.draw_path(node, leaf);
        let entry = &mut self.conweave.sources[flow];
        if is_new {
            entry.path = drawn;
        }
        let before = entry.path;
        if found && (expired || is_late) {
            entry.path = drawn;
        }
        let path = if is_late { before } else { entry.path };
        if begins {
            entry.tail_at = 0;
        } else if is_late {
            entry.tail_at = now;
        }
        let mark = match (begins, is_late) {
            (true, _) => Mark::First,
            (false, true) => Mark::Tail,
            (false, false) => Mark::None,
        };
        let (epoch, tail_at) = (entry.epoch, entry.tail_at);
        *self.conweave.tag(slot) =
            Tag { path, epoch, is_rerouted, mark, sent_at: now, tail_at, ..Tag::NONE };
        self.forward_along(node, path, 0, slot);
    }

    /// Draws two paths. Returns the first that is not avoided, and whether there is one.
    fn draw_path(&mut self, node: u32, leaf: u32) -> (bool, Path) {
        let now = self.events.now();
        let paths = self.conweave.paths.between(node, leaf);
        // One more is drawn there, and not used.
        self.rand.draw();
        let drawn = [0; 2].map(|_| paths[self.rand.draw() as usize % paths.len()]);
        let is_good = |path: &&Path| {
            let entry = self.conweave.avoided.get(&(node, place_of(**path, node)));
            entry.is_none_or(|&(avoided, until)| avoided != **path || until <= now)
        };
        match drawn.iter().find(is_good) {
            Some(&path) => (true, path),
            None => (false, drawn[0]),
        }
    }

    /// The destination's leaf passes data on, or holds it back.
    fn receive_at_leaf(&mut self, node: u32, slot: u32) {
        let now = self.events.now();
        let tag = *self.conweave.tag(slot);
        let flow = self.packets.get(slot).flow as usize;
        let last = self.conweave.destinations[flow].last;
        if self.is_forgotten(node, last) && !self.conweave.destinations[flow].holds {
            self.conweave.destinations[flow] = Destination::NEW;
        }
        let times = self.settings.reroute;
        let entry = &mut self.conweave.destinations[flow];
        entry.last = now;
        if entry.epoch > tag.epoch {
            return self.forward_by_policy(slot);
        }
        let is_next = std::mem::replace(&mut entry.epoch, tag.epoch) < tag.epoch;
        if !tag.is_rerouted {
            (entry.old_sent_at, entry.old_came_at) = (tag.sent_at, now);
        }
        let is_tail = tag.mark == Mark::Tail;
        let mut is_early = false;
        if is_next {
            entry.is_rerouted = is_tail;
            is_early = tag.is_rerouted && !entry.is_rerouted;
            entry.has_old = !tag.is_rerouted;
        } else {
            if is_tail {
                entry.is_rerouted |= !entry.holds;
            } else {
                is_early = tag.is_rerouted && !entry.is_rerouted;
            }
            entry.has_old |= !tag.is_rerouted;
        }
        if is_tail || tag.is_rerouted {
            entry.tail_at = tag.tail_at;
        }
        let gap = match entry.has_old {
            true => entry.tail_at.saturating_sub(entry.old_sent_at),
            false => times.resume_default,
        };
        let flush_at = match (tag.is_rerouted, is_tail) {
            (false, true) => now + 1,
            (true, _) if entry.has_old => entry.old_came_at + gap + times.resume_extra,
            _ => now + gap + times.resume_extra,
        };
        let delay = flush_at.saturating_sub(now);
        let begins_to_hold = is_early && !entry.holds;
        if begins_to_hold || (!tag.is_rerouted && entry.holds) {
            if self.events.is_pending(&entry.flush) {
                self.events.cancel(&mut entry.flush);
            }
            entry.flush = self.events.schedule(delay, Kind::Flush, flow as u32, node);
            entry.holds = true;
        }
        if self.packets.get(slot).marked {
            self.answer(slot, Tag { path: tag.path, mark: Mark::Congested, ..Tag::NONE });
        }
        if tag.mark != Mark::None {
            let is_rerouted = is_tail;
            self.answer(slot, Tag { is_rerouted, epoch: tag.epoch, mark: tag.mark, ..Tag::NONE });
        }
        if is_early {
            self.conweave.destinations[flow].held.push(slot);
        } else {
            self.forward_by_policy(slot);
        }
    }

    /// Sends a control packet to the source's leaf.
    fn answer(&mut self, slot: u32, tag: Tag) {
        let Packet { flow, ingress, .. } = *self.packets.get(slot);
        let control = self.packets.add(Packet {
            flow,
            ingress,
            size: CONTROL_SIZE,
            kind: PacketKind::Control,
            ..Packet::EMPTY
        });
        *self.conweave.tag(control) = tag;
        self.forward_by_policy(control);
    }

    /// The source's leaf takes a control packet.
    fn take_control(&mut self, node: u32, slot: u32) {
        let now = self.events.now();
        let tag = *self.conweave.tag(slot);
        let flow = self.packets.get(slot).flow as usize;
        self.packets.remove(slot);
        if tag.mark == Mark::Congested {
            let until = now + self.settings.reroute.path_busy;
            let place = (node, place_of(tag.path, node));
            self.conweave.avoided.insert(place, (tag.path, until));
            return;
        }
        if self.is_forgotten(node, self.conweave.sources[flow].last) {
            self.conweave.sources[flow] = Source::NEW;
        }
        let entry = &mut self.conweave.sources[flow];
        if (tag.epoch, tag.is_rerouted) != (entry.epoch, entry.is_rerouted) {
            return;
        }
        if tag.mark == Mark::Tail || entry.deadline.is_some_and(|deadline| now < deadline) {
            entry.is_stable = true;
            entry.deadline = None;
        }
    }

    /// The destination's leaf sends on what it has held back of a flow.
    pub(crate) fn flush(&mut self, flow: u32) {
        let entry = &mut self.conweave.destinations[flow as usize];
        entry.flush = Handle::NONE;
        entry.holds = false;
        entry.is_rerouted = true;
        for slot in std::mem::take(&mut entry.held) {
            self.forward_by_policy(slot);
        }
    }
}

/// The place of a path in the table of those that a leaf avoids.
fn place_of(path: Path, node: u32) -> u32 {
    murmur3([path], node) % ENTRIES
}
