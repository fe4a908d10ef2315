//! Captures hold what a RoCEv2 network would carry.

use crate::common::{run, run_on, run_with};
use results::PacketTrace;
use rocelab::RunResult;
use wire::ethernet::{EthernetHeader, IPV4, MAC_CONTROL};
use wire::ip::{Ecn, Ipv4Header, ROCEV2_PORT, UdpHeader};
use wire::pfc::PfcFrame;
use wire::roce::{Aeth, Bth, CnpPacket, Opcode, Reth, Syndrome};

/// A packet of a capture.
#[derive(Clone, Debug)]
struct Seen {
    interface: usize,
    time_ps: u64,
    kept: Vec<u8>,
    length: u32,
    outbound: bool,
}

/// The names of the interfaces of a capture, and its packets.
fn read(capture: &[u8]) -> (Vec<String>, Vec<Seen>) {
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap());
    let (mut names, mut seen) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < capture.len() {
        let (kind, length) = (word(at), word(at + 4) as usize);
        assert_eq!(word(at + length - 4) as usize, length, "told again at the end");
        match kind {
            0x0a0d_0d0a => assert_eq!(at, 0),
            1 => {
                let bytes = word(at + 16) as usize >> 16;
                names.push(String::from_utf8(capture[at + 20..at + 20 + bytes].to_vec()).unwrap());
            }
            6 => {
                let kept = word(at + 20) as usize;
                let flags = at + 28 + kept.next_multiple_of(4) + 4;
                seen.push(Seen {
                    interface: word(at + 8) as usize,
                    time_ps: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                    kept: capture[at + 28..at + 28 + kept].to_vec(),
                    length: word(at + 24),
                    outbound: word(flags) == 2,
                });
            }
            other => panic!("block {other}"),
        }
        at += length;
    }
    (names, seen)
}

fn capture(result: &RunResult) -> &[u8] {
    result.capture.as_deref().expect("it was asked for")
}

/// What a RoCEv2 frame says: addresses, ECN, the BTH, and what follows it.
fn roce(seen: &Seen) -> (Ipv4Header, UdpHeader, Bth, &[u8]) {
    let ethernet = EthernetHeader::parse(&seen.kept).unwrap();
    assert_eq!(ethernet.ethertype, IPV4);
    let ip = Ipv4Header::parse(&seen.kept[14..]).unwrap();
    assert_eq!(u32::from(ip.total_length), seen.length - 14);
    let udp = UdpHeader::parse(&seen.kept[34..]).unwrap();
    assert_eq!(udp.destination_port, ROCEV2_PORT);
    (ip, udp, Bth::parse(&seen.kept[42..]).unwrap(), &seen.kept[54..])
}

const TWO_MESSAGES: &str = r#"
    [topology]
    kind = "star"
    hosts = 2
    host_rate = "100Gbps"
    host_delay = "1us"
    [[traffic]]
    kind = "flows"
    flows = [
        { src = "h0", dst = "h1", size = "2500B", qp = "one" },
        { src = "h0", dst = "h1", size = "300B", qp = "one", start = "10us" },
    ]
    [trace]
    packets = ["h0"]
    capture = true
"#;

