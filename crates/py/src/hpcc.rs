//! Experiments of the HPCC simulator.

use crate::errors::{file_error, guarded, simulation_error, write_error};
use crate::run::RunResult;
use crate::scenario::Scenario;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the scenario of a configuration is called: its file's name, fit for a directory.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = stem.trim_start_matches('.').replace(|c: char| c.is_control(), "_");
    while name.len() > scenario::MOST_NAME_BYTES {
        name.pop();
    }
    if name.is_empty() { "config".to_owned() } else { name }
}

/// For each node of the topology file at `path` its data centre, as a number that its nodes share.
#[pyfunction]
pub(crate) fn topology_sites(py: Python<'_>, path: PathBuf) -> PyResult<Vec<usize>> {
    let read = guarded(py, || hpcc_files::read_topology(&path))?;
    let topology = read.map_err(|error| file_error(py, &error))?;
    let links = topology.links.iter().map(|link| (link.a, link.b, link.delay));
    Ok(scenario::network::sites(topology.is_switch.len(), links))
}

/// A configuration of the HPCC simulator and the files that it names, checked.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct HpccExperiment {
    pub(crate) read: Arc<hpcc_files::Experiment>,
    name: String,
    warnings: Vec<String>,
}

#[pymethods]
impl HpccExperiment {
    /// Reads the configuration at `path`; the names in it are relative to `directory`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, directory: PathBuf) -> PyResult<HpccExperiment> {
        let made = guarded(py, || {
            let read = hpcc_files::Experiment::read(&path, &directory)?;
            let name = name_of(&path);
            let (_, served) = rocelab::hpcc::scenario_of(&read, &name);
            let warnings = read.warnings.iter().chain(&served).map(ToString::to_string).collect();
            Ok(HpccExperiment { read: Arc::new(read), name, warnings })
        })?;
        made.map_err(|error| file_error(py, &error))
    }

    /// The scenario that does the same, as TOML.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || rocelab::hpcc::scenario_of(&self.read, &self.name).0.to_toml())
    }

    /// That scenario, with `overrides` as of [`Scenario::parse`] for keys that are not of its traffic.
    fn scenario(&self, py: Python<'_>, overrides: Vec<(String, String)>) -> PyResult<Scenario> {
        let check = || {
            let (spec, _) = rocelab::hpcc::scenario_of(&self.read, &self.name);
            ::scenario::check(spec, &overrides)
        };
        Scenario::generated(py, guarded(py, check)?)
    }

    /// What is odd about the files, and what is served in another way.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Writes the files that the configuration asks for with what came out of a run: where it names
    /// them, relative to `directory`, or under their own names in `into`. Returns where they are.
    fn write(
        &self,
        py: Python<'_>,
        result: &RunResult,
        directory: PathBuf,
        into: Option<PathBuf>,
    ) -> PyResult<Vec<PathBuf>> {
        let Some(files) = &result.hpcc else {
            return Err(simulation_error(py, "the run was not told of the experiment".to_owned()));
        };
        guarded(py, || rocelab::hpcc::write(&self.read, files, &directory, into.as_deref()))?
            .map_err(|(path, error)| write_error(py, &path, &error))
    }
}
