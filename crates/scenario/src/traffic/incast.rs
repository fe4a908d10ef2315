//! Incast: several hosts send to one. Hosts that the scenario does not name are drawn from the
//! seed.

use super::{Context, Entry, Sink, check_size, check_time, times};
use crate::error::{Result, ScenarioError};
use crate::random::Stream;
use crate::spec::{HostSet, IncastSpec};
use std::collections::BTreeSet;
use units::{NodeId, Time};

pub(super) fn incast(
    spec: &mut IncastSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let all = context.nodes.all_hosts();
    let receiver = match &spec.receiver {
        Some(name) => Some(context.nodes.host(name, &entry.key("receiver"))?),
        None => None,
    };
    let senders = match &spec.senders {
        HostSet::Names(names) => Senders::listed(names, receiver, entry, context)?,
        HostSet::Count(count) => Senders::drawn(*count, entry, context)?,
    };
    let size = check_size(spec.size, || entry.key("size"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let (repeat, period) = repetition(spec, entry)?;
    entry.make_room(senders.count() * u64::from(repeat), sink)?;
    // Each incast has a stream of its own: how many there are changes none of them.
    for repetition in 0..u64::from(repeat) {
        let mut stream = Stream::new(context.seed, "incast", &[entry.entity, repetition]);
        let at = start.saturating_add(times(period, repetition));
        let mut push = |src: NodeId, receiver: NodeId| {
            let message = entry.message(src, receiver, size, at);
            let message = sink.waiting(entry.after.as_ref(), message)?;
            sink.push(message, || entry.key.clone())
        };
        let mut draw = |hosts: &[NodeId]| hosts[stream.below(hosts.len() as u64) as usize];
        match &senders {
            Senders::Listed { senders, others } => {
                let receiver = receiver.unwrap_or_else(|| draw(others));
                for &src in senders {
                    push(src, receiver)?;
                }
            }
            Senders::Drawn(count) => {
                let receiver = receiver.unwrap_or_else(|| draw(all));
                // The receiver's place in the list of hosts, which is in order, is skipped.
                let skipped = all.partition_point(|host| *host < receiver);
                for i in stream.sample(all.len() - 1, *count) {
                    let src = all[i + usize::from(i >= skipped)];
                    push(src, receiver)?;
                }
            }
        }
    }
    Ok(())
}

/// Who sends in an incast.
enum Senders {
    /// These; of the others one receives.
    Listed { senders: Vec<NodeId>, others: Vec<NodeId> },
    /// This number of hosts, drawn for each incast; fewer than there are hosts.
    Drawn(usize),
}

impl Senders {
    fn listed(
        names: &[String],
        receiver: Option<NodeId>,
        entry: &Entry,
        context: &Context<'_>,
    ) -> Result<Senders> {
        let refuse = |why: &str| Err(ScenarioError::new(entry.key("senders"), why));
        let senders = context.nodes.hosts(names, &entry.key("senders"))?;
        if senders.is_empty() {
            return refuse("names no host");
        }
        if let Some(receiver) = receiver.filter(|receiver| senders.contains(receiver)) {
            let name = context.nodes.network().name(receiver);
            return refuse(&format!("{name} is the receiver, and cannot send to itself"));
        }
        let sending: BTreeSet<NodeId> = senders.iter().copied().collect();
        let all = context.nodes.all_hosts().iter().copied();
        let others: Vec<NodeId> = all.filter(|host| !sending.contains(host)).collect();
        if others.is_empty() {
            return refuse("every host sends, so none is left to receive");
        }
        Ok(Senders::Listed { senders, others })
    }

    fn drawn(count: u32, entry: &Entry, context: &Context<'_>) -> Result<Senders> {
        let hosts = context.nodes.all_hosts().len();
        if count == 0 {
            return Err(ScenarioError::new(entry.key("senders"), "must be above zero"));
        }
        if count as usize >= hosts {
            return Err(ScenarioError::new(
                entry.key("senders"),
                format!("{count} senders and a receiver need more than {hosts} hosts"),
            ));
        }
        Ok(Senders::Drawn(count as usize))
    }

    fn count(&self) -> u64 {
        match self {
            Senders::Listed { senders, .. } => senders.len() as u64,
            Senders::Drawn(count) => *count as u64,
        }
    }
}

/// How many incasts there are, and the time from one to the next.
fn repetition(spec: &mut IncastSpec, entry: &Entry) -> Result<(u32, Time)> {
    if spec.period.is_some() && spec.repeat.is_none() {
        // Who writes a period wants more than one; who writes `repeat = 1`, one.
        return Err(ScenarioError::new(entry.key("period"), "has no effect without `repeat`")
            .hint("`repeat` is how many incasts there are"));
    }
    let repeat = *spec.repeat.get_or_insert(1);
    if repeat == 0 {
        return Err(ScenarioError::new(entry.key("repeat"), "must be above zero"));
    }
    let period = match spec.period {
        Some(period) if period.0 == Time::ZERO => {
            Err(ScenarioError::new(entry.key("period"), "must be above zero"))
        }
        Some(period) => check_time(period, || entry.key("period")),
        None if repeat > 1 => Err(ScenarioError::new(entry.key("period"), "is missing")
            .hint("with `repeat`, `period` is the time from one incast to the next")),
        None => Ok(Time::ZERO),
    };
    Ok((repeat, period?))
}
