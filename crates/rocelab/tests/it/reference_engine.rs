//! Compares the engine with the reference engine.
//!
//! The engine and the fabric are fast because they skip, delay and reorder work that changes no
//! result. Here each scheme also runs on random networks with the reference engine: one heap of
//! events, one instant at a time, every packet queued, nothing skipped. The digests must be equal.

use crate::common::{random_cases, run_on};
use proptest::prelude::*;
use rocelab::{RunOptions, RunResult};
use schemes::registry;

/// A network, its traffic and how easily it pauses: where PFC is far away, ports are worked alone.
#[derive(Clone, Debug)]
struct Case {
    topology: String,
    hosts: u32,
    /// Every second scheme has this, the others much more.
    xoff_kb: u64,
    size_kb: u64,
    start_ns: u64,
    rto: bool,
    /// Small ones are many in a window.
    payload: u64,
    /// Which priorities there are, and whether they take turns.
    classes: &'static str,
    seed: u64,
}

impl Case {
    fn toml(&self) -> String {
        let Case { topology, hosts, xoff_kb, size_kb, start_ns, payload, classes, seed, .. } = self;
        let senders = hosts - 1;
        let timeout = if self.rto { "\"300us\"" } else { "\"never\"" };
        format!(
            r#"
            [run]
            seed = {seed}
            stop = "120us"
            [topology]
            {topology}
            [wire]
            payload = "{payload}B"
            [classes]
            {classes}
            [host]
            retransmit_timeout = {timeout}
            [pfc]
            threshold = "static"
            xoff = "{xoff_kb}KB"
            xon = "{xon}KB"
            [[probe]]
            name = "queues"
            kind = "queue"
            nodes = ["*"]
            interval = "1us"
            [[traffic]]
            kind = "incast"
            senders = {senders}
            receiver = "h0"
            size = "{size_kb}KB"
            [[traffic]]
            kind = "permutation"
            size = "{other}KB"
            start = "{start_ns}ns"
            [[traffic]]
            kind = "poisson"
            workload = "WebServer"
            load = 0.4
            duration = "60us"
            "#,
            xon = xoff_kb - 2,
            other = size_kb * 2,
        )
    }
}

