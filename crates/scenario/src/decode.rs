//! From a [`Tree`] to the types of [`spec`](crate::spec): a serde deserialiser whose errors know
//! their key.

use crate::error::{ScenarioError, known_words, nearest};
use crate::tree::{Tree, Value, join};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::fmt;
use units::cancel;
use units::text::{MAX_SHOWN, printable};

/// The key that tells which kind a table is of.
const KIND: &str = "kind";

/// The name of the types through which enums of tables are read, to tell them from words.
const BY_KIND: &str = "ByKind";

/// Reads a `T` from a whole document.
pub(crate) fn decode<'de, T: de::Deserialize<'de>>(tree: &'de Tree) -> Result<T, ScenarioError> {
    decode_or_guess(tree).map_err(|refused| refused.error)
}

/// Why a document cannot be read.
pub(crate) struct Refused {
    pub error: ScenarioError,
    /// A key that must be given is not there.
    pub is_missing: bool,
    /// For an unknown key, the one that was probably meant, with its path.
    pub meant: Option<String>,
}

/// Reads a `T` from a whole document, and guesses what an unknown key was meant to be.
pub(crate) fn decode_or_guess<'de, T: de::Deserialize<'de>>(
    tree: &'de Tree,
) -> Result<T, Box<Refused>> {
    T::deserialize(At { tree, skip_kind: false }).map_err(|error| {
        let key = error.path.iter().rev().fold(String::new(), |key, step| join(&key, step));
        let line = tree.line_of(&key);
        let is_missing = error.fault == Fault::Missing;
        if error.fault == Fault::Unknown
            && let Some(renamed) = crate::renamed::error(tree, &key)
        {
            let meant = crate::renamed::new_name(tree, &key);
            return Box::new(Refused { error: renamed.at_line(line), is_missing: false, meant });
        }
        let parent = key.rsplit_once('.').map_or("", |(parent, _)| parent);
        let meant = error.meant.map(|step| join(parent, step));
        let out = ScenarioError::new(key, error.message).at_line(line);
        let error = match error.hint {
            Some(hint) => out.hint(hint),
            None => out,
        };
        Box::new(Refused { error, is_missing, meant })
    })
}

/// An error on its way up: the path grows by a step at each level.
#[derive(Debug)]
struct DecodeError {
    /// Innermost step first.
    path: Vec<String>,
    message: String,
    hint: Option<String>,
    /// The key that was probably meant.
    meant: Option<&'static str>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The format does not know this key, or this word.
    Unknown,
    /// A key that must be given is not there.
    Missing,
    /// A value does not fit its key.
    Value,
}

impl DecodeError {
    fn new(message: String) -> DecodeError {
        DecodeError { path: Vec::new(), message, hint: None, meant: None, fault: Fault::Value }
    }
    fn under(mut self, step: &str) -> DecodeError {
        self.path.push(step.to_owned());
        self
    }
    fn under_index(self, index: usize) -> DecodeError {
        self.under(&index.to_string())
    }
    fn too_many_elements(needed: usize, got: usize) -> DecodeError {
        DecodeError::new(format!("needs {needed} elements, got {got}"))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> DecodeError {
        DecodeError::new(message.to_string())
    }
    fn invalid_type(got: Unexpected<'_>, expected: &dyn Expected) -> DecodeError {
        let share = match got {
            Unexpected::Str(text) if expected.to_string() == "f64" => of_per_cent(text),
            _ => None,
        };
        let (wanted, got) = match (expected.to_string().as_str(), got) {
            ("u32", Unexpected::Signed(number @ 0..)) => {
                (format!("a whole number up to {}", u32::MAX), number.to_string())
            }
            // What TOML can't hold as a number arrives as text.
            (kind @ ("u8" | "u16" | "u32" | "u64"), Unexpected::Str(text))
                if text.parse::<i64>().is_err() && is_whole(text) =>
            {
                let wanted = match kind {
                    "u32" => format!("a whole number up to {}", u32::MAX),
                    "u64" => format!("a whole number up to {}", i64::MAX),
                    _ => wanted(expected),
                };
                (wanted, text.to_owned())
            }
            _ => (wanted(expected), shown(got)),
        };
        let mut error = DecodeError::new(format!("needs {wanted}, got {got}"));
        error.hint = share.map(|(text, share)| format!("{text} is written {share}"));
        error
    }
    fn invalid_value(got: Unexpected<'_>, expected: &dyn Expected) -> DecodeError {
        DecodeError::invalid_type(got, expected)
    }
    fn invalid_length(length: usize, expected: &dyn Expected) -> DecodeError {
        DecodeError::new(format!("needs {}, got {length} elements", wanted(expected)))
    }
    fn unknown_variant(word: &str, known: &'static [&'static str]) -> DecodeError {
        let mut error = DecodeError::new(format!("unknown value `{word}`"));
        error.hint = Some(known_words(word, known.iter().copied()));
        error.fault = Fault::Unknown;
        error
    }
    fn unknown_field(key: &str, known: &'static [&'static str]) -> DecodeError {
        let mut error = DecodeError::new("unknown key".to_owned());
        error.hint = Some(known_words(key, known.iter().copied()));
        error.meant = nearest(key, known.iter().copied());
        error.fault = Fault::Unknown;
        error
    }
    fn missing_field(key: &'static str) -> DecodeError {
        let error = DecodeError::new("is missing".to_owned()).under(key);
        DecodeError { fault: Fault::Missing, ..error }
    }
    fn duplicate_field(key: &'static str) -> DecodeError {
        DecodeError::new("is given twice".to_owned()).under(key)
    }
}

