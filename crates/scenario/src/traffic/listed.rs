//! Messages without chance: flows as listed, and periodic bursts.

use super::{Context, Entry, Sink, check_priority, check_size, check_time};
use crate::error::{Result, ScenarioError};
use crate::spec::{BurstsSpec, FlowsSpec};
use std::collections::BTreeSet;
use units::NodeId;

pub(super) fn flows(
    spec: &mut FlowsSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    entry.check_count(spec.flows.len() as u64, sink)?;
    for (index, flow) in spec.flows.iter_mut().enumerate() {
        let key = |name: &str| entry.key(&format!("flows.{index}.{name}"));
        let src = context.nodes.host(&flow.src, &key("src"))?;
        let dst = context.nodes.host(&flow.dst, &key("dst"))?;
        if src == dst {
            return Err(ScenarioError::new(
                key("dst"),
                format!("{} cannot send to itself", flow.src),
            ));
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
            Some(qp) => sink.push_on(qp, message, place)?,
            None => sink.push(message, place)?,
        }
    }
    Ok(())
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
    entry.check_count(pairs.saturating_mul(u64::from(spec.count)), sink)?;
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
