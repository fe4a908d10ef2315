//! ConWeave: the source's leaf measures the round trip, and moves a flow to another path when a
//! reply is late. The destination's leaf holds packets of the new path back until the last one of
//! the old path has come.
//!
//! An epoch begins with a packet that asks for a reply. If the reply is late, the next packet is
//! the tail: the last on the old path. Packets after it are rerouted. The reply to the tail ends
//! the epoch.

use super::paths::{Mark, Path, Tag};
use crate::event_list::{Handle, Kind};
use crate::packets::{Packet, PacketKind};
use crate::settings::Reroute;
use crate::simulation::Simulation;

/// Bytes of a reply and of a notice of congestion.
const CONTROL_SIZE: u16 = 64;
/// How many entries a leaf has for paths that it avoids.
const ENTRIES: u32 = 65_536;

/// What comes next for a flow at the leaf of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next packet begins an epoch.
    Settled,
    /// The reply is late after this time.
    Asked(u64),
    /// The tail has left: packets are rerouted until the reply to it comes.
    Rerouted,
}

/// What the source's leaf keeps of a flow. Times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Source {
    stage: Stage,
    epoch: u32,
    /// `None` before its first packet.
    path: Option<Path>,
    /// When its last packet left.
    last: u64,
    /// When the tail of this epoch left; 0 if none has.
    tail_at: u64,
}

/// A path that a leaf has drawn.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    path: Path,
    /// A packet was marked on it lately.
    is_avoided: bool,
}

impl Source {
    pub(super) const NEW: Source =
        Source { stage: Stage::Settled, epoch: 0, path: None, last: 0, tail_at: 0 };

    /// Takes note of a packet that leaves at `now`. Returns its tag.
    fn send(&mut self, now: u64, drawn: Drawn, times: &Reroute) -> Tag {
        let was_silent = self.last + times.inactive < now;
        self.last = now;
        let old = *self.path.get_or_insert(drawn.path);
        let mark = match self.stage {
            Stage::Settled => Mark::First,
            _ if was_silent => Mark::First,
            Stage::Asked(deadline) if deadline < now => Mark::Tail,
            Stage::Asked(_) | Stage::Rerouted => Mark::None,
        };
        let is_rerouted = mark == Mark::None && self.stage == Stage::Rerouted;
        if mark == Mark::First {
            let round_trip = times.hop * u64::from(drawn.path.length()) * 2;
            self.stage = Stage::Asked(now + round_trip + times.reply_extra);
            self.epoch += 1;
            self.tail_at = 0;
        } else if mark == Mark::Tail {
            self.stage = Stage::Rerouted;
            self.tail_at = now;
        }
        let moves = (was_silent || mark == Mark::Tail) && !drawn.is_avoided;
        let next = if moves { drawn.path } else { old };
        self.path = Some(next);
        let path = if mark == Mark::Tail { old } else { next };
        let Source { epoch, tail_at, .. } = *self;
        Tag { path, epoch, is_rerouted, mark, sent_at: now, tail_at, ..Tag::NONE }
    }

    /// Takes note of a reply that has come at `now`.
    fn note_reply(&mut self, reply: &Tag, now: u64) {
        if reply.epoch != self.epoch {
            return;
        }
        let settles = match self.stage {
            Stage::Settled => false,
            Stage::Asked(deadline) => reply.mark == Mark::First && now < deadline,
            Stage::Rerouted => reply.mark == Mark::Tail,
        };
        if settles {
            self.stage = Stage::Settled;
        }
    }
}

/// A path on which a packet was marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avoided {
    path: Path,
    /// Until when it is avoided, in nanoseconds.
    until: u64,
}

/// What the destination's leaf keeps of a flow. Times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    epoch: u32,
    /// The tail has come, or is not waited for.
    is_past_tail: bool,
    /// The last packet of this epoch that came on the old path.
    old: Option<OldPacket>,
    /// When its last packet came.
    last: u64,
    /// When the tail left its leaf, as the last tail or rerouted packet says.
    tail_at: u64,
    /// The packets that it holds back, by their slots, and when they go.
    held: Vec<u32>,
    flush: Handle,
}

