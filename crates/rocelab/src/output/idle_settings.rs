//! Settings of paths, receivers, failures and classes that have no effect in this network, or
//! another one than one may expect.

use super::warnings::marks;
use fabric::{Balance, Impairment, PortUse, SlowReceiver, Spray};
use scenario::spec::{SwitchSpec, TrafficSpec};
use scenario::{Classes, NodeKind, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use units::{NodeId, Rate, Time};

/// The warnings that are known before a run.
pub(super) fn in_advance(scenario: &Scenario) -> impl Iterator<Item = String> {
    let all = [
        one_path(scenario),
        computes_never(scenario),
        one_entropy(scenario),
        never_busy(scenario),
        unequal_ports(scenario),
        receives_nothing(scenario),
        fast_receivers(scenario),
        same_error_rate(scenario),
        unused_class(scenario),
        unused_share(scenario),
        unused_buffer(scenario),
        unused_thresholds(scenario),
        unused_rate(scenario),
        unused_weight(scenario),
        unused_scheme(scenario),
        no_messages(scenario),
    ];
    all.into_iter().flatten()
}

/// Traffic that sends nothing beside other that does.
fn no_messages(scenario: &Scenario) -> Option<String> {
    let empty: Vec<_> =
        scenario.empty_traffic.iter().map(|index| format!("traffic.{index}")).collect();
    (!empty.is_empty() && !scenario.messages.is_empty()).then(|| {
        format!(
            "{} {} no message to send: a list may be empty, or a time or load too small",
            empty.join(" and "),
            has(&empty)
        )
    })
}

/// Ways to spread packets where there is nothing to choose.
fn one_path(scenario: &Scenario) -> Option<String> {
    let mut keys = Vec::new();
    if scenario.balance != Balance::Ecmp {
        keys.push("routing.balance");
    }
    if scenario.host.spray != Spray::Off {
        keys.push("host.spray");
    }
    (!keys.is_empty() && scenario.has_one_way()).then(|| {
        format!(
            "{} {} no effect: switches have one way to each host; leave it out",
            keys.join(" and "),
            has(&keys)
        )
    })
}

/// A time between repetitions of a collective operation that is done once.
fn computes_never(scenario: &Scenario) -> Option<String> {
    let idle = |traffic: &TrafficSpec| {
        matches!(traffic, TrafficSpec::Collective(spec)
            if spec.repeat == 1 && spec.compute_time.0 > Time::ZERO)
    };
    let index = scenario.spec().traffic.iter().position(idle)?;
    Some(format!(
        "traffic.{index}.compute_time has no effect: hosts compute between one time and the next, \
         and traffic.{index}.repeat is 1; for a time before it begins give `start`, or \
         `after_delay` with `after`"
    ))
}

/// Spraying with one entropy value.
fn one_entropy(scenario: &Scenario) -> Option<String> {
    (scenario.host.spray != Spray::Off && scenario.host.entropies == 1).then(|| {
        "host.spray has no effect: with host.entropies = 1 all packets of a queue pair take one \
         path; give more"
            .to_owned()
    })
}

/// ConWeave avoids paths on which packets are marked, where nothing marks.
fn never_busy(scenario: &Scenario) -> Option<String> {
    (matches!(scenario.balance, Balance::ConWeave(_)) && !marks(scenario)).then(|| {
        "routing.balance = \"conweave\" takes paths for busy on which packets are marked, and \
         switches mark nothing: any path is drawn, and routing.conweave.path_busy has no effect; \
         set ecn.enabled = true"
            .to_owned()
    })
}

/// Packets that take turns over ports of several rates.
fn unequal_ports(scenario: &Scenario) -> Option<String> {
    if scenario.host.ports != PortUse::Spray {
        return None;
    }
    let network = &scenario.network;
    let mut rates: BTreeMap<NodeId, (Rate, Rate)> = BTreeMap::new();
    for link in &network.links {
        for host in [link.a, link.b] {
            if network.node(host).kind == NodeKind::Host {
                let (low, high) = rates.entry(host).or_insert((link.rate, link.rate));
                (*low, *high) = ((*low).min(link.rate), (*high).max(link.rate));
            }
        }
    }
    let (host, (low, high)) = rates.into_iter().find(|(_, (low, high))| low < high)?;
    Some(format!(
        "host.ports = \"spray\" gives each port of a host the same share, and {} has ports of \
         {low} to {high}: a flow has no more of each than the slowest carries, which may be less \
         than the fastest port alone has",
        network.name(host)
    ))
}

/// Slow receivers to which nobody sends.
fn receives_nothing(scenario: &Scenario) -> Option<String> {
    let receivers: BTreeSet<NodeId> = scenario.messages.iter().map(|one| one.dst).collect();
    let idle = |one: &&SlowReceiver| !receivers.contains(&one.host);
    named(scenario, scenario.slow_receivers.iter().filter(idle)).map(|names| {
        format!("[[receiver]] has no effect at {names}: there is no message to receive")
    })
}

/// Slow receivers that are no slower than their links.
fn fast_receivers(scenario: &Scenario) -> Option<String> {
    let rates = scenario.network.node_rates();
    let is_fast = |one: &&SlowReceiver| {
        // With a lower Xoff a single packet has it pause.
        one.rate >= rates[one.host.index()] && one.xoff > scenario.wire.above_full_packet()
    };
    named(scenario, scenario.slow_receivers.iter().filter(is_fast)).map(|names| {
        format!("[[receiver]] has no effect at {names}: its rate is not below that of the links")
    })
}

/// The verb of what has no effect.
pub(super) fn has<T>(keys: &[T]) -> &'static str {
    if keys.len() == 1 { "has" } else { "have" }
}

