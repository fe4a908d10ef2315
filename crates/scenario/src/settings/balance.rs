//! How switches choose among next hops, and which schemes go together with that.

use super::leaf_spine::check_leaf_spine;
use super::recovery::no_effect_of;
use super::{Classes, Pfc, SwitchSettings, Threshold, needs};
use crate::error::{Result, ScenarioError};
use crate::network::Network;
use crate::spec::{
    BalanceKind, ConWeaveSpec, CongaSpec, PathsKind, Quantity, QuirksSpec, RoutingSpec,
};
use crate::traffic::check_time;
use model::{Balance, ConWeave, Conga, HostConfig, PortUse, RecoveryMode, Spray};
use schemes::contract::Fit;
use schemes::registry::SchemeInfo;
use units::{Bytes, Time};

/// The pause after which a flow may take another path, as in ConWeave's experiments (SIGCOMM 2023,
/// section 4.1).
const FLOWLET_GAP: Time = Time::from_us(100);

/// How late the last packet of an old path may be, as in ConWeave's experiments: there is more to
/// wait for where switches pause each other.
const RESUME_EXTRA: Time = Time::from_us(16);
const RESUME_EXTRA_PAUSED: Time = Time::from_us(64);

/// Load balancing, complete.
pub(crate) fn balance(
    spec: &mut RoutingSpec,
    quirks: &QuirksSpec,
    switch: &SwitchSettings,
    (pfc, classes): (&Pfc, &Classes),
    network: &Network,
) -> Result<Balance> {
    let kind = spec.balance;
    check_keys(spec)?;
    if let Some((why, hint)) = refusal(spec, quirks, switch) {
        let why = format!("{} {why}", word(kind));
        return Err(ScenarioError::new("routing.balance", why).hint(hint));
    }
    if quirks.conweave_drill && kind != BalanceKind::Drill {
        return Err(needs("conweave_drill", "routing.balance = \"drill\""));
    }
    if quirks.conweave_conga && kind != BalanceKind::Conga {
        return Err(needs("conweave_conga", "routing.balance = \"conga\""));
    }
    Ok(match kind {
        BalanceKind::Ecmp => Balance::Ecmp,
        BalanceKind::Random => Balance::Random,
        BalanceKind::RoundRobin => Balance::RoundRobin,
        BalanceKind::Letflow => {
            let gap = spec.flowlet_gap.get_or_insert(Quantity(FLOWLET_GAP)).0;
            Balance::LetFlow { gap }
        }
        BalanceKind::Adaptive => adaptive(spec)?,
        BalanceKind::Conga => {
            check_leaf_spine(network)?;
            let gap = spec.flowlet_gap.get_or_insert(Quantity(FLOWLET_GAP)).0;
            Balance::Conga(conga(spec.conga.get_or_insert_default(), gap)?)
        }
        BalanceKind::Conweave => {
            check_one_port(network)?;
            let has_three_tiers = network.nodes.iter().any(|node| node.tier > 2);
            let pauses_data = pfc.protects(classes, classes.data);
            let extra =
                if pauses_data && has_three_tiers { RESUME_EXTRA_PAUSED } else { RESUME_EXTRA };
            let spec = spec.conweave.get_or_insert_default();
            spec.resume_extra.get_or_insert(Quantity(extra));
            Balance::ConWeave(conweave(spec)?)
        }
        BalanceKind::Drill => drill(spec)?,
    })
}

/// Refuses keys that have no effect with the policy.
fn check_keys(spec: &RoutingSpec) -> Result<()> {
    let is = |kind| spec.balance == kind;
    let (is_drill, is_adaptive) = (is(BalanceKind::Drill), is(BalanceKind::Adaptive));
    let (is_conga, is_conweave) = (is(BalanceKind::Conga), is(BalanceKind::Conweave));
    let has_gap = is_adaptive || is_conga || is(BalanceKind::Letflow);
    let keys = [
        ("samples", spec.samples.is_some(), is_drill, "\"drill\""),
        ("memory", spec.memory.is_some(), is_drill, "\"drill\""),
        (
            "flowlet_gap",
            spec.flowlet_gap.is_some(),
            has_gap,
            "\"letflow\", \"conga\" or \"adaptive\"",
        ),
        ("quantise", spec.quantise.is_some(), is_adaptive, "\"adaptive\""),
        ("update", spec.update.is_some(), is_adaptive, "\"adaptive\""),
        ("conga", spec.conga.is_some(), is_conga, "\"conga\""),
        ("conweave", spec.conweave.is_some(), is_conweave, "\"conweave\""),
    ];
    match keys.iter().find(|(_, given, fits, _)| *given && !fits) {
        None => Ok(()),
        Some((key, .., of)) => {
            Err(no_effect_of("routing", key, &format!("routing.balance = {of}")))
        }
    }
}

