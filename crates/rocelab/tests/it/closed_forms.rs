//! What can be worked out on paper must come out to the picosecond.

use crate::common::{run, run_on, run_with};
use units::Time;

/// Wire bytes of a data packet with `payload` bytes: 14 Ethernet, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC,
/// 4 FCS, 20 preamble and gap, and on the first of a WRITE 16 RETH; padded to four bytes.
fn data_bytes(payload: u64, first: bool) -> u64 {
    82 + payload.next_multiple_of(4) + if first { 16 } else { 0 }
}

/// An ACK: 14 + 20 + 8 + 12 + 4 AETH + 4 + 4 = 66, and 20 preamble and gap.
const ACK: u64 = 86;

/// Packet by packet through FIFO links: (ps per byte, delay in ps) each, then the ACKs back.
fn by_hand(size: u64, links: &[(u64, u64)]) -> u64 {
    let packets = size.div_ceil(1000);
    let (mut there, mut back) = (vec![0; links.len()], vec![0; links.len()]);
    let mut done = 0;
    for packet in 0..packets {
        let payload = (size - packet * 1000).min(1000);
        let mut time = 0;
        for (link, &(byte, delay)) in links.iter().enumerate() {
            there[link] = there[link].max(time) + data_bytes(payload, packet == 0) * byte;
            time = there[link] + delay;
        }
        for (link, &(byte, delay)) in links.iter().enumerate().rev() {
            back[link] = back[link].max(time) + ACK * byte;
            time = back[link] + delay;
        }
        done = time;
    }
    done
}

#[test]
fn a_lone_flow_takes_what_the_links_take() {
    // Byte times: 80 ps at 100 Gb/s, 20 ps at 400 Gb/s, 320 ps at 25 Gb/s.
    let cases = [
        ("100Gbps", "1us", "100Gbps", "1us", [(80, 1_000_000), (80, 1_000_000), (80, 1_000_000)]),
        ("25Gbps", "300ns", "400Gbps", "2us", [(320, 300_000), (20, 2_000_000), (320, 300_000)]),
        ("400Gbps", "50ns", "100Gbps", "5us", [(20, 50_000), (80, 5_000_000), (20, 50_000)]),
    ];
    for (host_rate, host_delay, rate, delay, links) in cases {
        for size in [1, 999, 1_000, 1_001, 2_000, 2_500, 64_000, 1_000_001] {
            let result = run(&format!(
                r#"
                [topology]
                kind = "dumbbell"
                switches = 2
                senders = 1
                host_rate = "{host_rate}"
                host_delay = "{host_delay}"
                rate = "{rate}"
                delay = "{delay}"
                [[traffic]]
                kind = "flows"
                flows = [{{ src = "h0", dst = "h1", size = "{size}B" }}]
                [scheme]
                name = "none"
                "#
            ));
            let expected = by_hand(size, &links);
            assert_eq!(result.flows.fct_ps[0], expected, "{size} B over {rate}");
            assert_eq!(result.flows.ideal_fct_ps[0], expected, "ideal of {size} B over {rate}");
        }
    }
}

#[test]
fn the_ideal_fct_is_what_a_flow_takes_alone_on_a_fat_tree() {
    for (size, dst, ack_every) in
        [(1, "h1", 1), (5_000, "h2", 1), (123_456, "h15", 1), (9_500, "h9", 4), (4_000, "h9", 4)]
    {
        let result = run(&format!(
            r#"
            [topology]
            kind = "fat-tree"
            k = 4
            host_rate = "100Gbps"
            host_delay = "600ns"
            rate = "40Gbps"
            delay = "1300ns"
            [host]
            ack_every = {ack_every}
            [[traffic]]
            kind = "flows"
            flows = [{{ src = "h0", dst = "{dst}", size = "{size}B" }}]
            [scheme]
            name = "none"
            "#
        ));
        assert_eq!(result.flows.fct_ps[0], result.flows.ideal_fct_ps[0], "{size} B to {dst}");
    }
}

