//! Protects agreement with the HPCC ns-3 simulator: FCTs, pauses and queues that it gave for small
//! experiments, to the nanosecond and the byte. What it gave are facts of its runs; the experiments
//! are written out here.

use crate::hpcc::Run;
use hpcc_files::packet_trace;
use rocelab::hpcc_ns3::{Ns3OutputFiles, records_of, scenario_of, write};
use rocelab::{RunOptions, RunResult};
use scenario::Scenario;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use units::Time;

/// Hosts 0, 1 and 2; 0 and 1 share the way to 2 over three switches.
const DUMBBELL: &str = "6 3 5\n3 4 5\n0 3 100Gbps 1500ns 0\n1 3 100Gbps 1500ns 0\n\
                        3 4 100Gbps 1500ns 0\n4 5 100Gbps 1500ns 0\n5 2 100Gbps 1500ns 0\n";

#[test]
fn a_lone_flow_takes_as_long_as_there() {
    let sizes = [1, 500, 1_000, 1_001, 2_000, 10_000, 64_000, 65_536, 100_000, 154_000];
    let flows: Vec<String> = sizes
        .iter()
        .enumerate()
        .map(|(number, size)| format!("0 2 3 100 {size} 2.{:06}", number * 2_000))
        .collect();
    let known: [(&str, [u64; 10]); 4] = [
        ("dcqcn", [12028, 12188, 12348, 12352, 12431, 13095, 17577, 17706, 20565, 25047]),
        ("dctcp", [12028, 12188, 12348, 12352, 12431, 13095, 17577, 17706, 20565, 25047]),
        ("timely", [12032, 12192, 12352, 12356, 12436, 13108, 17644, 17775, 20668, 25204]),
        ("hpcc", [12056, 12216, 12376, 12383, 12463, 13159, 17857, 17994, 20989, 25727]),
    ];
    for (law, fcts) in known {
        assert_eq!(Run::new("lone", law, DUMBBELL, &flows, "").fcts(), fcts, "{law}");
    }
}

#[test]
fn two_long_flows_share_as_there() {
    let flows = ["0 2 3 100 50000000 2.0".to_owned(), "1 2 3 100 50000000 2.0003".to_owned()];
    let known = [
        ("dcqcn", [8_893_010, 8_911_496], 761_896),
        ("timely", [9_745_231, 10_190_320], 2_185_920),
        ("dctcp", [8_012_220, 8_012_265], 167_680),
        ("hpcc", [9_196_102, 8_584_062], 161_320),
    ];
    for (law, fcts, queue) in known {
        let run = Run::new("two", law, DUMBBELL, &flows, "");
        assert_eq!(run.fcts(), fcts, "{law}");
        assert_eq!(run.result.summary.max_queue_bytes, queue, "{law}: the longest queue");
    }
}

/// Six hosts send to one through a switch with a buffer of 1 MiB.
fn incast(law: &str) -> Run {
    incast_with(law, "")
}

/// An incast under `law`, with `more` lines in the configuration.
fn incast_with(law: &str, more: &str) -> Run {
    let mut topology = "8 1 7\n7\n".to_owned();
    for host in 0..7 {
        topology += &format!("{host} 7 100Gbps 1000ns 0\n");
    }
    let flows: Vec<String> =
        (0..6).map(|host| format!("{host} 6 3 100 200000 2.0000000{host}0")).collect();
    Run::new("incast", law, &topology, &flows, &format!("BUFFER_SIZE 1 {more}"))
}

#[test]
fn pauses_are_as_many_and_the_marks_the_same() {
    let dcqcn = incast("dcqcn");
    assert_eq!(dcqcn.fcts(), [103_110, 103_682, 103_174, 101_919, 100_829, 102_230]);
    assert_eq!(dcqcn.result.summary.pause_frames, 26);
    let first: Vec<(u64, u32, bool)> = dcqcn.result.recorded.pfc[..5]
        .iter()
        .map(|event| (event.time.ns(), event.node.get(), event.pause))
        .collect();
    let times = [2_000_007_564, 2_000_007_573, 2_000_007_583, 2_000_007_593, 2_000_007_604];
    assert_eq!(first, [0, 1, 2, 3, 4].map(|host| (times[host as usize], host, true)));
    assert_eq!(dcqcn.result.ports.ecn_marked_packets.iter().sum::<u64>(), 3);
    let hpcc = incast("hpcc");
    assert_eq!(hpcc.fcts(), [118_641, 115_905, 115_460, 104_786, 104_688, 104_243]);
    assert_eq!(hpcc.result.summary.pause_frames, 0);
}

