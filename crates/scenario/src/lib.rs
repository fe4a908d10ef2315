//! What is to be run: scenario files, topologies, traffic.
//!
//! A scenario goes through two stages. First its TOML is read into a [`spec::Spec`], in which
//! every value has its type and unknown keys are refused. Then [`Scenario::from_spec`] checks
//! that it makes sense, builds the network, generates the messages and completes every default.
//! Only a [`Scenario`] can be run. Errors name key and line, and no input makes this crate panic.
//!
//! ```
//! let text = r#"
//!     [topology]
//!     kind = "star"
//!     hosts = 4
//!     host_rate = "100Gbps"
//!     host_delay = "1us"
//!
//!     [[traffic]]
//!     kind = "incast"
//!     senders = 3
//!     receiver = "h0"
//!     size = "1MB"
//! "#;
//! let overrides = [("traffic.0.senders".to_owned(), "2".to_owned())];
//! let scenario = scenario::parse(text, None, &overrides).unwrap();
//! assert_eq!(scenario.messages.len(), 2);
//! assert_eq!(scenario::parse(&scenario.to_toml(), None, &[]).unwrap(), scenario);
//! ```

#![forbid(unsafe_code)]

mod also;
mod catalogue;
mod checks;
mod class;
mod decode;
mod error;
mod every_error;
mod failure;
pub mod memory;
pub mod network;
mod probe;
mod random;
mod read_file;
mod receiver;
mod renamed;
mod required;
mod scenario;
mod scheme;
mod sections;
mod selector;
mod settings;
mod source;
pub mod spec;
mod topology;
mod trace;
mod traffic;
mod tree;
pub mod workload;

pub use also::AlsoScheme;
pub use catalogue::{KeyInfo, KindInfo, topology_kinds};
pub use checks::MAX_NAME_BYTES;
pub use error::ScenarioError;
pub use every_error::MAX_ERRORS;
pub use model::{
    Awaited, Cioq, HostConfig, Joins, Link, Message, Node, NodeKind, Outage, Paths, Probe,
    ProbeKind, ProbeTargets, SlowReceiver,
};
pub use network::{Network, Port};
pub use probe::NamedProbe;
pub use read_file::Files;
pub use renamed::migrate;
pub use scenario::{PathNote, RunScheme, Scenario};
pub use scheme::ResolvedScheme;
pub use sections::read_sections;
pub use settings::{
    Classes, Ecn, Headroom, MarkAt, Pfc, Run, Stop, SwitchSettings, Threshold, Wire, WireProfile,
};
pub use spec::QuirksSpec;
pub use trace::Trace;
pub use traffic::{HostPorts, MAX_MESSAGES, MAX_TIME, ROCE_PORT, SourcePorts};
pub use tree::{Tree, read_data};

use error::Result;
use source::Source;
use std::path::Path;
use tree::Value;

/// Reads the scenario file at `path`.
pub fn load(path: impl AsRef<Path>) -> Result<Scenario> {
    load_with(path, &[])
}

/// Reads the scenario file at `path`, with keys set as in [`parse`].
pub fn load_with(path: impl AsRef<Path>, overrides: &[(String, String)]) -> Result<Scenario> {
    let path = path.as_ref();
    let text = read_file::read_path(path).map_err(|why| ScenarioError::new("", why))?;
    parse(&text, Some(path), overrides)
}

