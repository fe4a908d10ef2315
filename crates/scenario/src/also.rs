//! From `[[scheme.also]]` to the second scheme of a run, and which messages have it.

use crate::error::{Result, ScenarioError, known_words};
use crate::network::Network;
use crate::scheme::{self, ResolvedScheme};
use crate::selector::Selector;
use crate::spec::{AlsoSpec, EcnSpec, SchemeSpec};
use crate::traffic::{Traffic, check_priority};
use model::ClassSettings;
use schemes::contract::EcnLaw;
use schemes::registry::{self, MixInfo, SchemeInfo};
use units::{MixSide, Rate};

/// The second scheme of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct AlsoScheme {
    /// The scheme.
    pub scheme: ResolvedScheme,
    /// What both schemes together need: the entry in the registry.
    mix: Mix,
}

/// An entry of the registry, one for each pair of names.
#[derive(Clone, Copy)]
struct Mix(&'static MixInfo);

impl PartialEq for Mix {
    fn eq(&self, other: &Mix) -> bool {
        (self.0.first, self.0.second) == (other.0.first, other.0.second)
    }
}

impl std::fmt::Debug for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} and {}", self.0.first, self.0.second)
    }
}

impl AlsoScheme {
    /// What both schemes together need and tolerate.
    pub fn info(&self) -> &'static SchemeInfo {
        &self.mix.0.info
    }

    /// What the registry's mix calls the first scheme of the run, `run`, and this one.
    pub fn sides(&self, run: &ResolvedScheme) -> [MixSide; 2] {
        match self.mix.0.first == run.info.name {
            true => [MixSide::First, MixSide::Second],
            false => [MixSide::Second, MixSide::First],
        }
    }
}

/// The key of an entry.
pub(crate) const KEY: &str = "scheme.also.0";

/// Finds the second scheme, and completes its entry with every parameter.
pub(crate) fn resolve(
    specs: &mut [AlsoSpec],
    run: &ResolvedScheme,
    host_rate: Rate,
) -> Result<Option<AlsoScheme>> {
    let spec = match specs {
        [] => return Ok(None),
        [spec] => spec,
        _ => {
            let why = "a run has at most two schemes";
            return Err(ScenarioError::new("scheme.also.1", why)
                .hint("give one [[scheme.also]], or run once for each pair"));
        }
    };
    let mut own = SchemeSpec {
        name: spec.name.clone(),
        preset: spec.preset.take(),
        params: std::mem::take(&mut spec.params),
        also: Vec::new(),
    };
    let scheme = scheme::resolve(&mut own, host_rate).map_err(|mut error| {
        if let Some(rest) = error.key.strip_prefix("scheme") {
            error.key = format!("{KEY}{rest}");
        }
        error
    })?;
    (spec.preset, spec.params) = (own.preset, own.params);
    let (one, other) = (run.info.name, scheme.info.name);
    let Some(mix) = registry::mixes().iter().find(|mix| mix.is_of(one, other)) else {
        let partners = registry::beside(one);
        let why = format!("scheme {other} does not go beside {one}");
        return Err(ScenarioError::new(format!("{KEY}.name"), why).hint(match &partners[..] {
            [] => format!(
                "none goes beside {one}; these go together: {}",
                pairs(registry::mixes()).join(", ")
            ),
            partners => format!("beside {one} go {}", partners.join(", ")),
        }));
    };
    Ok(Some(AlsoScheme { scheme, mix: Mix(mix) }))
}

/// Which schemes go beside which.
fn pairs(mixes: &[MixInfo]) -> Vec<String> {
    mixes.iter().map(|mix| format!("{} and {}", mix.first, mix.second)).collect()
}

/// The law that the preset of a scheme comes with.
fn law_of(scheme: &ResolvedScheme) -> Option<EcnLaw> {
    scheme.info.preset(&scheme.preset).and_then(|preset| preset.ecn)
}

/// The marking law of a run: that of the scheme whose preset has one. Where both have laws that
/// differ, [`check_laws`] sees to it that the scenario has its own.
pub(crate) fn marking_law(run: &ResolvedScheme, also: Option<&AlsoScheme>) -> Option<EcnLaw> {
    law_of(run).or(also.and_then(|also| law_of(&also.scheme)))
}

