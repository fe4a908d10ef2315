//! The warning that flows are unfinished: how many, why, and what finishes them.

use crate::hpcc_ns3::UNACKNOWLEDGED;
use crate::output::EventOrder;
use fabric::{RecoveryMode, RunOutput};
use results::{FlowTable, Unfinished, Warning, WarningKind};
use scenario::{NodeKind, Paths, Scenario, Stop};
use units::{Rate, Time};

/// The warning, where flows are unfinished.
pub(crate) fn warning(
    scenario: &Scenario,
    output: &RunOutput,
    flows: &FlowTable,
    order: EventOrder,
) -> Option<Warning> {
    let counts = Unfinished::count(flows.unfinished.iter().copied().flatten());
    let (left, all) = (counts.total(), flows.len());
    if left == 0 {
        return None;
    }
    let (are, them) = if left == 1 { ("is", "it") } else { ("are", "them") };
    let is_stopped = matches!(scenario.run.stop, Stop::At(_)) && !output.outcome.cancelled;
    let kind = match stuck(&counts) {
        0 if is_stopped && !may_sleep(scenario, &counts) => WarningKind::CutOffFlows,
        _ => WarningKind::UnfinishedFlows,
    };
    let text = format!(
        "{left} of {all} flows {are} unfinished at {}, and in no statistic of completion times: \
         {}. To finish {them}, {}",
        output.outcome.end,
        causes(scenario, output, &counts, order),
        fixes(scenario, output, &counts, order).join("; ")
    );
    Some(Warning { kind, text })
}

/// How many flows more time would not finish, those aside that wait for others.
fn stuck(counts: &Unfinished) -> u64 {
    counts.lost + counts.stopped + counts.deadlock + counts.paused + counts.disconnected
}

/// Whether flows may wait for a port that nothing wakes.
fn may_sleep(scenario: &Scenario, counts: &Unfinished) -> bool {
    counts.waiting > 0 && scenario.quirks.missed_wakeup
}

