//! ECN settings that do nothing, or not what one may expect.

use super::idle_settings::has;
use super::warnings::marks;
use fabric::{Balance, ClassMarking, Setup};
use scenario::{NodeKind, ResolvedScheme, RunScheme, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

/// The warnings that are known before a run.
pub(super) fn in_advance(scenario: &Scenario, setup: &Setup) -> impl Iterator<Item = String> {
    let all = [
        unmarked(scenario),
        unmarked_class(scenario),
        unused(scenario),
        unread(scenario),
        no_notifications(scenario),
        marks_nothing(scenario, setup),
        one_threshold(scenario, setup),
    ];
    all.into_iter().flatten()
}

/// A scheme that waits for marks where switches make none.
fn unmarked(scenario: &Scenario) -> Option<String> {
    let RunScheme { key, scheme, .. } = waiting(scenario).next().filter(|_| !marks(scenario))?;
    Some(format!(
        "{key}.name = \"{}\" reacts to ECN marks, and with ecn.enabled = false there are none; \
         set ecn.enabled = true",
        scheme.info.name
    ))
}

/// A scheme that waits for marks, all of whose messages are in classes that are not marked.
fn unmarked_class(scenario: &Scenario) -> Option<String> {
    let is_marked = |priority: u8| {
        let class = scenario.class_settings.iter().find(|one| one.priority == priority);
        match class.and_then(|one| one.marking) {
            Some(law) => law != ClassMarking::Off,
            None => scenario.ecn.is_some(),
        }
    };
    let unmarked = waiting(scenario).find_map(|RunScheme { side, scheme, .. }| {
        let of_scheme = scenario.messages.iter().filter(|one| one.side == side);
        let priorities: BTreeSet<u8> = of_scheme.map(|one| one.priority).collect();
        let first = *priorities.first()?;
        (!priorities.into_iter().any(is_marked)).then_some((scheme, first))
    });
    let (scheme, priority) = unmarked.filter(|_| marks(scenario))?;
    Some(format!(
        "scheme {} reacts to ECN marks, and none of its packets is marked: their priority is \
         {priority}; give this priority an ecn with kmin and kmax in [[classes.settings]]",
        scheme.info.name
    ))
}

/// The schemes of a run that come with a marking law.
fn waiting(scenario: &Scenario) -> impl Iterator<Item = RunScheme<'_>> {
    scenario.schemes().filter(|RunScheme { scheme, .. }| {
        scheme.info.preset(&scheme.preset).is_some_and(|preset| preset.ecn.is_some())
    })
}

/// Thresholds that are given though no switch marks anything.
fn unused(scenario: &Scenario) -> Option<String> {
    let keys = scenario.unused_marking();
    (!keys.is_empty()).then(|| {
        format!(
            "{} {} no effect: ecn.enabled is false, which is its default with schemes that \
             need no marks; set it to true, or leave {} out",
            keys.join(" and "),
            has(&keys),
            if keys.len() == 1 { "the key" } else { "the keys" }
        )
    })
}

/// Whether a scheme comes with a marking law, or may react to marks all the same.
fn reacts(scheme: &ResolvedScheme) -> bool {
    scheme.info.marks_if_asked
        || scheme.info.preset(&scheme.preset).is_none_or(|preset| preset.ecn.is_some())
}

/// The names of the schemes of a run, if `does` holds for none of them.
fn none_that(scenario: &Scenario, does: impl Fn(&ResolvedScheme) -> bool) -> Option<String> {
    let schemes = || scenario.schemes().map(|one| one.scheme);
    let names = || schemes().map(|scheme| scheme.info.name).collect::<Vec<_>>();
    (!schemes().any(does)).then(|| names().join(" and "))
}

/// Marks that nobody looks at.
fn unread(scenario: &Scenario) -> Option<String> {
    // Files of the HPCC simulator have marking laws whatever the scheme.
    let is_asked = marks(scenario) && scenario.quirks.go_with_balancing();
    let others_read =
        scenario.host.spray.learns() || matches!(scenario.balance, Balance::ConWeave(_));
    let schemes = none_that(scenario, reacts).filter(|_| is_asked && !others_read)?;
    Some(format!(
        "switches mark packets, and scheme {schemes} does not react to marks: they change nothing \
         but ecn_marked_packets; set ecn.enabled = false, or take a scheme that reacts"
    ))
}

/// Reordered packets that count as marked, where no receiver answers marks with CNPs.
fn no_notifications(scenario: &Scenario) -> Option<String> {
    let is_asked = scenario.host.recovery.reordering_is_congestion;
    let answers = |scheme: &ResolvedScheme| reacts(scheme) && !scheme.info.silent_receivers;
    let schemes = none_that(scenario, answers).filter(|_| is_asked)?;
    Some(format!(
        "host.reordering_makes_cnp has no effect: receivers of scheme {schemes} send no CNPs"
    ))
}

/// A rate at which no port of a switch ever marks, if there is one, and why.
fn marks_nothing(scenario: &Scenario, setup: &Setup) -> Option<String> {
    let ecn = setup.ecn.as_ref().filter(|ecn| !ecn.is_off())?;
    let longest = |end| match scenario.switch.cioq {
        Some(cioq) => (cioq.output_queue, "switch.output_queue"),
        None => scenario.switch.buffer_of(scenario.network.node(end)),
    };
    let mut by_rate = BTreeMap::new();
    for cable in &setup.links {
        for end in [cable.a, cable.b] {
            if scenario.network.node(end).kind == NodeKind::Switch {
                let room = by_rate.entry(cable.rate).or_insert((Bytes::ZERO, ""));
                *room = longest(end).max(*room);
            }
        }
    }
    let (rate, (room, what)) =
        by_rate.into_iter().find(|&(rate, (room, _))| ecn.law_at(rate).kmin >= room)?;
    let what = if what == "topology" { "the buffers of the switches there" } else { what };
    Some(format!(
        "nothing is marked at ports of {rate}: ecn.kmin is {} there, and no queue gets longer \
         than {room}; raise {what}, or lower ecn.kmin and ecn.kmax",
        ecn.law_at(rate).kmin
    ))
}

/// A threshold that grows with the rate of ports, as the preset's other one does.
fn one_threshold(scenario: &Scenario, setup: &Setup) -> Option<String> {
    let ecn = scenario.ecn.as_ref()?;
    let law = waiting(scenario).next()?.scheme;
    let law = law.info.preset(&law.preset)?.ecn?;
    let key = match (ecn.kmin == law.kmin, ecn.kmax == law.kmax) {
        (false, true) => "kmin",
        (true, false) => "kmax",
        _ => return None,
    };
    let scales = ecn.at == Some(law.at) && ecn.by_rate.is_empty();
    (scales && setup.links.iter().any(|cable| cable.rate != law.at)).then(|| {
        format!(
            "ecn.{key} is for ports of {}, as the preset's other threshold, and grows with the \
             rate of others; give both for what holds at all ports, or ecn.reference_rate",
            law.at
        )
    })
}
