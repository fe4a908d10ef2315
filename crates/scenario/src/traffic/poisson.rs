//! Poisson arrivals: at each host messages arrive with exponential gaps, sized so that the host
//! offers the load, to a destination drawn evenly from the others: of all, of its group, of a list.

use super::{Context, Entry, MAX_TIME, Sink, check_time};
use crate::error::{Result, ScenarioError};
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
    let given = (&mut spec.workload, &mut spec.cdf, &mut spec.workload_file);
    let cdf = sizes(given, entry, context)?;
    check_load(spec.load, entry)?;
    let hosts = entry.hosts(spec.hosts.as_deref(), context)?;
    let receivers = Receivers::new(spec, &hosts, entry, context)?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let end = end(&mut spec.duration, spec.messages, entry, context, start)?;

    let mut arrivals =
        Arrivals::new("poisson", &hosts, &cdf, spec.load, (start, end), entry, context);
    // A cast from a float saturates, and so does this count.
    entry.make_room(arrivals.expected as u64, sink)?;
    while let Some((index, at)) = arrivals.next() {
        arrivals.check_start(at, entry)?;
        let source = &mut arrivals.sources[index];
        let size = cdf.draw(&mut source.sizes);
        let dst = receivers.draw(&hosts, index, &mut source.destinations);
        sink.push(entry.message(hosts[index], dst, size, at), || entry.key.clone())?;
    }
    Ok(())
}

/// Who gets the messages.
enum Receivers {
    /// The other hosts of the sender's group, which has this many hosts.
    Group(usize),
    /// Those listed; by sender, its own place in the list.
    Listed(Vec<NodeId>, Vec<Option<usize>>),
}

impl Receivers {
    fn new(
        spec: &PoissonSpec,
        hosts: &[NodeId],
        entry: &Entry,
        context: &Context<'_>,
    ) -> Result<Receivers> {
        let few = |key: &str, why: String| Err(ScenarioError::new(entry.key(key), why));
        if let Some(names) = &spec.receivers {
            if spec.groups.is_some() {
                return few("groups", "give either `receivers` or `groups`, not both".to_owned());
            }
            let listed = context.nodes.hosts(names, &entry.key("receivers"))?;
            if hosts.is_empty() {
                return few("hosts", "Poisson traffic needs a host that sends".to_owned());
            }
            let mut place = vec![None; context.nodes.network().nodes.len()];
            for (index, host) in listed.iter().enumerate() {
                place[host.index()] = Some(index);
            }
            let places = hosts.iter().map(|host| place[host.index()]).collect();
            if listed.is_empty() {
                return few("receivers", "names no host".to_owned());
            }
            if let [only] = listed[..]
                && hosts.contains(&only)
            {
                let name = context.nodes.network().name(only);
                let why = format!("leaves {name} with none but itself to send to");
                return Err(ScenarioError::new(entry.key("receivers"), why)
                    .hint(format!("leave {name} out of `hosts`, or give another receiver")));
            }
            return Ok(Receivers::Listed(listed, places));
        }
        let groups = spec.groups.unwrap_or(1) as usize;
        if groups == 0 || !hosts.len().is_multiple_of(groups) {
            return few("groups", format!("{} hosts make no {groups} equal groups", hosts.len()));
        }
        let size = hosts.len() / groups;
        match (size < 2, spec.groups) {
            (false, _) => Ok(Receivers::Group(size)),
            (true, None) => {
                few("hosts", format!("Poisson traffic needs at least 2 hosts, got {size}"))
            }
            (true, Some(_)) => few("groups", "a group needs at least 2 hosts".to_owned()),
        }
    }

    /// The receiver of a message of the sender with this index.
    fn draw(&self, hosts: &[NodeId], index: usize, destinations: &mut Stream) -> NodeId {
        let (list, own) = match self {
            Receivers::Group(size) => {
                let first = index - index % size;
                (&hosts[first..first + size], Some(index - first))
            }
            Receivers::Listed(list, places) => (list.as_slice(), places[index]),
        };
        match own {
            None => list[destinations.below(list.len() as u64) as usize],
            Some(own) => {
                let other = destinations.below(list.len() as u64 - 1) as usize;
                list[other + usize::from(other >= own)]
            }
        }
    }
}

/// Poisson arrivals at hosts.
pub(super) struct Arrivals {
    pub(super) sources: Vec<Source>,
    /// How many there will be, on average.
    pub(super) expected: f64,
    /// The next arrival of each host; equal times go in order of the hosts.
    next: BinaryHeap<Reverse<(Time, usize)>>,
    end: End,
    made: u64,
}

impl Arrivals {
    /// Arrivals from a start to an end at which sizes from `cdf` make up a load of each host's
    /// links. The random streams are called after `purpose`.
    pub(super) fn new(
        purpose: &str,
        hosts: &[NodeId],
        cdf: &Cdf,
        load: f64,
        (start, end): (Time, End),
        entry: &Entry,
        context: &Context<'_>,
    ) -> Arrivals {
        let mean_bits = cdf.mean() * 8.0;
        let rates = context.nodes.network().node_rates();
        let gap = |host: NodeId| mean_bits / (load * rates[host.index()].bps() as f64) * 1e12;
        let expected = match end {
            End::At(end) => {
                let span = end.saturating_sub(start).ps() as f64;
                hosts.iter().map(|host| span / gap(*host)).sum()
            }
            End::After(count) => count as f64,
        };
        let mut sources: Vec<Source> = hosts
            .iter()
            .enumerate()
            .map(|(index, host)| Source::new(purpose, index, gap(*host), entry, context))
            .collect();
        let next = sources.iter_mut().enumerate();
        let next = next.map(|(index, source)| Reverse((source.arrive(start), index))).collect();
        Arrivals { sources, expected, next, end, made: 0 }
    }