/// The times of a packet that came on the old path, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OldPacket {
    sent_at: u64,
    came_at: u64,
}

impl Destination {
    pub(super) const NEW: Destination = Destination {
        epoch: 1,
        is_past_tail: false,
        old: None,
        last: 0,
        tail_at: 0,
        held: Vec::new(),
        flush: Handle::NONE,
    };

    /// Whether it holds packets back.
    fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes note of a packet that comes at `now`, of this epoch or a later one. Returns whether it
    /// has overtaken packets of the old path, and is held back.
    fn receive(&mut self, tag: &Tag, now: u64) -> bool {
        let is_tail = tag.mark == Mark::Tail;
        let begins = std::mem::replace(&mut self.epoch, tag.epoch) < tag.epoch;
        if !tag.is_rerouted {
            self.old = Some(OldPacket { sent_at: tag.sent_at, came_at: now });
        } else if begins {
            self.old = None;
        }
        if begins {
            self.is_past_tail = is_tail;
        } else if is_tail {
            // Packets that are held back wait for the flush, which the tail has due at once.
            self.is_past_tail |= !self.holds();
        }
        if is_tail || tag.is_rerouted {
            self.tail_at = tag.tail_at;
        }
        tag.is_rerouted && !self.is_past_tail
    }

    /// Returns when what is held back goes, after a packet with `tag` has come at `now`. It may be
    /// a time in the past.
    fn flush_at(&self, tag: &Tag, now: u64, times: &Reroute) -> u64 {
        if tag.mark == Mark::Tail {
            return now + 1;
        }
        let tail_due = match self.old {
            // As long after that packet as it was sent after it.
            Some(old) => old.came_at + self.tail_at.saturating_sub(old.sent_at),
            None => now + times.resume_default,
        };
        tail_due + times.resume_extra
    }
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
        if is_control {
            match node == destination {
                true => self.take_control(node, slot),
                false => self.forward_by_policy(slot),
            }
        } else if node == source {
            self.send_from_leaf(node, destination, slot);
        } else if node == destination {
            self.receive_at_leaf(node, slot);
        } else {
            let tag = self.conweave.tag(slot);
            tag.hop += 1;
            let Tag { path, hop, .. } = *tag;
            self.forward_along(node, path, hop, slot);
        }
    }

    /// The source's leaf gives data its path.
    fn send_from_leaf(&mut self, node: u32, leaf: u32, slot: u32) {
        let now = self.events.now();
        let drawn = self.draw_path(node, leaf);
        let (flow, times) = (self.packets.get(slot).flow, self.settings.reroute);
        let tag = self.source_of(node, flow).send(now, drawn, &times);
        *self.conweave.tag(slot) = tag;
        self.forward_along(node, tag.path, 0, slot);
    }

    /// Draws two paths. Returns the first that is not avoided, or else the first.
    fn draw_path(&mut self, node: u32, leaf: u32) -> Drawn {
        let now = self.events.now();
        let paths = self.conweave.paths.between(node, leaf);
        // One more is drawn there, and not used.
        self.rand.draw();
        let drawn = [0; 2].map(|_| paths[self.rand.draw() as usize % paths.len()]);
        let is_avoided = |path: Path| {
            let entry = self.conweave.avoided.get(&(node, place_of(path, node)));
            entry.is_some_and(|entry| entry.path == path && entry.until > now)
        };
        match drawn.into_iter().find(|&path| !is_avoided(path)) {
            Some(path) => Drawn { path, is_avoided: false },
            None => Drawn { path: drawn[0], is_avoided: true },
        }
    }

    /// The destination's leaf passes data on, or holds it back.
    fn receive_at_leaf(&mut self, node: u32, slot: u32) {
        let now = self.events.now();
        let tag = *self.conweave.tag(slot);
        let flow = self.packets.get(slot).flow;
        let last = self.conweave.destinations[flow as usize].last;
        let is_forgotten = self.is_forgotten(node, last);
        let entry = &mut self.conweave.destinations[flow as usize];
        if is_forgotten && !entry.holds() {
            *entry = Destination::NEW;
        }
        entry.last = now;
        if tag.epoch < entry.epoch {
            return self.forward_by_policy(slot);
        }
        let is_early = entry.receive(&tag, now);
        let begins_to_hold = is_early && !entry.holds();
        if begins_to_hold || (!tag.is_rerouted && entry.holds()) {
            self.events.cancel(&mut entry.flush);
            let delay = entry.flush_at(&tag, now, &self.settings.reroute).saturating_sub(now);
            entry.flush = self.events.schedule(delay, Kind::Flush, flow, node);
        }
        if is_early {
            entry.held.push(slot);
        }
        if self.packets.get(slot).marked {
            self.answer(slot, Tag { path: tag.path, mark: Mark::Congested, ..Tag::NONE });
        }
        if tag.mark != Mark::None {
            self.answer(slot, Tag { epoch: tag.epoch, mark: tag.mark, ..Tag::NONE });
        }
        if !is_early {
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
        let flow = self.packets.get(slot).flow;
        self.packets.remove(slot);
        if tag.mark == Mark::Congested {
            let avoided = Avoided { path: tag.path, until: now + self.settings.reroute.path_busy };
            self.conweave.avoided.insert((node, place_of(tag.path, node)), avoided);
            return;
        }
        self.source_of(node, flow).note_reply(&tag, now);
    }

    /// What the source's leaf keeps of a flow. It is new if the leaf has forgotten it.
    fn source_of(&mut self, leaf: u32, flow: u32) -> &mut Source {
        let last = self.conweave.sources[flow as usize].last;
        if self.is_forgotten(leaf, last) {
            self.conweave.sources[flow as usize] = Source::NEW;
        }
        &mut self.conweave.sources[flow as usize]
    }

    /// The destination's leaf sends on what it has held back of a flow.
    pub(crate) fn flush(&mut self, flow: u32) {
        let entry = &mut self.conweave.destinations[flow as usize];
        entry.flush = Handle::NONE;
        entry.is_past_tail = true;
        for slot in std::mem::take(&mut entry.held) {
            self.forward_by_policy(slot);
        }
    }
}

