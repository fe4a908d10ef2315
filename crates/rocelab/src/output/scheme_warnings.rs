//! What parameters of a scheme do that one may not expect: nothing, or harm in this network.

use fabric::FlowOutcome;
use results::FlowTable;
use scenario::{ResolvedScheme, RunScheme, Scenario};
use schemes::contract::{NetworkFacts, RateFloor};
use schemes::params::{ParamSpec, Value};
use std::collections::BTreeMap;
use units::{Bytes, NodeId, Time};

/// Has a warning name the parameters of the scheme whose table is at `key`. Laws do not know where
/// they stand, and call theirs `scheme.params`.
fn in_table(text: &str, key: &str) -> String {
    text.replace("scheme.params", &format!("{key}.params"))
}

/// Returns the warnings that need no run. `network_rtt` and `network_bdp`: the largest of any pair
/// of hosts.
pub(super) fn in_advance(
    scenario: &Scenario,
    network_rtt: Time,
    network_bdp: Option<Bytes>,
) -> Vec<String> {
    let facts = network_facts(scenario, network_rtt, network_bdp);
    let of_scheme = |RunScheme { key, scheme, .. }: RunScheme<'_>| {
        let mut texts = without_effect(scenario, scheme);
        if let Some(floor) = rate_floor(scenario, scheme) {
            texts.extend(slows_nobody(scenario, scheme, &floor));
            texts.extend(outlives_records(scenario, scheme, &floor));
        }
        if let Some(facts) = &facts {
            texts.extend(own_warnings(scenario, scheme, facts));
        }
        texts.iter().map(|text| in_table(text, key)).collect::<Vec<_>>()
    };
    scenario.schemes().flat_map(of_scheme).collect()
}

/// Returns the warnings that are known when flows began and ended. `outcomes`: by row of `flows`.
pub(super) fn after_run(
    scenario: &Scenario,
    outcomes: &[FlowOutcome],
    flows: &FlowTable,
) -> Vec<String> {
    let of_scheme = |one: RunScheme<'_>| {
        let floor = rate_floor(scenario, one.scheme)?;
        let text = too_many_for_a_port(scenario, one, &floor, outcomes, flows)?;
        Some(in_table(&text, one.key))
    };
    scenario.schemes().filter_map(of_scheme).collect()
}

/// Warns of parameters that follow the rate of hosts, where hosts have several.
pub(super) fn several_host_rates(scenario: &Scenario) -> Vec<String> {
    let rates = || scenario.network.host_rates();
    let (Some(lowest), Some(highest)) = (rates().min(), rates().max()) else { return Vec::new() };
    let of_scheme = |RunScheme { key, scheme, .. }: RunScheme<'_>| {
        let preset_at = |rate| (scheme.info.resolve)(&scheme.preset, rate, &[]).ok();
        let (at_lowest, at_highest) = (preset_at(lowest)?, preset_at(highest)?);
        let values = scheme.values.iter().zip(at_lowest.iter().zip(&at_highest));
        let follow: Vec<String> = values
            .filter(|(value, (low, high))| value == low && low != high)
            .map(|((name, value), _)| format!("{name} = {value}"))
            .collect();
        (!follow.is_empty()).then(|| {
            format!(
                "hosts have ports of {lowest} to {highest}, and parameters that follow their rate \
                 are those for the lowest, at all hosts: {}; {key}.params can have others",
                follow.join(", ")
            )
        })
    };
    scenario.schemes().filter_map(of_scheme).collect()
}

/// Returns what schemes may know of the network; `None` if it has no links.
fn network_facts(
    scenario: &Scenario,
    network_rtt: Time,
    network_bdp: Option<Bytes>,
) -> Option<NetworkFacts> {
    let rates = || scenario.network.links.iter().map(|link| link.rate);
    Some(NetworkFacts {
        scheme: scenario.scheme.info.name,
        payload: payload(scenario),
        host_links: scenario.network.host_links().map(|link| (link.rate, link.delay)).collect(),
        min_link_rate: rates().min()?,
        max_link_rate: rates().max()?,
        network_rtt,
        network_bdp,
    })
}

/// Returns what a scheme warns of.
fn own_warnings(scenario: &Scenario, scheme: &ResolvedScheme, facts: &NetworkFacts) -> Vec<String> {
    let facts = NetworkFacts { scheme: scheme.info.name, ..facts.clone() };
    let rate = scenario.network.min_host_rate();
    (scheme.info.warnings)(&scheme.preset, rate, &scheme.overrides(), &facts)
        .expect("a valid scenario has valid parameters")
}

