//! Why messages were not finished when a run ended, found from hosts, ports and packets in flight.

mod obstacles;
pub(crate) mod pauses;

use crate::build::NodeDevice;
use crate::context::RunContext;
use crate::hooks::RpTimerOf;
use crate::host::Host;
use crate::host::qp::Sender;
use crate::network::graph::LinkEnd;
use crate::packet::{Packet, PacketKind, Scheme};
use crate::port::Port;
use crate::unfinished::obstacles::{Obstacles, Stream};
use crate::unfinished::pauses::{Pause, endless};
use engine::Undelivered;
use model::{Cause, PortUse};
use schemes::contract::{Rp, RpTimerSlot};
use std::collections::BTreeMap;
use units::Time;

/// The messages that are not finished at `end`, and why, by message. `left`: the packets in flight.
pub(crate) fn causes<S: Scheme>(
    common: &RunContext<S>,
    devices: &[NodeDevice<S>],
    left: &Undelivered<Packet<S>>,
    end: Time,
) -> Vec<(u32, Cause)> {
    if hosts(devices).all(Host::is_done) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let state = EndState::new(common, devices, left, end);
    for host in hosts(devices) {
        host.add_unfinished(end, |slot, sender| state.cause(host.index, slot, sender), &mut found);
    }
    found.sort_unstable();
    found
}

fn hosts<S: Scheme>(devices: &[NodeDevice<S>]) -> impl Iterator<Item = &Host<S>> {
    devices.iter().filter_map(|device| match device {
        NodeDevice::Host(host) => Some(host),
        _ => None,
    })
}

/// All pauses that last at the end of the run.
pub(crate) fn pauses<S: Scheme>(common: &RunContext<S>, devices: &[NodeDevice<S>]) -> Vec<Pause> {
    let wants = |node: u32, port: u16, priority: u8| match &devices[node as usize] {
        NodeDevice::Host(host) => {
            host.receive_buffer.as_ref().is_some_and(|buffer| buffer.is_pausing)
        }
        NodeDevice::Switch(switch) => switch.chassis.mmu.pauses_peer(port, priority),
        NodeDevice::Cioq(switch) => switch.chassis.mmu.pauses_peer(port, priority),
    };
    let mut found = Vec::new();
    for (node, device) in devices.iter().enumerate() {
        let mut add = |number: usize, port: &Port| {
            let link = &common.graph.ports(node as u32)[number];
            pauses_of(port, (node as u32, number as u16), link, &wants, &mut found);
        };
        let ports = match device {
            NodeDevice::Host(host) => {
                host.nics.iter().enumerate().for_each(|(number, nic)| add(number, &nic.port));
                continue;
            }
            NodeDevice::Switch(switch) => &switch.chassis.ports,
            NodeDevice::Cioq(switch) => &switch.chassis.ports,
        };
        ports.iter().enumerate().for_each(|(number, port)| add(number, port));
    }
    found
}

/// Adds the pauses of a port. `wants`: whether a node still wants the peer of one of its ports to
/// pause a priority.
fn pauses_of(
    port: &Port,
    (node, number): (u32, u16),
    link: &LinkEnd,
    wants: &dyn Fn(u32, u16, u8) -> bool,
    found: &mut Vec<Pause>,
) {
    if !port.is_paused(None) {
        return;
    }
    for (priority, since) in (0..8).zip(port.paused_since()) {
        found.extend(since.map(|since| Pause {
            node,
            port: number,
            peer: link.peer,
            priority,
            since,
            is_wanted: wants(link.peer, link.peer_port, priority),
        }));
    }
}

/// What decides why messages are not finished, collected at the end of a run.
struct EndState<'a, S: Scheme> {
    common: &'a RunContext<S>,
    /// By index among the hosts.
    hosts: Vec<&'a Host<S>>,
    /// Sending ends, by host and slot, with a packet in flight that will cause something at either
    /// end. Sorted; some are in it several times.
    moving: Vec<(u32, u32)>,
    obstacles: Obstacles<'a>,
    /// All hosts reach each other, and no port is paused forever.
    is_open: bool,
}

