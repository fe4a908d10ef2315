//! Scenarios.

use crate::errors::{config_error, simulation_error, together};
use crate::table::Table;
use crate::worker::stoppable;
use ::scenario::memory::{Limits, Verdict};
use ::scenario::{
    Files, ScenarioError, SlowReceiver, Tree, parse_or_every_error, read_data, read_or_every_error,
    read_sections,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;
use pythonize::{depythonize, pythonize};
use results::arrow_array::RecordBatch;
use results::arrow_schema::ArrowError;
use rocelab::memory::{self, Use};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use units::Time;

/// A scenario that passed all checks.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct Scenario {
    pub(crate) valid: Arc<::scenario::Scenario>,
    /// Whether its text is a program's: its lines tell the user nothing.
    generated: bool,
}

impl Scenario {
    /// One whose text is a program's, or why there is none, as `ConfigError`.
    pub(crate) fn generated(
        py: Python<'_>,
        checked: Result<::scenario::Scenario, ScenarioError>,
    ) -> PyResult<Scenario> {
        match checked {
            Ok(valid) => Ok(Scenario { valid: Arc::new(valid), generated: true }),
            Err(error) => Err(scenario_error(py, error, true)),
        }
    }

    /// Why it cannot be run, as `ConfigError`.
    pub(crate) fn config_error(&self, py: Python<'_>, error: ScenarioError) -> PyErr {
        scenario_error(py, error, self.generated)
    }
}

fn scenario_error(py: Python<'_>, mut error: ScenarioError, generated: bool) -> PyErr {
    if generated && error.file.is_none() {
        error.line = None;
    }
    config_error(py, &error)
}

/// Why something may not fit in the memory that this process may take.
#[pyclass(frozen, get_all, module = "rocelab._rocelab")]
pub(crate) struct Shortage {
    /// What is needed and what there is.
    text: String,
    /// Whether it clearly does not fit.
    is_certain: bool,
    /// What can be done, if it is certain.
    hint: Option<&'static str>,
}

/// Compares `need` bytes more with the memory that this process may take. `None` where they fit.
/// The text of a shortage begins with `what`.
#[pyfunction]
pub(crate) fn judge_memory(what: &str, need: u64) -> Option<Shortage> {
    match Limits::of_process().judge(what, need) {
        Verdict::Fits => None,
        Verdict::Tight(text) => Some(Shortage { text, is_certain: false, hint: None }),
        Verdict::TooMuch(text, hint) => Some(Shortage { text, is_certain: true, hint: Some(hint) }),
    }
}

/// Rewrites the text of a scenario of schema 1, from the file `origin`, for schema 2: keys only.
#[pyfunction]
pub(crate) fn migrate(py: Python<'_>, text: &str, origin: Option<PathBuf>) -> PyResult<String> {
    ::scenario::migrate(text).map_err(|error| config_error(py, &error.in_file(origin.as_deref())))
}

/// The sections of a complete scenario with these names, such as `probe`, as plain data. The rest
/// of its text is not read.
#[pyfunction]
pub(crate) fn scenario_sections<'py>(
    py: Python<'py>,
    text: &str,
    names: Vec<PyBackedStr>,
) -> PyResult<Bound<'py, PyAny>> {
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let read = read_sections(text, &names).map_err(|error| config_error(py, &error))?;
    Ok(pythonize(py, &read)?)
}

/// The text of a scenario as plain data, with its keys in their order.
#[pyfunction]
pub(crate) fn scenario_data<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let read = read_data(text).map_err(|error| config_error(py, &error))?;
    Ok(pythonize(py, &read)?)
}

/// What a scenario is made of: the text of a file, or plain data.
enum Given {
    Text(PyBackedStr),
    Data(Tree),
}

impl FromPyObject<'_, '_> for Given {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Given> {
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Given::Text);
        }
        Ok(Given::Data(depythonize(&given)?))
    }
}

fn command_of(name: &str) -> PyResult<Use> {
    match name {
        "check" => Ok(Use::Check),
        "plan" => Ok(Use::Plan),
        "run" => Ok(Use::Run),
        _ => Err(PyValueError::new_err(format!("no command {name:?}"))),
    }
}

