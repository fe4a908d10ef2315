//! The valid scenario, and how a specification becomes one.

use crate::also::{self, AlsoScheme};
use crate::class;
use crate::error::{Result, ScenarioError};
use crate::failure;
use crate::network::Network;
use crate::probe::{self, NamedProbe};
use crate::receiver;
use crate::scheme::{self, ResolvedScheme};
use crate::selector::Selector;
use crate::settings::{self, Classes, Ecn, Pfc, Run, Stop, SwitchSettings, Wire};
use crate::source::Source;
use crate::spec::{FailureSpec, QuirksSpec, SCHEMA_VERSION, Spec};
use crate::topology;
use crate::trace::{self, Trace};
use crate::traffic::{self, Context, Traffic};
use model::{
    Balance, ClassSettings, HostConfig, Impairment, Message, Outage, Paths, PortUse, SlowReceiver,
};
use schemes::contract::Fit;
use schemes::registry::SchemeInfo;
use std::path::Path;
use units::Time;

/// Most bytes of a scenario's name. What a file system takes for one is 255; while a result is
/// written, its own has more.
pub const MAX_NAME_BYTES: usize = 200;

/// A scenario that has been found to make sense: what can be run.
///
/// Made by [`load`](crate::load), [`parse`](crate::parse) or [`Scenario::from_spec`], and by
/// nothing else.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// Seed and end of the run.
    pub run: Run,
    /// The network.
    pub network: Network,
    /// When links of it fail.
    pub outages: Vec<Outage>,
    /// When links of it are slow or lossy.
    pub impairments: Vec<Impairment>,
    /// The hosts that take data slowly.
    pub slow_receivers: Vec<SlowReceiver>,
    /// The messages in order of (start, generation); a flow's id is its index here.
    pub messages: Vec<Message>,
    /// The tags that messages refer to.
    pub tags: Vec<String>,
    /// The scheme; where there are two, the one of all messages that are not the other's.
    pub scheme: ResolvedScheme,
    /// The second scheme.
    pub also: Option<AlsoScheme>,
    /// What is on the wire.
    pub wire: Wire,
    /// Every host's RNIC.
    pub host: HostConfig,
    /// Every switch.
    pub switch: SwitchSettings,
    /// Priority flow control.
    pub pfc: Pfc,
    /// ECN marking; `None` where switches do not mark.
    pub ecn: Option<Ecn>,
    /// Priorities.
    pub classes: Classes,
    /// What single classes have of their own.
    pub class_settings: Vec<ClassSettings>,
    /// Which paths packets may use.
    pub routing: Paths,
    /// How switches choose among next hops.
    pub balance: Balance,
    /// The time series to record.
    pub probes: Vec<NamedProbe>,
    /// What is recorded event by event.
    pub trace: Trace,
    /// What is done as in the HPCC simulator.
    pub quirks: QuirksSpec,
    /// The specification with every default filled in.
    spec: Spec,
    /// Where it was written.
    source: Source,
}