/// How many flows are unfinished for each cause.
fn causes(
    scenario: &Scenario,
    output: &RunOutput,
    counts: &Unfinished,
    order: EventOrder,
) -> String {
    let first = scenario.messages.iter().map(|message| message.start).min();
    let not_yet = match first {
        Some(first) if counts.not_started == scenario.messages.len() as u64 => {
            format!("not yet started (the first starts at {first})")
        }
        _ => "not yet started".to_owned(),
    };
    let unacknowledged = unacknowledged(output);
    // In ns-3's order the buffer of packets that a failed link dropped is never free again.
    let keeps_buffer = order == EventOrder::Ns3 && !scenario.outages.is_empty();
    let paused = if keeps_buffer {
        "behind a port that stays paused, as the frame that ends the pause was lost or as dropped \
         packets of the failed link keep the buffer"
    } else {
        "behind a port that stays paused, as the frame that ends the pause was lost"
    };
    let waiting = if scenario.quirks.missed_wakeup {
        "waiting for another message, or for one that wakes their port"
    } else {
        "waiting for another message"
    };
    let told = [
        (unacknowledged, "whose last data L2_ACK_INTERVAL leaves without an ACK"),
        (counts.lost - unacknowledged, "with a lost packet that nothing sends again"),
        (counts.stopped, "that the scheme lets send no more"),
        (counts.deadlock, "in a PFC deadlock"),
        (counts.paused, paused),
        (counts.disconnected, "without a path on which packets get through"),
        (counts.waiting, waiting),
        (counts.sending, "still sending"),
        (counts.not_started, &not_yet),
    ];
    let told = told.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// How many of the flows that count as lost lost nothing, and wait for an ACK that no receiver
/// sends.
fn unacknowledged(output: &RunOutput) -> u64 {
    output.counters.get(UNACKNOWLEDGED).copied().unwrap_or(0)
}

/// What finishes all of them. Those that wait for others are finished with these.
fn fixes(
    scenario: &Scenario,
    output: &RunOutput,
    counts: &Unfinished,
    order: EventOrder,
) -> Vec<String> {
    let mut fixes = Vec::new();
    // With that order no key can be set.
    let without = if order == EventOrder::Ns3 { "leave out the order and " } else { "" };
    let unacknowledged = unacknowledged(output);
    if unacknowledged > 0 {
        fixes.push("set L2_ACK_INTERVAL to 1 in the configuration".to_owned());
    }
    let sleeps = may_sleep(scenario, counts);
    if counts.lost > unacknowledged || sleeps {
        // Ports miss a wake-up after a loss, and a flow that goes on may lose more.
        let fix = send_again(scenario);
        let awake = match (sleeps, fix.starts_with("set ")) {
            (true, true) => " and quirks.missed_wakeup = false",
            (true, false) => " and set quirks.missed_wakeup = false",
            (false, _) => "",
        };
        fixes.push(format!("{without}{fix}{awake}"));
    }
    if counts.stopped > 0 {
        fixes.push("have the scheme keep a window and a rate above 0, or a timer".to_owned());
    }
    if counts.deadlock > 0 {
        fixes.push(break_circles(scenario));
    }
    if counts.paused > 0 {
        let key = if scenario.wire.error_rate > 0.0 { "wire.error_rate" } else { "error_rate" };
        fixes.push(match order {
            EventOrder::Fast => {
                format!("set {key} = 0 where PFC pauses links, or pfc.enabled = false")
            }
            EventOrder::Ns3 => format!("{without}set pfc.enabled = false"),
        });
    }
    if counts.disconnected > 0 {
        fixes.push(let_through(scenario));
    }
    let need_time = counts.sending + counts.not_started > 0 || fixes.is_empty();
    if output.outcome.cancelled {
        fixes.push("do not interrupt the run".to_owned());
    } else if need_time {
        let end = match (order, scenario.run.stop) {
            (EventOrder::Ns3, _) => "SIMULATOR_STOP_TIME",
            (EventOrder::Fast, Stop::FlowsDone) => "run.time_limit",
            (EventOrder::Fast, Stop::At(_)) => "run.stop",
        };
        fixes.push(format!("raise {end}"));
    }
    fixes
}

/// What lets packets through where none gets through.
fn let_through(scenario: &Scenario) -> String {
    let lossy = "lower error_rate of the links on their paths below 1";
    let is_lossy = scenario.network.links.iter().any(|link| link.error_rate >= 1.0)
        || scenario.impairments.iter().any(|one| one.error_rate.is_some_and(|rate| rate >= 1.0));
    let mut stalled = scenario
        .slow_receivers
        .iter()
        .filter(|one| one.rate == Rate::ZERO && one.until == Time::NEVER);
    match (stalled.next().is_some(), is_lossy) {
        (true, false) => "give the [[receiver]] of rate 0bps an `until`, or a rate".to_owned(),
        (true, true) => format!("give the [[receiver]] of rate 0bps an `until`, and {lossy}"),
        (false, _) => lossy.to_owned(),
    }
}

/// What has hosts send lost packets again.
fn send_again(scenario: &Scenario) -> String {
    let silent = "quirks.silent_duplicates = false";
    let timeout = || {
        let usual = scenario.usual_timeout();
        let recovery = &scenario.host.recovery;
        match recovery.mode {
            RecoveryMode::GoBackN => format!("host.retransmit_timeout = \"{usual}\""),
            RecoveryMode::SelectiveRepeat if recovery.rto_low == Time::NEVER => {
                format!("host.rto_low = \"{usual}\" and host.rto_high = \"{usual}\"")
            }
            RecoveryMode::SelectiveRepeat => {
                format!("host.rto_high = \"{}\"", usual.max(recovery.rto_low))
            }
        }
    };
    let is_silent = scenario.quirks.silent_duplicates;
    match (scenario.host.retransmit_timeout == Time::NEVER, is_silent) {
        (true, true) => format!("set {} and {silent}", timeout()),
        (true, false) => format!("set {}", timeout()),
        (false, true) => format!("set {silent}"),
        (false, false) => "avoid losses (see drops and lost_packets in the summary)".to_owned(),
    }
}

/// What takes the circles of links out of the routes, or the pauses out of the network.
fn break_circles(scenario: &Scenario) -> String {
    let network = &scenario.network;
    let is_host = |node| network.node(node).kind == NodeKind::Host;
    if network.links.iter().any(|link| is_host(link.a) && is_host(link.b)) {
        return "set pfc.enabled = false".to_owned();
    }
    if matches!(scenario.routing, Paths::SpanningTrees(_)) {
        return "set routing.trees = 1".to_owned();
    }
    let quirk = scenario.quirks.ecmp_hash();
    let hash = quirk.map(|quirk| format!("{quirk} = false, ")).unwrap_or_default();
    format!("set {hash}routing.paths = \"spanning-trees\" and routing.trees = 1")
}