/// A pause of no time is none. Buffers stay as large as they are.
#[test]
fn without_pauses_full_buffers_drop() {
    // Headers of small packets make more of the flows than the buffer holds.
    let run = incast_with("none", "PAUSE_TIME 0 PACKET_PAYLOAD_SIZE 500");
    let (_, warnings) = scenario_of(&run.experiment, "x", &[]).unwrap();
    assert!(warnings.iter().any(|warning| warning.to_string().contains("PAUSE_TIME 0 pauses")));
    let summary = &run.result.summary;
    assert_eq!(summary.pause_frames, 0);
    assert!(summary.drops > 0, "1.3 MB come, five sixths of them too early");
    assert!(summary.max_queue_bytes > 1_000_000 && summary.max_queue_bytes <= 1 << 20);
}

#[test]
fn the_files_of_a_run_are_written_and_read_back() {
    let run = incast("dcqcn");
    let files = Ns3OutputFiles::new(&run.experiment, &run.result.flows, &run.result.recordings);
    let written = write(&run.experiment, &files, &run.files.0, None).unwrap();
    let names: Vec<&Path> =
        written.iter().map(|path| path.strip_prefix(&run.files.0).unwrap()).collect();
    let all = ["out/fct.txt", "out/pfc.txt", "out/qlen.txt", "out/mix.tr"];
    assert_eq!(names, all.map(Path::new));
    let read = |name: &str| fs::read(run.files.0.join("out").join(name)).unwrap();
    let fct = hpcc_files::fct::parse(&read("fct.txt")).unwrap();
    assert_eq!(fct.len(), 6);
    assert_eq!(
        String::from_utf8(read("fct.txt")).unwrap().lines().next().unwrap(),
        "0b000401 0b000601 10000 100 200000 2000000040 100829 20928"
    );
    assert_eq!(hpcc_files::pfc::parse(&read("pfc.txt")).unwrap().len(), 52);
    assert!(String::from_utf8(read("qlen.txt")).unwrap().starts_with("time: 2000000000\n7 1 1\n"));
    let trace = read("mix.tr");
    let trace = packet_trace::Reader::new(trace.as_slice()).unwrap();
    assert_eq!(trace.header().ports.len(), 14, "two for each link");
    // 4 us of delay and 1000 bytes over two links, at 100 Gb/s.
    assert_eq!(trace.header().window, (4_000 + 2 * 80) * 100 / 8);
    assert_eq!(trace.count(), 0, "ENABLE_TRACE 0");
    assert_eq!(fs::read_dir(run.files.0.join("out")).unwrap().count(), 4, "nothing half-written");
}

/// What stands in the way of a later file leaves none of the earlier ones.
#[test]
fn all_files_of_a_run_are_written_or_none() {
    let run = incast("none");
    fs::create_dir(run.files.0.join("folder")).unwrap();
    let there = || fs::read_dir(&run.files.0).unwrap().count();
    let before = there();
    let files = Ns3OutputFiles::new(&run.experiment, &run.result.flows, &run.result.recordings);
    let mut experiment = run.experiment.clone();
    for (path, error) in
        [("/dev/full", ErrorKind::StorageFull), ("folder", ErrorKind::IsADirectory)]
    {
        experiment.config.qlen_mon_file = Some(path.into());
        let (at, why) = write(&experiment, &files, &run.files.0, None).unwrap_err();
        assert!(at.ends_with(path) && why.kind() == error, "{why}");
        let left = fs::read_dir(run.files.0.join("out")).unwrap().count();
        assert_eq!((left, there()), (0, before + 1), "but for the empty `out`");
    }
}