/// The first hosts of some slow receivers.
fn named<'a>(scenario: &Scenario, some: impl Iterator<Item = &'a SlowReceiver>) -> Option<String> {
    const MOST: usize = 3;
    let mut names: Vec<&str> = some.map(|one| scenario.network.name(one.host)).collect();
    // A host may be slow at several times.
    names.dedup();
    let shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    Some(match names.len() {
        0 => return None,
        count if count <= MOST => shown,
        count if count == MOST + 1 => format!("{shown} and 1 more host"),
        count => format!("{shown} and {} more hosts", count - MOST),
    })
}

/// Links that a failure leaves as they are.
fn same_error_rate(scenario: &Scenario) -> Option<String> {
    let network = &scenario.network;
    let changes_nothing = |one: &&Impairment| {
        one.rate.is_none() && one.error_rate == Some(network.links[one.link as usize].error_rate)
    };
    let found = scenario.impairments.iter().find(changes_nothing)?;
    let link = &network.links[found.link as usize];
    Some(format!(
        "[[failure]] has no effect at {}:{}: its error_rate is that which the link has anyway",
        network.name(link.a),
        network.name(link.b)
    ))
}

/// Settings of classes that carry nothing which they are for.
fn unused_class(scenario: &Scenario) -> Option<String> {
    if scenario.messages.is_empty() {
        return None;
    }
    let has_data = |priority| scenario.messages.iter().any(|one| one.priority == priority);
    let has_packets = |priority| {
        let Classes { ack, control, .. } = scenario.classes;
        has_data(priority) || [ack, Some(control)].contains(&Some(priority))
    };
    let mut idle = scenario.class_settings.iter().filter_map(|one| {
        let priority = one.priority;
        let has_threshold = scenario.pfc.of_class[usize::from(priority)].is_some();
        let given = [
            ("ecn", one.marking.is_some() && !has_data(priority)),
            ("pfc", has_threshold && !has_packets(priority)),
            ("lossy_alpha", one.lossy_alpha.is_some() && !has_data(priority)),
        ];
        let keys: Vec<&str> = given.iter().filter(|(_, idle)| *idle).map(|(key, _)| *key).collect();
        (!keys.is_empty()).then_some((priority, keys))
    });
    let (priority, keys) = idle.next()?;
    Some(format!(
        "{} in [[classes.settings]] of priority {priority} {} no effect: no message has this \
         priority",
        keys.join(" and "),
        has(&keys)
    ))
}

