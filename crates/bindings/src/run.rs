//! The door to the simulator: runs with the interpreter released, reports progress, obeys Ctrl-C.

use crate::errors::{catch_panics, internal_error, simulation_error};
use crate::hpcc::HpccExperiment;
use crate::prototype::{Law, LawFailed, Prototype, with_law};
use crate::scenario::Scenario;
use crate::summary::Summary;
use crate::table::Table;
use crate::worker::{Worker, no_thread};
use ::scenario::ScenarioError;
use hpcc_files::Experiment;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use results::arrow_array::RecordBatch;
use results::arrow_schema::ArrowError;
use results::{PacketTrace, PfcTrace};
use rocelab::hpcc_ns3::{Ns3OutputFiles, records_of, run_in_ns3_order};
use rocelab::{Progress, ROWS, Recordings, RunOptions, Spill};
use schemes::contract::Scheme as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use units::cancel::Cancelled;

/// What a run left behind.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct RunResult {
    /// One row for each message.
    #[pyo3(get)]
    flows: Table,
    /// One row for each port.
    #[pyo3(get)]
    ports: Table,
    /// The time series by name.
    #[pyo3(get)]
    series: Vec<(String, Table)>,
    /// The traces by name.
    #[pyo3(get)]
    traces: Vec<(String, Table)>,
    recordings: Recordings,
    summary: results::Summary,
    /// The drops in lossless classes, as a JSON list.
    #[pyo3(get)]
    drops: String,
    /// Why series and traces end before the run does, where they found no room on disk.
    #[pyo3(get)]
    failure: Option<String>,
    /// Whether Ctrl-C cut the run short.
    #[pyo3(get)]
    interrupted: bool,
    /// What the files of the HPCC simulator hold, where the run was one of its experiments.
    pub(crate) hpcc: Option<Ns3OutputFiles>,
}

impl RunResult {
    fn of(run: rocelab::Run, hpcc: Option<Ns3OutputFiles>) -> Result<RunResult, ArrowError> {
        let json = |error: serde_json::Error| ArrowError::JsonError(error.to_string());
        let recordings = run.recordings;
        Ok(RunResult {
            flows: Table::whole(run.flows.to_record_batch()?),
            ports: Table::whole(run.ports.to_record_batch()?),
            series: series(&recordings)?,
            traces: traces(&recordings)?,
            recordings,
            summary: run.summary,
            drops: serde_json::to_string(&run.drops).map_err(json)?,
            failure: run.failure.map(|error| error.to_string()),
            interrupted: false,
            hpcc,
        })
    }
}

#[pymethods]
impl RunResult {
    /// The run in figures.
    #[getter]
    fn summary(&self) -> Summary {
        Summary(self.summary.clone())
    }

    /// Whether the scenario asks for a capture of the traced packets.
    #[getter]
    fn has_capture(&self) -> bool {
        self.recordings.has_capture()
    }

