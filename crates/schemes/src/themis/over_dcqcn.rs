//! The external switch over DCQCN, as in the poster's sections 2.1 and 2.2.
//!
//! Notification point: CE counts when the packet joins the queue of the long link, and again when
//! it leaves it, for marks of this queue. If receivers notify by the echo in ACKs, an ACK that
//! echoes a mark is treated as a CNP. If a CNP would be held back, the ACK loses its echo.
//!
//! Reaction point: the poster does not say how T_block follows from the frequency of CNPs. Our
//! choice has the shape of the authors' later code. Each CNP adds `block_step`, up to `block_max`.
//! Each `quiet_time` without a CNP halves T_block, and a remainder below `pass_time` counts as
//! zero. T_block is computed when the packet is checked.
//!
//! Order: a packet is resubmitted until all packets of its flow before it have left. It first
//! completes a pass right behind the packet before it. So the packets of a flow follow one another
//! in the queue, and all of them may leave in one round. The poster's rule is that a packet has at
//! least as many resubmissions as any packet before it. It is equivalent while T_block rises. When
//! T_block falls, that rule would block a flow that never pauses for the longest T_block that it
//! ever had.

use super::external_switch::{Backlog, ExternalSwitch, Reaction, ReactionStep};
use super::{Resubmission, Themis, ThemisParams, is_notification};
use crate::contract::{
    EcnCodePoint, Flags, FullCx, Header, HoldVerdict, Packet, PacketKind, PortFacts,
};
use crate::dcqcn::MarkFeedback;
use units::{PortId, Time};

/// What all flows share.
#[derive(Clone, Debug)]
pub struct BlockLaw {
    notify_interval: Time,
    step: Time,
    max_block: Time,
    quiet: Time,
    min_block: Time,
    /// ACKs that echo a mark count as CNPs.
    uses_ecn_echo: bool,
}

/// The state of a flow.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// No CNP to its source before this time.
    silent_until: Time,
    block: Block,
    backlog: Backlog,
    /// When the last packet of the backlog completes its pass.
    last_round: Time,
}

/// T_block of a flow.
#[derive(Clone, Debug, Default)]
struct Block {
    time: Time,
    /// Time of the last CNP, or of the last halving.
    since: Time,
    /// A CNP before this time is due to the same congestion as the previous one.
    same_congestion_until: Time,
}

impl Block {
    /// Returns T_block at `now`.
    fn at(&mut self, now: Time, law: &BlockLaw) -> Time {
        while self.time != Time::ZERO && now >= self.since + law.quiet {
            self.time = self.time / 2;
            self.since += law.quiet;
            if self.time < law.min_block {
                self.time = Time::ZERO;
            }
        }
        self.time
    }

    /// Raises T_block for a CNP. Receivers space their CNPs. Marks that ACKs echo count at the same
    /// interval.
    fn raise(&mut self, now: Time, law: &BlockLaw) {
        if law.uses_ecn_echo && now < self.same_congestion_until {
            return;
        }
        self.time = (self.at(now, law) + law.step).min(law.max_block);
        (self.since, self.same_congestion_until) = (now, now + law.notify_interval);
    }
}

impl Reaction for Flow {
    type Law = BlockLaw;

    fn is_idle(&self, now: Time, law: &BlockLaw) -> bool {
        self.backlog.is_empty()
            && now >= self.silent_until
            && self.block.clone().at(now, law) == Time::ZERO
    }
    fn step(
        &mut self,
        now: Time,
        law: &BlockLaw,
        header: &Header,
        held: &mut Resubmission,
    ) -> ReactionStep {
        if held.passes == 0 {
            held.begun = now;
            let follows = !self.backlog.is_empty();
            self.backlog.join(header, held);
            if follows {
                return ReactionStep::Wait(self.last_round);
            }
        }
        if now - held.begun < self.block.at(now, law) || self.backlog.bytes_ahead(held) != 0 {
            return ReactionStep::Resubmit;
        }
        self.backlog.leave(header);
        ReactionStep::Forward
    }
    fn resubmitted(&mut self, header: &Header, held: &Resubmission, until: Time) {
        if self.backlog.is_last(header, held) {
            self.last_round = until;
        }
    }
}

impl ExternalSwitch<Flow> {
    /// Returns an external switch with these ports, over DCQCN.
    pub fn over_dcqcn(params: &ThemisParams, ports: &[PortFacts]) -> ExternalSwitch<Flow> {
        let external = &params.external;
        let law = BlockLaw {
            notify_interval: external.notify_interval,
            step: external.block_step,
            max_block: external.block_max,
            quiet: external.quiet_time,
            min_block: external.pass_time,
            uses_ecn_echo: params.dcqcn.notification == MarkFeedback::AckEcho,
        };
        ExternalSwitch::new(external, ports, law)
    }

    pub(super) fn on_arrival(
        &mut self,
        cx: &mut FullCx<'_, Themis>,
        in_port: PortId,
        packet: &mut Packet<Themis>,
    ) -> HoldVerdict {
        let header = &mut packet.header;
        let from_wan = self.is_long(in_port);
        if header.kind == PacketKind::Data {
            if from_wan {
                let (header, held) = packet.split_mut();
                let held = held.expect("data carries meta");
                return self.resubmit(cx.now, in_port, header, held);
            }
        } else if is_notification(header)
            && (header.kind == PacketKind::Control || self.law().uses_ecn_echo)
        {
            if !from_wan {
                self.react(cx.now, header);
            } else if self.notifies && !self.may_notify(cx.now, header) {
                if header.kind == PacketKind::Control {
                    return HoldVerdict::Consume;
                }
                header.echo = EcnCodePoint::NotMarked;
            }
        }
        HoldVerdict::Forward
    }

    /// Clears the CE mark of a data packet that leaves the data centre. Returns whether to send a
    /// CNP for it.
    pub(super) fn notifies(&mut self, now: Time, header: &mut Header) -> bool {
        if !self.notifies || header.code_point != EcnCodePoint::CongestionExperienced {
            return false;
        }
        header.code_point = EcnCodePoint::NotMarked;
        self.may_notify(now, header)
    }

    /// Returns whether the flow's source may be notified now: t_interval after the last time, or
    /// later. The poster says more than t_interval. But if a receiver spaces its CNPs by the same
    /// interval and nothing delays them, they come exactly that far apart, and every second one
    /// would be dropped.
    fn may_notify(&mut self, now: Time, header: &Header) -> bool {
        // A flow without an entry is notified as if there were no interval.
        let Some((flow, law)) = self.flow(now, &header.address) else { return true };
        if now < flow.silent_until {
            return false;
        }
        flow.silent_until = now + law.notify_interval;
        true
    }

    /// Reacts to a notification of congestion in this data centre.
    fn react(&mut self, now: Time, header: &mut Header) {
        if !self.reacts || header.flags.contains(Flags::MARK) {
            return;
        }
        if let Some((flow, law)) = self.flow(now, &header.address) {
            flow.block.raise(now, law);
            header.flags.insert(Flags::MARK);
        }
    }
}