impl Scenario {
    /// Returns the keys with thresholds of `[ecn]` that are given though nothing is marked.
    pub fn unused_marking(&self) -> Vec<&'static str> {
        let own_law = |class: &ClassSettings| class.marking.is_some();
        if self.ecn.is_some() || self.class_settings.iter().any(own_law) {
            return Vec::new();
        }
        let ecn = &self.spec.ecn;
        let given = [
            ("ecn.kmin", ecn.kmin.is_some()),
            ("ecn.kmax", ecn.kmax.is_some()),
            ("ecn.pmax", ecn.pmax.is_some()),
            ("ecn.by_rate", !ecn.by_rate.is_empty()),
        ];
        given.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
    }

    /// Checks a specification and builds what it describes. Relative paths in it are relative to
    /// `base`.
    pub fn from_spec(mut spec: Spec, base: Option<&Path>) -> Result<Scenario> {
        if spec.schema == 1 {
            return Err(old_schema());
        }
        if spec.schema != SCHEMA_VERSION {
            return Err(ScenarioError::new(
                "schema",
                format!("version {} is unknown; this program reads {SCHEMA_VERSION}", spec.schema),
            ));
        }
        let name = spec.name.get_or_insert_with(|| "scenario".to_owned()).clone();
        if name.is_empty()
            || name.len() > MAX_NAME_BYTES
            || name.starts_with('.')
            || name.chars().any(|c| c.is_control() || c == '/')
        {
            return Err(ScenarioError::new(
                "name",
                format!("{name:?} cannot be a scenario's name"),
            )
            .hint(
                "the directory of its result is called so: give it a `name` of 1 to 200 bytes (a \
                     letter beyond ASCII has two to four), without `/` and control characters, no \
                     `.` first",
            ));
        }
        let run = settings::run(&spec.run)?;
        let classes = settings::classes(&spec.classes, &spec.quirks)?;
        let wire = settings::wire(&spec.wire)?;
        settings::quirks(&mut spec.quirks)?;

        let network = topology::resolve(&mut spec.topology, base, wire.error_rate)?;
        let scheme = scheme::resolve(&mut spec.scheme, network.min_host_rate())?;
        let also = also::resolve(&mut spec.scheme.also, &scheme, network.min_host_rate())?;
        if also.is_some() && !spec.quirks.is_native() {
            let why = "does not go with quirks: the HPCC simulator has one scheme in a run";
            return Err(ScenarioError::new("scheme.also", why)
                .hint("leave [[scheme.also]] out, or turn the quirks off"));
        }
        // What both schemes of a run need, it has to have.
        let needs = also.as_ref().map_or(scheme.info, AlsoScheme::info);
        let switch = settings::switch(&mut spec.switch, needs, &spec.quirks)?;
        let law = also::marking_law(&scheme, also.as_ref(), &spec.ecn)?;
        let ecn = settings::ecn(&mut spec.ecn, law.as_ref(), scheme.info.name, &scheme.preset)?;
        let routing = settings::routing(&mut spec.routing, needs, &network, &spec.quirks)?;
        let mut pfc =
            settings::pfc(&mut spec.pfc, &switch, &classes, &wire, &network, &spec.quirks)?;

        let class_settings = class::resolve(
            &mut spec.classes.settings,
            &classes,
            &mut pfc,
            &switch,
            &network,
            &spec.quirks,
        )?;

        let pauses_data = pfc.enabled && classes.lossless.contains(&classes.data);
        let balance = settings::balance(
            &mut spec.routing,
            &spec.quirks,
            switch.cioq.is_some(),
            pauses_data,
            &network,
        )?;
        settings::check_own_memory(&balance, &pfc, &classes)?;
        let nodes = Selector::new(&network);
        let context = Context {
            seed: run.seed,
            nodes: &nodes,
            data_class: classes.data,
            stop: match run.stop {
                Stop::FlowsDone => None,
                Stop::At(stop) => Some(stop),
            },
            base,
            ns3_source_ports: spec.quirks.ns3_ecmp_hash,
        };
        let mut traffic = traffic::resolve(&mut spec.traffic, &context)?;
        if traffic.messages.is_empty() && run.stop == Stop::FlowsDone {
            let (why, mend) = match spec.traffic.is_empty() {
                true => ("there is no message to send", "give a [[traffic]]"),
                false => (
                    "none of it has a message to send",
                    "give messages, let it last longer or have more load",
                ),
            };
            return Err(ScenarioError::new("traffic", why)
                .hint(format!("{mend}, or give a time as `run.stop`")));
        }
        if let Some(also) = &also {
            let is_first = also.is_first_of_mix(&scheme);
            also::assign(&spec.scheme.also, is_first, &nodes, &mut traffic)?;
            check_tags(&traffic, [scheme.info.name, also.scheme.info.name])?;
        }
        let protects =
            |message: &Message| pfc.enabled && classes.lossless.contains(&message.priority);
        let is_lossless = spec.failure.is_empty()
            && network.links.iter().all(|link| link.pfc && link.error_rate == 0.0)
            && traffic.messages.iter().all(protects);
        let host = settings::host(
            &mut spec.host,
            needs,
            &network,
            &spec.quirks,
            is_lossless.then_some(switch.buffer),
            balance.is_per_packet(),
        )?;
        settings::check_spray(&spec.routing, &host)?;
        let demands = settings::demands(needs, &balance, &host);
        settings::check_scheme(needs, &demands)?;
        check_priorities(&traffic, needs)?;
        check_trees(&routing, needs)?;
        let probes = probe::resolve(&mut spec.probe, &nodes, &traffic, &run)?;
        let trace = trace::resolve(&spec.trace, &nodes)?;
        let (outages, impairments) = failure::resolve(&spec.failure, &nodes, &spec.quirks)?;
        for impairment in &impairments {
            let link = &network.links[impairment.link as usize];
            if let Some(rate) = impairment.rate.filter(|_| link.pfc) {
                settings::check_pause_times(&pfc.timing, link, rate)?;
            }
        }
        let slow_receivers = receiver::resolve(&mut spec.receiver, &nodes, &pfc, &spec.quirks)?;
        if switch.cioq.is_some() {
            check_sound_links(&network, &spec.failure, &wire, needs)?;
        }
        let Traffic { messages, tags } = traffic;
        Ok(Scenario {
            name,
            description: spec.description.clone().unwrap_or_default(),
            run,
            network,
            outages,
            impairments,
            slow_receivers,
            messages,
            tags,
            scheme,
            also,
            wire,
            host,
            switch,
            pfc,
            ecn,
            classes,
            class_settings,
            routing,
            balance,
            probes,
            trace,
            quirks: spec.quirks.clone(),
            spec,
            source: Source::default(),
        })
    }

    /// Adds the place where it was written.
    pub(crate) fn with_source(self, source: Source) -> Scenario {
        Scenario { source, ..self }
    }

    /// `error`, which was found in this scenario after it was read, with its file and line.
    #[must_use]
    pub fn with_location(&self, error: ScenarioError) -> ScenarioError {
        self.source.with_location(error)
    }

    /// The specification with every default filled in.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The complete, effective scenario file: every key with its value, files replaced by what
    /// they say. Reading it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        self.spec.to_toml()
    }

    /// The entry of the registry of the scheme, or of both together.
    pub fn needs(&self) -> &'static SchemeInfo {
        self.also.as_ref().map_or(self.scheme.info, AlsoScheme::info)
    }

    /// The schemes of a run that has two, in the order of the registry's mix: a message's `law` is
    /// an index.
    pub fn schemes_of_mix(&self) -> Option<(&ResolvedScheme, &ResolvedScheme)> {
        let also = self.also.as_ref()?;
        Some(match also.is_first_of_mix(&self.scheme) {
            true => (&also.scheme, &self.scheme),
            false => (&self.scheme, &also.scheme),
        })
    }

    /// The names of the schemes of a run, in the order of the laws of its messages. Two of one name
    /// are distinguished.
    pub fn scheme_names(&self) -> Vec<String> {
        match self.schemes_of_mix() {
            None => vec![self.scheme.info.name.to_owned()],
            Some((first, second)) if first.info.name == second.info.name => {
                let name = first.info.name;
                vec![name.to_owned(), format!("{name} also")]
            }
            Some((first, second)) => [first, second].map(|one| one.info.name.to_owned()).to_vec(),
        }
    }

    /// What the scheme does not do well with the way in which packets are spread and recovered: the
    /// key that asks for it, and a note.
    pub fn notes_on_paths(&self) -> Vec<(&'static str, &'static str)> {
        settings::demands(self.needs(), &self.balance, &self.host)
            .into_iter()
            .filter_map(|(key, fit)| match fit {
                Fit::Note(note) => Some((key, note)),
                Fit::Works | Fit::Refused(_) => None,
            })
            .collect()
    }

    /// The key that has packets of a flow take several paths, if one does: they may overtake each
    /// other.
    pub fn spreading_key(&self) -> Option<&'static str> {
        let by_switches = self.balance.is_per_packet().then_some("routing.balance");
        by_switches.or(self.host.spray.is_per_packet().then_some("host.spray")).or((self
            .host
            .ports
            == PortUse::Spray)
            .then_some("host.ports"))
    }

    /// The retransmission timeout that hosts of this network have by default where packets may be
    /// lost.
    pub fn usual_timeout(&self) -> Time {
        settings::usual_timeout(&self.network, None)
    }
}

