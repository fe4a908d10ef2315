//! A document with the line of every value: what TOML and JSON files are read into before they
//! are understood, and what `--set` writes into.

use crate::error::{Result, ScenarioError};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::cancel;

/// Maximum number of steps of a key. Keys that mean something have far fewer.
const MAX_STEPS: usize = 64;

/// A value of a scenario, with the line on which a file has it. Data of a program reads as one, and
/// has no lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(crate) value: Value,
    pub(crate) line: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    List(Vec<Tree>),
    Table(BTreeMap<String, Tree>),
}

impl Tree {
    /// Reads a TOML document.
    pub(crate) fn from_toml(text: &str) -> Result<Tree> {
        let lines = Lines::of(text);
        match DeTable::parse(text) {
            Ok(table) => lines.table(table.into_inner(), None, ""),
            Err(error) => Err(not_toml(text, &lines, &error)),
        }
    }

    /// Reads a JSON document; it keeps no lines.
    pub(crate) fn from_json(text: &str) -> Result<Tree> {
        serde_json::from_str(text).map_err(|error| {
            let text = error.to_string();
            let why = text.rsplit_once(" at line ").map_or(&*text, |(why, _place)| why);
            ScenarioError::new("", why).at_line(Some(error.line()))
        })
    }

    pub(crate) fn table(&self) -> Option<&BTreeMap<String, Tree>> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value at a path.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |node, step| match &node.value {
            Value::Table(table) => table.get(*step),
            Value::List(list) => list.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The line of the value at a path such as `traffic.0.load`; where there is none, the line of
    /// the nearest that would enclose it. A value that was set has no line.
    pub(crate) fn line_of(&self, path: &str) -> Option<usize> {
        let mut node = self;
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let next = match &node.value {
                Value::Table(table) => table.get(step),
                Value::List(list) => step.parse().ok().and_then(|index: usize| list.get(index)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.line
    }

    /// Replaces long lists by empty ones.
    pub(crate) fn without_long_lists(self) -> Tree {
        const LONG: usize = 300;
        let value = match self.value {
            Value::List(list) if list.len() > LONG => Value::List(Vec::new()),
            Value::List(list) => {
                Value::List(list.into_iter().map(Tree::without_long_lists).collect())
            }
            Value::Table(table) => Value::Table(
                table.into_iter().map(|(key, value)| (key, value.without_long_lists())).collect(),
            ),
            plain => plain,
        };
        Tree { value, line: self.line }
    }

    /// Writes `text` at the path `key`, making the tables on the way.
    pub(crate) fn set(&mut self, key: &str, text: &str) -> Result<()> {
        let value = override_value(text);
        let refuse = |message: String| Err(ScenarioError::new(key, message));
        if key.split('.').count() > MAX_STEPS {
            return Err(ScenarioError::new("", format!("a key has more than {MAX_STEPS} steps")));
        }
        // `scheme = "hpcc"` is short for a table that has a name.
        if key.starts_with("scheme.")
            && let Value::Table(table) = &mut self.value
            && let Some(scheme) = table.get_mut("scheme")
        {
            expand_scheme_name(scheme);
        }
        let mut node = self;
        let mut steps = key.split('.').enumerate().peekable();
        while let Some((depth, step)) = steps.next() {
            // What is missing on the way is a list where an index follows, else a table.
            let index_follows = steps.peek().is_some_and(|(_, next)| next.parse::<usize>().is_ok());
            let missing = || Tree {
                value: if index_follows {
                    Value::List(Vec::new())
                } else {
                    Value::Table(BTreeMap::new())
                },
                line: None,
            };
            if step.is_empty() {
                return refuse("a key to set is written like `topology.k`".to_owned());
            }
            match &mut node.value {
                Value::Table(table) => {
                    node = table.entry(step.to_owned()).or_insert_with(missing);
                }
                Value::List(list) => {
                    let length = list.len();
                    let index = step.parse::<usize>();
                    if index == Ok(length) {
                        list.push(missing());
                    }
                    let found = index.as_ref().ok().and_then(|&index| list.get_mut(index));
                    let Some(element) = found else {
                        let why = match index {
                            Ok(index) => format!("no element {index}; the list has {length}"),
                            Err(_) => format!("`{step}` is not an index; the list has {length}"),
                        };
                        let before: Vec<&str> = key.split('.').take(depth).collect();
                        let path = before.join(".");
                        return Err(ScenarioError::new(key, why).hint(format!(
                            "elements are counted from 0, so {path}.0 is the first, and \
                             {path}.{length} adds one"
                        )));
                    };
                    node = element;
                }
                _ => return refuse(format!("there is no `{step}` inside a plain value")),
            }
        }
        node.value = value;
        node.line = None;
        Ok(())
    }
}

/// Turns a scheme given by its name alone into the table that it is short for.
pub(crate) fn expand_scheme_name(scheme: &mut Tree) {
    if let Value::Text(name) = &scheme.value {
        let name = Tree { value: Value::Text(name.clone()), line: scheme.line };
        scheme.value = Value::Table(BTreeMap::from([("name".to_owned(), name)]));
    }
}

/// What stands behind `--set key=`: a TOML value, or a bare word.
fn override_value(text: &str) -> Value {
    let word = || Value::Text(text.to_owned());
    let Ok(mut document) = Tree::from_toml(&format!("v = {text}")) else {
        return word();
    };
    match &mut document.value {
        Value::Table(table) if table.len() == 1 => match table.remove("v") {
            Some(mut tree) => {
                tree.forget_lines();
                tree.value
            }
            None => word(),
        },
        _ => word(),
    }
}

impl Tree {
    fn forget_lines(&mut self) {
        self.line = None;
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(Tree::forget_lines),
            Value::Table(table) => table.values_mut().for_each(Tree::forget_lines),
            _ => {}
        }
    }
}

/// Where each line of a text starts.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|newline| *newline < offset) + 1
    }

