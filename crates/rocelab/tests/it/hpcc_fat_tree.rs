//! Protects what the HPCC simulator's files mean in networks of several tiers and rates: round
//! trips, windows, paths and buffers by that simulator's formulas, worked out here for themselves.

use crate::hpcc::Run;
use fabric::{PacketEvent, PacketEventKind};
use schemes::contract::{Flags, PacketKind};
use std::collections::BTreeMap;

/// A fat tree of switches with 4 ports: hosts 0 to 15 at 100 Gb/s, ToRs 16 to 23, aggregation 24 to
/// 31, cores 32 to 35, 400 Gb/s between them, 1 us of cable everywhere.
fn fat_tree() -> String {
    let mut links: Vec<String> =
        (0..16).map(|host| format!("{host} {} 100Gbps 1000ns 0", 16 + host / 2)).collect();
    for pod in 0..4 {
        for tor in 0..2 {
            for agg in 0..2 {
                let (tor, agg) = (16 + 2 * pod + tor, 24 + 2 * pod + agg);
                links.push(format!("{tor} {agg} 400Gbps 1000ns 0"));
            }
        }
    }
    for pod in 0..4 {
        for agg in 0..2 {
            for core in 0..2 {
                let (agg, core) = (24 + 2 * pod + agg, 32 + 2 * agg + core);
                links.push(format!("{agg} {core} 400Gbps 1000ns 0"));
            }
        }
    }
    let switches: Vec<String> = (16..36).map(|switch| switch.to_string()).collect();
    format!("36 20 {}\n{}\n{}\n", links.len(), switches.join(" "), links.join("\n"))
}

const MAPS: &str = "KMAX_MAP 2 100000000000 1600 400000000000 6400 \
                    KMIN_MAP 2 100000000000 400 400000000000 1600 \
                    PMAX_MAP 2 100000000000 0.2 400000000000 0.2";

fn serialisation(bytes: u64, gbps: u64) -> u64 {
    bytes * 8 / gbps
}

/// FCT of a flow alone: its packets, then their ACKs, through the links' queues one after another.
fn alone(size: u64, gbps: &[u64]) -> u64 {
    let packets = size.div_ceil(1000);
    let mut times = vec![0; packets as usize];
    let mut pass = |gbps: u64, bytes: &dyn Fn(u64) -> u64| {
        let mut free = 0;
        for (packet, time) in (0..).zip(&mut times) {
            free = free.max(*time) + serialisation(bytes(packet), gbps);
            *time = free + 1000;
        }
    };
    let data = |packet: u64| 48 + (size - 1000 * packet).min(1000);
    gbps.iter().for_each(|&gbps| pass(gbps, &data));
    gbps.iter().rev().for_each(|&gbps| pass(gbps, &|_| 60));
    *times.last().unwrap()
}

#[test]
fn round_trips_and_lone_flows_at_each_distance() {
    let ends = [(0, 1), (0, 2), (0, 15)];
    let rates: [&[u64]; 3] = [&[100, 100], &[100, 400, 400, 100], &[100, 400, 400, 400, 400, 100]];
    // Twice the propagation, and the payload's serialisation one way.
    let round_trips = [4_000 + 160, 8_000 + 200, 12_000 + 240];
    for size in [1, 1_000, 1_001, 65_536, 1_000_000] {
        let flows: Vec<String> = (0..3)
            .map(|at| format!("{} {} 3 100 {size} 2.00{at}", ends[at].0, ends[at].1))
            .collect();
        let run = Run::new(&format!("distance-{size}"), "dcqcn", &fat_tree(), &flows, MAPS);
        assert_eq!(run.fcts(), rates.map(|rates| alone(size, rates)), "{size} B");
        let bytes = size + size.div_ceil(1000) * 48;
        let ideal: Vec<u64> = run.result.flows.ideal_fct_ps.iter().map(|ps| ps / 1000).collect();
        assert_eq!(ideal, round_trips.map(|rtt| rtt + serialisation(bytes, 100)), "{size} B");
    }
}