/// Returns the lowest rate of a scheme's senders, if a parameter sets it.
fn rate_floor(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<RateFloor> {
    let rate = scenario.network.min_host_rate();
    (scheme.info.rate_floor)(&scheme.preset, rate, &scheme.overrides())
        .expect("a valid scenario has valid parameters")
}

/// Data bytes of a full packet.
fn payload(scenario: &Scenario) -> Bytes {
    Bytes::new(u64::from(scenario.wire.payload))
}

fn value(scheme: &ResolvedScheme, name: &str) -> Option<Value> {
    scheme.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Returns what keeps a scheme from reading a parameter: the parameter that would have to have
/// another value, those values, and the one that it has.
fn unread(
    scheme: &ResolvedScheme,
    spec: &ParamSpec,
) -> Option<(&'static str, &'static [&'static str], Value)> {
    let (switch, words) = spec.only?;
    let stands = value(scheme, switch)?;
    (!words.contains(&stands.to_string().as_str())).then_some((switch, words, stands))
}

/// Parameters with another value than the preset's, which nothing reads.
fn without_effect(scenario: &Scenario, scheme: &ResolvedScheme) -> Vec<String> {
    let rate = scenario.network.min_host_rate();
    let Ok(preset) = (scheme.info.resolve)(&scheme.preset, rate, &[]) else { return Vec::new() };
    let specs = (scheme.info.params)().iter();
    let unused = specs.filter_map(|spec| {
        let (switch, words, stands) = unread(scheme, spec)?;
        let set = value(scheme, spec.name)?;
        let usual = preset.iter().find(|(name, _)| *name == spec.name)?.1;
        (set != usual).then(|| {
            format!(
                "scheme.params.{} = {set} has no effect: {} reads it with {switch} = {} only, and \
                 that is {stands}",
                spec.name,
                scheme.info.name,
                words.join(" or ")
            )
        })
    });
    unused.collect()
}

/// Warns of a lowest rate that is no lower than what hosts send at.
fn slows_nobody(scenario: &Scenario, scheme: &ResolvedScheme, floor: &RateFloor) -> Option<String> {
    let (min_rate, slowest) = (floor.rate, scenario.network.min_host_rate());
    (min_rate >= slowest).then(|| {
        format!(
            "scheme.params.min_rate is {min_rate}, and hosts have ports of {slowest}: {} cannot \
             slow them down; lower it",
            scheme.info.name
        )
    })
}

/// Warns of a lowest rate at which packets are further apart than INT records that are compared.
fn outlives_records(
    scenario: &Scenario,
    scheme: &ResolvedScheme,
    floor: &RateFloor,
) -> Option<String> {
    let (min_rate, max_gap) = (floor.rate, floor.max_packet_gap?);
    let gap = min_rate.time_for(payload(scenario));
    (gap > max_gap).then(|| {
        format!(
            "scheme.params.min_rate is {min_rate}, at which packets are {gap} apart, and {} does \
             not compare INT records of more than {max_gap}: a flow that is cut to this rate \
             keeps it; raise min_rate",
            scheme.info.name
        )
    })
}

/// Warns of senders without a window that together send more to a host at their lowest rate than
/// its ports carry.
fn too_many_for_a_port(
    scenario: &Scenario,
    RunScheme { side, scheme, .. }: RunScheme<'_>,
    floor: &RateFloor,
    outcomes: &[FlowOutcome],
    flows: &FlowTable,
) -> Option<String> {
    if floor.has_window {
        return None;
    }
    let min_rate = floor.rate;
    let rates = scenario.network.node_rates();
    let rate = |host: u32| rates[NodeId::new(host).index()];
    let exceeds =
        |host: u32, senders: u64| min_rate.bps().saturating_mul(senders) > rate(host).bps();
    let mut rows: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (row, outcome) in outcomes.iter().enumerate() {
        // A message that waits for others may never be posted.
        let is_posted = outcome.posted != Time::NEVER;
        if usize::from(flows.scheme[row]) == side.index() && is_posted {
            rows.entry(flows.dst[row]).or_default().push(row);
        }
    }
    let crowded = rows.into_iter().filter(|(host, rows)| exceeds(*host, rows.len() as u64));
    let most = crowded.map(|(host, rows)| (most_at_a_time(flows, &rows), host));
    let (senders, host) = most.filter(|(senders, host)| exceeds(*host, *senders)).max()?;
    Some(format!(
        "{senders} flows sent to {} at a time, which with scheme.params.min_rate = {min_rate} \
         each is more than its {} carry: {} cannot slow them down further, and queues grow; lower \
         min_rate",
        scenario.network.name(NodeId::new(host)),
        rate(host),
        scheme.info.name
    ))
}

/// Returns the largest number of QPs that have flows of these rows at a time.
fn most_at_a_time(flows: &FlowTable, rows: &[usize]) -> u64 {
    let changes = rows.iter().flat_map(|&row| {
        let (start, qp) = (flows.start_ps[row], flows.qp_id[row]);
        [(start, true, qp), (start.saturating_add(flows.fct_ps[row]), false, qp)]
    });
    let mut changes: Vec<_> = changes.collect();
    // Ends come before starts of the same instant.
    changes.sort_unstable();
    let mut open: BTreeMap<u32, u32> = BTreeMap::new();
    let mut most = 0;
    for (_, begins, qp) in changes {
        let count = open.entry(qp).or_default();
        if begins {
            *count += 1;
            most = most.max(open.len());
        } else {
            *count -= 1;
            if *count == 0 {
                open.remove(&qp);
            }
        }
    }
    most as u64
}
