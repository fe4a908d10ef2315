//! The scheme of a run: found in the registry, its parameters complete.

use crate::error::{Result, ScenarioError, known_words};
use crate::renamed;
use crate::spec::{ParamValue, SchemeSpec};
use schemes::params::{Kind, ParamError, ParamSpec, Value};
use schemes::registry::{self, SchemeInfo};
use std::fmt;
use units::{Rate, parse_bytes, parse_rate, parse_time};

/// The scheme of a run.
#[derive(Clone)]
pub struct ResolvedScheme {
    /// The scheme's entry in the registry.
    pub info: &'static SchemeInfo,
    /// The preset that its parameters start from.
    pub preset: String,
    /// Every parameter's value.
    pub values: Vec<(&'static str, Value)>,
}

impl ResolvedScheme {
    /// The parameters as overrides for [`schemes::registry::params_of`], which then gives the
    /// scheme's typed parameters.
    pub fn overrides(&self) -> Vec<(String, Value)> {
        self.values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }
}

impl PartialEq for ResolvedScheme {
    fn eq(&self, other: &ResolvedScheme) -> bool {
        (self.info.name, &self.preset, &self.values)
            == (other.info.name, &other.preset, &other.values)
    }
}

impl fmt::Debug for ResolvedScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedScheme")
            .field("name", &self.info.name)
            .field("preset", &self.preset)
            .field("values", &self.values)
            .finish()
    }
}

/// The error of a scheme that is not compiled in, or that there is none of.
fn unknown_scheme(name: &str) -> ScenarioError {
    let known = || registry::all().iter().map(|scheme| scheme.name);
    if registry::LEFT_OUT.contains(&name) {
        let here: Vec<&str> = known().collect();
        let message = format!("scheme `{name}` was left out when this rocelab was built");
        return ScenarioError::new("scheme.name", message).hint(format!(
            "it has {}; build it with `rocelab scheme build --with`, or with ROCELAB_SCHEMES, \
             naming {name}, too",
            here.join(", ")
        ));
    }
    let mut hint = known_words(name, known());
    if !hint.starts_with("did you mean") {
        hint += "; a scheme of your own is known in its project's directory, or by ROCELAB_MODULE";
    }
    ScenarioError::new("scheme.name", format!("unknown scheme `{name}`")).hint(hint)
}

/// Finds the scheme and completes `spec` with every parameter.
pub(crate) fn resolve(spec: &mut SchemeSpec, host_rate: Rate) -> Result<ResolvedScheme> {
    let info = registry::find(&spec.name).ok_or_else(|| unknown_scheme(&spec.name))?;
    if spec.preset.is_none() {
        spec.preset = (info.presets)().first().map(|preset| preset.name.to_owned());
    }
    let preset = spec.preset.clone().unwrap_or_default();
    let specs = (info.params)();
    let mut overrides = Vec::with_capacity(spec.params.len());
    for (name, written) in &spec.params {
        let key = format!("scheme.params.{name}");
        let Some(param) = specs.iter().find(|param| param.name == name) else {
            if let Some(error) = renamed::param_error(specs, name) {
                return Err(error);
            }
            let message = format!("unknown parameter of scheme {}", info.name);
            let error = ScenarioError::new(key, message);
            return Err(if specs.is_empty() {
                error.hint("this scheme has none")
            } else {
                error.hint(known_words(name, specs.iter().map(|param| param.name)))
            });
        };
        overrides.push((name.clone(), read(param, written, &key)?));
    }
    let values = (info.resolve)(&preset, host_rate, &overrides).map_err(|error| {
        let from_preset = matches!(&error, ParamError::OutOfRange(name, ..)
            if overrides.iter().all(|(given, _)| given != name));
        let refused = ScenarioError::from(&error);
        if !from_preset {
            return refused;
        }
        refused.hint(format!(
            "preset {preset} takes it from the rate of hosts, {host_rate}; give it a value"
        ))
    })?;
    spec.params = values.iter().map(|(name, value)| ((*name).to_owned(), write(*value))).collect();
    Ok(ResolvedScheme { info, preset, values })
}

