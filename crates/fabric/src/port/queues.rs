//! The queues of a port: what joins them, and what leaves them next.

use super::Port;
use crate::packet::{Packet, PfcFrame, Scheme, Win};
use crate::port::scheduler::{PFC, PFC_BIT};
use engine::{Entry, Handle, Packets};

impl Port {
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
        entry: Entry,
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
        frame: PfcFrame,
    ) {
        self.counters.pause_frames_sent += u64::from(frame == PfcFrame::Pause);
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
}
