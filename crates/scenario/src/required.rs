//! Which keys a table must have, by the schema.

use crate::tree::{Tree, join};
use serde_json::Value;

/// The keys that must be given and are missing from the table that also lacks `key`, with their
/// paths. `tree` is the document.
pub(crate) fn missing_beside(tree: &Tree, key: &str) -> Vec<String> {
    let (parent, own) = key.rsplit_once('.').unwrap_or(("", key));
    let root = crate::json_schema();
    let path: Vec<&str> = parent.split('.').filter(|step| !step.is_empty()).collect();
    let mut schema = Some(Table::of(&root, &root, tree));
    for (index, &step) in path.iter().enumerate() {
        let Some(below) = tree.at(&path[..=index]) else { return Vec::new() };
        schema = schema.and_then(|table| table.step(step, below));
    }
    let Some(schema) = schema else { return Vec::new() };
    let is_missing =
        |name: &&str| *name != own && tree.at(&[&path[..], &[*name]].concat()).is_none();
    schema.required().filter(is_missing).map(|name| join(parent, name)).collect()
}

/// The schema of a value of the document.
struct Table<'a> {
    root: &'a Value,
    /// Parts of the schema that all hold, such as a variant and the type that it refers to.
    parts: Vec<&'a Value>,
}

impl<'a> Table<'a> {
    /// `schema` as it holds for `value`: references are followed, and of the variants of a table
    /// only the one of its `kind` counts.
    fn of(root: &'a Value, schema: &'a Value, value: &Tree) -> Table<'a> {
        let (mut parts, mut open) = (Vec::new(), vec![schema]);
        while let Some(part) = open.pop() {
            parts.push(part);
            let referred = part["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
            open.extend(referred.and_then(|place| root.pointer(place)));
            for list in ["oneOf", "anyOf", "allOf"] {
                let variants = part[list].as_array().into_iter().flatten();
                open.extend(variants.filter(|variant| {
                    let kind = variant["properties"]["kind"]["const"].as_str();
                    kind.is_none() || kind == value.at(&["kind"]).and_then(Tree::text)
                }));
            }
        }
        Table { root, parts }
    }

    /// The schema of the key or element `step`, whose value is `below`.
    fn step(&self, step: &str, below: &Tree) -> Option<Table<'a>> {
        let found = self.parts.iter().find_map(|part| {
            part["properties"]
                .get(step)
                .or_else(|| step.parse::<usize>().ok().and_then(|_| part.get("items")))
        });
        found.map(|schema| Table::of(self.root, schema, below))
    }

    fn required(&self) -> impl Iterator<Item = &'a str> {
        let lists = self.parts.iter().filter_map(|part| part["required"].as_array());
        lists.flatten().filter_map(Value::as_str)
    }
}