/// A scenario of schema 1, some keys of which have other names now.
pub(crate) fn old_schema() -> ScenarioError {
    ScenarioError::new("schema", format!("version 1 is old; this program reads {SCHEMA_VERSION}"))
        .hint("`rocelab migrate FILE` rewrites a file")
}

/// Statistics are by tag, and where a run has two schemes by scheme: names must tell them apart.
fn check_tags(traffic: &Traffic, schemes: [&str; 2]) -> Result<()> {
    match traffic.tags.iter().find(|tag| schemes.contains(&tag.as_str())) {
        None => Ok(()),
        Some(tag) => {
            let why = format!("messages have the tag \"{tag}\", which is a scheme of this run");
            Err(ScenarioError::new("traffic", why).hint("give them another tag"))
        }
    }
}

/// Some schemes take the queues of a port for one.
fn check_priorities(traffic: &Traffic, scheme: &SchemeInfo) -> Result<()> {
    let Some(first) = traffic.messages.first().filter(|_| scheme.one_data_priority) else {
        return Ok(());
    };
    match traffic.messages.iter().find(|message| message.priority != first.priority) {
        None => Ok(()),
        Some(other) => {
            let why = format!(
                "messages have priorities {} and {}, and scheme {} takes the queues of a port for \
                 one",
                first.priority, other.priority, scheme.name
            );
            Err(ScenarioError::new("traffic", why).hint("give all of them one priority"))
        }
    }
}

