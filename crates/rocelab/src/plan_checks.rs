//! What a scenario's buffers and thresholds come to, and what a run would warn about.

use crate::memory::{self, Use};
use crate::output::{changes_from, warnings_in_advance};
use fabric::{
    BufferCycle, EcnConfig, Headroom, PortLoad, Setup, SwitchBuffer, sufficient_headroom,
};
use results::{BufferRow, MarkingRow, PlanChecks};
use scenario::{NodeKind, Scenario, Stop};
use std::collections::BTreeSet;
use units::{Bytes, NodeId, Rate, Time};

/// A port must carry this many messages before its load is one of a long time.
const MIN_MESSAGES: u32 = 20;

/// Buffers, thresholds and warnings of a planned run. `earliest_starts`: of messages, in ps.
pub(crate) fn plan_checks(
    scenario: &Scenario,
    setup: &Setup,
    plan: &fabric::Plan,
    earliest_starts: &[u64],
) -> PlanChecks {
    let rtt = plan.paths.iter().map(|path| path.base_rtt).max().unwrap_or(Time::ZERO);
    let name = |node: NodeId| scenario.network.name(node).to_owned();
    let (cycle, span) = (plan.cycle.as_ref(), span(scenario));
    let own = [
        never_sent(scenario, earliest_starts),
        without_effect(scenario),
        cycle.map(|cycle| cyclic(scenario, cycle)),
        too_full(scenario, setup, &plan.buffers),
        short_headroom(scenario, setup, plan.longest_packet),
        marks_late(setup, &plan.buffers),
        span.and_then(|span| overloaded(scenario, &plan.ports, span)),
    ];
    let of_run = warnings_in_advance(scenario, false, setup, plan.network_rtt, plan.network_bdp);
    PlanChecks {
        span_ps: span.map(Time::ps),
        packet_hops: plan.packet_hops,
        window_ps: plan.window.ps(),
        memory_bytes: memory::estimate(scenario, Use::Run).total(),
        buffers: buffer_rows(scenario, setup, &plan.buffers),
        marking: marking_rows(scenario, setup, rtt),
        buffer_cycle: cycle.map_or(Vec::new(), |one| one.nodes.iter().copied().map(name).collect()),
        warnings: own.into_iter().flatten().chain(of_run).collect(),
    }
}

/// The buffers of switches, those with equal numbers in one row, by tier.
fn buffer_rows(scenario: &Scenario, setup: &Setup, buffers: &[SwitchBuffer]) -> Vec<BufferRow> {
    let mut rows: Vec<BufferRow> = Vec::new();
    for (one, (priority, threshold)) in
        buffers.iter().flat_map(|one| thresholds(setup, one).into_iter().map(move |of| (one, of)))
    {
        let bytes = |bytes: Option<Bytes>| bytes.map(Bytes::get);
        let row = BufferRow {
            tier: scenario.network.node(one.node).tier,
            switches: 1,
            first: String::new(),
            buffer_bytes: one.buffer.get(),
            reserved_bytes: one.reserved.get(),
            max_headroom_bytes: one.max_headroom.get(),
            lossless_ingresses: one.lossless_ingresses,
            priority,
            pause_threshold_bytes: bytes(threshold),
            priorities: match priority {
                Some(own) => vec![own],
                None => {
                    let lossless = setup.pfc.lossless_priorities();
                    lossless.filter(|&one| !has_own_threshold(setup, one)).collect()
                }
            },
            is_fixed: one.is_fixed,
            needed_bytes: bytes(one.needed()),
        };
        let like = |other: &&mut BufferRow| {
            let (switches, first) = (1, String::new());
            BufferRow { switches, first, ..(**other).clone() } == row
        };
        match rows.iter_mut().find(like) {
            Some(known) => known.switches += 1,
            None => {
                let first = scenario.network.name(one.node).to_owned();
                rows.push(BufferRow { first, ..row });
            }
        }
    }
    rows.sort_by_key(|row| row.tier);
    rows
}

fn has_own_threshold(setup: &Setup, priority: u8) -> bool {
    setup.pfc.of_class[usize::from(priority)].is_some()
}

/// The pause threshold of a switch for the priorities that have none of their own (`None`), if
/// there are any, and for those that do.
fn thresholds(setup: &Setup, buffer: &SwitchBuffer) -> Vec<(Option<u8>, Option<Bytes>)> {
    let lossless = setup.pfc.lossless_priorities();
    let (own, others): (Vec<u8>, Vec<u8>) =
        lossless.partition(|&priority| has_own_threshold(setup, priority));
    let at = |priority: u8| buffer.pause_thresholds[usize::from(priority)];
    let usual = others.iter().filter_map(|&priority| at(priority)).min();
    let of_others = (!others.is_empty() || own.is_empty()).then_some((None, usual));
    of_others.into_iter().chain(own.into_iter().map(|one| (Some(one), at(one)))).collect()
}

