//! Poisson arrivals: at each host messages arrive with exponential gaps, sized so that the host
//! offers the load, to a destination drawn evenly from the others.

use super::{Context, Entry, MOST_MESSAGES, Sink, check_time};
use crate::error::{Result, ScenarioError};
use crate::files;
use crate::random::Stream;
use crate::spec::{PoissonSpec, Quantity};
use crate::workload::{self, Cdf};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{NodeId, Time};

pub(super) fn poisson(
    spec: &mut PoissonSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let cdf = sizes(spec, entry, context)?;
    if !(spec.load > 0.0 && spec.load <= 1.0) {
        return Err(ScenarioError::new(
            entry.key("load"),
            format!("must be above 0 and at most 1, got {}", spec.load),
        )
        .hint("the load is a fraction of each host's link rate: 0.5 is 50 %"));
    }
    let hosts = match &spec.hosts {
        Some(names) => context.nodes.hosts(names, &entry.key("hosts"))?,
        None => context.nodes.all_hosts().to_vec(),
    };
    if hosts.len() < 2 {
        return Err(ScenarioError::new(
            entry.key("hosts"),
            format!("Poisson traffic needs at least 2 hosts, got {}", hosts.len()),
        ));
    }
    let start = check_time(spec.start, || entry.key("start"))?;
    let end = end(spec, entry, context, start)?;

    let mean_bits = cdf.mean() * 8.0;
    let rates = context.nodes.network().node_rates();
    let gap = |host: NodeId| mean_bits / (spec.load * rates[host.index()].bps() as f64) * 1e12;
    let expected = match end {
        End::At(end) => {
            let span = end.saturating_sub(start).ps() as f64;
            hosts.iter().map(|host| span / gap(*host)).sum()
        }
        End::After(count) => count as f64,
    };
    // A cast from a float saturates, and so does this count.
    entry.check_count(expected as u64, sink)?;

    let mut sources: Vec<Source> = hosts
        .iter()
        .enumerate()
        .map(|(index, host)| Source::new(*host, index, gap(*host), entry, context))
        .collect();
    // The next arrival of each host; equal times go in order of the hosts.
    let mut next: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::with_capacity(sources.len());
    for (index, source) in sources.iter_mut().enumerate() {
        next.push(Reverse((source.arrive(start), index)));
    }
    let most = match end {
        End::At(_) => MOST_MESSAGES,
        End::After(count) => count,
    };
    let mut made = 0;
    while made < most || matches!(end, End::At(_)) {
        let Some(mut first) = next.peek_mut() else { break };
        let Reverse((at, index)) = *first;
        if matches!(end, End::At(end) if at >= end) {
            break;
        }
        let source = &mut sources[index];
        *first = Reverse((source.arrive(at), index));
        drop(first);
        let size = cdf.draw(&mut source.sizes);
        let other = source.destinations.below(hosts.len() as u64 - 1) as usize;
        let dst = hosts[other + usize::from(other >= index)];
        sink.push(entry.message(source.host, dst, size, at), || entry.key.clone())?;
        made += 1;
    }
    Ok(())
}

/// A sending host with its streams: gaps, sizes and destinations are drawn apart, so that the
/// same messages arrive at the same relative times under another workload.
struct Source {
    host: NodeId,
    /// Mean time between arrivals in ps.
    mean_gap: f64,
    gaps: Stream,
    sizes: Stream,
    destinations: Stream,
}

impl Source {
    fn new(
        host: NodeId,
        index: usize,
        mean_gap: f64,
        entry: &Entry,
        context: &Context<'_>,
    ) -> Source {
        let stream = |purpose| Stream::new(context.seed, purpose, &[entry.entity, index as u64]);
        Source {
            host,
            mean_gap,
            gaps: stream("poisson gap"),
            sizes: stream("poisson size"),
            destinations: stream("poisson destination"),
        }
    }

    /// The arrival after the one at `now`.
    fn arrive(&mut self, now: Time) -> Time {
        let gap = libm::round(self.gaps.exponential(self.mean_gap));
        now.saturating_add(Time::from_ps(gap as u64))
    }
}

#[derive(Clone, Copy)]
enum End {
    At(Time),
    After(u64),
}

fn end(spec: &mut PoissonSpec, entry: &Entry, context: &Context<'_>, start: Time) -> Result<End> {
    match (spec.duration, spec.flows) {
        (Some(_), Some(_)) => Err(ScenarioError::new(
            entry.key("flows"),
            "give either `duration` or `flows`, not both",
        )),
        (None, Some(0)) => Err(ScenarioError::new(entry.key("flows"), "must be above zero")),
        (None, Some(count)) => Ok(End::After(count)),
        (Some(duration), None) => {
            if duration.0 == Time::ZERO {
                return Err(ScenarioError::new(entry.key("duration"), "must be above zero"));
            }
            let duration = check_time(duration, || entry.key("duration"))?;
            Ok(End::At(start.saturating_add(duration)))
        }
        (None, None) => match context.stop {
            Some(stop) if stop > start => {
                spec.duration = Some(Quantity(stop - start));
                Ok(End::At(stop))
            }
            Some(stop) => Err(ScenarioError::new(
                entry.key("start"),
                format!("is not before the end of the run at {stop}"),
            )),
            None => Err(ScenarioError::new(entry.key("duration"), "is missing")
                .hint("give a `duration`, a number of `flows`, or a time as `run.stop`")),
        },
    }
}

/// The distribution of sizes; a file is replaced by what it says.
fn sizes(spec: &mut PoissonSpec, entry: &Entry, context: &Context<'_>) -> Result<Cdf> {
    match (&spec.workload, &spec.cdf, &spec.workload_file) {
        (Some(name), None, None) => {
            let workload = workload::named(name, &entry.key("workload"))?;
            spec.workload = Some(workload.name.to_owned());
            Ok(workload.cdf.clone())
        }
        (None, Some(points), None) => {
            Cdf::new(points.clone()).map_err(|why| ScenarioError::new(entry.key("cdf"), why))
        }
        (None, None, Some(name)) => {
            let key = entry.key("workload_file");
            let (path, text) = files::read(name, context.base, &key)?;
            let cdf = Cdf::read(&text)
                .map_err(|why| ScenarioError::new(key, format!("{}: {why}", path.display())))?;
            spec.cdf = Some(cdf.points().to_vec());
            spec.workload_file = None;
            Ok(cdf)
        }
        (None, None, None) => Err(ScenarioError::new(entry.key("workload"), "is missing")
            .hint("give a `workload` by name, a `cdf` or a `workload_file`")),
        _ => Err(ScenarioError::new(
            &entry.key,
            "give one of `workload`, `cdf` and `workload_file`, not several",
        )),
    }
}