    /// The traced packets as a capture (pcapng).
    fn capture<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let written = catch_panics(py, || self.recordings.write_capture(&mut bytes))?;
        written.map_err(|error| simulation_error(py, error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes that capture to a file.
    fn write_capture(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let mut out = BufWriter::new(File::create(&path)?);
            self.recordings.write_capture(&mut out)?;
            out.into_inner()?.sync_all()
        };
        Ok(catch_panics(py, write)??)
    }
}

/// A table that is read piece by piece.
macro_rules! in_pieces {
    ($empty:expr, $rows:expr, $read:expr) => {{
        let read = move || -> Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send> {
            Box::new($read.map(|piece| piece?.to_record_batch()))
        };
        Table::in_pieces(&$empty.to_record_batch()?, $rows, read)
    }};
}

fn series(recordings: &Recordings) -> Result<Vec<(String, Table)>, ArrowError> {
    let infos = recordings.series_infos().into_iter().enumerate();
    infos
        .map(|(probe, info)| {
            let all = recordings.clone();
            let empty = recordings.empty_series(probe);
            Ok((info.name, in_pieces!(empty, info.rows, all.series(probe, ROWS))))
        })
        .collect()
}

fn traces(recordings: &Recordings) -> Result<Vec<(String, Table)>, ArrowError> {
    let mut traces = Vec::new();
    if let Some(rows) = recordings.pfc_rows() {
        let all = recordings.clone();
        let table = in_pieces!(PfcTrace::default(), rows, all.pfc_trace(ROWS));
        traces.push((PfcTrace::NAME.to_owned(), table));
    }
    if let Some(rows) = recordings.packet_rows() {
        let all = recordings.clone();
        let table = in_pieces!(PacketTrace::default(), rows, all.packet_trace(ROWS));
        traces.push((PacketTrace::NAME.to_owned(), table));
    }
    Ok(traces)
}

/// Why there is no result.
enum Failure {
    /// The scheme cannot run on this network.
    Refused(ScenarioError),
    /// The tables do not fit together.
    Tables(ArrowError),
}

type Outcome = Result<RunResult, Failure>;

/// Runs `scenario`. Every tenth of a second `progress` is called with the simulated time and its
/// end (both in ps, the end 0 while unknown), packet-hops, flows done and flows. Where there is no
/// result yet, as the run is being set up, and on another Ctrl-C, what Python does on it is raised
/// at once, and the run ends by itself. With an `experiment` the result can be written as its
/// files, and with `ns3_order` it is run in ns-3's order of events;
/// `HpccExperiment.check_ns3_order` has passed then. Samples and events that are too many for
/// memory go to a file in `spill`, a directory and how many bytes of them stay in memory.
#[pyfunction]
#[pyo3(signature = (
    scenario, threads=None, progress=None, experiment=None, spill=None, ns3_order=false
))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    experiment: Option<&HpccExperiment>,
    spill: Option<(PathBuf, u64)>,
    ns3_order: bool,
) -> PyResult<RunResult> {
    if scenario.valid.scheme.info.name == Prototype::NAME {
        let error = ScenarioError::new("scheme.name", "the law of this run is a Python class")
            .hint("run it with rocelab.prototype(law).run(scenario)");
        return Err(scenario.config_error(py, error));
    }
    let experiment = experiment.map(|experiment| Arc::clone(&experiment.read));
    let options = RunOptions {
        threads,
        records: experiment.as_deref().map(records_of).unwrap_or_default(),
        // A configuration has them all.
        explicit_params: experiment.is_some(),
        ..options(spill)
    };
    supervise(py, scenario, progress, options, move |scenario, options| {
        if let Some(experiment) = experiment.as_deref().filter(|_| ns3_order) {
            let (run, files) = run_in_ns3_order(experiment, scenario, options);
            return RunResult::of(run, Some(files)).map_err(Failure::Tables);
        }
        let run = rocelab::run_on_disk(scenario, options).map_err(Failure::Refused)?;
        let files = |it: Arc<Experiment>| Ns3OutputFiles::new(&it, &run.flows, &run.recordings);
        let hpcc = experiment.map(files);
        RunResult::of(run, hpcc).map_err(Failure::Tables)
    })
}

/// Runs a scenario of the scheme `prototype` with this law, on one thread, as [`run`] does. What a
/// method of the law raises ends the run.
#[pyfunction]
#[pyo3(signature = (scenario, law, progress=None, spill=None))]
pub(crate) fn run_law(
    py: Python<'_>,
    scenario: &Scenario,
    law: &Law,
    progress: Option<Py<PyAny>>,
    spill: Option<(PathBuf, u64)>,
) -> PyResult<RunResult> {
    let options = RunOptions { threads: Some(1), ..options(spill) };
    let classes = law.classes();
    supervise(py, scenario, progress, options, move |scenario, options| {
        let run = with_law(&classes, || rocelab::run_on_disk(scenario, options));
        RunResult::of(run.map_err(Failure::Refused)?, None).map_err(Failure::Tables)
    })
}

fn options(spill: Option<(PathBuf, u64)>) -> RunOptions {
    RunOptions {
        spill: spill.map_or_else(Spill::default, |(directory, max_held_bytes)| Spill {
            directory,
            max_held_bytes,
        }),
        ..RunOptions::default()
    }
}

/// Has `work` done on a thread of its own, so that this one can listen for signals and report.
fn supervise(
    py: Python<'_>,
    scenario: &Scenario,
    progress: Option<Py<PyAny>>,
    options: RunOptions,
    work: impl FnOnce(&::scenario::Scenario, &RunOptions) -> Outcome + Send + 'static,
) -> PyResult<RunResult> {
    let (cancel, state) = (Arc::clone(&options.cancel), Arc::clone(&options.progress));
    let valid = Arc::clone(&scenario.valid);
    let worker = Worker::start("rocelab run", move || work(&valid, &options))
        .map_err(|error| no_thread(py, &error))?;
    let mut interrupted = None;
    let outcome = loop {
        if worker.wait(py) {
            break worker.outcome();
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
            Ok(RunResult { interrupted: interrupted.is_some(), ..result })
        }
        Ok(Err(Failure::Refused(error))) => Err(scenario.config_error(py, error)),
        Ok(Err(Failure::Tables(error))) => Err(simulation_error(py, error.to_string())),
        Err(panic) => match (interrupted, panic.downcast::<LawFailed>()) {
            (_, Ok(failed)) => Err(failed.0),
            (Some(interrupt), Err(panic)) if panic.is::<Cancelled>() => Err(interrupt),
            (_, Err(panic)) => Err(internal_error(py, &*panic)),
        },
    }
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
