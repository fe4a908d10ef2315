//! A port at which packets wait.
//!
//! When a packet leaves follows from when it came and when the wire falls free, and which one it is from what
//! had come by then. So departures are worked one after the other, with an eye on the arrivals: whether an
//! arrival or a departure is the next thing to happen could not be guessed.

use super::IsolatedPort;
use crate::packet::{NO_INGRESS, Scheme, Win};
use crate::port::Port;
use std::hint::select_unpredictable;
use units::Time;

/// Arrivals that are worked at once, at most.
const MAX_BATCH: usize = 31;
/// Arrivals that are looked at side by side: how many of them come before something can't be guessed.
const COMPARE_WIDTH: usize = 4;
/// An entry later than those of all arrivals, and its time.
const NO_ENTRY: u64 = u64::MAX;
const NEVER: u64 = engine::offset_ps(NO_ENTRY);

/// What arrives for a port, in order. Times are picoseconds since the window began.
pub(in crate::switch) struct ArrivalSchedule {
    count: usize,
    /// When each arrives, and then `NEVER`.
    times: [u32; MAX_BATCH + 1 + COMPARE_WIDTH],
    /// Bytes of the first so many.
    bytes: [u32; MAX_BATCH + 1],
    /// By priority, the one that goes first first: a bit for each of the two, and what is known of them.
    priorities: u16,
    queues: [Queue; 2],
}

/// A priority while its port is worked.
struct Queue {
    /// Its arrivals, and then `NO_ENTRY`.
    entries: [u64; MAX_BATCH + 1],
    count: usize,
    /// Bytes of it among the first so many arrivals of all.
    bytes: [u32; MAX_BATCH + 1],
    priority: u8,
    is_paused: bool,
    /// Packets that waited as the window began, and still do.
    waiting: u32,
    /// How many that came are gone.
    taken: usize,
    /// Bytes that waited, less those that are gone.
    left: u64,
    /// From when on there is a packet that may go.
    there: u64,
}

impl ArrivalSchedule {
    pub(super) fn new() -> ArrivalSchedule {
        let queue = || Queue {
            entries: [NO_ENTRY; MAX_BATCH + 1],
            count: 0,
            bytes: [0; MAX_BATCH + 1],
            priority: 0,
            is_paused: false,
            waiting: 0,
            taken: 0,
            left: 0,
            there: NEVER,
        };
        ArrivalSchedule {
            count: 0,
            times: [NEVER as u32; MAX_BATCH + 1 + COMPARE_WIDTH],
            bytes: [0; MAX_BATCH + 1],
            priorities: 0,
            queues: [queue(), queue()],
        }
    }

    /// All is of these two priorities, the first of which goes first, as far as they are `among` those that
    /// were seen.
    fn set_priorities(&mut self, pair: [u8; 2], among: u16) {
        self.priorities = among & (1 << pair[0] | 1 << pair[1]);
        for (queue, priority) in self.queues.iter_mut().zip(pair) {
            queue.priority = priority;
        }
    }

    /// Takes in `arrivals`, [`MAX_BATCH`] at most; returns their priorities, a bit for each.
    #[inline(always)]
    fn take_in<S: Scheme>(&mut self, window: &Win<'_, '_, S>, arrivals: &[u64]) -> u16 {
        let ArrivalSchedule { times, bytes, queues: [one, two], .. } = self;
        let (mut of_all, mut of_two, mut ones, mut twos, mut priorities) = (0, 0, 0, 0, 0);
        for (index, &entry) in arrivals.iter().take(MAX_BATCH).enumerate() {
            // SAFETY: they were dealt out in this window, and nobody has taken them.
            let header = unsafe { &window.peek_bucketed(entry).header };
            priorities |= 1 << (header.priority & 7);
            let is_two = header.priority == two.priority;
            // Each goes into both lists, and is counted in one.
            one.entries[ones % (MAX_BATCH + 1)] = entry;
            two.entries[twos % (MAX_BATCH + 1)] = entry;
            ones += usize::from(!is_two);
            twos += usize::from(is_two);
            let size = u32::from(header.size);
            of_all += size;
            of_two += select_unpredictable(is_two, size, 0);
            times[index] = engine::offset_ps(entry) as u32;
            bytes[index + 1] = of_all;
            one.bytes[index + 1] = of_all - of_two;
            two.bytes[index + 1] = of_two;
        }
        one.entries[ones % (MAX_BATCH + 1)] = NO_ENTRY;
        two.entries[twos % (MAX_BATCH + 1)] = NO_ENTRY;
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
            queue.look();
        }
    }

    /// How many have come by `time`, where so many came before.
    #[inline(always)]
    fn arrived_by(&self, time: u64, mut before: usize) -> usize {
        loop {
            let beside = &self.times[before % (MAX_BATCH + 1)..][..COMPARE_WIDTH];
            let more = beside.iter().filter(|&&other| u64::from(other) <= time).count();
            before += more;
            if more < COMPARE_WIDTH {
                return before;
            }
        }
    }
}