/// The place of a path in the table of those that a leaf avoids.
fn place_of(path: Path, leaf: u32) -> u32 {
    path.hash(leaf) % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Reroute = Reroute {
        hop: 1_000,
        inactive: 300_000,
        reply_extra: 4_000,
        path_busy: 8_000,
        resume_extra: 16_000,
        resume_default: 200_000,
    };

    /// A path through two switches.
    fn path(first_port: u16) -> Path {
        Path::EMPTY.through(0, first_port).through(1, 7)
    }

    fn free(first_port: u16) -> Drawn {
        Drawn { path: path(first_port), is_avoided: false }
    }

    fn reply(epoch: u32, mark: Mark) -> Tag {
        Tag { epoch, mark, ..Tag::NONE }
    }

    fn told(tag: Tag) -> (Mark, u32, bool, Path) {
        (tag.mark, tag.epoch, tag.is_rerouted, tag.path)
    }

    #[test]
    fn a_late_reply_moves_a_flow_behind_its_tail() {
        let mut source = Source::NEW;
        let mut send = |now, port| source.send(now, free(port), &TIMES);
        assert_eq!(told(send(1_000_000, 1)), (Mark::First, 1, false, path(1)));
        // Two links there and two back, and 4 us.
        assert_eq!(told(send(1_008_000, 2)), (Mark::None, 1, false, path(1)));
        let tail = send(1_008_001, 3);
        assert_eq!(told(tail), (Mark::Tail, 1, false, path(1)));
        assert_eq!(tail.tail_at, 1_008_001);
        let rerouted = send(1_008_100, 4);
        assert_eq!(told(rerouted), (Mark::None, 1, true, path(3)));
        assert_eq!(rerouted.tail_at, 1_008_001);
        source.note_reply(&reply(1, Mark::First), 1_009_000);
        assert_eq!(source.stage, Stage::Rerouted, "only the reply to the tail counts");
        source.note_reply(&reply(1, Mark::Tail), 1_009_000);
        let next = source.send(1_009_100, free(5), &TIMES);
        assert_eq!(told(next), (Mark::First, 2, false, path(3)), "it stays on its path");
        assert_eq!(next.tail_at, 0);
    }

    #[test]
    fn a_reply_in_time_ends_an_epoch_and_one_of_another_epoch_does_not() {
        let mut source = Source::NEW;
        source.send(1_000_000, free(1), &TIMES);
        source.note_reply(&reply(0, Mark::First), 1_001_000);
        source.note_reply(&reply(1, Mark::First), 1_008_000);
        assert_eq!(source.stage, Stage::Asked(1_008_000), "it is late at that time");
        source.note_reply(&reply(1, Mark::First), 1_007_999);
        assert_eq!(source.stage, Stage::Settled);
    }

    #[test]
    fn a_flow_leaves_its_path_for_one_that_is_not_avoided() {
        let mut source = Source::NEW;
        let busy = Drawn { is_avoided: true, ..free(2) };
        source.send(1_000_000, free(1), &TIMES);
        assert_eq!(told(source.send(1_300_001, busy, &TIMES)), (Mark::First, 2, false, path(1)));
        assert_eq!(told(source.send(1_600_002, free(3), &TIMES)).3, path(3), "after a silence");
    }

    /// A packet that has been sent at `sent_at`.
    fn sent(epoch: u32, mark: Mark, sent_at: u64) -> Tag {
        Tag { epoch, mark, sent_at, ..Tag::NONE }
    }

    fn rerouted(epoch: u32, tail_at: u64) -> Tag {
        Tag { is_rerouted: true, tail_at, ..sent(epoch, Mark::None, tail_at + 100) }
    }

    #[test]
    fn packets_of_the_new_path_wait_for_the_tail() {
        let mut to = Destination::NEW;
        assert!(!to.receive(&sent(1, Mark::First, 40_000), 100_000));
        let early = rerouted(1, 50_000);
        assert!(to.receive(&early, 101_000));
        // The tail was sent 10 us after the packet that came at 100 us.
        assert_eq!(to.flush_at(&early, 101_000, &TIMES), 110_000 + TIMES.resume_extra);
        to.held.push(7);
        let tail = Tag { tail_at: 50_000, ..sent(1, Mark::Tail, 50_000) };
        assert!(!to.receive(&tail, 105_000));
        assert_eq!(to.flush_at(&tail, 105_000, &TIMES), 105_001);
        assert!(to.receive(&rerouted(1, 50_000), 105_000), "until what is held has gone");
        to.held.clear();
        assert!(!to.receive(&tail, 105_001));
        assert!(!to.receive(&rerouted(1, 50_000), 105_002));
    }

    #[test]
    fn a_new_epoch_knows_no_packet_of_the_old_path() {
        let mut to = Destination::NEW;
        to.receive(&sent(1, Mark::First, 40_000), 100_000);
        let early = rerouted(2, 150_000);
        assert!(to.receive(&early, 160_000));
        assert_eq!((to.epoch, to.old), (2, None));
        let waits = TIMES.resume_default + TIMES.resume_extra;
        assert_eq!(to.flush_at(&early, 160_000, &TIMES), 160_000 + waits);
        assert!(!to.receive(&sent(3, Mark::Tail, 170_000), 180_000));
        assert!(!to.receive(&rerouted(3, 170_000), 181_000));
    }
}
