//! The external switch of the published prototype, which is a fork of the HPCC simulator.
//!
//! Notification point, at both external switches and in both directions: a data packet that arrived
//! with CE leaves without it and triggers a CNP. It triggers a second CNP if the flow's last timed
//! CNP is more than `notify_interval` (10 us) old. CNPs that pass are not held back. A mark of the
//! switch's own queue stays, unless the packet already had one.
//!
//! Reaction point, at ports into the data centre: an ACK or NACK that echoes a mark is a
//! notification; a CNP is not. The flow's first notification arms it. The next data packet of an
//! armed flow that reaches the head of the queue, however late, goes back to the tail. So do the
//! packets after it until it reaches the head again: one traversal of the queue, whatever the
//! frequency of notifications. Packets that had not joined the round when it ended go back until
//! the round's last packet has left, which restores the order. That packet, and each that leaves
//! before the next round, arms the flow again if the last notification is then at most `fresh_time`
//! old. Notifications are not marked as handled.
//!
//! A packet that goes back ends the port's turn: the port sends nothing until another packet joins
//! it (`stall_after_requeue`).
//!
//! Packets are identified by sequence number alone. A copy that is sent again after a timeout can
//! therefore end a round early, and packets of its flow then arrive out of order.
//!
//! If a link fails, a round that waits for a packet dropped there ends.
//!
//! Differences from the prototype:
//!
//! - A CNP takes the route of any packet to that source, not the port through which the data came.
//! - The end of the last round's train is tracked by the packets' own numbers and not in steps of
//!   1000 bytes.
//! - A sequence number of 0 differs from none.
//! - An armed flow without further notifications gives its place in a full table to another flow.

use super::flow_table::FlowTable;
use super::{ExternalParams, echoes_a_mark};
use crate::contract::{DequeueAction, EcnCodePoint, Flags, Header, PacketKind};
use units::Time;

/// The prototype's external switch.
#[derive(Clone, Debug)]
pub struct Prototype {
    notifies: bool,
    reacts: bool,
    notify_interval: Time,
    fresh_time: Time,
    goes_back: DequeueAction,
    flows: FlowTable<Flow>,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    /// Time of its last timed CNP.
    last_cnp: Option<Time>,
    /// Time of its last notification.
    last_echo: Option<Time>,
    round: Round,
}

/// State of a flow in its traversal of the queue. Numbers are first bytes of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Round {
    /// No round.
    #[default]
    Idle,
    /// The next packet starts a round, whenever it comes.
    Armed,
    /// Until `first` reaches the head again. `biggest` is the last packet that went back.
    Under { first: u64, biggest: u64 },
    /// Until `biggest` has left.
    Ordering { biggest: u64 },
}

impl Prototype {
    /// Returns an external switch.
    pub fn new(params: &ExternalParams) -> Prototype {
        Prototype {
            notifies: params.notify,
            reacts: params.react,
            notify_interval: params.notify_interval,
            fresh_time: params.fresh_time,
            goes_back: if params.stall_after_requeue {
                DequeueAction::RequeueAndStall
            } else {
                DequeueAction::Requeue
            },
            flows: FlowTable::new(params.flow_entries),
        }
    }

    /// Handles a packet that arrived.
    pub fn on_arrival(&mut self, now: Time, header: &mut Header) {
        if header.kind == PacketKind::Data {
            let congested = header.code_point == EcnCodePoint::CongestionExperienced;
            header.flags.set(Flags::MARK, self.notifies && congested);
        } else if self.reacts
            && echoes_a_mark(header)
            && let Some(flow) = self.flow(now, header)
        {
            if flow.last_echo.is_none() {
                flow.round = Round::Armed;
            }
            flow.last_echo = Some(now);
        }
    }

    /// Returns the number of CNPs that a leaving data packet triggers.
    pub fn notifications(&mut self, now: Time, header: &mut Header) -> u32 {
        if !header.flags.contains(Flags::MARK) {
            return 0;
        }
        header.flags.remove(Flags::MARK);
        header.code_point = EcnCodePoint::NotMarked;
        let interval = self.notify_interval;
        let Some(flow) = self.flow(now, header) else { return 1 };
        if flow.last_cnp.is_some_and(|last| now <= last + interval) {
            return 1;
        }
        flow.last_cnp = Some(now);
        2
    }

    /// Decides about a packet at the head of the queue of a port into the data centre.
    pub fn turn(&mut self, now: Time, header: &Header) -> DequeueAction {
        if header.kind != PacketKind::Data || !self.reacts {
            return DequeueAction::Send;
        }
        let Some(flow) = self.flows.get(&header.address) else { return DequeueAction::Send };
        let sequence = header.sequence;
        let (leaves, round) = match flow.round {
            Round::Idle => (true, Round::Idle),
            Round::Armed => (false, Round::Under { first: sequence, biggest: sequence }),
            Round::Under { first, biggest } if sequence == first && sequence == biggest => {
                (true, Round::Idle)
            }
            Round::Under { first, biggest } if sequence == first => {
                (true, Round::Ordering { biggest })
            }
            Round::Under { first, biggest } => {
                (false, Round::Under { first, biggest: biggest.max(sequence) })
            }
            Round::Ordering { biggest } if sequence > biggest => {
                (false, Round::Ordering { biggest: sequence })
            }
            Round::Ordering { biggest } if sequence == biggest => (true, Round::Idle),
            Round::Ordering { biggest } => (true, Round::Ordering { biggest }),
        };
        let is_fresh = flow.last_echo.is_some_and(|last_echo| now <= last_echo + self.fresh_time);
        flow.round = if round == Round::Idle && is_fresh { Round::Armed } else { round };
        if leaves { DequeueAction::Send } else { self.goes_back }
    }

    /// Handles a dropped packet: a round that waits for it ends.
    pub fn on_drop(&mut self, header: &Header) {
        if header.kind != PacketKind::Data {
            return;
        }
        let Some(flow) = self.flows.get(&header.address) else { return };
        let sequence = header.sequence;
        let waits_for_it = match flow.round {
            Round::Idle | Round::Armed => false,
            Round::Under { first, biggest } => sequence == first || sequence == biggest,
            Round::Ordering { biggest } => sequence == biggest,
        };
        if waits_for_it {
            flow.round = Round::Idle;
        }
    }

    fn flow(&mut self, now: Time, header: &Header) -> Option<&mut Flow> {
        let (interval, fresh) = (self.notify_interval, self.fresh_time);
        self.flows.get_or_make(&header.address, |flow| {
            matches!(flow.round, Round::Idle | Round::Armed)
                && flow.last_cnp.is_none_or(|last| now > last + interval)
                && flow.last_echo.is_none_or(|last| now > last + fresh)
        })
    }
}
