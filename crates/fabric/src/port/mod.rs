//! The sending side of a port: queues, scheduler, wire and counters.

mod counters;
pub(crate) mod emission_order;
pub(crate) mod losses;
pub(crate) mod pause_clock;
pub(crate) mod red;
pub(crate) mod scheduler;
mod serialise;
mod shaper;

pub use counters::PortCounters;

use crate::compat::Compat;
use crate::compat::clock::Clock;
use crate::compat::event_order::{self, TrainWire};
use crate::forwarding::NextHopLoad;
use crate::network::graph::LinkEnd;
use crate::packet::{Packet, PacketKind, Scheme, Win, class_of};
use crate::port::scheduler::{PFC, PFC_BIT, Scheduler};
use engine::{Class, Fifo, Handle, Link, Packets};
use model::PauseResponse;
use schemes::contract::ClassSpec;
use shaper::Shaper;
use std::mem;
use units::{Bytes, PortId, Rate, Time};

/// The sending side of a port. The fields that a packet needs which does not wait come first, on as
/// few cache lines as possible.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// The classes that order arrivals of the same instant at the peer.
    data_class: Class,
    other_class: Class,
    /// Priorities with packets waiting, and the PFC bit. It does not lie where a four-byte load
    /// could begin: compilers would load it together with a neighbour of which two bytes may just
    /// have been stored, and such a load stalls.
    pub(crate) waiting: u16,
    pfc_class: Class,
    clock: Clock,
    /// Priorities that the peer has paused.
    pub(crate) paused: u16,
    /// Priority of the packet that left last.
    last_priority: u8,
    /// The smallest packet takes time on the wire even at the full rate of the link.
    all_take_time: bool,
    /// When the wire becomes free. The next packet begins then, or when it becomes ready.
    pub(crate) free_at: Time,
    /// Picoseconds that a byte takes; 0 if that is not a whole number or if times are rounded.
    byte_time: u64,
    /// Time from the end of a packet to its handling at the peer: propagation and the peer's
    /// latency.
    delay: Time,
    pub(crate) link: Link,
    shaper: Option<Box<Shaper>>,
    /// Waiting bytes of all priorities, without PFC frames.
    pub(crate) queue_bytes: u64,
    pub(crate) last_departure: Time,
    pub(crate) counters: PortCounters,
    scheduler: Scheduler,
    /// Priorities that are not strict alternate packet by packet.
    packet_round_robin: bool,
    /// Waiting packets by priority.
    class_packets: [u32; 8],
    /// By priority; the last is the queue of PFC frames.
    queues: [Queue; 9],
    rate: Rate,
    /// Sizes of full data packets and of ACKs, and their times on the wire; used if `byte_time` is
    /// 0.
    common_sizes: [(u64, Time); 2],
    /// Delay of PFC frames, which the peer handles without latency but after its response time.
    pfc_delay: Time,
    paused_since: Time,
    /// Its link has failed.
    down: bool,
    /// By priority: when the present pause began, or the last one.
    class_paused_since: [Time; 8],
    /// Rates that it had before, in order, and until when.
    earlier_rates: Vec<(Time, Rate)>,
    /// The delay of the cable, and how long PFC frames take at the peer.
    cable: Time,
    pause_response: PauseResponse,
    /// When the last PFC frame takes effect: none overtakes another one.
    last_pfc: Time,
}

/// The packets that wait in one priority.
#[derive(Debug, Default)]
struct Queue {
    bytes: u64,
    fifo: Fifo,
}

/// What a port is made from.
pub(crate) struct PortConfig<'a> {
    /// The peer's end of the link.
    pub(crate) end: &'a LinkEnd,
    /// Time from the wire to the peer's logic. PFC frames do not take it.
    pub(crate) latency: Time,
    /// From the arrival of a PFC frame at the peer until it takes effect.
    pub(crate) pause_response: PauseResponse,
    pub(crate) scheduler: Scheduler,
    /// Bytes on the wire of a full data packet and of an ACK.
    pub(crate) common_sizes: [u64; 2],
    /// The smallest packet.
    pub(crate) min_packet: u64,
    pub(crate) compat: Compat,
}