/// Why the policy does not go with other settings, and what to do about it.
fn refusal(
    spec: &RoutingSpec,
    quirks: &QuirksSpec,
    switch: &SwitchSettings,
) -> Option<(&'static str, &'static str)> {
    if spec.balance == BalanceKind::Ecmp {
        return None;
    }
    if !quirks.go_with_balancing() {
        return Some((
            "does not go with quirks: the HPCC simulator has ECMP alone",
            "leave routing.balance out, or turn the quirks off",
        ));
    }
    if spec.paths == PathsKind::SpanningTrees {
        return Some((
            "chooses among ports of equal cost, and spanning trees have none",
            "set routing.paths = \"shortest\"",
        ));
    }
    switch.cioq?;
    match spec.balance {
        BalanceKind::Drill | BalanceKind::Adaptive => Some((
            "looks at output queues, and in CIOQ switches most packets wait at the inputs",
            "set switch.architecture = \"shared-memory\", or routing.balance = \"random\"",
        )),
        BalanceKind::Conga => Some((
            "measures what leaves switches with output queues, and CIOQ switches have crossbars",
            "set switch.architecture = \"shared-memory\", or routing.balance = \"letflow\"",
        )),
        BalanceKind::Conweave => Some((
            "holds packets in queues of outputs, and in CIOQ switches most packets wait at the \
             inputs",
            "set switch.architecture = \"shared-memory\", or routing.balance = \"letflow\"",
        )),
        BalanceKind::Ecmp
        | BalanceKind::Random
        | BalanceKind::RoundRobin
        | BalanceKind::Letflow => None,
    }
}

fn adaptive(spec: &mut RoutingSpec) -> Result<Balance> {
    let gap = spec.flowlet_gap.get_or_insert(Quantity(Time::ZERO)).0;
    let update = spec.update.get_or_insert(Quantity(Time::ZERO)).0;
    let levels: Vec<_> =
        spec.quantise.get_or_insert_default().iter().map(|level| level.0).collect();
    let rises = levels.is_sorted_by(|low, high| low < high);
    if !rises || levels.first() == Some(&Bytes::ZERO) {
        let why = "the sizes must be above zero and rise from one to the next";
        return Err(ScenarioError::new("routing.quantise", why));
    }
    Ok(Balance::Adaptive { levels, update, gap })
}

fn drill(spec: &mut RoutingSpec) -> Result<Balance> {
    let samples = *spec.samples.get_or_insert(2);
    let memory = *spec.memory.get_or_insert(1);
    let range = |key: &str, value: u32, least: u32| match (least..=64).contains(&value) {
        true => Ok(value),
        false => Err(ScenarioError::new(
            format!("routing.{key}"),
            format!("{value} is out of range; allowed: {least} to 64"),
        )),
    };
    Ok(Balance::Drill {
        samples: range("samples", samples, 1)?,
        memory: range("memory", memory, 0)?,
    })
}

/// Refuses entropy values where switches do not choose by a hash.
pub(crate) fn check_spray(spec: &RoutingSpec, host: &HostConfig) -> Result<()> {
    if host.spray == Spray::Off || spec.balance == BalanceKind::Ecmp {
        return Ok(());
    }
    let why = format!(
        "changes what ECMP hashes, and with routing.balance = {} switches choose otherwise",
        word(spec.balance)
    );
    Err(ScenarioError::new("host.spray", why).hint("leave one of the two out"))
}

/// Refuses packets that take turns over ports where a QP has a spanning tree.
pub(crate) fn check_ports_of_trees(spec: &RoutingSpec, host: &HostConfig) -> Result<()> {
    if host.ports == PortUse::Hash || spec.paths != PathsKind::SpanningTrees {
        return Ok(());
    }
    let why = "\"spray\" does not go with routing.paths = \"spanning-trees\": a tree leads through \
               one port of a host";
    Err(ScenarioError::new("host.ports", why)
        .hint("leave host.ports out, or set routing.paths = \"shortest\""))
}

/// CONGA's parameters, checked.
fn conga(spec: &CongaSpec, gap: Time) -> Result<Conga> {
    let CongaSpec { dre_period, alpha, bits, age } = *spec;
    let refuse =
        |key: &str, why: String| Err(ScenarioError::new(format!("routing.conga.{key}"), why));
    if dre_period.0 == Time::ZERO {
        return refuse("dre_period", "must be above zero".to_owned());
    }
    if !(alpha > 0.0 && alpha <= 1.0) {
        return refuse("alpha", format!("{alpha} is out of range; allowed: above 0, at most 1"));
    }
    let Some(bits) = u8::try_from(bits).ok().filter(|bits| (1..=8).contains(bits)) else {
        return refuse("bits", format!("{bits} is out of range; allowed: 1 to 8"));
    };
    Ok(Conga { gap, dre_period: dre_period.0, alpha, bits, age: age.0 })
}