    /// Refuses an arrival later than times go, where it is the load that has it so late.
    pub(super) fn check_start(&self, at: Time, entry: &Entry) -> Result<()> {
        if at <= MAX_TIME || !matches!(self.end, End::After(_)) {
            return Ok(());
        }
        let why = format!(
            "is so low that a message would start after the latest time, {MAX_TIME}, before \
             `messages` are there"
        );
        Err(ScenarioError::new(entry.key("load"), why).hint("raise it, or lower `messages`"))
    }

    /// The next arrival: at which host, and when.
    pub(super) fn next(&mut self) -> Option<(usize, Time)> {
        if matches!(self.end, End::After(count) if self.made == count) {
            return None;
        }
        let mut first = self.next.peek_mut()?;
        let Reverse((at, index)) = *first;
        if matches!(self.end, End::At(end) if at >= end) {
            return None;
        }
        *first = Reverse((self.sources[index].arrive(at), index));
        self.made += 1;
        Some((index, at))
    }
}

/// A sending host with its streams: gaps, sizes and destinations are drawn apart, so that the
/// same messages arrive at the same relative times under another workload.
pub(super) struct Source {
    /// Mean time between arrivals in ps.
    mean_gap: f64,
    gaps: Stream,
    pub(super) sizes: Stream,
    pub(super) destinations: Stream,
}

impl Source {
    fn new(
        purpose: &str,
        index: usize,
        mean_gap: f64,
        entry: &Entry,
        context: &Context<'_>,
    ) -> Source {
        let stream = |what: &str| {
            Stream::new(context.seed, &format!("{purpose} {what}"), &[entry.entity, index as u64])
        };
        Source {
            mean_gap,
            gaps: stream("gap"),
            sizes: stream("size"),
            destinations: stream("destination"),
        }
    }

    /// The arrival after the one at `now`.
    fn arrive(&mut self, now: Time) -> Time {
        let gap = libm::round(self.gaps.exponential(self.mean_gap));
        now.saturating_add(Time::from_ps(gap as u64))
    }
}

/// When arrivals end.
#[derive(Clone, Copy)]
pub(super) enum End {
    At(Time),
    After(u64),
}

pub(super) fn check_load(load: f64, entry: &Entry) -> Result<()> {
    if load > 0.0 && load <= 1.0 {
        return Ok(());
    }
    Err(ScenarioError::new(entry.key("load"), format!("must be above 0 and at most 1, got {load}"))
        .hint("the load is a fraction of each host's link rate: 0.5 is 50 %"))
}

/// Where arrivals end; the duration is filled in where that is the end of the run.
pub(super) fn end(
    duration: &mut Option<Quantity<Time>>,
    flows: Option<u64>,
    entry: &Entry,
    context: &Context<'_>,
    start: Time,
) -> Result<End> {
    match (*duration, flows) {
        (Some(_), Some(_)) => Err(ScenarioError::new(
            entry.key("messages"),
            "give either `duration` or `messages`, not both",
        )),
        (None, Some(0)) => Err(ScenarioError::new(entry.key("messages"), "must be above zero")),
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
                *duration = Some(Quantity(stop - start));
                Ok(End::At(stop))
            }
            Some(stop) => Err(ScenarioError::new(
                entry.key("start"),
                format!("is not before the end of the run at {stop}"),
            )),
            None => Err(ScenarioError::new(entry.key("duration"), "is missing")
                .hint("give a `duration`, a number of `messages`, or a time as `run.stop`")),
        },
    }
}

/// `workload`, `cdf` and `workload_file`.
type SizeKeys<'a> =
    (&'a mut Option<String>, &'a mut Option<Vec<(u64, f64)>>, &'a mut Option<String>);

/// The distribution of sizes; a file is replaced by what it says.
pub(super) fn sizes(
    (workload, cdf, workload_file): SizeKeys<'_>,
    entry: &Entry,
    context: &Context<'_>,
) -> Result<Cdf> {
    match (&workload, &cdf, &workload_file) {
        (Some(name), None, None) => {
            let named = workload::named(name, &entry.key("workload"))?;
            *workload = Some(named.name.to_owned());
            Ok(named.cdf.clone())
        }
        (None, Some(points), None) => {
            Cdf::new(points.clone()).map_err(|why| ScenarioError::new(entry.key("cdf"), why))
        }
        (None, None, Some(name)) => {
            let key = entry.key("workload_file");
            let (path, text) = context.files.read(name, &key)?;
            let read = Cdf::read(&text)
                .map_err(|why| ScenarioError::new(key, format!("{}: {why}", path.display())))?;
            *cdf = Some(read.points().to_vec());
            *workload_file = None;
            Ok(read)
        }
        (None, None, None) => Err(ScenarioError::new(entry.key("workload"), "is missing")
            .hint("give a `workload` by name, a `cdf` or a `workload_file`")),
        _ => Err(ScenarioError::new(
            &entry.key,
            "give one of `workload`, `cdf` and `workload_file`, not several",
        )),
    }
}
