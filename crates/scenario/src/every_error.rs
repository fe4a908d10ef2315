//! Every error of a scenario at once.
//!
//! Reading a scenario ends at its first error. To find the others, what is at fault is taken out of
//! the document, which is then read again. An error that may only follow from what was taken out is
//! left out.

use crate::decode::{Refused, decode_or_guess};
use crate::error::ScenarioError;
use crate::named_after;
use crate::read_file::Files;
use crate::required;
use crate::scenario::Scenario;
use crate::spec::Spec;
use crate::tree::{Tree, Value, join};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of errors that are reported together.
pub const MAX_ERRORS: usize = 20;
/// How often a document is read. Each time takes something out of it.
const MAX_READINGS: usize = 4 * MAX_ERRORS;
/// How often its network and traffic are built, which takes longer.
const MAX_BUILDS: usize = 12;

/// The sections and keys that the value of `key` is checked against, beside its own section and the
/// network, which is one for all.
fn checked_against(key: &str) -> &'static [&'static str] {
    let mut steps = key.split('.');
    let (section, of_element) = (steps.next().unwrap_or_default(), steps.nth(1));
    match (section, of_element.unwrap_or_default()) {
        ("switch" | "routing", _) => &["scheme", "quirks"],
        ("ecn", _) => &["scheme"],
        ("pfc", _) => &["switch", "classes", "wire", "quirks"],
        ("host", _) => &["pfc", "switch", "classes", "failure"],
        ("classes", _) => &["quirks"],
        ("traffic", "priority") => &["classes"],
        ("traffic", _) if key.ends_with(".after") => &["run.stop", "traffic"],
        ("traffic", _) => &["run.stop"],
        ("probe", "flows") => &["run.stop", "traffic"],
        ("probe", _) => &["run.stop"],
        ("failure" | "wire", _) => &["switch", "scheme"],
        _ => &[],
    }
}

/// Whether the value of `key` is checked without the network, and before all that needs it.
fn is_without_network(key: &str) -> bool {
    ["name", "run", "classes", "wire", "quirks", "scheme.name", "scheme.preset", "switch", "ecn"]
        .iter()
        .any(|place| is_within(key, place))
}

/// All errors of a document that was refused, in the order of their lines.
pub(crate) fn find(tree: Tree, origin: Option<&Path>, files: &Files) -> Vec<ScenarioError> {
    let mut search = Search {
        tree,
        found: Vec::new(),
        taken_out: BTreeSet::new(),
        incomplete: BTreeSet::new(),
        missing_elements: BTreeMap::new(),
    };
    let mut builds = 0;
    for _ in 0..MAX_READINGS {
        let is_sound = match decode_or_guess::<Spec>(&search.tree) {
            Err(refused) => !search.unreadable(*refused),
            Ok(_) if builds == MAX_BUILDS => break,
            Ok(spec) => {
                builds += 1;
                let spec = named_after(spec, origin);
                let checked = Scenario::from_spec(spec, files);
                checked.map_or_else(|error| !search.refused(error), |_| true)
            }
        };
        if is_sound || search.found.len() >= MAX_ERRORS {
            break;
        }
    }
    search.found.truncate(MAX_ERRORS);
    // What no line is known of stands last.
    search.found.sort_by_key(|error| (error.file.is_some(), error.line.is_none(), error.line));
    search.found
}

struct Search {
    /// What is left of the document.
    tree: Tree,
    found: Vec<ScenarioError>,
    /// Keys whose values were taken out, as the file has them. That they are missing is no error.
    taken_out: BTreeSet<String>,
    /// Elements of lists that lack a value, as the file has them.
    incomplete: BTreeSet<String>,
    /// The indices that were taken out of each list.
    missing_elements: BTreeMap<String, BTreeSet<usize>>,
}

impl Search {
    /// An error of reading a value: independent of all others, unless the value was taken out, or
    /// an element of it. Returns whether there may be more.
    fn unreadable(&mut self, Refused { error, is_missing, meant }: Refused) -> bool {
        let key = error.key.clone();
        let beside = if is_missing { self.missing_beside(&error) } else { Vec::new() };
        let original = self.original(&key);
        let has_lost = self.missing_elements.contains_key(&original);
        if !has_lost && !self.taken_out.contains(&original) {
            self.report(error);
        }
        beside.into_iter().for_each(|error| self.report(error));
        meant.is_some_and(|meant| self.rename(&key, &meant)) || self.take_out(&key)
    }

    /// An error of checking values against each other. Returns whether there may be more.
    fn refused(&mut self, error: ScenarioError) -> bool {
        let key = error.key.clone();
        if self.lacks_network() && !is_without_network(&key) {
            return false;
        }
        if !self.may_follow(&key) {
            let line = self.tree.line_of(&key);
            self.report(if error.file.is_some() { error } else { error.at_line(line) });
        }
        // Without one of its values, a table in a list would be refused for another reason.
        let mut element = element_of(&key);
        while let Some(place) = element
            && self.tree.at(&steps(place)).is_some_and(|tree| tree.table().is_none())
        {
            element = place.rsplit_once('.').and_then(|(list, _)| element_of(list));
        }
        let place = element.unwrap_or(&key).to_owned();
        self.take_out(&place)
    }

