//! What a scenario asks of its network is what a run that loses nothing carries.

use crate::common::{parse, refusal, run_on};

const FAT_TREE: &str = "kind = \"fat-tree\"\nk = 4\nhost_rate = \"25Gbps\"\nhost_delay = \"1us\"\n\
                        rate = \"100Gbps\"\ndelay = \"2us\"\n";
const POISSON: &str = "[[traffic]]\nkind = \"poisson\"\nworkload = \"WebSearch\"\nload = 0.3\n\
                       duration = \"500us\"\n";
const ANSWERS: &str = "[[traffic]]\nkind = \"request-response\"\nworkload = \"WebSearch\"\n\
                       load = 0.3\nduration = \"500us\"\n";
const CROSS_DC: &str = "kind = \"cross-dc\"\nrate = \"400Gbps\"\ndelay = \"1us\"\n\
                        wan_rate = \"400Gbps\"\nwan_delay = \"50us\"\n[topology.data_centre]\n\
                        kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                        host_rate = \"100Gbps\"\nhost_delay = \"1us\"\nrate = \"100Gbps\"\n\
                        delay = \"1us\"\n";

#[test]
fn every_port_sends_what_was_planned() {
    for (topology, traffic, rest) in [
        (FAT_TREE, POISSON, "[scheme]\nname = \"none\"\n"),
        (FAT_TREE, POISSON, "[scheme]\nname = \"hpcc\"\n[host]\nack_every = 3\n"),
        (FAT_TREE, POISSON, "[scheme]\nname = \"fncc\"\n[routing]\npaths = \"spanning-trees\"\n"),
        (FAT_TREE, POISSON, "[scheme]\nname = \"hpcc\"\n[quirks]\nns3_ecmp_hash = true\n"),
        (FAT_TREE, POISSON, "[scheme]\nname = \"none\"\n[wire]\npayload = \"333B\"\n"),
        (CROSS_DC, ANSWERS, "[scheme]\nname = \"swift\"\n"),
    ] {
        let text = format!(
            "[topology]\n{topology}{traffic}{rest}[pfc]\nenabled = false\n[switch]\nbuffer = \
             \"2GB\"\n"
        );
        let plan = rocelab::plan(&parse(&text, &[])).unwrap();
        let result = run_on(&text, &[], 2);
        assert!(result.summary.drops == 0 && result.summary.flows_done == result.summary.flows);
        let sum = |(data, acks): (&u64, &u64)| data + acks;
        let load = &plan.load;
        let planned: Vec<u64> = load.data_bytes.iter().zip(&load.ack_bytes).map(sum).collect();
        assert_eq!(planned, result.ports.tx_bytes, "{rest}");
        assert!(planned.iter().sum::<u64>() > 1_000_000);
        assert_eq!((&load.node, &load.port), (&result.ports.node, &result.ports.port));
        let (messages, flows) = (&plan.messages, &result.flows);
        assert_eq!(messages.ideal_fct_ps, flows.ideal_fct_ps);
        assert_eq!((&messages.src, &messages.dst), (&flows.src, &flows.dst));
        assert_eq!(messages.size_bytes, flows.size_bytes);
    }
}

/// Protects from a run that is started in vain: what its end would warn of is said before it.
#[test]
fn warnings_that_need_round_trips_are_there_before_the_run() {
    let star = |rate: &str, delay: &str, scheme: &str| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 3\nhost_rate = \"{rate}\"\n\
             host_delay = \"{delay}\"\n[[traffic]]\nkind = \"incast\"\nsenders = 2\n\
             receiver = \"h2\"\nsize = \"20KB\"\n[scheme]\nname = \"{scheme}\"\n"
        );
        let plan = rocelab::plan(&parse(&text, &[])).unwrap();
        (plan.checks.warnings, run_on(&text, &[], 1).summary.warnings)
    };
    for (rate, delay, scheme, words) in [
        ("400Gbps", "5us", "swift", "scheme.params.max_cwnd is 373.76 packets"),
        ("25Gbps", "200us", "timely", "every round trip slows timely down; raise t_high"),
        ("25Gbps", "200us", "mercury+timely", "round trip slows mercury+timely down; raise t_high"),
        ("100Gbps", "5us", "hiercc", "scheme.params.hop_rtt is 2us"),
    ] {
        let (planned, run) = star(rate, delay, scheme);
        let told = |all: &[String]| all.iter().filter(|one| one.contains(words)).count();
        assert_eq!((told(&planned), told(&run)), (1, 1), "{scheme}: {planned:?} {run:?}");
    }
}

