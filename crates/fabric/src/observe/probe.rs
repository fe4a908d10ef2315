//! Probes: samples taken at fixed times, after all other events of that instant. Taking them
//! changes no result.

use crate::observe::samples::{Log, Reading};
use crate::port::Port;
use model::ProbeKind;
use schemes::contract::SwitchFlowMetric;
use std::mem;
use units::Time;

/// Returns what a flow's first switch is asked for, if it is asked for this kind.
pub(crate) fn at_first_switch(kind: ProbeKind) -> Option<SwitchFlowMetric> {
    match kind {
        ProbeKind::FlowQueue => Some(SwitchFlowMetric::Queue),
        ProbeKind::FlowCredits => Some(SwitchFlowMetric::Credits),
        ProbeKind::FlowRate => Some(SwitchFlowMetric::Rate),
        _ => None,
    }
}

/// Whether the receiver of a flow counts this kind, and not its sender.
pub(crate) fn is_counted_at_receiver(kind: ProbeKind) -> bool {
    matches!(kind, ProbeKind::Goodput | ProbeKind::Latency | ProbeKind::ReorderBuffer)
}

/// What a probe samples, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeClock {
    pub(crate) probe: u32,
    pub(crate) kind: ProbeKind,
    /// For kinds that a port has by priority: the priority, or `None` for all together.
    pub(crate) priority: Option<u8>,
    pub(crate) interval: Time,
    pub(crate) end: Time,
    pub(crate) next: Time,
    /// The number of samples before the next one.
    pub(crate) instant: u32,
}

impl ProbeClock {
    /// Whether no sample has been taken.
    fn is_fresh(&self) -> bool {
        self.instant == 0
    }

    fn advance(&mut self) {
        self.next += self.interval;
        match self.instant.checked_add(1) {
            Some(instant) if self.next <= self.end => self.instant = instant,
            // The end of the probe, or of the 32 bits that a sample has for its instant.
            _ => self.next = Time::NEVER,
        }
    }
}

/// The probes of a node's ports or flows. For each target they keep a `T` between samples.
#[derive(Debug)]
pub(crate) struct Probes<T> {
    /// When the next sample is due.
    next: Time,
    probes: Vec<Probe<T>>,
}

#[derive(Debug)]
struct Probe<T> {
    clock: ProbeClock,
    /// Sorted by id.
    targets: Vec<Target<T>>,
    log: Log,
}

#[derive(Debug)]
struct Target<T> {
    /// Its index in the probe's list.
    index: u32,
    /// The number of the port, or the flow.
    id: u32,
    kept: T,
}

impl<T: Default> Probes<T> {
    /// `probes`: of each target its index in the probe's list, and the port or flow.
    pub(crate) fn new(probes: Vec<(ProbeClock, Vec<(u32, u32)>)>) -> Probes<T> {
        let of = |(clock, targets): (ProbeClock, Vec<(u32, u32)>)| {
            let of = |(index, id)| Target { index, id, kept: T::default() };
            let mut targets: Vec<Target<T>> = targets.into_iter().map(of).collect();
            targets.sort_by_key(|target| target.id);
            Probe { clock, targets, log: Log::default() }
        };
        let mut all = Probes { next: Time::NEVER, probes: probes.into_iter().map(of).collect() };
        all.find_next();
        all
    }
}

impl<T> Probes<T> {
    fn find_next(&mut self) {
        self.next = self.probes.iter().map(|probe| probe.clock.next).min().unwrap_or(Time::NEVER);
    }

    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Takes the samples that are due at `now` and for which `read` returns a value. Returns how
    /// many.
    #[inline(always)]
    fn take(
        &mut self,
        now: Time,
        mut read: impl FnMut(&ProbeClock, &mut Target<T>) -> Option<f64>,
    ) -> u64 {
        let mut taken = 0;
        for Probe { clock, targets, log } in &mut self.probes {
            if clock.next != now {
                continue;
            }
            for target in targets {
                if let Some(value) = read(clock, target) {
                    log.push(clock.instant, target.index, value);
                    taken += 1;
                }
            }
            clock.advance();
        }
        self.find_next();
        taken
    }

    /// Ends all probes.
    pub(crate) fn stop(&mut self) {
        self.next = Time::NEVER;
    }

