//! The input queues: a virtual output queue (VOQ) for each input, priority and output.

use super::port_set::{Members, PortSet, PortSets};
use crate::hooks::InputQueuesOf;
use crate::packet::{Packet, PacketKind, Scheme};
use engine::{Fifo, Handle, Packets, prefetch};
use schemes::contract::{Crossing, InputQueueSlot};
use units::{PortId, Time};

/// The packet of a VOQ that may cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Its size.
    pub(super) size: u64,
    /// It is one of the packets that were held back.
    held_back: bool,
    /// It may cross only if nothing else does, and only to an idle output.
    pub(super) last: bool,
}

/// Which VOQ of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VoqId {
    pub(super) input: usize,
    pub(super) priority: usize,
    pub(super) output: usize,
}

#[derive(Debug, Default)]
struct Voq {
    fifo: Fifo,
    held_back: Option<Box<HeldBack>>,
}

/// Packets of a VOQ that may not cross yet and that those behind them overtake. All of them arrived
/// before the packets in the VOQ's own queue.
#[derive(Debug, Default)]
struct HeldBack {
    fifo: Fifo,
    /// Number of packets of each flow in it.
    flows: Vec<(u64, u32)>,
}

impl HeldBack {
    fn has(&self, flow: u64) -> bool {
        self.flows.iter().any(|(known, _)| *known == flow)
    }

    fn push<S: Scheme>(&mut self, packets: &Packets<'_, Packet<S>>, flow: u64, handle: Handle) {
        match self.flows.iter_mut().find(|(known, _)| *known == flow) {
            Some((_, count)) => *count += 1,
            None => self.flows.push((flow, 1)),
        }
        self.fifo.push(packets, handle);
    }

    fn pop<S: Scheme>(&mut self, packets: &Packets<'_, Packet<S>>) -> Option<Handle> {
        let flow = self.fifo.peek(packets)?.header.address.qp();
        let index = self.flows.iter().position(|(known, _)| *known == flow)?;
        self.flows[index].1 -= 1;
        if self.flows[index].1 == 0 {
            self.flows.swap_remove(index);
        }
        self.fifo.pop(packets)
    }
}

/// The VOQs of a switch.
#[derive(Debug)]
pub(super) struct Inputs {
    ports: usize,
    /// By input, then priority, then output.
    voqs: Vec<Voq>,
    bytes: Vec<u64>,
    /// By output, then priority, then input: the minimum size of the packets that have joined the
    /// VOQ since it was last empty.
    min_sizes: Vec<u16>,
    /// By output, then priority: inputs with packets.
    pub(super) waiting: PortSets,
    /// By output: priorities with packets.
    pub(super) priorities: Vec<u8>,
    /// Outputs with packets.
    pub(super) wanted: PortSet,
    /// By input: outputs that it has packets for.
    pub(super) wants: PortSets,
}

impl Inputs {
    pub(super) fn new(ports: usize) -> Inputs {
        Inputs {
            ports,
            voqs: (0..ports * ports * 8).map(|_| Voq::default()).collect(),
            bytes: vec![0; ports * ports * 8],
            min_sizes: vec![0; ports * ports * 8],
            waiting: PortSets::new(ports * 8, ports),
            priorities: vec![0; ports],
            wanted: PortSet::new(ports),
            wants: PortSets::new(ports, ports),
        }
    }

    /// Prefetches what every packet touches.
    pub(super) fn prefetch(&self) {
        prefetch(self.priorities.as_slice(), 1);
    }

    #[inline]
    fn index(&self, VoqId { input, priority, output }: VoqId) -> usize {
        (input * 8 + priority) * self.ports + output
    }

    /// Returns the bytes in all input queues.
    pub(super) fn used(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Returns the bytes in the VOQs of an input and priority, by output.
    #[inline]
    pub(super) fn voqs(&self, input: usize, priority: u8) -> &[u64] {
        &self.bytes[(input * 8 + priority as usize) * self.ports..][..self.ports]
    }

    /// Puts a packet into a VOQ.
    #[inline]
    pub(super) fn push<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        voq: VoqId,
        size: u64,
        handle: Handle,
    ) {
        let index = self.index(voq);
        let VoqId { input, priority, output } = voq;
        self.voqs[index].fifo.push(packets, handle);
        self.bytes[index] += size;
        let waiting = output * 8 + priority;
        let min_size = &mut self.min_sizes[waiting * self.ports + input];
        let others = if self.waiting.contains(waiting, input) { *min_size } else { u16::MAX };
        *min_size = others.min(size as u16);
        self.waiting.insert(waiting, input);
        self.priorities[output] |= 1 << priority;
        self.wanted.insert(output);
        self.wants.insert(input, output);
    }