#[test]
fn a_dumbbell_by_hand() {
    let scenario = parse(
        "[topology]\nkind = \"dumbbell\"\nswitches = 2\nsenders = 2\nhost_rate = \"100Gbps\"\n\
         host_delay = \"1us\"\nrate = \"400Gbps\"\ndelay = \"3us\"\n[[traffic]]\nkind = \"flows\"\n\
         flows = [{ src = \"h0\", dst = \"h2\", size = \"2500B\" },\n\
         { src = \"h1\", dst = \"h2\", size = \"1B\", start = \"7us\" }]\n",
        &[],
    );
    let plan = rocelab::plan(&scenario).unwrap();
    let load = &plan.load;
    let names = &load.node_names;
    let of = |node: &str, peer: &str| {
        let name = |id: u32| names[id as usize].as_str();
        let is_it = |&row: &usize| (name(load.node[row]), name(load.peer[row])) == (node, peer);
        let row = (0..load.node.len()).find(is_it).expect("they are linked");
        let tiers = (load.tier[row], load.peer_tier[row]);
        (load.messages[row], load.data_bytes[row], load.ack_bytes[row], load.busy_ps[row], tiers)
    };
    // 82 bytes around each payload, 16 more with the first, and ACKs of 86.
    let (first, second) = (2 * 1_082 + 582 + 16, 82 + 4 + 16);
    let both = first + second;
    assert_eq!(of("h0", "s0"), (1, first, 0, first * 80, (0, 1)));
    assert_eq!(of("s0", "s1"), (2, both, 0, both * 20, (1, 1)));
    assert_eq!(of("s1", "h2"), (2, both, 0, both * 80, (1, 0)));
    assert_eq!(of("h2", "s1"), (0, 0, 4 * 86, 4 * 86 * 80, (0, 1)));
    assert_eq!(of("s0", "h1"), (0, 0, 86, 86 * 80, (1, 0)));
    let messages = &plan.messages;
    assert_eq!(messages.start_ps, [0, 7_000_000]);
    assert_eq!(messages.switches, [2, 2]);
    assert_eq!(messages.bottleneck_bps, [100_000_000_000; 2]);
    // Both ways 5 us of cable, and a full packet and an ACK twice at 100 and once at 400 Gb/s.
    let round_trip = 2 * 5_000_000 + (1_082 + 86) * (2 * 80 + 20);
    assert_eq!(messages.base_rtt_ps, [round_trip; 2]);
}

/// A star with hosts at 1 kb/s that send one message of `size` each to h0.
fn slow_star(senders: u32, size: &str) -> scenario::Scenario {
    parse(
        &format!(
            "[topology]\nkind = \"star\"\nhosts = {}\nhost_rate = \"1Kbps\"\nhost_delay = \"1us\"\n\
             [[traffic]]\nkind = \"incast\"\nsenders = {senders}\nreceiver = \"h0\"\nsize = \
             \"{size}\"\n\
             [scheme]\nname = \"none\"\n[run]\nstop = \"1ms\"\n",
            senders + 1
        ),
        &[],
    )
}

#[test]
fn a_message_that_takes_longer_than_times_reach_is_refused() {
    let scenario = slow_star(1, "4000GB");
    let options = rocelab::RunOptions::default();
    let refusals = [
        rocelab::check(&scenario).unwrap_err(),
        rocelab::plan(&scenario).unwrap_err(),
        refusal(rocelab::run(&scenario, &options).unwrap_err()),
    ];
    for refused in refusals {
        assert_eq!(refused.key, "traffic");
        let told = "the message of 4000GB from h1 to h0 (tag \"incast\") needs 3.20e10 s at \
            1Kbps, the lowest rate on its path; times go up to 1.84e7 s";
        assert_eq!(refused.message, told);
        assert!(refused.hint.is_some());
    }
    // 2 GB take 1.6e7 s alone, as plain payload; with headers more than that, and still a time.
    let plan = rocelab::plan(&slow_star(1, "2GB")).unwrap();
    assert!((16_000_000_000_000_000_000..u64::MAX).contains(&plan.messages.ideal_fct_ps[0]));
}