/// What is written in per cent, and the number that it is.
fn of_per_cent(text: &str) -> Option<(String, f64)> {
    let number: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    // Without what the division leaves in the last digits.
    let share = (number / 100.0 * 1e12).round() / 1e12;
    share.is_finite().then(|| (printable(text, MAX_SHOWN), share))
}

/// Whether `text` is a whole number, however large.
fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What serde expects, in words that fit a scenario file.
fn wanted(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u32" | "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "f64" => "a number".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if expected.starts_with("an array of length ") => {
            expected.replacen("an array of length", "a list of", 1)
        }
        _ if expected.starts_with("struct ") || expected == "a map" => "a table".to_owned(),
        _ if expected.starts_with("newtype variant") => {
            format!("a table with a `{KIND}` and its keys")
        }
        _ => expected,
    }
}

fn shown(got: Unexpected<'_>) -> String {
    match got {
        Unexpected::Bool(flag) => flag.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => format!("{number:?}"),
        Unexpected::Str(text) => format!("{:?}", printable(text, MAX_SHOWN)),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map | Unexpected::StructVariant => "a table".to_owned(),
        Unexpected::UnitVariant | Unexpected::Unit => "a word alone".to_owned(),
        other => other.to_string(),
    }
}

impl Value {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Value::Text(text) => Unexpected::Str(text),
            Value::Integer(number) => Unexpected::Signed(*number),
            Value::Float(number) => Unexpected::Float(*number),
            Value::Flag(flag) => Unexpected::Bool(*flag),
            Value::List(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        }
    }
}

/// A deserialiser that stands at a value.
struct At<'de> {
    tree: &'de Tree,
    /// The table's kind is known already and no key of the struct that follows.
    skip_kind: bool,
}

impl<'de> Deserializer<'de> for At<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        cancel::check();
        match &self.tree.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Flag(flag) => visitor.visit_bool(*flag),
            Value::List(list) => {
                let mut elements = Elements { rest: list.iter(), index: 0 };
                let value = visitor.visit_seq(&mut elements)?;
                if elements.rest.len() > 0 {
                    return Err(DecodeError::too_many_elements(elements.index, list.len()));
                }
                Ok(value)
            }
            Value::Table(table) => {
                let skip = if self.skip_kind { Some(KIND) } else { None };
                visitor.visit_map(Entries { rest: table.iter(), skip, value: None })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    /// An enum is a word, or a table whose `kind` names the variant.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.tree.value {
            Value::Text(word) => visitor.visit_enum(word.as_str().into_deserializer()),
            Value::Table(table) if name == BY_KIND => match table.get(KIND) {
                Some(Tree { value: Value::Text(kind), .. }) => {
                    if !variants.contains(&kind.as_str()) {
                        let error = <DecodeError as de::Error>::unknown_variant(kind, variants);
                        return Err(error.under(KIND));
                    }
                    visitor.visit_enum(Tagged { kind, tree: self.tree })
                }
                Some(_) => {
                    Err(DecodeError::new(format!("needs one of {}", variants.join(", ")))
                        .under(KIND))
                }
                None => {
                    let mut error = <DecodeError as de::Error>::missing_field(KIND);
                    error.hint = Some(format!("one of {}", variants.join(", ")));
                    Err(error)
                }
            },
            other => {
                let known = variants.join(", ");
                let wanted = if name == BY_KIND {
                    format!("a table with a `{KIND}`, one of {known}")
                } else {
                    format!("one of {known}")
                };
                Err(<DecodeError as de::Error>::invalid_type(other.unexpected(), &wanted.as_str()))
            }
        }
    }

    /// A struct is a table, never a list of its values in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.tree.value {
            Value::List(_) => {
                Err(<DecodeError as de::Error>::invalid_type(Unexpected::Seq, &"a table"))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Elements<'de> {
    rest: std::slice::Iter<'de, Tree>,
    index: usize,
}

impl<'de> SeqAccess<'de> for &mut Elements<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(tree) = self.rest.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(At { tree, skip_kind: false })
            .map(Some)
            .map_err(|error| error.under_index(index))
    }
}

struct Entries<'de> {
    rest: std::collections::btree_map::Iter<'de, String, Tree>,
    skip: Option<&'static str>,
    value: Option<(&'de str, &'de Tree)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let skip = self.skip;
        let Some((key, tree)) = self.rest.find(|(key, _)| Some(key.as_str()) != skip) else {
            return Ok(None);
        };
        self.value = Some((key, tree));
        let key_only: StrDeserializer<'de, DecodeError> = key.as_str().into_deserializer();
        seed.deserialize(key_only).map(Some).map_err(|error| error.under(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some((key, tree)) => {
                seed.deserialize(At { tree, skip_kind: false }).map_err(|error| error.under(key))
            }
            None => Err(DecodeError::new("a value without its key".to_owned())),
        }
    }
}

/// A table read as the enum variant that its `kind` names.
struct Tagged<'de> {
    kind: &'de str,
    tree: &'de Tree,
}

impl<'de> EnumAccess<'de> for Tagged<'de> {
    type Error = DecodeError;
    type Variant = Tagged<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Tagged<'de>), DecodeError> {
        let kind: StrDeserializer<'de, DecodeError> = self.kind.into_deserializer();
        Ok((seed.deserialize(kind)?, self))
    }
}

impl<'de> VariantAccess<'de> for Tagged<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(At { tree: self.tree, skip_kind: true })
    }
    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        At { tree: self.tree, skip_kind: true }.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        At { tree: self.tree, skip_kind: true }.deserialize_any(visitor)
    }
}
