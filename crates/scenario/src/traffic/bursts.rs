//! Periodic bursts: at each period, every source sends a message to every destination.

use super::{Context, Entry, Sink, check_size, check_time};
use crate::error::{Result, ScenarioError};
use crate::spec::BurstsSpec;
use std::collections::BTreeSet;
use units::NodeId;

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
        let name = context.nodes.network().name(*both);
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
