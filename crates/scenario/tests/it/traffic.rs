//! The messages that traffic generators make.

use proptest::prelude::*;
use scenario::{Message, Scenario, parse};
use units::{NodeId, Time};

const STAR: &str =
    "[topology]\nkind = \"star\"\nhosts = 16\nhost_rate = \"100Gbps\"\nhost_delay = \"1us\"\n";

fn build(traffic: &str) -> Scenario {
    let text = format!("{STAR}{traffic}");
    parse(&text, None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Messages without the numbers that depend on the rest of the scenario.
fn of_tag(scenario: &Scenario, tag: &str) -> Vec<(u32, u32, u64, u64)> {
    let tag = scenario.tags.iter().position(|known| known == tag).unwrap();
    let messages = scenario.messages.iter().filter(|m| usize::from(m.tag) == tag);
    messages.map(|m| (m.src.get(), m.dst.get(), m.size.get(), m.start.ps())).collect()
}

const POISSON: &str = "[[traffic]]\nkind = \"poisson\"\nworkload = \"FB_Hadoop\"\nload = 0.5\n";

#[test]
fn poisson_offers_its_load() {
    let scenario = build(&format!("{POISSON}start = \"1ms\"\nduration = \"40ms\"\n"));
    let bytes: f64 = scenario.messages.iter().map(|m| m.size.get() as f64).sum();
    let offered = 16.0 * 0.5 * 100e9 / 8.0 * 0.040;
    // About 33,000 messages of a distribution whose deviation is six times its mean.
    assert!((bytes / offered - 1.0).abs() < 0.1, "{}", bytes / offered);
    let span = |m: &Message| (Time::from_ms(1)..Time::from_ms(41)).contains(&m.start);
    assert!(scenario.messages.iter().all(span));
    // Every host sends and receives about as much as every other.
    for host in 0..16 {
        let sent = scenario.messages.iter().filter(|m| m.src.get() == host).count();
        let received = scenario.messages.iter().filter(|m| m.dst.get() == host).count();
        let mean = scenario.messages.len() as f64 / 16.0;
        assert!((sent as f64 / mean - 1.0).abs() < 0.1, "{sent} of {mean}");
        assert!((received as f64 / mean - 1.0).abs() < 0.1, "{received} of {mean}");
    }
}

#[test]
fn poisson_gaps_are_exponential() {
    let scenario = build(&format!("{POISSON}messages = 200000\nhosts = [\"h0\", \"h1\"]\n"));
    assert_eq!(scenario.messages.len(), 200_000);
    let starts: Vec<f64> = scenario.messages.iter().map(|m| m.start.ps() as f64).collect();
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // Two hosts at half of 100 Gb/s: one message each 120,421 * 8 bits.
    let expected = 120_421.0 * 8.0 / 100e9 * 1e12;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} {expected}");
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
}

/// Protects the hot-spot pattern: those listed get all of it, evenly, from all others.
#[test]
fn poisson_may_be_for_some_hosts_alone() {
    let scenario =
        build(&format!("{POISSON}messages = 20000\nreceivers = [\"h3\", \"h14..h15\"]\n"));
    let to = |host: u32| scenario.messages.iter().filter(|m| m.dst.get() == host).count();
    for host in [3, 14, 15] {
        assert!((to(host) as f64 / 6_667.0 - 1.0).abs() < 0.05, "{} to {host}", to(host));
    }
    assert_eq!(to(3) + to(14) + to(15), 20_000);
    for host in 0..16 {
        let sent = scenario.messages.iter().filter(|m| m.src.get() == host).count();
        assert!((sent as f64 / 1_250.0 - 1.0).abs() < 0.15, "{sent} of {host}");
    }
    // One listed host is enough for senders that are others.
    let one = build(&format!("{POISSON}messages = 9\nhosts = [\"h0\"]\nreceivers = [\"h1\"]\n"));
    assert!(one.messages.iter().all(|m| (m.src.get(), m.dst.get()) == (0, 1)));
}

/// Protects the pattern of groups: nobody sends outside its own, and all others in it are as
/// likely.
#[test]
fn poisson_may_stay_within_groups() {
    let scenario = build(&format!("{POISSON}messages = 48000\ngroups = 4\n"));
    let mut pairs = std::collections::BTreeMap::new();
    for message in &scenario.messages {
        let (src, dst) = (message.src.get(), message.dst.get());
        assert_eq!(src / 4, dst / 4);
        *pairs.entry((src, dst)).or_insert(0) += 1;
    }
    assert_eq!(pairs.len(), 16 * 3);
    assert!(pairs.values().all(|count| (800..1200).contains(count)), "{pairs:?}");
    // One group is what there is without the key.
    let whole = build(&format!("{POISSON}messages = 100\ngroups = 1\n"));
    let plain = build(&format!("{POISSON}messages = 100\n"));
    assert_eq!(of_tag(&whole, "poisson"), of_tag(&plain, "poisson"));
}

#[test]
fn poisson_receivers_may_be_others_than_the_senders() {
    let from_to = |receivers: &str| {
        let ends = format!("hosts = [\"h0\", \"h1\"]\nreceivers = {receivers}\n");
        let scenario = build(&format!("{POISSON}messages = 9000\n{ends}"));
        let mut counts = std::collections::BTreeMap::new();
        for message in &scenario.messages {
            *counts.entry((message.src.get(), message.dst.get())).or_insert(0u32) += 1;
        }
        assert!(counts.values().all(|count| count.abs_diff(9_000 / counts.len() as u32) < 600));
        counts.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(from_to("[\"h2\", \"h3\"]"), [(0, 2), (0, 3), (1, 2), (1, 3)]);
    // A host that sends, too, never to itself.
    assert_eq!(from_to("[\"h1\", \"h2\", \"h3\"]")[2..], [(0, 3), (1, 2), (1, 3)]);
    // The same as without, where they are the same.
    let short = format!("{POISSON}duration = \"1ms\"\n");
    let all = build(&format!("{short}receivers = [\"h*\"]\n"));
    assert_eq!(of_tag(&all, "poisson"), of_tag(&build(&short), "poisson"));
}

#[test]
fn traffic_is_the_same_whatever_stands_around_it() {
    let poisson = format!("{POISSON}duration = \"1ms\"\n");
    let incast = "[[traffic]]\nkind = \"incast\"\nsenders = 5\nsize = \"1KB\"\nrepeat = 3\n\
                  period = \"5us\"\n";
    let permutation = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let alone = build(&poisson);
    let last = build(&format!("{permutation}{incast}{poisson}"));
    let other_scheme = build(&format!("{poisson}[scheme]\nname = \"hpcc\"\n[host]\nack_every = 4"));
    assert_eq!(of_tag(&alone, "poisson"), of_tag(&last, "poisson"));
    assert_eq!(alone.messages, other_scheme.messages);
    assert_eq!(of_tag(&build(incast), "incast"), of_tag(&last, "incast"));
    assert_eq!(of_tag(&build(permutation), "permutation"), of_tag(&last, "permutation"));
    // Two entries alike with one tag are two draws; another seed is another draw.
    let twice = build(&format!("{permutation}{permutation}"));
    let (first, second) = twice.messages.split_at(16);
    assert_ne!(
        first.iter().map(|m| m.dst).collect::<Vec<_>>(),
        second.iter().map(|m| m.dst).collect::<Vec<_>>()
    );
    let reseeded = build(&format!("{poisson}[run]\nseed = 2\n"));
    assert_ne!(of_tag(&alone, "poisson"), of_tag(&reseeded, "poisson"));
}

#[test]
fn the_first_messages_are_pinned() {
    // These numbers may change only with a note that every published result changes with them.
    let scenario = build(&format!("{POISSON}duration = \"1ms\"\n"));
    let first: Vec<_> = of_tag(&scenario, "poisson").into_iter().take(3).collect();
    assert_eq!(first, PINNED, "{} messages", scenario.messages.len());
}

const PINNED: [(u32, u32, u64, u64); 3] =
    [(13, 10, 669, 65_222), (2, 1, 31_234, 412_331), (15, 4, 11_501, 1_106_242)];

#[test]
fn incast_draws_anew_each_time() {
    let scenario = build(
        "[[traffic]]\nkind = \"incast\"\nsenders = 4\nsize = \"1KB\"\nstart = \"3us\"\n\
         repeat = 50\nperiod = \"10us\"\n",
    );
    let mut receivers = Vec::new();
    for (repetition, group) in scenario.messages.chunks(4).enumerate() {
        let start = Time::from_us(3) + Time::from_us(10) * repetition as u64;
        assert!(group.iter().all(|m| m.start == start && m.dst == group[0].dst && m.src != m.dst));
        let mut senders: Vec<_> = group.iter().map(|m| m.src).collect();
        senders.sort_unstable();
        senders.dedup();
        assert_eq!(senders.len(), 4);
        receivers.push(group[0].dst);
    }
    receivers.sort_unstable();
    receivers.dedup();
    assert!(receivers.len() > 8, "{}", receivers.len());
}

#[test]
fn every_host_can_send_in_an_incast() {
    let scenario =
        build("[[traffic]]\nkind = \"incast\"\nsenders = 15\nreceiver = \"h7\"\nsize = \"1KB\"\n");
    let mut senders: Vec<u32> = scenario.messages.iter().map(|m| m.src.get()).collect();
    senders.sort_unstable();
    assert_eq!(senders, (0..16).filter(|host| *host != 7).collect::<Vec<_>>());
}

#[test]
fn listed_senders_leave_the_receiver_to_chance() {
    let scenario = build(
        "[[traffic]]\nkind = \"incast\"\nsenders = [\"h0..h12\"]\nsize = \"1KB\"\nrepeat = 40\n\
         period = \"1us\"\n",
    );
    let mut receivers: Vec<u32> = scenario.messages.iter().map(|m| m.dst.get()).collect();
    receivers.sort_unstable();
    receivers.dedup();
    assert_eq!(receivers, [13, 14, 15]);
    assert_eq!(scenario.messages.len(), 13 * 40);
}

#[test]
fn bursts_go_from_every_source_to_every_destination() {
    let scenario = build(
        "[[traffic]]\nkind = \"bursts\"\nsrc = [\"h0..h2\"]\ndst = [\"h8\", \"h9\"]\n\
         size = \"1KB\"\nperiod = \"10us\"\ncount = 3\npriority = 1\ntag = \"b\"\n",
    );
    assert_eq!(scenario.messages.len(), 18);
    assert!(scenario.messages.iter().all(|m| m.priority == 1));
    assert_eq!(scenario.messages[17].start, Time::from_us(20));
    assert_eq!(scenario.tags, ["b"]);
}

/// The messages that each one waits for, and the delay.
fn waits(scenario: &Scenario) -> Vec<Option<(Vec<u32>, Time)>> {
    let mut awaited = vec![Vec::new(); scenario.joins.delays.len()];
    for one in &scenario.joins.awaited {
        awaited[one.join as usize].push(one.message);
    }
    let of_join =
        |join: u32| (awaited[join as usize].clone(), scenario.joins.delays[join as usize]);
    scenario.messages.iter().map(|message| message.after.map(of_join)).collect()
}

/// Source, destination, size and the one message that each waits for, with the delay.
fn dependencies(scenario: &Scenario) -> Vec<(u32, u32, u64, Option<(u32, u64)>)> {
    let only = |(awaited, delay): (Vec<u32>, Time)| match awaited[..] {
        [message] => (message, delay.ns()),
        _ => panic!("waits for {awaited:?}"),
    };
    let messages = scenario.messages.iter().zip(waits(scenario));
    messages.map(|(m, waits)| (m.src.get(), m.dst.get(), m.size.get(), waits.map(only))).collect()
}

#[test]
fn in_a_ring_each_message_waits_for_the_part_that_it_passes_on() {
    let ring = |operation: &str| {
        build(&format!(
            "[[traffic]]\nkind = \"collective\"\nhosts = [\"h5\", \"h2\", \"h7\"]\n\
             operation = \"{operation}\"\nsize = \"10B\"\nrepeat = 2\ncompute_time = \"9ns\"\n"
        ))
    };
    let half = ring("all-gather");
    // The parts are of 4 bytes. Computing comes between the second step and the third, which begins
    // the next repetition.
    let expected = [
        (5, 2, 4, None),
        (2, 7, 4, None),
        (7, 5, 4, None),
        (5, 2, 4, Some((2, 0))),
        (2, 7, 4, Some((0, 0))),
        (7, 5, 4, Some((1, 0))),
        (5, 2, 4, Some((5, 9))),
        (2, 7, 4, Some((3, 9))),
        (7, 5, 4, Some((4, 9))),
        (5, 2, 4, Some((8, 0))),
        (2, 7, 4, Some((6, 0))),
        (7, 5, 4, Some((7, 0))),
    ];
    assert_eq!(dependencies(&half), expected);
    let qps: Vec<u32> = half.messages.iter().map(|m| m.qp).collect();
    assert_eq!(qps, [0, 1, 2].repeat(4));
    assert_eq!(dependencies(&ring("reduce-scatter")), expected);
    assert_eq!(ring("all-reduce").messages.len(), 24);
}

#[test]
fn in_an_all_to_all_pairs_take_turns() {
    let scenario = build(
        "[[traffic]]\nkind = \"collective\"\nhosts = [\"h0..h2\"]\noperation = \"all-to-all\"\n\
         size = \"9B\"\nrepeat = 2\ncompute_time = \"1ns\"\nstart = \"1us\"\n",
    );
    assert!(scenario.messages.iter().all(|m| m.start == Time::from_us(1)));
    // To the next host first, to the one before last; the second time when the other's part is
    // there.
    assert_eq!(
        dependencies(&scenario),
        [
            (0, 1, 3, None),
            (1, 2, 3, None),
            (2, 0, 3, None),
            (0, 2, 3, None),
            (1, 0, 3, None),
            (2, 1, 3, None),
            (0, 1, 3, Some((4, 1))),
            (1, 2, 3, Some((5, 1))),
            (2, 0, 3, Some((3, 1))),
            (0, 2, 3, Some((2, 1))),
            (1, 0, 3, Some((0, 1))),
            (2, 1, 3, Some((1, 1))),
        ]
    );
}

/// With a barrier each host waits for all parts, the first time for what `after` names.
#[test]
fn with_a_barrier_hosts_wait_for_all() {
    let scenario = build(
        "[[traffic]]\nkind = \"permutation\"\nhosts = [\"h0..h2\"]\nsize = \"1KB\"\n\
         [[traffic]]\nkind = \"collective\"\nhosts = [\"h0..h2\"]\noperation = \"all-to-all\"\n\
         size = \"9B\"\nrepeat = 2\ncompute_time = \"1ns\"\nbarrier = true\n\
         after = \"permutation\"\nafter_delay = \"7ns\"\n",
    );
    let messages = &scenario.messages;
    let arrivals = |host: NodeId, among: std::ops::Range<u32>| -> Vec<u32> {
        among.filter(|&index| messages[index as usize].dst == host).collect()
    };
    let sorted = |(mut awaited, delay): (Vec<u32>, Time)| {
        awaited.sort_unstable();
        (awaited, delay.ns())
    };
    for (index, (message, waits)) in messages.iter().zip(waits(&scenario)).enumerate() {
        let expected = match index {
            0..3 => None,
            3..9 => Some((arrivals(message.src, 0..3), 7)),
            _ => Some((arrivals(message.src, 3..9), 1)),
        };
        assert_eq!(waits.map(sorted), expected, "{index}");
    }
    // A join for each host and time, not one for each message.
    assert_eq!((messages.len(), scenario.joins.delays.len()), (15, 6));
}

/// Protects what messages wait for from their order, which goes by start.
#[test]
fn messages_wait_for_a_tag() {
    let scenario = build(
        r#"[[traffic]]
kind = "flows"
flows = [
    { src = "h1", dst = "h0", size = "1B", start = "9us", tag = "up" },
    { src = "h2", dst = "h0", size = "2B", start = "3us", tag = "up" },
    { src = "h0", dst = "h1", size = "3B", after = "up", tag = "down" },
    { src = "h0", dst = "h2", size = "4B", after = "up", after_delay = "5us", tag = "down" },
    { src = "h1", dst = "h2", size = "5B", after = "down", start = "1us" },
]
"#,
    );
    let waits = waits(&scenario);
    let by_size = |size: u64| {
        let index = scenario.messages.iter().position(|m| m.size.get() == size).unwrap();
        let sizes = |of: &[u32]| -> Vec<u64> {
            of.iter().map(|&index| scenario.messages[index as usize].size.get()).collect()
        };
        waits[index].as_ref().map(|(awaited, delay)| (sizes(awaited), delay.ns()))
    };
    let found: Vec<_> = (1..=5).map(by_size).collect();
    let up = |delay| Some((vec![1, 2], delay));
    assert_eq!(found, [None, None, up(0), up(5000), Some((vec![3], 0))]);
}

#[test]
fn messages_are_in_order_and_qps_numbered_by_first_use() {
    let scenario = build(
        r#"[[traffic]]
kind = "flows"
flows = [
    { src = "h0", dst = "h1", size = "3B", start = "3us", qp = "q" },
    { src = "h0", dst = "h2", size = "1B", start = "1us" },
    { src = "h0", dst = "h1", size = "2B", start = "1us", qp = "q" },
]
[[traffic]]
kind = "flows"
tag = "more"
priority = 5
flows = [
    { src = "h3", dst = "h1", size = "4B", priority = 2 },
    { src = "h3", dst = "h1", size = "5B", start = "9us" },
]
"#,
    );
    let rows: Vec<_> =
        scenario.messages.iter().map(|m| (m.size.get(), m.qp, m.tag, m.priority)).collect();
    assert_eq!(rows, [(4, 0, 1, 2), (1, 1, 0, 3), (2, 2, 0, 3), (3, 2, 0, 3), (5, 3, 1, 5)]);
    assert_eq!(scenario.tags, ["flows", "more"]);
}

/// A tag that no message has would be one of those that results have statistics of.
#[test]
fn tags_are_those_of_messages() {
    let own_tags = "[[traffic]]\nkind = \"flows\"\nflows = [\n\
                    { src = \"h0\", dst = \"h1\", size = \"1B\", tag = \"a\" },\n\
                    { src = \"h0\", dst = \"h2\", size = \"2B\", tag = \"b\" },\n]\n";
    let scenario = build(&format!("{own_tags}{POISSON}tag = \"c\"\nmessages = 9\n"));
    assert_eq!(scenario.tags, ["a", "b", "c"]);
    let tag_of = |size: u64| {
        let message = scenario.messages.iter().find(|m| m.size.get() == size).unwrap();
        scenario.tags[usize::from(message.tag)].as_str()
    };
    assert_eq!((tag_of(1), tag_of(2)), ("a", "b"));
    // What is drawn does not depend on it.
    let before = "[[traffic]]\nkind = \"flows\"\ntag = \"c\"\n\
                  flows = [{ src = \"h0\", dst = \"h1\", size = \"1B\" }]\n";
    let replaced = before.replace("\"1B\"", "\"1B\", tag = \"a\"");
    let poisson = format!("{POISSON}tag = \"c\"\nmessages = 9\n");
    let drawn = |first: &str| of_tag(&build(&format!("{first}{poisson}")), "c");
    assert_eq!(drawn(before)[1..], drawn(&replaced)[..]);
    // Traffic that happens to have no message keeps its tag, beside other traffic.
    let none = format!("{own_tags}{POISSON}tag = \"c\"\nduration = \"1ps\"\n");
    assert_eq!(build(&none).tags, ["a", "b", "c"]);
}

#[test]
fn a_million_messages_are_made() {
    let scenario = build(&format!("{POISSON}messages = 1000000\n"));
    assert_eq!(scenario.messages.len(), 1_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_mix_is_valid_and_reads_back(
        seed in 0..1_000_000_u64,
        load in 0.01..1.0_f64,
        senders in 1..15_u32,
        repeat in 1..4_u32,
        size in 1..10_000_000_u64,
        cdf in prop::collection::btree_map(1..1_000_000_u64, 0.0..1.0_f64, 1..8),
    ) {
        let mut probabilities: Vec<f64> = cdf.values().copied().collect();
        probabilities.sort_by(f64::total_cmp);
        let points: Vec<String> = std::iter::once("[0, 0.0]".to_owned())
            .chain(cdf.keys().zip(&probabilities).map(|(bytes, p)| format!("[{bytes}, {p:?}]")))
            .chain(["[2000000, 1]".to_owned()])
            .collect();
        let scenario = build(&format!(
            "[run]\nseed = {seed}\n\
             [[traffic]]\nkind = \"poisson\"\ncdf = [{}]\nload = {load:?}\nmessages = 300\n\
             [[traffic]]\nkind = \"incast\"\nsenders = {senders}\nsize = \"{size}B\"\n\
             repeat = {repeat}\nperiod = \"7us\"\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"{size}B\"\n",
            points.join(", ")
        ));
        prop_assert_eq!(scenario.messages.len(), 300 + (senders * repeat) as usize + 16);
        prop_assert!(scenario.messages.is_sorted_by_key(|m| m.start));
        for message in &scenario.messages {
            prop_assert!(message.src != message.dst && message.size.get() > 0);
            prop_assert!(message.src.get() < 16 && message.dst.get() < 16);
        }
        let mut qps: Vec<u32> = scenario.messages.iter().map(|m| m.qp).collect();
        prop_assert!(qps.is_sorted());
        qps.dedup();
        prop_assert_eq!(qps.len(), scenario.messages.len());
        prop_assert_eq!(parse(&scenario.to_toml(), None, &[]).unwrap(), scenario);
    }
}

const TWO_DCS: &str = r#"
[topology]
kind = "cross-dc"
rate = "400Gbps"
delay = "1us"
wan_rate = "1600Gbps"
wan_delay = "500us"
wan_pfc = false
[topology.data_centre]
kind = "star"
hosts = 4
host_rate = "100Gbps"
host_delay = "1us"
"#;

fn requests(keys: &str) -> Scenario {
    let text = format!(
        "{TWO_DCS}[[traffic]]\nkind = \"request-response\"\nworkload = \"WebSearch\"\n\
         load = 0.5\n{keys}"
    );
    parse(&text, None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn every_request_has_its_response() {
    let scenario = requests("messages = 6000\nservice_time = \"3us\"");
    let messages = &scenario.messages;
    assert_eq!(
        (messages.len(), &scenario.tags[..]),
        (12_000, &["request", "intra", "inter"].map(str::to_owned)[..])
    );
    let sites = scenario.network.data_centres();
    let mut asked = vec![false; messages.len()];
    let waits = waits(&scenario);
    for (response, after) in messages.iter().zip(&waits).filter(|(m, _)| m.tag != 0) {
        let (awaited, delay) = after.as_ref().unwrap();
        let [asking] = awaited[..] else { panic!("it waits for {awaited:?}") };
        let request = &messages[asking as usize];
        assert_eq!((request.tag, request.after, request.size.get()), (0, None, 1000));
        assert_eq!((request.src, request.dst), (response.dst, response.src));
        assert_eq!((request.start, *delay), (response.start, Time::from_us(3)));
        assert!(!std::mem::replace(&mut asked[asking as usize], true));
        let inter = sites[response.src.index()] != sites[response.dst.index()];
        assert_eq!(response.tag, if inter { 2 } else { 1 });
    }
    // One of six goes to the other data centre: 1000 of 6000, deviation 29.
    let inter = of_tag(&scenario, "inter").len();
    assert!((880..1120).contains(&inter), "{inter}");
    // The load is that of the responses.
    let bytes: u64 = messages.iter().filter(|m| m.tag != 0).map(|m| m.size.get()).sum();
    let span = messages.last().unwrap().start.as_secs_f64();
    let load = bytes as f64 * 8.0 / span / 8e11;
    assert!((load / 0.5 - 1.0).abs() < 0.1, "{load}");
}

/// Protects counts: with a quota there are as many responses as were asked for, whatever their
/// shares.
#[test]
fn a_quota_makes_all_the_responses_that_were_asked_for() {
    for flows in [7, 100, 1000] {
        let scenario = requests(&format!(
            "messages = {flows}\ndestination_mix = \"quota\"\nrequest_size = \"0B\""
        ));
        assert_eq!(scenario.messages.len(), flows);
    }
}

#[test]
fn a_quota_brings_what_is_rarer_first() {
    let scenario = requests("messages = 6000\ndestination_mix = \"quota\"\nrequest_size = \"0B\"");
    assert_eq!(scenario.messages.len(), 6000);
    assert!(scenario.messages.iter().all(|m| m.after.is_none()));
    let inter = of_tag(&scenario, "inter");
    assert_eq!(inter.len(), 1000);
    // At 4 of 7 while the quota lasts: by the 1750th of 6000, deviation 36.
    let (last, end) = (inter.last().unwrap().3, scenario.messages.last().unwrap().start.ps());
    let share = last as f64 / end as f64;
    assert!((0.26..0.33).contains(&share), "{share}");
}

#[test]
fn requests_need_partners() {
    let traffic = "[[traffic]]\nkind = \"request-response\"\nworkload = \"WebSearch\"\nload = 0.5\n\
                   messages = 10\n";
    let error = parse(&format!("{STAR}{traffic}"), None, &[]).unwrap_err().to_string();
    assert!(
        error.contains("traffic.0.inter_share: h0 has no partner in another data centre"),
        "{error}"
    );
    assert_eq!(build(&format!("{traffic}inter_share = 0\n")).messages.len(), 20);
    let error =
        parse(&format!("{STAR}{traffic}inter_share = 1.5"), None, &[]).unwrap_err().to_string();
    assert!(error.contains("must be 0 to 1"), "{error}");
}