#[pymethods]
impl Scenario {
    /// Parses and checks `given`: the text of a file, or plain data with its tables. Files that it
    /// names are looked for beside `origin`, the file that a text came from; `overrides` are pairs
    /// of dotted key and value. Errors do not tell the lines of a text that was `generated`. The
    /// error that is raised has all others in `others`. Of the files, `texts` has those that were
    /// read before, by their paths; the others that were read are returned, too.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        given: Given,
        origin: Option<PathBuf>,
        overrides: Vec<(String, String)>,
        generated: bool,
        texts: BTreeMap<PathBuf, String>,
    ) -> PyResult<(Scenario, BTreeMap<PathBuf, String>)> {
        let work = move || {
            let origin = origin.as_deref();
            let texts = texts.into_iter().map(|(path, text)| (path, text.into())).collect();
            let files = Files::beside(origin).with_texts(texts);
            let valid = match given {
                Given::Text(text) => parse_or_every_error(&text, origin, &overrides, &files),
                Given::Data(tree) => read_or_every_error(tree, origin, &overrides, &files),
            }?;
            Ok::<_, Vec<ScenarioError>>((valid, files.into_texts()))
        };
        match stoppable(py, work)? {
            Ok((valid, texts)) => {
                let texts = texts.into_iter().map(|(path, text)| (path, text.to_string()));
                Ok((Scenario { valid: Arc::new(valid), generated }, texts.collect()))
            }
            Err(errors) => {
                let errors = errors.into_iter().map(|error| scenario_error(py, error, generated));
                Err(together(py, errors.collect()))
            }
        }
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.valid.name
    }

    /// The tags of its messages, in the order of their first use.
    #[getter]
    fn tags(&self) -> Vec<String> {
        self.valid.tags.clone()
    }

    /// The names of its schemes, one or two.
    #[getter]
    fn schemes(&self) -> Vec<String> {
        self.valid.scheme_names()
    }

    /// Checks that its scheme can run on its network, which it builds.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let valid = Arc::clone(&self.valid);
        let checked = stoppable(py, move || rocelab::check(&valid))?;
        checked.map_err(|error| self.config_error(py, error))
    }

    /// Its messages, what they ask of each port of its network, which it builds, and buffers,
    /// thresholds and warnings as JSON.
    fn plan(&self, py: Python<'_>) -> PyResult<(Table, Table, String)> {
        let valid = Arc::clone(&self.valid);
        let plan = stoppable(py, move || {
            let plan = rocelab::plan(&valid)?;
            Ok((plan.messages.to_record_batch(), plan.load.to_record_batch(), plan.checks))
        })?;
        let (messages, load, checks) = plan.map_err(|error| self.config_error(py, error))?;
        let table = |batch: Result<RecordBatch, ArrowError>| match batch {
            Ok(batch) => Ok(Table::whole(batch)),
            Err(error) => Err(simulation_error(py, error.to_string())),
        };
        let checks = serde_json::to_string(&checks)
            .map_err(|error| simulation_error(py, error.to_string()))?;
        Ok((table(messages)?, table(load)?, checks))
    }

    /// The ports that the data of each message leaves through, from its sender on.
    fn paths(&self, py: Python<'_>) -> PyResult<Table> {
        let valid = Arc::clone(&self.valid);
        let found = stoppable(py, move || Ok(rocelab::paths(&valid)?.to_record_batch()))?;
        match found.map_err(|error| self.config_error(py, error))? {
            Ok(batch) => Ok(Table::whole(batch)),
            Err(error) => Err(simulation_error(py, error.to_string())),
        }
    }

    /// The hosts that take data slowly: name, rate in bit/s, and when that begins and ends, in ps;
    /// `None`: never.
    fn slow_receivers(&self) -> Vec<(String, u64, u64, Option<u64>)> {
        let row = |one: &SlowReceiver| {
            let until = (one.until != Time::NEVER).then(|| one.until.ps());
            let name = self.valid.network.name(one.host).to_owned();
            (name, one.rate.bps(), one.from.ps(), until)
        };
        self.valid.slow_receivers.iter().map(row).collect()
    }

    /// Compares the memory that `runs` at a time of a command need with the limits of this process.
    /// `command` is "check", "plan" or "run". Returns a warning where it may not be there; where it
    /// clearly is not, raises `ConfigError`.
    fn check_memory(&self, py: Python<'_>, command: &str, runs: u64) -> PyResult<Option<String>> {
        let command = command_of(command)?;
        let valid = Arc::clone(&self.valid);
        let check = move || memory::check(&valid, command, runs, &Limits::of_process());
        let checked = stoppable(py, check)?;
        checked.map_err(|error| self.config_error(py, error))
    }

    /// The bytes that a command needs beside what the process has already, by what needs them.
    fn memory(&self, command: &str) -> PyResult<BTreeMap<&'static str, u64>> {
        let estimate = memory::estimate(&self.valid, command_of(command)?);
        Ok(BTreeMap::from([
            ("base", estimate.base),
            ("messages", estimate.messages),
            ("routes", estimate.routes),
            ("nodes", estimate.nodes),
            ("samples", estimate.samples),
            ("traces", estimate.traces),
            ("packets", estimate.packets),
        ]))
    }

    /// The whole scenario, defaults filled in, as TOML.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        let valid = Arc::clone(&self.valid);
        stoppable(py, move || valid.to_toml())
    }
}
