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
//! the order of arrival, by `select_port` of the two kinds of switch. Before it asks a policy with
//! [`Depends::Queues`], a switch must drain the ports of all next hops; the first such policy adds
//! that.
//!
//! Hosts with several ports, `rocelab plan`, the path of a QP (`context/path_facts.rs`) and the
//! causes of unfinished messages use the choice of ECMP. That is exact for policies with
//! [`Spread::PerFlow`] that select like ECMP; another policy must decide what they use.

mod ecmp;

pub(crate) use ecmp::{Ecmp, EcmpHashes};

use crate::packet::{Header, NO_INGRESS};
use crate::routing::{Routes, SwitchRow, TableRow};
use units::{PortId, Time};

/// What the choice of a policy depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// On the header and the next hops alone.
    Header,
    /// Also on the packets that the switch forwarded before, and on the time.
    History,
    /// Also on the queues of the switch.
    Queues,
}

/// What stays on one path. Packets on different paths may overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All packets of a flow, as long as no link fails.
    PerFlow,
    /// The packets of a flow between two gaps.
    PerFlowlet,
    /// Nothing: each packet is on its own.
    PerPacket,
}

/// A forwarding policy, with its state in one switch.
pub trait Forwarding: Send + 'static {
    /// What its choice depends on.
    const DEPENDS: Depends;
    /// Whether it keeps packets of a flow in order.
    const SPREAD: Spread;

    /// Selects one of the next hops of `choice` for a packet; `None` if there are none.
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId>;

    /// A link failed or was repaired somewhere: next hops may differ from here on.
    fn begin_epoch(&mut self) {}
}

/// What a policy may use beside the header.
pub struct Choice<'a> {
    routes: &'a Routes,
    row: &'a SwitchRow,
    now: Time,
}

impl<'a> Choice<'a> {
    #[inline]
    pub(crate) fn new(routes: &'a Routes, row: &'a SwitchRow, now: Time) -> Choice<'a> {
        Choice { routes, row, now }
    }

    /// When the packet is forwarded.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The port through which the packet came; `None` if this switch made it.
    #[inline]
    pub fn in_port(&self, header: &Header) -> Option<PortId> {
        (header.ingress != NO_INGRESS).then_some(PortId::new(header.ingress))
    }

    /// The ports that lead to the packet's destination: those on shortest paths, or one for each
    /// spanning tree.
    #[inline]
    pub fn next_hops(&self, header: &Header) -> &'a [PortId] {
        self.routes.next_hops_from(self.row, header.destination())
    }
}

/// The policy of a switch.
pub(crate) enum Router {
    /// ECMP, or the spanning tree of the flow.
    Ecmp(Ecmp),
}

impl Router {
    /// What its choice depends on.
    pub(crate) fn depends(&self) -> Depends {
        match self {
            Router::Ecmp(_) => Ecmp::DEPENDS,
        }
    }

    /// See [`Forwarding::select`].
    #[inline(always)]
    pub(crate) fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        match self {
            Router::Ecmp(ecmp) => ecmp.select(choice, header),
        }
    }

    /// See [`Forwarding::begin_epoch`].
    pub(crate) fn begin_epoch(&mut self) {
        match self {
            Router::Ecmp(ecmp) => ecmp.begin_epoch(),
        }
    }

    /// The next hop of a packet in a plain switch, whose policy depends on the header alone.
    /// Returns [`NO_ROUTE`](crate::routing::NO_ROUTE) if there is none.
    #[inline(always)]
    pub(crate) fn look_up(&self, routes: &Routes, row: &SwitchRow, header: &Header) -> u16 {
        match self {
            Router::Ecmp(ecmp) => ecmp.look_up(routes, row, header),
        }
    }

    /// The look-ups of a plain switch for many packets; `None` if they take more than the table.
    pub(crate) fn row<'a>(&self, routes: &'a Routes, row: &SwitchRow) -> Option<ForwardingRow<'a>> {
        match self {
            Router::Ecmp(ecmp) => ecmp.row(routes, row),
        }
    }
}

/// What a plain switch looks up for each packet of a batch.
pub(crate) struct ForwardingRow<'a> {
    row: TableRow<'a>,
    salt: u32,
}

impl ForwardingRow<'_> {
    /// The next hop of a packet. Returns [`NO_ROUTE`](crate::routing::NO_ROUTE) also if
    /// [`Router::look_up`] must find it.
    #[inline(always)]
    pub(crate) fn next_hop(&self, header: &Header) -> u16 {
        self.row.pick(header.destination(), || ecmp::mix(header.address.hash, self.salt))
    }
}
