//! Memory that an experiment of the HPCC simulator takes for each of its flows.

use hpcc_files::Experiment;
use rocelab::hpcc_ns3::{Ns3OutputFiles, records_of, scenario_of, write};
use rocelab::{RunOptions, run_on_disk};
use scenario::Scenario;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that are allocated, and the most since the peak was reset.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all work is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most bytes that were allocated at a time since the last call.
fn peak() -> usize {
    PEAK.swap(LIVE.load(Relaxed), Relaxed)
}

/// Flows of one packet between the hosts of a small tree, a few at once, written to a directory,
/// run and reported: the most bytes allocated at a time, in each step.
fn most_bytes(flows: usize) -> Vec<(&'static str, usize)> {
    let directory = std::env::temp_dir().join(format!("rocelab-memory-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = |file: &str| directory.join(file);
    let mut topology = "36 4 48\n32 33 34 35\n".to_owned();
    for host in 0..32 {
        topology += &format!("{host} {} 100Gbps 1us 0\n", 32 + host / 16);
    }
    for link in 0..16 {
        topology += &format!("{} {} 400Gbps 1us 0\n", 32 + link % 2, 34 + link / 2 % 2);
    }
    fs::write(path("topology.txt"), topology).unwrap();
    let mut list = format!("{flows}\n");
    for flow in 0..flows {
        let (src, at) = (flow % 32, 2_000_000_000 + flow * 20);
        let dst = (src + 1 + flow / 32 % 31) % 32;
        let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        list += &format!("{src} {dst} 3 100 1000 {s}.{ns:09}\n");
    }
    fs::write(path("flow.txt"), list).unwrap();
    let config = "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE none.txt \
         TRACE_OUTPUT_FILE mix.tr FCT_OUTPUT_FILE fct.txt PFC_OUTPUT_FILE pfc.txt \
         SIMULATOR_STOP_TIME 3 ENABLE_TRACE 0 PACKET_PAYLOAD_SIZE 1000 CC_MODE 3 RATE_AI 50Mb/s \
         RATE_HAI 50Mb/s HAS_WIN 1 VAR_WIN 1 FAST_REACT 1 INT_MULTI 4 ALPHA_RESUME_INTERVAL 1 \
         RATE_DECREASE_INTERVAL 4 RP_TIMER 300 EWMA_GAIN 0.00390625 FAST_RECOVERY_TIMES 1 \
         MIN_RATE 1000Mb/s L2_CHUNK_SIZE 4000 L2_ACK_INTERVAL 1 GLOBAL_T 1 MI_THRESH 0 \
         MULTI_RATE 0 BUFFER_SIZE 32 KMAX_MAP 2 100000000000 1600 400000000000 6400 \
         KMIN_MAP 2 100000000000 400 400000000000 1600 PMAX_MAP 2 100000000000 0.2 400000000000 \
         0.2";
    fs::write(path("config.txt"), config).unwrap();
    let mut most = Vec::new();
    let mut step = |name| most.push((name, peak()));
    peak();
    let experiment = Experiment::read(&path("config.txt"), &directory).unwrap();
    step("files");
    let (spec, _) = scenario_of(&experiment, "memory", &[]).unwrap();
    step("spec");
    let scenario = Scenario::from_spec(spec, &scenario::Files::default()).unwrap();
    step("scenario");
    let records = records_of(&experiment);
    let options = RunOptions { records, threads: Some(1), ..RunOptions::default() };
    let run = run_on_disk(&scenario, &options).unwrap();
    step("run");
    assert_eq!(run.summary.flows_done, flows as u64);
    let files = Ns3OutputFiles::new(&experiment, &run.flows, &run.recordings);
    let table = run.flows.to_record_batch().unwrap();
    step("tables");
    write(&experiment, &files, &directory, None).unwrap();
    step("write");
    drop(table);
    fs::remove_dir_all(&directory).unwrap();
    most
}

/// Protects experiments of a million flows: each takes no more than this.
#[test]
fn a_flow_takes_700_bytes_at_most() {
    let (few, many) = (2_000, 22_000);
    let steps = most_bytes(few).into_iter().zip(most_bytes(many));
    for ((step, less), (_, more)) in steps {
        let each = more.saturating_sub(less) / (many - few);
        assert!(each <= 700, "{each} bytes a flow: {step}");
    }
}
