//! The flow table: one row for each message.

use crate::column::{Column, Value, names, nullable, values};
use arrow_array::{Float64Array, LargeStringArray, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use model::{Cause, FlowRecovery};
use std::sync::Arc;

/// The completion time of a flow that had not completed when the run stopped.
pub const UNFINISHED: u64 = u64::MAX;

/// One row for each message, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowTable {
    /// Its number, unique in the run.
    pub flow_id: Vec<u32>,
    /// The queue pair it was sent on.
    pub qp_id: Vec<u32>,
    /// Index into `tags` of the traffic entry it came from.
    pub tag: Vec<u16>,
    /// The names of the tags.
    pub tags: Vec<String>,
    /// Index into `schemes` of the scheme that it was sent with.
    pub scheme: Vec<u8>,
    /// The names of the run's schemes, one or two.
    pub schemes: Vec<String>,
    /// Sending host: index into `node_names`.
    pub src: Vec<u32>,
    /// Receiving host: index into `node_names`.
    pub dst: Vec<u32>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
    /// Priority of its data packets, 0 to 7.
    pub priority: Vec<u8>,
    /// Payload bytes.
    pub size_bytes: Vec<u64>,
    /// When it was posted.
    pub start_ps: Vec<u64>,
    /// From posting to completion at the sender; [`UNFINISHED`] where it did not complete.
    pub fct_ps: Vec<u64>,
    /// What that takes alone in the network.
    pub ideal_fct_ps: Vec<u64>,
    /// Payload bytes that were sent again.
    pub retransmitted_bytes: Vec<u64>,
    /// Rows, in order, with what their flow met of reordering and losses; without those that met
    /// nothing.
    pub recovery: Vec<(u32, FlowRecovery)>,
    /// How often switches moved it to another path. `None` if they remember no paths of flows.
    pub path_changes: Option<Vec<u32>>,
    /// Why it did not complete; `None` where it did.
    pub unfinished: Vec<Option<Cause>>,
}

impl FlowTable {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.flow_id.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.flow_id.is_empty()
    }

    /// Number of flows that completed.
    pub fn done(&self) -> u64 {
        self.fct_ps.iter().filter(|&&fct| fct != UNFINISHED).count() as u64
    }

    /// Completion time over ideal completion time of the flow in `row`; `None` while unfinished.
    pub fn slowdown(&self, row: usize) -> Option<f64> {
        let fct = self.fct_ps[row];
        (fct != UNFINISHED).then(|| fct as f64 / self.ideal_fct_ps[row] as f64)
    }

    /// What each row's flow met of reordering and losses.
    fn recovery_by_row(&self) -> Vec<FlowRecovery> {
        let mut rows = vec![FlowRecovery::default(); self.len()];
        for &(row, recovery) in &self.recovery {
            rows[row as usize] = recovery;
        }
        rows
    }

    fn path_changes(&self) -> UInt32Array {
        match &self.path_changes {
            Some(changes) => UInt32Array::from(changes.clone()),
            None => UInt32Array::new_null(self.len()),
        }
    }

    /// As Arrow, in the order of the rows. Unfinished flows have null `fct_ps` and `slowdown`, the
    /// others null `unfinished`. All have null `path_changes` if no paths of flows are remembered.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        let recovery = self.recovery_by_row();
        let finished = |fct: &u64| (*fct != UNFINISHED).then_some(*fct);
        let fcts: UInt64Array = self.fct_ps.iter().map(finished).collect();
        let slowdowns: Float64Array = (0..self.len()).map(|row| self.slowdown(row)).collect();
        let done: Vec<bool> = self.fct_ps.iter().map(|&fct| fct != UNFINISHED).collect();
        let causes = self.unfinished.iter().map(|cause| cause.map(Cause::name));
        RecordBatch::try_from_iter_with_nullable([
            values("flow_id", &self.flow_id),
            values("qp_id", &self.qp_id),
            names("tag", &self.tag, &self.tags),
            names("scheme", &self.scheme, &self.schemes),
            names("src", &self.src, &self.node_names),
            names("dst", &self.dst, &self.node_names),
            values("priority", &self.priority),
            values("size_bytes", &self.size_bytes),
            values("start_ps", &self.start_ps),
            nullable("fct_ps", fcts),
            values("ideal_fct_ps", &self.ideal_fct_ps),
            nullable("slowdown", slowdowns),
            values("retransmitted_bytes", &self.retransmitted_bytes),
            counts("out_of_order_packets", &recovery, |flow| flow.out_of_order_packets),
            counts("max_reorder_packets", &recovery, |flow| flow.max_distance),
            counts("max_reorder_bytes", &recovery, |flow| flow.max_kept_bytes),
            counts("duplicate_bytes", &recovery, |flow| flow.duplicate_bytes),
            counts("timeout_bytes", &recovery, |flow| flow.timeout_bytes),
            counts("timeouts", &recovery, |flow| flow.timeouts),
            nullable("path_changes", self.path_changes()),
            values("done", &done),
            nullable("unfinished", causes.collect::<LargeStringArray>()),
        ])
    }
}