/// Protects from a law that does nothing without a word: packets have room for five INT records.
#[test]
fn hpcc_on_long_paths_is_told() {
    let warnings = |law: &str, switches: u32, more: &str| {
        let mut topology = format!("{} {switches} {}\n", switches + 3, switches + 2);
        let nodes: Vec<String> = (3..switches + 3).map(|node| node.to_string()).collect();
        topology += &format!("{}\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n", nodes.join(" "));
        for node in 3..switches + 2 {
            topology += &format!("{node} {} 100Gbps 1us 0\n", node + 1);
        }
        topology += &format!("2 {} 100Gbps 1us 0\n", switches + 2);
        let flows = ["0 2 3 100 1000 2.0".to_owned(), "0 1 3 100 1000 2.0".to_owned()];
        let run = Run::new("long", law, &topology, &flows, more);
        let (_, warnings) = scenario_of(&run.experiment, "long", &[]).unwrap();
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warnings("hpcc", 5, ""), Vec::<String>::new());
    assert_eq!(
        warnings("hpcc", 6, ""),
        ["1 flow has paths of more than 5 switches, up to 6: CC_MODE 3 measures nothing on \
             these, and such flows keep the line rate, as in the original"]
    );
    assert_eq!(warnings("dcqcn", 6, ""), Vec::<String>::new());
    // The THEMIS prototype has room for ten.
    assert_eq!(warnings("hpcc", 6, "ENABLE_THEMIS 0"), Vec::<String>::new());
}

/// Protects from a word on presets where a configuration has all parameters, be they a preset's or
/// not.
#[test]
fn hosts_of_several_rates_have_the_parameters_of_the_configuration() {
    let topology = "4 1 3\n3\n0 3 400Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    let maps =
        "KMAX_MAP 1 400000000000 6400 KMIN_MAP 1 400000000000 1600 PMAX_MAP 1 400000000000 0.2";
    let flows = ["0 2 3 100 100000 2.0".to_owned()];
    for law in ["dcqcn", "timely", "dctcp", "hpcc"] {
        for rate in ["20Mb/s", "25Mb/s"] {
            let more = format!("{maps} RATE_AI {rate} RATE_HAI 200Mb/s");
            let run = Run::new("mixed", law, topology, &flows, &more);
            assert_eq!(run.result.summary.warnings, Vec::<String>::new(), "{law}");
        }
    }
}

/// The original leaves out ACKs of packets that end before the interval and no chunk. If flows have
/// such packets, a warning says so, with the number of flows that therefore never end.
#[test]
fn acks_that_are_left_out_there_are_told() {
    let told = |interval: u64, chunk: u64, sizes: &[u64]| {
        let flow = |size| format!("0 2 3 100 {size} 2.0");
        let flows: Vec<String> = sizes.iter().map(flow).collect();
        let more = format!("L2_ACK_INTERVAL {interval} L2_CHUNK_SIZE {chunk}");
        let run = Run::new("acks", "dcqcn", DUMBBELL, &flows, &more);
        let (_, warnings) = scenario_of(&run.experiment, "acks", &[]).unwrap();
        let mut told = warnings.iter().map(ToString::to_string);
        let text = told.find(|text| text.starts_with("L2_ACK_INTERVAL"))?;
        Some(text.rsplit_once("and ").map_or(text.as_str(), |(_, flows)| flows).to_owned())
    };
    // Below a packet, too: the flow of 400 bytes ends before byte 1000.
    assert_eq!(told(1000, 4000, &[400, 2000]).unwrap(), "1 of 2 flows never ends");
    assert_eq!(told(1000, 400, &[400, 2000]), None);
    assert_eq!(told(1, 4000, &[1, 2000]), None);
    assert_eq!(told(5000, 4000, &[400, 2000, 8000]).unwrap(), "2 of 3 flows never end");
    // These flows end, after packets without ACKs.
    assert!(told(5000, 4000, &[4000, 8000]).unwrap().ends_with("multiple of L2_CHUNK_SIZE"));
    assert_eq!(told(5000, 1000, &[4000, 8000]), None);
}

