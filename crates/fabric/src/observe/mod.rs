//! What a run records for its user: samples of probes; traces of packets, pauses and queues;
//! drops that PFC should have prevented.

pub(crate) mod lossless_drops;
pub(crate) mod probe;
pub(crate) mod recorder;
pub(crate) mod samples;
pub(crate) mod sequence;
pub(crate) mod spill;
