//! Experiments of the HPCC simulator.

use crate::errors::{file_error, write_error};
use crate::run::RunResult;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A configuration of the HPCC simulator and the files that it names, checked.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct HpccExperiment {
    pub(crate) read: Arc<hpcc_files::Experiment>,
    toml: String,
    warnings: Vec<String>,
}

#[pymethods]
impl HpccExperiment {
    /// Reads the configuration at `path`; the names in it are relative to `directory`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, directory: PathBuf) -> PyResult<HpccExperiment> {
        let read = py.detach(|| hpcc_files::Experiment::read(&path, &directory));
        let read = read.map_err(|error| file_error(py, &error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (spec, served) = rocelab::hpcc::scenario_of(&read, &name);
        let warnings = read.warnings.iter().chain(&served).map(ToString::to_string).collect();
        Ok(HpccExperiment { read: Arc::new(read), toml: spec.to_toml(), warnings })
    }

    /// The scenario that does the same, as TOML.
    fn to_toml(&self) -> &str {
        &self.toml
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
        let files = result.hpcc.as_ref().expect("the run was told of the experiment");
        py.detach(|| rocelab::hpcc::write(&self.read, files, &directory, into.as_deref()))
            .map_err(|(path, error)| write_error(py, &path, &error))
    }
}
