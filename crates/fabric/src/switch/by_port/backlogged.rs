//! Advances a port at which packets wait.
//!
//! When a packet leaves follows from the arrival times and from when the wire becomes free. Which
//! packet leaves follows from what has arrived by then. Departures are therefore handled one after
//! the other, and each looks up how many packets have arrived. A loop over both kinds of events
//! would mispredict which of them comes next.

use super::IsolatedPort;
use crate::compat::event_order::set_ns3_lead;
use crate::packet::{NO_INGRESS, Scheme, Win};
use crate::port::Port;
use engine::Entry;
use std::hint::select_unpredictable;
use units::Time;

/// Maximum number of arrivals in a batch.
const MAX_BATCH: usize = 31;
/// How many arrival times are compared side by side. How many of them are early enough would be
/// mispredicted.
const COMPARE_WIDTH: usize = 4;
/// A time later than those of all arrivals.
const NEVER: u64 = Entry::NONE.offset_ps();

/// The arrivals of a port in order. Times are picoseconds since the window began.
pub(in crate::switch) struct ArrivalSchedule {
    count: usize,
    /// Arrival times, followed by `NEVER`.
    times: [u32; MAX_BATCH + 1 + COMPARE_WIDTH],
    /// Prefix sums of the arrivals' bytes.
    bytes: [u32; MAX_BATCH + 1],
    /// The two priorities as a bit mask, and their queues; the first always goes first.
    priorities: u16,
    queues: [Queue; 2],
}

/// A priority of the port during a batch.
struct Queue {
    /// Its arrivals, followed by `Entry::NONE`.
    entries: [Entry; MAX_BATCH + 1],
    count: usize,
    /// Its bytes among the first arrivals of the port, as prefix sums.
    bytes: [u32; MAX_BATCH + 1],
    priority: u8,
    is_paused: bool,
    /// Packets that waited when the batch began and have not left.
    waiting: u32,
    /// How many of its arrivals have left.
    taken: usize,
    /// Bytes that waited when the batch began, less those that have left.
    left: u64,
    /// From when on it has a packet that may leave.
    ready_at: u64,
}

impl ArrivalSchedule {
    pub(super) fn new() -> ArrivalSchedule {
        let queue = || Queue {
            entries: [Entry::NONE; MAX_BATCH + 1],
            count: 0,
            bytes: [0; MAX_BATCH + 1],
            priority: 0,
            is_paused: false,
            waiting: 0,
            taken: 0,
            left: 0,
            ready_at: NEVER,
        };
        ArrivalSchedule {
            count: 0,
            times: [NEVER as u32; MAX_BATCH + 1 + COMPARE_WIDTH],
            bytes: [0; MAX_BATCH + 1],
            priorities: 0,
            queues: [queue(), queue()],
        }
    }

    /// Sets the two priorities; all packets are of these. Those that are not in `seen` have not
    /// been seen yet.
    fn set_priorities(&mut self, pair: [u8; 2], seen: u16) {
        self.priorities = seen & (1 << pair[0] | 1 << pair[1]);
        for (queue, priority) in self.queues.iter_mut().zip(pair) {
            queue.priority = priority;
        }
    }

    /// Takes in `arrivals`, up to [`MAX_BATCH`]. Returns their priorities as a bit mask.
    #[inline(always)]
    fn take_in<S: Scheme>(&mut self, window: &Win<'_, '_, S>, arrivals: &[Entry]) -> u16 {
        let ArrivalSchedule { times, bytes, queues: [one, two], .. } = self;
        let (mut of_all, mut of_two, mut ones, mut twos, mut priorities) = (0, 0, 0, 0, 0);
        for (index, &entry) in arrivals.iter().take(MAX_BATCH).enumerate() {
            // SAFETY: the entries were bucketed in this window, and nobody has taken them.
            let header = unsafe { &window.peek_bucketed(entry).header };
            priorities |= 1 << (header.priority & 7);
            let is_two = header.priority == two.priority;
            // Each entry is stored in both lists and counted in one.
            one.entries[ones % (MAX_BATCH + 1)] = entry;
            two.entries[twos % (MAX_BATCH + 1)] = entry;
            ones += usize::from(!is_two);
            twos += usize::from(is_two);
            let size = u32::from(header.size);
            of_all += size;
            of_two += select_unpredictable(is_two, size, 0);
            times[index] = entry.offset_ps() as u32;
            bytes[index + 1] = of_all;
            one.bytes[index + 1] = of_all - of_two;
            two.bytes[index + 1] = of_two;
        }
        one.entries[ones % (MAX_BATCH + 1)] = Entry::NONE;
        two.entries[twos % (MAX_BATCH + 1)] = Entry::NONE;
        (one.count, two.count) = (ones, twos);
        self.count = ones + twos;
        self.times[self.count % (MAX_BATCH + 1)..][..COMPARE_WIDTH].fill(NEVER as u32);
        priorities
    }

