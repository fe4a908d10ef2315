//! Time series: samples taken at fixed times, after everything else of that instant. Taking them
//! changes nothing.

use crate::network::ProbeKind;
use crate::port::Port;
use crate::samples::Log;
use units::Time;

/// When a probe samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) probe: u32,
    pub(crate) kind: ProbeKind,
    pub(crate) interval: Time,
    pub(crate) end: Time,
    pub(crate) next: Time,
    /// How often it has been looked at.
    pub(crate) instant: u32,
}

impl Clock {
    /// Nothing has been looked at yet.
    fn is_fresh(&self) -> bool {
        self.instant == 0
    }

    fn advance(&mut self) {
        self.instant += 1;
        self.next += self.interval;
        if self.next > self.end {
            self.next = Time::NEVER;
        }
    }
}

/// The probes on a node's ports.
#[derive(Debug, Default)]
pub(crate) struct PortProbes {
    next: Time,
    probes: Vec<PortProbe>,
}

#[derive(Debug)]
struct PortProbe {
    clock: Clock,
    /// Target's index in the probe, port (or flow, where the scheme's switch is asked for one), bytes
    /// sent at the last sample.
    targets: Vec<(u32, u32, u64)>,
    log: Log,
}

impl PortProbes {
    pub(crate) fn new(probes: Vec<(Clock, Vec<(u32, u32)>)>) -> PortProbes {
        let probes: Vec<PortProbe> = probes
            .into_iter()
            .map(|(clock, targets)| PortProbe {
                clock,
                targets: targets.into_iter().map(|(target, port)| (target, port, 0)).collect(),
                log: Log::default(),
            })
            .collect();
        let mut all = PortProbes { next: Time::NEVER, probes };
        all.find_next();
        all
    }

    fn find_next(&mut self) {
        self.next = self.probes.iter().map(|probe| probe.clock.next).min().unwrap_or(Time::NEVER);
    }

    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// What they saw, by probe.
    pub(crate) fn into_logs(self) -> impl Iterator<Item = (u32, Log)> {
        self.probes.into_iter().map(|probe| (probe.clock.probe, probe.log))
    }

    /// Takes the samples due at `now`; says how many.
    pub(crate) fn sample<'p>(
        &mut self,
        now: Time,
        port: impl Fn(usize) -> &'p Port,
        came_in: impl Fn(usize) -> u64,
        state: impl Fn(ProbeKind, u32) -> Option<f64>,
    ) -> u64 {
        let mut taken = 0;
        for probe in &mut self.probes {
            if probe.clock.next != now {
                continue;
            }
            let clock = probe.clock;
            for (target, number, sent_before) in &mut probe.targets {
                let ask = match clock.kind {
                    ProbeKind::PortState => true,
                    kind => kind.at_first_switch().is_some(),
                };
                if ask {
                    if let Some(value) = state(clock.kind, *number) {
                        probe.log.push(clock.instant, *target, value);
                        taken += 1;
                    }
                    continue;
                }
                let number = *number as usize;
                let port = port(number);
                let value = match clock.kind {
                    ProbeKind::InputQueue => came_in(number) as f64,
                    ProbeKind::Queue => port.queue_bytes as f64,
                    ProbeKind::Pause => f64::from(u8::from(port.paused_since().is_some())),
                    // What an interval saw is known at its end.
                    ProbeKind::Throughput | ProbeKind::Utilisation if clock.is_fresh() => {
                        *sent_before = port.counters.tx_bytes;
                        continue;
                    }
                    ProbeKind::Throughput | ProbeKind::Utilisation => {
                        let sent = port.counters.tx_bytes - *sent_before;
                        *sent_before = port.counters.tx_bytes;
                        let rate = sent as f64 * 8.0 / clock.interval.as_secs_f64();
                        if clock.kind == ProbeKind::Throughput {
                            rate
                        } else {
                            rate / port.rate().bps() as f64
                        }
                    }
                    _ => unreachable!("a probe of flows on a port"),
                };
                probe.log.push(clock.instant, *target, value);
                taken += 1;
            }
            probe.clock.advance();
        }
        self.find_next();
        taken
    }

    /// They look no more.
    pub(crate) fn stop(&mut self) {
        self.next = Time::NEVER;
    }
}

/// The probes on a host's flows.
#[derive(Debug, Default)]
pub(crate) struct FlowProbes {
    next: Time,
    probes: Vec<FlowProbe>,
}

#[derive(Debug)]
struct FlowProbe {
    clock: Clock,
    /// By flow.
    targets: Vec<FlowTarget>,
    log: Log,
}

#[derive(Debug)]
struct FlowTarget {
    target: u32,
    flow: u32,
    /// Since the last sample: packets received, their delays, their bytes.
    packets: u64,
    delays: Time,
    bytes: u64,
}

impl FlowProbes {
    pub(crate) fn new(probes: Vec<(Clock, Vec<(u32, u32)>)>) -> FlowProbes {
        let probes: Vec<FlowProbe> = probes
            .into_iter()
            .map(|(clock, targets)| {
                let mut targets: Vec<FlowTarget> = targets
                    .into_iter()
                    .map(|(target, flow)| FlowTarget {
                        target,
                        flow,
                        packets: 0,
                        delays: Time::ZERO,
                        bytes: 0,
                    })
                    .collect();
                targets.sort_by_key(|target| target.flow);
                FlowProbe { clock, targets, log: Log::default() }
            })
            .collect();
        let mut all = FlowProbes { next: Time::NEVER, probes };
        all.find_next();
        all
    }

    fn find_next(&mut self) {
        self.next = self.probes.iter().map(|probe| probe.clock.next).min().unwrap_or(Time::NEVER);
    }

    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// What they saw, by probe.
    pub(crate) fn into_logs(self) -> impl Iterator<Item = (u32, Log)> {
        self.probes.into_iter().map(|probe| (probe.clock.probe, probe.log))
    }

    /// Whether any probe counts what receivers get.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    /// A data packet of `flow` arrived in order.
    pub(crate) fn received(&mut self, flow: u32, delay: Time, payload: u16) {
        for probe in &mut self.probes {
            let first = probe.targets.partition_point(|target| target.flow < flow);
            for target in &mut probe.targets[first..] {
                if target.flow != flow {
                    break;
                }
                target.packets += 1;
                target.delays += delay;
                target.bytes += u64::from(payload);
            }
        }
    }

    /// Takes the samples due at `now`, and says how many; `observe` gives a sender's quantity.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        observe: impl Fn(u32, ProbeKind) -> Option<f64>,
    ) -> u64 {
        let mut taken = 0;
        for probe in &mut self.probes {
            if probe.clock.next != now {
                continue;
            }
            let clock = probe.clock;
            for target in &mut probe.targets {
                let value = match clock.kind {
                    ProbeKind::Throughput | ProbeKind::Latency if clock.is_fresh() => None,
                    ProbeKind::Throughput => {
                        Some(target.bytes as f64 * 8.0 / clock.interval.as_secs_f64())
                    }
                    ProbeKind::Latency if target.packets == 0 => None,
                    ProbeKind::Latency => Some(target.delays.as_secs_f64() / target.packets as f64),
                    kind => observe(target.flow, kind),
                };
                (target.packets, target.delays, target.bytes) = (0, Time::ZERO, 0);
                if let Some(value) = value {
                    probe.log.push(clock.instant, target.target, value);
                    taken += 1;
                }
            }
            probe.clock.advance();
        }
        self.find_next();
        taken
    }

    /// They look no more.
    pub(crate) fn stop(&mut self) {
        self.next = Time::NEVER;
    }
}
