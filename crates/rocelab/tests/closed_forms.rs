//! What can be worked out on paper must come out to the picosecond.

mod common;

use common::{run, run_with};

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
    // arrive. Packets of all four arrive at the same instants: after the k-th of 100 rounds, 4k have
    // come. The first packet of each host is 16 B longer, so the port, which begins with the first
    // arrival, is at the end of its 99th packet less than one packet time after the last arrival:
    // 98 have left the queue and the 99th is on the wire (its bytes are no longer counted).
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
    // At each ingress packets arrive at line rate and leave at a quarter of it, in turn.
    let text = format!(
        "{INCAST}\n[[probe]]\nname = \"pause\"\nkind = \"pause\"\ninterval = \"10ns\"\nnodes = [\"h1\", \"h2\", \"h3\", \"h4\"]\n"
    );
    let result = run_with(&text, &[("pfc.xoff", "50KB"), ("pfc.xon", "40KB")]);
    let series = &result.series[0];
    let first = series.value.iter().position(|&paused| paused == 1.0).expect("a pause");
    let (first_ps, full, long) =
        (series.time_ps[first], data_bytes(1000, false), data_bytes(1000, true));
    // Least and most that can have left one ingress: the port serves four ingresses; after n
    // arrivals everywhere it has sent about n of 4n packets, a quarter of them from each ingress,
    // give or take one. The pause comes at the arrival that brings the bytes there to Xoff.
    let crossing = |share_low: u64| {
        (1..200u64)
            .find(|n| {
                let arrived = long + (n - 1) * full;
                let gone = (n - 1).saturating_sub(share_low).div_ceil(4) * full;
                arrived - gone.min(arrived) >= 50_000
            })
            .unwrap()
    };
    // Arrival of the n-th packet at the switch, the frame's 84 B, and 1 us back.
    let time = |n: u64| (long + (n - 1) * full) * 80 + 1_000_000 + 84 * 80 + 1_000_000;
    let (earliest, latest) = (time(crossing(8)), time(crossing(0)) + 84 * 80);
    assert!(
        (earliest..=latest + 10_000).contains(&first_ps),
        "{first_ps} ps, expected {earliest} to {latest}"
    );
    assert!(result.summary.drops == 0 && result.summary.flows_done == 4);
}

#[test]
fn a_poisson_stream_of_packets_waits_as_long_as_an_m_d_1_queue() {
    // Single-packet messages from many hosts to one: Poisson arrivals at its port, fixed service.
    let load = 0.6;
    let result = run_with(
        r#"
        [topology]
        kind = "star"
        hosts = 65
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "poisson"
        cdf = [[999, 0.0], [1000, 1.0]]
        load = 0.05
        duration = "3ms"
        [pfc]
        enabled = false
        [scheme]
        name = "none"
        "#,
        &[],
    );
    // Every host sends 0.05 of its link in payload and receives the same: per port the service is
    // (1000 + 98) / 1000 longer than the payload, so the port's load is known from the counters.
    let _ = load;
    let done: Vec<(u64, u64)> = (0..result.flows.len())
        .filter(|&row| result.flows.fct_ps[row] != u64::MAX)
        .map(|row| (result.flows.fct_ps[row], result.flows.ideal_fct_ps[row]))
        .collect();
    assert!(done.len() > 20_000, "{} messages", done.len());
    let waits: Vec<f64> = done.iter().map(|&(fct, ideal)| (fct - ideal) as f64).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    let deviation =
        (waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / waits.len() as f64).sqrt();
    let error = 3.0 * deviation / (waits.len() as f64).sqrt();
    // Two queues in a row for data (the sender's NIC and the switch), service s = 1098 B at 80 ps,
    // load rho; the wait in M/D/1 is rho s / (2 (1 - rho)). What the second sees is thinned from
    // 64 departure streams, which is Poisson in the limit. ACKs take priority and 86 of 1098 of it.
    let service = 1098.0 * 80.0;
    let rho = 0.05 * 1.098;
    let ack = 86.0 * 80.0;
    let one_queue = rho * service / (2.0 * (1.0 - rho));
    // A data packet may find an ACK on the wire, an ACK data: both at both ports.
    let rho_ack = rho * 86.0 / 1098.0;
    let crossing = 2.0 * rho_ack * ack / 2.0 + 2.0 * rho * service / 2.0;
    let expected = 2.0 * one_queue + crossing;
    assert!(
        (mean - expected).abs() < error + 0.06 * expected,
        "mean wait {mean:.0} ps, M/D/1 says {expected:.0} (three sigma {error:.0})"
    );
}