#[test]
fn messages_are_writes_with_their_numbers() {
    let result = run(TWO_MESSAGES);
    let (names, seen) = read(capture(&result));
    assert_eq!(names, ["h0:s0"]);
    let sent: Vec<_> = seen.iter().filter(|packet| packet.outbound).collect();
    let expected = [
        (Opcode::WriteFirst, 0, Some((0, 2500)), 1000 + 16),
        (Opcode::WriteMiddle, 1, None, 1000),
        (Opcode::WriteLast, 2, None, 500),
        (Opcode::WriteOnly, 3, Some((2500, 300)), 300 + 16),
    ];
    assert_eq!(sent.len(), expected.len());
    for (packet, (opcode, number, reth, beyond)) in sent.iter().zip(expected) {
        let (ip, _, bth, rest) = roce(packet);
        assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], [10, 0, 0, 2]));
        assert_eq!((ip.dscp, ip.ecn), (3 << 3, Ecn::Capable0));
        assert_eq!((bth.opcode, bth.sequence), (opcode, number));
        let told = (!rest.is_empty()).then(|| Reth::parse(rest).unwrap());
        assert_eq!(told.map(|reth| (reth.address, reth.length)), reth);
        // Ethernet, IP, UDP, BTH, ICRC.
        assert_eq!(packet.length, 14 + 20 + 8 + 12 + beyond + 4);
    }
    let answers: Vec<_> = seen.iter().filter(|packet| !packet.outbound).collect();
    for (number, packet) in answers.iter().enumerate() {
        let (ip, _, bth, rest) = roce(packet);
        assert_eq!((ip.source, ip.destination), ([10, 0, 0, 2], [10, 0, 0, 1]));
        assert_eq!((bth.opcode, bth.sequence), (Opcode::Acknowledge, number as u32));
        // The MSN counts messages that have arrived whole: none, until the last packet has.
        let expected = Aeth { syndrome: Syndrome::Ack(31), message: [0, 0, 1, 2][number] };
        assert_eq!(Aeth::parse(rest).unwrap(), expected);
    }
    assert_eq!(answers.len(), 4);
    // The table has the same times.
    let trace = result.packet_trace.as_ref().unwrap();
    let both = |name: &str| name == "received" || name == "dequeued";
    let times = trace.time_ps.iter().zip(&trace.event);
    let times = times.filter(|(_, event)| both(PacketTrace::EVENTS[usize::from(**event)]));
    let times: Vec<u64> = times.map(|(time, _)| *time).collect();
    assert_eq!(seen.iter().map(|packet| packet.time_ps).collect::<Vec<_>>(), times);
}

#[test]
fn an_acknowledgement_of_selective_repeat_is_a_plain_one() {
    // It names the packet that it answers, but that is no payload.
    let result = run_with(TWO_MESSAGES, &[("host.recovery", "selective-repeat")]);
    let trace = result.packet_trace.as_ref().unwrap();
    let payloads: u64 = trace.payload_bytes.iter().map(|&bytes| u64::from(bytes)).sum();
    assert_eq!(payloads, 2800, "that of data alone");
    let answers = read(capture(&result)).1.into_iter().filter(|packet| !packet.outbound);
    let pads: Vec<u8> = answers.map(|packet| roce(&packet).2.pad).collect();
    assert_eq!(pads, [0; 4]);
}

const INCAST: &str = r#"
    [topology]
    kind = "star"
    hosts = 5
    host_rate = "100Gbps"
    host_delay = "1us"
    [switch]
    buffer = "2MB"
    [pfc]
    threshold = "static"
    xoff = "100KB"
    xon = "98KB"
    [[traffic]]
    kind = "incast"
    senders = 4
    receiver = "h4"
    size = "300KB"
    [trace]
    packets = ["s0"]
    capture = true
"#;

#[test]
fn pauses_and_notifications_are_frames_of_their_own() {
    let result = run_with(INCAST, &[("scheme", "dcqcn")]);
    let (names, seen) = read(capture(&result));
    assert_eq!(names, ["s0:h0", "s0:h1", "s0:h2", "s0:h3", "s0:h4"]);
    let (mut pauses, mut resumes, mut notices, mut marked) = (0, 0, 0, 0);
    for packet in &seen {
        let ethernet = EthernetHeader::parse(&packet.kept).unwrap();
        if ethernet.ethertype == MAC_CONTROL {
            let frame = PfcFrame::parse(&packet.kept).unwrap();
            assert!(packet.outbound && packet.interface < 4);
            assert_eq!(frame.source[..4], [2, 0, 0, 5], "node 5 is the switch");
            match frame.quanta[3] {
                Some(0) => resumes += 1,
                Some(u16::MAX) => pauses += 1,
                other => panic!("{other:?}"),
            }
            continue;
        }
        let (ip, _, bth, _) = roce(packet);
        if bth.opcode == Opcode::CongestionNotification && packet.outbound {
            CnpPacket::parse(&packet.kept[42..]).unwrap();
            assert_eq!(ip.source, [10, 0, 0, 5], "from the receiver");
            notices += 1;
        }
        marked += u64::from(ip.ecn == Ecn::CongestionExperienced && packet.outbound);
    }
    assert_eq!(pauses, result.summary.pause_frames);
    assert!(resumes > 0 && notices > 0);
    let ports = &result.ports;
    assert_eq!(marked, ports.ecn_marked_packets.iter().sum::<u64>());
    assert_eq!(run_on(INCAST, &[("scheme", "dcqcn")], 2).capture, result.capture);
}

