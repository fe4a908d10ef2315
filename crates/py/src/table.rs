//! Tables, handed over through the Arrow PyCapsule interface.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use results::arrow_array::{RecordBatch, RecordBatchIterator};

/// A table of columns.
#[pyclass(frozen, module = "rocelab._rocelab")]
pub(crate) struct Table {
    pub(crate) batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
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
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            c"arrow_array_stream",
        )
    }
}
