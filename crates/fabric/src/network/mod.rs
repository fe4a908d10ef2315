//! The network of a run: its description, its graph, its messages, the locations of hosts, and
//! groups of nodes for the engine's threads.

pub(crate) mod flow;
pub(crate) mod graph;
pub(crate) mod host_locations;
pub(crate) mod ideal;
pub(crate) mod joins;
pub(crate) mod partition;
pub(crate) mod setup;
