//! Scenarios.

use crate::errors::{config_error, refused};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario that passed all checks.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct Scenario {
    pub(crate) valid: Arc<::scenario::Scenario>,
    /// The file it came from.
    pub(crate) origin: Option<PathBuf>,
}

#[pymethods]
impl Scenario {
    /// Parses and checks `text`. Files it names are looked for beside `origin`, the file the text
    /// came from; `overrides` are pairs of dotted key and value.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &str,
        origin: Option<PathBuf>,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Scenario> {
        let parsed = py.detach(|| ::scenario::parse(text, origin.as_deref(), &overrides));
        match parsed {
            Ok(valid) => Ok(Scenario { valid: Arc::new(valid), origin }),
            Err(error) => Err(config_error(py, &error)),
        }
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.valid.name
    }

    /// Checks that its scheme can run on its network, which it builds.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| rocelab::check(&self.valid))
            .map_err(|error| refused(py, &error, self.origin.as_deref()))
    }

    /// The whole scenario, defaults filled in, as TOML.
    fn to_toml(&self) -> String {
        self.valid.to_toml()
    }
}