const INCAST: &str = r#"
    [topology]
    kind = "star"
    hosts = 5
    host_rate = "100Gbps"
    host_delay = "1us"
    [[traffic]]
    kind = "incast"
    senders = 4
    receiver = "h0"
    size = "100KB"
    [scheme]
    name = "none"
"#;

#[test]
fn an_incast_fills_the_queue_by_what_the_port_can_not_take() {
    let result = run_with(INCAST, &[("pfc.xoff", "10MB"), ("pfc.xon", "9MB")]);
    // Four hosts send 100 packets each, back to back and in step. The port sends one while four
    // arrive. Packets of all four arrive at the same instants: after the k-th of 100 rounds, 4k
    // have come. The first packet of each host is 16 B longer, so the port, which begins with the
    // first arrival, is at the end of its 99th packet less than one packet time after the last
    // arrival: 98 have left the queue and the 99th is on the wire (its bytes are no longer
    // counted).
    let first = data_bytes(1000, true);
    let full = data_bytes(1000, false);
    // The port's work until the last arrival: 99 full packet times after the first arrival; it
    // first sends the four long ones, so it has begun ceil((99 full - 4 x 16) / full) packets.
    let span = 99 * full;
    let mut sent = 0;
    let mut begun = 0;
    while sent < span {
        sent += if begun < 4 { first } else { full };
        begun += 1;
    }
    let left = 4 * first + (begun - 4) * full;
    let all = 4 * (first + span);
    let peak = result.ports.max_queue_bytes.iter().max().copied().unwrap();
    assert_eq!(peak, all - left);
}

