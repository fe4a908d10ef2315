//! What all toy schemes have in common.

use crate::common::{ACK, FIRST, FULL};
use schemes::contract::{Absent, PathFacts, Rp, Scheme, SendLimits};
use schemes::params::{ParamError, ParamSpec, Params, Value};
use std::sync::{Arc, Mutex};
use units::Time;

/// Parameters without a table.
#[derive(Clone, Debug, Default)]
pub struct Plain<T>(pub T);

impl<T: Clone + Send + Sync + 'static> Params for Plain<T> {
    fn specs() -> &'static [ParamSpec] {
        &[]
    }
    fn get(&self, _name: &str) -> Option<Value> {
        None
    }
    fn set(&mut self, name: &str, _value: Value) -> Result<(), ParamError> {
        Err(ParamError::UnknownParam(name.to_owned(), Vec::new()))
    }
}

/// What a hook saw, for the test to read.
#[derive(Clone, Debug)]
pub struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log(Arc::default())
    }
}

impl<T: Clone> Log<T> {
    pub fn push(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }
    pub fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

/// A sender without limits, of any scheme.
#[derive(Debug)]
pub struct LineRate;

impl<S: Scheme> Rp<S> for LineRate {
    type Timer = Absent;
    fn open(_: &S::Params, _: &mut S::Host, _: &PathFacts, _: Time) -> LineRate {
        LineRate
    }
    fn limits(&self) -> SendLimits {
        SendLimits::UNLIMITED
    }
}

/// Declares a toy scheme by its types, in the order Params, Meta, Ctl, Host, Rp, Np, Cp, and by
/// what else the trait needs.
macro_rules! toy {
    (
        $(#[$doc:meta])*
        $name:ident: $params:ty, $meta:ty, $ctl:ty, $host:ty, $rp:ty, $np:ty, $cp:ty;
        $($body:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name;

        impl schemes::contract::Scheme for $name {
            const NAME: &'static str = stringify!($name);
            const TITLE: &'static str = "a toy";
            const PAPER: &'static str = "none";
            const PRESETS: &'static [schemes::contract::Preset<Self::Params>] = &[];
            type Params = $crate::toy::Plain<$params>;
            type Meta = $meta;
            type Ctl = $ctl;
            type Host = $host;
            type Rp = $rp;
            type Np = $np;
            type Cp = $cp;
            $($body)*
        }
    };
}
pub(crate) use toy;

/// For toys without state of hosts.
macro_rules! no_host {
    () => {
        fn host(_: &Self::Params, _: &schemes::contract::HostFacts) {}
    };
}
pub(crate) use no_host;

macro_rules! no_cp {
    () => {
        fn congestion_point(
            _: &Self::Params,
            _: &schemes::contract::SwitchFacts<'_>,
        ) -> Option<Self::Cp> {
            None
        }
    };
}
pub(crate) use no_cp;

/// Picoseconds of a byte at 100 Gb/s.
pub const BYTE: u64 = 80;
/// A cable's microsecond.
pub const WIRE: u64 = 1_000_000;

/// From the start of an ACK at host 1 to its arrival at host 0 over `links` cables.
pub const fn ack_back(links: u64) -> u64 {
    links * (ACK * BYTE + WIRE)
}

/// From the start of a packet of `bytes` at host 0 to its arrival at host 1.
pub const fn one_way(bytes: u64, links: u64) -> u64 {
    links * (bytes * BYTE + WIRE)
}

/// FCT of a message of `packets` full packets alone on a line of `links` equal links at full rate:
/// they follow one another back to back; the first, being longer, is the one that all wait for on
/// every link.
pub const fn alone(packets: u64, links: u64) -> u64 {
    (links * FIRST + (packets - 1) * FULL) * BYTE + links * WIRE + ack_back(links)
}
