//! What a scheme needs of a run. A run that does not have it is refused.

/// What a scheme needs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Data and ACKs take the same path.
    pub symmetric_paths: bool,
    /// All data has one priority: the scheme takes the queues of a port for one.
    pub one_data_priority: bool,
    /// Paths have at most this many switches: what a packet's [`Meta`](super::Scheme::Meta) has
    /// room for. A scheme whose packets carry an [`IntStack`](crate::int::IntStack) has to set it.
    pub max_hops: usize,
    /// Links have at most this many rates: those that packets can tell apart.
    /// [`LinkRates::MAX`](super::LinkRates::MAX) if they carry a [`RateCode`](super::RateCode).
    pub max_link_rates: usize,
}

impl Needs {
    /// Nothing.
    pub const NONE: Needs = Needs {
        symmetric_paths: false,
        one_data_priority: false,
        max_hops: usize::MAX,
        max_link_rates: usize::MAX,
    };
}
