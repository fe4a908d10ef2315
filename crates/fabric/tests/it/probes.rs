//! Time series: that each sample is of its time and its target.

use crate::common::{Build, G100, US, line, pauses, port, run, star};
use fabric::{Probe, ProbeKind, ProbeTargets, RunOutput, Threshold};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use units::{Bytes, FlowId, NodeId, PortId, Time};

const NO_PARAMS: NoParams = NoParams { window: WindowMode::None };

/// The values of a target, whose times are those of the probe.
fn of(
    output: &RunOutput,
    (number, probe): (usize, &Probe),
    target: usize,
    targets: usize,
) -> Vec<f64> {
    let samples: Vec<_> = output.samples.of(number).map(Result::unwrap).collect();
    for (place, sample) in samples.iter().enumerate() {
        // What an interval saw is known at its end: there is none at the start.
        assert_eq!(sample.time, probe.start + probe.interval * (place / targets + 1) as u64);
        assert_eq!(sample.target as usize, place % targets);
    }
    assert_eq!(samples.last().expect("there are some").time, probe.end);
    samples.into_iter().skip(target).step_by(targets).map(|sample| sample.value).collect()
}

/// Protects what a series says of whom: targets of several nodes, in any order, and many samples.
/// What ports sent in all intervals is what they counted, and what flows brought is their size.
#[test]
fn series_are_by_time_and_target_and_miss_nothing() {
    let mut setup = line(2, G100, US);
    let sizes = [300_000, 200_000, 100_000];
    setup.message(0, 1, sizes[0], US);
    setup.message(1, 0, sizes[1], US * 2);
    setup.message(0, 1, sizes[2], US * 3);
    setup.stop = US * 100;
    setup.until_done = false;
    let ports = [(3, 1), (0, 0), (2, 0), (1, 0), (3, 0), (2, 1)];
    let (start, end) = (Time::ZERO, US * 99);
    let probe = |interval, targets| {
        let kind = match targets {
            ProbeTargets::Ports(_) => ProbeKind::Throughput,
            ProbeTargets::Flows(_) => ProbeKind::Goodput,
        };
        Probe { kind, priority: None, interval, start, end, targets }
    };
    let of_ports = ports.map(|(node, port)| (NodeId::new(node), PortId::new(port)));
    let of_flows = [2, 1, 0].map(FlowId::new);
    setup.probes = vec![
        probe(Time::from_ns(10), ProbeTargets::Ports(of_ports.into())),
        probe(US, ProbeTargets::Flows(of_flows.into())),
    ];
    for threads in [1, 2] {
        let output = run::<NoControl>(&setup, NO_PARAMS, threads);
        let all = |number: usize, target, targets| {
            let probe = &setup.probes[number];
            let values = of(&output, (number, probe), target, targets);
            values.iter().sum::<f64>() * probe.interval.as_secs_f64() / 8.0
        };
        for (target, &(node, number)) in ports.iter().enumerate() {
            let sent = port(&output, node, number).tx_bytes as f64;
            let seen = all(0, target, ports.len());
            assert!(sent > 0.0 && (seen / sent - 1.0).abs() < 1e-9, "{node}: {seen} of {sent}");
        }
        for (target, flow) in of_flows.iter().enumerate() {
            let (size, seen) = (sizes[flow.index()] as f64, all(1, target, of_flows.len()));
            assert!((seen / size - 1.0).abs() < 1e-9, "flow {flow:?}: {seen} of {size}");
        }
    }
}

/// Protects what is said of a priority alone: queues of all priorities add up to the queue of the
/// port, and a port is paused when one of its priorities is.
#[test]
fn priorities_make_up_the_port() {
    let mut setup = star(4, G100, US);
    let (xoff, xon) = (Bytes::new(30_000), Bytes::new(20_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    for (sender, priority, size) in [(0, 3, 400_000), (1, 3, 400_000), (2, 4, 100_000)] {
        let flow = setup.message(sender, 3, size, US);
        setup.messages[flow].priority = priority;
    }
    setup.stop = US * 100;
    setup.until_done = false;
    // The switch towards the receiver and from all senders; the senders.
    let ports = [(0, 0), (1, 0), (2, 0), (4, 0), (4, 1), (4, 2), (4, 3)];
    let ports = ports.map(|(node, port)| (NodeId::new(node), PortId::new(port)));
    let kinds = [ProbeKind::Queue, ProbeKind::InputQueue, ProbeKind::Pause];
    let (interval, start, end) = (Time::from_ns(100), Time::from_ns(100), US * 99);
    let priorities = [None].into_iter().chain((0..8).map(Some));
    let probe = |kind, priority| {
        let targets = ProbeTargets::Ports(ports.into());
        Probe { kind, priority, interval, start, end, targets }
    };
    let each = kinds.iter().flat_map(|&kind| priorities.clone().map(move |of| (kind, of)));
    setup.probes = each.map(|(kind, priority)| probe(kind, priority)).collect();
    let output = run::<NoControl>(&setup, NO_PARAMS, 1);
    assert!(pauses(&output) > 0);
    for (number, kind) in kinds.into_iter().enumerate() {
        let values = |probe: usize| {
            output.samples.of(9 * number + probe).map(Result::unwrap).map(|one| one.value)
        };
        let all: Vec<f64> = values(0).collect();
        let mut together = vec![0.0; all.len()];
        let mut used = Vec::new();
        for priority in 0..8 {
            let mut some = false;
            for (sum, value) in together.iter_mut().zip(values(priority + 1)) {
                *sum = if kind == ProbeKind::Pause { value.max(*sum) } else { *sum + value };
                some |= value > 0.0;
            }
            used.extend(some.then_some(priority));
        }
        assert_eq!(together, all, "{kind:?}");
        // ACKs wait nowhere, and only priority 3 has PFC.
        let expected: &[usize] = if kind == ProbeKind::Pause { &[3] } else { &[3, 4] };
        assert_eq!(used, expected, "{kind:?}");
    }
}

/// Protects the share of time that a port is paused: it misses no pause, however short, so all
/// intervals together have the time that the port counted.
#[test]
fn paused_shares_add_up_to_the_time_that_ports_count() {
    let mut setup = star(4, G100, US);
    let (xoff, xon) = (Bytes::new(30_000), Bytes::new(20_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    for sender in 0..3 {
        setup.message(sender, 3, 200_000, US);
    }
    setup.stop = US * 100;
    setup.until_done = false;
    let ports: Vec<_> = (0..3).map(|host| (NodeId::new(host), PortId::new(0))).collect();
    let (interval, start, end) = (US * 7, Time::ZERO, US * 98);
    let probe = Probe {
        kind: ProbeKind::PausedShare,
        priority: None,
        interval,
        start,
        end,
        targets: ProbeTargets::Ports(ports.clone()),
    };
    setup.probes = vec![probe];
    let output = run::<NoControl>(&setup, NO_PARAMS, 1);
    for (target, &(node, number)) in ports.iter().enumerate() {
        let shares = of(&output, (0, &setup.probes[0]), target, ports.len());
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
        let seen = shares.iter().sum::<f64>() * interval.ps() as f64;
        let counted = port(&output, node.get(), number.get()).paused.ps() as f64;
        assert!(counted > 0.0 && (seen - counted).abs() < 1.0, "{seen} of {counted} ps");
    }
}
