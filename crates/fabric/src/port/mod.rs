//! The sending side of a port: queues, scheduler, wire and counters.

mod counters;
pub(crate) mod emission_order;
pub(crate) mod losses;
pub(crate) mod pause_clock;
mod pauses;
mod queues;
pub(crate) mod red;
pub(crate) mod scheduler;
mod serialise;
mod shaper;

pub use counters::PortCounters;

use crate::compat::Compat;
use crate::compat::clock::Clock;
use crate::compat::event_order::{self, TrainWire};
use crate::network::graph::LinkEnd;
use crate::packet::{PacketKind, rank_of};
use crate::port::scheduler::Scheduler;
use engine::{Fifo, Link, Rank};
use model::PauseResponse;
use schemes::contract::ClassSpec;
use shaper::Shaper;
use units::{Bytes, PortId, Rate, Time};

/// The sending side of a port. The fields that a packet needs which does not wait come first, on as
/// few cache lines as possible.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// The ranks that order arrivals of the same instant at the peer.
    data_rank: Rank,
    other_rank: Rank,
    /// Priorities with packets waiting, and the PFC bit. It does not lie where a four-byte load
    /// could begin: compilers would load it together with a neighbour of which two bytes may just
    /// have been stored, and such a load stalls.
    pub(crate) waiting: u16,
    pfc_rank: Rank,
    clock: Clock,
    /// Priorities that the peer has paused.
    pub(crate) paused: u16,
    /// Priority of the packet that left last.
    last_priority: u8,
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
    pub(crate) compat: Compat,
}

/// The load of a next hop as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHopLoad {
    /// PFC pauses the priority of the packet there.
    pub is_paused: bool,
    /// Bytes that wait there, in all priorities.
    pub bytes: Bytes,
    /// The time until the port would begin to send a packet that joined now, if all that waits went
    /// first.
    pub backlog: Time,
}

impl Port {
    pub(crate) fn new(config: PortConfig<'_>) -> Port {
        let PortConfig { end, latency, pause_response, scheduler, compat, .. } = config;
        let clock = compat.clock();
        let rank = if compat.orders_by_emission() { event_order::arrival_rank } else { rank_of };
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
            data_rank: rank(PacketKind::Data),
            other_rank: rank(PacketKind::Ack),
            pfc_rank: rank(PacketKind::Pfc),
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
    #[inline]
    pub(crate) fn load(&self, priority: u8, now: Time) -> NextHopLoad {
        let bytes = Bytes::new(self.queue_bytes);
        let to_send = match self.byte_time {
            0 => self.rate.time_for(bytes),
            byte_time => Time::from_ps(self.queue_bytes * byte_time),
        };
        NextHopLoad {
            is_paused: self.paused & 1 << priority != 0,
            bytes,
            backlog: self.free_at.saturating_sub(now) + to_send,
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

    /// Returns the counters, including a pause that still lasts at `end`.
    pub(crate) fn final_counters(&self, end: Time) -> PortCounters {
        PortCounters { paused: self.paused_time(end), ..self.counters }
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
