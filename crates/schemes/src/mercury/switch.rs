//! Mercury's congestion point and notification point, both in the switch: what a port knows of
//! itself, of its flows, and when it notifies whom.

use super::{Base, FeedbackParams, Mercury, Notice};
use crate::contract::{
    Address, Body, Cp, Emit, Emits, Kind, LinkRates, Local, Packet, PortFacts, PortView, RateCode,
    SwitchFacts, Target,
};
use crate::random::mix;
use units::{NodeId, Priority, Rate, Time};

/// Whether a port's queue says how its input compares with its rate. A `port-state` probe shows 0
/// for Determined without congestion, 1 for Determined with it, 2 for Undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Determined,
    /// PFC may have made the queue.
    Undetermined,
}

/// State-driven detection at a port's priority (Algorithm 1).
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    rate: Rate,
    /// Bytes, above which a queue is congestion.
    threshold: u64,
    /// T.
    period: Time,
    /// Last_State.
    state: State,
    /// When the present pause began; never outside of one.
    paused_at: Time,
    /// rxByte.
    received: u64,
    /// When T expires, and the queue when it began.
    check_at: Time,
    checked_queue: u64,
}

impl Detector {
    /// A port of this rate that was never paused.
    pub fn new(rate: Rate, threshold: u64, period: Time) -> Detector {
        Detector {
            rate,
            threshold,
            period,
            state: State::Determined,
            paused_at: Time::NEVER,
            received: 0,
            check_at: Time::ZERO,
            checked_queue: 0,
        }
    }

    /// The port's state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// The peer paused the port (lines 2 and 3), or repeats that it has.
    pub fn pause(&mut self, now: Time) {
        if self.paused_at == Time::NEVER {
            self.paused_at = now;
            self.received = 0;
            self.state = State::Undetermined;
        }
    }

    /// Bytes joined the queue (lines 4 and 5).
    #[inline]
    pub fn arrive(&mut self, bytes: u64) {
        if self.paused_at != Time::NEVER {
            self.received += bytes;
        }
    }

    /// The peer lets the port go on, where `queue` bytes wait (lines 7 to 14).
    pub fn resume(&mut self, now: Time, queue: u64) {
        if self.paused_at == Time::NEVER {
            return;
        }
        let drained = self.rate.bytes_in(now - self.paused_at).get();
        self.paused_at = Time::NEVER;
        self.state = if queue > self.threshold && self.received <= drained {
            State::Undetermined
        } else {
            State::Determined
        };
        self.begin_period(now, queue);
    }

    /// A packet left and `queue` bytes stay (lines 15 to 20).
    #[inline]
    pub fn depart(&mut self, now: Time, queue: u64) {
        let waits = self.state == State::Undetermined && self.paused_at == Time::NEVER;
        if !waits || now < self.check_at {
            return;
        }
        if queue > self.threshold && queue < self.checked_queue {
            self.begin_period(now, queue);
        } else {
            self.state = State::Determined;
        }
    }

    fn begin_period(&mut self, now: Time, queue: u64) {
        self.check_at = now + self.period;
        self.checked_queue = queue;
    }
}

/// Entries that a flow may have; one that finds none of them free is not notified meanwhile.
const PROBES: usize = 8;

/// Bytes that wait at a port, by flow: a fixed number of entries, found by hash and linear probing.
/// A flow without bytes has no entry, but one that is not taken yet is still there when it returns.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    /// Sum over all flows, those without an entry as well.
    total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    bytes: u64,
    /// No CNP before this time.
    silent_until: Time,
}

impl FlowTable {
    /// A table of `entries`, rounded up to a power of two.
    pub fn new(entries: usize) -> FlowTable {
        FlowTable { entries: vec![Entry::default(); entries.next_power_of_two()], total: 0 }
    }

