//! Scenarios.

use crate::errors::{config_error, guarded};
use ::scenario::ScenarioError;
use pyo3::prelude::*;
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

    /// The whole scenario, defaults filled in, as TOML.
    fn to_toml(&self) -> String {
        self.valid.to_toml()
    }
}
