//! From `[[probe]]` to the ports and flows to sample.

use crate::error::{Result, ScenarioError, known_words};
use crate::network::Port;
use crate::selector::{Selector, is_several};
use crate::settings::{Run, Stop};
use crate::spec::{FlowSelector, ProbePreset, ProbeSpec, Quantity};
use crate::traffic::{Traffic, check_priority, check_span, check_time};
use model::{Probe, ProbeKind, ProbeTargets};
use std::collections::BTreeSet;
use units::{FlowId, NodeId, PortId, Time, cancel};

/// A time series to record, with the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedProbe {
    /// Its name, fit for a file.
    pub name: String,
    /// What, where and when it samples.
    pub probe: Probe,
}

/// Nothing in a network changes faster than this.
const MIN_INTERVAL: Time = Time::from_ns(1);

/// The interval of a preset's probes.
const PRESET_INTERVAL: Time = Time::from_us(10);

/// Finds what every probe samples in `run`. Puts the probes of presets in their places.
pub(crate) fn resolve(
    specs: &mut Vec<ProbeSpec>,
    nodes: &Selector<'_>,
    traffic: &Traffic,
    run: &Run,
) -> Result<Vec<NamedProbe>> {
    let stop = match run.stop {
        Stop::FlowsDone => None,
        Stop::At(stop) => Some(stop),
    };
    let ports = if specs.is_empty() { Vec::new() } else { nodes.network().ports() };
    let mut names = BTreeSet::new();
    let mut probes = Vec::with_capacity(specs.len());
    for (index, spec) in expand(specs, traffic)? {
        let key = |name: &str| format!("probe.{index}.{name}");
        let is_missing = |name: &str| ScenarioError::new(key(name), "is missing");
        let name = spec.name.as_ref().ok_or_else(|| is_missing("name"))?;
        let kind = spec.kind.ok_or_else(|| is_missing("kind"))?;
        let interval = spec.interval.ok_or_else(|| is_missing("interval"))?;
        check_name(name, &key("name"))?;
        // Some file systems do not tell capitals from small letters.
        if !names.insert(name.to_lowercase()) {
            return Err(ScenarioError::new(
                key("name"),
                format!("`{name}` is the name of another probe"),
            ));
        }
        let interval = check_time(interval, || key("interval"))?;
        if interval < MIN_INTERVAL {
            return Err(ScenarioError::new(
                key("interval"),
                format!("{interval} is too short; the shortest is {MIN_INTERVAL}"),
            ));
        }
        let (start, end) = check_span(spec.start, spec.end, key)?;
        check_priority_of(&spec, kind, &key)?;
        let targets = if kind.is_of_ports() {
            ProbeTargets::Ports(select_ports(&spec, kind, nodes, &ports, &key)?)
        } else {
            ProbeTargets::Flows(select_flows(&spec, kind, nodes, traffic, &key)?)
        };
        // Without an end the samples can't be counted before the run.
        if let Some(last) = end.into_iter().chain(stop).min() {
            let samples = u128::from(last.saturating_sub(start).ps() / interval.ps());
            let samples = samples * targets.count() as u128;
            if samples > run.max_samples.into() {
                return Err(ScenarioError::new(
                    key("interval"),
                    format!(
                        "the probe would take {samples} samples, more than {}",
                        run.max_samples
                    ),
                )
                .hint(
                    "sample less often, for a shorter time, or at fewer places; or raise \
                     run.max_samples, where there is room on disk for them",
                ));
            }
        }
        let probe = Probe {
            kind,
            priority: spec.priority,
            interval,
            start,
            end: end.unwrap_or(Time::NEVER),
            targets,
        };
        probes.push(NamedProbe { name: name.clone(), probe });
        specs.push(spec);
    }
    Ok(probes)
}

/// Takes all probes from `specs`, those of presets in place of their entries, each with the number
/// of its entry.
fn expand(specs: &mut Vec<ProbeSpec>, traffic: &Traffic) -> Result<Vec<(usize, ProbeSpec)>> {
    let mut expanded = Vec::with_capacity(specs.len());
    for (index, spec) in specs.drain(..).enumerate() {
        match spec.preset {
            None => expanded.push((index, spec)),
            Some(ProbePreset::View) => {
                check_preset(&spec, index)?;
                let probes = view_probes(&spec, !traffic.messages.is_empty());
                expanded.extend(probes.map(|probe| (index, probe)));
            }
        }
    }
    Ok(expanded)
}

/// The probes that `rocelab view` needs.
fn view_probes(entry: &ProbeSpec, has_flows: bool) -> impl Iterator<Item = ProbeSpec> {
    let kinds = [
        ProbeKind::Queue,
        ProbeKind::Utilisation,
        ProbeKind::PausedShare,
        ProbeKind::Rate,
        ProbeKind::Window,
    ];
    kinds.into_iter().filter(move |kind| kind.is_of_ports() || has_flows).map(|kind| ProbeSpec {
        name: Some(format!("view-{}", kind.name())),
        kind: Some(kind),
        interval: Some(entry.interval.unwrap_or(Quantity(PRESET_INTERVAL))),
        start: entry.start,
        end: entry.end,
        nodes: vec!["*".to_owned()],
        ..ProbeSpec::default()
    })
}

