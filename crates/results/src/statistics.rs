//! Statistics of FCT slowdowns, over all flows and by flow size.

use crate::flows::FlowTable;
use crate::record::record;

/// The most size bins there are.
const MAX_BINS: usize = 20;

record! {
    slowdown_fields:
    /// Mean and percentiles of the slowdowns of the flows that completed.
    pub struct SlowdownStatistics {
        /// Mean slowdown; `None` if no flow completed.
        pub mean: Option<f64>,
        /// Median slowdown; `None` if no flow completed.
        pub p50: Option<f64>,
        /// 95th percentile of the slowdown; `None` if no flow completed.
        pub p95: Option<f64>,
        /// 99th percentile of the slowdown; `None` if no flow completed.
        pub p99: Option<f64>,
        /// Slowdowns by flow size, smallest first.
        pub bins: Vec<SizeBin>,
    }
}

record! {
    size_bin_fields:
    /// Slowdowns of the flows of a range of sizes.
    pub struct SizeBin {
        /// The smallest flow size in the bin, in bytes.
        pub lower_bytes: u64,
        /// The largest flow size in the bin, in bytes.
        pub upper_bytes: u64,
        /// Number of flows in the bin.
        pub flows: u64,
        /// Mean slowdown.
        pub mean: f64,
        /// Median slowdown.
        pub p50: f64,
        /// 95th percentile of the slowdown.
        pub p95: f64,
        /// 99th percentile of the slowdown.
        pub p99: f64,
    }
}

/// The percentile by nearest rank: the smallest value that at least `percent` per cent of all
/// values do not exceed. It is always one of the values; nothing is interpolated.
///
/// # Panics
/// If there are no values, or `percent` is not within 1 to 100.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    assert!((1..=100).contains(&percent), "percent must be within 1 to 100");
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank - 1]
}

/// The slowdowns of the flows that completed: over all, and in size bins.
///
/// There are up to 20 bins of equal count, in order of size. Flows of one size are never split
/// between bins: a cut that would split them moves up to the next size. With 20 sizes or fewer,
/// each size has a bin of its own. The outcome does not depend on the order of the rows.
pub fn slowdown_statistics(flows: &FlowTable) -> SlowdownStatistics {
    slowdowns_of(flows, 0..flows.len())
}

/// The slowdowns of the flows in `rows` that completed.
pub(crate) fn slowdowns_of(
    flows: &FlowTable,
    rows: impl Iterator<Item = usize>,
) -> SlowdownStatistics {
    let mut done: Vec<(u64, f64)> =
        rows.filter_map(|row| Some((flows.size_bytes[row], flows.slowdown(row)?))).collect();
    if done.is_empty() {
        return SlowdownStatistics::default();
    }
    done.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let bins = cuts(&done).windows(2).map(|cut| size_bin(&done[cut[0]..cut[1]])).collect();
    let all = sorted_slowdowns(&done);
    SlowdownStatistics {
        mean: Some(mean(&all)),
        p50: Some(percentile(&all, 50)),
        p95: Some(percentile(&all, 95)),
        p99: Some(percentile(&all, 99)),
        bins,
    }
}

/// Mean slowdown of the flows tagged `intra`, within a data centre, over that of those tagged
/// `inter`, between two. `None` where none of either completed.
pub fn intra_inter_slowdown(flows: &FlowTable) -> Option<f64> {
    let mean_of = |name: &str| {
        let tag = flows.tags.iter().position(|tag| tag == name)?;
        let rows = (0..flows.len()).filter(|&row| usize::from(flows.tag[row]) == tag);
        let slowdowns: Vec<f64> = rows.filter_map(|row| flows.slowdown(row)).collect();
        (!slowdowns.is_empty()).then(|| mean(&slowdowns))
    };
    Some(mean_of("intra")? / mean_of("inter")?)
}

/// Where the bins begin, and where the last one ends.
fn cuts(by_size: &[(u64, f64)]) -> Vec<usize> {
    let starts_size = |row: usize| row == 0 || by_size[row].0 != by_size[row - 1].0;
    let sizes = (0..by_size.len()).filter(|&row| starts_size(row)).count();
    let mut cuts: Vec<usize> = if sizes <= MAX_BINS {
        (0..by_size.len()).filter(|&row| starts_size(row)).collect()
    } else {
        (0..MAX_BINS)
            .map(|bin| bin * by_size.len() / MAX_BINS)
            .filter_map(|row| (row..by_size.len()).find(|&row| starts_size(row)))
            .collect()
    };
    cuts.push(by_size.len());
    cuts.dedup();
    cuts
}

