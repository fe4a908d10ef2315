//! Buffers, marks, and pauses that expire. A switch sends a pause again with each packet above the
//! threshold.

use crate::event_list::{Handle, Kind};
use crate::network::{CLASSES, Node, Port};
use crate::simulation::Simulation;
use fabric::ns3::Numbers;
use hpcc_files::Config;

/// Bytes of the packet that the sizes of buffers and reserves are multiples of.
const PACKET: u32 = 1_048;
/// What an ingress may hold without being above its threshold.
const RESERVE: u32 = 2 * PACKET;
/// What a queue holds before its bytes count for marks, and for what queues share.
const QUEUE_RESERVE: u32 = PACKET + 1;
/// Headroom of port 0, which a switch does not have.
const HEADROOM_OF_PORT_0: u32 = 12_500 + 2 * PACKET;
/// An ingress pauses its peer above this share of the free buffer.
const ALPHA: f64 = 1.0 / 16.0;
/// It resumes as if fewer bytes were free, by this many.
const RESUME_OFFSET: f64 = 16.0;

/// The buffer of a switch, beside the bytes of its ports.
pub(super) struct Buffer {
    size: u32,
    /// Bytes that all ingresses together may store before they use their headroom.
    shared: u32,
    /// Bytes that all queues together may hold beyond their reserves, and that they do hold.
    egress_size: u32,
    egress_used: u32,
    /// Bytes that are stored, of class 1 and of all others. Each has a threshold of its own.
    used: [u32; 2],
    /// What marks are drawn from. All switches have the same numbers.
    marks: Numbers,
}

/// The pauses of a port.
#[derive(Clone)]
pub(super) struct Pauses {
    /// The classes that pause the peer until an arrival resumes them. A departure does so, too, but
    /// leaves them here.
    until_arrival: u8,
    /// By class: when the port no longer counts as pausing its peer.
    forgotten: [Handle; CLASSES],
    /// By class: when the pause by the peer expires.
    expiry: [Handle; CLASSES],
}

impl Pauses {
    pub(super) const NONE: Pauses = Pauses {
        until_arrival: 0,
        forgotten: [Handle::NONE; CLASSES],
        expiry: [Handle::NONE; CLASSES],
    };
}

/// Divides the buffers of switches. There headroom is summed from port 0 on, for as many ports as a
/// switch has. So that of its last port is left out.
pub(crate) fn size_buffers(config: &Config, nodes: &mut [Node], ports: &mut [Port]) {
    for node in nodes.iter_mut().filter(|node| node.is_switch) {
        let mut headroom = HEADROOM_OF_PORT_0;
        let last = node.ports.last().copied();
        for &index in &node.ports {
            let port = &mut ports[index as usize];
            let cable = port.rate.wrapping_mul(port.delay) / 8 / 1_000_000_000;
            port.headroom = (cable * 2) as u32 + 2 * PACKET;
            if Some(index) != last {
                headroom = headroom.wrapping_add(port.headroom);
            }
        }
        node.shared = egress_size(config, node).wrapping_sub(headroom);
    }
}

fn egress_size(config: &Config, node: &Node) -> u32 {
    let reserves = node.ports.len() as u32 * CLASSES as u32 * PACKET;
    (config.buffer_size.get() as u32).wrapping_sub(reserves)
}

/// The bytes of a queue that are beyond its reserve.
fn beyond_reserve(queue: u32) -> u32 {
    queue.saturating_sub(QUEUE_RESERVE)
}

/// The place of a class in [`Buffer::used`].
fn pool(class: usize) -> usize {
    usize::from(class == 1)
}

impl Buffer {
    pub(super) fn new(config: &Config, node: &Node, marks: &Numbers) -> Buffer {
        Buffer {
            size: config.buffer_size.get() as u32,
            shared: node.shared,
            egress_size: egress_size(config, node),
            egress_used: 0,
            used: [0; 2],
            marks: marks.clone(),
        }
    }

    /// Whether a packet of `size` bytes that comes in at `port` finds room in a queue that holds
    /// `queue` bytes.
    fn admits(&self, port: &Port, class: usize, size: u32, queue: u32) -> bool {
        let free = i64::from(self.egress_size) - i64::from(self.egress_used);
        if i64::from(beyond_reserve(queue) + size) > free
            || u64::from(self.used[0]) + u64::from(self.used[1]) + u64::from(size)
                > u64::from(self.size)
        {
            return false;
        }
        let of_port: u32 = port.ingress.iter().sum();
        port.ingress[class] + size <= PACKET
            || of_port + size <= PACKET
            || !self.uses_headroom(class)
            || port.in_headroom[class] + size <= port.headroom
    }

    /// Whether more bytes of a class are stored than ingresses share.
    fn uses_headroom(&self, class: usize) -> bool {
        self.used[pool(class)] > self.shared
    }

    /// Returns how many of the shared bytes of a class are free: below 0 if it uses headroom.
    fn free(&self, class: usize) -> f64 {
        f64::from(self.shared) - f64::from(self.used[pool(class)])
    }

    /// Whether an ingress pauses its peer's `class` when a packet of class `arrived` comes in.
    fn pauses(&self, port: &Port, class: usize, arrived: usize) -> bool {
        let bytes = port.ingress[class];
        bytes > RESERVE
            && (f64::from(bytes - RESERVE) > ALPHA * self.free(arrived)
                || port.in_headroom[arrived] != 0)
    }

