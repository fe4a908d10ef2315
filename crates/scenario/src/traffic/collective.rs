//! Collective operations: each host goes on when what it waits for has arrived.

use super::{After, Context, Entry, Sink, check_size, check_time};
use crate::error::{Result, ScenarioError};
use crate::spec::{CollectiveOperation, CollectiveSpec};
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
        CollectiveOperation::AllToAll => operation.all_to_all(entry, sink),
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
                    let after = before[from].map(|message| After { message, delay });
                    let dst = self.hosts[(place + 1) % count];
                    sent.push(Some(self.push((src, dst), after, qps[place], entry, sink)?));
                }
                before = sent;
            }
        }
        Ok(())
    }

    /// Each host sends to all others at once, to the next one first; each two do it again when they
    /// have what the other sent.
    fn all_to_all(&self, entry: &Entry, sink: &mut Sink) -> Result<()> {
        let count = self.hosts.len();
        let qps: Vec<u32> = (0..count * count).map(|_| sink.open_qp()).collect();
        // By sender, then receiver.
        let mut before: Vec<Option<u32>> = vec![None; count * count];
        for _ in 0..self.repeat {
            let mut sent = vec![None; count * count];
            for ahead in 1..count {
                for (from, &src) in self.hosts.iter().enumerate() {
                    let to = (from + ahead) % count;
                    let (there, back) = (from * count + to, to * count + from);
                    let delay = self.compute;
                    let after = before[back].map(|message| After { message, delay });
                    let ends = (src, self.hosts[to]);
                    sent[there] = Some(self.push(ends, after, qps[there], entry, sink)?);
                }
            }
            before = sent;
        }
        Ok(())
    }

    fn push(
        &self,
        (src, dst): (NodeId, NodeId),
        after: Option<After>,
        qp: u32,
        entry: &Entry,
        sink: &mut Sink,
    ) -> Result<u32> {
        let number = sink.messages.len() as u32;
        let mut message = entry.message(src, dst, self.part, self.start);
        message.after = after;
        sink.push_to(qp, message, || entry.key.clone())?;
        Ok(number)
    }
}