/// A preset chooses what its probes record.
fn check_preset(spec: &ProbeSpec, index: usize) -> Result<()> {
    let given = [
        ("name", spec.name.is_some()),
        ("kind", spec.kind.is_some()),
        ("nodes", !spec.nodes.is_empty()),
        ("ports", !spec.ports.is_empty()),
        ("priority", spec.priority.is_some()),
        ("flows", !spec.flows.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((key, _)) => {
            Err(ScenarioError::new(format!("probe.{index}.{key}"), "a preset has its own")
                .hint("beside `preset` there may be `interval`, `start` and `end`"))
        }
    }
}

fn select_ports(
    spec: &ProbeSpec,
    kind: ProbeKind,
    nodes: &Selector<'_>,
    ports: &[Vec<Port>],
    key: &impl Fn(&str) -> String,
) -> Result<Vec<(NodeId, PortId)>> {
    if !spec.flows.is_empty() {
        return Err(ScenarioError::new(
            key("flows"),
            format!("{} is a value of ports, not of flows", kind.name()),
        )
        .hint("choose `ports` or `nodes`"));
    }
    let mut chosen = Vec::new();
    for node in nodes.nodes(&spec.nodes, &key("nodes"))? {
        chosen.extend((0..ports[node.index()].len()).map(|port| (node, PortId::new(port as u16))));
    }
    for (index, written) in spec.ports.iter().enumerate() {
        cancel::check();
        let key = key(&format!("ports.{index}"));
        let Some((node, peer)) = written.split_once(':') else {
            return Err(ScenarioError::new(key, format!("`{written}` names no port"))
                .hint("a port is written \"node:peer\", such as \"s0:h3\""));
        };
        let mut is_peer = vec![false; ports.len()];
        nodes.visit(peer, &key, false, |peer| is_peer[peer.index()] = true)?;
        let before = chosen.len();
        nodes.visit(node, &key, false, |node| {
            let all = ports[node.index()].iter().enumerate();
            let there = all.filter(|(_, port)| is_peer[port.peer.index()]);
            chosen.extend(there.map(|(port, _)| (node, PortId::new(port as u16))));
        })?;
        if chosen.len() == before {
            if is_several(written) {
                return Err(ScenarioError::new(key, format!("no link fits `{written}`")));
            }
            let why = format!("there is no link between the two nodes of `{written}`");
            let hint = nodes.neighbours(nodes.node(node, &key)?);
            return Err(ScenarioError::new(key, why).hint(hint));
        }
    }
    if chosen.is_empty() {
        return Err(ScenarioError::new(key("ports"), "the probe selects nothing")
            .hint("choose `ports = [\"node:peer\"]` or `nodes = [\"node\"]`"));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn select_flows(
    spec: &ProbeSpec,
    kind: ProbeKind,
    nodes: &Selector<'_>,
    traffic: &Traffic,
    key: &impl Fn(&str) -> String,
) -> Result<Vec<FlowId>> {
    if !spec.ports.is_empty() {
        return Err(ScenarioError::new(
            key("ports"),
            format!("{} is a value of flows, not of ports", kind.name()),
        )
        .hint("choose `flows`, or `nodes` for the flows that these hosts send"));
    }
    let messages = &traffic.messages;
    let ids = |fits: &dyn Fn(usize) -> bool| -> Vec<FlowId> {
        (0..messages.len()).filter(|i| fits(*i)).map(|i| FlowId::new(i as u32)).collect()
    };
    let mut chosen = Vec::new();
    let mut senders = vec![false; nodes.network().nodes.len()];
    for host in nodes.hosts(&spec.nodes, &key("nodes"))? {
        senders[host.index()] = true;
    }
    if !spec.nodes.is_empty() {
        chosen = ids(&|i| senders[messages[i].src.index()]);
    }
    for (index, selector) in spec.flows.iter().enumerate() {
        cancel::check();
        let key = || key(&format!("flows.{index}"));
        match selector {
            FlowSelector::Index(flow) if (*flow as usize) < messages.len() => {
                chosen.push(FlowId::new(*flow));
            }
            FlowSelector::Index(flow) => {
                return Err(ScenarioError::new(
                    key(),
                    format!("there is no flow {flow}; there are {}", messages.len()),
                ));
            }
            FlowSelector::Tag(tag) => {
                let Some(number) = traffic.tags.iter().position(|known| known == tag) else {
                    return Err(ScenarioError::new(key(), format!("no traffic has tag `{tag}`"))
                        .hint(known_words(tag, traffic.tags.iter().map(String::as_str))));
                };
                chosen.extend(ids(&|i| usize::from(messages[i].tag) == number));
            }
        }
    }
    if chosen.is_empty() {
        return Err(ScenarioError::new(key("flows"), "the probe selects nothing").hint(
            "choose `flows = [0, \"tag\"]`, or `nodes` for the flows that these hosts send",
        ));
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// A probe of a priority asks for what ports have by priority.
fn check_priority_of(
    spec: &ProbeSpec,
    kind: ProbeKind,
    key: &impl Fn(&str) -> String,
) -> Result<()> {
    match spec.priority {
        None => Ok(()),
        Some(_) if !kind.is_of_priorities() => {
            let why = format!("there is no {} of a priority", kind.name());
            Err(ScenarioError::new(key("priority"), why)
                .hint("a port has queue, input-queue and pause by priority"))
        }
        Some(priority) => check_priority(priority, || key("priority")),
    }
}

/// A probe's name becomes the name of a file.
fn check_name(name: &str, key: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.len() <= 100 && name.chars().all(fits) && !name.starts_with('.') {
        return Ok(());
    }
    Err(ScenarioError::new(key, format!("{name:?} cannot be the name of a series")).hint(
        "it becomes a file name: letters, digits, `_`, `-` and `.`, at most 100, no `.` first",
    ))
}