/// Refuses memory of its own for what ConWeave holds where thresholds are fixed: an ingress then
/// has one count, and what is released would take the headroom of what still arrives.
pub(crate) fn check_own_memory(balance: &Balance, pfc: &Pfc, classes: &Classes) -> Result<()> {
    let has_own = matches!(balance, Balance::ConWeave(conweave) if conweave.own_memory);
    let is_fixed = matches!(pfc.threshold, Threshold::Static { .. });
    if has_own && is_fixed && pfc.pauses(classes) {
        let why = "does not go with pfc.threshold = \"static\": what is released would take the \
                   headroom";
        return Err(ScenarioError::new("routing.conweave.own_memory", why)
            .hint("set pfc.threshold = \"dynamic\" and leave pfc.xoff and pfc.xon out"));
    }
    Ok(())
}

/// ConWeave's parameters, checked.
fn conweave(spec: &ConWeaveSpec) -> Result<ConWeave> {
    let ConWeaveSpec { queues, samples, .. } = *spec;
    let refuse =
        |key: &str, why: String| Err(ScenarioError::new(format!("routing.conweave.{key}"), why));
    if queues == 0 {
        return refuse("queues", "must be above zero".to_owned());
    }
    if !(1..=64).contains(&samples) {
        return refuse("samples", format!("{samples} is out of range; allowed: 1 to 64"));
    }
    let Some(header) = u32::try_from(spec.header.0.get()).ok().filter(|bytes| *bytes <= 64) else {
        return refuse("header", format!("{} is too much; allowed: up to 64B", spec.header.0));
    };
    let time = |key: &str, time| check_time(time, || format!("routing.conweave.{key}"));
    Ok(ConWeave {
        reply_extra: time("reply_extra", spec.reply_extra)?,
        path_busy: time("path_busy", spec.path_busy)?,
        inactive: time("inactive", spec.inactive)?,
        resume_extra: time("resume_extra", spec.resume_extra.expect("it was filled in"))?,
        resume_default: time("resume_default", spec.resume_default)?,
        queues,
        samples,
        header,
        own_memory: spec.own_memory,
    })
}

/// Refuses hosts with several ports: ConWeave works between the one switch of each host.
fn check_one_port(network: &Network) -> Result<()> {
    let mut hosts = network.hosts().zip(network.links_of_hosts());
    let Some((host, links)) = hosts.find(|(_, links)| *links != 1) else { return Ok(()) };
    let has = if links == 0 { "none" } else { "more" };
    let why =
        format!("\"conweave\" needs hosts with one link, and {} has {has}", network.name(host));
    Err(ScenarioError::new("routing.balance", why)
        .hint("join each host to one switch, or choose another routing.balance"))
}

/// The word for a policy in scenario files, quoted.
fn word(kind: BalanceKind) -> &'static str {
    match kind {
        BalanceKind::Ecmp => "\"ecmp\"",
        BalanceKind::Random => "\"random\"",
        BalanceKind::RoundRobin => "\"round-robin\"",
        BalanceKind::Adaptive => "\"adaptive\"",
        BalanceKind::Drill => "\"drill\"",
        BalanceKind::Letflow => "\"letflow\"",
        BalanceKind::Conga => "\"conga\"",
        BalanceKind::Conweave => "\"conweave\"",
    }
}

/// The keys that ask a scheme for more than one path or for selective repeat, with how it fares
/// with each.
pub(crate) fn demands(
    scheme: &SchemeInfo,
    balance: &Balance,
    host: &HostConfig,
) -> Vec<(&'static str, Fit)> {
    let tolerates = scheme.tolerates;
    let of_switches = match balance {
        Balance::Ecmp => None,
        Balance::Random | Balance::RoundRobin => Some(tolerates.spraying),
        Balance::LetFlow { .. } | Balance::Conga(_) => Some(tolerates.flowlets),
        Balance::ConWeave(_) => Some(tolerates.rerouting),
        Balance::Adaptive { .. } if !balance.is_per_packet() => Some(tolerates.flowlets),
        Balance::Adaptive { .. } | Balance::Drill { .. } => Some(tolerates.adaptive),
    };
    let of_hosts = (host.spray != Spray::Off).then_some(tolerates.spraying);
    let of_ports = (host.ports == PortUse::Spray).then_some(tolerates.spraying);
    let is_selective = host.recovery.mode == RecoveryMode::SelectiveRepeat;
    let all = [
        ("routing.balance", of_switches),
        ("host.spray", of_hosts),
        ("host.ports", of_ports),
        ("host.recovery", is_selective.then_some(tolerates.selective_repeat)),
    ];
    all.into_iter().filter_map(|(key, fit)| Some((key, fit?))).collect()
}

/// Refuses what the scheme does not tolerate.
pub(crate) fn check_scheme(scheme: &SchemeInfo, demands: &[(&'static str, Fit)]) -> Result<()> {
    let Some((key, why)) = demands.iter().find_map(|&(key, fit)| match fit {
        Fit::Refused(why) => Some((key, why)),
        Fit::Works | Fit::Note(_) => None,
    }) else {
        return Ok(());
    };
    Err(ScenarioError::new(key, format!("does not go with scheme {}: {why}", scheme.name))
        .hint(format!("leave {key} out, or choose another scheme")))
}