    /// What else is missing from the table that lacks the key of `error`. All of it is reported
    /// now, because the whole table is taken out next.
    fn missing_beside(&self, error: &ScenarioError) -> Vec<ScenarioError> {
        let mut keys = required::missing_beside(&self.tree, &error.key);
        keys.retain(|key| !self.taken_out.contains(&self.original(key)));
        let error_of = |key| ScenarioError::new(key, &*error.message).at_line(error.line);
        keys.into_iter().map(error_of).collect()
    }

    fn lacks_network(&self) -> bool {
        self.taken_out.iter().any(|key| is_within(key, "topology"))
    }

    fn report(&mut self, mut error: ScenarioError) {
        let key = self.original(&error.key);
        if key != error.key {
            error.message = error.message.replace(&error.key, &key);
            error.key = key;
        }
        if !self.found.contains(&error) {
            self.found.push(error);
        }
    }

    /// Whether an error at `key` may only follow from values that were taken out.
    fn may_follow(&self, key: &str) -> bool {
        let key = self.original(key);
        let lost = |place: &str| self.taken_out.iter().any(|taken| is_within(taken, place));
        let Some((section, _)) = key.split_once('.') else {
            // A section as a whole is checked against many others.
            return !self.taken_out.is_empty();
        };
        let of_itself = match self.tree.at(&[section]) {
            // Elements of a list do not depend on each other.
            Some(Tree { value: Value::List(_), .. }) => {
                self.missing_elements.contains_key(&key)
                    || self.incomplete.iter().any(|element| is_within(&key, element))
            }
            _ => lost(section),
        };
        of_itself || checked_against(&key).iter().any(|place| lost(place))
    }

    /// Gives the value at `key` the name that was meant, unless that is taken.
    fn rename(&mut self, key: &str, meant: &str) -> bool {
        let (Some(value), None) = (self.tree.at(&steps(key)), self.tree.at(&steps(meant))) else {
            return false;
        };
        let value = value.clone();
        let (parent, step) = meant.rsplit_once('.').unwrap_or(("", meant));
        let Some(Value::Table(table)) = self.value_at(parent) else { return false };
        table.insert(step.to_owned(), value);
        self.remove(key)
    }

    /// Takes out the value at `key`; if there is none, the element of a list that lacks it, or else
    /// its whole section. Returns whether there was anything to take out.
    fn take_out(&mut self, key: &str) -> bool {
        let section = steps(key).first().map_or_else(String::new, |step| (*step).to_owned());
        let original = self.original(key);
        if let Some(element) = element_of(&original).filter(|element| *element != original) {
            self.incomplete.insert(element.to_owned());
        }
        self.taken_out.insert(original);
        if key != section && self.remove(key) {
            return true;
        }
        let mut place = element_of(key);
        while let Some(element) = place {
            if self.remove(element) {
                return true;
            }
            place = element.rsplit_once('.').and_then(|(list, _)| element_of(list));
        }
        let is_removed = self.remove(&section);
        (section == "topology" && self.put_topology()) || is_removed
    }

    /// Removes the value at `key`, and says whether there was one.
    fn remove(&mut self, key: &str) -> bool {
        let (parent, step) = key.rsplit_once('.').unwrap_or(("", key));
        let list = self.original(parent);
        match self.value_at(parent) {
            Some(Value::Table(table)) => table.remove(step).is_some(),
            Some(Value::List(elements)) => match step.parse::<usize>() {
                Ok(index) if index < elements.len() => {
                    elements.remove(index);
                    let gone = self.missing_elements.entry(list).or_default();
                    gone.insert(original_index(gone, index));
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn value_at(&mut self, key: &str) -> Option<&mut Value> {
        let node =
            steps(key).into_iter().try_fold(&mut self.tree, |node, step| match &mut node.value {
                Value::Table(table) => table.get_mut(step),
                Value::List(list) => list.get_mut(step.parse::<usize>().ok()?),
                _ => None,
            });
        node.map(|node| &mut node.value)
    }

    /// A network in place of one that cannot be read, so that all else can be. Returns false if it
    /// is there.
    fn put_topology(&mut self) -> bool {
        let star = "kind = \"star\"\nhosts = 2\nhost_rate = \"100Gbps\"\nhost_delay = \"1us\"\n";
        let (Value::Table(table), Ok(star)) = (&mut self.tree.value, Tree::from_toml(star)) else {
            return false;
        };
        let replaced = table.insert("topology".to_owned(), star.clone());
        replaced.is_none_or(|old| old != star)
    }

    /// What `key` is in the document before anything was taken out of its lists.
    fn original(&self, key: &str) -> String {
        key.split('.').fold(String::new(), |path, step| {
            let index = step.parse::<usize>().ok().zip(self.missing_elements.get(&path));
            match index {
                Some((index, gone)) => join(&path, &original_index(gone, index).to_string()),
                None => join(&path, step),
            }
        })
    }
}

/// The innermost element of a list that `key` is or is part of.
fn element_of(key: &str) -> Option<&str> {
    let mut place = key;
    while let Some((parent, step)) = place.rsplit_once('.') {
        if step.parse::<usize>().is_ok() {
            return Some(place);
        }
        place = parent;
    }
    None
}

/// Whether `key` is `place` or part of it.
fn is_within(key: &str, place: &str) -> bool {
    key.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn steps(key: &str) -> Vec<&str> {
    key.split('.').filter(|step| !step.is_empty()).collect()
}

/// What the element `index` of a list is in the list that still has the elements `gone`.
fn original_index(gone: &BTreeSet<usize>, index: usize) -> usize {
    gone.iter().fold(index, |index, gone| if *gone <= index { index + 1 } else { index })
}
