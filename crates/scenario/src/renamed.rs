//! Keys of schema 1 that have another name in schema 2, and what rewrites files that have them.

use crate::checks;
use crate::error::{Result, ScenarioError};
use crate::spec::SCHEMA_VERSION;
use crate::tree::{Tree, Value};
use schemes::params::ParamSpec;
use schemes::registry;
use std::collections::BTreeMap;
use toml_parser::parser::{Event, EventKind, parse_document};
use toml_parser::{ParseError, Source, Span};

/// A table of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table<'a> {
    /// The table of this name.
    Named(&'a str),
    /// A `[topology]` of this kind, also that inside a data centre.
    Topology(&'a str),
    /// A `[[traffic]]` of this kind.
    Traffic(&'a str),
    /// `[scheme.params]` of any scheme that has a parameter of the new name.
    Params,
}
use Table::{Named, Params, Topology, Traffic};

/// Where a key was, its name in schema 1, its name in schema 2.
const RENAMED: &[(Table<'_>, &str, &str)] = &[
    (Named("run"), "most_samples", "max_samples"),
    (Named("run"), "limit", "time_limit"),
    (Named("ecn"), "at", "reference_rate"),
    (Topology("dumbbell"), "side", "side_hosts"),
    (Topology("leaf-spine"), "parallel", "links_per_pair"),
    (Topology("cross-dc"), "inside", "data_centre"),
    (Topology("cross-dc"), "dcs", "data_centres"),
    (Traffic("poisson"), "flows", "messages"),
    (Traffic("request-response"), "flows", "messages"),
    (Traffic("request-response"), "inter", "inter_share"),
    (Traffic("request-response"), "mix", "destination_mix"),
    (Traffic("request-response"), "request", "request_size"),
    (Traffic("request-response"), "service", "service_time"),
    (Traffic("collective"), "compute", "compute_time"),
    (Named("quirks"), "node_hash", "ns3_ecmp_hash"),
    (Named("quirks"), "shifted_threshold", "rate_scaled_alpha"),
    (Named("quirks"), "threshold_wraps", "threshold_wraparound"),
    (Named("quirks"), "stale_turn", "stale_scan_index"),
    (Named("quirks"), "missed_wake_up", "missed_wakeup"),
    (Named("quirks"), "packet_turns", "packet_round_robin"),
    (Named("quirks"), "emission_order", "ns3_tie_order"),
    (Named("quirks"), "ns3_streams", "ns3_ecn_draws"),
    (Params, "least_window", "min_window"),
    (Params, "most_window", "max_window"),
    (Params, "calm_samples", "quiet_samples"),
    (Params, "cuts", "cut_rule"),
    (Params, "release", "release_rule"),
    (Params, "block_most", "block_max"),
    (Params, "form", "switch_variant"),
    (Params, "stall", "stall_after_requeue"),
    (Params, "at", "reference_rate"),
    (Params, "hai_after", "hai_threshold"),
    (Params, "certain_count", "certain_mark_count"),
    (Params, "sent", "sent_counter"),
    (Params, "voq", "voq_per"),
    (Params, "scope", "control_scope"),
];

/// Returns what `key`, the path of a key that the format does not know, is called in schema 2.
/// The whole path is returned.
pub(crate) fn new_name(scenario: &Tree, key: &str) -> Option<String> {
    let (path, old) = key.rsplit_once('.')?;
    let steps: Vec<&str> = path.split('.').collect();
    Some(format!("{path}.{}", renamed(scenario, &steps, old)?))
}

/// Says that `key` has another name, if it has.
pub(crate) fn error(scenario: &Tree, key: &str) -> Option<ScenarioError> {
    let new = new_name(scenario, key)?;
    let message = format!("`{key}` is called `{new}` now");
    Some(ScenarioError::new(key, message).hint("`rocelab migrate FILE` rewrites a file"))
}

/// Says that `name`, no parameter among `known`, has another name, if it has.
pub(crate) fn param_error(known: &[ParamSpec], name: &str) -> Option<ScenarioError> {
    let new = renamed_param(known, name)?;
    let message = format!("`scheme.params.{name}` is called `scheme.params.{new}` now");
    let error = ScenarioError::new(format!("scheme.params.{name}"), message);
    Some(error.hint("`rocelab migrate FILE` rewrites a file"))
}

/// The new name of a parameter of a scheme that has the parameters `known`.
fn renamed_param(known: &[ParamSpec], name: &str) -> Option<&'static str> {
    let has = |name: &str| known.iter().any(|param| param.name == name);
    let mut found = RENAMED.iter().filter(|(table, old, _)| (*table, *old) == (Params, name));
    found.find(|(.., new)| has(new) && !has(name)).map(|(.., new)| *new)
}

/// The new name of `key` in the table at `path`.
fn renamed(scenario: &Tree, path: &[&str], key: &str) -> Option<&'static str> {
    let table = scenario.at(path);
    let word = |name| table.and_then(|table| table.table()?.get(name)?.text());
    let here = match *path {
        // The values of `hash` that choose among shortest paths keep their key.
        ["routing"] if key == "hash" => {
            return (word("hash") == Some("spanning-trees")).then_some("paths");
        }
        ["topology"] | ["topology", "inside" | "data_centre"] => Topology(word("kind")?),
        ["traffic", _] => Traffic(word("kind")?),
        ["scheme", "params"] => {
            let scheme = scenario.at(&["scheme"])?;
            let info = registry::find(scheme.table()?.get("name")?.text()?)?;
            return renamed_param((info.params)(), key);
        }
        [name] => Named(name),
        _ => return None,
    };
    RENAMED.iter().find(|(table, old, _)| (*table, *old) == (here, key)).map(|(.., new)| *new)
}

/// Rewrites a scenario of schema 1 for schema 2. Only keys and the number of the schema change;
/// comments, order and white space stay. A text of schema 2 is returned as it is.
///
/// # Errors
/// Where `text` is not TOML, is of another schema, or has a key under both its names.
pub fn migrate(text: &str) -> Result<String> {
    let scenario = Tree::from_toml(text)?;
    if let Some(Tree { value: Value::Integer(version), line }) = scenario.at(&["schema"])
        && !(1..=i64::from(SCHEMA_VERSION)).contains(version)
    {
        return Err(checks::unknown_schema(*version).at_line(*line));
    }
    let tokens = Source::new(text).lex().into_vec();
    let mut walk = Walk {
        scenario: &scenario,
        text,
        open: Vec::new(),
        in_header: false,
        lists: BTreeMap::new(),
        edits: Vec::new(),
    };
    parse_document(&tokens, &mut |event: Event| walk.handle(&event), &mut |_: ParseError| {});
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, new) in walk.edits {
        out.push_str(&text[copied..span.start()]);
        out.push_str(new);
        copied = span.end();
    }
    out.push_str(&text[copied..]);
    // A key that stood there under both names is refused here.
    Tree::from_toml(&out).map_err(|error| {
        error.hint("the key stands there under its old name, too: take one of the two out")
    })?;
    Ok(out)
}

