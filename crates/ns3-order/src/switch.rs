//! Switches: their buffer, their queues, marks and stamps; and what every node does with PFC
//! frames.

use crate::event_list::NONE;
use crate::network::{FourTuple, Node, Port, RESERVE};
use crate::packets::{HOPS, Packet, PacketKind};
use crate::pint;
use crate::simulation::Simulation;
use fabric::PfcEvent;
use hpcc_files::CcMode;
use hpcc_files::packet_trace::Event;
use units::{NodeId, PortId, Time};

/// A port resumes its peer this far below the threshold.
const RESUME_OFFSET: u32 = 3072;
/// Bytes of a PFC frame.
const PFC_SIZE: u16 = 43;

/// The threshold of a port: its share of the free buffer. Unsigned, as there: below zero it is
/// huge.
#[inline]
fn threshold(node: &Node, port: &Port) -> u32 {
    node.shared.wrapping_sub(node.used) >> port.shift
}

impl Port {
    /// Bytes of a class beyond the reserve.
    #[inline]
    fn over(&self, class: usize) -> u32 {
        self.ingress[class].saturating_sub(RESERVE)
    }

    /// Whether a packet that comes in finds room.
    #[inline]
    fn admits(&self, node: &Node, class: usize, size: u32) -> bool {
        size.wrapping_add(self.in_headroom[class]) <= self.headroom
            || size.wrapping_add(self.over(class)) <= threshold(node, self)
    }

    #[inline]
    fn charge(&mut self, node: &mut Node, class: usize, size: u32) {
        let bytes = self.ingress[class].wrapping_add(size);
        if bytes <= RESERVE {
            self.ingress[class] = bytes;
        } else if bytes - RESERVE > threshold(node, self) {
            self.in_headroom[class] += size;
        } else {
            self.ingress[class] = bytes;
            node.used = node.used.wrapping_add(size.min(bytes - RESERVE));
        }
    }

    #[inline]
    fn release(&mut self, node: &mut Node, class: usize, size: u32) {
        let from_headroom = self.in_headroom[class].min(size);
        let from_shared = (size - from_headroom).min(self.over(class));
        self.in_headroom[class] -= from_headroom;
        self.ingress[class] = self.ingress[class].wrapping_sub(size - from_headroom);
        node.used = node.used.wrapping_sub(from_shared);
    }

    #[inline]
    fn should_pause(&self, node: &Node, class: usize) -> bool {
        self.pausing & 1 << class == 0
            && (self.in_headroom[class] > 0 || self.over(class) >= threshold(node, self))
    }

    #[inline]
    fn should_resume(&self, node: &Node, class: usize) -> bool {
        if self.pausing & 1 << class == 0 || self.in_headroom[class] != 0 {
            return false;
        }
        let over = self.over(class);
        over == 0 || over.wrapping_add(RESUME_OFFSET) <= threshold(node, self)
    }

    /// Notes a change of the MMU's bytes of a queue, of which samples have been `taken`.
    #[inline]
    pub(crate) fn change_egress(&mut self, class: usize, bytes: u32, taken: u64) {
        self.samples.count(taken);
        let before = std::mem::replace(&mut self.egress[class], bytes);
        self.samples.bytes = self.samples.bytes - u64::from(before) + u64::from(bytes);
    }
}

