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

mod catalogue;
mod decode;
mod error;
mod failure;
pub mod memory;
pub mod network;
mod probe;
mod random;
mod read_file;
mod renamed;
mod scenario;
mod scheme;
mod selector;
mod settings;
mod source;
pub mod spec;
mod topology;
mod trace;
mod traffic;
mod tree;
pub mod workload;

pub use catalogue::{KeyInfo, KindInfo, topology_kinds};
pub use error::ScenarioError;
pub use model::{After, Link, Message, Node, NodeKind, Outage, Probe, ProbeKind, ProbeTargets};
pub use network::{Network, Port};
pub use probe::NamedProbe;
pub use renamed::migrate;
pub use scenario::{MAX_NAME_BYTES, Scenario};
pub use scheme::ResolvedScheme;
pub use settings::{
    Cioq, Classes, Ecn, Headroom, HostSettings, MarkAt, Pfc, Routing, Run, Stop, SwitchSettings,
    Threshold, Wire, WireProfile,
};
pub use spec::QuirksSpec;
pub use trace::Trace;
pub use traffic::{MAX_MESSAGES, MAX_TIME, ROCE_PORT, SourcePorts};

use error::Result;
use source::Source;
use std::path::Path;
use tree::{Tree, Value};

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
pub fn parse(
    text: &str,
    origin: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scenario> {
    let checked = memory::check_text(text.len()).and_then(|()| Tree::from_toml(text));
    let parsed = checked.and_then(|tree| build(tree, origin, overrides));
    parsed.map_err(|error| error.in_file(origin))
}

/// `spec` with keys set as in [`parse`].
///
/// # Errors
/// Where a key is unknown, or its value is of the wrong kind.
pub fn with_settings(spec: &spec::Spec, overrides: &[(String, String)]) -> Result<spec::Spec> {
    let mut tree = Tree::from_toml(&spec.to_toml())?;
    let changed = set_keys(&mut tree, overrides).and_then(|()| decode::decode(&tree));
    // Nobody has seen the lines of that text.
    changed.map_err(|error| ScenarioError { line: None, ..error })
}

fn set_keys(tree: &mut Tree, overrides: &[(String, String)]) -> Result<()> {
    for (key, value) in overrides {
        // A key of the command line has no line, and may hold anything.
        tree.set(key, value).map_err(|error| error.at_line(None))?;
    }
    normalise_scheme(tree)
}

fn build(
    mut tree: Tree,
    origin: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scenario> {
    if matches!(tree.at(&["schema"]), Some(Tree { value: Value::Integer(1), .. })) {
        return Err(scenario::old_schema().at_line(tree.line_of("schema")));
    }
    set_keys(&mut tree, overrides)?;
    let mut spec: spec::Spec = decode::decode(&tree)?;
    if spec.name.is_none() {
        let stem = origin.and_then(Path::file_stem).and_then(|stem| stem.to_str());
        spec.name = stem.map(str::to_owned);
    }
    match Scenario::from_spec(spec, origin.and_then(Path::parent)) {
        Ok(scenario) => {
            let file = origin.map(Path::to_path_buf);
            Ok(scenario.with_source(Source { file, keys: Some(tree.without_long_lists()) }))
        }
        // A line of another file is that file's.
        Err(error) if error.file.is_some() => Err(error),
        Err(error) => {
            let line = tree.line_of(&error.key);
            Err(error.at_line(line))
        }
    }
}

/// A run has one scheme: refuses several, and reads `scheme = "hpcc"` as its name.
fn normalise_scheme(tree: &mut Tree) -> Result<()> {
    let several = |key: &str, line| {
        Err(ScenarioError::new(key, "a run has exactly one scheme").at_line(line).hint(
            "to compare several, run the scenario once for each and give all results to \
                `rocelab plot`",
        ))
    };
    let Value::Table(table) = &mut tree.value else {
        return Ok(());
    };
    if let Some(schemes) = table.get("schemes") {
        return several("schemes", schemes.line);
    }
    let Some(scheme) = table.get_mut("scheme") else {
        return Ok(());
    };
    tree::expand_scheme_name(scheme);
    if let Value::List(_) = scheme.value {
        return several("scheme", scheme.line);
    }
    if let Some(name) = scheme.table().and_then(|table| table.get("name"))
        && let Value::List(_) = name.value
    {
        return several("scheme.name", name.line);
    }
    Ok(())
}

/// The JSON Schema of scenario files, for editors.
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(spec::Spec).to_value()
}