    /// Moves all samples to the readings of their probes.
    pub(crate) fn hand_over(&mut self, readings: &mut [Vec<Reading>]) {
        for Probe { clock, log, .. } in &mut self.probes {
            log.hand_over(&mut readings[clock.probe as usize]);
        }
    }
}

/// The probes of a node's ports.
pub(crate) type PortProbes = Probes<PortSnapshot>;

/// What a port had counted at the last sample: bytes sent, or time paused in picoseconds.
#[derive(Debug, Default)]
pub(crate) struct PortSnapshot(u64);

impl PortProbes {
    /// Takes the samples that are due at `now`. Returns how many. `came_in`: bytes in the switch
    /// that came through a port. `state`: a value of a port or flow that only the scheme's or the
    /// policy's part of the switch knows.
    pub(crate) fn sample<'p>(
        &mut self,
        now: Time,
        port: impl Fn(usize) -> &'p Port,
        came_in: impl Fn(usize, Option<u8>) -> u64,
        state: impl Fn(ProbeKind, u32) -> Option<f64>,
    ) -> u64 {
        self.take(now, |clock, Target { id, kept: PortSnapshot(before), .. }| {
            if matches!(clock.kind, ProbeKind::PortState | ProbeKind::ReorderQueue)
                || at_first_switch(clock.kind).is_some()
            {
                return state(clock.kind, *id);
            }
            let number = *id as usize;
            let port = port(number);
            Some(match clock.kind {
                ProbeKind::InputQueue => came_in(number, clock.priority) as f64,
                ProbeKind::Queue => match clock.priority {
                    None => port.queue_bytes as f64,
                    Some(priority) => port.class_bytes(priority) as f64,
                },
                ProbeKind::Pause => f64::from(u8::from(port.is_paused(clock.priority))),
                ProbeKind::PausedShare => {
                    let paused = port.paused_time(now).ps();
                    let since = paused - mem::replace(before, paused);
                    // The share of an interval is known at its end.
                    if clock.is_fresh() {
                        return None;
                    }
                    since as f64 / clock.interval.ps() as f64
                }
                ProbeKind::Throughput | ProbeKind::Utilisation => {
                    // A packet that begins at time zero belongs to the interval after it.
                    let now_sent = if now == Time::ZERO { 0 } else { port.counters.tx_bytes };
                    let sent = now_sent - mem::replace(before, now_sent);
                    // The rate of an interval is known at its end.
                    if clock.is_fresh() {
                        return None;
                    }
                    let rate = sent as f64 * 8.0 / clock.interval.as_secs_f64();
                    if clock.kind == ProbeKind::Throughput {
                        rate
                    } else {
                        rate / port.mean_rate(now.saturating_sub(clock.interval), now)
                    }
                }
                _ => unreachable!("a probe of flows on a port"),
            })
        })
    }
}

/// The probes of a host's flows.
pub(crate) type FlowProbes = Probes<ReceivedSinceSample>;

/// What arrived of a flow since the last sample: packets, the sum of their delays, payload bytes.
#[derive(Debug, Default)]
pub(crate) struct ReceivedSinceSample {
    packets: u64,
    delays: Time,
    bytes: u64,
}

impl FlowProbes {
    /// Whether there are no probes.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    /// Counts a data packet of `flow` with new data, which came in order or is kept.
    pub(crate) fn received(&mut self, flow: u32, delay: Time, payload: u16) {
        for probe in &mut self.probes {
            let first = probe.targets.partition_point(|target| target.id < flow);
            for Target { kept, .. } in
                probe.targets[first..].iter_mut().take_while(|target| target.id == flow)
            {
                kept.packets += 1;
                kept.delays += delay;
                kept.bytes += u64::from(payload);
            }
        }
    }

    /// Takes the samples that are due at `now`. Returns how many. `observe`: a value of a flow's
    /// sender.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        observe: impl Fn(u32, ProbeKind) -> Option<f64>,
    ) -> u64 {
        self.take(now, |clock, Target { id, kept, .. }| {
            let ReceivedSinceSample { packets, delays, bytes } = mem::take(kept);
            match clock.kind {
                ProbeKind::Goodput | ProbeKind::Latency if clock.is_fresh() => None,
                ProbeKind::Goodput => Some(bytes as f64 * 8.0 / clock.interval.as_secs_f64()),
                ProbeKind::Latency if packets == 0 => None,
                ProbeKind::Latency => Some(delays.as_secs_f64() / packets as f64),
                kind => observe(*id, kind),
            }
        })
    }
}
