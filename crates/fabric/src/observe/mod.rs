//! What a run records for its user: samples of probes; traces of packets, pauses and queues.

pub(crate) mod probe;
pub(crate) mod recorder;
pub(crate) mod samples;
pub(crate) mod sequence;
pub(crate) mod spill;