/// A column of what flows met of reordering and losses.
fn counts<'a, T: Value>(
    name: &'a str,
    rows: &[FlowRecovery],
    of: impl Fn(&FlowRecovery) -> T,
) -> Column<'a> {
    values(name, &rows.iter().map(of).collect::<Vec<T>>())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};

    /// Three flows, the second of which did not finish.
    pub(crate) fn three_flows() -> FlowTable {
        FlowTable {
            flow_id: vec![0, 1, 2],
            qp_id: vec![0, 1, 0],
            tag: vec![0, 1, 0],
            tags: vec!["incast".to_owned(), "victim".to_owned()],
            scheme: vec![0, 0, 1],
            schemes: vec!["dcqcn".to_owned(), "hpcc".to_owned()],
            src: vec![0, 1, 0],
            dst: vec![2, 2, 1],
            node_names: Arc::new(vec!["h0".to_owned(), "h1".to_owned(), "h2".to_owned()]),
            priority: vec![3, 3, 0],
            size_bytes: vec![1_000, 2_000, 1_000],
            start_ps: vec![0, 5, 10],
            fct_ps: vec![300, UNFINISHED, 150],
            ideal_fct_ps: vec![100, 200, 100],
            retransmitted_bytes: vec![0, 0, 1_000],
            recovery: vec![(2, FlowRecovery { timeouts: 1, ..FlowRecovery::default() })],
            path_changes: None,
            unfinished: vec![None, Some(Cause::Lost), None],
        }
    }

    #[test]
    fn unfinished_flows_are_null() {
        let batch = three_flows().to_record_batch().unwrap();
        let fct = batch.column_by_name("fct_ps").unwrap();
        assert_eq!(fct.null_count(), 1);
        assert!(fct.is_null(1));
        assert_eq!(fct.as_primitive::<UInt64Type>().value(2), 150);
        let slowdown = batch.column_by_name("slowdown").unwrap();
        assert!(slowdown.is_null(1));
        assert_eq!(slowdown.as_primitive::<Float64Type>().value(0), 3.0);
        let done = batch.column_by_name("done").unwrap();
        assert_eq!(done.as_boolean().iter().flatten().collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(three_flows().done(), 2);
        let causes = batch.column_by_name("unfinished").unwrap().as_string::<i64>();
        assert_eq!(causes.iter().collect::<Vec<_>>(), [None, Some("lost"), None]);
    }

    #[test]
    fn ids_become_names() {
        let batch = three_flows().to_record_batch().unwrap();
        let text = |name: &str| {
            let column = batch.column_by_name(name).unwrap().as_string::<i64>();
            column.iter().flatten().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(text("src"), ["h0", "h1", "h0"]);
        assert_eq!(text("tag"), ["incast", "victim", "incast"]);
        assert_eq!(text("scheme"), ["dcqcn", "dcqcn", "hpcc"]);
    }

    #[test]
    fn columns_of_different_length_are_refused() {
        let mut flows = three_flows();
        flows.start_ps.pop();
        assert!(flows.to_record_batch().is_err());
    }

    #[test]
    fn no_flows_are_a_table_too() {
        assert_eq!(FlowTable::default().to_record_batch().unwrap().num_rows(), 0);
    }
}
