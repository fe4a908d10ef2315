//! Time series: that each sample is of its time and its target.

mod common;

use common::{Build, G100, US, line, port, run};
use fabric::{Output, Probe, ProbeKind, ProbeTargets};
use schemes::none::{NoControl, NoParams};
use units::{FlowId, NodeId, PortId, Time};

const NO_PARAMS: NoParams = NoParams { window: "none" };

/// The values of a target, whose times are those of the probe.
fn of(
    output: &Output,
    (number, probe): (usize, &Probe),
    target: usize,
    targets: usize,
) -> Vec<f64> {
    let samples: Vec<_> = output.samples.of(number).collect();
    for (place, sample) in samples.iter().enumerate() {
        // What an interval saw is known at its end: there is none at the start.
        assert_eq!(sample.time, probe.start + probe.interval * (place / targets + 1) as u64);
        assert_eq!(sample.target as usize, place % targets);
    }
    assert_eq!(samples.last().expect("there are some").time, probe.end);
    samples.into_iter().skip(target).step_by(targets).map(|sample| sample.value).collect()
}

/// Protects what a series says of whom: targets of several nodes, in any order, and many samples. What
/// ports sent in all intervals is what they counted, and what flows brought is their size.
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
        let kind = ProbeKind::Throughput;
        Probe { kind, interval, start, end, targets }
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