impl<'a, S: Scheme> EndState<'a, S> {
    fn new(
        common: &'a RunContext<S>,
        devices: &'a [NodeDevice<S>],
        left: &Undelivered<Packet<S>>,
        end: Time,
    ) -> EndState<'a, S> {
        let graph = &common.graph;
        let mut state = EndState {
            common,
            hosts: hosts(devices).collect(),
            moving: Vec::new(),
            obstacles: Obstacles { common, end, endless: BTreeMap::new() },
            is_open: false,
        };
        let (mut moving, mut resumes) = (Vec::new(), 0);
        left.each(|packet| {
            let header = &packet.header;
            if header.kind == PacketKind::Pfc && !header.is_pause() {
                resumes |= 1 << header.priority;
            } else if state.moves(packet) {
                moving.push((header.address.src, header.address.sender_slot));
            }
        });
        moving.sort_unstable();
        state.moving = moving;
        state.obstacles.endless = endless(&pauses(common, devices), end, resumes);
        let all_lossy = (0..graph.nodes() as u32)
            .any(|node| graph.ports(node).iter().any(|link| link.error_rate >= 1.0));
        let stalls = state.hosts.iter().any(|host| host.stalls_for_good(end));
        state.is_open =
            state.obstacles.endless.is_empty() && !all_lossy && !stalls && graph.epochs() == 1;
        state
    }

    /// Whether the arrival of a packet causes either end of its QP to send or to complete
    /// something.
    fn moves(&self, packet: &Packet<S>) -> bool {
        let header = &packet.header;
        if matches!(
            header.kind,
            PacketKind::Pfc | PacketKind::LinkControl | PacketKind::PathControl
        ) {
            return false;
        }
        let address = &header.address;
        let Some(sender) = self.hosts[address.src as usize].sender(address) else { return false };
        let expected = self.hosts[address.dst as usize].expected(address.receiver_slot);
        match header.kind {
            PacketKind::Data if header.sequence > expected => {
                self.common.host.nack || self.common.recovery.keeps_out_of_order
            }
            PacketKind::Data if header.sequence < expected => {
                self.common.compat.answers_duplicates()
            }
            PacketKind::Ack => {
                header.sequence > sender.acknowledged || self.common.recovery.keeps_out_of_order
            }
            _ => true,
        }
    }

    /// Why the messages of a sending end of host `src` are not finished.
    fn cause(&self, src: u32, slot: u32, sender: &Sender<S>) -> Cause {
        if let Some(cause) = self.cause_on_path(src, sender) {
            return cause;
        }
        if self.moving.binary_search(&(src, slot)).is_ok() {
            return Cause::Sending;
        }
        let host = self.hosts[src as usize];
        self.stuck_for(sender, host.timeout_of(slot))
            .unwrap_or_else(|| if host.sleeps(sender) { Cause::Waiting } else { Cause::Sending })
    }

    /// Why nothing more will ever be acknowledged at a sending end that has no packet in flight, if
    /// that is so. `timeout`: its retransmission timeout.
    fn stuck_for(&self, sender: &Sender<S>, timeout: Time) -> Option<Cause> {
        let (host, compat) = (&self.common.host, &self.common.compat);
        let receiver = self.hosts[sender.dst as usize];
        let expected = receiver.expected(sender.receiver_slot);
        let goes_back = timeout != Time::NEVER && sender.unacknowledged() > 0;
        if expected >= sender.posted && !compat.answers_duplicates() {
            // Everything has arrived, the last ACK is lost, and duplicates are not answered.
            return Some(Cause::Lost);
        }
        if goes_back {
            return None;
        }
        if sender.next_to_send == sender.posted && !sender.has_lost {
            return Some(Cause::Lost);
        }
        if expected < sender.next_to_send && !host.nack && !self.common.recovery.is_selective {
            // The receiver does not report the gap.
            return Some(Cause::Lost);
        }
        let is_stopped = !sender.may_send(&sender.rp.limits())
            && RpTimerOf::<S>::next_timer(&sender.rp) == Time::NEVER
            && receiver.receiver_timer(sender.receiver_slot) == Time::NEVER;
        let cause = if sender.unacknowledged() > 0 { Cause::Lost } else { Cause::Stopped };
        is_stopped.then_some(cause)
    }

    /// What blocks the path of a sending end's data, or that of its ACKs, forever.
    fn cause_on_path(&self, src: u32, sender: &Sender<S>) -> Option<Cause> {
        if self.is_open {
            return None;
        }
        let (common, dst) = (self.common, sender.dst);
        if self.hosts[dst as usize].stalls_for_good(self.obstacles.end) {
            return Some(Cause::Disconnected);
        }
        let row = &common.flows[sender.first as usize];
        let data = Stream {
            hash: sender.hash,
            priority: sender.priority,
            is_spread: common.spreads_data,
            ignores_pause: false,
        };
        self.obstacles.between((src, dst), &data).or_else(|| {
            let hash = common.ack_hash(row);
            let priority = common.classes.config.ack.unwrap_or(sender.priority);
            if common.host.ports == PortUse::Spray {
                return self.obstacles.of_acks((src, dst), (sender.hash, hash), priority);
            }
            let acks = Stream {
                hash,
                priority,
                is_spread: false,
                ignores_pause: common.compat.acks_ignore_pause(),
            };
            self.obstacles.between((dst, src), &acks)
        })
    }
}
