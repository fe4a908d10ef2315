//! What a scheme needs of a run. A run that does not have it is refused.

/// How a scheme goes together with something that it was not made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Well.
    Works,
    /// With a restriction that users should know. It completes "scheme NAME: ...".
    Note(&'static str),
    /// Not at all, and such a run is refused. The reason completes "scheme NAME: ...".
    Refused(&'static str),
}

/// How a scheme goes together with load balancing and loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerates {
    /// Packets of a flow take different paths, whatever the load of these.
    pub spraying: Fit,
    /// Packets of a flow take the path that is least loaded at the time.
    pub adaptive: Fit,
    /// A flow may take another path after a pause.
    pub flowlets: Fit,
    /// A switch moves a flow to another path at any time, and the last one puts its packets back in
    /// order.
    pub rerouting: Fit,
    /// Senders send only lost packets again, and ACKs come for packets that are out of order.
    pub selective_repeat: Fit,
}

impl Tolerates {
    /// All of it.
    pub const ALL: Tolerates = Tolerates {
        spraying: Fit::Works,
        adaptive: Fit::Works,
        flowlets: Fit::Works,
        rerouting: Fit::Works,
        selective_repeat: Fit::Works,
    };

    /// One note about packets that take different paths, whoever chooses them.
    pub const fn several_paths(note: &'static str) -> Tolerates {
        Tolerates { spraying: Fit::Note(note), adaptive: Fit::Note(note), ..Tolerates::ALL }
    }
}

/// What a scheme needs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Data and ACKs take the same path.
    pub symmetric_paths: bool,
    /// All data has one priority: the scheme takes the queues of a port for one.
    pub one_data_priority: bool,
    /// It may react to ECN marks though its presets bring no marking law: switches mark where
    /// `[ecn]` has thresholds.
    pub marks_if_asked: bool,
    /// Paths have at most this many switches: what a packet's [`Meta`](super::Scheme::Meta) has
    /// room for. A scheme whose packets carry an [`IntStack`](crate::int::IntStack) has to set it.
    pub max_hops: usize,
    /// Links have at most this many rates: those that packets can tell apart.
    /// [`LinkRates::MAX`](super::LinkRates::MAX) if they carry a [`RateCode`](super::RateCode).
    pub max_link_rates: usize,
    /// Which ways to spread and to recover packets it goes together with.
    pub tolerates: Tolerates,
}

impl Needs {
    /// Nothing.
    pub const NONE: Needs = Needs {
        symmetric_paths: false,
        one_data_priority: false,
        marks_if_asked: false,
        max_hops: usize::MAX,
        max_link_rates: usize::MAX,
        tolerates: Tolerates::ALL,
    };
}