impl Port {
    pub(crate) fn new(config: PortConfig<'_>) -> Port {
        let PortConfig { end, latency, pause_response, scheduler, compat, .. } = config;
        let clock = compat.clock();
        let class = if compat.orders_by_emission() { event_order::arrival_class } else { class_of };
        let mut port = Port {
            free_at: Time::ZERO,
            waiting: 0,
            paused: 0,
            last_priority: 0,
            packet_round_robin: compat.alternates_packets(),
            queue_bytes: 0,
            byte_time: 0,
            common_sizes: config.common_sizes.map(|size| (size, Time::ZERO)),
            clock,
            all_take_time: clock.time_for(end.rate, config.min_packet) > Time::ZERO,
            data_class: class(PacketKind::Data),
            other_class: class(PacketKind::Ack),
            pfc_class: class(PacketKind::Pfc),
            rate: end.rate,
            delay: end.delay + latency,
            pfc_delay: Time::ZERO,
            link: Link::new(end.peer, end.peer_port),
            class_packets: [0; 8],
            queues: Default::default(),
            scheduler,
            counters: PortCounters::default(),
            paused_since: Time::ZERO,
            last_departure: Time::ZERO,
            shaper: None,
            down: false,
            class_paused_since: [Time::ZERO; 8],
            earlier_rates: Vec::new(),
            cable: end.delay,
            pause_response,
            last_pfc: Time::ZERO,
        };
        port.apply_rate(end.rate);
        port
    }

    /// Sets the rate of the link, for packets that begin to leave from now on.
    pub(crate) fn set_rate(&mut self, rate: Rate, now: Time) {
        self.earlier_rates.push((now, self.rate));
        self.apply_rate(rate);
    }

    /// The mean rate of the link from `begin` to `end`, which is now, in bits per second.
    pub(crate) fn mean_rate(&self, begin: Time, end: Time) -> f64 {
        if self.earlier_rates.last().is_none_or(|(until, _)| *until <= begin) {
            return self.rate.bps() as f64;
        }
        let (mut from, mut sum) = (begin, 0.0);
        for &(until, rate) in self.earlier_rates.iter().chain([&(end, self.rate)]) {
            let until = until.min(end);
            if until > from {
                sum += rate.bps() as f64 * (until - from).as_secs_f64();
                from = until;
            }
        }
        sum / (end - begin).as_secs_f64()
    }

    fn apply_rate(&mut self, rate: Rate) {
        let exact = if self.clock == Clock::Exact { rate.exact_ps_per_byte() } else { None };
        self.rate = rate;
        self.byte_time = exact.unwrap_or(0);
        for (size, time) in &mut self.common_sizes {
            *time = self.clock.time_for(rate, *size);
        }
        self.pfc_delay = self.cable + self.pause_response.at(rate);
    }

    /// Limits a class to its share of the link.
    pub(crate) fn shape(&mut self, class: &ClassSpec) {
        if class.share < 1.0 {
            self.shaper.get_or_insert_default().limit(class);
        }
    }

    /// Returns whether a packet of `priority` would leave without waiting at `now`.
    #[inline]
    pub(crate) fn can_send_priority_now(&self, priority: u8, now: Time) -> bool {
        self.waiting == 0 && self.free_at <= now && self.paused & 1 << priority == 0
    }

    /// Returns whether a packet of any priority would leave without waiting at `now`.
    #[inline]
    pub(crate) fn can_send_now(&self, now: Time) -> bool {
        self.waiting | self.paused == 0 && self.free_at <= now
    }

    /// Returns a time before which no departure leaves the queue empty, if no waiting packet is
    /// larger than `max_packet` bytes.
    pub(crate) fn earliest_empty(&self, max_packet: u64) -> Time {
        let before = self.queue_bytes.saturating_sub(max_packet);
        Time::from_ps(self.free_at.ps().saturating_add(before.saturating_mul(self.byte_time)))
    }

