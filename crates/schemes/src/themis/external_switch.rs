//! What all external switches share: which ports are long, the state of each flow, and the
//! resubmission of section 2.2, by which a switch blocks a flow.
//!
//! A data packet that comes over the long link while its flow is blocked goes to the tail of that
//! port's ingress queue n times. n is the smallest number with sum over i of qlen_i / rate_drain >=
//! T_block. The queue holds the packets under resubmission. Bytes leave it at the line rate of the
//! long link. In addition each pass takes `pass_time`: otherwise a queue of one packet would cycle
//! without time passing.
//!
//! How long a flow is blocked, and in which order its packets go, is up to the [`Reaction`]. It is
//! called whenever a packet arrives or has completed a pass.

use super::flow_table::FlowTable;
use super::{ExternalParams, Resubmission, is_long};
use crate::contract::{Address, Header, HoldVerdict, PortFacts};
use units::{Bytes, PortId, Rate, Time};

/// The state of a flow that an external switch uses to block it.
pub trait Reaction: Clone + Default + Send + 'static {
    /// What all flows of the switch share.
    type Law: Send + 'static;

    /// Returns whether its entry may go to another flow.
    fn is_idle(&self, now: Time, law: &Self::Law) -> bool;
    /// Decides about a data packet. The packet has just arrived if it has no passes.
    fn step(
        &mut self,
        now: Time,
        law: &Self::Law,
        header: &Header,
        held: &mut Resubmission,
    ) -> ReactionStep;
    /// Notes that the packet is resubmitted and completes the pass at `until`.
    fn resubmitted(&mut self, header: &Header, held: &Resubmission, until: Time);
}

/// Decision about a data packet that came over the long link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionStep {
    /// The packet is forwarded.
    Forward,
    /// The packet goes to the tail of the ingress queue.
    Resubmit,
    /// The packet waits for others of its flow that go first. It is checked again at this time.
    Wait(Time),
}

/// The packets of a flow that have arrived and not left. Counted in wire bytes, which wrap around.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    came: u32,
    gone: u32,
}

impl Backlog {
    /// Adds a packet that arrived.
    pub fn join(&mut self, header: &Header, held: &mut Resubmission) {
        held.place = self.came;
        self.came = self.came.wrapping_add(u32::from(header.size));
    }

    /// Returns the bytes of the flow that go before a packet.
    #[inline]
    pub fn bytes_ahead(&self, held: &Resubmission) -> u32 {
        held.place.wrapping_sub(self.gone)
    }

    /// Returns whether a packet is the last one that arrived.
    #[inline]
    pub fn is_last(&self, header: &Header, held: &Resubmission) -> bool {
        held.place.wrapping_add(u32::from(header.size)) == self.came
    }

    /// Removes the first packet, which leaves.
    pub fn leave(&mut self, header: &Header) {
        self.gone = self.gone.wrapping_add(u32::from(header.size));
    }

    /// Returns whether no packets are left.
    pub fn is_empty(&self) -> bool {
        self.came == self.gone
    }
}

/// An external switch.
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

/// A port, and the ingress queue of a long one.
#[derive(Clone, Copy, Debug)]
struct Line {
    long: bool,
    rate: Rate,
    /// When all packets in the queue will have completed their pass.
    round_at: Time,
}

impl<R: Reaction> ExternalSwitch<R> {
    /// Returns an external switch with these ports.
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

    /// Returns what all flows share.
    #[inline]
    pub fn law(&self) -> &R::Law {
        &self.law
    }

    /// Returns whether a port leads to another data centre.
    #[inline]
    pub fn is_long(&self, port: PortId) -> bool {
        self.lines[port.index()].long
    }

    /// The link of a port has this rate from now on. Passes that have begun end as they would have.
    pub fn set_rate(&mut self, port: PortId, rate: Rate) {
        self.lines[port.index()].rate = rate;
    }

    /// Returns the state of a flow, if there is one.
    #[inline]
    pub fn known(&mut self, address: &Address) -> Option<(&mut R, &R::Law)> {
        Some((self.flows.get(address)?, &self.law))
    }

    /// Returns the state of a flow and creates it if needed; `None` if the table has no place for
    /// it.
    #[inline]
    pub fn flow(&mut self, now: Time, address: &Address) -> Option<(&mut R, &R::Law)> {
        let law = &self.law;
        Some((self.flows.get_or_make(address, |flow| flow.is_idle(now, law))?, law))
    }

    /// Handles a data packet that came over the long link, or that has completed a pass.
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
