//! What a reader of a result should know before trusting it.

use super::traces::recording_stopped;
use super::{EventOrder, idle_settings, marking_warnings, scheme_warnings};
use crate::unfinished;
use fabric::{
    Balance, ClassMarking, HostConfig, LossRule, Memory, Recovery, RecoveryMode, RunOutput, Setup,
    Span, WATCHDOG_DROPS, WATCHDOG_STORMS,
};
use model::{PauseRenewal, Watchdog};
use results::{FlowTable, Warning, WarningKind};
use scenario::{Headroom, NodeKind, PathNote, Scenario, Threshold};
use schemes::swift::FLOWS_BEYOND_TARGET;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, NodeId, Rate, Time};

/// The warnings of a run, those that cast doubt on its numbers first. `explicit_params`: of the
/// scheme's parameters none is a preset's.
pub(crate) fn collect(
    scenario: &Scenario,
    explicit_params: bool,
    setup: &Setup,
    output: &RunOutput,
    flows: &FlowTable,
    order: EventOrder,
) -> Vec<Warning> {
    use WarningKind::{Deadlock, LosslessDrops, Records, Retransmissions, Settings};
    let all = [
        (Deadlock, deadlocked(scenario, output)),
        (LosslessDrops, dropped(scenario, output, order)),
        (LosslessDrops, watchdog(scenario, output)),
        (Settings, beyond_target(output)),
        (Settings, less_than_bdp(scenario, output)),
        (Settings, waits_for_acks(scenario, output)),
        (Settings, finds_no_losses(scenario, output)),
        (Settings, after_the_end(scenario, output)),
        (Settings, faster_than_one_path(scenario, flows)),
        (Records, full(scenario, output)),
        (Records, many_tags(flows)),
        (Records, begins_late(scenario, output)),
        (Retransmissions, sent_for_nothing(scenario, output, flows)),
    ];
    let of_schemes = scheme_warnings::after_run(scenario, &output.flows, flows).into_iter();
    let all = all.into_iter().chain(of_schemes.map(|text| (Settings, Some(text))));
    let found = all.filter_map(|(kind, text)| Some(Warning { kind, text: text? }));
    let (doubts, others): (Vec<_>, Vec<_>) =
        found.partition(|warning| matches!(warning.kind, Deadlock | LosslessDrops));
    let (rtt, bdp) = (output.network_rtt, output.network_bdp);
    let of_settings = in_advance(scenario, explicit_params, setup, rtt, bdp)
        .into_iter()
        .map(|text| Warning { kind: Settings, text });
    let first = unfinished::warning(scenario, output, flows, order).into_iter();
    let all = first.chain(doubts).chain(of_settings).chain(others);
    all.map(|warning| order.advise(warning)).collect()
}

/// Returns the warnings about settings that need no run. `explicit_params`: of the scheme's
/// parameters none is a preset's. `network_rtt` and `network_bdp`: the largest of any pair of
/// hosts.
pub(crate) fn in_advance(
    scenario: &Scenario,
    explicit_params: bool,
    setup: &Setup,
    network_rtt: Time,
    network_bdp: Option<Bytes>,
) -> Vec<String> {
    let host_rates =
        if explicit_params { Vec::new() } else { scheme_warnings::several_host_rates(scenario) };
    let all = [
        spread_without_reorder(scenario),
        gap_is_no_loss(scenario),
        spray_learns_nothing(scenario),
        spread_and_paused(scenario),
        unprotected(scenario),
        data_before_acks(scenario),
    ];
    let of_marking = marking_warnings::in_advance(scenario, setup);
    let of_parameters = scheme_warnings::in_advance(scenario, network_rtt, network_bdp);
    let of_scheme = notes_on_scheme(scenario).chain(of_parameters);
    let idle = idle_settings::in_advance(scenario);
    all.into_iter()
        .flatten()
        .chain(host_rates)
        .chain(idle)
        .chain(of_marking)
        .chain(of_scheme)
        .collect()
}

/// More tags than the summary has statistics of.
fn many_tags(flows: &FlowTable) -> Option<String> {
    let (tags, max) = (flows.tags.len(), results::MAX_TAGS);
    (tags > max).then(|| {
        format!(
            "the summary has no statistics by tag: there are {tags} tags, and up to {max} have \
             them; group flows.parquet by its column tag, or give fewer tags"
        )
    })
}