impl Simulation<'_> {
    /// A packet arrives at a port.
    #[inline]
    pub(crate) fn receive(&mut self, index: u32, packet: u32) {
        self.output.delivered += 1;
        let port = &mut self.ports[index as usize];
        let traced = port.traced;
        if !port.up {
            if traced {
                self.trace(index, packet, Event::Dropped, 0, 0);
            }
            return self.lose(index, packet);
        }
        if port.errors != NONE && self.errors[port.errors as usize].loses() {
            return self.lose(index, packet);
        }
        if traced {
            let bytes = port.queues[0].bytes;
            self.trace(index, packet, Event::Received, 0, bytes);
        }
        let is_host = self.ports[index as usize].is_host;
        match (self.packets.get(packet).kind, is_host) {
            (PacketKind::Pfc, _) => self.receive_pfc(index, packet),
            (_, false) => self.forward(index, packet),
            (PacketKind::Data, true) => self.receive_data(packet),
            (PacketKind::Ack | PacketKind::Nack, true) => self.receive_ack(packet),
            (PacketKind::Control, true) => self.packets.remove(packet),
        }
    }

    fn lose(&mut self, index: u32, packet: u32) {
        self.ports[index as usize].counters.lost_packets += 1;
        self.packets.remove(packet);
    }

    fn receive_pfc(&mut self, index: u32, slot: u32) {
        let Packet { priority, pause, .. } = *self.packets.get(slot);
        self.packets.remove(slot);
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        self.output.pfc.push(PfcEvent {
            time: Time::from_ns(now),
            node: NodeId::new(port.node),
            port: PortId::new(port.number - 1),
            priority,
            pause,
        });
        port.counters.pause_frames_received += u64::from(pause);
        if pause {
            if port.paused == 0 {
                port.paused_since = now;
            }
            port.paused |= 1 << priority;
            self.restart_expiry(index, priority);
        } else {
            self.cancel_expiry(index, priority);
            self.resume(index, priority);
        }
    }

    /// A port may send packets of a class again.
    pub(crate) fn resume(&mut self, index: u32, priority: u8) {
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        let was_paused = port.paused != 0;
        port.paused &= !(1 << priority);
        if was_paused && port.paused == 0 {
            port.counters.paused += Time::from_ns(now - port.paused_since);
        }
        self.kick(index);
    }

    /// Returns the ends of a packet of a flow. All but data goes from the receiver to the sender.
    #[inline(always)]
    pub(crate) fn four_tuple(&self, slot: u32) -> FourTuple {
        let packet = self.packets.get(slot);
        let ends = self.flows[packet.flow as usize].ends();
        if packet.kind == PacketKind::Data { ends } else { ends.back() }
    }

    /// The port of `node` that the hash of a packet's flow chooses, if one leads to its
    /// destination.
    #[inline(always)]
    pub(crate) fn hashed_next_hop(&self, node: u32, slot: u32) -> Option<u32> {
        let ends = self.four_tuple(slot);
        match self.routes.next_hops(node, ends.dst) {
            [] => None,
            [out] => Some(*out),
            ports => Some(ports[ends.hash(node) as usize % ports.len()]),
        }
    }

    /// A switch stores a packet and queues it at the port of its next hop.
    fn forward(&mut self, index: u32, slot: u32) {
        if self.settings.conweave {
            return self.route(index, slot);
        }
        let node = self.ports[index as usize].node;
        let Some(out) = self.hashed_next_hop(node, slot) else {
            return self.drop_packet(index, slot);
        };
        let packet = self.packets.get_mut(slot);
        let (class, size) = (usize::from(packet.priority), u32::from(packet.size));
        packet.ingress = index;
        let taken = self.samples;
        let port = &mut self.ports[index as usize];
        let node = &mut self.nodes[node as usize];
        if !port.admits(node, class, size) {
            return self.drop_packet(index, slot);
        }
        port.charge(node, class, size);
        let pauses = port.should_pause(node, class);
        let egress = &mut self.ports[out as usize];
        egress.change_egress(class, egress.egress[class].wrapping_add(size), taken);
        if pauses {
            self.send_pfc(index, class as u8, true);
            self.ports[index as usize].pausing |= 1 << class;
        }
        self.enqueue(out, class as u8, slot);
    }

    #[cold]
    pub(crate) fn drop_packet(&mut self, index: u32, slot: u32) {
        let Packet { priority, flow, size, .. } = *self.packets.get(slot);
        let port = &mut self.ports[index as usize];
        port.counters.dropped_packets += 1;
        let now = self.events.now();
        self.output.note_drop(port, now, priority, flow, size);
        self.packets.remove(slot);
    }

    /// Appends a packet to a queue of a switch's port, and lets the port send.
    #[inline]
    pub(crate) fn enqueue(&mut self, index: u32, queue: u8, slot: u32) {
        let port = &self.ports[index as usize];
        if port.traced {
            let bytes = port.queues[usize::from(queue)].bytes;
            self.trace(index, slot, Event::Enqueued, queue, bytes);
        }
        let size = self.packets.get(slot).size;
        let port = &mut self.ports[index as usize];
        port.queues[usize::from(queue)].push(&mut self.packets, slot);
        port.waiting |= 1 << queue;
        port.queued += u64::from(size);
        port.counters.max_queue_bytes = port.counters.max_queue_bytes.max(port.queued);
        self.kick(index);
    }

    /// Takes the packet that goes next from the queues of a port: of queue 0, or else of the first
    /// queue after the last one that is not in `paused`.
    pub(crate) fn dequeue(&mut self, index: u32, paused: u8) -> Option<(u8, u32)> {
        let port = &mut self.ports[index as usize];
        let queue = if port.waiting & 1 != 0 {
            0
        } else {
            let open = port.waiting & !paused;
            if open == 0 {
                return None;
            }
            let first = port.turn + 1;
            let queue =
                (first + open.rotate_right(u32::from(first % 8)).trailing_zeros() as u8) % 8;
            port.turn = queue;
            queue
        };
        let fifo = &mut port.queues[usize::from(queue)];
        let slot = fifo.pop(&self.packets).expect("packets wait in it");
        if fifo.is_empty() {
            port.waiting &= !(1 << queue);
        }
        port.queued -= u64::from(self.packets.get(slot).size);
        Some((queue, slot))
    }

    /// Lets a free port of a switch send.
    #[inline]
    pub(crate) fn kick_switch(&mut self, index: u32) {
        let port = &self.ports[index as usize];
        if port.waiting == 0 {
            return;
        }
        let Some((queue, slot)) = self.dequeue(index, port.paused) else { return };
        if queue > 0 {
            match self.settings.conweave {
                true => self.release(index, queue, slot),
                false => self.leave_buffer(index, queue, slot),
            }
        }
        let now = self.events.now();
        let packet = self.packets.get_mut(slot);
        let port = &mut self.ports[index as usize];
        if packet.kind == PacketKind::Data {
            port.counters.tx_data_packets += 1;
            match self.settings.mode {
                CcMode::Hpcc => {
                    let record = self.laws.record(port.int_code, now, port.tx_bytes, port.queued);
                    packet.int[usize::from(packet.hops) % HOPS] = record;
                    packet.hops = packet.hops.saturating_add(1);
                }
                CcMode::HpccPint => {
                    let (rtt, codes) = (self.laws.max_rtt, &self.laws.codes);
                    let rand = &mut self.rand;
                    packet.power = pint::stamp(port, now, rtt, codes, packet.power, rand);
                }
                _ => {}
            }
        }
        port.tx_bytes += u64::from(packet.size);
        (port.last_size, port.last_time) = (packet.size, now);
        if port.traced {
            let bytes = port.queues[usize::from(queue)].bytes;
            self.trace(index, slot, Event::Dequeued, queue, bytes);
        }
        self.transmit(index, slot);
    }

    /// A packet leaves the buffer: it may be marked, and may end a pause.
    #[inline]
    fn leave_buffer(&mut self, index: u32, queue: u8, slot: u32) {
        let class = usize::from(queue);
        let packet = self.packets.get_mut(slot);
        let (size, ingress) = (u32::from(packet.size), packet.ingress);
        let taken = self.samples;
        let entry = &mut self.ports[ingress as usize];
        let node = &mut self.nodes[entry.node as usize];
        entry.release(node, class, size);
        let resumes = entry.should_resume(node, class);
        let port = &mut self.ports[index as usize];
        let left = port.egress[class].wrapping_sub(size);
        port.change_egress(class, left, taken);
        if self.settings.marks && left > port.ecn.kmin {
            let ecn = port.ecn;
            let marks = left > ecn.kmax || {
                let share = ecn.pmax * f64::from(left - ecn.kmin) / f64::from(ecn.kmax - ecn.kmin);
                self.marks.draw() < share
            };
            packet.marked |= marks;
            port.counters.ecn_marked_packets += u64::from(marks);
        }
        if resumes {
            self.send_pfc(ingress, queue, false);
            self.ports[ingress as usize].pausing &= !(1 << class);
        }
    }

    /// Sends a pause or resume frame through a port of a switch.
    pub(crate) fn send_pfc(&mut self, index: u32, class: u8, pause: bool) {
        self.marks.skip();
        // What tells a pause from a resume is its time, so a frame without one is a resume.
        let pause = pause && self.settings.pauses;
        let port = &mut self.ports[index as usize];
        port.counters.pause_frames_sent += u64::from(pause);
        let slot = self.packets.add(Packet {
            kind: PacketKind::Pfc,
            priority: class,
            pause,
            size: PFC_SIZE,
            queue_bytes: port.queues[usize::from(class)].bytes,
            ..Packet::EMPTY
        });
        self.enqueue(index, 0, slot);
    }
}
