//! Scenarios.

use crate::errors::{config_error, guarded, simulation_error};
use crate::table::Table;
use ::scenario::ScenarioError;
use pyo3::prelude::*;
use results::arrow_array::RecordBatch;
use results::arrow_schema::ArrowError;
use std::path::PathBuf;
use std::sync::Arc;

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
            Err(error) => Err(refused(py, error, true)),
        }
    }

    /// Why it cannot be run, as `ConfigError`.
    pub(crate) fn refused(&self, py: Python<'_>, error: ScenarioError) -> PyErr {
        refused(py, error, self.generated)
    }
}

fn refused(py: Python<'_>, mut error: ScenarioError, generated: bool) -> PyErr {
    if generated && error.file.is_none() {
        error.line = None;
    }
    config_error(py, &error)
}

#[pymethods]
impl Scenario {
    /// Parses and checks `text`. Files it names are looked for beside `origin`, the file the text
    /// came from; `overrides` are pairs of dotted key and value. Errors do not tell the lines of a text
    /// that was `generated`.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &str,
        origin: Option<PathBuf>,
        overrides: Vec<(String, String)>,
        generated: bool,
    ) -> PyResult<Scenario> {
        match guarded(py, || ::scenario::parse(text, origin.as_deref(), &overrides))? {
            Ok(valid) => Ok(Scenario { valid: Arc::new(valid), generated }),
            Err(error) => Err(refused(py, error, generated)),
        }
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.valid.name
    }

    /// Checks that its scheme can run on its network, which it builds.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        guarded(py, || rocelab::check(&self.valid))?.map_err(|error| self.refused(py, error))
    }

    /// Its messages, and what they ask of each port of its network, which it builds.
    fn plan(&self, py: Python<'_>) -> PyResult<(Table, Table)> {
        let plan = guarded(py, || rocelab::plan(&self.valid))?;
        let plan = plan.map_err(|error| self.refused(py, error))?;
        let table = |batch: Result<RecordBatch, ArrowError>| match batch {
            Ok(batch) => Ok(Table::whole(batch)),
            Err(error) => Err(simulation_error(py, error.to_string())),
        };
        Ok((table(plan.messages.to_record_batch())?, table(plan.load.to_record_batch())?))
    }

    /// The whole scenario, defaults filled in, as TOML.
    fn to_toml(&self) -> String {
        self.valid.to_toml()
    }
}
