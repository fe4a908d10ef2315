//! Messages without chance: flows as listed, and periodic bursts.

use super::{Context, Entry, Sink, check_priority, check_size, check_time, flow_file};
use crate::error::{Result, ScenarioError};
use crate::spec::{BurstsSpec, FlowSpec, FlowsSpec};
use std::collections::BTreeSet;
use units::NodeId;

pub(super) fn flows(
    spec: &mut FlowsSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let file = match (&spec.flows, &spec.flows_file) {
        (Some(_), None) => None,
        (None, Some(name)) => {
            let (file, flows) = flow_file::read(name, context.base, &entry.key("flows_file"))?;
            (spec.flows, spec.flows_file) = (Some(flows), None);
            Some(file)
        }
        (None, None) => {
            return Err(ScenarioError::new(entry.key("flows"), "is missing")
                .hint("give messages, or a `flows_file` that lists them"));
        }
        (Some(_), Some(_)) => {
            let why = "give either `flows` or `flows_file`, not both";
            return Err(ScenarioError::new(&entry.key, why));
        }
    };
    let flows = spec.flows.as_deref_mut().unwrap_or_default();
    entry.make_room(flows.len() as u64, sink)?;
    for (index, flow) in flows.iter_mut().enumerate() {
        push(index, flow, entry, context, sink).map_err(|error| match &file {
            Some(file) => file.blame(index, error),
            None => error,
        })?;
    }
    Ok(())
}

fn push(
    index: usize,
    flow: &mut FlowSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let key = |name: &str| entry.key(&format!("flows.{index}.{name}"));
    let src = context.nodes.host(&flow.src, &key("src"))?;
    let dst = context.nodes.host(&flow.dst, &key("dst"))?;
    if src == dst {
        return Err(ScenarioError::new(key("dst"), format!("{} cannot send to itself", flow.src)));
    }
    let size = check_size(flow.size, || key("size"))?;
    let start = check_time(flow.start, || key("start"))?;
    let priority = *flow.priority.get_or_insert(entry.priority);
    check_priority(priority, || key("priority"))?;
    let mut message = entry.message(src, dst, size, start);
    message.priority = priority;
    message.port = flow.port.unwrap_or(message.port);
    if let Some(tag) = &flow.tag {
        message.tag = sink.tag(tag, &key("tag"))?;
    }
    let place = || entry.key(&format!("flows.{index}"));
    match &flow.qp {
        Some(qp) => sink.push_on(qp, message, place),
        None => sink.push(message, place),
    }
}

pub(super) fn bursts(
    spec: &mut BurstsSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let sources = context.nodes.hosts(&spec.src, &entry.key("src"))?;
    let destinations = context.nodes.hosts(&spec.dst, &entry.key("dst"))?;
    for (name, list) in [("src", &sources), ("dst", &destinations)] {
        if list.is_empty() {
            return Err(ScenarioError::new(entry.key(name), "names no host"));
        }
    }
    let size = check_size(spec.size, || entry.key("size"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let period = check_time(spec.period, || entry.key("period"))?;
    if period.ps() == 0 {
        return Err(ScenarioError::new(entry.key("period"), "must be above zero"));
    }
    if spec.count == 0 {
        return Err(ScenarioError::new(entry.key("count"), "must be above zero"));
    }
    let receiving: BTreeSet<NodeId> = destinations.iter().copied().collect();
    if let Some(both) = sources.iter().find(|host| receiving.contains(host)) {
        let name = &context.nodes.network().node(*both).name;
        return Err(ScenarioError::new(
            entry.key("dst"),
            format!("{name} is a source too, and cannot send to itself"),
        ));
    }
    let pairs = sources.len() as u64 * destinations.len() as u64;
    entry.make_room(pairs.saturating_mul(u64::from(spec.count)), sink)?;
    for burst in 0..u64::from(spec.count) {
        let at = start.saturating_add(super::times(period, burst));
        for &src in &sources {
            for &dst in &destinations {
                sink.push(entry.message(src, dst, size, at), || entry.key.clone())?;
            }
        }
    }
    Ok(())
}
