//! The valid scenario, and how a specification becomes one.

use crate::also::{self, AlsoScheme};
use crate::checks;
use crate::class;
use crate::error::{Result, ScenarioError};
use crate::failure;
use crate::network::Network;
use crate::probe::{self, NamedProbe};
use crate::read_file::Files;
use crate::receiver;
use crate::scheme::{self, ResolvedScheme};
use crate::selector::Selector;
use crate::settings::{self, Classes, Ecn, Pfc, Run, Stop, SwitchSettings, Wire};
use crate::source::Source;
use crate::spec::{MarkAt, PfcSpec, QuirksSpec, Spec};
use crate::topology;
use crate::trace::{self, Trace};
use crate::traffic::{self, Context, PortNumbers, Traffic};
use model::{
    Balance, ClassSettings, HostConfig, Impairment, Joins, Message, Outage, Paths, PortUse,
    SlowReceiver,
};
use schemes::contract::Fit;
use schemes::registry::SchemeInfo;
use units::{MixSide, Time};

/// A scheme of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunScheme<'a> {
    /// The key of its table.
    pub key: &'static str,
    /// What its messages have as `side`.
    pub side: MixSide,
    /// The scheme with its parameters.
    pub scheme: &'a ResolvedScheme,
}

/// What a scheme does not do well with the way in which packets are spread or recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathNote {
    /// The scheme.
    pub scheme: &'static str,
    /// The key that asks for it.
    pub key: &'static str,
    /// It completes "scheme NAME: ...".
    pub note: &'static str,
}

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
    /// What messages wait for.
    pub joins: Joins,
    /// The tags that messages refer to.
    pub tags: Vec<String>,
    /// The entries of `[[traffic]]` that have no message, by their index.
    pub empty_traffic: Vec<usize>,
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
    /// When switches look at the queue to mark a packet, also where only single classes are marked.
    pub mark_at: MarkAt,
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
    /// Returns the keys of the marking law of `[ecn]` that are given though it is off. Classes with
    /// laws of their own take nothing from it.
    pub fn unused_marking(&self) -> Vec<&'static str> {
        if self.ecn.is_some() {
            return Vec::new();
        }
        let ecn = &self.spec.ecn;
        let given = [
            ("ecn.kmin", ecn.kmin.is_some()),
            ("ecn.kmax", ecn.kmax.is_some()),
            ("ecn.pmax", ecn.pmax.is_some()),
            ("ecn.reference_rate", ecn.reference_rate.is_some()),
            ("ecn.by_rate", !ecn.by_rate.is_empty()),
        ];
        given.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
    }

    /// Returns the keys of pause thresholds and headroom that are given though nothing pauses.
    pub fn unused_thresholds(&self) -> Vec<&'static str> {
        let pfc = &self.spec.pfc;
        if self.pfc.pauses(&self.classes) {
            return Vec::new();
        }
        let given = [
            ("pfc.threshold", pfc.threshold.is_some()),
            ("pfc.xoff", pfc.xoff.is_some()),
            ("pfc.xon", pfc.xon.is_some()),
            ("pfc.alpha", pfc.alpha.is_some()),
            ("pfc.resume_offset", pfc.resume_offset.is_some()),
            ("pfc.reserve", pfc.reserve.is_some()),
            ("pfc.headroom", pfc.headroom != PfcSpec::default().headroom),
        ];
        given.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
    }

    /// Checks a specification and builds what it describes. The files that it names are read from
    /// `files`.
    pub fn from_spec(mut spec: Spec, files: &Files) -> Result<Scenario> {
        checks::schema(spec.schema)?;
        let name = checks::name(&mut spec.name)?;
        let run = settings::run(&spec.run)?;
        let classes = settings::classes(&spec.classes, &spec.quirks)?;
        let wire = settings::wire(&spec.wire)?;
        settings::quirks(&mut spec.quirks, spec.run.seed)?;

        let network = topology::resolve(&mut spec.topology, files, wire.error_rate)?;
        let scheme = scheme::resolve(&mut spec.scheme, network.min_host_rate())?;
        let also = also::resolve(&mut spec.scheme.also, &scheme, network.min_host_rate())?;
        checks::also_without_quirks(also.as_ref(), &spec.quirks)?;
        // What both schemes of a run need, it has to have.
        let needs = also.as_ref().map_or(scheme.info, AlsoScheme::info);
        let switch = settings::switch(&mut spec.switch, needs, &spec.quirks)?;
        let law = also::marking_law(&scheme, also.as_ref());
        let given_ecn = spec.ecn.clone();
        let ecn = settings::ecn(&mut spec.ecn, law.as_ref(), scheme.info, &scheme.preset)?;
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

        let balance = settings::balance(
            &mut spec.routing,
            &spec.quirks,
            &switch,
            (&pfc, &classes),
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
            files,
            port_numbers: PortNumbers::of(&spec.quirks),
        };
        let mut traffic = traffic::resolve(&mut spec.traffic, &context)?;
        checks::has_messages(&traffic, &spec.traffic, run.stop)?;
        if let Some(also) = &also {
            also::assign(&spec.scheme.also, also.sides(&scheme), &nodes, &mut traffic)?;
            checks::tags(&traffic, [scheme.info.name, also.scheme.info.name])?;
            also::check_laws(
                [&scheme, &also.scheme],
                &given_ecn,
                &network,
                &class_settings,
                &traffic,
            )?;
        }
        let is_lossless = spec.failure.iter().all(failure::loses_nothing)
            && network.links.iter().all(|link| link.pfc && link.error_rate == 0.0)
            && traffic.messages.iter().all(|message| pfc.protects(&classes, message.priority));
        let host = settings::host(
            &mut spec.host,
            needs,
            (&network, &spec.failure),
            &spec.quirks,
            is_lossless.then(|| switch.largest_buffer(&network)),
            balance.is_per_packet(),
        )?;
        settings::check_spray(&spec.routing, &host)?;
        settings::check_ports_of_trees(&spec.routing, &host)?;
        for one in [Some(&scheme), also.as_ref().map(|also| &also.scheme)].into_iter().flatten() {
            settings::check_scheme(one.info, &settings::demands(one.info, &balance, &host))?;
        }
        checks::priorities(&traffic, needs)?;
        checks::trees(&routing, needs)?;
        let probes = probe::resolve(&mut spec.probe, &nodes, &traffic, &run)?;
        let trace = trace::resolve(&spec.trace, &nodes)?;
        let (outages, impairments) = failure::resolve(&spec.failure, &nodes, &spec.quirks)?;
        checks::pause_times_of_slow_links(&impairments, &network, &pfc)?;
        let slow_receivers = receiver::resolve(
            &mut spec.receiver,
            &nodes,
            (&pfc, &classes),
            host.latency,
            &wire,
            &spec.quirks,
        )?;
        if switch.cioq.is_some() {
            checks::sound_links(&network, &spec.failure, &wire, needs)?;
        }
        let Traffic { messages, joins, tags, empty: empty_traffic } = traffic;
        Ok(Scenario {
            name,
            description: spec.description.clone().unwrap_or_default(),
            run,
            network,
            outages,
            impairments,
            slow_receivers,
            messages,
            joins,
            tags,
            empty_traffic,
            scheme,
            also,
            wire,
            host,
            switch,
            pfc,
            ecn,
            mark_at: spec.ecn.mark_at,
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

    /// The schemes of the run as the file has them: that of `[scheme]`, and that of
    /// `[[scheme.also]]` if there is one.
    pub fn schemes(&self) -> impl Iterator<Item = RunScheme<'_>> {
        let also = self.also.as_ref();
        let [run_side, also_side] = also.map_or(MixSide::ALL, |also| also.sides(&self.scheme));
        let of_run = RunScheme { key: "scheme", side: run_side, scheme: &self.scheme };
        let of_also =
            also.map(|also| RunScheme { key: also::KEY, side: also_side, scheme: &also.scheme });
        [Some(of_run), of_also].into_iter().flatten()
    }

    /// The schemes of a run that has two, in the order of the registry's mix: a message's `side` is
    /// an index.
    pub fn schemes_of_mix(&self) -> Option<(&ResolvedScheme, &ResolvedScheme)> {
        let also = self.also.as_ref()?;
        Some(match also.sides(&self.scheme) {
            [MixSide::First, _] => (&self.scheme, &also.scheme),
            [MixSide::Second, _] => (&also.scheme, &self.scheme),
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

    /// What the schemes do not do well with the way in which packets are spread and recovered.
    pub fn notes_on_paths(&self) -> Vec<PathNote> {
        let mut notes = Vec::new();
        for RunScheme { scheme, .. } in self.schemes() {
            for (key, fit) in settings::demands(scheme.info, &self.balance, &self.host) {
                if let Fit::Note(note) = fit {
                    notes.push(PathNote { scheme: scheme.info.name, key, note });
                }
            }
        }
        notes
    }

    /// Whether switches have nothing to choose.
    pub fn has_one_way(&self) -> bool {
        self.routing == Paths::SpanningTrees(1) || self.network.has_one_way()
    }

    /// The key that has packets of a flow take several paths, if one does: they may overtake each
    /// other.
    pub fn spreading_key(&self) -> Option<&'static str> {
        let by_switches = self.balance.is_per_packet().then_some("routing.balance");
        by_switches
            .or(self.host.spray.is_per_packet().then_some("host.spray"))
            .filter(|_| !self.has_one_way())
            .or((self.host.ports == PortUse::Spray).then_some("host.ports"))
    }

    /// The retransmission timeout that hosts of this network have by default where packets may be
    /// lost.
    pub fn usual_timeout(&self) -> Time {
        settings::usual_timeout(&self.network, &self.spec.failure, None)
    }
}
