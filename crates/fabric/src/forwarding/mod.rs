//! Forwarding policies: how a switch selects one of several next hops, packet by packet.
//!
//! Routing says which next hops are equally good. A policy chooses among them. It belongs to the
//! fabric and knows no congestion-control scheme. On CIOQ switches a scheme may override the choice
//! ([`InputQueues::reroute`](schemes::contract::InputQueues::reroute)).
//!
//! # How to add a policy
//! Write a file beside `ecmp.rs` with a type that implements [`Forwarding`], and add a variant for
//! it to `Router`. Each switch has a policy of its own, so its state needs no locks, and no result
//! depends on the number of threads: a switch handles its packets in the order that
//! `docs/determinism.md` defines. Random draws come from a stream of the run's seed and the node.
//!
//! [`Depends`] decides which fast paths a switch may take. With [`Depends::Header`] the policy is a
//! pure function: next hops are looked up in batches, for packets in no particular order
//! (`switch/plain.rs`, `switch/by_port`). All other policies are asked once for each packet, in
//! the order of arrival. With [`Depends::Order`] they may be asked for all packets of a window
//! before the first of them is handled (`switch/by_port`). Otherwise `select_port` of the two kinds
//! of switch asks. Before it asks a policy with [`Depends::Queues`], a switch drains the ports of
//! all next hops.
//!
//! If [`Balance::has_tags`], each packet of the run has a tag, a word that the policy of one switch
//! writes and that of the next reads. The policy also sees each packet when it leaves.
//!
//! Hosts with several ports and the path of a QP (`context/path_facts.rs`) use the choice of ECMP.
//! Where data may take any shortest path, `rocelab plan` and the causes of unfinished messages look
//! at all of them (`NetworkContext::shares`).

mod adaptive;
mod choice;
mod conga;
mod conweave;
mod drill;
mod ecmp;
mod flow_table;
mod flowlet_table;
mod group_table;
mod least_loaded;
mod letflow;
mod moves;
mod random;
mod round_robin;
#[cfg(test)]
mod test_network;

pub use crate::port::NextHopLoad;
pub use choice::Choice;
pub(crate) use conweave::{Arrival, ConWeave, Fate, Notice, PathTable};
pub(crate) use ecmp::{Ecmp, EcmpHashes};
pub(crate) use moves::MoveLog;
pub use moves::Moves;

use crate::compat::Compat;
use crate::compat::murmur3::Scrambled;
use crate::network::graph::Graph;
use crate::packet::Header;
use crate::routing::{Routes, SwitchRow, TableRow};
use crate::stream;
use adaptive::Adaptive;
use conga::Conga;
use drill::Drill;
use engine::Bucketing;
use letflow::LetFlow;
use model::{Balance, PortUse};
use random::Random;
use round_robin::RoundRobin;
use schemes::contract::HostLocation;
use std::sync::Arc;
use units::{PortId, Rate, Time};

/// What the choice of a policy depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// On the header and the next hops alone.
    Header,
    /// Also on which packets the switch forwarded before, in their order, but not on times.
    Order,
    /// Also on when it forwarded them.
    History,
    /// Also on the queues of the switch.
    Queues,
}

/// A forwarding policy, with its state in one switch.
pub trait Forwarding: Send + 'static {
    /// What its choice depends on.
    const DEPENDS: Depends;

    /// Selects one of the next hops of `choice` for a packet; `None` if there are none.
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId>;

    /// A packet begins to leave through a port with this rate. Returns its tag from here on. Only a
    /// policy with tags sees it.
    fn on_depart(&mut self, _now: Time, _port: (PortId, Rate), _size: u16, tag: u64) -> u64 {
        tag
    }

    /// A link failed, was repaired or changed somewhere: the next epoch begins.
    fn begin_epoch(&mut self) {}

    /// A link failed or was repaired somewhere: next hops may differ from here on.
    fn on_reroute(&mut self) {}

    /// Returns the messages that it moved to another path. One may be there several times. Only a
    /// policy that remembers paths of flows has any ([`Balance::moves_flows`]).
    fn moved(&self) -> Vec<Moves> {
        Vec::new()
    }

    /// Returns what it counted, by name. A run puts the counts of switches together with
    /// [`add_counter`](schemes::contract::add_counter).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// The policy of a switch.
pub(crate) enum Router {
    /// ECMP, or the spanning tree of the flow.
    Ecmp(Ecmp),
    Random(Random),
    RoundRobin(RoundRobin),
    LetFlow(LetFlow),
    Adaptive(Adaptive),
    Drill(Drill),
    Conga(Conga),
    ConWeave(ConWeave),
}

