//! From a valid scenario to results.
//!
//! ```
//! let scenario = scenario::parse(
//!     r#"
//!     [topology]
//!     kind = "star"
//!     hosts = 3
//!     host_rate = "100Gbps"
//!     host_delay = "1us"
//!     [[traffic]]
//!     kind = "incast"
//!     senders = 2
//!     receiver = "h0"
//!     size = "100KB"
//!     [scheme]
//!     name = "hpcc"
//!     "#,
//!     None,
//!     &[],
//! )
//! .unwrap();
//! let result = rocelab::run(&scenario, &rocelab::RunOptions::default()).unwrap();
//! assert_eq!(result.summary.flows_done, 2);
//! ```

mod fabric_setup;
pub mod hpcc_ns3;
pub mod memory;
mod output;
mod plan;
mod plan_checks;
mod recordings;
mod scheme_types;
mod setup_error;
mod unfinished;

pub use fabric::{OutOfAddressSpace, Spill, SpillError};
pub use instantiations::{SchemeTypes, scheme_types};
use output::report::Execution;
pub use plan::Plan;
pub use recordings::{ROWS, Recordings};
use scenario::{Scenario, ScenarioError};
pub use scheme_types::add_schemes;
use setup_error::describe_setup_error;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use units::cancel;

/// The version of rocelab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How to run, as against what to run: nothing here changes what a run does.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Threads; `None`: as many as there are cores where the run is large enough to gain from
    /// them, else one.
    pub threads: Option<usize>,
    /// Set by the caller: stop, and keep what there is. While the run is set up there is nothing to
    /// keep: [`run`] unwinds.
    pub cancel: Arc<AtomicBool>,
    /// Written as the run goes on.
    pub progress: Arc<Progress>,
    /// Single events to record; what the scenario's own trace asks for goes before it.
    pub records: fabric::Records,
    /// Where samples and events go that are too many for memory.
    pub spill: Spill,
    /// Suppresses the warning that hosts have several rates: the user set all parameters that a
    /// preset derives from that rate.
    pub explicit_params: bool,
    /// Runs on the reference engine: on one thread, without fast paths, and without progress or
    /// cancellation. Slow; the result is equal. For tests.
    pub reference_mode: bool,
}

/// How far a run has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated time, ps.
    pub simulated_ps: AtomicU64,
    /// Packets of any kind that arrived over a link; in the end those serialised by a port.
    pub packet_hops: AtomicU64,
    /// Flows completed.
    pub flows_done: AtomicU64,
    /// Flows in all.
    pub flows: AtomicU64,
    /// When the run ends, ps; 0 where it ends with its flows.
    pub end_ps: AtomicU64,
}

/// What a run leaves behind; what it recorded may be larger than memory.
#[derive(Clone, Debug)]
pub struct Run {
    /// One row per message.
    pub flows: results::FlowTable,
    /// One row per port.
    pub ports: results::PortTable,
    /// Drops in lossless classes, the first ones.
    pub drops: Vec<results::Drop>,
    /// Series, traces and other records.
    pub recordings: Recordings,
    /// Why records end before the run does, where they found no room on disk.
    pub failure: Option<SpillError>,
    /// The run in numbers.
    pub summary: results::Summary,
}

impl Run {
    /// All of it in memory.
    ///
    /// # Errors
    /// Where a file that holds records cannot be read.
    pub fn into_result(self) -> io::Result<RunResult> {
        let Run { flows, ports, drops, recordings, summary, .. } = self;
        let series = |probe| {
            let whole = recordings.series(probe, usize::MAX).next();
            whole.unwrap_or_else(|| Ok(recordings.empty_series(probe).clone()))
        };
        let series = (0..summary.series.len()).map(series).collect::<io::Result<_>>()?;
        let names = || Arc::clone(&flows.node_names);
        let pfc_trace = recordings.pfc_rows().map(|_| {
            let whole = recordings.pfc_trace(usize::MAX).next();
            let empty = || results::PfcTrace { node_names: names(), ..Default::default() };
            whole.unwrap_or_else(|| Ok(empty()))
        });
        let packet_trace = recordings.packet_rows().map(|_| {
            let whole = recordings.packet_trace(usize::MAX).next();
            let empty = || results::PacketTrace { node_names: names(), ..Default::default() };
            whole.unwrap_or_else(|| Ok(empty()))
        });
        let mut capture = recordings.has_capture().then(Vec::new);
        if let Some(capture) = &mut capture {
            recordings.write_capture(capture)?;
        }
        Ok(RunResult {
            series,
            pfc_trace: pfc_trace.transpose()?,
            packet_trace: packet_trace.transpose()?,
            capture,
            recorded: recordings.to_recorded()?,
            flows,
            ports,
            drops,
            recordings,
            summary,
        })
    }
}

/// What a run leaves behind, all of it in memory.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// One row per message.
    pub flows: results::FlowTable,
    /// One row per port.
    pub ports: results::PortTable,
    /// One for each probe.
    pub series: Vec<results::Series>,
    /// PFC frames, where the scenario asks for them.
    pub pfc_trace: Option<results::PfcTrace>,
    /// What happened to packets, where the scenario asks for that.
    pub packet_trace: Option<results::PacketTrace>,
    /// The traced packets as a capture (pcapng), if the scenario asks for one.
    pub capture: Option<Vec<u8>>,
    /// Drops in lossless classes, the first ones.
    pub drops: Vec<results::Drop>,
    /// The single events that were asked for.
    pub recorded: RecordedEvents,
    /// Series, traces and other records, to be read piece by piece.
    pub recordings: Recordings,
    /// The run in numbers.
    pub summary: results::Summary,
}