/// Packets that PFC should have protected, and what was too small.
fn dropped(scenario: &Scenario, output: &RunOutput, order: EventOrder) -> Option<String> {
    let count = output.lossless_drops;
    let first = output.drops.first()?;
    let (name, at) = (scenario.network.name(first.node), scenario.network.node(first.node));
    let what = at.buffer.map_or("switch.buffer".to_owned(), |_| format!("the buffer of {name}"));
    let mend = match first.full {
        _ if links_lose(output) => "; links lost packets, and with them perhaps pauses",
        Memory::Headroom if scenario.pfc.headroom == Headroom::Auto => {
            match renewed_by_arrivals(scenario) {
                true => {
                    "; pauses end after pfc.pause_time however much is stored, and come again only \
                     with a packet that arrives"
                }
                false => "",
            }
        }
        Memory::Headroom if order == EventOrder::Ns3 => {
            "; leave out the order, and if packets are still dropped set pfc.headroom = \"auto\""
        }
        Memory::Headroom => {
            "; pfc.headroom holds less than arrives after a pause, \"auto\" is enough"
        }
        Memory::Buffer => &match scenario.pfc.threshold {
            Threshold::Static { .. } => {
                let has_own = scenario.pfc.of_class.iter().any(Option::is_some);
                let also = if has_own { " and those of [[classes.settings]]" } else { "" };
                format!(
                    "; {what} holds less than Xoff and headroom of all ports: enlarge it, or \
                     lower pfc.xoff{also}"
                )
            }
            Threshold::Dynamic { .. } => format!("; {what} is full: enlarge it"),
        },
        Memory::InputQueue => "; enlarge switch.input_queue",
        Memory::ReceiveBuffer => {
            "; its NIC's buffer ([[receiver]]) was full although it had paused its link: the \
             pause expired, or a watchdog ignored it"
        }
    };
    let packets = if count == 1 {
        "1 packet of a lossless class was"
    } else {
        &format!("{count} packets of lossless classes were")
    };
    let place = format!("the first at {name} at {:.3} us", first.time.as_secs_f64() * 1e6);
    Some(format!("{packets} dropped, {place}: PFC did not protect them{mend}"))
}

/// Whether switches pause their peers again only when more arrives.
fn renewed_by_arrivals(scenario: &Scenario) -> bool {
    let expiry = scenario.pfc.timing.expiry;
    expiry.is_some_and(|expiry| expiry.renewal == PauseRenewal::Arrivals)
}

/// Whether links damaged packets, or failed under some.
fn links_lose(output: &RunOutput) -> bool {
    output.ports.iter().any(|port| port.counters.lost_packets > 0)
}

/// What the schemes do not do well with the way in which packets are spread and recovered.
fn notes_on_scheme(scenario: &Scenario) -> impl Iterator<Item = String> {
    let mut notes: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    let mut found = scenario.notes_on_paths();
    let of_paths = |note: &PathNote| matches!(note.key, "routing.balance" | "host.spray");
    if found.iter().any(of_paths) && scenario.has_one_way() {
        found.retain(|note| !of_paths(note));
    }
    for PathNote { scheme, key, note } in found {
        match notes.iter_mut().find(|(known, _)| *known == (scheme, note)) {
            // Two parameter sets of one scheme have the same notes.
            Some((_, keys)) if keys.contains(&key) => {}
            Some((_, keys)) => keys.push(key),
            None => notes.push(((scheme, note), vec![key])),
        }
    }
    let notes = notes.into_iter();
    notes.map(|((scheme, note), keys)| {
        format!("{} with scheme {scheme}: {note}", keys.join(" and "))
    })
}

/// Receivers that discard what a path has overtaken.
fn spread_without_reorder(scenario: &Scenario) -> Option<String> {
    let key = scenario.spreading_key()?;
    (!scenario.host.recovery.keeps_out_of_order()).then(|| {
        format!(
            "{key} has packets overtake each other, and receivers discard what is out of order: \
             much is sent again; set host.recovery = \"selective-repeat\", or host.reorder"
        )
    })
}

/// Senders that take what is overtaken for lost.
fn gap_is_no_loss(scenario: &Scenario) -> Option<String> {
    let key = scenario.spreading_key()?;
    let recovery = &scenario.host.recovery;
    let at_once =
        recovery.mode == RecoveryMode::SelectiveRepeat && recovery.loss_after == LossRule::Gap;
    at_once.then(|| {
        format!(
            "{key} has packets overtake each other, and host.loss_after = \"gap\" takes each that \
             is overtaken for lost; duplicate_bytes counts what was sent for nothing"
        )
    })
}

