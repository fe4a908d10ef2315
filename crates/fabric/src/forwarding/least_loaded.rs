//! How a policy finds the next hop with the least backlog.

use super::NextHopLoad;
use crate::routing::hash::scale_to;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// What decides between two ports: a paused one is the last choice, whatever waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u64);

impl Rank {
    /// The rank of a port with this much load.
    #[inline]
    pub(super) fn new(is_paused: bool, load: u64) -> Rank {
        debug_assert!(load <= u64::MAX >> 1);
        Rank(u64::from(is_paused) << 63 | load)
    }

    /// The rank of a port by the time that its backlog takes.
    #[inline]
    pub(super) fn by_time(load: NextHopLoad) -> Rank {
        Rank::new(load.is_paused, load.backlog.ps())
    }
}

/// The place of the least rank. Draws among equal ones.
#[inline]
pub(super) fn least(ranks: impl Iterator<Item = Rank> + Clone, draws: &mut Pcg64Mcg) -> usize {
    let (mut least, mut first, mut count) = (Rank(u64::MAX), 0, 0);
    for (place, rank) in ranks.clone().enumerate() {
        if rank < least {
            (least, first, count) = (rank, place, 1);
        } else if rank == least {
            count += 1;
        }
    }
    if count == 1 {
        return first;
    }
    let mut best = ranks.enumerate().filter(|&(_, rank)| rank == least);
    let place = scale_to(draws.next_u32(), count);
    best.nth(place).expect("it is less than their number").0
}
