//! Round-robin packet spraying: data packets take the next hops of a group in turn.

use super::group_table::GroupTable;
use super::{Choice, Depends, Ecmp, Forwarding};
use crate::packet::Header;
use units::PortId;
use units::splitmix;

/// Round-robin spraying in one switch.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    ecmp: Ecmp,
    /// Decides where each group begins, so that switches are not in step.
    seed: u64,
    /// By group: whose turn it is.
    turns: GroupTable<u32>,
}

impl RoundRobin {
    pub(crate) fn new(ecmp: Ecmp, seed: u64) -> RoundRobin {
        RoundRobin { ecmp, seed, turns: GroupTable::new() }
    }
}

impl Forwarding for RoundRobin {
    const DEPENDS: Depends = Depends::History;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if !choice.is_open(header) {
            return self.ecmp.select(choice, header);
        }
        let next_hops = choice.next_hops(header);
        let (group, seed) = (choice.group(header), self.seed);
        let turn = self.turns.get(group, || splitmix::mix(seed ^ u64::from(group)) as u32);
        let place = *turn as usize % next_hops.len();
        *turn = (place + 1) as u32;
        Some(next_hops[place])
    }

    fn on_reroute(&mut self) {
        self.turns.clear();
    }
}
