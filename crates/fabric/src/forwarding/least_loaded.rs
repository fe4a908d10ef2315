//! How a policy finds the next hop with the least backlog.

use super::NextHopLoad;
use crate::routing::hash::scale_to;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::Time;

/// What decides between two ports: a paused one is the last choice, whatever waits there.
pub(super) type Rank = (bool, Time);

/// The rank of a port by the time that its backlog takes.
pub(super) fn by_time(load: &NextHopLoad) -> Rank {
    (load.is_paused, load.backlog)
}

/// The place of the least rank. Draws among equal ones.
pub(super) fn least(ranks: impl Iterator<Item = Rank> + Clone, draws: &mut Pcg64Mcg) -> usize {
    let least = ranks.clone().min().expect("there are next hops");
    let mut best = ranks.enumerate().filter(|&(_, rank)| rank == least).map(|(place, _)| place);
    match best.clone().count() {
        1 => best.next(),
        several => best.nth(scale_to(draws.next_u32(), several as u32)),
    }
    .expect("one has the least rank")
}
