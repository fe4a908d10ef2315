//! Parameters of a scheme: named, with unit, default, range and source, so that a scenario file,
//! `rocelab list` and the docs all read the same table.

use std::fmt;
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

/// What a parameter is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A span of time, written `55us`.
    Time,
    /// A rate, written `40Mbps`.
    Rate,
    /// A size, written `10MB`.
    Bytes,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of the words listed.
    Choice(&'static [&'static str]),
}

/// The value of a parameter. Only values of one kind compare in a way that means something.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Value {
    /// A span of time.
    Time(Time),
    /// A rate.
    Rate(Rate),
    /// A size.
    Bytes(Bytes),
    /// A plain number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// A switch.
    Flag(bool),
    /// One of the words of a [`Kind::Choice`].
    Choice(&'static str),
}

/// As a scenario file writes it, without quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Time(v) => v.fmt(f),
            Value::Rate(v) => v.fmt(f),
            Value::Bytes(v) => v.fmt(f),
            Value::Number(v) => v.fmt(f),
            Value::Count(v) => v.fmt(f),
            Value::Flag(v) => v.fmt(f),
            Value::Choice(v) => v.fmt(f),
        }
    }
}

/// One parameter as the registry shows it.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Its symbol in the paper.
    pub symbol: &'static str,
    /// What it is measured in.
    pub kind: Kind,
    /// The smallest and the largest value allowed, both inclusive.
    pub range: Option<(Value, Value)>,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Where its default comes from.
    pub source: &'static str,
    /// It has an effect only where another parameter has one of these values, as scenario files
    /// write them.
    pub only: Option<(&'static str, &'static [&'static str])>,
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamError {
    /// No such preset; the names that exist.
    UnknownPreset(String, Vec<&'static str>),
    /// No such parameter; the names that exist.
    UnknownParam(String, Vec<&'static str>),
    /// A value of another kind than the parameter takes.
    WrongKind(&'static str, Kind),
    /// Outside the range that is allowed.
    OutOfRange(&'static str, Value, Value, Value),
    /// Values that each are fine but do not go together.
    Conflict(&'static str, String),
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::UnknownPreset(name, known) => {
                write!(f, "unknown preset `{name}`; known: {}", known.join(", "))
            }
            ParamError::UnknownParam(name, known) if known.is_empty() => {
                write!(f, "unknown parameter `{name}`; this scheme has none")
            }
            ParamError::UnknownParam(name, known) => {
                write!(f, "unknown parameter `{name}`; known: {}", known.join(", "))
            }
            ParamError::WrongKind(name, kind) => {
                write!(
                    f,
                    "`{name}` takes {}",
                    match kind {
                        Kind::Time => "a time with its unit, such as \"55us\"".to_owned(),
                        Kind::Rate => "a rate with its unit, such as \"40Mbps\"".to_owned(),
                        Kind::Bytes => "a size with its unit, such as \"10MB\"".to_owned(),
                        Kind::Number => "a number".to_owned(),
                        Kind::Count => "a whole number".to_owned(),
                        Kind::Flag => "true or false".to_owned(),
                        Kind::Choice(words) => format!("one of {}", words.join(", ")),
                    }
                )
            }
            ParamError::OutOfRange(name, value, low, high) => {
                write!(f, "`{name}` = {value} is out of range; allowed: {low} to {high}")
            }
            ParamError::Conflict(name, why) => write!(f, "`{name}`: {why}"),
        }
    }
}

impl std::error::Error for ParamError {}

/// A field type that can stand in a parameter table. It says what the parameter is measured in.
pub trait ParamType: Sized {
    /// What a declaration says of its values: a range, or `()` for a flag and for a
    /// [`choice!`](crate::choice!).
    type Allowed;

    /// Kind and range, as the registry shows them.
    fn describe(allowed: Self::Allowed) -> (Kind, Option<(Value, Value)>);
    /// Into the erased value.
    fn to_value(&self) -> Value;
    /// Back from it, where the kind fits.
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! bounded {
    ($type:ty, $variant:ident $(, $other:pat => $converted:expr)?) => {
        impl ParamType for $type {
            type Allowed = RangeInclusive<$type>;

            fn describe(allowed: RangeInclusive<$type>) -> (Kind, Option<(Value, Value)>) {
                let (low, high) = allowed.into_inner();
                (Kind::$variant, Some((Value::$variant(low), Value::$variant(high))))
            }
            fn to_value(&self) -> Value {
                Value::$variant(*self)
            }
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(v) => Some(v),
                    $($other => Some($converted),)?
                    _ => None,
                }
            }
        }
    };
}
bounded!(Time, Time);
bounded!(Rate, Rate);
bounded!(Bytes, Bytes);
bounded!(u64, Count);
bounded!(f64, Number, Value::Count(v) => v as f64);

impl ParamType for bool {
    type Allowed = ();

    fn describe((): ()) -> (Kind, Option<(Value, Value)>) {
        (Kind::Flag, None)
    }
    fn to_value(&self) -> Value {
        Value::Flag(*self)
    }
    fn from_value(value: Value) -> Option<bool> {
        if let Value::Flag(v) = value { Some(v) } else { None }
    }
}

/// Declares a parameter type with a few values, each with its word in scenario files.
///
/// ```
/// use schemes::params::{ParamType, Value};
/// schemes::choice! {
///     /// What controls a sender.
///     pub enum Controls {
///         /// A window.
///         Window = "window",
///         /// A pacing rate.
///         Rate = "pacing-rate",
///     }
/// }
/// assert_eq!(Controls::Rate.to_value(), Value::Choice("pacing-rate"));
/// assert_eq!(Controls::from_value(Value::Choice("window")), Some(Controls::Window));
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$doc:meta])+
        pub enum $name:ident { $( $(#[$value_doc:meta])+ $value:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$value_doc])+ $value ),+ }

        impl $crate::params::ParamType for $name {
            type Allowed = ();

            fn describe(
                (): (),
            ) -> ($crate::params::Kind, Option<($crate::params::Value, $crate::params::Value)>) {
                ($crate::params::Kind::Choice(&[$($word),+]), None)
            }
            fn to_value(&self) -> $crate::params::Value {
                $crate::params::Value::Choice(match self { $( $name::$value => $word ),+ })
            }
            fn from_value(value: $crate::params::Value) -> Option<$name> {
                match value {
                    $( $crate::params::Value::Choice($word) => Some($name::$value), )+
                    _ => None,
                }
            }
        }
    };
}

/// A scheme's parameters. Implemented by [`params!`](crate::params!) but for the presets, which
/// the scheme's file gives.
pub trait Params: Clone + Send + Sync + 'static {
    /// The table of the parameters.
    fn specs() -> &'static [ParamSpec];
    /// The value of the parameter `name`.
    fn get(&self, name: &str) -> Option<Value>;
    /// Sets the parameter `name`, checking kind and range.
    fn set(&mut self, name: &str, value: Value) -> Result<(), ParamError>;
}

/// Checks `value` against the range of `spec`.
pub fn check_range(spec: &ParamSpec, value: Value) -> Result<(), ParamError> {
    if let Value::Number(number) = value
        && !number.is_finite()
    {
        return Err(ParamError::WrongKind(spec.name, spec.kind));
    }
    match spec.range {
        Some((low, high)) if !(low <= value && value <= high) => {
            Err(ParamError::OutOfRange(spec.name, value, low, high))
        }
        _ => Ok(()),
    }
}

/// Joins the parameters of several parts, whose names differ, into those of a scheme: another
/// scheme's law with something on top. A part may come `without` some of its names, which then keep
/// what the preset gives them.
///
/// ```
/// use schemes::dcqcn::DcqcnParams;
/// use schemes::params::Params;
/// schemes::params! {
///     /// Parameters of a part.
///     pub struct PartParams {}
/// }
/// schemes::join_params! {
///     /// Parameters of DCQCN with that part.
///     pub struct JoinedParams {
///         /// DCQCN's.
///         dcqcn: DcqcnParams;
///         /// The part's.
///         part: PartParams;
///     }
/// }
/// assert_eq!(JoinedParams::specs().len(), DcqcnParams::specs().len());
/// ```
#[macro_export]
macro_rules! join_params {
    (
        $(#[$struct_doc:meta])*
        pub struct $name:ident {
            $( $(#[$part_doc:meta])+ $part:ident : $type:ty $(, without $hidden:expr)?; )+
        }
    ) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( $(#[$part_doc])+ pub $part: $type, )+ }

        impl $crate::params::Params for $name {
            fn specs() -> &'static [$crate::params::ParamSpec] {
                static SPECS: std::sync::LazyLock<Vec<$crate::params::ParamSpec>> =
                    std::sync::LazyLock::new(|| {
                        let mut specs = Vec::new();
                        $(
                            let hidden: &[&[&str]] = &[$($hidden)?];
                            let part = <$type as $crate::params::Params>::specs().iter();
                            specs.extend(
                                part.filter(|spec| !hidden.concat().contains(&spec.name)).cloned(),
                            );
                        )+
                        specs
                    });
                &SPECS
            }
            fn get(&self, name: &str) -> Option<$crate::params::Value> {
                if !Self::specs().iter().any(|spec| spec.name == name) {
                    return None;
                }
                $(
                    let hidden: &[&[&str]] = &[$($hidden)?];
                    if !hidden.concat().contains(&name)
                        && let Some(value) = $crate::params::Params::get(&self.$part, name)
                    {
                        return Some(value);
                    }
                )+
                None
            }
            fn set(
                &mut self,
                name: &str,
                value: $crate::params::Value,
            ) -> Result<(), $crate::params::ParamError> {
                $(
                    let hidden: &[&[&str]] = &[$($hidden)?];
                    if !hidden.concat().contains(&name)
                        && $crate::params::Params::get(&self.$part, name).is_some()
                    {
                        return $crate::params::Params::set(&mut self.$part, name, value);
                    }
                )+
                Err($crate::params::ParamError::UnknownParam(
                    name.to_owned(),
                    Self::specs().iter().map(|spec| spec.name).collect(),
                ))
            }
        }
    };
}

/// Declares the parameters of a scheme: a plain struct with the table that describes it. A line has
/// name and type, the paper's symbol, the allowed values ([`ParamType::Allowed`]) and the source of
/// the default. A parameter that has an effect only where another one has certain values says so at
/// its end.
///
/// ```
/// use schemes::params::{Params, Value};
/// use units::Time;
/// schemes::choice! {
///     /// Whose form of the law.
///     pub enum Form {
///         /// The paper's.
///         Paper = "paper",
///         /// The simulator's.
///         Ns3 = "ns3",
///     }
/// }
/// schemes::params! {
///     /// Parameters of a law.
///     pub struct LawParams {
///         /// How long to wait.
///         wait: Time, "T", Time::from_us(1)..=Time::from_ms(1), "a paper, section 5";
///         /// Share of the rate that a cut leaves.
///         share: f64, "beta", 0.1..=1.0, "a paper, section 5";
///         /// How many cuts there may be.
///         cuts: u64, "", 1..=10, "decided";
///         /// Whose form of the law.
///         form: Form, "", (), "a paper; a simulator";
///         /// Whether it cuts at once.
///         eager: bool, "", (), "decided", only form = ["paper"];
///     }
/// }
/// assert_eq!(LawParams::specs()[4].only, Some(("form", &["paper"][..])));
/// let mut params =
///     LawParams { wait: Time::from_us(50), share: 0.5, cuts: 2, form: Form::Ns3, eager: true };
/// assert!(params.set("wait", Value::Time(Time::from_us(55))).is_ok());
/// assert_eq!(params.get("wait"), Some(Value::Time(Time::from_us(55))));
/// assert_eq!(
///     params.set("wait", Value::Time(Time::ZERO)).unwrap_err().to_string(),
///     "`wait` = 0ns is out of range; allowed: 1us to 1ms"
/// );
/// ```
///
/// A range of another type than the field's does not compile:
///
/// ```compile_fail,E0308
/// schemes::params! {
///     /// Parameters of a law.
///     pub struct LawParams {
///         /// How long to wait.
///         wait: units::Time, "T", 0.1..=1.0, "a paper, section 5";
///     }
/// }
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$struct_doc:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $type:ty, $symbol:literal, $allowed:expr, $source:literal
                    $(, only $switch:ident = [$($word:literal),+])?;
            )*
        }
    ) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl $crate::params::Params for $name {
            fn specs() -> &'static [$crate::params::ParamSpec] {
                static SPECS: std::sync::LazyLock<Vec<$crate::params::ParamSpec>> =
                    std::sync::LazyLock::new(|| vec![$({
                        let (kind, range) =
                            <$type as $crate::params::ParamType>::describe($allowed);
                        let only: &[(&'static str, &'static [&'static str])] =
                            &[$((stringify!($switch), &[$($word),+]))?];
                        $crate::params::ParamSpec {
                            only: only.first().copied(),
                            name: stringify!($field),
                            symbol: $symbol,
                            kind,
                            range,
                            doc: concat!($($doc),+).trim_ascii(),
                            source: $source,
                        }
                    },)*]);
                &SPECS
            }
            #[allow(unused_variables)]
            fn get(&self, name: &str) -> Option<$crate::params::Value> {
                $( if name == stringify!($field) {
                    return Some($crate::params::ParamType::to_value(&self.$field));
                } )*
                None
            }
            #[allow(unused_variables)]
            fn set(
                &mut self,
                name: &str,
                value: $crate::params::Value,
            ) -> Result<(), $crate::params::ParamError> {
                let specs = Self::specs();
                let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
                    return Err($crate::params::ParamError::UnknownParam(
                        name.to_owned(),
                        specs.iter().map(|spec| spec.name).collect(),
                    ));
                };
                $( if name == stringify!($field) {
                    let Some(typed) = $crate::params::ParamType::from_value(value) else {
                        return Err($crate::params::ParamError::WrongKind(spec.name, spec.kind));
                    };
                    let value = $crate::params::ParamType::to_value(&typed);
                    $crate::params::check_range(spec, value)?;
                    self.$field = typed;
                } )*
                Ok(())
            }
        }
    };
}