    /// Counts a packet that leaves without having waited.
    #[inline]
    pub(crate) fn count_direct(&mut self, size: u16) {
        self.counters.count_queue(u64::from(size));
    }

    /// Returns whether a priority may not use the whole link.
    #[inline]
    pub(crate) fn is_shaped(&self) -> bool {
        self.shaper.is_some()
    }

    /// Returns its load for a packet of `priority` at `now`. It must have been drained to `now`.
    pub(crate) fn load(&self, port: PortId, priority: u8, now: Time) -> NextHopLoad {
        let bytes = Bytes::new(self.queue_bytes);
        NextHopLoad {
            port,
            is_paused: self.paused & 1 << priority != 0,
            bytes,
            backlog: self.free_at.saturating_sub(now) + self.rate.time_for(bytes),
        }
    }

    /// Returns the delay of PFC frames: that of the link, if they take effect at once.
    pub(crate) fn propagation(&self) -> Time {
        self.pfc_delay
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the link to the peer, as what comes over it from there sees it.
    pub(crate) fn train_wire(&self) -> TrainWire {
        let sizes = self.common_sizes.map(|(size, _)| size);
        TrainWire::new(self.propagation(), self.rate, self.clock, sizes)
    }

    /// Returns the priorities, and the PFC bit, that have packets and are not paused. Gates and
    /// shapers may still hold them.
    #[inline]
    pub(crate) fn open(&self) -> u16 {
        self.waiting & !self.paused
    }

    /// Returns the priorities of `open` that the shaper allows to send at `now`.
    #[inline]
    pub(crate) fn allowed_by_shaper(&self, open: u16, now: Time) -> u16 {
        self.shaper.as_ref().map_or(open, |shaper| shaper.allows(open, now))
    }

    /// Returns when the next packet of the priorities in `open` begins; [`Time::NEVER`] if `open`
    /// is empty.
    #[inline]
    pub(crate) fn due(&self, open: u16) -> Time {
        if open == 0 {
            return Time::NEVER;
        }
        match &self.shaper {
            None => self.free_at,
            Some(shaper) => self.free_at.max(shaper.earliest(open)),
        }
    }

    #[inline]
    pub(crate) fn class_bytes(&self, priority: u8) -> u64 {
        self.queues[priority as usize].bytes
    }

    #[inline]
    pub(crate) fn class_packets(&self, priority: u8) -> u32 {
        self.class_packets[priority as usize]
    }

    /// Returns the number of waiting packets, without PFC frames.
    pub(crate) fn packets(&self) -> u32 {
        self.class_packets.iter().sum()
    }

    /// Counts a packet as waiting. The caller puts it where it waits.
    #[inline]
    pub(crate) fn count_in(&mut self, priority: u8, size: u16) {
        self.queue_bytes += u64::from(size);
        self.queues[priority as usize & 7].bytes += u64::from(size);
        self.class_packets[priority as usize & 7] += 1;
        self.counters.count_queue(self.queue_bytes);
    }

    /// Counts a packet as no longer waiting.
    #[inline]
    pub(crate) fn count_out(&mut self, priority: u8, size: u16) {
        self.queue_bytes -= u64::from(size);
        self.queues[priority as usize & 7].bytes -= u64::from(size);
        self.class_packets[priority as usize & 7] -= 1;
    }

    /// Counts a packet and puts it at the tail of its priority's queue.
    #[inline]
    pub(crate) fn enqueue<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        priority: u8,
        size: u16,
        handle: Handle,
    ) {
        self.count_in(priority, size);
        self.waiting |= 1 << priority;
        self.queues[priority as usize & 7].fifo.push(packets, handle);
    }