/// A share of the buffer for data without PFC, where all has PFC.
fn unused_share(scenario: &Scenario) -> Option<String> {
    let Scenario { network, messages, pfc, classes, .. } = scenario;
    scenario.switch.lossy_alpha?;
    let all_protected = network.links.iter().all(|link| link.pfc)
        && messages.iter().all(|one| pfc.protects(classes, one.priority));
    (all_protected && !messages.is_empty()).then(|| {
        "switch.lossy_alpha has no effect: it is for data that PFC does not protect, and PFC \
         protects all messages"
            .to_owned()
    })
}

/// The size of a buffer that switches do not have.
fn unused_buffer(scenario: &Scenario) -> Option<String> {
    scenario.switch.cioq?;
    let is_default = scenario.switch.buffer == SwitchSpec::default().buffer.0;
    let network = &scenario.network;
    let what = match network.ids().find(|&id| network.node(id).buffer.is_some()) {
        Some(id) => format!("the buffer that {} has of its own", network.name(id)),
        None if !is_default => "switch.buffer".to_owned(),
        None => return None,
    };
    Some(format!(
        "{what} has no effect: CIOQ switches have a memory for each port, switch.input_queue and \
         switch.output_queue"
    ))
}

/// Thresholds that are given though nothing pauses.
fn unused_thresholds(scenario: &Scenario) -> Option<String> {
    // Files of the HPCC simulator have thresholds whether or not they enable PFC.
    if !scenario.quirks.is_native() {
        return None;
    }
    let keys = scenario.unused_thresholds();
    let which = if keys.len() == 1 { "key" } else { "keys" };
    let why = match scenario.pfc.enabled {
        false => "pfc.enabled is false; set it to true",
        true => "classes.lossless is empty; name priorities there",
    };
    (!keys.is_empty()).then(|| {
        let (keys, has) = (keys.join(" and "), has(&keys));
        format!("{keys} {has} no effect: {why}, or leave the {which} out")
    })
}

/// Marking thresholds for a rate that no port of a switch has.
fn unused_rate(scenario: &Scenario) -> Option<String> {
    let ecn = scenario.ecn.as_ref().filter(|_| scenario.quirks.is_native())?;
    let network = &scenario.network;
    let is_switch = |node: NodeId| network.node(node).kind == NodeKind::Switch;
    let has_port = |rate: Rate| {
        let mut links = network.links.iter().filter(|link| link.rate == rate);
        links.any(|link| is_switch(link.a) || is_switch(link.b))
    };
    let unused = ecn.by_rate.iter().map(|(rate, ..)| rate).filter(|rate| !has_port(**rate));
    let unused: Vec<String> = unused.map(Rate::to_string).collect();
    (!unused.is_empty()).then(|| {
        format!("ecn.by_rate for {} has no effect: no switch has such a port", unused.join(" and "))
    })
}

/// The weight of a priority that has none, as it always goes first.
fn unused_weight(scenario: &Scenario) -> Option<String> {
    let classes = &scenario.classes;
    let by_strict = |strict: bool| {
        let all = (0u8..).zip(classes.weights);
        all.filter(move |(priority, _)| classes.strict.contains(priority) == strict)
    };
    let is_meant = |weight| weight != 1 && by_strict(false).all(|(_, other)| other != weight);
    let (priority, _) = by_strict(true).find(|&(_, weight)| is_meant(weight))?;
    Some(format!(
        "classes.weights.{priority} has no effect: classes.strict has priority {priority} go \
         before all that share by weight; take it from classes.strict, or leave the weight at 1"
    ))
}

/// A scheme of a run with two that no message has.
fn unused_scheme(scenario: &Scenario) -> Option<String> {
    let also = scenario.also.as_ref()?;
    let first = scenario.messages.first()?;
    scenario.messages.iter().all(|one| one.side == first.side).then(|| {
        format!(
            "scheme {} has no effect: all messages have that of [[scheme.also]], {}",
            scenario.scheme.info.name, also.scheme.info.name
        )
    })
}