#[test]
fn a_port_that_needs_longer_than_times_reach_is_refused_by_plan_alone() {
    let scenario = slow_star(2, "1500MB");
    rocelab::check(&scenario).unwrap();
    let refused = rocelab::plan(&scenario).unwrap_err().message;
    assert!(refused.starts_with("the port of s0 to h0 would send 32"), "{refused}");
    assert!(refused.contains("times go up to 1.84e7 s"), "{refused}");
}

const STAR: &str = "kind = \"star\"\nhosts = 8\nhost_rate = \"100Gbps\"\nhost_delay = \"1us\"\n";
const TO_ONE: &str = "[[traffic]]\nkind = \"incast\"\nsenders = 7\nreceiver = \"h0\"\nsize = \
    \"1MB\"\n";

/// What a plan says of the buffers of a star under these settings.
fn checks(settings: &[(&str, &str)]) -> results::PlanChecks {
    let text = format!("[topology]\n{STAR}{TO_ONE}[scheme]\nname = \"none\"\n");
    rocelab::plan(&parse(&text, settings)).unwrap().checks
}

/// Protects the buffer budget: a buffer of what the plan says holds an incast without a drop, and
/// a warning says so where it is smaller.
#[test]
fn a_buffer_that_holds_all_thresholds_drops_nothing() {
    let fixed = [("pfc.xoff", "50KB"), ("switch.buffer", "8MB")];
    let found = checks(&fixed);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let [row] = &found.buffers[..] else { panic!("{:?}", found.buffers) };
    assert_eq!((row.switches, row.first.as_str(), row.lossless_ingresses), (1, "s0", 8));
    assert_eq!((row.pause_threshold_bytes, row.is_fixed), (Some(50_000), true));
    assert_eq!(row.reserved_bytes, 8 * row.max_headroom_bytes);
    assert_eq!(row.needed_bytes, Some(8 * 50_000 + row.reserved_bytes));
    let needed = row.needed_bytes.unwrap().to_string() + "B";
    let exact = [("pfc.xoff", "50KB"), ("switch.buffer", needed.as_str())];
    assert!(checks(&exact).warnings.is_empty());
    let text = format!("[topology]\n{STAR}{TO_ONE}[scheme]\nname = \"none\"\n");
    let result = run_on(&text, &exact, 1);
    assert!(result.summary.drops == 0 && result.summary.pause_frames > 0);
    let short = checks(&[("pfc.xoff", "500KB"), ("switch.buffer", "1MB")]);
    let [told] = &short.warnings[..] else { panic!("{:?}", short.warnings) };
    assert!(
        told.starts_with("s0: its buffer of 1MB is full before all of its 8 ingresses"),
        "{told}"
    );
    // The named fix.
    let lower = told.rsplit(' ').next().unwrap().to_owned();
    let fixed = [("pfc.xoff", lower.as_str()), ("switch.buffer", "1MB")];
    assert!(checks(&fixed).warnings.is_empty(), "{lower}");
}

/// Protects from a headroom that drops what PFC should protect: a warning comes before the run, and
/// the headroom that it names is enough.
#[test]
fn a_short_headroom_is_warned_of_with_one_that_is_enough() {
    let given = |headroom: &str| {
        checks(&[("pfc.xoff", "20KB"), ("switch.buffer", "8MB"), ("pfc.headroom", headroom)])
    };
    let short = given("1KB").warnings;
    let [warning] = &short[..] else { panic!("{short:?}") };
    let enough = warning.strip_prefix("pfc.headroom = 1KB is less than ").expect(warning);
    let enough = enough.split(',').next().unwrap();
    assert_eq!(given(enough).warnings, Vec::<String>::new());
    assert_eq!(given("auto").warnings, Vec::<String>::new());
    let [auto] = &given("auto").buffers[..] else { panic!("no buffer") };
    let [fixed] = &given(enough).buffers[..] else { panic!("no buffer") };
    assert_eq!(fixed.max_headroom_bytes, auto.max_headroom_bytes);
    let off = [("pfc.enabled", "false"), ("pfc.headroom", "1KB")];
    let warnings = checks(&off).warnings;
    let [unused] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(unused.starts_with("pfc.headroom has no effect"), "{unused}");
}

