//! What parameters of a scheme do that one may not expect: nothing, or harm in this network.

use fabric::RunOutput;
use scenario::{ResolvedScheme, Scenario};
use schemes::params::{ParamSpec, Value};
use units::{Bytes, Rate, Time};

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
            short_hops(scenario, scheme),
            few_packets(scenario, scheme),
        ];
        unused.into_iter().chain(others.into_iter().flatten())
    };
    schemes(scenario).flat_map(of_scheme).collect()
}

/// The warnings that are known when the paths are.
pub(super) fn of_paths(scenario: &Scenario, output: &RunOutput) -> Vec<String> {
    let of_scheme = |scheme| {
        let all = [late_from_the_start(scheme, output), small_window(scenario, scheme, output)];
        all.into_iter().flatten()
    };
    schemes(scenario).flat_map(of_scheme).collect()
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

/// A lowest rate that is no lower than what hosts send at.
fn slows_nobody(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    let Some(Value::Rate(min_rate)) = value(scheme, "min_rate") else { return None };
    let mut specs = (scheme.info.params)().iter();
    let is_read = specs.any(|spec| spec.name == "min_rate" && unread(scheme, spec).is_none());
    let slowest = scenario.network.min_host_rate();
    (is_read && min_rate >= slowest).then(|| {
        format!(
            "scheme.params.min_rate is {min_rate}, and hosts have ports of {slowest}: {} cannot \
             slow them down; lower it",
            scheme.info.name
        )
    })
}

/// HierCC's round trip to the first switch, which is a parameter there.
fn short_hops(scenario: &Scenario, scheme: &ResolvedScheme) -> Option<String> {
    let Some(Value::Time(hop_rtt)) = value(scheme, "hop_rtt") else { return None };
    let delays = scenario.network.host_links().map(|link| link.delay);
    let longest = delays.max().unwrap_or(Time::ZERO).saturating_mul(2);
    (hop_rtt < longest).then(|| {
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
    let packet = u64::from(scenario.wire.payload);
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
    let most = Bytes::new((max_cwnd * f64::from(scenario.wire.payload)) as u64);
    let bdp = output.network_bdp.filter(|bdp| *bdp > most)?;
    Some(format!(
        "scheme.params.max_cwnd is {max_cwnd} packets, or {most}, and the longest path holds \
         {bdp}: one flow cannot fill it; raise max_cwnd"
    ))
}
