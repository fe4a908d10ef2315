//! Adaptive routing: a data packet takes the next hop with the least backlog.
//!
//! A backlog is the time that a port takes for what waits there, so that ports of unequal rates
//! compare. A port that PFC pauses is the last choice. Equal ones are drawn.

use super::flowlet_table::FlowletTable;
use super::group_table::GroupTable;
use super::least_loaded::{Rank, by_time, least};
use super::{Choice, Depends, Ecmp, Forwarding, Moves, NextHopLoad};
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
        let levels = &self.levels;
        let rank = |load: &NextHopLoad| match levels[..] {
            [] => by_time(load),
            _ => {
                let level = levels.partition_point(|level| *level <= load.bytes);
                (load.is_paused, Time::from_ps(level as u64))
            }
        };
        let place = if self.update == Time::ZERO {
            least(choice.loads().iter().map(rank), &mut self.draws)
        } else {
            let instant = choice.now().ps() / self.update.ps();
            let ranks = || choice.loads().iter().map(rank).collect::<Vec<Rank>>();
            let seen = self.seen.get(choice.group(header), || (instant, ranks()));
            if seen.0 != instant {
                *seen = (instant, ranks());
            }
            least(seen.1.iter().copied(), &mut self.draws)
        };
        choice.loads()[place].port
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