/// Follows the events of a document, knows the path of each key, and gathers what to replace.
struct Walk<'a> {
    scenario: &'a Tree,
    text: &'a str,
    /// The table of the last header, then what is open inside its current value.
    open: Vec<Open>,
    /// Between the brackets of a header.
    in_header: bool,
    /// How many elements each list of tables has so far.
    lists: BTreeMap<Vec<String>, usize>,
    edits: Vec<(Span, &'static str)>,
}

/// A table or a list that is being read.
#[derive(Default)]
struct Open {
    path: Vec<String>,
    /// The steps of the current key, relative to `path`.
    key: Vec<String>,
    /// Whether the current key is complete.
    has_value: bool,
    /// The index of the current element, in a list.
    index: Option<usize>,
}

impl Open {
    /// The path of the current key or element.
    fn value_path(&self) -> Vec<String> {
        let index = self.index.map(|index| index.to_string());
        self.path.iter().chain(&self.key).cloned().chain(index).collect()
    }
}

impl Walk<'_> {
    fn handle(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                self.open = vec![Open::default()];
                self.in_header = true;
            }
            EventKind::StdTableClose => self.end_header(false),
            EventKind::ArrayTableClose => self.end_header(true),
            EventKind::SimpleKey => self.key(event.span()),
            EventKind::KeyValSep => self.top().has_value = true,
            EventKind::InlineTableOpen => {
                let path = self.top().value_path();
                self.open.push(Open { path, ..Open::default() });
            }
            EventKind::ArrayOpen => {
                let path = self.top().value_path();
                self.open.push(Open { path, index: Some(0), ..Open::default() });
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => drop(self.open.pop()),
            EventKind::ValueSep => {
                if let Some(index) = &mut self.top().index {
                    *index += 1;
                }
            }
            EventKind::Scalar
                if self.top().value_path() == ["schema"] && self.shown(event.span()) == "1" =>
            {
                self.edits.push((event.span(), "2"));
            }
            _ => {}
        }
    }

    fn top(&mut self) -> &mut Open {
        if self.open.is_empty() {
            self.open.push(Open::default());
        }
        self.open.last_mut().expect("it is not empty")
    }

    fn shown(&self, span: Span) -> &str {
        &self.text[span.start()..span.end()]
    }

    fn key(&mut self, span: Span) {
        let key = self.shown(span).trim_matches(['"', '\'']).to_owned();
        let in_header = self.in_header;
        let top = self.top();
        if std::mem::take(&mut top.has_value) {
            top.key.clear();
        }
        let mut parent = top.value_path();
        if in_header && let Some(count) = self.lists.get(&parent) {
            // A header continues in the last element of a list.
            parent.push((count - 1).to_string());
            self.top().key = parent.clone();
        }
        let steps: Vec<&str> = parent.iter().map(String::as_str).collect();
        if let Some(new) = renamed(self.scenario, &steps, &key) {
            self.edits.push((span, new));
        }
        self.top().key.push(key);
    }

    fn end_header(&mut self, is_list: bool) {
        let mut path = self.top().value_path();
        if is_list {
            let count = self.lists.entry(path.clone()).or_default();
            *count += 1;
            path.push((*count - 1).to_string());
        }
        self.open = vec![Open { path, ..Open::default() }];
        self.in_header = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_and_nothing_else() {
        let old = "schema = 1 # the first\n\
                   run = { seed = 3, limit = \"1s\" }\n\
                   [topology] # inside = no key\n\
                   kind = \"cross-dc\"\ndcs = 2\n\
                   [topology.inside]\nkind = \"leaf-spine\"\nparallel = 2\n\
                   [routing]\n\"hash\" = 'spanning-trees'\n\
                   [scheme]\nname = \"rocc\"\nparams.at = \"40Gbps\"\n\
                   [ecn]\nat = \"1Gbps\"\n\
                   [[traffic]]\nkind = \"flows\"\nflows = [{ at = 1 }]\n\
                   [[traffic]]\nkind = \"poisson\"\n  flows   = 7\n\
                   [[failure]]\nat = \"1us\"\n";
        let new = "schema = 2 # the first\n\
                   run = { seed = 3, time_limit = \"1s\" }\n\
                   [topology] # inside = no key\n\
                   kind = \"cross-dc\"\ndata_centres = 2\n\
                   [topology.data_centre]\nkind = \"leaf-spine\"\nlinks_per_pair = 2\n\
                   [routing]\npaths = 'spanning-trees'\n\
                   [scheme]\nname = \"rocc\"\nparams.reference_rate = \"40Gbps\"\n\
                   [ecn]\nreference_rate = \"1Gbps\"\n\
                   [[traffic]]\nkind = \"flows\"\nflows = [{ at = 1 }]\n\
                   [[traffic]]\nkind = \"poisson\"\n  messages   = 7\n\
                   [[failure]]\nat = \"1us\"\n";
        assert_eq!(migrate(old).unwrap(), new);
        assert_eq!(migrate(new).unwrap(), new);
    }

    #[test]
    fn lists_of_tables_are_inline_or_have_headers() {
        let old = "[[topology.inside.nodes]]\nname = \"a\"\n[[topology.inside.nodes]]\n\
                   name = \"b\"\n[topology]\nkind = \"cross-dc\"\n";
        let new = old.replace("inside", "data_centre");
        assert_eq!(migrate(old).unwrap(), new);
        let old = "traffic = [{ kind = \"incast\" }, { kind = \"collective\", compute = 1 }]";
        let new = old.replace("compute", "compute_time");
        assert_eq!(migrate(old).unwrap(), new);
    }

    #[test]
    fn a_key_under_both_names_is_refused() {
        let error = migrate("[run]\nlimit = \"1s\"\ntime_limit = \"2s\"\n").unwrap_err();
        assert!(error.to_string().contains("line 3: duplicate key"), "{error}");
        assert!(error.to_string().contains("under its old name, too"), "{error}");
    }

    #[test]
    fn another_schema_is_refused() {
        let error = migrate("name = \"x\"\nschema = 3\n").unwrap_err();
        let expected = "line 2: schema: version 3 is unknown; this program reads 2; hint: a later \
                        version of rocelab reads it";
        assert_eq!(error.to_string(), expected);
        assert!(migrate("schema = 0\n").unwrap_err().to_string().contains("set schema = 2"));
    }

    /// Every new name is a key of the format, and no old one is where it was.
    #[test]
    fn new_names_are_keys() {
        let schema = schemars::schema_for!(crate::spec::Spec).to_value();
        let keys_of = |kinds: Vec<crate::KindInfo>, kind: &str| -> Vec<String> {
            let found = kinds.into_iter().find(|info| info.name == kind).expect("a kind");
            found.keys.into_iter().map(|key| key.name).collect()
        };
        for (table, old, new) in RENAMED {
            let keys: Vec<String> = match table {
                Named(name) => {
                    let reference = &schema["properties"][name]["$ref"];
                    let pointer = reference.as_str().expect("a table").trim_start_matches('#');
                    let table = &schema.pointer(pointer).expect("its schema")["properties"];
                    table.as_object().expect("keys").keys().cloned().collect()
                }
                Topology(kind) => keys_of(crate::topology_kinds(), kind),
                Traffic(kind) => keys_of(crate::catalogue::traffic_kinds(), kind),
                Params => registry::all()
                    .iter()
                    .flat_map(|scheme| (scheme.params)())
                    .map(|param| param.name.to_owned())
                    .collect(),
            };
            assert!(keys.iter().any(|key| key == new), "{table:?} has no {new}");
            assert!(*table == Params || !keys.iter().any(|key| key == old), "{table:?}: {old}");
        }
    }
}