    /// Returns whether a packet of a priority that waits for an output may be as small as `room`.
    #[inline]
    pub(super) fn may_fit(&self, output: usize, priority: usize, room: u64) -> bool {
        let waiting = output * 8 + priority;
        let min_sizes = &self.min_sizes[waiting * self.ports..][..self.ports];
        let mut inputs = Members::default();
        while let Some(input) = inputs.next(|word| self.waiting.word(waiting, word)) {
            if u64::from(min_sizes[input]) <= room {
                return true;
            }
        }
        false
    }

    /// Returns the packet of a VOQ that may cross, if there is one. Packets that the congestion
    /// point holds back are put aside. `cp` is `None` if it holds nothing back from the output.
    #[inline]
    pub(super) fn head<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        cp: Option<&S::Cp>,
        id: VoqId,
        now: Time,
    ) -> Option<Head> {
        let index = self.index(id);
        let voq = &mut self.voqs[index];
        let open = |packet: &Packet<S>| {
            let size = u64::from(packet.header.size);
            Some(Head { size, held_back: false, last: false })
        };
        if !InputQueuesOf::<S>::ENABLED {
            return voq.fifo.peek(packets).and_then(open);
        }
        let Some(cp) = cp else {
            let held_back =
                voq.held_back.as_ref().and_then(|held_back| held_back.fifo.peek(packets));
            return match held_back {
                Some(packet) => open(packet).map(|head| Head { held_back: true, ..head }),
                None => voq.fifo.peek(packets).and_then(open),
            };
        };
        let out = PortId::new(id.output as u16);
        let first_held_back = |voq: &Voq| {
            let packet = voq.held_back.as_ref()?.fifo.peek(packets)?;
            let last = match InputQueuesOf::<S>::crossing(cp, out, &packet.header, now) {
                Crossing::Allowed => false,
                Crossing::AllowedIfLast => true,
                Crossing::Blocked => return None,
            };
            Some(Head { size: u64::from(packet.header.size), held_back: true, last })
        };
        if let Some(head) = first_held_back(voq).filter(|head| !head.last) {
            return Some(head);
        }
        while let Some(packet) = voq.fifo.peek(packets) {
            if packet.header.kind != PacketKind::Data {
                return open(packet);
            }
            let flow = packet.header.address.qp();
            let follows = voq.held_back.as_ref().is_some_and(|held_back| held_back.has(flow));
            if !follows
                && InputQueuesOf::<S>::crossing(cp, out, &packet.header, now) == Crossing::Allowed
            {
                return open(packet);
            }
            let handle = voq.fifo.pop(packets).expect("just seen");
            voq.held_back.get_or_insert_default().push(packets, flow, handle);
        }
        first_held_back(voq)
    }

    /// Takes the packet that [`head`](Inputs::head) found at this instant.
    #[inline]
    pub(super) fn pop<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        id: VoqId,
        head: Head,
    ) -> Handle {
        let index = self.index(id);
        let voq = &mut self.voqs[index];
        let handle = match &mut voq.held_back {
            Some(held_back) if head.held_back => held_back.pop(packets),
            _ => voq.fifo.pop(packets),
        };
        let empty = voq.fifo.is_empty()
            && voq.held_back.as_ref().is_none_or(|held_back| held_back.fifo.is_empty());
        self.bytes[index] -= head.size;
        if empty {
            self.emptied(id);
        }
        handle.expect("a packet was found")
    }

    /// Takes the oldest packet of a VOQ, held back or not.
    pub(super) fn remove<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        id: VoqId,
    ) -> Option<Handle> {
        let Voq { fifo, held_back } = &self.voqs[self.index(id)];
        let oldest = held_back.as_ref().and_then(|held_back| held_back.fifo.peek(packets));
        let packet = oldest.or_else(|| fifo.peek(packets))?;
        let size = u64::from(packet.header.size);
        let head = Head { size, held_back: oldest.is_some(), last: false };
        Some(self.pop(packets, id, head))
    }

    /// Notes that a VOQ has become empty.
    #[inline]
    fn emptied(&mut self, VoqId { input, priority, output }: VoqId) {
        let waiting = output * 8 + priority;
        self.waiting.remove(waiting, input);
        if self.waiting.is_empty(waiting) {
            self.priorities[output] &= !(1 << priority);
            if self.priorities[output] == 0 {
                self.wanted.remove(output);
            }
        }
        let mut others = self.priorities[output];
        while others != 0 {
            if self.waiting.contains(output * 8 + others.trailing_zeros() as usize, input) {
                return;
            }
            others &= others - 1;
        }
        self.wants.remove(input, output);
    }
}
