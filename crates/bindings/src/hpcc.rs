//! Experiments of the HPCC simulator.

use crate::errors::{catch_panics, config_error, file_error, simulation_error, write_error};
use crate::run::RunResult;
use crate::scenario::Scenario;
use crate::worker::stoppable;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the scenario of a configuration is called: its file's name, fit for a directory.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = stem.trim_start_matches('.').replace(|c: char| c.is_control(), "_");
    while name.len() > scenario::MAX_NAME_BYTES {
        name.pop();
    }
    if name.is_empty() { "config".to_owned() } else { name }
}

/// For each node of the topology file at `path` its data centre, as a number that its nodes share.
#[pyfunction]
pub(crate) fn topology_sites(py: Python<'_>, path: PathBuf) -> PyResult<Vec<usize>> {
    let sites = stoppable(py, move || {
        let topology = hpcc_files::read_topology(&path)?;
        let links = topology.links.iter().map(|link| (link.a, link.b, link.delay));
        Ok(scenario::network::data_centres(topology.is_switch.len(), links))
    })?;
    sites.map_err(|error| file_error(py, &error))
}

/// A configuration of the HPCC simulator and the files that it names, checked.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct HpccExperiment {
    pub(crate) read: Arc<hpcc_files::Experiment>,
    /// What its scenario is called.
    name: String,
}

#[pymethods]
impl HpccExperiment {
    /// Reads the configuration at `path`; the names in it are relative to `directory`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, directory: PathBuf) -> PyResult<HpccExperiment> {
        let made = stoppable(py, move || {
            let read = hpcc_files::Experiment::read(&path, &directory)?;
            Ok(HpccExperiment { read: Arc::new(read), name: name_of(&path) })
        })?;
        made.map_err(|error| file_error(py, &error))
    }

    /// The scenario that does the same, with keys set by pairs of dotted key and value.
    fn scenario(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<Scenario> {
        let (read, name) = (Arc::clone(&self.read), self.name.clone());
        let checked = stoppable(py, move || {
            let (spec, _) = rocelab::hpcc_ns3::scenario_of(&read, &name, &settings)?;
            ::scenario::Scenario::from_spec(spec, &::scenario::Files::default())
        })?;
        Scenario::generated(py, checked)
    }

    /// That scenario as TOML.
    fn to_toml(&self, py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<String> {
        let (read, name) = (Arc::clone(&self.read), self.name.clone());
        let text = stoppable(py, move || {
            let (spec, _) = rocelab::hpcc_ns3::scenario_of(&read, &name, &settings)?;
            Ok(spec.to_toml())
        })?;
        text.map_err(|error| config_error(py, &error))
    }

    /// What is odd about the files, and what is served in another way with those keys set; where
    /// they cannot be set, [`scenario`](Self::scenario) says why. `ns3_order`: in a run in ns-3's
    /// order of events.
    fn warnings(
        &self,
        py: Python<'_>,
        settings: Vec<(String, String)>,
        ns3_order: bool,
    ) -> PyResult<Vec<String>> {
        let read = Arc::clone(&self.read);
        stoppable(py, move || {
            let served = if ns3_order {
                rocelab::hpcc_ns3::served_in_ns3_order(&read)
            } else {
                rocelab::hpcc_ns3::served(&read, &settings).unwrap_or_default()
            };
            read.warnings.iter().chain(&served).map(ToString::to_string).collect()
        })
    }

    /// Refuses what a run in ns-3's order of events does not reproduce.
    fn check_ns3_order(
        &self,
        py: Python<'_>,
        settings: Vec<(String, String)>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        rocelab::hpcc_ns3::check_ns3_order(&self.read, &settings, threads)
            .map_err(|error| config_error(py, &error))
    }

    /// The files that the configuration asks for, as it names them, each with the key that does.
    #[getter]
    fn outputs(&self) -> Vec<(&'static str, PathBuf)> {
        let outputs = self.read.config.outputs().into_iter();
        outputs.map(|(key, path)| (key, path.to_owned())).collect()
    }

    /// The line of a link in the topology file. Links count from 0.
    fn link_line(&self, link: usize) -> Option<usize> {
        self.read.topology.links.get(link).map(|link| link.line)
    }

    /// The line of a flow in the file of flows. Flows count from 0.
    fn flow_line(&self, flow: usize) -> Option<u32> {
        self.read.flows.get(flow).map(|flow| flow.line)
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
        catch_panics(py, || {
            rocelab::hpcc_ns3::write(&self.read, files, &directory, into.as_deref())
        })?
        .map_err(|(path, error)| write_error(py, &path, &error))
    }
}
