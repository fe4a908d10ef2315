//! What external switches of any kind share: which ports are long, what is kept of each flow, and the
//! resubmission of section 2.2, by which a switch blocks a flow.
//!
//! A data packet that comes over the long link while its flow is blocked goes to the tail of that
//! port's ingress queue, n times, the least n with sum over i of qlen_i / rate_drain >= T_block. The
//! queue holds the packets under resubmission, bytes leave it at the line rate of the long link, and
//! each pass takes `pass_time` besides, or a queue of one packet would take it round for ever.
//!
//! How long that is, and in which order packets of a flow go, is the [`Reaction`]'s matter: it is
//! asked whenever a packet comes or has come round.

use super::flow_table::FlowTable;
use super::{ExternalParams, Resubmission, is_long};
use crate::contract::{Address, Header, HoldVerdict, PortFacts};
use units::{Bytes, PortId, Rate, Time};

/// What an external switch keeps of a flow to block it.
pub trait Reaction: Clone + Default + Send + 'static {
    /// What all flows of the switch share.
    type Law: Send + 'static;

    /// Whether its place may go to another flow.
    fn is_idle(&self, now: Time, law: &Self::Law) -> bool;
    /// What becomes of a data packet; it just came if it has no passes.
    fn step(
        &mut self,
        now: Time,
        law: &Self::Law,
        header: &Header,
        held: &mut Resubmission,
    ) -> ReactionStep;
    /// The packet is resubmitted, and comes round at `until`.
    fn resubmitted(&mut self, header: &Header, held: &Resubmission, until: Time);
}

/// What becomes of a data packet that came over the long link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionStep {
    /// It goes on.
    Forward,
    /// It is resubmitted.
    Resubmit,
    /// It waits for others of its flow, which go first; it is looked at again at this time.
    Wait(Time),
}

/// The packets of a flow that came and are not gone: wire bytes, which wrap around.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    came: u32,
    gone: u32,
}

impl Backlog {
    /// A packet came.
    pub fn join(&mut self, header: &Header, held: &mut Resubmission) {
        held.place = self.came;
        self.came = self.came.wrapping_add(u32::from(header.size));
    }

    /// Bytes of the flow that go before a packet.
    #[inline]
    pub fn bytes_ahead(&self, held: &Resubmission) -> u32 {
        held.place.wrapping_sub(self.gone)
    }

    /// Whether a packet came last.
    #[inline]
    pub fn is_last(&self, header: &Header, held: &Resubmission) -> bool {
        held.place.wrapping_add(u32::from(header.size)) == self.came
    }

    /// The first packet goes.
    pub fn leave(&mut self, header: &Header) {
        self.gone = self.gone.wrapping_add(u32::from(header.size));
    }

    /// Whether all are gone.
    pub fn is_empty(&self) -> bool {
        self.came == self.gone
    }
}

/// The external switch.
#[derive(Clone, Debug)]
pub struct ExternalSwitch<R: Reaction> {
    /// It is a notification point.
    pub notifies: bool,
    /// It is a reaction point.
    pub reacts: bool,
    law: R::Law,
    pass_time: Time,
    lines: Vec<Line>,
    flows: FlowTable<R>,
}

/// A port, and the ingress queue of one that leads to another data centre.
#[derive(Clone, Copy, Debug)]
struct Line {
    long: bool,
    rate: Rate,
    /// When all that is in the queue will have gone round.
    round_at: Time,
}

impl<R: Reaction> ExternalSwitch<R> {
    /// The external switch with these ports.
    pub fn new(params: &ExternalParams, ports: &[PortFacts], law: R::Law) -> ExternalSwitch<R> {
        let line = |port: &PortFacts| Line {
            long: is_long(params, port),
            rate: port.rate,
            round_at: Time::ZERO,
        };
        ExternalSwitch {
            notifies: params.notify,
            reacts: params.react,
            law,
            pass_time: params.pass_time,
            lines: ports.iter().map(line).collect(),
            flows: FlowTable::new(params.flow_entries),
        }
    }

    /// What all flows share.
    #[inline]
    pub fn law(&self) -> &R::Law {
        &self.law
    }

    /// Whether a port leads to another data centre.
    #[inline]
    pub fn is_long(&self, port: PortId) -> bool {
        self.lines[port.index()].long
    }

    /// What is kept of a flow, if anything.
    #[inline]
    pub fn known(&mut self, address: &Address) -> Option<(&mut R, &R::Law)> {
        Some((self.flows.get(address)?, &self.law))
    }

    /// What is kept of a flow, from now on if not before; `None` where there is no place for it.
    #[inline]
    pub fn flow(&mut self, now: Time, address: &Address) -> Option<(&mut R, &R::Law)> {
        let law = &self.law;
        Some((self.flows.get_or_make(address, |flow| flow.is_idle(now, law))?, law))
    }

    /// A data packet came over the long link, or came round again.
    pub fn resubmit(
        &mut self,
        now: Time,
        in_port: PortId,
        header: &Header,
        held: &mut Resubmission,
    ) -> HoldVerdict {
        if !self.reacts {
            return HoldVerdict::Forward;
        }
        let Some(flow) = self.flows.get(&header.address) else { return HoldVerdict::Forward };
        match flow.step(now, &self.law, header, held) {
            ReactionStep::Forward => {
                *held = Resubmission::default();
                return HoldVerdict::Forward;
            }
            ReactionStep::Resubmit => held.passes += 1,
            ReactionStep::Wait(until) => {
                held.passes += 1;
                return HoldVerdict::Hold(until);
            }
        }
        let line = &mut self.lines[in_port.index()];
        let bytes = Bytes::new(u64::from(header.size));
        line.round_at = line.round_at.max(now) + line.rate.time_for(bytes);
        let until = line.round_at + self.pass_time;
        flow.resubmitted(header, held, until);
        HoldVerdict::Hold(until)
    }
}