impl Queue {
    /// Finds out when its next packet may go.
    #[inline(always)]
    fn look(&mut self) {
        let comes = engine::offset_ps(self.entries[self.taken % (MAX_BATCH + 1)]);
        let there = select_unpredictable(self.waiting != 0, 0, comes);
        self.there = select_unpredictable(self.is_paused, NEVER, there);
    }
}

impl<'run, S: Scheme> IsolatedPort<'_, 'run, S> {
    /// Passes on what waits and what arrives, as long as all is of two priorities of which one always goes
    /// first; returns the arrivals that are left.
    #[inline(always)]
    pub(super) fn advance_backlogged<'c>(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        mut arrivals: &'c [u64],
        schedule: &mut ArrivalSchedule,
    ) -> &'c [u64] {
        loop {
            let priorities = self.egress.port.waiting | schedule.take_in(window, arrivals);
            if priorities & !schedule.priorities != 0 {
                // Other ports will have what this one has. Of what take turns, one may be here alone.
                let port = &self.egress.port;
                let found = [priorities | schedule.priorities, priorities]
                    .into_iter()
                    .find_map(|among| Some((port.strict_pair(among)?, among)));
                let Some((pair, among)) = found else { return arrivals };
                schedule.set_priorities(pair, among);
                schedule.take_in(window, arrivals);
            }
            let later = arrivals.get(MAX_BATCH..).unwrap_or_default();
            let limit = match later.first() {
                Some(&next) => engine::offset_ps(next),
                None => (window.until() - window.begin()).ps(),
            };
            self.depart_until(window, schedule, limit);
            if later.is_empty() {
                return later;
            }
            arrivals = later;
        }
    }

    /// Sends what is sent before `limit`, and has the rest of what comes wait.
    #[inline(never)]
    fn depart_until(
        &mut self,
        window: &mut Win<'_, 'run, S>,
        schedule: &mut ArrivalSchedule,
        limit: u64,
    ) {
        let IsolatedPort { egress, mmu, lane, marks } = self;
        let begin = window.begin();
        let mut left = egress.port.queue_bytes;
        schedule.begin(egress.port);
        let mut come = 0;
        let mut free = egress.port.free_at.saturating_sub(begin).ps();
        let (mut start, mut next);
        loop {
            let [first, second] = [0, 1].map(|index: usize| schedule.queues[index].there);
            next = first.min(second);
            start = free.max(next);
            if start >= limit {
                break;
            }
            come = schedule.arrived_by(start, come);
            let came = come % (MAX_BATCH + 1);
            let came_in_all = u64::from(schedule.bytes[came]);
            let queue = &mut schedule.queues[usize::from(first > start)];
            let priority = queue.priority;
            let entry = queue.entries[queue.taken % (MAX_BATCH + 1)];
            let waits = queue.waiting != 0;
            // SAFETY: `waiting` and the port's queue count the same; each entry that is not taken there comes
            // once, as `taken` moves on.
            let mut handle = unsafe { egress.port.take_first(window, priority, waits, entry) };
            queue.waiting -= u32::from(waits);
            queue.taken += usize::from(!waits);
            queue.look();
            let now = begin + Time::from_ps(start);
            let packet = window.packets.get_mut(&mut handle);
            let (kind, _, size) = packet.header.kind_priority_size();
            let bytes = u64::from(size);
            // What is left of what waited, less what is gone of what came: below 0 for a while.
            left = left.wrapping_sub(bytes);
            queue.left = queue.left.wrapping_sub(bytes);
            let class_bytes = queue.left.wrapping_add(u64::from(queue.bytes[came]));
            egress.port.set_waiting_bytes(left.wrapping_add(came_in_all), bytes);
            egress.port.set_class_bytes(priority, class_bytes);
            if *marks {
                egress.mark(class_bytes, priority, packet, now);
            }
            let ingress = packet.header.ingress;
            if egress.cp.is_some() {
                let came_through = window.port_of(entry);
                packet.header.ingress = select_unpredictable(waits, ingress, came_through);
                egress.notify_dequeue(now, packet);
            }
            egress.port.transmit_by(window, lane, now, (kind, size), handle);
            free = (egress.port.free_at - begin).ps();
            debug_assert!(!waits || ingress != NO_INGRESS, "it makes nothing but PFC frames");
            // Of what only passes nothing was stored.
            let ingress = select_unpredictable(waits, ingress, 0);
            let stored = select_unpredictable(waits, bytes, 0);
            let goes_on = mmu.release(ingress, priority, stored);
            debug_assert!(!goes_on, "no ingress has its peer paused");
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
