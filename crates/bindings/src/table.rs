//! Tables, handed over through the Arrow PyCapsule interface.

use crate::errors::simulation_error;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use results::arrow_array::{RecordBatch, RecordBatchIterator};
use results::arrow_schema::{ArrowError, SchemaRef};
use std::sync::{Arc, Mutex, PoisonError};

/// A table in pieces, one after the other.
type Pieces = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// A table of columns.
#[pyclass(frozen, module = "rocelab._rocelab")]
#[derive(Clone)]
pub(crate) struct Table {
    schema: SchemaRef,
    rows: usize,
    /// Reads it from the beginning.
    read: Arc<dyn Fn() -> Pieces + Send + Sync>,
}

impl Table {
    /// A table in memory.
    pub(crate) fn whole(batch: RecordBatch) -> Table {
        let (schema, rows) = (batch.schema(), batch.num_rows());
        let read = move || -> Pieces { Box::new(std::iter::once(Ok(batch.clone()))) };
        Table { schema, rows, read: Arc::new(read) }
    }

    /// A table of `rows` rows, with the columns of `empty`, that `read` reads piece by piece.
    pub(crate) fn in_pieces(
        empty: &RecordBatch,
        rows: u64,
        read: impl Fn() -> Pieces + Send + Sync + 'static,
    ) -> Table {
        Table { schema: empty.schema(), rows: rows as usize, read: Arc::new(read) }
    }
}

#[pymethods]
impl Table {
    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    /// The table as an Arrow stream. A schema that is asked for is not obeyed, as the protocol
    /// allows: the columns have the types they have.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new((self.read)(), Arc::clone(&self.schema));
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            c"arrow_array_stream",
        )
    }

    /// The table piece by piece: tables that follow each other, none of them too large for memory.
    fn pieces(&self) -> TablePieces {
        TablePieces { left: Mutex::new((self.read)()) }
    }
}

/// The pieces of a table that are still to be read.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct TablePieces {
    left: Mutex<Pieces>,
}

#[pymethods]
impl TablePieces {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let next = || self.left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let piece = py.detach(next).transpose();
        let piece = piece.map_err(|error| simulation_error(py, error.to_string()))?;
        Ok(piece.map(Table::whole))
    }
}
