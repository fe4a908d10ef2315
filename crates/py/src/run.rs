//! The door to the simulator: runs with the interpreter released, reports progress, obeys Ctrl-C.

use crate::errors::{bug, simulation_error};
use crate::hpcc::HpccExperiment;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::worker::{Worker, no_thread};
use ::scenario::ScenarioError;
use hpcc_files::Experiment;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use results::arrow_schema::ArrowError;
use results::{PacketTrace, PfcTrace};
use rocelab::hpcc::{Files, records_of};
use rocelab::{Progress, RunOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::cancel::Cancelled;

/// What a run left behind.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct RunResult {
    flows: results::arrow_array::RecordBatch,
    ports: results::arrow_array::RecordBatch,
    series: Vec<(String, results::arrow_array::RecordBatch)>,
    traces: Vec<(String, results::arrow_array::RecordBatch)>,
    capture: Option<Vec<u8>>,
    /// The summary, as JSON.
    #[pyo3(get)]
    summary: String,
    /// The drops in lossless classes, as a JSON list.
    #[pyo3(get)]
    drops: String,
    /// What the files of the HPCC simulator hold, where the run was one of its experiments.
    pub(crate) hpcc: Option<Files>,
}

impl RunResult {
    fn of(result: rocelab::RunResult, hpcc: Option<Files>) -> Result<RunResult, ArrowError> {
        let pfc = result.pfc_trace.iter().map(|trace| (PfcTrace::NAME, trace.to_record_batch()));
        let packets = result.packet_trace.iter();
        let packets = packets.map(|trace| (PacketTrace::NAME, trace.to_record_batch()));
        let json = |error: serde_json::Error| ArrowError::JsonError(error.to_string());
        Ok(RunResult {
            flows: result.flows.to_record_batch()?,
            ports: result.ports.to_record_batch()?,
            series: result
                .series
                .iter()
                .map(|series| Ok((series.name.clone(), series.to_record_batch()?)))
                .collect::<Result<_, ArrowError>>()?,
            traces: pfc
                .chain(packets)
                .map(|(name, batch)| Ok((name.to_owned(), batch?)))
                .collect::<Result<_, ArrowError>>()?,
            capture: result.capture,
            summary: serde_json::to_string(&result.summary).map_err(json)?,
            drops: serde_json::to_string(&result.drops).map_err(json)?,
            hpcc,
        })
    }
}

#[pymethods]
impl RunResult {
    /// One row for each message.
    #[getter]
    fn flows(&self) -> Table {
        Table { batch: self.flows.clone() }
    }

    /// One row for each port.
    #[getter]
    fn ports(&self) -> Table {
        Table { batch: self.ports.clone() }
    }

    /// The time series by name.
    #[getter]
    fn series(&self) -> Vec<(String, Table)> {
        tables(&self.series)
    }

    /// The traced packets as a capture (pcapng), if the scenario asks for it.
    #[getter]
    fn capture<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.capture.as_deref().map(|capture| PyBytes::new(py, capture))
    }

    /// The traces by name.
    #[getter]
    fn traces(&self) -> Vec<(String, Table)> {
        tables(&self.traces)
    }
}

fn tables(batches: &[(String, results::arrow_array::RecordBatch)]) -> Vec<(String, Table)> {
    batches.iter().map(|(name, batch)| (name.clone(), Table { batch: batch.clone() })).collect()
}

/// Why there is no result.
enum Failure {
    /// The scheme cannot run on this network.
    Refused(ScenarioError),
    /// The tables do not fit together.
    Tables(ArrowError),
}

/// Runs `scenario`. Every tenth of a second `progress` is called with the simulated time and its
/// end (both in ps, the end 0 while unknown), packet-hops, flows done and flows. Returns the result
/// and whether Ctrl-C cut it short. Where there is no result yet, as the run is being set up, and on
/// another Ctrl-C, what Python does on it is raised at once, and the run ends by itself. With an
/// `experiment` the result can be written as its files.
#[pyfunction]
#[pyo3(signature = (scenario, threads=None, progress=None, experiment=None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    experiment: Option<&HpccExperiment>,
) -> PyResult<(RunResult, bool)> {
    let cancel = Arc::new(AtomicBool::new(false));
    let state = Arc::new(Progress::default());
    let experiment = experiment.map(|experiment| Arc::clone(&experiment.read));
    let options = RunOptions {
        threads,
        cancel: Arc::clone(&cancel),
        progress: Arc::clone(&state),
        records: experiment.as_deref().map(records_of).unwrap_or_default(),
        // A configuration has them all.
        params_given: experiment.is_some(),
        ..RunOptions::default()
    };
    let worker = start(Arc::clone(&scenario.valid), options, experiment)
        .map_err(|error| no_thread(py, &error))?;
    let mut interrupted = None;
    let outcome = loop {
        if let Some(outcome) = worker.wait(py) {
            break outcome;
        }
        let tick = match &progress {
            Some(progress) if interrupted.is_none() => report(py, progress, &state),
            _ => Ok(()),
        };
        if let Err(error) = tick.and_then(|()| py.check_signals()) {
            cancel.store(true, Ordering::Relaxed);
            // A second Ctrl-C, or a progress function that fails, ends the wait.
            if interrupted.is_some() || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                return Err(error);
            }
            interrupted = Some(error);
        }
    };
    match outcome {
        Ok(Ok(result)) => {
            if let Some(progress) = progress
                && interrupted.is_none()
            {
                report(py, &progress, &state)?;
            }
            Ok((result, interrupted.is_some()))
        }
        Ok(Err(Failure::Refused(error))) => Err(scenario.refused(py, error)),
        Ok(Err(Failure::Tables(error))) => Err(simulation_error(py, error.to_string())),
        Err(panic) => match interrupted {
            Some(interrupt) if panic.is::<Cancelled>() => Err(interrupt),
            _ => Err(bug(py, &*panic)),
        },
    }
}

/// Starts the run on a thread of its own, so that this one can listen for signals.
fn start(
    scenario: Arc<::scenario::Scenario>,
    options: RunOptions,
    experiment: Option<Arc<Experiment>>,
) -> std::io::Result<Worker<Result<RunResult, Failure>>> {
    Worker::start("rocelab run", move || {
        let result = rocelab::run(&scenario, &options).map_err(Failure::Refused)?;
        let hpcc = experiment.map(|experiment| Files::new(&experiment, &result));
        RunResult::of(result, hpcc).map_err(Failure::Tables)
    })
}

fn report(py: Python<'_>, progress: &Py<PyAny>, state: &Progress) -> PyResult<()> {
    let numbers = (
        state.simulated_ps.load(Ordering::Relaxed),
        state.end_ps.load(Ordering::Relaxed),
        state.packet_hops.load(Ordering::Relaxed),
        state.flows_done.load(Ordering::Relaxed),
        state.flows.load(Ordering::Relaxed),
    );
    progress.call1(py, numbers).map(|_| ())
}