/// Senders that avoid paths on which packets are marked, where nothing marks.
fn spray_learns_nothing(scenario: &Scenario) -> Option<String> {
    let blind = scenario.host.spray.learns() && !marks(scenario);
    (blind && !scenario.has_one_way()).then(|| {
        "host.spray has senders avoid paths on which packets are marked, and switches mark \
         nothing: slow paths get as much as others, or more; set ecn.enabled = true"
            .to_owned()
    })
}

/// Whether switches mark packets of some class.
pub(super) fn marks(scenario: &Scenario) -> bool {
    let mut classes = scenario.class_settings.iter();
    scenario.ecn.is_some()
        || classes.any(|class| matches!(class.marking, Some(ClassMarking::Law { .. })))
}

/// PFC pauses that hold all paths of a sprayed flow because of one.
fn spread_and_paused(scenario: &Scenario) -> Option<String> {
    let key = scenario.spreading_key()?;
    let blind = !matches!(scenario.balance, Balance::Adaptive { .. } | Balance::Drill { .. });
    let mut messages = scenario.messages.iter();
    let lossless =
        messages.any(|message| scenario.pfc.protects(&scenario.classes, message.priority));
    // Ports of a switch to switches of one tier are what a flow may have several paths through.
    let mut groups: BTreeMap<(NodeId, u8), Rate> = BTreeMap::new();
    let mut unequal = false;
    for link in &scenario.network.links {
        for (here, there) in [(link.a, link.b), (link.b, link.a)] {
            let [from, to] = [here, there].map(|node| scenario.network.node(node));
            if from.kind == NodeKind::Switch && to.kind == NodeKind::Switch {
                unequal |= *groups.entry((here, to.tier)).or_insert(link.rate) != link.rate;
            }
        }
    }
    (blind && lossless && unequal).then(|| {
        format!(
            "{key} gives each path the same share, and uplinks of a switch have several rates: \
             with PFC the slowest path may hold back the others; routing.balance = \"adaptive\" \
             avoids it"
        )
    })
}

/// Flows that PFC does not protect.
fn unprotected(scenario: &Scenario) -> Option<String> {
    let lossless = &scenario.classes.lossless;
    let messages = scenario.messages.iter();
    let count = messages.filter(|message| !lossless.contains(&message.priority)).count();
    (scenario.pfc.enabled && count > 0).then(|| {
        let flows =
            if count == 1 { "1 flow uses".to_owned() } else { format!("{count} flows use") };
        format!("{flows} a priority that PFC does not protect; see classes.lossless")
    })
}

/// ACKs that wait for all data of some class. What waits takes room that PFC counts on.
fn data_before_acks(scenario: &Scenario) -> Option<String> {
    let classes = &scenario.classes;
    let (ack, strict) = (classes.ack?, &classes.strict);
    let goes_first = |data: &u8| strict.contains(data) && (!strict.contains(&ack) || *data > ack);
    let messages = scenario.messages.iter().map(|message| message.priority);
    let first: BTreeSet<u8> = messages.filter(goes_first).collect();
    (!first.is_empty()).then(|| {
        let first: Vec<String> = first.iter().map(u8::to_string).collect();
        format!(
            "classes.strict has data of priority {} go before ACKs, whose priority is {ack}: \
             ACKs wait for all such data, and may fill buffers; give ACKs a priority above it \
             (classes.ack), and list that in classes.strict",
            first.join(", ")
        )
    })
}

/// Pauses that switches did not heed.
fn watchdog(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let Watchdog { detect, restore, .. } = scenario.pfc.timing.watchdog?;
    let count = |name| output.counters.get(name).copied().unwrap_or(0);
    let (storms, drops) = (count(WATCHDOG_STORMS), count(WATCHDOG_DROPS));
    (storms > 0).then(|| {
        let times = if storms == 1 { "once".to_owned() } else { format!("{storms} times") };
        let then = match drops {
            0 => "sent its packets in spite of the pause".to_owned(),
            1 => "dropped 1 packet of it".to_owned(),
            drops => format!("dropped {drops} packets of these"),
        };
        format!(
            "pfc.watchdog found a priority of a port paused for {detect} (detect) {times}, and \
             {then} in the {restore} (restore) that followed: that class was not lossless there"
        )
    })
}

/// QPs of Swift that starve on an empty path.
fn beyond_target(output: &RunOutput) -> Option<String> {
    let count = *output.counters.get(FLOWS_BEYOND_TARGET).filter(|count| **count > 0)?;
    let (has, these) = if count == 1 {
        ("1 QP has a path".to_owned(), "this is")
    } else {
        (format!("{count} QPs have paths"), "these are")
    };
    Some(format!(
        "{has} with a round trip above Swift's target: however empty {these}, every delay is too \
         long; raise base_target or per_hop"
    ))
}

