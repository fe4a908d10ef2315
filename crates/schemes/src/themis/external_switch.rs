//! The external switch of the poster's sections 2.1 and 2.2.
//!
//! Notification point: CE counts where the packet arrives from the data centre, and again where it
//! leaves over the long link, for what this switch's own queue marked. An ACK that echoes a mark is
//! treated as a CNP: where a CNP would be held back, it loses its echo.
//!
//! Reaction point. How T_block follows from the frequency of CNPs is open. Decided, with the shape of
//! the authors' later code: each CNP adds `block_step`, up to `block_most`; each `quiet_time` without
//! a CNP halves it, and what is left of it below `pass_time` is nothing.
//!
//! Blocking is by resubmission. A packet that comes over the long link while its flow is blocked goes
//! to the tail of that port's ingress queue, n times, the least n with
//! sum over i of qlen_i / rate_drain >= T_block, where T_block is as of the last look at the packet.
//! The queue holds the packets under resubmission, bytes leave it at the line rate of the long link,
//! and each pass takes `pass_time` besides, or a queue of one packet would take it round for ever.
//! Order is kept as the poster has it: a packet is resubmitted at least as often as any of its flow
//! before it that is not gone. As all of a port's packets share one queue, it can't pass them then.

use super::flow_table::FlowTable;
use super::{ExternalParams, Resubmission, Themis, is_long, is_notification, notify};
use crate::contract::{Body, CodePoint, Full, Header, Kind, Packet, PortFacts, Verdict};
use units::{Bytes, PortId, Rate, Time};

/// The external switch.
#[derive(Clone, Debug)]
pub struct ExternalSwitch {
    notifies: bool,
    reacts: bool,
    notify_interval: Time,
    law: BlockLaw,
    pass_time: Time,
    lines: Vec<Line>,
    flows: FlowTable<Flow>,
}

#[derive(Clone, Debug)]
struct BlockLaw {
    step: Time,
    most: Time,
    quiet: Time,
    least: Time,
}

/// A port, and the ingress queue of one that leads to another data centre.
#[derive(Clone, Copy, Debug)]
struct Line {
    long: bool,
    rate: Rate,
    /// When all that is in the queue will have gone round.
    round_at: Time,
}

/// What is known of a flow.
#[derive(Clone, Debug, Default)]
struct Flow {
    /// No CNP to its source before this time.
    silent_until: Time,
    block: Block,
    /// The most resubmissions that any of its packets in the queue needs.
    passes: u32,
    /// When the last of them comes round.
    busy_until: Time,
}

/// T_block of a flow.
#[derive(Clone, Debug, Default)]
struct Block {
    time: Time,
    /// The last CNP, or the last halving.
    since: Time,
}

impl Block {
    /// T_block at `now`.
    fn at(&mut self, now: Time, law: &BlockLaw) -> Time {
        while self.time != Time::ZERO && now >= self.since + law.quiet {
            self.time = self.time / 2;
            self.since += law.quiet;
            if self.time < law.least {
                self.time = Time::ZERO;
            }
        }
        self.time
    }

    /// A CNP.
    fn raise(&mut self, now: Time, law: &BlockLaw) {
        self.time = (self.at(now, law) + law.step).min(law.most);
        self.since = now;
    }
}

impl Flow {
    fn is_idle(&self, now: Time, law: &BlockLaw) -> bool {
        now > self.busy_until
            && now >= self.silent_until
            && self.block.clone().at(now, law) == Time::ZERO
    }
}

impl ExternalSwitch {
    /// The external switch with these ports.
    pub fn new(params: &ExternalParams, ports: &[PortFacts]) -> ExternalSwitch {
        let line = |port: &PortFacts| Line {
            long: is_long(params, port),
            rate: port.rate,
            round_at: Time::ZERO,
        };
        ExternalSwitch {
            notifies: params.notify,
            reacts: params.react,
            notify_interval: params.notify_interval,
            law: BlockLaw {
                step: params.block_step,
                most: params.block_most,
                quiet: params.quiet_time,
                least: params.pass_time,
            },
            pass_time: params.pass_time,
            lines: ports.iter().map(line).collect(),
            flows: FlowTable::new(params.flow_entries),
        }
    }

    pub(super) fn on_arrival(
        &mut self,
        cx: &mut Full<'_, Themis>,
        in_port: PortId,
        packet: &mut Packet<Themis>,
    ) -> Verdict {
        let header = &mut packet.header;
        let from_afar = self.lines[in_port.index()].long;
        if header.kind == Kind::Data {
            if from_afar {
                let Body::Meta(meta) = &mut packet.body else { unreachable!("data carries meta") };
                return self.resubmit(cx.now, in_port, &packet.header, meta);
            }
            if self.notifies(cx.now, header) {
                notify(cx, header.address);
            }
        } else if is_notification(header) {
            if !from_afar {
                self.react(cx.now, header);
            } else if self.notifies && !self.passes_on(cx.now, header) {
                if header.kind == Kind::Ctl {
                    return Verdict::Consume;
                }
                header.echo = CodePoint::Capable;
            }
        }
        Verdict::Forward
    }

    /// A data packet on its way out of the data centre: clears its CE; whether that makes a CNP.
    pub(super) fn notifies(&mut self, now: Time, header: &mut Header) -> bool {
        if !self.notifies || header.code_point != CodePoint::CongestionExperienced {
            return false;
        }
        header.code_point = CodePoint::Capable;
        self.passes_on(now, header)
    }

    /// Whether the flow's source may hear of congestion now.
    fn passes_on(&mut self, now: Time, header: &Header) -> bool {
        let law = &self.law;
        let flow = self.flows.get_or_make(&header.address, |flow| flow.is_idle(now, law));
        // A flow that finds no place is notified as if there were no interval.
        let Some(flow) = flow else { return true };
        if now < flow.silent_until {
            return false;
        }
        flow.silent_until = now + self.notify_interval;
        true
    }

    /// Word of congestion in this data centre.
    fn react(&mut self, now: Time, header: &mut Header) {
        if !self.reacts || header.mark {
            return;
        }
        let law = &self.law;
        if let Some(flow) = self.flows.get_or_make(&header.address, |flow| flow.is_idle(now, law)) {
            flow.block.raise(now, law);
            header.mark = true;
        }
    }

    /// A data packet came over the long link, or came round again.
    fn resubmit(
        &mut self,
        now: Time,
        in_port: PortId,
        header: &Header,
        meta: &mut Resubmission,
    ) -> Verdict {
        if !self.reacts {
            return Verdict::Forward;
        }
        let Some(flow) = self.flows.get(&header.address) else { return Verdict::Forward };
        if meta.passes == 0 {
            meta.begun = now;
            if now > flow.busy_until {
                flow.passes = 0;
            }
        }
        let blocked = now - meta.begun < flow.block.at(now, &self.law);
        if !blocked && meta.passes >= flow.passes {
            *meta = Resubmission::default();
            return Verdict::Forward;
        }
        meta.passes += 1;
        flow.passes = flow.passes.max(meta.passes);
        let line = &mut self.lines[in_port.index()];
        let bytes = Bytes::new(u64::from(header.size));
        line.round_at = line.round_at.max(now) + line.rate.time_for(bytes);
        flow.busy_until = line.round_at + self.pass_time;
        Verdict::Hold(flow.busy_until)
    }
}