/// How switches mark: all priorities (`None`), and those with marking of their own.
fn markings(setup: &Setup) -> Vec<(Option<u8>, EcnConfig)> {
    let of_all = setup.ecn.iter().map(|ecn| (None, ecn.clone()));
    let own = setup.class_settings.iter().filter_map(|class| {
        EcnConfig::of_class(class).map(|marking| (Some(class.priority), marking))
    });
    of_all.chain(own).collect()
}

fn marking_rows(scenario: &Scenario, setup: &Setup, rtt: Time) -> Vec<MarkingRow> {
    let markings = markings(setup);
    if markings.iter().all(|(_, marking)| marking.is_off()) {
        return Vec::new();
    }
    let is_switch = |node: NodeId| scenario.network.node(node).kind == NodeKind::Switch;
    let of_switches = setup.links.iter().filter(|link| is_switch(link.a) || is_switch(link.b));
    let rates: BTreeSet<Rate> = of_switches.map(|link| link.rate).collect();
    let row = |rate: Rate, (priority, marking): &(Option<u8>, EcnConfig)| {
        let law = (!marking.is_off()).then(|| marking.law_at(rate));
        MarkingRow {
            rate_bps: rate.bps(),
            priority: *priority,
            kmin_bytes: law.map(|law| law.kmin.get()),
            kmax_bytes: law.map(|law| law.kmax.get()),
            pmax: law.map(|law| law.pmax),
            bdp_bytes: rate.bytes_in(rtt).get(),
        }
    };
    let of_rate = |rate: Rate| markings.iter().map(move |one| row(rate, one));
    rates.into_iter().flat_map(of_rate).collect()
}

/// When the run ends at the latest, and the key that says so.
fn latest_end(scenario: &Scenario) -> (Time, &'static str) {
    match scenario.run.stop {
        Stop::FlowsDone => (scenario.run.time_limit, "run.time_limit"),
        Stop::At(stop) => (stop, "run.stop"),
    }
}

/// Messages that start when the run has ended. Nothing happens at the end itself.
fn never_sent(scenario: &Scenario, earliest_starts: &[u64]) -> Option<String> {
    let (end, key) = latest_end(scenario);
    let count = earliest_starts.iter().filter(|&&start| start >= end.ps()).count();
    let (verb, they) = if count == 1 { ("starts", "it") } else { ("start", "them") };
    (count > 0).then(|| {
        format!(
            "{count} of {} messages {verb} only when the run has ended, at {key} = {end}, and a \
             run sends nothing of {they}; the numbers here count {they}; raise {key}, or let \
             messages start earlier",
            earliest_starts.len()
        )
    })
}

/// Links and hosts that change when the run has ended.
fn without_effect(scenario: &Scenario) -> Option<String> {
    let (end, key) = latest_end(scenario);
    let late = changes_from(scenario, end)?;
    Some(format!("{late} begins only when the run has ended, at {key} = {end}, and has no effect"))
}

/// A circle of links that can pause each other.
fn cyclic(scenario: &Scenario, cycle: &BufferCycle) -> String {
    let names: Vec<&str> = cycle.nodes.iter().map(|&node| scenario.network.name(node)).collect();
    format!(
        "cyclic buffer dependency in priority {}: {} -> {}: PFC can deadlock; set routing.paths = \
         \"spanning-trees\" and routing.trees = 1, or pfc.enabled = false",
        cycle.priority,
        names.join(" -> "),
        names[0]
    )
}

/// Fixed thresholds that the buffer cannot hold at all ports at once.
fn too_full(scenario: &Scenario, setup: &Setup, buffers: &[SwitchBuffer]) -> Option<String> {
    let short = |one: &&SwitchBuffer| one.needed().is_some_and(|needed| needed > one.buffer);
    let worst = buffers.iter().filter(short).max_by_key(|one| one.needed())?;
    let others = buffers.iter().filter(short).count() - 1;
    let also = match others {
        0 => String::new(),
        1 => " (and 1 switch more)".to_owned(),
        more => format!(" (and {more} switches more)"),
    };
    let room = worst.buffer.get().saturating_sub(worst.reserved.get());
    let fits = Bytes::new(room / u64::from(worst.lossless_ingresses.max(1)));
    let (reach, lower) = match thresholds(setup, worst)[..] {
        [(None, Some(xoff))] => (format!("pfc.xoff = {xoff}"), format!("pfc.xoff to {fits}")),
        _ => (
            "their xoff".to_owned(),
            format!("pfc.xoff and those of [[classes.settings]] to {fits} on average"),
        ),
    };
    let raise = match scenario.network.node(worst.node).buffer {
        Some(_) => "its own buffer (topology.external_buffer, or `buffer` of a node)",
        None => "switch.buffer",
    };
    Some(format!(
        "{}{also}: its buffer of {} is full before all of its {} ingresses reach {reach}: with {} \
         of headroom they take {}, and packets that PFC protects can be dropped; raise {raise} to \
         that, or lower {lower}",
        scenario.network.name(worst.node),
        worst.buffer,
        worst.lossless_ingresses,
        worst.reserved,
        worst.needed()?,
    ))
}

