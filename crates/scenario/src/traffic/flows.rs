//! Messages as listed in the scenario or in a flow file.

use super::waits::After;
use super::{Context, Entry, Sink, check_priority, check_size, check_time, flow_file};
use crate::error::{Result, ScenarioError};
use crate::spec::{FlowSpec, FlowsSpec};

pub(super) fn flows(
    spec: &mut FlowsSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let file = match (&spec.flows, &spec.flows_file) {
        (Some(_), None) => None,
        (None, Some(name)) => {
            let (file, flows) = flow_file::read(name, context.files, &entry.key("flows_file"))?;
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
            Some(file) => file.in_flow_file(index, error),
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
    message.udp_ports.1 = flow.port.unwrap_or(message.udp_ports.1);
    if let Some(tag) = &flow.tag {
        message.tag = sink.tag(tag, &key("tag"))?;
    }
    let after = After::new(flow.after.as_deref(), flow.after_delay, key)?;
    let message = sink.waiting(after.as_ref().or(entry.after.as_ref()), message)?;
    let place = || entry.key(&format!("flows.{index}"));
    match &flow.qp {
        Some(qp) => sink.push_on(qp, message, place),
        None => sink.push(message, place),
    }
}
