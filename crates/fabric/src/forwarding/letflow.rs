//! LetFlow: a flow that pauses for longer than a gap takes a next hop at random (Vanini et al.,
//! NSDI 2017). What it sends between two such pauses is a flowlet, and stays on one path.

use super::flowlet_table::FlowletTable;
use super::{Choice, Depends, Ecmp, Forwarding, Moves};
use crate::packet::Header;
use crate::routing::hash::scale_to;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::{PortId, Time};

/// LetFlow in one switch.
#[derive(Debug)]
pub(crate) struct LetFlow {
    ecmp: Ecmp,
    flows: FlowletTable,
    draws: Pcg64Mcg,
}

impl LetFlow {
    pub(crate) fn new(ecmp: Ecmp, gap: Time, draws: Pcg64Mcg) -> LetFlow {
        LetFlow { ecmp, flows: FlowletTable::new(gap), draws }
    }
}

impl Forwarding for LetFlow {
    const DEPENDS: Depends = Depends::History;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if !choice.is_open(header) {
            let port = self.ecmp.select(choice, header)?;
            self.flows.note_only_port(header, port);
            return Some(port);
        }
        let (next_hops, draws) = (choice.next_hops(), &mut self.draws);
        Some(self.flows.port(header, choice.now(), |_| {
            next_hops[scale_to(draws.next_u32(), next_hops.len() as u32)]
        }))
    }

    fn on_reroute(&mut self) {
        self.flows.forget_paths();
    }

    fn moved(&self) -> Vec<Moves> {
        self.flows.moved()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.flows.counters()
    }
}