    fn table(&self, table: DeTable<'_>, line: Option<usize>, path: &str) -> Result<Tree> {
        let mut out = BTreeMap::new();
        for (key, value) in table {
            let line = self.at(key.span().start);
            let key = key.into_inner().into_owned();
            let path = join(path, &key);
            out.insert(key, self.value(value, Some(line), &path)?);
        }
        Ok(Tree { value: Value::Table(out), line })
    }

    fn value(&self, value: Spanned<DeValue<'_>>, line: Option<usize>, path: &str) -> Result<Tree> {
        cancel::check();
        let line = line.or_else(|| Some(self.at(value.span().start)));
        let refuse = |message: &str| Err(ScenarioError::new(path, message).at_line(line));
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Value::Integer(number),
                    Err(_) => return refuse("a number this large cannot be held"),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => return refuse("not a number"),
            },
            DeValue::Datetime(_) => return refuse("a date has no place here"),
            DeValue::Array(array) => {
                let elements = array.into_iter().enumerate();
                let list: Result<Vec<Tree>> = elements
                    .map(|(index, value)| self.value(value, None, &join(path, &index.to_string())))
                    .collect();
                Value::List(list?)
            }
            DeValue::Table(table) => return self.table(table, line, path),
        };
        Ok(Tree { value, line })
    }
}

/// What JSON or a program says; not `serde_json`'s own type, which takes the last of several values
/// of a key.
struct FromJson;

impl<'de> Visitor<'de> for FromJson {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_bool<E: de::Error>(self, flag: bool) -> std::result::Result<Tree, E> {
        Ok(Value::Flag(flag).into())
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Tree, E> {
        Ok(Value::Integer(number).into())
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Tree, E> {
        let whole = i64::try_from(number).map(Value::Integer);
        Ok(whole.unwrap_or(Value::Float(number as f64)).into())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Tree, E> {
        Ok(Value::Float(number).into())
    }
    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Tree, E> {
        Ok(Value::Text(text.to_owned()).into())
    }
    fn visit_unit<E: de::Error>(self) -> std::result::Result<Tree, E> {
        Err(E::custom("null has no place here"))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = seq.next_element()? {
            cancel::check();
            list.push(element);
        }
        Ok(Value::List(list).into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Tree, A::Error> {
        let mut table = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, Tree>()? {
            cancel::check();
            if table.contains_key(&key) {
                return Err(de::Error::custom(format!("`{key}` is given twice")));
            }
            table.insert(key, value);
        }
        Ok(Value::Table(table).into())
    }
}

impl<'de> de::Deserialize<'de> for Tree {
    fn deserialize<D: de::Deserializer<'de>>(from: D) -> std::result::Result<Tree, D::Error> {
        from.deserialize_any(FromJson)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.value {
            Value::Text(text) => to.serialize_str(text),
            Value::Integer(number) => to.serialize_i64(*number),
            Value::Float(number) => to.serialize_f64(*number),
            Value::Flag(flag) => to.serialize_bool(*flag),
            Value::List(list) => to.collect_seq(list),
            Value::Table(table) => to.collect_map(table),
        }
    }
}

/// Reads a TOML document as plain data, with its keys in their order.
///
/// # Errors
/// If it is no TOML.
pub fn read_data(text: &str) -> Result<impl Serialize> {
    text.parse::<toml::Table>().map_err(|error| not_toml(text, &Lines::of(text), &error))
}

fn not_toml(text: &str, lines: &Lines, error: &toml::de::Error) -> ScenarioError {
    let line = error.span().map(|span| lines.at(span.start));
    let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
    let error = ScenarioError::new("", message).at_line(line);
    if text.lines().any(|line| line.starts_with("TOPOLOGY_FILE ")) {
        return error.hint(
            "it looks like a configuration of the HPCC simulator: run it by `rocelab hpcc FILE`",
        );
    }
    error
}

impl From<Value> for Tree {
    fn from(value: Value) -> Tree {
        Tree { value, line: None }
    }
}

/// `path.step`, or `step` where the path is empty.
pub(crate) fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}
