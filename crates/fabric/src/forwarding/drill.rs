//! DRILL(d, m): a data packet takes the next hop with the least backlog among d that are drawn at
//! random and the m that were least loaded before (Ghorbani et al., SIGCOMM 2017).
//!
//! Open in the paper, decided here: drawn ports differ from each other, and may be remembered ones.
//! Among equally loaded ports the remembered one is kept, as in the ConWeave authors' simulator.
//! The memory is that of a group of next hops. A port that PFC pauses is the last choice.
//! [`DrillForm`] has the other simulator's decisions.

use super::group_table::GroupTable;
use super::least_loaded::Rank;
use super::{Choice, Depends, Ecmp, Forwarding};
use crate::compat::DrillForm;
use crate::packet::Header;
use crate::routing::hash::scale_to;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::PortId;

/// DRILL in one switch.
#[derive(Debug)]
pub(crate) struct Drill {
    ecmp: Ecmp,
    samples: usize,
    memory: usize,
    form: DrillForm,
    draws: Pcg64Mcg,
    /// By group or destination: places of the ports that were least loaded, the best first.
    remembered: GroupTable<Vec<usize>>,
    /// Places of the ports that a packet chooses from; empty between packets.
    candidates: Vec<usize>,
}

impl Drill {
    pub(crate) fn new(
        ecmp: Ecmp,
        samples: u32,
        memory: u32,
        form: DrillForm,
        draws: Pcg64Mcg,
    ) -> Drill {
        Drill {
            ecmp,
            samples: samples as usize,
            memory: memory as usize,
            form,
            draws,
            remembered: GroupTable::new(),
            candidates: Vec::new(),
        }
    }
}

impl Forwarding for Drill {
    const DEPENDS: Depends = Depends::Queues;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if !choice.is_open(header) {
            return self.ecmp.select(choice, header);
        }
        let next_hops = choice.next_hops();
        let count = next_hops.len();
        let load = |place: usize| choice.load(next_hops[place], header);
        let key = match self.form {
            DrillForm::Native => choice.group(),
            DrillForm::ByHostAndBytes => header.destination(),
        };
        let remembered = self.remembered.get(key, Vec::new);
        let candidates = &mut self.candidates;
        candidates.append(remembered);
        let kept = candidates.len();
        while candidates.len() - kept < self.samples.min(count) {
            let place = scale_to(self.draws.next_u32(), count as u32);
            if !candidates[kept..].contains(&place) {
                candidates.push(place);
            }
        }
        let rank = |place: usize| match self.form {
            DrillForm::Native => Rank::by_time(load(place)),
            DrillForm::ByHostAndBytes => Rank::new(false, load(place).bytes.get()),
        };
        for _ in 0..self.memory.max(1) {
            // The first of equals: remembered ones come before.
            let others = candidates.iter().filter(|place| !remembered.contains(place));
            let Some(&best) = others.min_by_key(|&&place| rank(place)) else { break };
            remembered.push(best);
        }
        candidates.clear();
        let best = remembered[0];
        remembered.truncate(self.memory);
        Some(next_hops[best])
    }

    fn on_reroute(&mut self) {
        self.remembered.clear();
    }
}