/// Frames say how long a pause lasts: in quanta, a time at 100 Gb/s rounded up to them.
#[test]
fn frames_have_the_time_of_a_pause() {
    for (pause_time, quanta) in [("2000", 2000), ("\"10us\"", 1954), ("\"1ms\"", u16::MAX)] {
        let result = run_with(INCAST, &[("pfc.pause_time", pause_time)]);
        let (_, seen) = read(capture(&result));
        let frames = seen.iter().filter_map(|packet| {
            let ethernet = EthernetHeader::parse(&packet.kept).unwrap();
            let is_pfc = ethernet.ethertype == MAC_CONTROL;
            is_pfc.then(|| PfcFrame::parse(&packet.kept).unwrap().quanta[3].unwrap())
        });
        let (resumes, pauses): (Vec<u16>, Vec<u16>) = frames.partition(|&quanta| quanta == 0);
        assert!(!resumes.is_empty() && !pauses.is_empty(), "{pause_time}");
        assert!(pauses.iter().all(|&told| told == quanta), "{pause_time}: {pauses:?}");
    }
}

/// Quanta are those of the rate that the link has when a frame is made, not of that when it comes.
#[test]
fn frames_have_the_quanta_of_the_rate_that_the_link_has() {
    let slow = r#"
        [[failure]]
        link = "h0:s0"
        at = "50us"
        until = "90us"
        rate = "50Gbps"
        [[failure]]
        link = "h0:s0"
        at = "120us"
        rate = "40Gbps"
    "#;
    let (every, time) = (r#"["s0", "h0"]"#, "\"10us\"");
    let result = run_with(
        &(INCAST.replace("300KB", "1MB") + slow),
        &[("pfc.pause_time", time), ("pfc.refresh", "\"2us\""), ("trace.packets", every)],
    );
    let (names, seen) = read(capture(&result));
    let pauses = |interface: &str, outbound: bool| -> Vec<(u64, u16)> {
        let number = names.iter().position(|name| name == interface).unwrap();
        let there =
            seen.iter().filter(|seen| (seen.interface, seen.outbound) == (number, outbound));
        let frames = there
            .filter(|packet| EthernetHeader::parse(&packet.kept).unwrap().ethertype == MAC_CONTROL);
        let told = frames.map(|packet| {
            (packet.time_ps / 1_000, PfcFrame::parse(&packet.kept).unwrap().quanta[3].unwrap())
        });
        told.filter(|(_, quanta)| *quanta > 0).collect()
    };
    // 10 us are 1953.125 quanta at 100 Gb/s. A frame waits for a packet of at most 340 ns.
    let rates = [(0, 50_000, 1954), (50_340, 90_000, 977), (90_340, 120_000, 1954)];
    let sent = pauses("s0:h0", true);
    for (from, until, quanta) in rates.into_iter().chain([(120_340, u64::MAX, 782)]) {
        let at = sent.iter().filter(|(time, _)| (from..until).contains(time));
        let told: Vec<u16> = at.map(|(_, quanta)| *quanta).collect();
        assert!(
            told.len() > 2 && told.iter().all(|&one| one == quanta),
            "from {from} ns: {told:?}"
        );
    }
    assert!(pauses("s0:h1", true).iter().all(|(_, quanta)| *quanta == 1954), "no other link");
    // A microsecond later they say the same.
    let quanta = |told: Vec<(u64, u16)>| told.into_iter().map(|(_, quanta)| quanta);
    let come: Vec<u16> = quanta(pauses("h0:s0", false)).collect();
    assert_eq!(come, quanta(sent).take(come.len()).collect::<Vec<_>>());
}

/// Whether a control packet is a CNP depends on what the scheme says that it is: profile `hpcc-ns3`
/// gives CNPs, rates and credits one size.
#[test]
fn a_control_packet_is_a_cnp_if_its_scheme_says_so() {
    let schemes = [
        ("dcqcn", true),
        ("dcqcn+tcd", true),
        ("themis", true),
        ("pacc", true),
        ("mercury", true),
        ("annulus", true),
        ("rocc", false),
        ("expresspass", false),
        ("hiercc", false),
    ];
    for profile in ["rocev2", "hpcc-ns3"] {
        for (scheme, is_cnp) in schemes {
            let set = [("wire.profile", profile), ("scheme", scheme)];
            let result = run_with(INCAST, &set);
            let trace = result.packet_trace.as_ref().unwrap();
            let control = trace.kind.iter().zip(&trace.event).filter(|(kind, event)| {
                let event = PacketTrace::EVENTS[usize::from(**event)];
                PacketTrace::KINDS[usize::from(**kind)] == "control"
                    && (event == "received" || event == "dequeued")
            });
            let control = control.count();
            let (_, seen) = read(capture(&result));
            let (mut notices, mut others) = (0, 0);
            for packet in &seen {
                if EthernetHeader::parse(&packet.kept).unwrap().ethertype != IPV4 {
                    continue;
                }
                let udp = UdpHeader::parse(&packet.kept[34..]).unwrap();
                if udp.destination_port != ROCEV2_PORT {
                    others += 1;
                } else if Bth::parse(&packet.kept[42..]).unwrap().opcode
                    == Opcode::CongestionNotification
                {
                    notices += 1;
                }
            }
            let expected = if is_cnp { (control, 0) } else { (0, control) };
            assert_eq!((notices, others), expected, "{scheme}, {profile}");
            assert!(control > 0, "{scheme}, {profile}");
        }
    }
}

/// Whatever a scheme sends, it has a frame; and PSNs of data and of NACKs fit where packets are
/// lost.
#[test]
fn every_scheme_has_its_captures() {
    for scheme in schemes::registry::all() {
        // So that they fit the input queues of CIOQ switches, too.
        let low = [("pfc.xoff", "45KB"), ("pfc.xon", "40KB")];
        let own = [("scheme", scheme.name), ("trace.packets", r#"["*"]"#)];
        let result = run_with(INCAST, &[low, own].concat());
        let (_, seen) = read(capture(&result));
        assert!(seen.len() > 5_000, "{}: {}", scheme.name, seen.len());
        assert!(seen.iter().all(|packet| packet.kept.len() as u32 <= packet.length));
    }
    let lossy = [
        ("pfc.enabled", "false"),
        ("pfc.xoff", "50KB"),
        ("pfc.xon", "40KB"),
        ("switch.buffer", "60KB"),
    ];
    let result = run_with(INCAST, &lossy);
    let (_, seen) = read(capture(&result));
    let nacks = seen.iter().filter(|packet| {
        let (_, _, bth, rest) = roce(packet);
        bth.opcode == Opcode::Acknowledge
            && Aeth::parse(rest).unwrap().syndrome == Syndrome::SequenceError
    });
    let numbers: Vec<u32> = nacks
        .map(|packet| {
            let (_, _, bth, rest) = roce(packet);
            assert_eq!(Aeth::parse(rest).unwrap().message, 0, "the message has not arrived whole");
            bth.sequence
        })
        .collect();
    assert!(numbers.len() > 10 && numbers.iter().all(|number| *number < 300), "{numbers:?}");
}

#[test]
fn a_capture_needs_nodes() {
    let set = [("trace.capture".to_owned(), "true".to_owned())];
    let text = TWO_MESSAGES.replace("packets = [\"h0\"]\n", "").replace("capture = true\n", "");
    let told = scenario::parse(&text, None, &set).unwrap_err().to_string();
    assert!(told.contains("trace.capture") && told.contains("trace.packets"), "{told}");
}