/// The events of a run's trace.
fn trace(run: &Run) -> Vec<packet_trace::Record> {
    let mut experiment = run.experiment.clone();
    experiment.traced = experiment.topology.hosts().chain(experiment.topology.switches()).collect();
    let (spec, _) = scenario_of(&experiment, "traced", &[]).unwrap();
    let scenario = Scenario::from_spec(spec, &scenario::Files::default()).unwrap();
    let options = RunOptions { records: records_of(&experiment), ..RunOptions::default() };
    let result = rocelab::run(&scenario, &options).unwrap();
    let files = Ns3OutputFiles::new(&experiment, &result.flows, &result.recordings);
    write(&experiment, &files, &run.files.0, None).unwrap();
    let trace = fs::read(run.files.0.join("out/mix.tr")).unwrap();
    packet_trace::Reader::new(trace.as_slice()).unwrap().map(Result::unwrap).collect()
}

fn drops(trace: &[packet_trace::Record]) -> Vec<&packet_trace::Record> {
    trace.iter().filter(|record| record.event == packet_trace::Event::Dropped).collect()
}

/// The original has no record of a packet that finds no room.
#[test]
fn a_full_buffer_leaves_no_record_of_a_drop() {
    let run = incast_with("none", "PAUSE_TIME 0 PACKET_PAYLOAD_SIZE 500");
    assert!(run.result.summary.drops > 0);
    assert_eq!(drops(&trace(&run)).len(), 0);
}

/// It has one of each packet that waits for a link as that fails, or is on it.
#[test]
fn a_failing_link_leaves_records_of_drops() {
    let topology = "8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n4 6 100Gbps 1us 0\n\
                    4 7 100Gbps 1us 0\n6 5 100Gbps 1us 0\n7 5 100Gbps 1us 0\n5 2 100Gbps 1us 0\n\
                    5 3 100Gbps 1us 0\n";
    let flows = ["0 2 3 100 300000 2.0".to_owned(), "1 3 3 100 300000 2.0000001".to_owned()];
    let run = Run::new("down", "dctcp", topology, &flows, "LINK_DOWN 10 4 7");
    let lost = run.result.summary.lost_packets;
    let trace = trace(&run);
    let drops = drops(&trace);
    assert_eq!(drops.len() as u64, lost);
    let down = Time::from_us(2_000_010);
    assert!(drops.iter().all(|drop| drop.time >= down && drop.time < down + Time::from_us(2)));
    assert!(drops.iter().all(|drop| [4, 7].contains(&drop.node.get())));
    // One after the other leaves the queue of its class.
    let queued: Vec<u32> = drops
        .iter()
        .filter(|drop| drop.queue == 3)
        .map(|drop| drop.queue_bytes / u32::from(drop.size))
        .collect();
    assert!(queued.len() > 10 && queued.len() < drops.len(), "{} of {lost}", queued.len());
    assert_eq!(queued, (0..queued.len() as u32).rev().collect::<Vec<_>>());
}

#[test]
fn each_quirk_can_be_switched_off() {
    let flows = ["0 2 3 100 5000000 2.0".to_owned(), "1 2 3 100 5000000 2.0".to_owned()];
    let run = Run::new("quirks", "hpcc", DUMBBELL, &flows, "");
    let (spec, _) = scenario_of(&run.experiment, "quirks", &[]).unwrap();
    let toml = spec.to_toml();
    let plain = scenario::parse(&toml, None, &[]).unwrap();
    let same = rocelab::run(&plain, &RunOptions::default()).unwrap();
    assert_eq!(same.summary.digest, run.result.summary.digest, "the printed scenario is the same");
    let off = [("quirks.whole_nanoseconds".to_owned(), "false".to_owned())];
    let exact = scenario::parse(&toml, None, &off).unwrap();
    let exact = rocelab::run(&exact, &RunOptions::default()).unwrap();
    assert_ne!(exact.summary.digest, same.summary.digest);
    let mean = |result: &RunResult| result.flows.fct_ps.iter().sum::<u64>();
    assert!(mean(&exact) > mean(&same), "links are no faster than their rate");
}