    /// Bytes that wait, of all flows.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that wait of the flow `key`.
    pub fn bytes(&self, key: u64) -> u64 {
        let mut places = self.places(key);
        places.find(|&at| self.entries[at].key == key).map_or(0, |at| self.entries[at].bytes)
    }

    #[inline]
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.entries.len() - 1;
        let first = mix(key) as usize;
        (0..PROBES.min(self.entries.len())).map(move |probe| first.wrapping_add(probe) & mask)
    }

    /// Bytes of a flow joined the queue.
    #[inline]
    fn add(&mut self, key: u64, bytes: u64) -> Option<&mut Entry> {
        self.total += bytes;
        let known = self.places(key).find(|&at| self.entries[at].key == key);
        let place = match known {
            Some(at) => at,
            None => {
                let free = self.places(key).find(|&at| self.entries[at].bytes == 0)?;
                self.entries[free] = Entry { key, ..Entry::default() };
                free
            }
        };
        let entry = &mut self.entries[place];
        entry.bytes += bytes;
        Some(entry)
    }

    /// Bytes of a flow joined the queue at `now`, where the port is congested or not: the flow's
    /// bytes that wait, if it is to be notified, and then not again before `silence` is over.
    #[inline]
    pub fn join(
        &mut self,
        now: Time,
        key: u64,
        bytes: u64,
        congested: bool,
        silence: Time,
    ) -> Option<u64> {
        let entry = self.add(key, bytes)?;
        if !congested || now < entry.silent_until {
            return None;
        }
        entry.silent_until = now + silence;
        Some(entry.bytes)
    }

    /// Bytes of a flow left.
    #[inline]
    pub fn leave(&mut self, key: u64, bytes: u64) {
        self.total -= bytes;
        if let Some(at) = self.places(key).find(|&at| self.entries[at].key == key) {
            // Some of them may have joined while the flow had no entry.
            self.entries[at].bytes = self.entries[at].bytes.saturating_sub(bytes);
        }
    }
}

/// What the congestion point keeps of a port.
#[derive(Clone, Debug)]
pub struct PortState {
    rate: Rate,
    rate_code: RateCode,
    /// Bytes, above which a queue is congestion.
    threshold: u64,
    /// By priority, as what follows.
    detectors: [Detector; 8],
    /// The queue when it was last seen.
    queues: [u64; 8],
    /// When the port would have sent all that came, had nobody paused it.
    unpaused_until: [Time; 8],
    flows: FlowTable,
}

impl PortState {
    /// Bytes join the queue of a priority; whether the port is a root of congestion: its queue would
    /// be above the threshold had nobody ever paused it.
    #[inline]
    fn is_root(&mut self, now: Time, priority: usize, bytes: u64) -> bool {
        let until = &mut self.unpaused_until[priority];
        *until = (*until).max(now) + self.rate.time_for(units::Bytes::new(bytes));
        self.rate.bytes_in(*until - now).get() > self.threshold
    }
}

/// The congestion point of a switch.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    node: NodeId,
    /// baseRTT, of the whole network, in picoseconds.
    base_rtt: u64,
    state_detection: bool,
    window_notification: bool,
    by_pair: bool,
    notice_interval: Time,
    packet: u64,
    rates: LinkRates,
}

impl CongestionPoint {
    /// The congestion point of a switch.
    pub fn new(params: &FeedbackParams, facts: &SwitchFacts<'_>) -> CongestionPoint {
        CongestionPoint {
            node: facts.node,
            base_rtt: facts.network_rtt.ps(),
            state_detection: params.state_detection,
            window_notification: params.window_notification,
            by_pair: params.flow_key == "host-pair",
            notice_interval: params.notice_interval,
            packet: facts.packet_bytes.get(),
            rates: facts.rates.clone(),
        }
    }

    /// FID.
    #[inline]
    fn key(&self, address: &Address) -> u64 {
        if self.by_pair {
            u64::from(address.src) << 32 | u64::from(address.dst)
        } else {
            address.qp()
        }
    }

