//! Time series: what a probe saw.

use crate::column::{names, values};
use crate::record::record;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use std::sync::Arc;

/// What one probe saw, as columns. Either `flow` says of which flow a value was read, or `node` and
/// `port` say where; the others are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The probe's name, and that of the file.
    pub name: String,
    /// What was measured: `queue`, `throughput`, `window` and so on.
    pub kind: String,
    /// What it is measured in: `bytes`, `bps`, `s`; empty for a plain number.
    pub unit: String,
    /// Of a port, of this priority alone; `None`: of all.
    pub priority: Option<u8>,
    /// Values are of flows, not of ports.
    pub of_flows: bool,
    /// When each value was read.
    pub time_ps: Vec<u64>,
    /// Node: index into `node_names`.
    pub node: Vec<u32>,
    /// Port number on the node.
    pub port: Vec<u16>,
    /// Flow id.
    pub flow: Vec<u32>,
    /// The values.
    pub value: Vec<f64>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
}

record! {
    series_fields:
    /// A time series that was recorded.
    pub struct SeriesInfo {
        /// Name of the probe, and of the file.
        pub name: String,
        /// What was measured, such as `queue` or `throughput`.
        pub kind: String,
        /// What it is measured in, such as `bytes` or `bps`; empty for a plain number.
        pub unit: String,
        /// The priority of ports that was measured; `None`, and no key, if it was all of them.
        pub priority: Option<u8>,
        /// Name of the column that holds the values.
        pub column: String,
        /// Number of rows.
        pub rows: u64,
    }
}

impl Series {
    /// The name of the column of values, which carries the unit: `queue_bytes`.
    fn value_column(&self) -> String {
        let kind = self.kind.replace('-', "_");
        if self.unit.is_empty() { kind } else { format!("{kind}_{}", self.unit) }
    }

    /// Its line in the summary.
    pub fn info(&self) -> SeriesInfo {
        SeriesInfo {
            name: self.name.clone(),
            kind: self.kind.clone(),
            unit: self.unit.clone(),
            priority: self.priority,
            column: self.value_column(),
            rows: self.time_ps.len() as u64,
        }
    }

    /// As Arrow: `time_ps`, then `node` and `port` or `flow_id`, then the values.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        let value_column = self.value_column();
        let mut columns = vec![values("time_ps", &self.time_ps)];
        if self.of_flows {
            columns.push(values("flow_id", &self.flow));
        } else {
            columns.push(names("node", &self.node, &self.node_names));
            columns.push(values("port", &self.port));
        }
        columns.push(values(&value_column, &self.value));
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(series: &Series) -> Vec<String> {
        let schema = series.to_record_batch().unwrap().schema();
        schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[test]
    fn columns_follow_what_was_probed() {
        let mut series = Series {
            name: "bottleneck".to_owned(),
            kind: "queue".to_owned(),
            unit: "bytes".to_owned(),
            time_ps: vec![0, 10],
            node: vec![0, 0],
            port: vec![1, 1],
            value: vec![0.0, 1048.0],
            node_names: Arc::new(vec!["s0".to_owned()]),
            ..Series::default()
        };
        assert_eq!(names(&series), ["time_ps", "node", "port", "queue_bytes"]);
        assert_eq!(series.info().rows, 2);
        series.kind = "port-state".to_owned();
        series.unit.clear();
        assert_eq!(names(&series), ["time_ps", "node", "port", "port_state"]);
        (series.node, series.port) = (vec![], vec![]);
        (series.of_flows, series.flow) = (true, vec![4, 4]);
        series.kind = "alpha".to_owned();
        assert_eq!(names(&series), ["time_ps", "flow_id", "alpha"]);
        series.kind = "flow-queue".to_owned();
        series.unit = "bytes".to_owned();
        assert_eq!(names(&series), ["time_ps", "flow_id", "flow_queue_bytes"]);
        (series.time_ps, series.flow, series.value) = (vec![], vec![], vec![]);
        assert_eq!(
            names(&series),
            ["time_ps", "flow_id", "flow_queue_bytes"],
            "with no sample, too"
        );
    }
}
