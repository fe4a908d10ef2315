//! Shared by the tests that run the HPCC simulator's experiments: writes files, reads them, runs
//! them.
#![allow(dead_code, reason = "each test file uses a part")]

use crate::common::refusal;
use hpcc_files::Experiment;
use rocelab::hpcc_ns3::{records_of, scenario_of};
use rocelab::{RunOptions, RunResult};
use scenario::{Scenario, ScenarioError};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that goes with the test.
pub struct Directory(pub PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        // Tests of a process may run the same experiment at the same time.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rocelab-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What differs between the control laws in the simulator's own configurations at 100 Gb/s.
fn law(name: &str) -> &'static str {
    match name {
        "dcqcn" => "CC_MODE 1 RATE_AI 20Mb/s RATE_HAI 200Mb/s ACK_HIGH_PRIO 1",
        "timely" => "CC_MODE 7 RATE_AI 100Mb/s RATE_HAI 500Mb/s ACK_HIGH_PRIO 1",
        "dctcp" => {
            "CC_MODE 8 EWMA_GAIN 0.0625 RATE_AI 10Mb/s RATE_HAI 10Mb/s DCTCP_RATE_AI 615Mb/s \
             HAS_WIN 1 VAR_WIN 1 KMAX_MAP 1 100000000000 300 KMIN_MAP 1 100000000000 300 \
             PMAX_MAP 1 100000000000 1.0"
        }
        "hpcc" => {
            "CC_MODE 3 RATE_AI 50Mb/s RATE_HAI 50Mb/s HAS_WIN 1 VAR_WIN 1 FAST_REACT 1 INT_MULTI 4"
        }
        "none" => "CC_MODE 0",
        other => unreachable!("{other}"),
    }
}

/// The valid scenario of an experiment with keys set, and what is served in another way.
pub fn scenario_with(
    experiment: &Experiment,
    settings: &[(&str, &str)],
) -> Result<(Scenario, Vec<String>), ScenarioError> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let (spec, warnings) = scenario_of(experiment, "experiment", &settings)?;
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok((Scenario::from_spec(spec, &scenario::Files::default())?, warnings))
}

/// What comes of an experiment with keys set.
pub fn run_with(
    experiment: &Experiment,
    settings: &[(&str, &str)],
) -> Result<RunResult, ScenarioError> {
    let (scenario, _) = scenario_with(experiment, settings)?;
    let options = RunOptions {
        records: records_of(experiment),
        explicit_params: true,
        ..RunOptions::default()
    };
    rocelab::run(&scenario, &options).map_err(refusal)
}

/// An experiment and what came of it.
pub struct Run {
    pub experiment: Experiment,
    pub result: RunResult,
    pub files: Directory,
}

impl Run {
    pub fn new(name: &str, law_name: &str, topology: &str, flows: &[String], more: &str) -> Run {
        let directory = Directory::new(&format!("{name}-{law_name}"));
        let path = |file: &str| directory.0.join(file);
        fs::write(path("topology.txt"), topology).unwrap();
        fs::write(path("flow.txt"), format!("{}\n{}\n", flows.len(), flows.join("\n"))).unwrap();
        let config = format!(
            "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE none.txt \
             TRACE_OUTPUT_FILE out/mix.tr FCT_OUTPUT_FILE out/fct.txt PFC_OUTPUT_FILE out/pfc.txt \
             QLEN_MON_FILE out/qlen.txt QLEN_MON_START 2000000000 QLEN_MON_END 2000001000 \
             SIMULATOR_STOP_TIME 2.05 ENABLE_TRACE 0 PACKET_PAYLOAD_SIZE 1000 \
             ALPHA_RESUME_INTERVAL 1 RATE_DECREASE_INTERVAL 4 RP_TIMER 300 EWMA_GAIN 0.00390625 \
             FAST_RECOVERY_TIMES 1 MIN_RATE 1000Mb/s L2_CHUNK_SIZE 4000 L2_ACK_INTERVAL 1 HAS_WIN \
             0 GLOBAL_T 1 VAR_WIN 0 FAST_REACT 0 MI_THRESH 0 MULTI_RATE 0 BUFFER_SIZE 32 \
             KMAX_MAP 1 100000000000 1600 KMIN_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 0.2 \
             {} {more}",
            law(law_name)
        );
        fs::write(path("config.txt"), config).unwrap();
        let experiment = Experiment::read(&path("config.txt"), &directory.0).unwrap();
        let result = run_with(&experiment, &[]).unwrap();
        Run { experiment, result, files: directory }
    }

    /// Runs it again on `threads` threads, and records all packets of all nodes.
    pub fn again(&self, threads: usize) -> RunResult {
        let (scenario, _) = scenario_with(&self.experiment, &[]).unwrap();
        let mut records = records_of(&self.experiment);
        records.packets = scenario.network.ids().collect();
        let options = RunOptions { records, threads: Some(threads), ..RunOptions::default() };
        rocelab::run(&scenario, &options).unwrap()
    }

    /// FCTs in nanoseconds, in the order of the flows.
    pub fn fcts(&self) -> Vec<u64> {
        self.result.flows.fct_ps.iter().map(|fct| fct / 1000).collect()
    }
}
