//! What a top-of-rack switch does for the flows of its hosts: it sends data on a path, asks how
//! long that takes, and takes another path when the answer is late.

use super::tag::{Kind, Stamp, Tag};
use crate::forwarding::flow_table::FlowTable;
use crate::forwarding::{MoveLog, Moves};
use crate::packet::Header;
use crate::routing::hash::scale_to;
use model::ConWeave as Params;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::Time;

/// What comes next for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has sent nothing, or routes have changed.
    New,
    /// A reply is due by this time.
    Asked(Time),
    /// The reply or the clear has come: the next packet begins an epoch.
    Settled,
    /// The tail has left; what follows is rerouted until the clear comes.
    Rerouted,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    stage: Stage,
    epoch: u8,
    path: u8,
    /// When its last packet left.
    active: Time,
    tail_sent: Stamp,
    /// How often its last message that took another path did so.
    moves: Moves,
}

const UNSEEN: Flow = Flow {
    stage: Stage::New,
    epoch: 0,
    path: 0,
    active: Time::ZERO,
    tail_sent: Stamp::ZERO,
    moves: Moves::NONE,
};

/// The flows that begin below a switch.
#[derive(Debug)]
pub(super) struct Source {
    flows: FlowTable<Flow>,
    /// By rack and path: until when it counts as busy. A rack of which nothing was heard has none.
    busy: Vec<Vec<Time>>,
    draws: Pcg64Mcg,
    params: Params,
    timely_replies: u64,
    reroutes: u64,
    aborted_reroutes: u64,
    /// When a flow took another path than before.
    log: MoveLog,
}

impl Source {
    pub(super) fn new(params: &Params, racks: usize, draws: Pcg64Mcg) -> Source {
        Source {
            flows: FlowTable::new(UNSEEN),
            busy: vec![Vec::new(); racks],
            draws,
            params: params.clone(),
            timely_replies: 0,
            reroutes: 0,
            aborted_reroutes: 0,
            log: MoveLog::default(),
        }
    }

    /// The tag of a data packet to a rack that `paths` lead to. `round_trip`: the time to a reply
    /// while nothing waits.
    pub(super) fn send(
        &mut self,
        header: &Header,
        now: Time,
        (rack, paths): (u32, u32),
        round_trip: Time,
    ) -> Tag {
        let Source { flows, busy, draws, params, .. } = self;
        let busy = &busy[rack as usize];
        let flow = flows.of(header);
        let mut draw = || {
            let is_free = |path: &u8| busy.get(usize::from(*path)).is_none_or(|&end| end <= now);
            (0..params.samples).map(|_| scale_to(draws.next_u32(), paths) as u8).find(is_free)
        };
        let (before, was_new) = (flow.path, flow.stage == Stage::New);
        let was_idle = now - flow.active > params.inactive;
        let mut tag = Tag {
            kind: Kind::Data,
            epoch: flow.epoch,
            is_rerouted: flow.stage == Stage::Rerouted,
            path: flow.path,
            rest: 0,
            sent: Stamp::new(now),
            tail_sent: flow.tail_sent,
        };
        match flow.stage {
            Stage::Asked(deadline) if !was_idle => {
                if now > deadline {
                    flow.tail_sent = Stamp::new(now);
                    (tag.kind, tag.tail_sent) = (Kind::Tail, flow.tail_sent);
                    flow.stage = Stage::Rerouted;
                    match draw() {
                        Some(path) => {
                            flow.path = path;
                            self.reroutes += 1;
                        }
                        None => self.aborted_reroutes += 1,
                    }
                }
            }
            Stage::Rerouted if !was_idle => {}
            _ => {
                // Nothing is on the way of a flow that was idle: it may take another path at once.
                if flow.stage != Stage::Settled || was_idle {
                    match draw() {
                        Some(path) => flow.path = path,
                        None if was_new => flow.path = scale_to(draws.next_u32(), paths) as u8,
                        None => {}
                    }
                }
                flow.epoch = flow.epoch.wrapping_add(1);
                flow.stage = Stage::Asked(now + round_trip + params.reply_extra);
                tag.kind = Kind::Request;
                tag.is_rerouted = false;
                (tag.epoch, tag.path) = (flow.epoch, flow.path);
            }
        }
        flow.active = now;
        if flow.path != before && !was_new {
            self.log.count(header.address.flow, &mut flow.moves);
        }
        tag
    }

    /// Takes what the switch of another rack says of a flow or a path to it.
    pub(super) fn hear(&mut self, header: &Header, tag: Tag, rack: u32, now: Time) {
        if tag.kind == Kind::Notify {
            let busy = &mut self.busy[rack as usize];
            let path = usize::from(tag.path);
            if busy.len() <= path {
                busy.resize(path + 1, Time::ZERO);
            }
            busy[path] = now + self.params.path_busy;
            return;
        }
        let flow = self.flows.of(header);
        if flow.epoch & 3 != tag.epoch {
            return;
        }
        match (tag.kind, flow.stage) {
            (Kind::Reply, Stage::Asked(deadline)) if now < deadline => {
                self.timely_replies += 1;
                flow.stage = Stage::Settled;
            }
            (Kind::Clear, Stage::Rerouted) => flow.stage = Stage::Settled,
            _ => {}
        }
    }

