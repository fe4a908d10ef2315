//! Statistics of the flows of each traffic entry, by tag, and of each scheme.

use crate::flows::{FlowTable, UNFINISHED};
use crate::record::record;
use crate::statistics::{SlowdownStatistics, slowdowns_of};
use std::collections::BTreeMap;

/// A summary has statistics by tag if a run has at most this many tags.
pub const MAX_TAGS: usize = 256;

const PS_PER_SECOND: f64 = 1e12;

record! {
    tag_fields:
    /// The flows of a tag, or of a scheme, in figures.
    pub struct TagStatistics {
        /// Number of these flows.
        pub flows: u64,
        /// Number of these flows that completed. The fields below are about these alone.
        pub flows_done: u64,
        /// Slowdown of those that completed.
        pub slowdown: SlowdownStatistics,
        /// The time from the first start to the last end, in picoseconds. `None` if a flow did not
        /// complete, and if there is none.
        pub makespan_ps: Option<u64>,
        /// Payload of the flows that completed over the time from their first start to their last
        /// end, in bits per second. `None` if no flow completed.
        pub goodput_bps: Option<f64>,
        /// Jain's fairness index of the flows' goodputs, each its size over its completion time: 1
        /// if all are equal, 1/n if one of n flows has everything. `None` if no flow completed.
        pub jain: Option<f64>,
    }
}

/// Returns the statistics of each tag, by its name. Empty if there are more than [`MAX_TAGS`].
pub fn statistics_by_tag(flows: &FlowTable) -> BTreeMap<String, TagStatistics> {
    if flows.tags.len() > MAX_TAGS {
        return BTreeMap::new();
    }
    grouped(flows, &flows.tags, |row| flows.tag[row].into())
}

/// Returns the statistics of each scheme, by its name. Empty if the run has one.
pub fn statistics_by_scheme(flows: &FlowTable) -> BTreeMap<String, TagStatistics> {
    if flows.schemes.len() < 2 {
        return BTreeMap::new();
    }
    grouped(flows, &flows.schemes, |row| flows.scheme[row].into())
}

/// The statistics of each group of flows, by its name.
fn grouped(
    flows: &FlowTable,
    names: &[String],
    group: impl Fn(usize) -> usize,
) -> BTreeMap<String, TagStatistics> {
    let mut rows = vec![Vec::new(); names.len()];
    for row in 0..flows.len() {
        rows[group(row)].push(row);
    }
    names.iter().zip(&rows).map(|(name, rows)| (name.clone(), statistics(flows, rows))).collect()
}

/// Returns Jain's fairness index of the goodputs of all flows that completed.
pub fn jain_of_flows(flows: &FlowTable) -> Option<f64> {
    jain((0..flows.len()).filter_map(|row| goodput(flows, row)))
}

fn statistics(flows: &FlowTable, rows: &[usize]) -> TagStatistics {
    let done = || rows.iter().copied().filter(|&row| flows.fct_ps[row] != UNFINISHED);
    let bytes: u64 = done().map(|row| flows.size_bytes[row]).sum();
    let first = done().map(|row| flows.start_ps[row]).min();
    let last = done().map(|row| flows.start_ps[row] + flows.fct_ps[row]).max();
    let makespan = first.zip(last).map(|(first, last)| last - first);
    let span = makespan.map(|ps| ps as f64 / PS_PER_SECOND);
    let flows_done = done().count();
    TagStatistics {
        flows: rows.len() as u64,
        flows_done: flows_done as u64,
        slowdown: slowdowns_of(flows, done()),
        makespan_ps: makespan.filter(|_| flows_done == rows.len()),
        goodput_bps: span.filter(|&span| span > 0.0).map(|span| bytes as f64 * 8.0 / span),
        jain: jain(done().filter_map(|row| goodput(flows, row))),
    }
}

/// Bytes of a flow for each picosecond until it completed; `None` if it did not.
fn goodput(flows: &FlowTable, row: usize) -> Option<f64> {
    let fct = flows.fct_ps[row];
    (fct != UNFINISHED && fct > 0).then(|| flows.size_bytes[row] as f64 / fct as f64)
}

/// Jain's index, (sum x)^2 / (n sum x^2). `None` without values.
fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0_u64, 0.0, 0.0);
    for value in values {
        count += 1;
        sum += value;
        squares += value * value;
    }
    (squares > 0.0).then(|| sum * sum / (count as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-12)
    }

    /// Flows of `(tag, size, start, fct)`.
    fn flows(rows: &[(u16, u64, u64, u64)]) -> FlowTable {
        FlowTable {
            flow_id: (0..rows.len() as u32).collect(),
            tag: rows.iter().map(|row| row.0).collect(),
            tags: ["storage", "web", "idle"].map(str::to_owned).to_vec(),
            size_bytes: rows.iter().map(|row| row.1).collect(),
            start_ps: rows.iter().map(|row| row.2).collect(),
            fct_ps: rows.iter().map(|row| row.3).collect(),
            ideal_fct_ps: vec![100; rows.len()],
            ..FlowTable::default()
        }
    }

    #[test]
    fn each_tag_has_its_own_flows() {
        let table = flows(&[(0, 1_000, 0, 200), (1, 500, 50, 400), (0, 3_000, 100, UNFINISHED)]);
        let by_tag = statistics_by_tag(&table);
        assert_eq!(by_tag.keys().collect::<Vec<_>>(), ["idle", "storage", "web"]);
        let (storage, web) = (&by_tag["storage"], &by_tag["web"]);
        assert_eq!((storage.flows, storage.flows_done), (2, 1));
        assert_eq!((storage.slowdown.p99, web.slowdown.p99), (Some(2.0), Some(4.0)));
        // 8000 bits in 200 ps.
        assert!(is_close(storage.goodput_bps, 4e13), "{storage:?}");
        assert_eq!((storage.makespan_ps, web.makespan_ps), (None, Some(400)));
        assert_eq!(by_tag["idle"], TagStatistics::default());
    }

    /// Goodput counts from the first start to the last end, pauses between flows included.
    #[test]
    fn goodput_is_over_the_whole_time_of_a_tag() {
        let table = flows(&[(1, 1_000, 1_000, 100), (1, 1_000, 2_900, 100)]);
        let web = &statistics_by_tag(&table)["web"];
        assert!(is_close(web.goodput_bps, 8e12), "{web:?}");
    }

    #[test]
    fn jains_index_is_one_for_equal_shares_and_1_over_n_for_one_taker() {
        let equal = flows(&[(0, 10, 0, 100), (0, 20, 0, 200), (1, 30, 0, 300)]);
        assert!(is_close(jain_of_flows(&equal), 1.0));
        let one = jain([1.0, 0.0, 0.0, 0.0].into_iter());
        assert!(is_close(one, 0.25));
        let halves = flows(&[(0, 10, 0, 100), (0, 30, 0, 100)]);
        assert!(is_close(statistics_by_tag(&halves)["storage"].jain, 0.8));
        assert_eq!(jain_of_flows(&flows(&[(0, 10, 0, UNFINISHED)])), None);
    }

    #[test]
    fn very_many_tags_have_no_statistics() {
        let mut table = flows(&[(0, 10, 0, 100)]);
        table.tags = (0..=MAX_TAGS).map(|tag| tag.to_string()).collect();
        assert!(statistics_by_tag(&table).is_empty());
    }
}
