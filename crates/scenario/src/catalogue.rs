//! What a scenario can be made of, for `rocelab list`: read from the schema, so that it cannot
//! say anything else than the format.

use serde_json::Value;

/// A kind of topology or traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// The value of `kind`.
    pub name: String,
    /// What it is, in a sentence.
    pub summary: String,
    /// Its keys, those that must be given first.
    pub keys: Vec<KeyInfo>,
}

/// A key of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its name.
    pub name: String,
    /// What it means.
    pub summary: String,
    /// Whether it must be given.
    pub required: bool,
    /// Its default as JSON, where it has a fixed one.
    pub default: Option<String>,
}

/// Every kind of `[topology]`.
pub fn topology_kinds() -> Vec<KindInfo> {
    kinds(&schemars::schema_for!(crate::spec::TopologySpec).to_value())
}

/// Every kind of `[[traffic]]`.
#[cfg(test)]
pub(crate) fn traffic_kinds() -> Vec<KindInfo> {
    kinds(&schemars::schema_for!(crate::spec::TrafficSpec).to_value())
}

/// The variants of a tagged enum's schema.
fn kinds(schema: &Value) -> Vec<KindInfo> {
    let variants = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    variants.iter().filter_map(|variant| kind(variant, schema)).collect()
}

fn kind(variant: &Value, root: &Value) -> Option<KindInfo> {
    // Where the schema refers to the struct's own schema, the keys are there.
    let body = match variant["$ref"].as_str() {
        Some(reference) => root.pointer(reference.strip_prefix('#')?)?,
        None => variant,
    };
    let required: Vec<&str> =
        body["required"].as_array()?.iter().filter_map(Value::as_str).collect();
    let properties = body["properties"].as_object()?;
    // The required keys stand in the order of their declaration, the properties in that of the
    // alphabet.
    let optional = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let keys = required.iter().copied().chain(optional).filter(|name| *name != "kind");
    Some(KindInfo {
        name: variant["properties"]["kind"]["const"].as_str()?.to_owned(),
        summary: text(&variant["description"]),
        keys: keys
            .map(|name| KeyInfo {
                name: name.to_owned(),
                summary: text(&properties[name]["description"]),
                required: required.contains(&name),
                default: properties[name].get("default").map(Value::to_string),
            })
            .collect(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_summary_and_described_keys() {
        let names = |kinds: &[KindInfo]| -> Vec<String> {
            kinds.iter().map(|kind| kind.name.clone()).collect()
        };
        let traffics = traffic_kinds();
        let topologies = topology_kinds();
        assert_eq!(
            names(&topologies),
            [
                "star",
                "dumbbell",
                "leaf-spine",
                "fat-tree",
                "three-tier",
                "cross-dc",
                "custom",
                "file"
            ]
        );
        assert_eq!(
            names(&traffics),
            [
                "flows",
                "poisson",
                "request-response",
                "incast",
                "permutation",
                "bursts",
                "collective"
            ]
        );
        for kind in topologies.iter().chain(&traffics) {
            assert!(!kind.summary.is_empty(), "{}", kind.name);
            assert!(!kind.keys.is_empty(), "{}", kind.name);
            for key in &kind.keys {
                assert!(!key.summary.is_empty(), "{}.{}", kind.name, key.name);
            }
        }
        let k = topologies[3].keys.iter().find(|key| key.name == "k").unwrap();
        assert!(k.required);
        let links = topologies[2].keys.iter().find(|key| key.name == "links_per_pair").unwrap();
        assert_eq!((links.required, links.default.as_deref()), (false, Some("1")));
    }
}