    /// Prepares the queues for the departures of a batch.
    #[inline(always)]
    fn begin(&mut self, port: &Port) {
        for queue in &mut self.queues {
            queue.is_paused = port.paused & 1 << queue.priority != 0;
            queue.waiting = port.class_packets(queue.priority);
            queue.left = port.class_bytes(queue.priority);
            queue.taken = 0;
            queue.update_ready();
        }
    }

    /// If nothing waits, returns how many arrivals have left, and the queue of the next one.
    #[inline(always)]
    fn next_arrival(&self) -> (usize, usize) {
        let [one, two] = &self.queues;
        let left = (one.taken + two.taken) % (MAX_BATCH + 1);
        (left, usize::from(two.bytes[(left + 1) % (MAX_BATCH + 1)] != two.bytes[left]))
    }

    /// Returns how many packets have arrived by `time`. `before` of them are known to have.
    #[inline(always)]
    fn arrived_by(&self, time: u64, mut before: usize) -> usize {
        loop {
            let compared = &self.times[before % (MAX_BATCH + 1)..][..COMPARE_WIDTH];
            let more = compared.iter().filter(|&&other| u64::from(other) <= time).count();
            before += more;
            if more < COMPARE_WIDTH {
                return before;
            }
        }
    }
}

impl Queue {
    /// Computes when its next packet may leave.
    #[inline(always)]
    fn update_ready(&mut self) {
        let arrives = self.entries[self.taken % (MAX_BATCH + 1)].offset_ps();
        let ready_at = select_unpredictable(self.waiting != 0, 0, arrives);
        self.ready_at = select_unpredictable(self.is_paused, NEVER, ready_at);
    }
}

