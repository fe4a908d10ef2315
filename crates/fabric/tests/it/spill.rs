//! Records that go to a file as the run goes on: the same as those that stay in memory.

use crate::common;
use crate::common::{Build, G100, US, run, star};
use fabric::{
    Probe, ProbeKind, ProbeTargets, QueueSampling, Records, RunOutput, Setup, Spill, Threshold,
};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use std::path::PathBuf;
use std::{env, fs, process};
use units::{Bytes, NodeId, PortId, Time};

const NO_PARAMS: NoParams = NoParams { window: WindowMode::None };

/// An incast with pauses, everything of which is recorded.
fn watched() -> Setup {
    let mut setup = star(12, G100, US);
    let (xoff, xon) = (Bytes::new(20_000), Bytes::new(18_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    for src in 1..12 {
        setup.message(src, 0, 300_000, US * u64::from(src % 3));
    }
    let all = 0..=12;
    setup.records = Records {
        pfc: true,
        packets: all.map(NodeId::new).collect(),
        queues: Some(QueueSampling {
            start: Time::ZERO,
            end: US * 200,
            interval: Time::from_ns(100),
            block: US * 2,
            bin: 1_000,
        }),
        ..Records::default()
    };
    let (interval, start, end) = (Time::from_ns(500), Time::ZERO, US * 300);
    let ports: Vec<_> = (0..12).map(|port| (NodeId::new(12), PortId::new(port))).collect();
    for kind in [ProbeKind::Queue, ProbeKind::Throughput] {
        let targets = ProbeTargets::Ports(ports.clone());
        setup.probes.push(Probe { kind, priority: None, interval, start, end, targets });
    }
    setup
}

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = env::temp_dir().join(format!("rocelab-spill-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What each record says.
fn said<T: std::fmt::Debug, E: std::fmt::Debug>(
    records: impl Iterator<Item = Result<T, E>>,
) -> Vec<String> {
    records.map(|record| format!("{:?}", record.unwrap())).collect()
}

/// All records of a run by kind.
fn records(output: &RunOutput) -> Vec<Vec<String>> {
    let mut all = vec![
        said(output.pfc_events.iter()),
        said(output.packet_events.iter()),
        said(output.queue_blocks.iter()),
    ];
    all.extend((0..2).map(|probe| said(output.samples.of(probe))));
    all
}

/// Protects traces and series of runs that memory has no room for.
#[test]
fn records_on_disk_are_those_in_memory() {
    let directory = Directory::new("same");
    let mut setup = watched();
    let whole = run::<NoControl>(&setup, NO_PARAMS, 1);
    let expected = records(&whole);
    let counts: Vec<usize> = expected.iter().map(Vec::len).collect();
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
    for max_held_bytes in [0, 10_000, 200_000] {
        setup.spill = Spill { directory: directory.0.clone(), max_held_bytes };
        for threads in [1, 2, 5] {
            let output = run::<NoControl>(&setup, NO_PARAMS, threads);
            assert!(records(&output) == expected, "{max_held_bytes} B, {threads} threads");
            assert_eq!(common::essence(&output), common::essence(&whole));
            // A window's worth may come on top.
            let in_memory = output.packet_events.in_memory();
            assert!(
                in_memory * 80 <= max_held_bytes as usize + 50_000,
                "{in_memory} events are left"
            );
            assert!(output.packet_events.len() > in_memory as u64);
            assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 0, "the file has a name");
        }
    }
}

/// Protects a run whose records find no room on disk: it ends as it would have, and the records
/// that there are, are the first ones.
#[test]
fn a_run_goes_on_where_records_cannot_be_written() {
    let mut setup = watched();
    let whole = run::<NoControl>(&setup, NO_PARAMS, 1);
    let expected = records(&whole);
    assert!(whole.spill_error.is_none());
    let directory = PathBuf::from("/nonexistent/directory");
    setup.spill = Spill { directory, max_held_bytes: 100_000 };
    for threads in [1, 2] {
        let output = run::<NoControl>(&setup, NO_PARAMS, threads);
        assert_eq!(common::essence(&output), common::essence(&whole));
        let error = output.spill_error.as_ref().expect("there is no such directory").to_string();
        assert!(error.starts_with("cannot write to a file in /nonexistent/directory: "), "{error}");
        let end = output.outcome.recording_stopped_at;
        assert!(US < end && end < whole.outcome.end, "{end}");
        let packets: Vec<_> = output.packet_events.iter().map(Result::unwrap).collect();
        assert!(packets.len() > 500 && packets.iter().all(|event| event.time < end));
        for (kind, (some, all)) in records(&output).iter().zip(&expected).enumerate() {
            // Lengths of queues are counted to the end: that takes no memory for each packet.
            assert!(kind == 2 || some.len() < all.len(), "kind {kind}");
            assert_eq!(some[..], all[..some.len()], "kind {kind}");
        }
    }
}
