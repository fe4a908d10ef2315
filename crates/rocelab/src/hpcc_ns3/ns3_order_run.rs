//! Runs an experiment in the HPCC simulator's order of events, and gives its results the form that
//! those of the fabric have.

use super::convert::allowed_in_ns3_order;
use super::outputs::Ns3OutputFiles;
use crate::output::EventOrder;
use crate::output::report::{Execution, report};
use crate::{Run, RunOptions, fabric_setup};
use fabric::{
    LosslessDrop, Memory, Outcome, PortReport, RunOutput, Samples, SpillError, unlinked_file,
};
use hpcc_files::Experiment;
use ns3_order::{Options, Output, Progress};
use scenario::{Scenario, ScenarioError};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;
use units::{Bytes, FlowId, PortId, Time};

/// The counter of events whose order only their numbers tell.
const UNORDERED: &str = "unordered_events";

/// The counter of flows that `L2_ACK_INTERVAL` keeps from ending.
pub(crate) const UNACKNOWLEDGED: &str = "unacknowledged_flows";

/// Refuses what a run in ns-3's order of events does not reproduce: settings of the experiment,
/// keys that are set besides, and several threads.
///
/// # Errors
/// With the first of them.
pub fn check_ns3_order(
    experiment: &Experiment,
    settings: &[(String, String)],
    threads: Option<usize>,
) -> Result<(), ScenarioError> {
    if let Some(threads) = threads.filter(|threads| *threads > 1) {
        let why = format!("ns-3's order of events takes one thread, not {threads}");
        return Err(ScenarioError::new("threads", why).hint("leave it out, or the order"));
    }
    if let Some((key, _)) = settings.iter().find(|(key, _)| !allowed_in_ns3_order(key)) {
        let why = "cannot be set for a run in ns-3's order of events, which takes the files as \
                   they are";
        return Err(ScenarioError::new(key, why).hint("change the files, or leave out the order"));
    }
    ns3_order::check(experiment).map_err(|refusal| {
        let key = refusal.key.unwrap_or("FLOW_FILE");
        ScenarioError::new(key, refusal.message).hint(refusal.hint)
    })
}

/// Runs an experiment in ns-3's order of events, on one thread. `scenario` is what
/// [`scenario_of`](super::scenario_of) made of it, and [`check_ns3_order`] has refused nothing.
/// Returns the results and the files of the run.
pub fn run_in_ns3_order(
    experiment: &Experiment,
    scenario: &Scenario,
    options: &RunOptions,
) -> (Run, Ns3OutputFiles) {
    let setup = fabric_setup::setup(scenario, options);
    let progress = &options.progress;
    progress.flows.store(experiment.flows.len() as u64, Ordering::Relaxed);
    progress.end_ps.store(setup.stop.ps(), Ordering::Relaxed);
    let watch = |now: Progress| {
        progress.simulated_ps.store(now.time * 1000, Ordering::Relaxed);
        progress.packet_hops.store(now.packets_delivered, Ordering::Relaxed);
        progress.flows_done.store(now.finished, Ordering::Relaxed);
        !options.cancel.load(Ordering::Relaxed)
    };
    let run = Options {
        run: scenario.run.seed,
        new_file: &|| unlinked_file(&options.spill.directory),
        max_held_bytes: options.spill.max_held_bytes as usize,
    };
    let started = Instant::now();
    let mut output = ns3_order::run(experiment, &run, &watch);
    let wall_s = started.elapsed().as_secs_f64();
    let fct = std::mem::take(&mut output.fct);
    let trace = (output.trace_header.clone(), output.trace.clone());
    let pauses = setup.pfc.lossless != 0;
    let output = fabric_output(output, pauses, options);
    let execution = Execution { threads: 1, wall_s, order: EventOrder::Ns3 };
    let run = report(scenario, options, &setup, output, execution);
    progress.packet_hops.store(run.summary.packet_hops, Ordering::Relaxed);
    let files = Ns3OutputFiles::in_ns3_order(fct, &run.recordings, trace);
    (run, files)
}

/// The output as one of the fabric. `pauses`: PFC should have prevented drops.
fn fabric_output(output: Output, pauses: bool, options: &RunOptions) -> RunOutput {
    let reports = output.ports.iter().map(|port| PortReport {
        node: port.node,
        port: PortId::new(port.port),
        peer: port.peer,
        rate: port.rate,
        counters: port.counters,
    });
    let ports: Vec<PortReport> = reports.collect();
    let dropped: u64 = ports.iter().map(|port| port.counters.dropped_packets).sum();
    let drops = output.drops.iter().map(|drop| LosslessDrop {
        time: drop.time,
        node: drop.node,
        port: PortId::new(drop.port),
        priority: drop.priority,
        flow: FlowId::new(drop.flow),
        size: drop.size,
        full: Memory::Headroom,
    });
    let mut counters = BTreeMap::from([(UNORDERED, output.unordered)]);
    if output.unacknowledged > 0 {
        counters.insert(UNACKNOWLEDGED, output.unacknowledged);
    }
    let (recording_stopped_at, spill_error) = match output.trace_failure {
        None => (Time::NEVER, None),
        Some((time, error)) => {
            let directory = options.spill.directory.clone();
            (time, Some(SpillError { directory, reason: error.to_string() }))
        }
    };
    RunOutput {
        outcome: Outcome {
            end: output.end,
            finished: output.flows.iter().filter(|flow| flow.fct != Time::NEVER).count() as u64,
            cancelled: output.cancelled,
            recording_stopped_at,
        },
        flows: output.flows,
        unfinished: output.unfinished,
        deadlock: None,
        ideal: output.ideal,
        ports,
        samples: Samples::default(),
        pfc_events: output.pfc.into(),
        packet_events: Vec::new().into(),
        queue_blocks: output.queues.into(),
        spill_error,
        drops: if pauses { drops.collect() } else { Vec::new() },
        lossless_drops: if pauses { dropped } else { 0 },
        out_of_order: output.out_of_order,
        recovery: Vec::new(),
        path_changes: None,
        audits: Vec::new(),
        counters,
        network_rtt: output.max_rtt,
        network_bdp: Some(Bytes::new(output.max_bdp)),
    }
}
