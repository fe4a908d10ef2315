//! The flow table: one row for each message.

use crate::text::names_of;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::ArrowError;
use model::Cause;
use std::sync::Arc;

/// The completion time of a flow that had not completed when the run stopped.
pub const UNFINISHED: u64 = u64::MAX;

/// What a flow met of reordering and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecovery {
    /// Data packets that arrived ahead of others of their QP.
    pub out_of_order_packets: u32,
    /// The most packets that were missing before one of them, it counted.
    pub max_reorder_packets: u32,
    /// The most payload bytes that the receiver kept ahead of a gap.
    pub max_reorder_bytes: u64,
    /// Payload bytes that arrived again.
    pub duplicate_bytes: u64,
    /// How often nothing was acknowledged for the timeout.
    pub timeouts: u32,
    /// Payload bytes that were sent again because of that.
    pub timeout_bytes: u64,
}

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
        let columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("flow_id", Arc::new(UInt32Array::from(self.flow_id.clone())), false),
            ("qp_id", Arc::new(UInt32Array::from(self.qp_id.clone())), false),
            ("tag", names_of(self.tag.iter().map(|&tag| tag.into()), &self.tags), false),
            ("scheme", names_of(self.scheme.iter().map(|&law| law.into()), &self.schemes), false),
            ("src", names_of(self.src.iter().map(|&id| id as usize), &self.node_names), false),
            ("dst", names_of(self.dst.iter().map(|&id| id as usize), &self.node_names), false),
            ("priority", Arc::new(UInt8Array::from(self.priority.clone())), false),
            ("size_bytes", Arc::new(UInt64Array::from(self.size_bytes.clone())), false),
            ("start_ps", Arc::new(UInt64Array::from(self.start_ps.clone())), false),
            ("fct_ps", Arc::new(self.fct_ps.iter().map(finished).collect::<UInt64Array>()), true),
            ("ideal_fct_ps", Arc::new(UInt64Array::from(self.ideal_fct_ps.clone())), false),
            (
                "slowdown",
                Arc::new((0..self.len()).map(|row| self.slowdown(row)).collect::<Float64Array>()),
                true,
            ),
            (
                "retransmitted_bytes",
                Arc::new(UInt64Array::from(self.retransmitted_bytes.clone())),
                false,
            ),
            (
                "out_of_order_packets",
                Arc::new(counts(&recovery, |flow| flow.out_of_order_packets)),
                false,
            ),
            (
                "max_reorder_packets",
                Arc::new(counts(&recovery, |flow| flow.max_reorder_packets)),
                false,
            ),
            ("max_reorder_bytes", Arc::new(bytes(&recovery, |flow| flow.max_reorder_bytes)), false),
            ("duplicate_bytes", Arc::new(bytes(&recovery, |flow| flow.duplicate_bytes)), false),
            ("timeout_bytes", Arc::new(bytes(&recovery, |flow| flow.timeout_bytes)), false),
            ("timeouts", Arc::new(counts(&recovery, |flow| flow.timeouts)), false),
            ("path_changes", Arc::new(self.path_changes()), true),
            (
                "done",
                Arc::new(
                    self.fct_ps
                        .iter()
                        .map(|&fct| Some(fct != UNFINISHED))
                        .collect::<BooleanArray>(),
                ),
                false,
            ),
            (
                "unfinished",
                Arc::new(
                    self.unfinished
                        .iter()
                        .map(|cause| cause.map(Cause::name))
                        .collect::<LargeStringArray>(),
                ),
                true,
            ),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

fn counts(rows: &[FlowRecovery], of: impl Fn(&FlowRecovery) -> u32) -> UInt32Array {
    rows.iter().map(|row| Some(of(row))).collect()
}

fn bytes(rows: &[FlowRecovery], of: impl Fn(&FlowRecovery) -> u64) -> UInt64Array {
    rows.iter().map(|row| Some(of(row))).collect()
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