/// A given headroom that holds less than what arrives at a port after it has paused its peer.
fn short_headroom(scenario: &Scenario, setup: &Setup, longest: Bytes) -> Option<String> {
    let Headroom::Fixed(given) = setup.pfc.headroom else { return None };
    if setup.pfc.lossless == 0 {
        return None;
    }
    let is_switch = |node: NodeId| scenario.network.node(node).kind == NodeKind::Switch;
    let ports = setup.links.iter().filter(|link| link.pfc).flat_map(|link| {
        let needed = sufficient_headroom(setup, link.rate, link.delay, longest);
        [(link.a, link.b), (link.b, link.a)].map(|(node, peer)| (needed, node, peer))
    });
    let short = ports.filter(|&(needed, node, _)| is_switch(node) && needed > given);
    let (needed, node, peer) = short.max_by_key(|&(needed, ..)| needed)?;
    let name = |node| scenario.network.name(node);
    Some(format!(
        "pfc.headroom = {given} is less than {needed}, which may arrive at {} from {} after a \
         pause: packets that PFC protects can be dropped; raise it to that, or set \"auto\"",
        name(node),
        name(peer),
    ))
}

/// A threshold at which an ingress pauses its peer before its packets alone are marked. A dynamic
/// one is that of an empty buffer, its largest.
fn marks_late(setup: &Setup, buffers: &[SwitchBuffer]) -> Option<String> {
    let markings = markings(setup);
    let of = |priority: u8| {
        let own = markings.iter().find(|(of, _)| *of == Some(priority));
        own.or_else(|| markings.iter().find(|(of, _)| of.is_none()))
    };
    let late = (0..8).filter_map(|priority: u8| {
        let at = |one: &SwitchBuffer| one.pause_thresholds[usize::from(priority)];
        let threshold = buffers.iter().filter_map(at).min()?;
        let (own, law) = of(priority).filter(|(_, law)| !law.is_off())?;
        let at_rates = setup.links.iter().map(|link| (law.law_at(link.rate).kmin, link.rate));
        let (kmin, rate) = at_rates.max()?;
        (kmin >= threshold).then_some((kmin, rate, priority, own.is_some(), threshold))
    });
    let (kmin, rate, priority, marks_alone, threshold) = late.max()?;
    let pauses_alone = has_own_threshold(setup, priority);
    let of = if marks_alone || pauses_alone {
        format!(" of priority {priority}")
    } else {
        String::new()
    };
    let is_fixed = buffers.iter().any(|one| one.is_fixed);
    let (at, mend_xoff) = match (is_fixed, pauses_alone) {
        (true, false) => (format!("pfc.xoff = {threshold}"), "pfc.xoff"),
        (true, true) => (format!("its xoff = {threshold}"), "pfc.xoff in its [[classes.settings]]"),
        (false, false) => (format!("{threshold} at most"), "pfc.alpha or switch.buffer"),
        (false, true) => (
            format!("{threshold} at most"),
            "switch.buffer, or pfc.alpha in its [[classes.settings]]",
        ),
    };
    let (key, mend_marks) = if marks_alone {
        ("its kmin", "ecn.kmin and ecn.kmax in its [[classes.settings]]")
    } else {
        ("ecn.kmin", "ecn.kmin and ecn.kmax")
    };
    Some(format!(
        "PFC acts before ECN: an ingress{of} pauses its peer at {at}, and a queue{of} at a port of \
         {rate} is marked from {key} = {kmin} on; raise {mend_xoff}, or lower {mend_marks}"
    ))
}

/// The time from the start of the first message to that of the last. `None` if all start at once,
/// and where messages wait for others that wait, too: these come only as fast as the network
/// carries them.
fn span(scenario: &Scenario) -> Option<Time> {
    let messages = &scenario.messages;
    let starts = || messages.iter().map(|message| message.start);
    let span = starts().max()? - starts().min()?;
    let waits = |message: u32| messages[message as usize].after.is_some();
    let is_closed = scenario.joins.awaited.iter().any(|one| waits(one.message));
    (span > Time::ZERO && !is_closed).then_some(span)
}

/// Links that are asked for more than they carry in the `span` in which messages arrive.
fn overloaded(scenario: &Scenario, ports: &[PortLoad], span: Time) -> Option<String> {
    let over =
        || ports.iter().filter(|port| port.messages >= MIN_MESSAGES && port.busy_time() > span);
    let worst = over().max_by_key(|port| port.busy_time())?;
    let count = over().count();
    let (ports, are) = if count == 1 { ("port", "is") } else { ("ports", "are") };
    let name = |node| scenario.network.name(node);
    Some(format!(
        "{count} {ports} with {MIN_MESSAGES} messages or more {are} overloaded: {} to {} has a \
         load of {:.0} % from the first message to the last, headers and ACKs included, so queues \
         grow as long as messages arrive; lower the load",
        name(worst.node),
        name(worst.peer),
        100.0 * worst.busy_time().as_secs_f64() / span.as_secs_f64(),
    ))
}