/// Protects who mends a switch that has a buffer of its own: `switch.buffer` is not its.
#[test]
fn a_buffer_of_its_own_is_what_is_too_small() {
    let flow = "[[traffic]]\nkind = \"flows\"\nflows = [{src = \"dc0/h0\", dst = \"dc1/h0\", \
                size = \"1MB\"}]\n";
    let text = format!("[topology]\n{CROSS_DC}{flow}");
    let told = |buffer: &str| {
        let set = [("pfc.xoff", "320KB"), ("topology.external_buffer", buffer)];
        rocelab::plan(&parse(&text, &set)).unwrap().checks.warnings
    };
    let short = told("5.6MB");
    assert!(short[0].contains("raise its own buffer (topology.external_buffer"), "{short:?}");
    let needed = short[0].split("they take ").nth(1).unwrap().split(',').next().unwrap();
    assert_eq!(told(needed), Vec::<String>::new());
}

/// A dynamic threshold depends on what is free, so it needs no sum.
#[test]
fn a_dynamic_threshold_is_the_share_of_an_empty_buffer() {
    let found = checks(&[("pfc.alpha", "0.125"), ("switch.buffer", "8MB")]);
    let row = &found.buffers[0];
    assert_eq!((row.is_fixed, row.needed_bytes), (false, None));
    assert_eq!(row.pause_threshold_bytes, Some((8_000_000 - row.reserved_bytes) / 8));
}

/// Protects from marks that come after pauses, and from links that are asked for too much.
#[test]
fn late_marks_and_overload_are_known_before_the_run() {
    let late =
        [("scheme", "dcqcn"), ("pfc.xoff", "50KB"), ("ecn.kmin", "60KB"), ("ecn.kmax", "90KB")];
    let told = checks(&late).warnings;
    assert!(told.iter().any(|one| one.starts_with("PFC acts before ECN: ")), "{told:?}");
    let early =
        [("scheme", "dcqcn"), ("pfc.xoff", "50KB"), ("ecn.kmin", "10KB"), ("ecn.kmax", "90KB")];
    assert!(checks(&early).warnings.is_empty(), "{:?}", checks(&early).warnings);
    let marking = &checks(&early).marking[0];
    assert_eq!((marking.rate_bps, marking.kmin_bytes), (100_000_000_000, Some(10_000)));
    // A dynamic threshold is at most that of an empty buffer.
    let small = |kmin| {
        let set = [("switch.buffer", "400KB"), ("ecn.kmin", kmin), ("ecn.kmax", "90KB")];
        checks(&[&[("scheme", "dcqcn")], &set[..]].concat()).warnings
    };
    let told = small("60KB");
    assert!(
        told[0].contains(" pauses its peer at ") && told[0].contains("B at most, "),
        "{told:?}"
    );
    assert!(told[0].ends_with("raise pfc.alpha or switch.buffer, or lower ecn.kmin and ecn.kmax"));
    assert_eq!(small("5KB"), Vec::<String>::new());
    let poisson = |load: f64| {
        let text = format!(
            "[topology]\n{STAR}[[traffic]]\nkind = \"poisson\"\nworkload = \"FB_Hadoop\"\n\
             load = {load}\nduration = \"2ms\"\nhosts = [\"h1..h7\"]\nreceivers = [\"h0\"]\n"
        );
        rocelab::plan(&parse(&text, &[])).unwrap().checks.warnings
    };
    assert!(poisson(0.05).is_empty(), "{:?}", poisson(0.05));
    let told = poisson(0.5);
    // Loads of ports with fewer messages are in the table, and come and go with a large message.
    let begin = "1 port with 20 messages or more is overloaded: s0 to h0 has a load of ";
    assert!(told[0].starts_with(begin), "{told:?}");
}

/// What waits for what waits comes as fast as the network carries it.
#[test]
fn collective_operations_overload_nothing() {
    let text = format!(
        "[topology]\n{STAR}[[traffic]]\nkind = \"poisson\"\nworkload = \"FB_Hadoop\"\n\
         load = 0.05\nduration = \"2ms\"\n\
         [[traffic]]\nkind = \"collective\"\noperation = \"all-reduce\"\nsize = \"100MB\"\n"
    );
    let checks = rocelab::plan(&parse(&text, &[])).unwrap().checks;
    assert!(checks.warnings.is_empty(), "{:?}", checks.warnings);
}

/// The packets of a plan are those of a run that sends nothing twice.
#[test]
fn packet_hops_are_those_of_the_run() {
    let text = format!(
        "[topology]\n{STAR}{TO_ONE}[scheme]\nname = \"none\"\n[pfc]\nenabled = \
        false\n"
    );
    let plan = rocelab::plan(&parse(&text, &[])).unwrap();
    assert_eq!(plan.checks.packet_hops, run_on(&text, &[], 1).summary.packet_hops);
}