/// Single events of a run, in the order of their times, and what goes with them into files.
#[derive(Clone, Debug, Default)]
pub struct RecordedEvents {
    /// PFC frames that arrived.
    pub pfc: Vec<fabric::PfcEvent>,
    /// What happened to packets.
    pub packets: Vec<fabric::PacketEvent>,
    /// How long queues were.
    pub queues: Vec<fabric::QueueBlock>,
    /// The largest base round trip times lowest rate of any pair of hosts, where paths are
    /// shortest.
    pub network_bdp: Option<units::Bytes>,
}

/// Why [`run`] has no result.
#[derive(Debug)]
pub enum RunError {
    /// The fabric refuses the scenario.
    Scenario(ScenarioError),
    /// A file that holds records cannot be read.
    Io(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Scenario(error) => error.fmt(f),
            RunError::Io(error) => write!(f, "cannot read what was recorded: {error}"),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RunError::Scenario(error) => Some(error),
            RunError::Io(error) => Some(error),
        }
    }
}

/// Runs a scenario, and has all that it recorded in memory.
///
/// # Errors
/// If [`run_on_disk`] refuses the scenario, or a file that holds records cannot be read.
///
/// # Panics
/// As [`run_on_disk`].
pub fn run(scenario: &Scenario, options: &RunOptions) -> Result<RunResult, RunError> {
    let run = run_on_disk(scenario, options).map_err(RunError::Scenario)?;
    run.into_result().map_err(RunError::Io)
}

/// Runs a scenario. Samples and events that are too many for memory go to a file.
///
/// # Errors
/// If the fabric refuses the scenario ([`SetupError`](fabric::SetupError)): among others if paths
/// are longer than packets of the scheme can record, if an outage is too short, or if the system
/// starts no threads.
///
/// # Panics
/// With [`OutOfAddressSpace`] where the system grants too little address space for the packets. It
/// unwinds with [`Cancelled`](units::cancel::Cancelled) where it is cancelled while the run is set
/// up.
pub fn run_on_disk(scenario: &Scenario, options: &RunOptions) -> Result<Run, ScenarioError> {
    let setup = cancel::scope(&options.cancel, || fabric_setup::setup(scenario, options));
    let progress = &options.progress;
    progress.flows.store(setup.messages.len() as u64, Ordering::Relaxed);
    let end = if setup.until_done { 0 } else { setup.stop.ps() };
    progress.end_ps.store(end, Ordering::Relaxed);
    let threads = options.threads.unwrap_or_else(|| default_threads(scenario));
    // Each has a node at least.
    let threads = threads.clamp(1, scenario.network.nodes.len().clamp(1, MAX_THREADS));
    let watch = |now: fabric::Progress| {
        progress.simulated_ps.store(now.time.ps(), Ordering::Relaxed);
        progress.packet_hops.store(now.packets_delivered, Ordering::Relaxed);
        progress.flows_done.store(now.finished, Ordering::Relaxed);
        !options.cancel.load(Ordering::Relaxed)
    };
    let built = cancel::scope(&options.cancel, || scheme_types::build(scenario, &setup))?;
    let started = Instant::now();
    let output = built.run(threads, &watch);
    let output = output.map_err(|refusal| describe_setup_error(scenario, refusal))?;
    let wall_s = started.elapsed().as_secs_f64();
    let execution = Execution { threads, wall_s, order: output::EventOrder::Fast };
    let result = output::report::report(scenario, options, &setup, output, execution);
    progress.simulated_ps.store(result.summary.simulated_ns * 1000, Ordering::Relaxed);
    progress.packet_hops.store(result.summary.packet_hops, Ordering::Relaxed);
    progress.flows_done.store(result.summary.flows_done, Ordering::Relaxed);
    Ok(result)
}

/// Checks what [`run`] does before it begins: that the scheme can run on this network. Builds it.
/// A [`cancel::scope`] can stop it, as it can [`plan`].
///
/// # Errors
/// If the fabric refuses the scenario.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let setup = fabric_setup::setup(scenario, &RunOptions::default());
    scheme_types::build(scenario, &setup).map(drop)
}

/// What a scenario asks of its network, which it builds.
///
/// # Errors
/// If the fabric refuses the scenario, or a port would need longer to send its bytes than times
/// reach.
pub fn plan(scenario: &Scenario) -> Result<Plan, ScenarioError> {
    let setup = fabric_setup::setup(scenario, &RunOptions::default());
    let plan = scheme_types::build(scenario, &setup)?.plan();
    Plan::new(scenario, &setup, &plan)
}

/// The ports that the data of each message leaves through, from its sender on, while all links
/// work. A scheme that chooses paths itself may take others. Builds the network.
///
/// # Errors
/// If the fabric refuses the scenario.
pub fn paths(scenario: &Scenario) -> Result<results::HopTable, ScenarioError> {
    let setup = fabric_setup::setup(scenario, &RunOptions::default());
    let hops = scheme_types::build(scenario, &setup)?.hops();
    Ok(results::HopTable {
        flow_id: hops.iter().map(|hop| hop.flow.get()).collect(),
        node: hops.iter().map(|hop| hop.node.get()).collect(),
        port: hops.iter().map(|hop| hop.port.get()).collect(),
        node_names: output::report::node_names(scenario),
    })
}

/// Maximum number of threads. Each pair of threads has mailboxes of its own, so their memory grows
/// with its square.
const MAX_THREADS: usize = 256;

/// Hosts from which on a second thread gains more than the barriers cost.
const MIN_HOSTS_FOR_THREADS: usize = 64;

fn default_threads(scenario: &Scenario) -> usize {
    let hosts = scenario.network.nodes.iter();
    let hosts = hosts.filter(|node| node.kind == scenario::NodeKind::Host).count();
    if hosts < MIN_HOSTS_FOR_THREADS {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from)
}