/// Advice for a preset that is none of the scheme's own, which are `known`.
fn preset_hint(name: &str, known: &[&str]) -> String {
    match registry::all().iter().find(|info| info.preset(name).is_some()) {
        Some(info) => format!("it is a preset of {0}: set scheme.name to {0}, too", info.name),
        None => known_words(name, known.iter().copied()),
    }
}

impl From<&ParamError> for ScenarioError {
    fn from(error: &ParamError) -> ScenarioError {
        match error {
            ParamError::UnknownPreset(name, known) => {
                ScenarioError::new("scheme.preset", format!("unknown preset `{name}`"))
                    .hint(preset_hint(name, known))
            }
            ParamError::UnknownParam(name, _) => {
                ScenarioError::new(format!("scheme.params.{name}"), error.to_string())
            }
            ParamError::OutOfRange(name, value, low, high) => ScenarioError::new(
                format!("scheme.params.{name}"),
                format!("{value} is out of range; allowed: {low} to {high}"),
            ),
            ParamError::Conflict(name, why) => {
                ScenarioError::new(format!("scheme.params.{name}"), why.clone())
            }
            ParamError::WrongKind(name, _) => {
                ScenarioError::new(format!("scheme.params.{name}"), error.to_string())
            }
        }
    }
}

/// The value that `written` stands for, given what the parameter takes.
fn read(param: &ParamSpec, written: &ParamValue, key: &str) -> Result<Value> {
    let refuse = |why: String| Err(ScenarioError::new(key, why));
    match (param.kind, written) {
        (Kind::Time, ParamValue::Text(text)) => match parse_time(text) {
            Ok(time) => Ok(Value::Time(time)),
            Err(error) => refuse(error.to_string()),
        },
        (Kind::Rate, ParamValue::Text(text)) => match parse_rate(text) {
            Ok(rate) => Ok(Value::Rate(rate)),
            Err(error) => refuse(error.to_string()),
        },
        (Kind::Bytes, ParamValue::Text(text)) => match parse_bytes(text) {
            Ok(bytes) => Ok(Value::Bytes(bytes)),
            Err(error) => refuse(error.to_string()),
        },
        (Kind::Choice(words), ParamValue::Text(text)) => {
            match words.iter().find(|word| *word == text) {
                Some(word) => Ok(Value::Choice(word)),
                None => Err(ScenarioError::new(key, format!("unknown value `{text}`"))
                    .hint(known_words(text, words.iter().copied()))),
            }
        }
        (Kind::Number, ParamValue::Number(number)) => Ok(Value::Number(*number)),
        (Kind::Number, ParamValue::Count(count)) => Ok(Value::Number(*count as f64)),
        (Kind::Count, ParamValue::Count(count)) => Ok(Value::Count(*count)),
        // Counts beyond TOML's integers are written as texts.
        (Kind::Count, ParamValue::Text(text)) if text.parse::<u64>().is_ok() => {
            Ok(Value::Count(text.parse().unwrap_or(u64::MAX)))
        }
        (Kind::Flag, ParamValue::Flag(flag)) => Ok(Value::Flag(*flag)),
        (kind, _) => refuse(ParamError::WrongKind(param.name, kind).to_string()),
    }
}

/// How a scenario file writes a value.
fn write(value: Value) -> ParamValue {
    match value {
        Value::Time(_) | Value::Rate(_) | Value::Bytes(_) | Value::Choice(_) => {
            ParamValue::Text(value.to_string())
        }
        Value::Number(number) => ParamValue::Number(number),
        Value::Count(count) if i64::try_from(count).is_ok() => ParamValue::Count(count),
        Value::Count(count) => ParamValue::Text(count.to_string()),
        Value::Flag(flag) => ParamValue::Flag(flag),
    }
}