/// Paths that are too long for what a sender may have in flight to a receiver that keeps data.
fn less_than_bdp(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let (recovery, payload) = (&scenario.host.recovery, u64::from(scenario.wire.payload));
    let bdp = output.network_bdp.filter(|_| recovery.keeps_out_of_order())?;
    let least = Bytes::new(u64::from(Recovery::MAX_PACKETS) * payload);
    if bdp > least {
        return Some(format!(
            "the longest path holds {bdp}, and where receivers keep data that is out of order at \
             most {} packets ({least}) are in flight: one flow cannot fill it; raise \
             wire.payload, or leave host.recovery and host.reorder out",
            Recovery::MAX_PACKETS
        ));
    }
    let kept = match recovery.reorder {
        Span::Packets(packets) => Bytes::new(u64::from(packets) * payload),
        Span::Bytes(bytes) => bytes,
        Span::Bdp | Span::Unlimited => return None,
    };
    (recovery.mode == RecoveryMode::SelectiveRepeat && kept < bdp).then(|| {
        format!(
            "the longest path holds {bdp}, receivers keep {kept} ahead of a gap (host.reorder), \
             and with selective repeat senders go no further: one flow cannot fill it; raise \
             host.reorder, or set it to \"bdp\""
        )
    })
}

/// A limit of what is in flight that has a sender wait for each ACK for several packets.
fn waits_for_acks(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let (host, payload) = (&scenario.host, u64::from(scenario.wire.payload));
    let is_limited = host.recovery.max_in_flight == Span::Bdp && host.ack_every > 1;
    let bdp = output.network_bdp.filter(|_| is_limited)?;
    let enough = bdp.get().div_ceil(payload) + u64::from(host.ack_every);
    Some(format!(
        "host.in_flight is what the longest path holds, and an ACK is for {} packets \
         (host.ack_every): one flow waits for ACKs and cannot fill that path; set \
         host.ack_every = 1, or host.in_flight = {enough}",
        host.ack_every
    ))
}

/// Flows whose packets took several paths, and that were faster than one path allows.
fn faster_than_one_path(scenario: &Scenario, flows: &FlowTable) -> Option<String> {
    scenario.spreading_key()?;
    let faster = |row: &usize| flows.slowdown(*row).is_some_and(|slowdown| slowdown < 1.0 - 1e-9);
    let count = (0..flows.len()).filter(faster).count();
    let (flows, their) = if count == 1 { ("flow has", "its") } else { ("flows have", "their") };
    (count > 0).then(|| {
        format!(
            "{count} {flows} a slowdown below 1: it compares with the ideal time on one path, and \
             {their} packets took several at once"
        )
    })
}

/// Probes and traces that stopped before the run did.
fn full(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let from = recording_stopped(&output.outcome)?;
    Some(match &output.spill_error {
        Some(error) => format!("probes and traces recorded nothing from {from} on: {error}"),
        None => format!(
            "probes and traces recorded nothing from {from} on, as there is room for {} samples \
             only; sample less often, for a shorter time, or at fewer places, or raise \
             run.max_samples",
            scenario.run.max_samples
        ),
    })
}

/// Traces that begin after the end; series say themselves that they have no rows.
fn begins_late(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let (start, end) = (scenario.trace.start, output.outcome.end);
    // Nothing happens at the end itself.
    (scenario.trace.is_enabled() && start >= end)
        .then(|| format!("the trace is empty: it begins at {start}, and the run ended at {end}"))
}

/// A rule for losses that a limit of what is in flight keeps from finding any.
fn finds_no_losses(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let recovery = &scenario.host.recovery;
    let payload = u64::from(scenario.wire.payload);
    let in_flight = match recovery.max_in_flight {
        Span::Unlimited => return None,
        Span::Packets(packets) => Bytes::new(u64::from(packets) * payload),
        Span::Bytes(bytes) => bytes,
        Span::Bdp => output.network_bdp?,
    };
    let fastest = scenario.network.host_rates().max()?;
    let rule = match recovery.loss_after {
        LossRule::After(time) if time >= fastest.time_for(in_flight) => time.to_string(),
        LossRule::Span(Span::Packets(packets))
            if Bytes::new(u64::from(packets) * payload) >= in_flight =>
        {
            format!("{packets} packets")
        }
        LossRule::Span(Span::Bdp) if recovery.max_in_flight == Span::Bdp => "\"bdp\"".to_owned(),
        _ => return None,
    };
    (recovery.mode == RecoveryMode::SelectiveRepeat).then(|| {
        format!(
            "host.loss_after, {rule}, is too long for host.in_flight: after a loss a sender has \
             at most {in_flight} in flight and then waits, so that timeouts alone find losses; \
             lower it, or raise host.in_flight"
        )
    })
}

