//! Packets, and queues of them.

use crate::event_list::NONE;

/// Records of INT that a packet has room for.
pub(crate) const HOPS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Data,
    Ack,
    Nack,
    Pfc,
    /// A message between leaves of ConWeave, about a flow.
    Control,
}

/// What a receiver answers to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Ack,
    /// There is a gap before the data, or still one after it.
    Nack,
}

impl Answer {
    /// Returns the kind of packet that says so.
    pub(crate) fn kind(self) -> PacketKind {
        match self {
            Answer::Ack => PacketKind::Ack,
            Answer::Nack => PacketKind::Nack,
        }
    }
}

/// A packet. The fields of a PFC frame are `priority`, `queue_bytes` and `pause`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The next packet of its queue, or the next free slot.
    pub(crate) next: u32,
    pub(crate) flow: u32,
    /// First byte of data; of an ACK the byte that is expected.
    pub(crate) seq: u32,
    /// The port through which it entered the switch that it is in.
    pub(crate) ingress: u32,
    /// Of a PFC frame: bytes in the queue at its sender.
    pub(crate) queue_bytes: u32,
    /// Of an answer of selective repeat to data that leaves a gap: the first byte of that data.
    /// `payload` has its size.
    pub(crate) answers: u32,
    /// Bytes on the wire.
    pub(crate) size: u16,
    pub(crate) payload: u16,
    /// U of HPCC-PINT, as its logarithm.
    pub(crate) power: u16,
    pub(crate) kind: PacketKind,
    pub(crate) priority: u8,
    /// A switch has marked it.
    pub(crate) marked: bool,
    /// Of an ACK: the packet that it answers was marked.
    pub(crate) echo: bool,
    pub(crate) pause: bool,
    /// How many switches have stamped it.
    pub(crate) hops: u8,
    /// When data left its sender; in ACKs that of the data.
    pub(crate) sent_at: u64,
    /// Records of INT: see `crate::int`.
    pub(crate) int: [u64; HOPS],
}

impl Packet {
    pub(crate) const EMPTY: Packet = Packet {
        next: NONE,
        flow: NONE,
        seq: 0,
        ingress: NONE,
        queue_bytes: 0,
        answers: 0,
        size: 0,
        payload: 0,
        power: 0,
        kind: PacketKind::Data,
        priority: 0,
        marked: false,
        echo: false,
        pause: false,
        hops: 0,
        sent_at: 0,
        int: [0; HOPS],
    };
}

/// All packets under way.
#[derive(Debug)]
pub(crate) struct Packets {
    slots: Vec<Packet>,
    free: u32,
}

impl Packets {
    pub(crate) fn new() -> Packets {
        Packets { slots: Vec::new(), free: NONE }
    }

    /// Adds a packet and returns its slot.
    #[inline]
    pub(crate) fn add(&mut self, packet: Packet) -> u32 {
        if self.free == NONE {
            self.slots.push(packet);
            return (self.slots.len() - 1) as u32;
        }
        let slot = self.free;
        self.free = self.slots[slot as usize].next;
        self.slots[slot as usize] = packet;
        slot
    }

    /// Removes a packet.
    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        let packet = &mut self.slots[slot as usize];
        packet.next = self.free;
        packet.flow = NONE;
        packet.kind = PacketKind::Data;
        self.free = slot;
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Packet {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.slots[slot as usize]
    }

    /// The flows of the packets that are under way. PFC frames have none.
    pub(crate) fn flows(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().map(|packet| packet.flow).filter(|&flow| flow != NONE)
    }

    /// Whether a PFC frame is under way.
    pub(crate) fn has_frames(&self) -> bool {
        self.slots.iter().any(|packet| packet.kind == PacketKind::Pfc)
    }
}

/// A queue of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    first: u32,
    last: u32,
    /// Bytes of its packets.
    pub(crate) bytes: u32,
}

impl Fifo {
    pub(crate) const EMPTY: Fifo = Fifo { first: NONE, last: NONE, bytes: 0 };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    #[inline]
    pub(crate) fn push(&mut self, packets: &mut Packets, slot: u32) {
        let packet = packets.get_mut(slot);
        packet.next = NONE;
        self.bytes += u32::from(packet.size);
        if self.first == NONE {
            self.first = slot;
        } else {
            packets.get_mut(self.last).next = slot;
        }
        self.last = slot;
    }

    #[inline]
    pub(crate) fn pop(&mut self, packets: &Packets) -> Option<u32> {
        if self.first == NONE {
            return None;
        }
        let slot = self.first;
        let packet = packets.get(slot);
        self.first = packet.next;
        self.bytes -= u32::from(packet.size);
        Some(slot)
    }
}
