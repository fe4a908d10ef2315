//! What parameters of a scheme do that one may not expect: nothing, or harm in this network.

use fabric::RunOutput;
use results::FlowTable;
use scenario::{ResolvedScheme, Scenario};
use schemes::int::MAX_RECORD_AGE;
use schemes::params::{ParamSpec, Value};
use std::collections::BTreeMap;
use units::{Bytes, NodeId, Rate, Time};

/// The schemes of a run.
fn schemes(scenario: &Scenario) -> impl Iterator<Item = &ResolvedScheme> {
    [Some(&scenario.scheme), scenario.also.as_ref().map(|also| &also.scheme)].into_iter().flatten()
}

/// The warnings that are known before a run.
pub(super) fn in_advance(scenario: &Scenario) -> Vec<String> {
    let of_scheme = |scheme| {
        let unused = without_effect(scenario, scheme);
        let others = [
            slows_nobody(scenario, scheme),
            outlives_records(scenario, scheme),
            short_hops(scenario, scheme),
            few_packets(scenario, scheme),
        ];
        unused.into_iter().chain(others.into_iter().flatten())
    };
    schemes(scenario).flat_map(of_scheme).collect()
}

/// The warnings that are known when the paths are, and when flows began and ended.
pub(super) fn after_run(scenario: &Scenario, output: &RunOutput, flows: &FlowTable) -> Vec<String> {
    let of_scheme = |(number, scheme)| {
        let all = [
            late_from_the_start(scheme, output),
            small_window(scenario, scheme, output),
            coarse_utilisation(scenario, scheme, output),
            too_many_for_a_port(scenario, number, scheme, flows, output.outcome.end),
        ];
        all.into_iter().flatten()
    };
    (0..).zip(schemes(scenario)).flat_map(of_scheme).collect()
}

/// Data bytes of a full packet.
fn payload(scenario: &Scenario) -> Bytes {
    Bytes::new(u64::from(scenario.wire.payload))
}