    /// Win, in bytes: the flow's share of the rate for a base round trip (Algorithm 2, lines 10 to
    /// 13). Zero stands for a plain CNP.
    fn window(&self, rate: Rate, bytes: u64, total: u64) -> u32 {
        if !self.window_notification {
            return 0;
        }
        let bdp = u128::from(rate.bps()) * u128::from(self.base_rtt) / 8_000_000_000_000;
        let window = bdp * u128::from(bytes) / u128::from(total.max(1));
        u32::try_from(window).unwrap_or(u32::MAX).max(1)
    }
}

impl<B: Base> Cp<Mercury<B>> for CongestionPoint {
    type Level = Emits;
    type Port = PortState;

    fn port(&self, params: &B::Joined, facts: &PortFacts) -> PortState {
        let own = B::feedback(params);
        let share = facts.rate.bps() as f64 / Rate::from_gbps(100).bps() as f64;
        // A packet that waits alone is no congestion, however slow the port.
        let threshold = ((own.congestion_threshold.get() as f64 * share) as u64).max(self.packet);
        PortState {
            rate: facts.rate,
            rate_code: self.rates.code(facts.rate),
            threshold,
            detectors: [Detector::new(facts.rate, threshold, own.check_period); 8],
            queues: [0; 8],
            unpaused_until: [Time::ZERO; 8],
            flows: FlowTable::new(own.flow_entries as usize),
        }
    }
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut Emit<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        packet: &mut Packet<Mercury<B>>,
    ) {
        let header = &packet.header;
        if header.kind != Kind::Data {
            return;
        }
        let (priority, size) = (usize::from(header.priority & 7), u64::from(header.size));
        let queue = view.class_bytes + size;
        port.queues[priority] = queue;
        port.detectors[priority].arrive(size);
        let from_root = port.is_root(cx.now, priority, size);
        let determined =
            !self.state_detection || port.detectors[priority].state() == State::Determined;
        let congested = determined && queue > port.threshold;
        let key = self.key(&header.address);
        let notified = port.flows.join(cx.now, key, size, congested, self.notice_interval);
        if let Some(bytes) = notified {
            let window = self.window(port.rate, bytes, port.flows.total());
            cx.to_host(header.address, Target::Source, Notice { window, from_root });
        }
    }
    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut Local,
        port: &mut PortState,
        view: &PortView,
        packet: &mut Packet<Mercury<B>>,
    ) {
        let header = &packet.header;
        if header.kind != Kind::Data {
            return;
        }
        let priority = usize::from(header.priority & 7);
        port.queues[priority] = view.class_bytes;
        port.detectors[priority].depart(cx.now, view.class_bytes);
        port.flows.leave(self.key(&header.address), u64::from(header.size));
        if let Body::Meta(meta) = &mut packet.body {
            B::stamp(meta, self.node, cx.now, port.rate_code, view);
        }
    }
    fn on_drop(
        &mut self,
        _cx: &mut Emit<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        packet: &Packet<Mercury<B>>,
    ) {
        let header = &packet.header;
        if header.kind == Kind::Data {
            port.queues[usize::from(header.priority & 7)] = view.class_bytes;
            port.flows.leave(self.key(&header.address), u64::from(header.size));
        }
    }
    fn on_pfc(
        &mut self,
        cx: &mut Emit<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        let detector = &mut port.detectors[priority.index()];
        if paused {
            detector.pause(cx.now);
        } else {
            detector.resume(cx.now, view.class_bytes);
        }
    }
    /// What says most among the priorities.
    fn observe(&self, port: &PortState, _now: Time) -> Option<f64> {
        let states = port.detectors.iter().zip(&port.queues);
        let number = |(detector, queue): (&Detector, &u64)| match detector.state() {
            State::Undetermined => 2,
            State::Determined => u8::from(*queue > port.threshold),
        };
        states.map(number).max().map(f64::from)
    }
}