/// Where a policy works.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) graph: &'a Graph,
    /// By index among the hosts.
    pub(crate) hosts: &'a [HostLocation],
    /// The switch.
    pub(crate) node: u32,
    /// The paths between racks, if the policy numbers them.
    pub(crate) paths: Option<&'a Arc<PathTable>>,
    /// How hosts use their ports.
    pub(crate) port_use: PortUse,
    /// Whose forms of policies they are.
    pub(crate) compat: Compat,
}

/// Calls a function of the policy in a router.
macro_rules! with_policy {
    ($router:expr, $policy:ident => $call:expr) => {
        match $router {
            Router::Ecmp($policy) => $call,
            Router::Random($policy) => $call,
            Router::RoundRobin($policy) => $call,
            Router::LetFlow($policy) => $call,
            Router::Adaptive($policy) => $call,
            Router::Drill($policy) => $call,
            Router::Conga($policy) => $call,
            Router::ConWeave($policy) => $call,
        }
    };
}

fn depends_of<P: Forwarding>(_policy: &P) -> Depends {
    P::DEPENDS
}

impl Router {
    /// Returns the policy of a switch whose flows ECMP would spread in this way.
    pub(crate) fn new(balance: &Balance, ecmp: Ecmp, seed: u64, place: &Place<'_>) -> Router {
        let node = place.node;
        let draws = || stream::stream(seed, "forwarding", u64::from(node));
        match *balance {
            Balance::Ecmp => Router::Ecmp(ecmp),
            Balance::Random => {
                Router::Random(Random { ecmp, at_once: place.port_use == PortUse::Spray })
            }
            Balance::RoundRobin => {
                let seed = stream::seed(seed, "forwarding", u64::from(node));
                Router::RoundRobin(RoundRobin::new(ecmp, seed))
            }
            Balance::LetFlow { gap } => Router::LetFlow(LetFlow::new(ecmp, gap, draws())),
            Balance::Adaptive { ref levels, update, gap } => {
                Router::Adaptive(Adaptive::new(ecmp, levels.clone(), update, gap, draws()))
            }
            Balance::Drill { samples, memory } => {
                Router::Drill(Drill::new(ecmp, samples, memory, place.compat.drill_form(), draws()))
            }
            Balance::Conga(ref params) => Router::Conga(Conga::new(ecmp, params, draws(), place)),
            Balance::ConWeave(ref params) => {
                Router::ConWeave(ConWeave::new(ecmp, params, draws(), place))
            }
        }
    }

    /// Returns what its choice depends on.
    pub(crate) fn depends(&self) -> Depends {
        with_policy!(self, policy => depends_of(policy))
    }

    /// ConWeave, if that is the policy.
    #[inline]
    pub(crate) fn conweave(&mut self) -> Option<&mut ConWeave> {
        match self {
            Router::ConWeave(policy) => Some(policy),
            _ => None,
        }
    }