impl<'run, S: Scheme> IsolatedPort<'_, 'run, S> {
    /// Sends waiting packets and arrivals as long as all are of two priorities of which one always
    /// goes first. Returns the remaining arrivals.
    #[inline(always)]
    pub(super) fn advance_backlogged<'c, const NS3: bool>(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        mut arrivals: &'c [Entry],
        schedule: &mut ArrivalSchedule,
    ) -> &'c [Entry] {
        loop {
            let priorities = self.egress.port.waiting | schedule.take_in(window, arrivals);
            if priorities & !schedule.priorities != 0 {
                // Other ports will have the priorities of this one. Of priorities that take turns,
                // this port may have only one.
                let port = &self.egress.port;
                let found = [priorities | schedule.priorities, priorities]
                    .into_iter()
                    .find_map(|seen| Some((port.strict_pair(seen)?, seen)));
                let Some((pair, seen)) = found else { return arrivals };
                schedule.set_priorities(pair, seen);
                schedule.take_in(window, arrivals);
            }
            if NS3 && self.egress.port.paused != 0 {
                return arrivals;
            }
            let later = arrivals.get(MAX_BATCH..).unwrap_or_default();
            let limit = match later.first() {
                Some(&next) => next.offset_ps(),
                None => (window.until() - window.begin()).ps(),
            };
            self.depart_until::<NS3>(window, schedule, limit);
            if later.is_empty() {
                return later;
            }
            arrivals = later;
        }
    }

    /// Sends all that leaves before `limit`, and enqueues the remaining arrivals.
    #[inline(never)]
    fn depart_until<const NS3: bool>(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        schedule: &mut ArrivalSchedule,
        limit: u64,
    ) {
        let IsolatedPort { egress, mmu, lane, marks, emission_order } = self;
        let begin = window.begin();
        let mut left = egress.port.queue_bytes;
        schedule.begin(egress.port);
        let mut arrived = 0;
        let mut free = egress.port.free_at.saturating_sub(begin).ps();
        let (mut start, mut next);
        loop {
            let [first, second] = [0, 1].map(|index: usize| schedule.queues[index].ready_at);
            next = first.min(second);
            start = free.max(next);
            // A packet joins a free port. Nothing waits there, as nothing is paused.
            let joins_free = NS3
                && next < NEVER
                && begin + Time::from_ps(next) > egress.port.free_at
                && schedule.queues.iter().all(|queue| queue.waiting == 0);
            if start >= limit && !joins_free {
                break;
            }
            let mut turn = usize::from(first > start);
            arrived = if joins_free {
                // It leaves before what arrives at the same instant after it.
                let (before, index) = schedule.next_arrival();
                turn = index;
                before + 1
            } else {
                schedule.arrived_by(start, arrived)
            };
            let arrived_index = arrived % (MAX_BATCH + 1);
            let arrived_bytes = u64::from(schedule.bytes[arrived_index]);
            let queue = &mut schedule.queues[turn];
            let priority = queue.priority;
            let entry = queue.entries[queue.taken % (MAX_BATCH + 1)];
            let waits = queue.waiting != 0;
            // SAFETY: `waiting` equals the length of the port's queue. Each entry is taken once,
            // because `taken` grows.
            let mut handle = unsafe { egress.port.take_first(window, priority, waits, entry) };
            queue.waiting -= u32::from(waits);
            queue.taken += usize::from(!waits);
            queue.update_ready();
            let now = begin + Time::from_ps(start);
            let packet = window.packets.get_mut(&mut handle);
            let (kind, _, size) = packet.header.kind_priority_size();
            let bytes = u64::from(size);
            // Bytes that waited less bytes of arrivals that have left: negative for a while.
            left = left.wrapping_sub(bytes);
            queue.left = queue.left.wrapping_sub(bytes);
            let class_bytes = queue.left.wrapping_add(u64::from(queue.bytes[arrived_index]));
            egress.port.set_waiting_bytes(left.wrapping_add(arrived_bytes), bytes);
            egress.port.set_class_bytes(priority, class_bytes);
            if *marks {
                egress.mark(class_bytes, priority, packet, now);
            }
            let ingress = packet.header.ingress;
            if egress.cp.is_some() {
                let in_port = window.port_of(entry);
                packet.header.ingress = select_unpredictable(waits, ingress, in_port);
                egress.notify_dequeue(now, packet);
            }
            if NS3 {
                let in_port = select_unpredictable(waits, ingress, window.port_of(entry));
                set_ns3_lead(&mut packet.header, emission_order.lead_of(in_port, size));
                egress.port.set_last_priority(priority);
            }
            egress.port.transmit_by(window, lane, now, (kind, size), handle);
            free = (egress.port.free_at - begin).ps();
            debug_assert!(!waits || ingress != NO_INGRESS, "it makes nothing but PFC frames");
            // Nothing was stored of a packet that did not wait.
            let ingress = select_unpredictable(waits, ingress, 0);
            let stored = select_unpredictable(waits, bytes, 0);
            let resumes = mmu.release(ingress, priority, stored);
            debug_assert!(!resumes, "no ingress has its peer paused");
        }
        if next < NEVER {
            egress.port.free_at = egress.port.free_at.max(begin + Time::from_ps(start));
        }
        self.enqueue_rest(window, schedule, left);
    }

    /// Enqueues the arrivals that have not left. `left`: bytes that waited, less those that left.
    #[inline(always)]
    fn enqueue_rest(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        schedule: &ArrivalSchedule,
        left: u64,
    ) {
        let IsolatedPort { egress, mmu, .. } = self;
        let port = &mut *egress.port;
        let all = schedule.count % (MAX_BATCH + 1);
        port.set_waiting_bytes(left.wrapping_add(u64::from(schedule.bytes[all])), 0);
        for queue in &schedule.queues {
            for &entry in &queue.entries[queue.taken..queue.count] {
                // SAFETY: each entry that `depart_until` has not taken, once.
                let (_, tag, mut handle) = unsafe { window.take_bucketed(entry) };
                let header = &mut window.packets.get_mut(&mut handle).header;
                header.ingress = tag.port(window);
                mmu.store(header.ingress, queue.priority, u64::from(header.size));
                port.put_last(window.packets, queue.priority, handle);
            }
            let packets = queue.waiting + (queue.count - queue.taken) as u32;
            port.set_class_packets(queue.priority, packets);
            let bytes = queue.left.wrapping_add(u64::from(queue.bytes[all]));
            port.set_class_bytes(queue.priority, bytes);
        }
    }
}
