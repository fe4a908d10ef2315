//! The scenario file as written: every key, its type and its default.
//!
//! A [`Spec`] says what a file said, nothing more. [`Scenario`](crate::Scenario) is what remains
//! when it has been found to make sense. The JSON Schema for editors comes from these types, so
//! the doc comments here are what users read.

mod class;
mod failure;
mod paths;
mod probe;
mod quantity;
mod quirks;
mod receiver;
mod settings;
mod topology;
mod trace;
mod traffic;
mod word_or_value;

pub use class::{ClassEcnSpec, ClassPfcSpec, ClassSpec};
pub use failure::FailureSpec;
pub use paths::{BalanceKind, ConWeaveSpec, CongaSpec, LossAfter, RepsSpec, SpanSpec, SprayKind};
pub use probe::{ProbePreset, ProbeSpec};
pub use quantity::{Quantity, Unit};
pub use quirks::QuirksSpec;
pub use receiver::ReceiverSpec;
pub use settings::{
    Architecture, ClassesSpec, EcnRateSpec, EcnSpec, HashKind, HostSpec, MarkAt, PathsKind,
    PfcSpec, RoutingSpec, SwitchSpec, ThresholdKind, WatchdogActionSpec, WatchdogSpec, WireProfile,
    WireSpec,
};
pub use topology::{
    CoreWiring, CrossDcSpec, CustomSpec, DumbbellSpec, FatTreeSpec, FileSpec, LeafSpineSpec,
    LinkSpec, NodeSpec, StarSpec, ThreeTierSpec, TopologySpec,
};
pub use trace::TraceSpec;
pub use traffic::{
    BurstsSpec, CollectiveOperation, CollectiveSpec, DestinationMix, FlowSpec, FlowsSpec,
    IncastSpec, PermutationSpec, PoissonSpec, RequestResponseSpec, TrafficSpec,
};
pub use word_or_value::{
    AckPriority, DataPriority, FlowSelector, Headroom, HostSet, PauseTimeSpec, RefreshSpec,
    ResponseSpec, StopSpec, Timeout,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::Time;

/// The version of the scenario format that this program reads and writes.
pub const SCHEMA_VERSION: u32 = 2;

/// A rocelab scenario: what network, what traffic, what scheme, what to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "rocelab scenario")]
pub struct Spec {
    /// Version of the scenario format: 2.
    #[serde(default = "schema_version")]
    pub schema: u32,
    /// Name of the scenario; default: the file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the scenario shows, in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Seed and end of the run.
    #[serde(default)]
    pub run: RunSpec,
    /// The network.
    pub topology: TopologySpec,
    /// The congestion-control scheme: a table, or its name alone.
    #[serde(default)]
    #[schemars(with = "SchemeOrName")]
    pub scheme: SchemeSpec,
    /// What is on the wire.
    #[serde(default)]
    pub wire: WireSpec,
    /// Every host's RNIC.
    #[serde(default)]
    pub host: HostSpec,
    /// Every switch.
    #[serde(default)]
    pub switch: SwitchSpec,
    /// Priority flow control.
    #[serde(default)]
    pub pfc: PfcSpec,
    /// ECN marking at switches.
    #[serde(default)]
    pub ecn: EcnSpec,
    /// Which priority carries what, and how ports schedule priorities.
    #[serde(default)]
    pub classes: ClassesSpec,
    /// How switches choose among equal paths.
    #[serde(default)]
    pub routing: RoutingSpec,
    /// What is done as the HPCC authors' ns-3 simulator does it.
    #[serde(default, skip_serializing_if = "QuirksSpec::is_native")]
    pub quirks: QuirksSpec,
    /// The messages to send: any number of generators at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<TrafficSpec>,
    /// The hosts that take data slowly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receiver: Vec<ReceiverSpec>,
    /// The links that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure: Vec<FailureSpec>,
    /// The time series to record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<ProbeSpec>,
    /// The single events to record.
    #[serde(default, skip_serializing_if = "TraceSpec::is_default")]
    pub trace: TraceSpec,
}

impl Spec {
    /// The scenario file that says this.
    pub fn to_toml(&self) -> String {
        match toml::Table::try_from(self).and_then(|table| toml::to_string(&table)) {
            Ok(text) => text,
            // Nothing in a specification is beyond TOML: its integers come from TOML, or are
            // checked to fit.
            Err(error) => unreachable!("a specification can be written: {error}"),
        }
    }
}

fn schema_version() -> u32 {
    SCHEMA_VERSION
}

/// Seed and end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunSpec {
    /// Seed of every random choice.
    pub seed: u64,
    /// When to stop: "flows-done", or a simulated time such as "2ms".
    pub stop: StopSpec,
    /// With "flows-done": give up at this simulated time.
    pub time_limit: Quantity<Time>,
    /// Maximum number of samples of all probes together; an event of a trace counts as five.
    /// Sampling stops at the first whole microsecond after the limit, and the run goes on. Samples
    /// beyond 32 MiB go to a temporary file, up to 16 bytes each.
    pub max_samples: u64,
}

impl Default for RunSpec {
    fn default() -> RunSpec {
        RunSpec {
            seed: 1,
            stop: StopSpec::FlowsDone,
            time_limit: Quantity(Time::from_ms(10_000)),
            max_samples: 100_000_000,
        }
    }
}

/// For the JSON Schema: [`parse`](crate::parse) has turned a name into a table before a [`Spec`]
/// is read.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "its schema is used, never a value")]
enum SchemeOrName {
    Name(#[schemars(extend("pattern" = scheme_names()))] String),
    Scheme(SchemeSpec),
}

/// For the JSON Schema: a regular expression of the names of schemes.
fn scheme_names() -> String {
    let names = schemes::registry::all().iter().map(|scheme| scheme.name.replace('+', r"\+"));
    format!("^(?:{})$", names.collect::<Vec<_>>().join("|"))
}

/// The congestion-control scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemeSpec {
    /// Name of the scheme, as `rocelab list schemes` prints it.
    #[schemars(extend("pattern" = scheme_names()))]
    pub name: String,
    /// Named set of parameters; default: the scheme's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Parameters that differ from the preset.
    #[serde(default)]
    pub params: BTreeMap<String, ParamValue>,
    /// A second scheme, which some of the senders or some of the traffic have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoSpec>,
}

/// A second scheme in the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlsoSpec {
    /// Name of the scheme. `rocelab list SCHEME` says which go beside it.
    #[schemars(extend("pattern" = scheme_names()))]
    pub name: String,
    /// Named set of parameters; default: the scheme's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Parameters that differ from the preset.
    #[serde(default)]
    pub params: BTreeMap<String, ParamValue>,
    /// The hosts that send with this scheme: names, ranges `h0..h15` or patterns `h1*`. Either this
    /// or `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// The tags of the traffic that is sent with this scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Vec<String>>,
    /// Priority of all data that is sent with this scheme, 0 to 7; default: as `[[traffic]]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

impl Default for SchemeSpec {
    fn default() -> SchemeSpec {
        SchemeSpec {
            name: "none".to_owned(),
            preset: None,
            params: BTreeMap::new(),
            also: Vec::new(),
        }
    }
}

/// The value of a scheme's parameter as written; quantities are texts with their unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ParamValue {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A quantity with its unit, or a word.
    Text(String),
}