    /// Returns when the policy must act next.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        match self {
            Router::ConWeave(policy) => policy.next_timer(),
            _ => Time::NEVER,
        }
    }

    /// See [`Forwarding::on_depart`].
    #[inline(never)]
    pub(crate) fn on_depart(
        &mut self,
        now: Time,
        port: (PortId, Rate),
        size: u16,
        tag: u64,
    ) -> u64 {
        with_policy!(self, policy => policy.on_depart(now, port, size, tag))
    }

    /// Returns whether and how arrivals may be put into buckets by the next hops that the policy
    /// selects.
    pub(crate) fn bucketing(&self) -> Bucketing {
        match self.depends() {
            Depends::Header => Bucketing::EachAlone,
            Depends::Order => Bucketing::InOrder,
            Depends::History | Depends::Queues => Bucketing::None,
        }
    }

    /// Takes back what the policy noted of the last batch of packets, whose buckets are not used.
    #[inline]
    pub(crate) fn undo_batch(&mut self) {
        if let Router::RoundRobin(policy) = self {
            policy.undo_batch();
        }
    }

    /// Returns whether rows of this policy choose by flow ([`RowHash::Flow`]).
    pub(crate) fn hashes_flows(&self) -> bool {
        matches!(self, Router::Ecmp(ecmp) if !ecmp.hashes_with_murmur3())
    }

    /// See [`Forwarding::select`].
    #[inline(always)]
    pub(crate) fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        match self {
            Router::Ecmp(ecmp) => ecmp.select(choice, header),
            other => other.select_otherwise(choice, header),
        }
    }

    #[inline(never)]
    fn select_otherwise(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        with_policy!(self, policy => policy.select(choice, header))
    }

    /// See [`Forwarding::begin_epoch`].
    pub(crate) fn begin_epoch(&mut self) {
        with_policy!(self, policy => policy.begin_epoch());
    }

    /// See [`Forwarding::on_reroute`].
    pub(crate) fn on_reroute(&mut self) {
        with_policy!(self, policy => policy.on_reroute());
    }

    /// See [`Forwarding::moved`].
    pub(crate) fn moved(&self) -> Vec<Moves> {
        with_policy!(self, policy => policy.moved())
    }

    /// See [`Forwarding::counters`].
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        with_policy!(self, policy => policy.counters())
    }

    /// Returns the next hop of a packet in a plain switch, if the policy depends on the header
    /// alone. Returns [`NO_ROUTE`](crate::routing::NO_ROUTE) if there is none.
    #[inline(always)]
    pub(crate) fn look_up(&self, routes: &Routes, row: &SwitchRow, header: &Header) -> u16 {
        match self {
            Router::Ecmp(ecmp) => ecmp.look_up(routes, row, header),
            other => other.look_up_otherwise(routes, row, header),
        }
    }

    #[inline(never)]
    fn look_up_otherwise(&self, routes: &Routes, row: &SwitchRow, header: &Header) -> u16 {
        match self {
            Router::Random(random) => random.ecmp.look_up(routes, row, &random.sprayed(header)),
            _ => unreachable!("they are asked by `select`, once for each packet"),
        }
    }

    /// Returns the look-ups of a plain switch for many packets; `None` if they take more than the
    /// table.
    pub(crate) fn row<'a>(
        &'a self,
        routes: &'a Routes,
        row: &SwitchRow,
    ) -> Option<ForwardingRow<'a>> {
        match self {
            Router::Ecmp(ecmp) => Some(ecmp.row(routes, row)),
            Router::Random(random) if !random.ecmp.hashes_with_murmur3() => {
                let (hash, at_once) = (RowHash::Packet, random.at_once);
                Some(ForwardingRow { hash, at_once, ..random.ecmp.row(routes, row) })
            }
            _ => None,
        }
    }
}

/// What a plain switch looks up for each packet of a batch.
pub(crate) struct ForwardingRow<'a> {
    row: TableRow<'a>,
    salt: u32,
    hash: RowHash<'a>,
    /// Of [`RowHash::Packet`]: see [`Random`].
    at_once: bool,
}

/// What selects the next hop of a packet. A loop over packets is written once for each of these,
/// with the function of [`ForwardingRow`] that belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowHash<'a> {
    /// A hash of the flow.
    Flow,
    /// A hash of the flow and the packet, which takes a path of its own: [`random`].
    Packet,
    /// The HPCC simulator's hash of a flow, from these addresses of hosts.
    Murmur3(&'a [Scrambled]),
}

impl<'a> ForwardingRow<'a> {
    /// Returns what selects the next hop. The functions below return
    /// [`NO_ROUTE`](crate::routing::NO_ROUTE) also if [`Router::look_up`] must find it.
    #[inline]
    pub(crate) fn hash(&self) -> RowHash<'a> {
        self.hash
    }

    /// Returns the next hop that [`RowHash::Flow`] selects.
    #[inline(always)]
    pub(crate) fn by_flow(&self, header: &Header) -> u16 {
        self.row.pick(header.destination(), || ecmp::mix(header.address.hash, self.salt))
    }

    /// Returns the next hop that [`RowHash::Packet`] selects.
    #[inline(always)]
    pub(crate) fn by_packet(&self, header: &Header) -> u16 {
        self.row
            .pick(header.destination(), || ecmp::mix(random::hash(header, self.at_once), self.salt))
    }

    /// Returns the next hop at the index that `choice` returns for the group of next hops and their
    /// number, whatever the hash.
    #[inline(always)]
    fn in_turn(&self, header: &Header, choice: impl FnOnce(u32, u32) -> usize) -> u16 {
        self.row.pick_in_turn(header.destination(), choice)
    }

    /// Returns the next hop that [`RowHash::Murmur3`] selects.
    #[inline(always)]
    pub(crate) fn by_murmur3(&self, addresses: &[Scrambled], header: &Header) -> u16 {
        let ends = header.route_ends();
        self.row.pick_at(ends.1, |count| {
            let hash = ecmp::ns3_hash(addresses, self.salt, ends, header.address.hash);
            ecmp::ns3_choice(hash, count)
        })
    }
}