/// The ports of spanning trees are of different paths: who goes from one to another may go in a
/// circle.
fn check_trees(routing: &Paths, scheme: &SchemeInfo) -> Result<()> {
    if !scheme.reroutes || !matches!(routing, Paths::SpanningTrees { .. }) {
        return Ok(());
    }
    let why = format!(
        "scheme {} chooses among ports of equal cost, and spanning trees have none",
        scheme.name
    );
    Err(ScenarioError::new("routing.paths", why).hint("set routing.paths = \"shortest\""))
}

/// CIOQ switches know no links that fail or lose packets.
fn check_sound_links(
    network: &Network,
    failures: &[FailureSpec],
    wire: &Wire,
    scheme: &SchemeInfo,
) -> Result<()> {
    let why = "CIOQ switches (switch.architecture = \"cioq\") have sound links only";
    let hint = if scheme.input_queues {
        format!("scheme {} needs such switches: choose another", scheme.name)
    } else {
        "set switch.architecture = \"shared-memory\"".to_owned()
    };
    let refuse = |key: String, why: String| Err(ScenarioError::new(key, why).hint(hint.clone()));
    if !failures.is_empty() {
        return refuse("failure".to_owned(), why.to_owned());
    }
    match network.links.iter().enumerate().find(|(_, link)| link.error_rate > 0.0) {
        None => Ok(()),
        Some((_, link)) if link.error_rate == wire.error_rate => {
            refuse("wire.error_rate".to_owned(), why.to_owned())
        }
        // Only links that are listed have rates of their own.
        Some((index, link)) => refuse(
            format!("topology.links.{index}.error_rate"),
            format!("{}:{} damages packets, and {why}", network.name(link.a), network.name(link.b)),
        ),
    }
}