    /// Paths have other numbers from here on.
    pub(super) fn forget_paths(&mut self) {
        self.flows.all().for_each(|flow| flow.stage = Stage::New);
        self.busy.iter_mut().for_each(Vec::clear);
    }

    /// See [`Forwarding::moved`](crate::forwarding::Forwarding::moved).
    pub(super) fn moved(&self) -> Vec<Moves> {
        self.log.all(self.flows.seen().map(|flow| flow.moves))
    }

    pub(super) fn counters(&self) -> [(&'static str, u64); 4] {
        [
            ("path_changes", self.log.total()),
            ("timely_replies", self.timely_replies),
            ("reroutes", self.reroutes),
            ("aborted_reroutes", self.aborted_reroutes),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Address, PacketKind, blank};
    use crate::stream;

    const PARAMS: Params = Params {
        reply_extra: Time::from_us(4),
        path_busy: Time::from_us(8),
        inactive: Time::from_us(300),
        resume_extra: Time::from_us(16),
        resume_default: Time::from_us(200),
        queues: 31,
        samples: 2,
        header: 4,
        own_memory: false,
    };
    const ROUND_TRIP: Time = Time::from_us(4);

    fn source() -> Source {
        Source::new(&PARAMS, 3, stream::stream(1, "forwarding", 1))
    }

    fn packet() -> Header {
        blank(PacketKind::Data, Address { dst: 5, ..Address::default() }, 3, 1000)
    }

    fn send(source: &mut Source, us: u64) -> Tag {
        source.send(&packet(), Time::from_us(us), (1, 8), ROUND_TRIP)
    }

    fn hear(source: &mut Source, kind: Kind, of: Tag, us: u64) {
        source.hear(&packet(), Tag { kind, ..of }, 1, Time::from_us(us));
    }

    #[test]
    fn a_timely_reply_begins_an_epoch_on_the_same_path() {
        let mut source = source();
        let first = send(&mut source, 1000);
        assert_eq!((first.kind, first.epoch, first.is_rerouted), (Kind::Request, 1, false));
        assert_eq!(send(&mut source, 1003).kind, Kind::Data);
        hear(&mut source, Kind::Reply, first, 1007);
        let next = send(&mut source, 1009);
        assert_eq!((next.kind, next.epoch, next.path), (Kind::Request, 2, first.path));
        // The answer to the epoch before says nothing.
        hear(&mut source, Kind::Reply, first, 1010);
        assert_eq!(send(&mut source, 1011).kind, Kind::Data);
        assert_eq!(source.timely_replies, 1);
        assert_eq!(source.reroutes, 0);
    }

    #[test]
    fn after_the_deadline_a_tail_leaves_and_the_rest_is_rerouted_until_the_clear() {
        let mut source = source();
        let first = send(&mut source, 1000);
        // Eight microseconds after the request.
        assert_eq!(send(&mut source, 1008).kind, Kind::Data);
        hear(&mut source, Kind::Reply, first, 1008);
        let tail = send(&mut source, 1009);
        assert_eq!((tail.kind, tail.path, tail.is_rerouted), (Kind::Tail, first.path, false));
        hear(&mut source, Kind::Reply, first, 1010);
        let rerouted = send(&mut source, 1020);
        assert_eq!((rerouted.kind, rerouted.is_rerouted), (Kind::Data, true));
        assert_eq!((rerouted.epoch, rerouted.tail_sent), (1, tail.sent));
        assert_eq!(source.reroutes, 1);
        hear(&mut source, Kind::Clear, tail, 1030);
        let next = send(&mut source, 1031);
        assert_eq!((next.kind, next.epoch, next.path), (Kind::Request, 2, rerouted.path));
        assert!(!next.is_rerouted);
    }

    #[test]
    fn busy_paths_are_not_taken_while_they_are() {
        let mut source = source();
        let first = send(&mut source, 1000);
        for path in 0..8 {
            hear(&mut source, Kind::Notify, Tag { path, ..first }, 1009);
        }
        assert_eq!(send(&mut source, 1010).kind, Kind::Tail);
        assert_eq!((source.reroutes, source.aborted_reroutes), (0, 1));
        let rest = send(&mut source, 1011);
        assert_eq!((rest.path, rest.is_rerouted), (first.path, true));
        // Other racks' paths are others, and these are free again after their time.
        let other = source.send(
            &Header { address: Address { dst: 6, ..Address::default() }, ..packet() },
            Time::from_us(1012),
            (2, 8),
            ROUND_TRIP,
        );
        assert_eq!(other.kind, Kind::Request);
        hear(&mut source, Kind::Clear, first, 1012);
        assert_eq!(send(&mut source, 1013).kind, Kind::Request);
        assert_eq!(send(&mut source, 1030).kind, Kind::Tail);
        assert_eq!(source.reroutes, 1);
    }

    #[test]
    fn a_flow_that_paused_begins_anew_and_so_does_one_whose_routes_changed() {
        let mut source = source();
        send(&mut source, 1000);
        assert_eq!(send(&mut source, 1100).kind, Kind::Tail);
        assert_eq!(send(&mut source, 1400).kind, Kind::Data, "300 us are not too long");
        let anew = send(&mut source, 1701);
        assert_eq!((anew.kind, anew.epoch, anew.is_rerouted), (Kind::Request, 2, false));
        source.forget_paths();
        assert_eq!(send(&mut source, 1702).kind, Kind::Request);
    }
}