#[test]
fn the_first_pause_comes_when_xoff_has_arrived() {
    // One host sends at 400 Gb/s into a switch whose way out has 100 Gb/s. The far cable is so long
    // that no ACK is back before the pause, so the pause frame finds the wire idle.
    let result = run(r#"
        [run]
        stop = "6us"
        [topology]
        kind = "custom"
        nodes = [
            { name = "h0", kind = "host" },
            { name = "h1", kind = "host" },
            { name = "s0", kind = "switch" },
        ]
        links = [
            { a = "h0", b = "s0", rate = "400Gbps", delay = "1us" },
            { a = "s0", b = "h1", rate = "100Gbps", delay = "30us" },
        ]
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h1", size = "10MB" }]
        [pfc]
        xoff = "50KB"
        xon = "10KB"
        [scheme]
        name = "none"
    "#);
    let (first, full) = (data_bytes(1000, true), data_bytes(1000, false));
    let arrival = |n: u64| (first + (n - 1) * full) * 20 + 1_000_000;
    // The k-th packet begins to leave when those before it have been sent.
    let departure = |k: u64| arrival(1) + if k == 1 { 0 } else { (first + (k - 2) * full) * 80 };
    let stored = |n: u64| {
        let gone = (1..=n).take_while(|&k| departure(k) < arrival(n)).count() as u64;
        (n - gone) * full + if gone == 0 { first - full } else { 0 }
    };
    let crossing = (1..).find(|&n| stored(n) >= 50_000).unwrap();
    // A PFC frame takes 84 B of the wire.
    let pause = arrival(crossing) + 84 * 20 + 1_000_000;
    assert_eq!(result.ports.pause_frames_sent.iter().sum::<u64>(), 1);
    assert_eq!(result.ports.paused_ps[0], 6_000_000 - pause, "paused from then to the end");
}

#[test]
fn a_poisson_stream_of_packets_waits_as_long_as_an_m_d_1_queue() {
    // Messages of one packet arrive as a Poisson process, from 64 hosts in turn so that none waits
    // at its own host, and share the port to the last one. What a message takes longer than alone
    // is its wait there: an M/D/1 queue.
    const RHO: f64 = 0.6;
    const BATCHES: usize = 40;
    const PER_BATCH: usize = 1_000;
    let service = (data_bytes(1000, true) * 80) as f64;
    // Numerical Recipes' 64-bit congruential generator is random enough for arrivals.
    let mut state = 42u64;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut time = 0.0;
    let flows: Vec<String> = (0..BATCHES * PER_BATCH)
        .map(|number| {
            time -= uniform().ln() * service / RHO;
            let src = number % 64;
            format!(
                "{{ src = \"h{src}\", dst = \"h64\", size = \"1000B\", start = \"{time:.0}ps\" }}"
            )
        })
        .collect();
    let result = run(&format!(
        r#"
        [topology]
        kind = "star"
        hosts = 65
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [{}]
        [scheme]
        name = "none"
        "#,
        flows.join(",")
    ));
    let waits: Vec<f64> = (0..result.flows.len())
        .map(|row| (result.flows.fct_ps[row] - result.flows.ideal_fct_ps[row]) as f64)
        .collect();
    // Waits of neighbours resemble each other; means of batches hardly do.
    let means: Vec<f64> =
        waits.chunks(PER_BATCH).map(|batch| batch.iter().sum::<f64>() / PER_BATCH as f64).collect();
    let mean = means.iter().sum::<f64>() / BATCHES as f64;
    let spread = means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>();
    let error = (spread / (BATCHES - 1) as f64 / BATCHES as f64).sqrt();
    let expected = RHO * service / (2.0 * (1.0 - RHO));
    assert!(error < 0.05 * expected, "the interval is narrow: {error:.0} of {expected:.0} ps");
    // 99.9 % of Student's t with 39 degrees of freedom.
    assert!(
        (mean - expected).abs() < 3.56 * error,
        "mean wait {mean:.0} ps with standard error {error:.0}; M/D/1: {expected:.0}"
    );
}

/// Where a full packet is longer than the thresholds that a scheme derives from the rate, a flow
/// that has the network for itself still has its links' rate.
#[test]
fn a_lone_flow_is_not_congestion_however_slow_the_links() {
    for scheme in ["mercury", "mercury+hpcc", "hiercc", "dcqcn", "hpcc"] {
        for (rate, payload) in [("1Gbps", "1KB"), ("10Gbps", "9000B"), ("25Gbps", "4096B")] {
            let result = run_with(
                r#"
                [topology]
                kind = "star"
                hosts = 2
                host_rate = "25Gbps"
                host_delay = "1us"
                [[traffic]]
                kind = "flows"
                flows = [{ src = "h0", dst = "h1", size = "2MB" }]
                [scheme]
                name = "none"
                "#,
                &[("scheme", scheme), ("topology.host_rate", rate), ("wire.payload", payload)],
            );
            let slowdown = result.flows.slowdown(0).expect("it is done");
            assert!(slowdown < 1.1, "{scheme} at {rate} with {payload}: {slowdown}");
        }
    }
}

/// Ideal times are exact up to the longest that a time can hold; `plan.rs` tests that messages
/// beyond that are refused.
#[test]
fn ideal_times_of_months_are_exact() {
    let ideal = |size: &str| {
        run(&format!(
            r#"
            [topology]
            kind = "star"
            hosts = 2
            host_rate = "1Kbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [{{ src = "h0", dst = "h1", size = "{size}" }}]
            [scheme]
            name = "none"
            [run]
            stop = "1us"
            "#
        ))
        .flows
        .ideal_fct_ps[0]
    };
    let a_packet = ideal("3000B") - ideal("2000B");
    let [one, two] = ["1GB", "2GB"].map(ideal);
    assert!(two > u64::MAX / 2, "{two}");
    assert_eq!(two - one, 1_000_000 * a_packet);
}

/// Neither timers that are left over nor the limit has a say in when a run ends whose messages are
/// done.
#[test]
fn a_run_ends_at_the_microsecond_in_which_all_is_done() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 2
        host_rate = "25Gbps"
        host_delay = "100ns"
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h1", size = "100KB" }]
    "#;
    for (limit, timeout) in [("5ms", "2ms"), ("5ms", "5ms"), ("10s", "5ms"), ("5ms", "never")] {
        let set = [("run.time_limit", limit), ("host.retransmit_timeout", timeout)];
        for threads in [1, 2] {
            let result = run_on(text, &set, threads);
            let fct = Time::from_ps(result.flows.fct_ps[0]);
            assert_eq!(result.summary.simulated_ns, fct.round_up(Time::from_us(1)).ns());
            assert_eq!(result.summary.simulated_ns, 36_000, "{set:?}");
        }
    }
}