/// Links and hosts that change after the end.
fn after_the_end(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let end = output.outcome.end;
    let late = changes_from(scenario, end)?;
    Some(format!("{late} begins after the run ended, at {end}, and had no effect"))
}

/// The tables of which an entry changes a link or host at `end` or later.
pub(crate) fn changes_from(scenario: &Scenario, end: Time) -> Option<String> {
    let is_late = |from: Time| from >= end;
    let failures = scenario.outages.iter().any(|one| is_late(one.from))
        || scenario.impairments.iter().any(|one| is_late(one.from));
    let receivers = scenario.slow_receivers.iter().any(|one| is_late(one.from));
    let tables = [("[[failure]]", failures), ("[[receiver]]", receivers)];
    let late: Vec<_> = tables.into_iter().filter_map(|(name, late)| late.then_some(name)).collect();
    (!late.is_empty()).then(|| late.join(" or "))
}

/// Data sent again though nothing was lost.
fn sent_for_nothing(scenario: &Scenario, output: &RunOutput, flows: &FlowTable) -> Option<String> {
    let dropped = output.ports.iter().any(|port| port.counters.dropped_packets > 0);
    let again: u64 = flows.retransmitted_bytes.iter().sum();
    if again == 0 || dropped || links_lose(output) {
        return None;
    }
    let (host, recovery) = (&scenario.host, &scenario.host.recovery);
    if output.out_of_order == 0 {
        return Some(format!(
            "{again} bytes were sent again though nothing was lost: ACKs take longer than {}",
            timeouts(host)
        ));
    }
    if spread_without_reorder(scenario).or(gap_is_no_loss(scenario)).is_some() {
        return None;
    }
    let of_flows = || output.recovery.iter().map(|(_, met)| met);
    let discarded: u64 = of_flows().map(|met| u64::from(met.discarded_packets)).sum();
    let expired: u64 = of_flows().map(|met| u64::from(met.timeouts)).sum();
    let mut why = Vec::new();
    if discarded > 0 {
        let mend = match recovery.keeps_out_of_order() {
            true => "further ahead of a gap than host.reorder; raise it",
            false => "out of order; set host.recovery = \"selective-repeat\", or host.reorder",
        };
        let packets = match discarded {
            1 => "1 packet that was".to_owned(),
            _ => format!("{discarded} packets that were"),
        };
        why.push(format!("receivers discarded {packets} {mend}"));
    }
    let is_selective = recovery.mode == RecoveryMode::SelectiveRepeat;
    if is_selective && recovery.loss_after != LossRule::Timeout {
        why.push(
            "senders took packets that others overtook for lost; raise host.loss_after, or set it \
             to \"timeout\""
                .to_owned(),
        );
    }
    if expired > 0 {
        let times = if expired == 1 { "once" } else { &format!("{expired} times") };
        why.push(format!("{times} an ACK took longer than {}", timeouts(host)));
    }
    if why.is_empty() {
        why.push("packets overtook each other".to_owned());
    }
    Some(format!("{again} bytes were sent again though nothing was lost: {}", why.join("; ")))
}

/// The keys of the timeouts, with their values.
fn timeouts(host: &HostConfig) -> String {
    match host.recovery.mode {
        RecoveryMode::GoBackN => {
            format!("host.retransmit_timeout, which is {}", host.retransmit_timeout)
        }
        RecoveryMode::SelectiveRepeat => {
            let Recovery { rto_low, rto_high, .. } = host.recovery;
            let timeouts = [("host.rto_low", rto_low), ("host.rto_high", rto_high)];
            let finite = timeouts.iter().filter(|(_, after)| *after != Time::NEVER);
            let words = finite.map(|(key, after)| format!("{key}, which is {after}"));
            words.collect::<Vec<_>>().join(", or ")
        }
    }
}

/// Links that PFC pauses in a circle.
fn deadlocked(scenario: &Scenario, output: &RunOutput) -> Option<String> {
    let (circle, since) = output.deadlock.as_ref()?;
    let name = |node: &NodeId| scenario.network.name(*node);
    let names: Vec<&str> = circle.iter().chain(circle.first()).map(name).collect();
    Some(format!(
        "deadlock: PFC pauses links in a circle, all of them from {:.1} us to the end: {}",
        since.as_secs_f64() * 1e6,
        names.join(" > ")
    ))
}