fn size_bin(flows: &[(u64, f64)]) -> SizeBin {
    let slowdowns = sorted_slowdowns(flows);
    SizeBin {
        lower_bytes: flows[0].0,
        upper_bytes: flows[flows.len() - 1].0,
        flows: flows.len() as u64,
        mean: mean(&slowdowns),
        p50: percentile(&slowdowns, 50),
        p95: percentile(&slowdowns, 95),
        p99: percentile(&slowdowns, 99),
    }
}

fn sorted_slowdowns(flows: &[(u64, f64)]) -> Vec<f64> {
    let mut slowdowns: Vec<f64> = flows.iter().map(|flow| flow.1).collect();
    slowdowns.sort_by(f64::total_cmp);
    slowdowns
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::UNFINISHED;

    fn flows(rows: impl IntoIterator<Item = (u64, u64)>) -> FlowTable {
        let (size_bytes, fct_ps): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        FlowTable {
            flow_id: (0..size_bytes.len() as u32).collect(),
            ideal_fct_ps: vec![100; size_bytes.len()],
            size_bytes,
            fct_ps,
            ..FlowTable::default()
        }
    }

    #[test]
    fn percentiles_are_nearest_rank() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&values, 50), 50.0);
        assert_eq!(percentile(&values, 99), 99.0);
        assert_eq!(percentile(&values, 100), 100.0);
        assert_eq!(percentile(&values[..10], 95), 10.0);
        assert_eq!(percentile(&values[..10], 50), 5.0);
        assert_eq!(percentile(&[7.0], 1), 7.0);
    }

    #[test]
    fn nothing_finished_is_no_statistics() {
        let statistics = slowdown_statistics(&flows([(1_000, UNFINISHED)]));
        assert_eq!(statistics, SlowdownStatistics::default());
        assert_eq!(slowdown_statistics(&FlowTable::default()).mean, None);
    }

    #[test]
    fn unfinished_flows_are_left_out() {
        let statistics = slowdown_statistics(&flows([(1, 100), (1, UNFINISHED), (1, 300)]));
        assert_eq!(statistics.mean, Some(2.0));
        assert_eq!(statistics.p50, Some(1.0));
        assert_eq!(statistics.p99, Some(3.0));
        assert_eq!(statistics.bins[0].flows, 2);
    }

    #[test]
    fn bins_have_equal_counts() {
        let statistics = slowdown_statistics(&flows((0..2_000).map(|i| (i, 100 + i))));
        assert_eq!(statistics.bins.len(), MAX_BINS);
        assert!(statistics.bins.iter().all(|bin| bin.flows == 100));
        assert_eq!(statistics.bins[1].lower_bytes, 100);
        assert_eq!(statistics.bins[1].upper_bytes, 199);
    }

    #[test]
    fn slowdown_is_intra_over_inter() {
        let mut flows = flows([(1, 600), (1, 200), (1, 100), (1, UNFINISHED), (1, 9_000)]);
        flows.tags = ["request", "inter", "intra"].map(str::to_owned).to_vec();
        flows.tag = vec![2, 2, 1, 1, 0];
        assert_eq!(intra_inter_slowdown(&flows), Some(4.0));
        flows.tag[2] = 0;
        assert_eq!(intra_inter_slowdown(&flows), None, "no inter flow is done");
    }

    #[test]
    fn one_size_is_one_bin() {
        let statistics = slowdown_statistics(&flows((0..500).map(|i| (1_000 * (i % 3), 100))));
        assert_eq!(statistics.bins.len(), 3);
        let many = slowdown_statistics(&flows((0..500).map(|i| (i / 10, 100))));
        let sizes: Vec<_> =
            many.bins.iter().map(|bin| (bin.lower_bytes, bin.upper_bytes)).collect();
        assert!(sizes.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert_eq!(many.bins.iter().map(|bin| bin.flows).sum::<u64>(), 500);
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        let rows: Vec<(u64, u64)> =
            (0..777).map(|i| ((i * 7919) % 311, 100 + i * i % 977)).collect();
        let reversed = rows.iter().rev().copied();
        assert_eq!(
            slowdown_statistics(&flows(rows.clone())),
            slowdown_statistics(&flows(reversed))
        );
    }
}