fn value(scheme: &ResolvedScheme, name: &str) -> Option<Value> {
    scheme.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// What keeps a scheme from reading a parameter: the parameter that would have to have another
/// value, those values, and the one that it has.
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

/// The value of a parameter, if it is read.
fn value_read(scheme: &ResolvedScheme, name: &str) -> Option<Value> {
    let mut specs = (scheme.info.params)().iter();
    let is_read = specs.any(|spec| spec.name == name && unread(scheme, spec).is_none());
    value(scheme, name).filter(|_| is_read)
}

/// A lowest rate that is no lower than what hosts send at.
fn slows_nobody(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    let Some(Value::Rate(min_rate)) = value_read(scheme, "min_rate") else { return None };
    let slowest = scenario.network.min_host_rate();
    (min_rate >= slowest).then(|| {
        format!(
            "scheme.params.min_rate is {min_rate}, and hosts have ports of {slowest}: {} cannot \
             slow them down; lower it",
            scheme.info.name
        )
    })
}

/// A lowest rate at which packets are further apart than INT records that are compared.
fn outlives_records(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    let Some(Value::Choice("full")) = value_read(scheme, "int_format") else { return None };
    let Some(Value::Rate(min_rate)) = value_read(scheme, "min_rate") else { return None };
    let gap = min_rate.time_for(payload(scenario));
    (gap > MAX_RECORD_AGE).then(|| {
        format!(
            "scheme.params.min_rate is {min_rate}, at which packets are {gap} apart, and {} does \
             not compare INT records of more than {MAX_RECORD_AGE}: a flow that is cut to this \
             rate keeps it; raise min_rate",
            scheme.info.name
        )
    })
}

/// HierCC's round trip to the first switch, which is a parameter there. Two thirds of it are
/// enough where packets take most of the time, as links of 10 Gb/s and 1 us are filled with 2 us.
fn short_hops(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    let Some(Value::Time(hop_rtt)) = value(scheme, "hop_rtt") else { return None };
    let packet = payload(scenario);
    let hops = scenario.network.host_links().map(|link| {
        let on_cable = link.delay.saturating_mul(2);
        (on_cable, on_cable + link.rate.time_for(packet))
    });
    let longest = hops.filter(|(on_cable, whole)| {
        hop_rtt < *on_cable || hop_rtt.saturating_mul(3) < whole.saturating_mul(2)
    });
    longest.map(|(_, whole)| whole).max().map(|longest| {
        format!(
            "scheme.params.hop_rtt is {hop_rtt}, and a round trip between a host and its switch \
             takes {longest} or more: queues of {} run empty and links are not filled; raise it",
            scheme.info.name
        )
    })
}

/// Mercury's threshold, which follows the rate of a port, where it holds few packets.
fn few_packets(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    const FEW: u64 = 3;
    let Some(Value::Bytes(threshold)) = value(scheme, "congestion_threshold") else { return None };
    let slowest = scenario.network.links.iter().map(|link| link.rate).min()?;
    let there = threshold.get() as f64 * slowest.bps() as f64 / Rate::from_gbps(100).bps() as f64;
    let packet = payload(scenario).get();
    (there < (FEW * packet) as f64).then(|| {
        format!(
            "scheme.params.congestion_threshold is {threshold} at 100Gbps and {} at ports of \
             {slowest}, less than {FEW} packets: {} takes packets that meet for congestion; raise \
             it",
            Bytes::new(there as u64),
            scheme.info.name
        )
    })
}

/// Paths on which every round trip is longer than TIMELY's upper threshold.
fn late_from_the_start(scheme: &ResolvedScheme, output: &RunOutput) -> Option<String> {
    let Some(Value::Time(t_high)) = value(scheme, "t_high") else { return None };
    let longest = output.network_rtt;
    (longest >= t_high).then(|| {
        format!(
            "scheme.params.t_high is {t_high}, and the longest round trip without queues is \
             {longest}: on such paths every round trip slows {} down; raise t_high",
            scheme.info.name
        )
    })
}

/// A largest window that does not fill the longest path.
fn small_window(
    scenario: &Scenario,
    scheme: &ResolvedScheme,
    output: &RunOutput,
) -> Option<String> {
    let Some(Value::Number(max_cwnd)) = value(scheme, "max_cwnd") else { return None };
    let most = Bytes::new((max_cwnd * payload(scenario).get() as f64) as u64);
    let bdp = output.network_bdp.filter(|bdp| *bdp > most)?;
    Some(format!(
        "scheme.params.max_cwnd is {max_cwnd} packets, or {most}, and the longest path holds \
         {bdp}: one flow cannot fill it; raise max_cwnd"
    ))
}

/// Paths so long that a packet is next to nothing of the units in which HPCC-PINT's switches keep
/// U in the HPCC simulator's form.
fn coarse_utilisation(
    scenario: &Scenario,
    scheme: &ResolvedScheme,
    output: &RunOutput,
) -> Option<String> {
    // Switches read 0.92 there at a load of 0.95.
    const FEW: f64 = 500.0;
    value(scheme, "log_base")?;
    let Some(Value::Choice("ns3")) = value(scheme, "variant") else { return None };
    let fastest = scenario.network.links.iter().map(|link| link.rate).max()?;
    let in_flight = fastest.bytes_in(output.network_rtt);
    let packets = in_flight.get() as f64 / payload(scenario).get() as f64;
    (packets > FEW).then(|| {
        format!(
            "with variant = ns3 switches of {} round U to units of 1/8192, and the longest round \
             trip holds {packets:.0} packets at {fastest}: U reads too low there, from about \
             16000 packets on 0, and links are overloaded; take variant = paper, which rounds at \
             random",
            scheme.info.name
        )
    })
}

/// Senders without a window that together send more to a host at their lowest rate than its ports
/// carry. `number`: the scheme's, as in `flows`.
fn too_many_for_a_port(
    scenario: &Scenario,
    number: u8,
    scheme: &ResolvedScheme,
    flows: &FlowTable,
    end: Time,
) -> Option<String> {
    let Some(Value::Rate(min_rate)) = value_read(scheme, "min_rate") else { return None };
    // FNCC, HierCC and HPCC's paper form always have a window, and parameters without this one.
    let has_window = match value_read(scheme, "window") {
        Some(window) => window != Value::Choice("none"),
        None => scheme.info.name != "rocc",
    };
    if has_window || value(scheme, "window_notification") == Some(Value::Flag(true)) {
        return None;
    }
    let rates = scenario.network.node_rates();
    let rate = |host: u32| rates[NodeId::new(host).index()];
    let exceeds =
        |host: u32, senders: u64| min_rate.bps().saturating_mul(senders) > rate(host).bps();
    let mut rows: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for row in 0..flows.len() {
        if flows.scheme[row] == number && flows.start_ps[row] < end.ps() {
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

/// The largest number of QPs that have flows of these rows at a time.
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