/// Reads a scenario. Errors name `origin`, and relative paths in the scenario are relative to its
/// directory.
///
/// Each override is a key with its path, such as `topology.k` or `traffic.0.load`, and a value: as
/// TOML writes it, or a bare word.
///
/// # Errors
/// The first of those that [`parse_or_every_error`] returns.
pub fn parse(
    text: &str,
    origin: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scenario> {
    let files = Files::beside(origin);
    parse_or_every_error(text, origin, overrides, &files)
        .map_err(|mut errors| errors.swap_remove(0))
}

/// Reads a scenario as [`parse`] does, and the files that it names from `files`.
///
/// # Errors
/// Up to [`MAX_ERRORS`] errors, at least one, in the order of their lines. Those that only follow
/// from others are left out.
pub fn parse_or_every_error(
    text: &str,
    origin: Option<&Path>,
    overrides: &[(String, String)],
    files: &Files,
) -> std::result::Result<Scenario, Vec<ScenarioError>> {
    let read = memory::check_text(text.len()).and_then(|()| Tree::from_toml(text));
    let tree = read.map_err(|error| vec![error.in_file(origin)])?;
    read_or_every_error(tree, origin, overrides, files)
}

/// Reads a scenario as [`parse_or_every_error`] does, from the data that a TOML file would hold.
///
/// # Errors
/// Those that [`parse_or_every_error`] returns.
pub fn read_or_every_error(
    mut tree: Tree,
    origin: Option<&Path>,
    overrides: &[(String, String)],
    files: &Files,
) -> std::result::Result<Scenario, Vec<ScenarioError>> {
    if matches!(tree.at(&["schema"]), Some(Tree { value: Value::Integer(1), .. })) {
        let line = tree.line_of("schema");
        return Err(vec![checks::old_schema().at_line(line).in_file(origin)]);
    }
    let mut errors = set_keys(&mut tree, overrides);
    let spec = decode::decode(&tree).map(|spec| named_after(spec, origin));
    match spec.and_then(|spec| Scenario::from_spec(spec, files)) {
        Ok(scenario) if errors.is_empty() => {
            let file = origin.map(Path::to_path_buf);
            return Ok(scenario.with_source(Source { file, keys: Some(tree.without_long_lists()) }));
        }
        Ok(_) => {}
        Err(_) => errors.extend(every_error::find(tree, origin, files)),
    }
    errors.truncate(MAX_ERRORS);
    Err(errors.into_iter().map(|error| error.in_file(origin)).collect())
}

/// `spec` with keys set as in [`parse`].
///
/// # Errors
/// Where a key is unknown, or its value is of the wrong kind.
pub fn with_settings(spec: &spec::Spec, overrides: &[(String, String)]) -> Result<spec::Spec> {
    let mut tree = Tree::from_toml(&spec.to_toml())?;
    let refused = set_keys(&mut tree, overrides).into_iter().next();
    let changed = refused.map_or_else(|| decode::decode(&tree), Err);
    // Nobody has seen the lines of that text.
    changed.map_err(|error| ScenarioError { line: None, ..error })
}

/// Sets keys as in [`parse`], and returns what is wrong with those that cannot be set.
fn set_keys(tree: &mut Tree, overrides: &[(String, String)]) -> Vec<ScenarioError> {
    let mut errors = Vec::new();
    for (key, value) in overrides {
        // A key of the command line has no line, and may hold anything.
        errors.extend(tree.set(key, value).err().map(|error| error.at_line(None)));
    }
    errors.extend(normalise_scheme(tree).err());
    errors
}

/// `spec` with the name of its file, if it has none of its own.
fn named_after(mut spec: spec::Spec, origin: Option<&Path>) -> spec::Spec {
    if spec.name.is_none() {
        let stem = origin.and_then(Path::file_stem).and_then(|stem| stem.to_str());
        spec.name = stem.map(str::to_owned);
    }
    spec
}

/// `scheme` names one: takes several out and refuses them, and reads `scheme = "hpcc"` as its
/// name.
fn normalise_scheme(tree: &mut Tree) -> Result<()> {
    let Value::Table(table) = &mut tree.value else {
        return Ok(());
    };
    let is_list = |tree: &Tree| matches!(tree.value, Value::List(_));
    if let Some(scheme) = table.get_mut("scheme") {
        tree::expand_scheme_name(scheme);
    }
    let scheme = table.get("scheme");
    let name = scheme.and_then(|scheme| scheme.table()?.get("name"));
    let (key, line) = match (table.get("schemes"), scheme, name) {
        (Some(schemes), ..) => ("schemes", schemes.line),
        (_, Some(scheme), _) if is_list(scheme) => ("scheme", scheme.line),
        (.., Some(name)) if is_list(name) => ("scheme.name", name.line),
        _ => return Ok(()),
    };
    table.remove(key.split('.').next().unwrap_or(key));
    Err(ScenarioError::new(key, "names one scheme").at_line(line).hint(
        "to compare several, run the scenario once for each and give all results to \
         `rocelab plot`; to have two in one network, add [[scheme.also]]",
    ))
}

/// The JSON Schema of scenario files, for editors.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(spec::Spec).to_value()
}