/// Protects the order of messages that begin at the same nanosecond, of one host and of several:
/// that of the file. (FCTs by a plain program of that simulator's rules, not by itself; so in the
/// next ones.)
#[test]
fn messages_of_one_instant_begin_in_the_order_of_the_file() {
    let star = "6 1 5\n5\n0 5 100Gbps 1us 0\n1 5 100Gbps 1us 0\n2 5 100Gbps 1us 0\n\
                3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n";
    let run = |law: &str, flows: &[&str]| {
        let flows: Vec<String> = flows.iter().map(|flow| format!("{flow} 2.0")).collect();
        Run::new("instant", law, star, &flows, "").fcts()
    };
    assert_eq!(run("dctcp", &["0 1 3 100 1000", "0 2 3 100 1000"]), [4174, 4257]);
    let incast = ["3 4 3 100 20000", "1 4 3 100 3000", "2 4 3 100 20000", "0 4 3 100 1000"];
    assert_eq!(run("hpcc", &incast), [7842, 4884, 7929, 4449]);
}

/// Protects base round trips: one for each two hosts, that of the path which the search finds
/// first, whichever a flow takes.
#[test]
fn two_hosts_have_one_round_trip() {
    let two_ways = "6 4 6\n2 3 4 5\n0 2 100Gbps 1us 0\n2 3 100Gbps 1us 0\n2 4 100Gbps 10us 0\n\
                    3 5 100Gbps 1us 0\n4 5 100Gbps 10us 0\n5 1 100Gbps 1us 0\n";
    let flows = ["2.0", "2.001", "2.002"].map(|start| format!("0 1 3 100 100000 {start}"));
    let run = Run::new("pair", "dctcp", two_ways, &flows, "");
    assert_eq!(run.fcts(), [34_565, 52_565, 34_565]);
    assert_eq!(run.result.flows.ideal_fct_ps, [52_704_000; 3]);
}

/// Protects HPCC over a link that fails: there records of two paths are compared as if they were of
/// one.
#[test]
fn hpcc_compares_records_of_two_paths_as_there() {
    let topology = "13 5 14\n8 9 10 11 12\n8 11 100Gbps 0.5us 0\n9 11 100Gbps 0.5us 0\n\
                    12 10 100Gbps 0.5us 0\n10 11 100Gbps 0.5us 0\n9 4 25Gbps 777ns 0\n\
                    9 12 100Gbps 0.5us 0\n9 5 25Gbps 2us 0\n7 10 25Gbps 0.5us 0\n\
                    8 12 100Gbps 0.5us 0\n3 9 25Gbps 777ns 0\n8 1 25Gbps 1000ns 0\n\
                    10 6 25Gbps 1us 0\n2 8 25Gbps 1us 0\n8 0 25Gbps 0.5us 0\n";
    let flows = [
        "0 3 4 200 300001 2.000000000",
        "2 0 4 100 1 2.000000037",
        "3 6 4 100 20000 2.000000074",
        "3 7 4 200 100000 2.000000111",
        "5 2 4 100 100000 2.000000148",
        "5 7 4 100 500 2.000000185",
        "7 0 4 100 300001 2.000000222",
        "7 5 4 200 150000 2.000000259",
        "7 6 4 200 1000 2.000003269",
        "6 5 4 200 500 2.000020068",
        "5 3 4 200 500 2.000023463",
        "0 7 4 200 20000 2.000029080",
    ]
    .map(str::to_owned);
    let more = "GLOBAL_T 0 SAMPLE_FEEDBACK 1 FAST_REACT 0 LINK_DOWN 13 10 12 \
                KMAX_MAP 2 25000000000 400 100000000000 400 \
                KMIN_MAP 2 25000000000 400 100000000000 400 \
                PMAX_MAP 2 25000000000 0.2 100000000000 0.2";
    let known = [
        123_496, 3_260, 20_954, 59_224, 44_795, 8_667, 174_945, 148_645, 4_643, 8_686, 6_722,
        23_618,
    ];
    assert_eq!(Run::new("failing", "hpcc", topology, &flows, more).fcts(), known);
}