    /// Puts a packet that was dequeued, and is still counted, at the tail of its queue.
    pub(crate) fn requeue<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        queue: usize,
        handle: Handle,
    ) {
        self.waiting |= 1 << queue;
        self.queues[queue].fifo.push(packets, handle);
    }

    /// Takes the first packet of a priority if `waits` says that there is one, and the packet of
    /// `entry` otherwise. The caller keeps the counters up to date, here and in the four functions
    /// that follow.
    ///
    /// # Safety
    /// As with [`pop_or_take`](engine::Window::pop_or_take).
    #[inline(always)]
    pub(crate) unsafe fn take_first<S: Scheme>(
        &mut self,
        window: &Win<'_, '_, S>,
        priority: u8,
        waits: bool,
        entry: u64,
    ) -> Handle {
        // SAFETY: the caller guarantees what `pop_or_take` asks for.
        unsafe { window.pop_or_take(&mut self.queues[priority as usize & 7].fifo, waits, entry) }
    }

    /// Puts a packet at the tail of its priority's queue without counting it.
    #[inline(always)]
    pub(crate) fn put_last<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        priority: u8,
        handle: Handle,
    ) {
        self.queues[priority as usize & 7].fifo.push(packets, handle);
    }

    /// Sets the number of waiting bytes. `more` bytes waited in addition until the last departure.
    #[inline(always)]
    pub(crate) fn set_waiting_bytes(&mut self, bytes: u64, more: u64) {
        self.queue_bytes = bytes;
        self.counters.count_queue(bytes + more);
    }

    /// Sets the number of bytes that wait in a priority.
    #[inline(always)]
    pub(crate) fn set_class_bytes(&mut self, priority: u8, bytes: u64) {
        self.queues[priority as usize & 7].bytes = bytes;
    }

    /// Sets the number of packets that wait in a priority.
    #[inline(always)]
    pub(crate) fn set_class_packets(&mut self, priority: u8, packets: u32) {
        self.class_packets[priority as usize & 7] = packets;
        let bit = 1 << (priority & 7);
        self.waiting = self.waiting & !bit | if packets == 0 { 0 } else { bit };
    }

    /// Returns whether several packets probably wait, by their bytes, and no PFC frame does.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        const BUSY_BYTES: u64 = 2000;
        self.waiting & PFC_BIT == 0 && self.queue_bytes >= BUSY_BYTES
    }

    /// Calls [`Scheduler::strict_pair`].
    pub(crate) fn strict_pair(&self, priorities: u16) -> Option<[u8; 2]> {
        self.scheduler.strict_pair(priorities)
    }

    /// Puts a PFC frame into its queue, which is ahead of all priorities.
    pub(crate) fn enqueue_pfc<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        handle: Handle,
        pause: bool,
    ) {
        self.counters.pause_frames_sent += u64::from(pause);
        self.waiting |= PFC_BIT;
        self.queues[PFC].fifo.push(packets, handle);
    }

    /// Takes the next packet of a queue without changing the counters.
    #[inline]
    pub(crate) fn dequeue<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        queue: usize,
    ) -> Handle {
        let fifo = &mut self.queues[queue].fifo;
        let handle = fifo.pop(packets).expect("the queue's bit says it waits");
        // Without a branch, because whether it was the last packet would be mispredicted.
        self.waiting &= !(u16::from(fifo.is_empty()) << queue);
        handle
    }

    /// Returns whether the port's own queue of a priority has packets.
    #[inline]
    pub(crate) fn has(&self, queue: usize) -> bool {
        !self.queues[queue].fifo.is_empty()
    }

    /// Returns which priority of `open` sends next. `size` is that of the next packet of a priority
    /// that has none in the port's own queues.
    #[inline]
    pub(crate) fn pick<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        open: u16,
        size: Option<u32>,
    ) -> usize {
        match self.scheduler.only_choice(open) {
            Some(queue) => queue,
            None => self.pick_in_turn(packets, open, size),
        }
    }

    #[inline(never)]
    fn pick_in_turn<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        open: u16,
        size: Option<u32>,
    ) -> usize {
        if self.packet_round_robin {
            let mut turns = (1..=8).map(|step| (usize::from(self.last_priority) + step) % 8);
            return turns.find(|queue| open & 1 << queue != 0).expect("one is open");
        }
        let queues = &self.queues;
        self.scheduler.round_robin(open as u8, |queue| {
            let own = queues[queue].fifo.peek(packets).map(|packet| packet.header.size.into());
            own.or(size).unwrap_or(0)
        })
    }

    /// Takes back what a priority was charged too much for its packet, in turn with others.
    pub(crate) fn refund(&mut self, queue: usize, bytes: u32) {
        self.scheduler.refund(queue, bytes);
    }

    /// Pauses or resumes a priority for a PFC frame of the peer. Returns whether that changed
    /// anything.
    pub(crate) fn set_paused(&mut self, priority: u8, pause: bool, now: Time) -> bool {
        self.counters.pause_frames_received += u64::from(pause);
        self.hold(priority, pause, now)
    }

    /// Pauses or resumes a priority. Returns whether that changed anything.
    pub(crate) fn hold(&mut self, priority: u8, pause: bool, now: Time) -> bool {
        let before = self.paused;
        if pause {
            self.paused |= 1 << priority;
        } else {
            self.paused &= !(1 << priority);
        }
        if before == 0 && self.paused != 0 {
            self.paused_since = now;
        }
        if self.paused & !before != 0 {
            self.class_paused_since[priority as usize & 7] = now;
        }
        if before != 0 && self.paused == 0 {
            self.counters.paused += now - self.paused_since;
        }
        before != self.paused
    }

    /// Takes the link down: nothing leaves any more, and pauses end. Returns the priorities that
    /// were paused.
    pub(crate) fn set_link_down(&mut self, now: Time) -> u16 {
        if self.paused != 0 {
            self.counters.paused += now - self.paused_since;
        }
        self.down = true;
        mem::replace(&mut self.paused, u16::MAX)
    }

    /// Brings the link up again.
    pub(crate) fn set_link_up(&mut self) {
        self.down = false;
        self.paused = 0;
    }

    /// Returns whether the link has failed.
    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        self.down
    }

    /// Removes a waiting packet of a priority, out of turn.
    pub(crate) fn remove_of<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        priority: u8,
    ) -> Option<Handle> {
        let queue = usize::from(priority & 7);
        self.has(queue).then(|| self.dequeue(packets, queue))
    }

    /// Removes any waiting packet, out of turn. Returns its queue and the packet.
    pub(crate) fn remove_any<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
    ) -> Option<(usize, Handle)> {
        let queue = self.waiting.trailing_zeros() as usize;
        (self.waiting != 0).then(|| (queue, self.dequeue(packets, queue)))
    }

    /// Returns the counters, including a pause that still lasts at `end`.
    pub(crate) fn final_counters(&self, end: Time) -> PortCounters {
        PortCounters { paused: self.paused_time(end), ..self.counters }
    }

    /// Returns how long the peer has paused at least one priority, up to `now`.
    pub(crate) fn paused_time(&self, now: Time) -> Time {
        if !self.is_paused(None) {
            return self.counters.paused;
        }
        self.counters.paused + now.saturating_sub(self.paused_since)
    }

    /// Returns by priority since when the peer pauses it.
    pub(crate) fn paused_since(&self) -> [Option<Time>; 8] {
        std::array::from_fn(|priority| {
            self.is_paused(Some(priority as u8)).then(|| self.class_paused_since[priority])
        })
    }

    /// Returns whether the peer pauses a priority, or any.
    pub(crate) fn is_paused(&self, priority: Option<u8>) -> bool {
        let asked = priority.map_or(u16::MAX, |priority| 1 << priority);
        self.paused & asked != 0 && !self.down
    }

    /// Returns the port as a scheme sees it if no packet is at hand.
    pub(crate) fn view_without_packet(&self, port: usize) -> schemes::contract::PortView {
        schemes::contract::PortView { class_bytes: self.queue_bytes, ..self.view(port, 0) }
    }

    /// Returns the port as a scheme sees it with a packet of `priority` at hand.
    #[inline]
    pub(crate) fn view(&self, port: usize, priority: u8) -> schemes::contract::PortView {
        schemes::contract::PortView {
            port: PortId::new(port as u16),
            rate: self.rate,
            queue_bytes: self.queue_bytes,
            class_bytes: self.queues[priority as usize & 7].bytes,
            tx_bytes: self.counters.tx_bytes,
            last_departure: self.last_departure,
        }
    }
}
