//! Adaptive routing: a data packet takes the next hop with the least backlog.
//!
//! A backlog is the time that a port takes for the rest of the packet that it is sending and for
//! what waits there, so that ports of unequal rates compare. A port that PFC pauses is the last
//! choice. Equal ones are drawn.

use super::flowlet_table::FlowletTable;
use super::group_table::GroupTable;
use super::least_loaded::{Rank, least};
use super::{Choice, Depends, Ecmp, Forwarding, Moves};
use crate::packet::Header;
use rand_pcg::Pcg64Mcg;
use units::{Bytes, PortId, Time};

/// Adaptive routing in one switch.
#[derive(Debug)]
pub(crate) struct Adaptive {
    ecmp: Ecmp,
    /// The flows that keep their next hop; `None`: each packet chooses.
    flows: Option<Box<FlowletTable>>,
    best: Best,
}

/// Finds the best next hop of a packet.
#[derive(Debug)]
struct Best {
    levels: Vec<Bytes>,
    update: Time,
    /// By group: the ranks that were seen last, and in which multiple of `update`.
    seen: GroupTable<(u64, Vec<Rank>)>,
    draws: Pcg64Mcg,
}

impl Adaptive {
    pub(crate) fn new(
        ecmp: Ecmp,
        levels: Vec<Bytes>,
        update: Time,
        gap: Time,
        draws: Pcg64Mcg,
    ) -> Adaptive {
        let flows = (gap > Time::ZERO).then(|| Box::new(FlowletTable::new(gap)));
        Adaptive { ecmp, flows, best: Best { levels, update, seen: GroupTable::new(), draws } }
    }
}

impl Best {
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> PortId {
        let (next_hops, levels) = (choice.next_hops(), &self.levels);
        let load = |&next_hop: &PortId| choice.load(next_hop, header);
        if levels.is_empty() && self.update == Time::ZERO {
            let ranks = next_hops.iter().map(|next_hop| Rank::by_time(load(next_hop)));
            return next_hops[least(ranks, &mut self.draws)];
        }
        let rank = |next_hop: &PortId| match (levels[..].is_empty(), load(next_hop)) {
            (true, load) => Rank::by_time(load),
            (false, load) => {
                let level = levels.partition_point(|level| *level <= load.bytes);
                Rank::new(load.is_paused, level as u64)
            }
        };
        let place = if self.update == Time::ZERO {
            least(next_hops.iter().map(rank), &mut self.draws)
        } else {
            let instant = choice.now().ps() / self.update.ps();
            let ranks = || next_hops.iter().map(rank).collect::<Vec<Rank>>();
            let seen = self.seen.get(choice.group(), || (instant, ranks()));
            if seen.0 != instant {
                *seen = (instant, ranks());
            }
            least(seen.1.iter().copied(), &mut self.draws)
        };
        next_hops[place]
    }
}

impl Forwarding for Adaptive {
    const DEPENDS: Depends = Depends::Queues;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if !choice.is_open(header) {
            let port = self.ecmp.select(choice, header)?;
            if let Some(flows) = &mut self.flows {
                flows.note_only_port(header, port);
            }
            return Some(port);
        }
        let best = &mut self.best;
        Some(match &mut self.flows {
            Some(flows) => flows.port(header, choice.now(), |_| best.select(choice, header)),
            None => best.select(choice, header),
        })
    }

    fn on_reroute(&mut self) {
        self.best.seen.clear();
        self.flows.iter_mut().for_each(|flows| flows.forget_paths());
    }

    fn moved(&self) -> Vec<Moves> {
        self.flows.as_ref().map_or(Vec::new(), |flows| flows.moved())
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.flows.as_ref().map_or(Vec::new(), |flows| flows.counters())
    }
}
