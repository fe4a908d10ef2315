//! The network that a run simulates: its description, its graph, where hosts are, and how the engine's
//! threads share it.

pub(crate) mod flow;
pub(crate) mod graph;
pub(crate) mod host_locations;
pub(crate) mod ideal;
pub(crate) mod partition;
pub(crate) mod setup;