fn topology() -> impl Strategy<Value = (String, u32)> {
    let rates = prop_oneof![Just("25Gbps"), Just("40Gbps"), Just("100Gbps")];
    let host_delay = prop_oneof![Just("10ns"), Just("333ns"), Just("1us")];
    let delay = prop_oneof![Just("700ns"), Just("1us"), Just("1500ns"), Just("5us")];
    (rates, host_delay, delay, 0..3).prop_map(|(rate, host_delay, delay, kind)| {
        let cables = format!(
            "host_rate = \"{rate}\"\nhost_delay = \"{host_delay}\"\nrate = \"100Gbps\"\n\
             delay = \"{delay}\"\n"
        );
        match kind {
            0 => (format!("kind = \"fat-tree\"\nk = 4\n{cables}"), 16),
            1 => (
                format!(
                    "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 3\n{cables}"
                ),
                9,
            ),
            _ => (format!("kind = \"dumbbell\"\nsenders = 4\nswitches = 3\n{cables}"), 5),
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let payload = prop_oneof![2 => Just(1000u64), 1 => 64u64..400];
    let classes = prop_oneof![
        2 => Just(""),
        1 => Just("ack = \"data\""),
        1 => Just("ack = 2"),
        1 => Just("strict = []"),
    ];
    let numbers = (8u64..60, 10u64..120, 0u64..9_000, any::<bool>(), 1u64..1_000);
    (topology(), numbers, payload, classes).prop_map(
        |((topology, hosts), (xoff_kb, size_kb, start_ns, rto, seed), payload, classes)| Case {
            topology,
            hosts,
            xoff_kb,
            size_kb,
            start_ns,
            rto,
            payload,
            classes,
            seed,
        },
    )
}

fn reference_run(text: &str, set: &[(&str, &str)]) -> RunResult {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let scenario = scenario::parse(text, None, &set).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { reference_mode: true, ..RunOptions::default() };
    rocelab::run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The two ways give the same of a scenario.
fn compare(text: &str, set: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let slow = reference_run(text, set);
    prop_assert!(slow.summary.packet_hops > 100, "{set:?}: nothing happened");
    for threads in [1, 2] {
        let fast = run_on(text, set, threads);
        prop_assert_eq!(
            (&fast.flows, &fast.ports),
            (&slow.flows, &slow.ports),
            "{:?} on {} threads",
            set,
            threads
        );
        prop_assert_eq!(&fast.summary.digest, &slow.summary.digest);
        prop_assert_eq!(&fast.series, &slow.series, "{:?}", set);
    }
    Ok(())
}

/// Room for the headroom of long cables.
const INPUT_QUEUE: (&str, &str) = ("switch.input_queue", "4MB");

proptest! {
    #![proptest_config(random_cases(3))]

    #[test]
    fn every_scheme_equals_the_reference_engine(case in case()) {
        let text = case.toml();
        let schemes = registry::all().iter().map(|scheme| (scheme, scheme.input_queues));
        // Without a congestion point for input queues, too.
        let others = registry::all().iter().filter(|scheme| scheme.name == "dcqcn");
        let others = others.map(|scheme| (scheme, true));
        for (number, (scheme, cioq)) in schemes.chain(others).enumerate() {
            let mut set = vec![("scheme", scheme.name)];
            if (number as u64 + case.seed).is_multiple_of(2) {
                set.extend([("pfc.xoff", "1MB"), ("pfc.xon", "900KB")]);
            }
            if cioq {
                set.extend([("switch.architecture", "cioq"), INPUT_QUEUE]);
            }
            if scheme.name == "expresspass" && case.classes == "strict = []" {
                // Its credits must go first.
                set.push(("classes.strict", "[7]"));
            }
            if scheme.name.starts_with("themis") {
                // Links between switches of at least this much are long: packets are held.
                set.push(("scheme.params.wan_delay", "1us"));
            }
            compare(&text, &set)?;
        }
    }
}

/// Ways to spread packets over paths and to recover lost ones, each a list of settings.
const PATHS: [&[(&str, &str)]; 12] = [
    &[("routing.balance", "random"), ("host.reorder", "bdp")],
    &[("routing.balance", "random"), ("scheme", "none"), ("host.recovery", "selective-repeat")],
    &[("routing.balance", "round-robin"), ("host.recovery", "selective-repeat")],
    &[("routing.balance", "adaptive"), ("host.reorder", "64"), ("scheme", "swift")],
    &[("routing.balance", "adaptive"), ("routing.update", "1us"), ("host.reorder", "64")],
    &[("routing.balance", "adaptive"), ("routing.flowlet_gap", "3us")],
    &[("routing.balance", "drill"), ("host.recovery", "selective-repeat")],
    &[("routing.balance", "letflow"), ("routing.flowlet_gap", "5us")],
    &[("host.spray", "random"), ("host.recovery", "selective-repeat"), ("host.loss_after", "9us")],
    &[("host.spray", "reps"), ("host.recovery", "selective-repeat"), ("host.loss_after", "gap")],
    &[("host.spray", "bitmap"), ("host.reorder", "16"), ("host.in_flight", "bdp")],
    &[("host.recovery", "selective-repeat"), ("scheme", "hpcc"), ("host.rto_low", "40us")],
];

proptest! {
    #![proptest_config(random_cases(3))]

    /// Lossless networks, and those that drop packets and damage some.
    #[test]
    fn every_way_over_several_paths_equals_the_reference_engine(
        case in case(),
        lossy in any::<bool>(),
    ) {
        let case = Case { rto: false, ..case };
        let text = case.toml().replace("retransmit_timeout = \"never\"", "");
        for paths in PATHS {
            let mut set = vec![("scheme", "dcqcn")];
            if lossy {
                set.extend([("pfc.enabled", "false"), ("wire.error_rate", "0.002")]);
                set.push(("switch.buffer", "200KB"));
            }
            set.extend(paths);
            compare(&text, &set)?;
        }
    }
}

/// Three racks on long links, so that a window holds many packets of each port. Few of them pause.
fn full_windows(case: &Case, delay: &str) -> String {
    let Case { size_kb, start_ns, payload, classes, seed, .. } = case;
    format!(
        r#"
        [run]
        seed = {seed}
        stop = "80us"
        [topology]
        kind = "leaf-spine"
        leaves = 3
        spines = 3
        hosts_per_leaf = 5
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "{delay}"
        [wire]
        payload = "{payload}B"
        [classes]
        {classes}
        [host]
        recovery = "selective-repeat"
        [[probe]]
        name = "throughput"
        kind = "throughput"
        nodes = ["*"]
        interval = "21us"
        [[traffic]]
        kind = "permutation"
        size = "400KB"
        start = "{start_ns}ns"
        [[traffic]]
        kind = "incast"
        senders = 14
        receiver = "h0"
        size = "{size_kb}KB"
        start = "20us"
        "#
    )
}

/// What has a switch handle some windows port by port and others in order, each a list of settings.
const WINDOWS: [&[(&str, &str)]; 6] = [
    &[("pfc.threshold", "static"), ("pfc.xoff", "1MB")],
    &[("pfc.threshold", "static"), ("pfc.xoff", "60KB")],
    &[("pfc.enabled", "false"), ("switch.buffer", "300KB")],
    &[("quirks.ns3_tie_order", "true")],
    &[("quirks.conweave_ecmp_hash", "true")],
    &[("failure", "[{link = \"leaf0:spine0\", at = \"31us\", until = \"63us\"}]")],
];

proptest! {
    #![proptest_config(random_cases(4))]

    /// Round robin gives turns for whole windows, and takes them back where these are handled
    /// otherwise.
    #[test]
    fn turns_in_full_windows_equal_the_reference_engine(
        case in case(),
        delay in prop_oneof![Just("2us"), Just("5us")],
        scheme in prop_oneof![Just("none"), Just("dcqcn")],
    ) {
        let text = full_windows(&case, delay);
        for window in WINDOWS {
            compare(
                &text,
                &[&[("scheme", scheme), ("routing.balance", "round-robin")], window].concat(),
            )?;
        }
    }
}

/// Pauses with times, each a list of settings.
const PAUSE_TIMES: [&[(&str, &str)]; 5] = [
    &[("pfc.response", "300ns"), ("pfc.pause_time", "3000")],
    &[("pfc.pause_time", "3000"), ("pfc.refresh", "3us"), ("wire.error_rate", "0.01")],
    &[("pfc.pause_time", "3us"), ("pfc.refresh", "arrivals")],
    &[("pfc.watchdog", "{detect = \"7us\", restore = \"20us\", action = \"drop\"}")],
    &[("pfc.watchdog", "{detect = \"7us\", restore = \"20us\", action = \"forward\"}")],
];

proptest! {
    #![proptest_config(random_cases(3))]

    /// In either kind of switch, beside a host that takes nothing.
    #[test]
    fn pauses_with_times_equal_the_reference_engine(case in case()) {
        let text = Case { xoff_kb: 20, rto: true, ..case }.toml();
        let storm = ("receiver", "[{hosts = [\"h1\"], rate = \"0bps\", buffer = \"500KB\"}]");
        for times in PAUSE_TIMES {
            for scheme in ["none", "dcqcn", "rcm"] {
                for cioq in [scheme == "rcm", true] {
                    let mut set = vec![("scheme", scheme), storm];
                    set.extend(times);
                    if cioq {
                        // Damage is for shared-memory switches.
                        set.retain(|(key, _)| *key != "wire.error_rate");
                        set.extend([("switch.architecture", "cioq"), INPUT_QUEUE]);
                    }
                    compare(&text, &set)?;
                }
            }
        }
    }
}

/// Ways that take their switches to agree, each a list of settings.
const AGREED: [&[(&str, &str)]; 6] = [
    &[("routing.balance", "conga"), ("routing.flowlet_gap", "2us")],
    &[
        ("routing.balance", "conga"),
        ("routing.flowlet_gap", "0ns"),
        ("host.recovery", "selective-repeat"),
        ("routing.conga", "{dre_period = \"2us\", bits = 8, age = \"9us\"}"),
    ],
    &[
        ("routing.balance", "conga"),
        ("quirks.conweave_conga", "true"),
        ("routing.flowlet_gap", "1us"),
        ("routing.conga.dre_period", "2us"),
    ],
    &[("routing.balance", "conweave"), ("routing.conweave.reply_extra", "1us")],
    &[
        ("routing.balance", "conweave"),
        (
            "routing.conweave",
            "{reply_extra = \"300ns\", inactive = \"5us\", resume_extra = \"1us\", \
             resume_default = \"3us\", queues = 1, own_memory = true}",
        ),
        ("host.reorder", "64"),
        ("pfc", "{alpha = 0.02}"),
    ],
    &[
        ("routing.balance", "letflow"),
        ("quirks.conweave_buffer", "true"),
        ("quirks.conweave_ecn_draws", "true"),
        (
            "pfc",
            "{alpha = 0.005, reserve = \"2096B\", resume_offset = \"1B\", pause_time = \"5us\", \
             refresh = \"arrivals\"}",
        ),
    ],
];

/// The case in a leaf-spine with links as they are in it.
fn on_leaf_spine(case: Case) -> Case {
    let is_cable = |line: &&str| line.contains("rate") || line.contains("delay");
    let cables: Vec<&str> = case.topology.lines().filter(is_cable).collect();
    let shape = "kind = \"leaf-spine\"\nleaves = 3\nspines = 3\nhosts_per_leaf = 3";
    Case { topology: format!("{shape}\n{}", cables.join("\n")), hosts: 9, rto: false, ..case }
}

proptest! {
    #![proptest_config(random_cases(6))]

    /// With links that fail, and without.
    #[test]
    fn every_way_that_switches_agree_on_equals_the_reference_engine(
        case in case().prop_map(on_leaf_spine),
        fails in any::<bool>(),
        scheme in prop_oneof![Just("none"), Just("dcqcn"), Just("rocc")],
    ) {
        let mut text = case.toml().replace("retransmit_timeout = \"never\"", "");
        if fails {
            text.push_str(
                "[[failure]]\nlink = \"leaf0:spine0\"\nat = \"31us\"\nuntil = \"63us\"\n\
                 [[failure]]\nlink = \"leaf1:spine1\"\nat = \"47us\"\n",
            );
        }
        for agreed in AGREED {
            let mut set = vec![("scheme", scheme)];
            set.extend(agreed);
            compare(&text, &set)?;
        }
    }
}

/// NICs and the order of arrivals of the HPCC simulator, as ConWeave's has them.
const NS3_NODES: [(&str, &str); 6] = [
    ("wire.profile", "hpcc-ns3"),
    ("quirks.whole_nanoseconds", "true"),
    ("quirks.conweave_ecmp_hash", "true"),
    ("quirks.scan_queue_pairs", "true"),
    ("quirks.ns3_tie_order", "true"),
    ("quirks.packet_round_robin", "true"),
];

/// Policies and recoveries beside those that switches agree on.
const POLICIES: [&[(&str, &str)]; 5] = [
    &[("routing.balance", "round-robin"), ("host.recovery", "selective-repeat")],
    &[("routing.balance", "letflow"), ("routing.flowlet_gap", "1us")],
    &[("routing.balance", "drill"), ("quirks.conweave_drill", "true")],
    &[
        ("routing.balance", "drill"),
        ("host.recovery", "selective-repeat"),
        ("host.loss_after", "gap"),
        ("quirks.conweave_recovery", "true"),
    ],
    &[("routing.balance", "random"), ("host.recovery", "selective-repeat")],
];

proptest! {
    #![proptest_config(random_cases(6))]

    #[test]
    fn policies_with_ns3_nodes_equal_the_reference_engine(
        case in case().prop_map(|case| on_leaf_spine(Case { classes: "", ..case })),
        scheme in prop_oneof![Just("none"), Just("dcqcn")],
    ) {
        let text = case.toml().replace("retransmit_timeout = \"never\"", "");
        for settings in AGREED.iter().chain(&POLICIES) {
            compare(&text, &[&[("scheme", scheme)][..], &NS3_NODES, settings].concat())?;
        }
    }
}

proptest! {
    #![proptest_config(random_cases(3))]

    /// The incast has the one scheme, the rest the other.
    #[test]
    fn two_schemes_in_one_network_equal_the_reference_engine(case in case()) {
        for mix in registry::mixes() {
            let text = format!(
                "{}\n[scheme]\nname = \"{}\"\n[[scheme.also]]\nname = \"{}\"\n\
                 traffic = [\"incast\"]\npriority = 4\n",
                case.toml(),
                mix.first,
                mix.second,
            );
            // The presets of both may have marking laws.
            let ecn = [("ecn.kmin", "5KB"), ("ecn.kmax", "50KB"), ("ecn.pmax", "0.2")];
            compare(&text, &ecn)?;
        }
    }

    /// A link is slower and damages packets for a time, while another fails.
    #[test]
    fn links_that_change_equal_the_reference_engine(case in case(), at in 1u64..60) {
        let link = if case.topology.contains("dumbbell") { "s0:s1" } else { "h1" };
        let peer = match () {
            () if case.topology.contains("fat-tree") => ":tor0",
            () if case.topology.contains("leaf-spine") => ":leaf0",
            () => "",
        };
        let text = format!(
            "{}\n[[failure]]\nlink = \"{link}{peer}\"\nat = \"{at}us\"\n\
             until = \"{}us\"\nrate = \"7Gbps\"\nerror_rate = 0.01\n",
            case.toml().replace("\"never\"", "\"60us\""),
            at + 40,
        );
        for scheme in ["none", "dcqcn", "hpcc", "fncc", "rocc", "mercury", "hiercc", "expresspass"]
        {
            let strict = [("classes.strict", "[7]")];
            let set: &[_] = if scheme == "expresspass" { &strict } else { &[] };
            compare(&text, &[&[("scheme", scheme)], set].concat())?;
        }
    }
}

/// Five hosts in a row of three switches, all links of 100 Gbps.
fn dumbbell(
    delays: &str,
    numbers: (u64, u64, u64, u64),
    payload: u64,
    classes: &'static str,
) -> Case {
    let (xoff_kb, size_kb, start_ns, seed) = numbers;
    let topology = format!(
        "kind = \"dumbbell\"\nsenders = 4\nswitches = 3\nhost_rate = \"100Gbps\"\n\
         rate = \"100Gbps\"\n{delays}"
    );
    Case { topology, hosts: 5, xoff_kb, size_kb, start_ns, rto: false, payload, classes, seed }
}

/// What crosses in a CIOQ switch may end a pause of its ingress just when a packet is due at that
/// port. Departures come before crossings: the frame goes second.
#[test]
fn a_pause_ends_after_what_is_due_at_that_instant() {
    let delays = "host_delay = \"333ns\"\ndelay = \"5us\"";
    let case = dumbbell(delays, (38, 86, 5567, 992), 1000, "ack = \"data\"");
    compare(&case.toml(), &[("scheme", "rcm"), INPUT_QUEUE])
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Data waits at one port, ACKs at the next, both at a third, where they take turns.
#[test]
fn classes_that_take_turns_do_so_after_ports_that_have_one_of_them() {
    let delays = "host_delay = \"1us\"\ndelay = \"700ns\"";
    let case = dumbbell(delays, (8, 41, 887, 2), 64, "ack = 2");
    compare(&case.toml(), &[("scheme", "none"), ("pfc.xoff", "1MB"), ("pfc.xon", "900KB")])
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Three racks of six hosts on short cables; pauses are far away.
const RACKS: &str = r#"
    [run]
    stop = "200us"
    [topology]
    kind = "leaf-spine"
    leaves = 3
    spines = 2
    hosts_per_leaf = 6
    host_rate = "100Gbps"
    host_delay = "10ns"
    rate = "100Gbps"
    delay = "1us"
    [pfc]
    threshold = "static"
    xoff = "1MB"
    xon = "900KB"
    [host]
    retransmit_timeout = "2us"
"#;

/// Hosts wait for neighbours, and send to them while others are worked for whole windows.
#[test]
fn neighbours_on_short_cables_are_not_surprised() {
    let text = format!(
        r#"{RACKS}
        [[traffic]]
        kind = "collective"
        operation = "all-reduce"
        hosts = ["h0", "h1", "h7", "h8", "h2"]
        size = "40KB"
        repeat = 3
        compute_time = "3us"
        [[traffic]]
        kind = "collective"
        tag = "together"
        operation = "all-to-all"
        hosts = ["h4", "h5", "h9", "h10"]
        size = "20KB"
        repeat = 3
        barrier = true
        [[traffic]]
        kind = "permutation"
        hosts = ["h4", "h5", "h9", "h10"]
        after = "together"
        size = "5KB"
        [[traffic]]
        kind = "request-response"
        workload = "WebServer"
        load = 0.1
        inter_share = 0
        service_time = "2us"
        [[traffic]]
        kind = "incast"
        senders = 12
        receiver = "h3"
        size = "30KB"
        repeat = 2
        period = "100us"
        "#
    );
    for scheme in ["none", "hpcc", "dcqcn", "timely", "dctcp", "swift", "hpcc-pint", "themis"] {
        compare(&text, &[("scheme", scheme)]).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// What is sent again to a neighbour arrives when the message is over at both ends, and is
/// answered. Nothing but those packets ties the two then.
#[test]
fn late_duplicates_between_neighbours_are_no_surprise() {
    let flow = |src: u32, dst: u32, kilobytes: u32, start: &str| {
        format!(
            "{{src = \"h{src}\", dst = \"h{dst}\", size = \"{kilobytes}KB\", start = \"{start}\"}}"
        )
    };
    // The port of h0 is busy for 20 us. Meanwhile h1 sends it one packet, and again every 2 us.
    let busy = (6..16).map(|src| flow(src, 0, 25, "0ns"));
    let flows: Vec<String> = busy.chain([flow(1, 0, 1, "8us")]).collect();
    let flows = flows.join(", ");
    let text = format!("{RACKS}\n[[traffic]]\nkind = \"flows\"\nflows = [{flows}]\n");
    compare(&text, &[("scheme", "none")]).unwrap_or_else(|error| panic!("{error}"));
    let sent_again = run_on(&text, &[], 1).flows.retransmitted_bytes;
    assert!(sent_again.last().is_some_and(|&bytes| bytes >= 3_000), "{sent_again:?}");
}