/// Checks that the scenario says which law holds if the presets of both schemes have laws that
/// differ: in `[ecn]`, or for each class that has data.
pub(crate) fn check_laws(
    schemes: [&ResolvedScheme; 2],
    ecn: &EcnSpec,
    network: &Network,
    classes: &[ClassSettings],
    traffic: &Traffic,
) -> Result<()> {
    let [Some(first), Some(second)] = schemes.map(law_of) else { return Ok(()) };
    let has_rate = |rate| ecn.by_rate.iter().any(|law| law.rate.0 == rate);
    let has_law = |priority| {
        classes.iter().any(|class| class.priority == priority && class.marking.is_some())
    };
    let is_given = ecn.enabled == Some(false)
        || ecn.kmin.is_some() && ecn.kmax.is_some() && ecn.pmax.is_some()
        || network.links.iter().all(|link| has_rate(link.rate))
        || traffic.messages.iter().all(|message| has_law(message.priority));
    if first == second || is_given {
        return Ok(());
    }
    let text = |scheme: &ResolvedScheme, law: EcnLaw| {
        let EcnLaw { kmin, kmax, pmax, at } = law;
        format!("{} (kmin {kmin}, kmax {kmax}, pmax {pmax} at {at})", scheme.info.name)
    };
    let why = format!(
        "schemes {} and {} come with different thresholds",
        text(schemes[0], first),
        text(schemes[1], second)
    );
    Err(ScenarioError::new("ecn", why).hint(
        "give ecn.kmin, ecn.kmax and ecn.pmax; [[classes.settings]] gives a priority its own",
    ))
}

/// Gives the messages that an entry is for its scheme and its priority.
pub(crate) fn assign(
    specs: &[AlsoSpec],
    [run_side, also_side]: [MixSide; 2],
    nodes: &Selector<'_>,
    traffic: &mut Traffic,
) -> Result<()> {
    let Some(spec) = specs.first() else { return Ok(()) };
    let (mut hosts, mut tags) = (Vec::new(), Vec::new());
    match (&spec.hosts, &spec.traffic) {
        (Some(names), None) => {
            hosts = vec![false; nodes.network().nodes.len()];
            for host in nodes.hosts(names, &format!("{KEY}.hosts"))? {
                hosts[host.index()] = true;
            }
        }
        (None, Some(names)) => {
            tags = vec![false; traffic.tags.len()];
            for (index, name) in names.iter().enumerate() {
                let known = || traffic.tags.iter().map(String::as_str);
                let Some(tag) = known().position(|tag| tag == name) else {
                    let why = format!("no [[traffic]] has the tag `{name}`");
                    return Err(ScenarioError::new(format!("{KEY}.traffic.{index}"), why)
                        .hint(known_words(name, known())));
                };
                tags[tag] = true;
            }
        }
        (None, None) | (Some(_), Some(_)) => {
            let why = "needs either `hosts`, the senders that have this scheme, or `traffic`, the \
                       tags that have it";
            return Err(ScenarioError::new(KEY, why));
        }
    }
    if let Some(priority) = spec.priority {
        check_priority(priority, || format!("{KEY}.priority"))?;
    }
    // By QP.
    let mut sides: Vec<Option<MixSide>> = vec![None; traffic.messages.len()];
    let mut count = 0;
    for message in &mut traffic.messages {
        let is_also = hosts.get(message.src.index()).copied().unwrap_or(false)
            || tags.get(usize::from(message.tag)).copied().unwrap_or(false);
        message.side = if is_also { also_side } else { run_side };
        if is_also {
            count += 1;
            message.priority = spec.priority.unwrap_or(message.priority);
        }
        if *sides[message.qp as usize].get_or_insert(message.side) != message.side {
            let why = "a QP carries messages of several tags, and not all have this scheme";
            return Err(ScenarioError::new(format!("{KEY}.traffic"), why)
                .hint("name all tags of the QP, or use `hosts`"));
        }
    }
    if count == 0 {
        let (key, these, name) = match spec.hosts {
            Some(_) => ("hosts", "these hosts send nothing", "hosts that send"),
            None => ("traffic", "none has one of these tags", "tags that messages have"),
        };
        let why = format!("no message has this scheme: {these}");
        return Err(ScenarioError::new(format!("{KEY}.{key}"), why)
            .hint(format!("name {name}, or leave [[scheme.also]] out")));
    }
    Ok(())
}
