//! Experiments of the HPCC ns-3 simulator in that simulator's order of events, and those of
//! ConWeave's simulator, which was made from it.
//!
//! There all events are in one list, ordered by time and then by when they were scheduled. Here
//! they are in one list, too, and every scheduling that takes a number there takes one here. So
//! events of one nanosecond come in the same order, random numbers are drawn in the same order, and
//! the results are equal: each FCT, each PFC frame, each sample of a queue, each line of a trace.
//!
//! # What is shared with the fabric
//!
//! The fabric runs the same experiments in parallel, in another order of the events of a
//! nanosecond. It hands packets over in windows and lets ports depart lazily, so it has no numbers
//! of events. This crate therefore has hosts, switches and buffer of its own. Shared are:
//!
//! - the laws of HPCC, TIMELY and DCTCP, and the sender of HPCC-PINT (crate `schemes`);
//! - the readers of the files (crate `hpcc-files`), which compute starts, delays and rates;
//! - times on the wire, the hash and the generator of random numbers (`fabric::ns3`).
//!
//! DCQCN is not shared, because its timers are events with numbers here and are not events there.
//! HPCC-PINT's switches are not, because they draw from the C library's one generator. What is not
//! shared exists twice. Where both orders give the same result, the two check each other.
//!
//! # Modules
//!
//! - `event_list`: the list.
//! - `settings`, `network`, `routes`: the experiment as plain values.
//! - `simulation`: the state of a run and its loop; starts and ends of flows.
//! - `host`, `switch`, `link_failure`: what nodes do.
//! - `laws`, `dcqcn`, `pint`: control laws.
//! - `conweave`: what ConWeave's simulator does in another way.
//! - `draws`, `walk_order`: random numbers, and the order in which hash tables are walked.
//! - `trace`, `output`: what is recorded; `unfinished`: why flows did not finish.

mod conweave;
mod dcqcn;
mod draws;
mod event_list;
#[cfg(test)]
mod event_numbers;
mod host;
mod laws;
mod link_failure;
mod network;
mod output;
mod packets;
mod pint;
mod routes;
mod settings;
mod simulation;
mod switch;
mod trace;
mod unfinished;
mod walk_order;

pub use output::{DroppedPacket, Output, PortOutput, port_table};
pub use settings::{Refusal, check, check_settings};
pub use trace::{NewFile, TraceRecords};

use hpcc_files::Experiment;

/// How to run.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// ns-3's run number; for a file of ConWeave's simulator, ns-3's seed.
    pub run: u64,
    /// Makes the file for records of a trace that are too many for memory.
    pub new_file: NewFile<'a>,
    /// How many bytes of them stay in memory.
    pub max_held_bytes: usize,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time, in nanoseconds.
    pub time: u64,
    /// Packets that arrived, once for each link that they crossed.
    pub packets_delivered: u64,
    /// Flows that finished.
    pub finished: u64,
}

/// Runs an experiment for which [`check`] has found nothing to refuse. Its routes connect the hosts
/// of each flow, also after the failure of a link. `watch` receives the progress now and then, and
/// returns whether the run goes on.
pub fn run(
    experiment: &Experiment,
    options: &Options<'_>,
    watch: &dyn Fn(Progress) -> bool,
) -> Output {
    simulation::Simulation::new(experiment, options).run(watch)
}
