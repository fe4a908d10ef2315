//! Collective operations: each host goes on when what it waits for has arrived.

use super::{Context, Entry, Sink, check_size, check_time};
use crate::error::{Result, ScenarioError};
use crate::spec::{CollectiveOperation, CollectiveSpec};
use model::Joins;
use units::{NodeId, Time};

pub(super) fn collective(
    spec: &mut CollectiveSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let hosts =
        entry.two_hosts_or_more(spec.hosts.as_deref(), "a collective operation", context)?;
    if spec.repeat == 0 {
        return Err(ScenarioError::new(entry.key("repeat"), "must be above zero"));
    }
    let size = check_size(spec.size, || entry.key("size"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let compute = check_time(spec.compute_time, || entry.key("compute_time"))?;
    let barrier = spec.barrier == Some(true);
    if barrier && spec.operation != CollectiveOperation::AllToAll {
        let why = "has no effect with a ring, in which each host waits for the one before";
        return Err(ScenarioError::new(entry.key("barrier"), why).hint("leave it out"));
    }
    if barrier && spec.repeat == 1 {
        return Err(ScenarioError::new(entry.key("barrier"), "has no effect without `repeat`")
            .hint("`repeat` is how many times the operation is done"));
    }
    let part = size.div_ceil(hosts.len() as u64);
    let others = hosts.len() as u64 - 1;
    let steps = match spec.operation {
        CollectiveOperation::AllReduce => 2 * others,
        _ => others,
    };
    let count = steps.saturating_mul(hosts.len() as u64).saturating_mul(u64::from(spec.repeat));
    entry.make_room(count, sink)?;
    let operation = Operation { hosts, part, start, compute, repeat: spec.repeat };
    match spec.operation {
        CollectiveOperation::AllToAll if barrier => operation.all_to_all(entry, sink, joined),
        CollectiveOperation::AllToAll => operation.all_to_all(entry, sink, pairs),
        CollectiveOperation::AllReduce
        | CollectiveOperation::ReduceScatter
        | CollectiveOperation::AllGather => operation.ring(steps, entry, sink),
    }
}

struct Operation {
    hosts: Vec<NodeId>,
    /// Bytes of a message.
    part: u64,
    start: Time,
    compute: Time,
    repeat: u32,
}

impl Operation {
    /// Steps in which each host sends to the next one, on one QP, what has come from the one
    /// before.
    fn ring(&self, steps: u64, entry: &Entry, sink: &mut Sink) -> Result<()> {
        let count = self.hosts.len();
        let qps: Vec<u32> = self.hosts.iter().map(|_| sink.open_qp()).collect();
        // The message of the step before, by sender.
        let mut before: Vec<Option<u32>> = vec![None; count];
        for repetition in 0..self.repeat {
            for step in 0..steps {
                let delay = if repetition > 0 && step == 0 { self.compute } else { Time::ZERO };
                let mut sent = Vec::with_capacity(count);
                for (place, &src) in self.hosts.iter().enumerate() {
                    let from = (place + count - 1) % count;
                    let after = before[from].map(|message| sink.joins.add(delay, [message]));
                    let dst = self.hosts[(place + 1) % count];
                    sent.push(Some(self.push((src, dst), after, qps[place], entry, sink)?));
                }
                before = sent;
            }
        }
        Ok(())
    }

    /// Each host sends to all others at once, to the next one first. `wait` makes the joins that
    /// messages wait for from those of the time before. Of both, `from * N + to` is the place of
    /// one between these two hosts.
    fn all_to_all(
        &self,
        entry: &Entry,
        sink: &mut Sink,
        wait: fn(&mut Joins, usize, Time, &[u32]) -> Vec<u32>,
    ) -> Result<()> {
        let count = self.hosts.len();
        let qps: Vec<u32> = (0..count * count).map(|_| sink.open_qp()).collect();
        let mut before: Option<Vec<u32>> = None;
        for _ in 0..self.repeat {
            let joins = before.map(|sent| wait(&mut sink.joins, count, self.compute, &sent));
            let mut sent = vec![0; count * count];
            for ahead in 1..count {
                for (from, &src) in self.hosts.iter().enumerate() {
                    let to = (from + ahead) % count;
                    let there = from * count + to;
                    let after = joins.as_ref().map(|joins| joins[there]);
                    let ends = (src, self.hosts[to]);
                    sent[there] = self.push(ends, after, qps[there], entry, sink)?;
                }
            }
            before = Some(sent);
        }
        Ok(())
    }

    fn push(
        &self,
        (src, dst): (NodeId, NodeId),
        after: Option<u32>,
        qp: u32,
        entry: &Entry,
        sink: &mut Sink,
    ) -> Result<u32> {
        let number = sink.messages.len() as u32;
        let mut message = entry.message(src, dst, self.part, self.start);
        message.after = after;
        if after.is_none() {
            message = sink.waiting(entry.after.as_ref(), message)?;
        }
        sink.push_to(qp, message, || entry.key.clone())?;
        Ok(number)
    }
}

/// A host sends to another again when it has what that one sent.
fn pairs(joins: &mut Joins, count: usize, delay: Time, sent: &[u32]) -> Vec<u32> {
    let mut waits = vec![0; count * count];
    for (from, to) in ordered_pairs(count) {
        waits[from * count + to] = joins.add(delay, [sent[to * count + from]]);
    }
    waits
}

/// A host sends again when it has what all others sent.
fn joined(joins: &mut Joins, count: usize, delay: Time, sent: &[u32]) -> Vec<u32> {
    let mut waits = vec![0; count * count];
    for host in 0..count {
        let others = (0..count).filter(|&other| other != host);
        let join = joins.add(delay, others.clone().map(|other| sent[other * count + host]));
        others.for_each(|other| waits[host * count + other] = join);
    }
    waits
}

/// All pairs of two hosts.
fn ordered_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |from| (0..count).map(move |to| (from, to))).filter(|(a, b)| a != b)
}