/// The most data packets of a flow that were ever under way.
fn most_in_flight(events: &[PacketEvent], flow: u32, host: u32) -> u64 {
    let (mut now, mut most) = (0_u64, 0);
    for event in
        events.iter().filter(|event| event.node.get() == host && event.header.address.flow == flow)
    {
        match (event.happening, event.header.kind) {
            (PacketEventKind::Dequeued, PacketKind::Data) => now += 1,
            (PacketEventKind::Received, PacketKind::Ack) => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[test]
fn the_window_is_the_largest_product_of_round_trip_and_lowest_rate() {
    // Five flows to one host, so that the window is what limits.
    let flows: Vec<String> = (1..6).map(|src| format!("{src} 0 3 100 2000000 2.0")).collect();
    let in_flight = |name: &str, topology: &str, flows: &[String], more: &str| {
        let run = Run::new(name, "none", topology, flows, &format!("HAS_WIN 1 {MAPS} {more}"));
        let events = run.again(1).recorded.packets;
        let hosts = run.experiment.flows.iter().map(|flow| flow.src.get());
        (0..).zip(hosts).map(|(flow, host)| most_in_flight(&events, flow, host)).collect::<Vec<_>>()
    };
    // 12240 ns at 100 Gb/s: 153 000 bytes, whoever sends.
    assert_eq!(in_flight("global", &fat_tree(), &flows, "GLOBAL_T 1"), [153; 5]);
    // The pair's own: 4160 ns from the same rack, 8200 from the same pod, 12240 from another.
    let own = in_flight("own", &fat_tree(), &flows, "GLOBAL_T 0");
    assert_eq!(own, [52, 103, 103, 153, 153], "52 000, 102 500 and 153 000 bytes");
    // A slow link in the middle: the largest product is that of the hosts on one switch, 6160 ns at
    // 100 Gb/s; across it is 12 560 ns at 40 Gb/s.
    let slow = "6 2 5\n4 5\n0 4 100Gbps 1500ns 0\n1 4 100Gbps 1500ns 0\n4 5 40Gbps 1500ns 0\n\
                5 2 100Gbps 1500ns 0\n5 3 100Gbps 1500ns 0\n";
    let flows = ["0 2 3 100 2000000 2.0".to_owned(), "1 2 3 100 2000000 2.0".to_owned()];
    assert_eq!(in_flight("slow", slow, &flows, "GLOBAL_T 1"), [77; 2]);
    let across = 6 * 1500 + 2 * 80 + 200;
    assert_eq!(in_flight("slow-own", slow, &flows, "GLOBAL_T 0"), [across * 40 / 8 / 1000 + 1; 2]);
}

/// MurmurHash3, 32 bits, of three words.
fn murmur(words: [u32; 3], seed: u32) -> u32 {
    let mut h = seed;
    for word in words {
        let k = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    h ^= 12;
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35), (16, 1)] {
        h = (h ^ h >> shift).wrapping_mul(factor);
    }
    h
}

/// Next hops in the fat tree, highest number first.
fn next_hops(node: u32, to: u32) -> Vec<u32> {
    let (tor, pod) = (16 + to / 2, to / 4);
    match node {
        16..=23 if node == tor => vec![to],
        16..=23 => [1, 0].map(|agg| 24 + (node - 16) / 2 * 2 + agg).to_vec(),
        24..=31 if (node - 24) / 2 == pod => vec![tor],
        24..=31 => [1, 0].map(|core| 32 + (node % 2) * 2 + core).to_vec(),
        _ => vec![24 + 2 * pod + (node - 32) / 2],
    }
}

/// The switches that a packet passes.
fn way(from: u32, to: u32, sport: u32, dport: u32) -> Vec<u32> {
    let address = |node: u32| 0x0b00_0001 + (node << 8);
    let (mut node, mut way) = (16 + from / 2, Vec::new());
    while node != to {
        way.push(node);
        let hops = next_hops(node, to);
        let hash = murmur([address(from), address(to), sport | dport << 16], node);
        node = hops[hash as usize % hops.len()];
    }
    way
}

#[test]
fn packets_and_acks_take_the_paths_of_the_hash() {
    let mut flows = Vec::new();
    for src in 0..16 {
        // Twice, so that source ports differ.
        for dst in (0..16).chain(0..16).filter(|&dst| dst != src) {
            flows.push(format!("{src} {dst} 3 {} 1000 2.0", 100 + dst));
        }
    }
    let run = Run::new("paths", "dcqcn", &fat_tree(), &flows, MAPS);
    let events = run.again(2).recorded.packets;
    let mut ways: BTreeMap<(u32, bool), Vec<u32>> = BTreeMap::new();
    for event in events
        .iter()
        .filter(|event| event.happening == PacketEventKind::Received && event.node.get() >= 16)
    {
        let key = (event.header.address.flow, event.header.flags.contains(Flags::TO_SOURCE));
        ways.entry(key).or_default().push(event.node.get());
    }
    let mut next_port: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (number, flow) in (0..).zip(&run.experiment.flows) {
        let (src, dst) = (flow.src.get(), flow.dst.get());
        let port = next_port.entry((src, dst)).or_insert(10_000);
        let dport = flow.dport.into();
        assert_eq!(ways[&(number, false)], way(src, dst, *port, dport), "flow {number}");
        assert_eq!(ways[&(number, true)], way(dst, src, dport, *port), "ACK of {number}");
        *port += 1;
    }
    let cores: Vec<u32> = (32..36).filter(|core| ways.values().any(|w| w.contains(core))).collect();
    assert_eq!(cores.len(), 4, "all cores are used");
}

#[test]
fn a_fast_ingress_may_take_half_of_what_is_free() {
    // Four hosts at 100 Gb/s share a cable of 400 Gb/s to a switch whose only other port takes but
    // the first packet in the time that counts.
    let mut topology = "7 2 6\n5 6\n".to_owned();
    (0..4).for_each(|host| topology += &format!("{host} 5 100Gbps 1000ns 0\n"));
    topology += "5 6 400Gbps 1000ns 0\n6 4 1Gbps 1000ns 0\n";
    let flows: Vec<String> = (0..4).map(|src| format!("{src} 4 3 100 400000 2.0")).collect();
    let run = Run::new("half", "none", &topology, &flows, "BUFFER_SIZE 1");
    // Headroom: three times what the cables hold; reserve: 4096 bytes a port.
    let free = (1 << 20) - 3 * (50_000 + 125) - 2 * 4096;
    // Shared use s of the one ingress against (free - s) / 2: alpha is 1/8 at a host's rate, four
    // times that at four times the rate.
    let stored = (1..).find(|n| {
        let shared = n * 1048 - 4096;
        shared >= (free - shared) >> 1
    });
    let stored: u64 = stored.map_or(0, |n: i64| n as u64);
    assert_eq!(stored, 287);
    // The packet after that many, as the first one left: four come at once every 83 ns, and the
    // fast cable puts them in a row, 20 ns each.
    let at_switch = 83 * (stored / 4 + 1) + 1000 + 20 * (stored % 4 + 1) + 1000;
    // The frame of 43 bytes takes less than a nanosecond there, and is cut to none.
    let first = run.result.recorded.pfc.first().unwrap();
    assert_eq!(
        (first.time.ns(), first.node.get(), first.pause),
        (2_000_000_000 + at_switch + 1000, 5, true)
    );
}

#[test]
fn a_link_goes_down_and_flows_take_the_other_ways() {
    let flows: Vec<String> =
        (0..8).flat_map(|src| [format!("{src} {} 3 100 2000000 2.0", 15 - src)]).collect();
    let whole = Run::new("up", "hpcc", &fat_tree(), &flows, MAPS);
    let run = Run::new("down", "hpcc", &fat_tree(), &flows, &format!("{MAPS} LINK_DOWN 100 16 25"));
    let done = run.result.summary.flows_done;
    assert_eq!((whole.result.summary.flows_done, done), (8, 8));
    assert_ne!(whole.result.summary.digest, run.result.summary.digest);
    let ports = &run.result.ports;
    let at = |node: u32, peer: u32| {
        (0..ports.len()).find(|&row| (ports.node[row], ports.peer[row]) == (node, peer)).unwrap()
    };
    let (up, other) = (at(16, 25), at(16, 24));
    assert!(ports.tx_packets[up] > 0, "it was used before");
    assert!(ports.tx_packets[other] > whole.result.ports.tx_packets[other]);
    assert!(run.result.summary.lost_packets > 0);
    // Nothing is put on it from that time on, and the run is the same on any number of threads.
    let again = run.again(2);
    assert_eq!(again.summary.digest, run.result.summary.digest);
    let last = again.recorded.packets.iter().filter(|event| {
        let (node, port) = (event.node.get(), u32::from(event.port.get()));
        // A ToR's first two ports lead to hosts, then to its aggregation switches in order.
        event.happening == PacketEventKind::Dequeued && (node, port) == (16, 3)
    });
    assert!(last.map(|event| event.time.ns()).max().unwrap() < 2_000_100_000);
}

#[test]
fn links_lose_packets_at_their_own_rate_or_that_of_all() {
    let flows: Vec<String> =
        (0..4).map(|src| format!("{src} {} 3 100 4000000 2.0", 15 - src)).collect();
    let topology = fat_tree().replace("0 16 100Gbps 1000ns 0\n", "0 16 100Gbps 1000ns 0.02\n");
    let lossy =
        Run::new("errors", "hpcc", &topology, &flows, &format!("{MAPS} ERROR_RATE_PER_LINK 0.001"));
    let ports = &lossy.result.ports;
    let of = |node: u32, peer: u32| {
        let row = |node, peer| {
            (0..ports.len())
                .find(|&row| (ports.node[row], ports.peer[row]) == (node, peer))
                .unwrap()
        };
        // What a port got is what its peer sent.
        ports.lost_packets[row(node, peer)] as f64 / ports.tx_packets[row(peer, node)] as f64
    };
    assert!((0.013..0.028).contains(&of(16, 0)), "{}", of(16, 0));
    assert!((0.0..0.004).contains(&of(16, 1)), "{}", of(16, 1));
    assert!(lossy.result.flows.retransmitted_bytes.iter().any(|&bytes| bytes > 0));
    assert_eq!(lossy.again(3).summary.digest, lossy.result.summary.digest);
}