    /// Whether an ingress that pauses its peer's `class` resumes it.
    fn resumes(&self, port: &Port, class: usize) -> bool {
        let over = f64::from(port.ingress[class]) - f64::from(RESERVE);
        port.pausing & 1 << class != 0
            && over < ALPHA * (self.free(class) - RESUME_OFFSET)
            && port.in_headroom[class] == 0
    }
}

impl Simulation<'_> {
    /// A switch stores a packet and queues it at port `out`. ACKs take no buffer.
    pub(super) fn store(&mut self, out: u32, slot: u32) {
        let packet = self.packets.get(slot);
        let index = packet.ingress;
        let (class, size) = (usize::from(packet.priority), u32::from(packet.size));
        if class == 0 {
            return self.enqueue(out, 0, slot);
        }
        let node = self.ports[index as usize].node as usize;
        let buffer = &mut self.conweave.switches[node];
        let queue = self.ports[out as usize].egress[class];
        if !buffer.admits(&self.ports[index as usize], class, size, queue) {
            return self.drop_packet(index, slot);
        }
        buffer.used[pool(class)] += size;
        buffer.egress_used += beyond_reserve(queue + size) - beyond_reserve(queue);
        let uses_headroom = buffer.uses_headroom(class);
        let port = &mut self.ports[index as usize];
        port.ingress[class] += size;
        port.in_headroom[class] += if uses_headroom { size } else { 0 };
        self.ports[out as usize].change_egress(class, queue + size, self.samples);
        if self.settings.has_pfc {
            self.check_pauses(index, class);
        }
        self.enqueue(out, class as u8, slot);
    }

    /// Pauses and resumes the peer of a port at which a packet of class `arrived` has come in.
    fn check_pauses(&mut self, index: u32, arrived: usize) {
        let node = self.ports[index as usize].node as usize;
        let (buffer, port) = (&self.conweave.switches[node], &self.ports[index as usize]);
        let above = (0..CLASSES).filter(|&class| buffer.pauses(port, class, arrived));
        let above = above.fold(0_u8, |mask, class| mask | 1 << class);
        for class in (0..CLASSES).filter(|class| above & 1 << class != 0) {
            self.send_pfc(index, class as u8, true);
            self.note_pause(index, class);
        }
        for class in 0..CLASSES {
            let buffer = &self.conweave.switches[node];
            let is_paused = self.conweave.pauses[index as usize].until_arrival & 1 << class != 0;
            if is_paused && buffer.resumes(&self.ports[index as usize], class) {
                self.send_pfc(index, class as u8, false);
                self.forget_pause(index, class);
                self.conweave.pauses[index as usize].until_arrival &= !(1 << class);
            }
        }
    }

    /// A packet leaves the buffer of a switch through port `index`: it may be marked, and its
    /// ingress may resume its peer.
    pub(crate) fn release(&mut self, index: u32, queue: u8, slot: u32) {
        let class = usize::from(queue);
        let packet = self.packets.get_mut(slot);
        let (size, ingress) = (u32::from(packet.size), packet.ingress);
        let entry = &mut self.ports[ingress as usize];
        entry.ingress[class] -= size;
        entry.in_headroom[class] = entry.in_headroom[class].saturating_sub(size);
        let node = entry.node as usize;
        let port = &mut self.ports[index as usize];
        let (before, left) = (port.egress[class], port.egress[class] - size);
        port.change_egress(class, left, self.samples);
        let buffer = &mut self.conweave.switches[node];
        buffer.used[pool(class)] -= size;
        buffer.egress_used -= beyond_reserve(before) - beyond_reserve(left);
        let (ecn, left) = (port.ecn, beyond_reserve(left));
        if self.settings.marks && left > ecn.kmin {
            let marks = left > ecn.kmax || {
                let share = f64::from(left - ecn.kmin) / f64::from(ecn.kmax - ecn.kmin);
                buffer.marks.draw() < share * ecn.pmax
            };
            packet.marked |= marks;
            port.counters.ecn_marked_packets += u64::from(marks);
        }
        if buffer.resumes(&self.ports[ingress as usize], class) {
            self.send_pfc(ingress, queue, false);
            self.forget_pause(ingress, class);
        }
    }

    /// Notes that a port pauses its peer from now on.
    fn note_pause(&mut self, index: u32, class: usize) {
        self.forget_pause(index, class);
        self.ports[index as usize].pausing |= 1 << class;
        let time = u64::from(self.settings.pause_time) * 1000;
        let handle = self.events.schedule(time, Kind::PauseForgotten, index, class as u32);
        let pauses = &mut self.conweave.pauses[index as usize];
        pauses.forgotten[class] = handle;
        pauses.until_arrival |= 1 << class;
    }

    /// Notes that a port does not pause its peer.
    pub(crate) fn forget_pause(&mut self, index: u32, class: usize) {
        self.ports[index as usize].pausing &= !(1 << class);
        self.events.cancel(&mut self.conweave.pauses[index as usize].forgotten[class]);
    }

    /// A pause of a class begins, or lasts longer.
    pub(crate) fn restart_expiry(&mut self, index: u32, class: u8) {
        if !self.settings.conweave {
            return;
        }
        self.cancel_expiry(index, class);
        let time = u64::from(self.settings.pause_time) * 1000;
        let handle = self.events.schedule(time, Kind::PauseExpiry, index, u32::from(class));
        self.conweave.pauses[index as usize].expiry[usize::from(class)] = handle;
    }

    /// A frame ends a pause of a class.
    pub(crate) fn cancel_expiry(&mut self, index: u32, class: u8) {
        if !self.settings.conweave {
            return;
        }
        let pauses = &mut self.conweave.pauses[index as usize];
        self.events.cancel(&mut pauses.expiry[usize::from(class)]);
    }
}
