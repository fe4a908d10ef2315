//! What a result warns of, and what it does not.

use crate::common::{run, run_with};
use rocelab::RunOptions;
use units::Time;

/// A star of 100 Gb/s in which `senders` hosts send to one more.
fn incast(senders: u32, host_delay: &str, size: &str) -> String {
    let hosts = senders + 1;
    format!(
        r#"
        [topology]
        kind = "star"
        hosts = {hosts}
        host_rate = "100Gbps"
        host_delay = "{host_delay}"
        [[traffic]]
        kind = "incast"
        senders = {senders}
        receiver = "h{senders}"
        size = "{size}"
"#
    )
}

/// Protects from comparing marks that never come: where no queue can reach Kmin, the summary says
/// so.
#[test]
fn marking_that_cannot_happen_is_told() {
    let scheme = "[scheme]\nname = \"dcqcn\"\npreset = \"dcqcn-hpcc\"\n";
    let incast = incast(4, "1us", "50KB") + scheme;
    let warnings = |set: &[(&str, &str)]| run_with(&incast, set).summary.warnings;
    assert_eq!(warnings(&[]), Vec::<String>::new());
    let queue = warnings(&[("switch.architecture", "cioq")]);
    assert!(queue[0].contains("100Gbps") && queue[0].contains("switch.output_queue"), "{queue:?}");
    let room = ("switch.output_queue", "2MB");
    assert_eq!(warnings(&[("switch.architecture", "cioq"), room]), Vec::<String>::new());
    let buffer = warnings(&[("switch.buffer", "400KB"), ("pfc.enabled", "false")]);
    assert!(buffer[0].contains("switch.buffer"), "{buffer:?}");
    // A switch's own buffer counts there, whatever others have.
    let large = ("topology.links.2.rate", "100Gbps");
    let own = MIXED.replace(
        "name = \"s\", kind = \"switch\"",
        "name = \"s\", kind = \"switch\", buffer = \"32MB\"",
    );
    assert!(own != MIXED);
    let small = ("switch.buffer", "400KB");
    let unpaused = ("pfc.enabled", "false");
    assert_eq!(
        run_with(&own, &[large, small, unpaused])
            .summary
            .warnings
            .iter()
            .filter(|one| one.contains("nothing is marked"))
            .count(),
        0
    );
    assert_eq!(
        run_with(MIXED, &[large, small, unpaused])
            .summary
            .warnings
            .iter()
            .filter(|one| one.contains("nothing is marked"))
            .count(),
        1
    );
}

/// Protects comparisons from a scheme that no mark reaches: also if `[ecn]` is on and only the
/// class of its messages is not marked, and if it is the second scheme of a run.
#[test]
fn a_scheme_whose_class_is_not_marked_is_told() {
    let scheme = "[scheme]\nname = \"dcqcn\"\n[classes]\nlossless = [3, 4]\n";
    let incast = incast(4, "1us", "50KB") + scheme;
    let told = |set: &[(&str, &str)]| {
        let warnings = run_with(&incast, set).summary.warnings;
        warnings.into_iter().filter(|one| one.contains("reacts to ECN")).collect::<Vec<_>>()
    };
    let off = ("classes.settings", "[{priority = 3, ecn = {enabled = false}}]");
    let other = ("classes.settings", "[{priority = 4, ecn = {enabled = false}}]");
    let own = r#"[{priority = 3, ecn = {kmin = "9KB", kmax = "99KB"}}]"#;
    assert!(told(&[off])[0].contains("their priority is 3"), "{:?}", told(&[off]));
    assert_eq!(told(&[]), Vec::<String>::new());
    assert_eq!(told(&[other]), Vec::<String>::new());
    assert_eq!(told(&[("classes.settings", own), ("ecn.enabled", "false")]), Vec::<String>::new());
    let also = ("scheme.also", r#"[{name = "hpcc", hosts = ["h0"], priority = 4}]"#);
    assert_eq!(told(&[also, other]), Vec::<String>::new());
    assert_eq!(told(&[also, off]).len(), 1);
    let second = ("scheme", r#"{name = "hpcc", also = [{name = "dcqcn", hosts = ["h0"]}]}"#);
    let nowhere = told(&[second, ("ecn.enabled", "false")]);
    assert!(nowhere[0].starts_with("scheme.also.0.name = \"dcqcn\""), "{nowhere:?}");
    // Also where the registry has the two in the other order.
    let four = r#"{name = "hpcc", also = [{name = "dcqcn", hosts = ["h0"], priority = 4}]}"#;
    assert!(told(&[("scheme", four), other])[0].contains("their priority is 4"));
    assert_eq!(told(&[("scheme", four), off]), Vec::<String>::new());
}

/// Protects who counts senders: flows of the other scheme have another lowest rate, whichever of
/// the two the file names first.
#[test]
fn flows_of_one_scheme_are_counted_for_its_lowest_rate() {
    let hosts = r#"hosts = ["h0", "h1", "h2"]"#;
    let rest = "[run]\nstop = \"1ms\"\n[scheme]\nname = \"dcqcn\"\n";
    let incast = incast(4, "1us", "100KB") + rest;
    let dcqcn = r#"name = "dcqcn", params = {min_rate = "60Gbps"}"#;
    let first = format!("{{{dcqcn}, also = [{{name = \"hpcc\", hosts = [\"h3\"]}}]}}");
    let second = format!("{{name = \"hpcc\", also = [{{{dcqcn}, {hosts}}}]}}");
    for scheme in [first, second] {
        let warnings = run_with(&incast, &[("scheme", &scheme)]).summary.warnings;
        let counts = |one: &String| one.starts_with("3 flows sent to h");
        assert!(warnings.iter().any(counts), "{scheme}: {warnings:?}");
    }
}

/// Protects from a law of `[ecn]` that is off, whatever single classes have.
#[test]
fn a_law_that_is_off_is_told_key_by_key() {
    let rest = "[run]\nstop = \"1ms\"\n[scheme]\nname = \"none\"\n";
    let text = incast(2, "1us", "100KB") + rest;
    let own = r#"[{priority = 3, ecn = {kmin = "9KB", kmax = "99KB"}}]"#;
    for classes in ["[]", own] {
        for (key, value) in [("ecn.reference_rate", "100Gbps"), ("ecn.kmin", "10KB")] {
            let told = run_with(&text, &[(key, value), ("classes.settings", classes)]).summary;
            let begins = format!("{key} has no effect: ecn.enabled is false");
            let is_told = |one: &String| one.starts_with(&begins);
            assert!(told.warnings.iter().any(is_told), "{:?}", told.warnings);
        }
    }
}

/// Protects from a search in the wrong table: a warning on the second scheme names its own.
#[test]
fn parameters_of_the_second_scheme_are_told_with_their_key() {
    let two = r#"{name = "hpcc", also = [{name = "dcqcn", hosts = ["h0"]}]}"#;
    let rest = "[run]\nstop = \"1ms\"\n[scheme]\nname = \"dcqcn\"\n";
    let fast = [("scheme", two), ("scheme.also.0.params.min_rate", "100Gbps")];
    let told = run_with(&(incast(2, "1us", "100KB") + rest), &fast).summary.warnings;
    let names = |one: &String| one.starts_with("scheme.also.0.params.min_rate is 100Gbps");
    assert!(told.iter().any(names), "{told:?}");
    // Parameters that follow the rate of hosts, where hosts have several.
    let two = r#"{name = "hpcc", also = [{name = "dcqcn", preset = "dcqcn-hpcc", hosts = ["a"]}]}"#;
    let told = run_with(MIXED, &[("scheme", two)]).summary.warnings;
    let of_rates: Vec<_> = told.iter().filter(|one| one.starts_with("hosts have ports")).collect();
    assert_eq!(of_rates.len(), 2, "{told:?}");
    assert!(of_rates[0].ends_with("; scheme.params can have others"), "{told:?}");
    assert!(of_rates[1].ends_with("; scheme.also.0.params can have others"), "{told:?}");
}

/// Protects sweeps of one threshold: a warning says that it is for ports of the preset's rate.
#[test]
fn a_threshold_that_grows_with_the_rate_is_told() {
    let warnings = |set: &[(&str, &str)]| run_with(MIXED, set).summary.warnings;
    let (kmin, kmax) = (("ecn.kmin", "50KB"), ("ecn.kmax", "300KB"));
    let one = warnings(&[("topology.links.2.rate", "100Gbps"), kmin]);
    assert!(one.len() == 1 && one[0].contains("ecn.kmin is for ports of 25Gbps"), "{one:?}");
    assert_eq!(warnings(&[("topology.links.2.rate", "100Gbps"), kmin, kmax]), Vec::<String>::new());
}

/// Two senders, the second of which has a slower port.
const MIXED: &str = r#"
    [topology]
    kind = "custom"
    nodes = [
        { name = "a", kind = "host" },
        { name = "b", kind = "host" },
        { name = "c", kind = "host" },
        { name = "s", kind = "switch" },
    ]
    links = [
        { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
        { a = "b", b = "s", rate = "100Gbps", delay = "1us" },
        { a = "c", b = "s", rate = "10Gbps", delay = "1us" },
    ]
    [[traffic]]
    kind = "flows"
    flows = [{ src = "a", dst = "b", size = "100KB" }]
    [scheme]
    name = "dcqcn"
    preset = "dcqcn-hpcc"
"#;

/// Protects from parameters of the slowest host at all others without a word.
#[test]
fn parameters_of_the_slowest_host_are_told() {
    let warnings = |set: &[(&str, &str)]| run_with(MIXED, set).summary.warnings;
    let told = warnings(&[]);
    assert!(told.len() == 1 && told[0].contains("10Gbps to 100Gbps"), "{told:?}");
    assert!(told[0].contains("rate_ai = "), "{told:?}");
    assert_eq!(warnings(&[("topology.links.2.rate", "100Gbps")]), Vec::<String>::new());
    assert_eq!(warnings(&[("scheme", "none")]), Vec::<String>::new());
}

/// Long flows that a run's end cuts off are missing in its statistics.
#[test]
fn flows_that_the_stop_cuts_off_are_told() {
    let flows = |stop: &str| {
        run(&format!(
            r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                {{ src = "h0", dst = "h2", size = "10KB" }},
                {{ src = "h1", dst = "h2", size = "10MB" }},
            ]
            [scheme]
            name = "hpcc"
            [run]
            stop = "{stop}"
            "#
        ))
        .summary
    };
    let cut = flows("100us");
    assert_eq!(cut.flows_done, 1);
    assert!(cut.warnings.len() == 1 && cut.warnings[0].contains("1 of 2 flows"), "{cut:?}");
    assert_eq!(flows("2ms").warnings, Vec::<String>::new());
    let none = flows("1us").warnings;
    assert!(none.len() == 1 && none[0].contains("2 of 2 flows"), "{none:?}");
}

/// Protects slow lossless networks: what waits in a full switch is not sent again. If the
/// user asks for it, a warning says so.
#[test]
fn a_timeout_below_the_delay_of_full_switches_is_told() {
    let incast = r#"
        [topology]
        kind = "star"
        hosts = 9
        host_rate = "100Mbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 8
        receiver = "h0"
        size = "100KB"
        [scheme]
        name = "none"
        [run]
        time_limit = "200ms"
    "#;
    let usual = run(incast);
    assert_eq!((usual.summary.flows_done, usual.summary.warnings), (8, vec![]));
    assert_eq!(usual.flows.retransmitted_bytes.iter().sum::<u64>(), 0);
    assert!(usual.flows.fct_ps.iter().all(|&fct| fct < Time::from_ms(75).ps()));
    let short = run_with(incast, &[("host.retransmit_timeout", "1ms")]).summary.warnings;
    assert!(
        short.iter().any(|told| told.contains("than host.retransmit_timeout, which is 1ms")),
        "{short:?}"
    );
    // The timeouts of selective repeat have other names.
    let selective = [
        ("host.recovery", "selective-repeat"),
        ("host.in_flight", "unlimited"),
        ("host.rto_low", "1ms"),
        ("host.rto_high", "2ms"),
    ];
    let short = run_with(incast, &selective).summary.warnings;
    let named = "host.rto_low, which is 1ms, or host.rto_high, which is 2ms";
    assert!(short.iter().any(|told| told.contains(named)), "{short:?}");
}

/// Protects memory from probes of runs that do not end: they stop at the same instant on any number
/// of threads, nothing else changes, and the summary says so.
#[test]
fn probes_stop_before_they_fill_the_memory() {
    // Racks are groups here.
    let text = r#"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 2
        host_rate = "100Gbps"
        host_delay = "100ns"
        rate = "100Gbps"
        delay = "1us"
        [scheme]
        name = "dcqcn"
        [[traffic]]
        kind = "permutation"
        size = "300KB"
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "10ns"
        nodes = ["*"]
        [[probe]]
        name = "rate"
        kind = "rate"
        interval = "7ns"
        nodes = ["*"]
    "#;
    let run = |most: &str, options: RunOptions| {
        let set = [("run.max_samples".to_owned(), most.to_owned())];
        let scenario = scenario::parse(text, None, &set).unwrap();
        rocelab::run(&scenario, &options).unwrap()
    };
    let with = |threads| RunOptions { threads: Some(threads), ..RunOptions::default() };
    let whole = run("1000000", with(1));
    assert_eq!(whole.summary.warnings, Vec::<String>::new());
    let one = run("20000", with(1));
    assert_eq!(one.summary.digest, whole.summary.digest);
    for (series, all) in one.series.iter().zip(&whole.series) {
        let (last, count) = (series.time_ps.last().copied().unwrap(), series.time_ps.len());
        assert!((9_990_000..10_000_000).contains(&last), "{}: {last}", series.name);
        assert_eq!(
            (&series.time_ps[..], &series.value[..]),
            (&all.time_ps[..count], &all.value[..count]),
            "{}",
            series.name
        );
    }
    let [warning] = &one.summary.warnings[..] else { panic!("{:?}", one.summary.warnings) };
    assert!(warning.starts_with("probes and traces recorded nothing from 10us on"), "{warning}");
    assert!(warning.ends_with("raise run.max_samples"), "{warning}");
    assert_eq!(one.summary.recording_stopped_ps, Some(10_000_000));
    assert_eq!(whole.summary.recording_stopped_ps, None);
    for options in [with(2), RunOptions { reference_mode: true, ..with(1) }] {
        let other = run("20000", options);
        assert_eq!(other.summary.warnings, one.summary.warnings);
        assert_eq!(other.series, one.series);
    }
}

/// Protects users whose switches are too small: a loss says what to enlarge.
#[test]
fn what_was_too_small_for_pfc_is_told() {
    let pfc = "[pfc]\nthreshold = \"static\"\nxoff = \"100KB\"\nxon = \"98KB\"\n";
    let incast = incast(8, "1us", "1MB") + pfc + "[scheme]\nname = \"none\"\n";
    let warnings = |set: &[(&str, &str)]| run_with(&incast, set).summary.warnings;
    assert_eq!(warnings(&[]), Vec::<String>::new());
    for (key, value, mend) in [
        ("switch.buffer", "900KB", "switch.buffer holds less than Xoff and headroom"),
        ("pfc.headroom", "20KB", "pfc.headroom holds less than arrives after a pause"),
        ("pfc.headroom", "0B", "pfc.headroom holds less than arrives after a pause"),
    ] {
        let result = run_with(&incast, &[(key, value)]);
        assert!(result.summary.warnings[0].contains(mend), "{:?}", result.summary.warnings);
        assert!(result.summary.pause_frames > 0, "{key} = {value} pauses nobody");
    }
    let expiring = run_with(&incast, &[("pfc.pause_time", "1us"), ("pfc.refresh", "arrivals")]);
    let mend = " us: PFC did not protect them; pauses end after pfc.pause_time however much is";
    assert!(expiring.summary.warnings[0].contains(mend), "{:?}", expiring.summary.warnings);
}

/// Protects from looking for the cause in buffers: ACKs that wait for all data fill them, too.
#[test]
fn acks_behind_data_that_goes_first_are_told() {
    let incast = incast(4, "1us", "50KB") + "[scheme]\nname = \"none\"\n";
    let warnings = |set: &[(&str, &str)]| run_with(&incast, set).summary.warnings;
    for (strict, ack) in [("[3]", "6"), ("[3, 6]", "2"), ("[2, 3]", "2")] {
        let told = warnings(&[("classes.strict", strict), ("classes.ack", ack)]);
        let data = "classes.strict has data of priority 3 go before ACKs, whose priority is ";
        assert!(told[0].starts_with(&format!("{data}{ack}: ")), "{told:?}");
    }
    for (strict, ack) in [("[6, 7]", "6"), ("[]", "6"), ("[3, 6]", "6"), ("[3]", "data")] {
        let none = warnings(&[("classes.strict", strict), ("classes.ack", ack)]);
        assert_eq!(none, Vec::<String>::new(), "{strict}, {ack}");
    }
}

/// Protects from reading an empty result as a quiet network.
#[test]
fn that_nothing_began_is_told() {
    let late = r#"
        [run]
        stop = "5us"
        [topology]
        kind = "star"
        hosts = 3
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 2
        receiver = "h2"
        size = "1MB"
        start = "1ms"
        [scheme]
        name = "none"
    "#;
    let warnings = run(late).summary.warnings;
    assert_eq!(
        warnings,
        ["2 of 2 flows are unfinished at 5us, and in no statistic of completion times: 2 not \
             yet started (the first starts at 1ms). To finish them, raise run.stop"]
    );
    let begun = run_with(late, &[("traffic.0.start", "1us")]).summary.warnings;
    assert!(begun[0].contains(": 2 still sending. "), "{begun:?}");
}

/// Protects from an empty trace without a word.
#[test]
fn a_trace_that_begins_after_the_end_is_told() {
    let traced = format!("{MIXED}\n[trace]\npfc = true\nstart = \"1ms\"\n");
    let same_rate = ("topology.links.2.rate", "100Gbps");
    let told = run_with(&traced, &[same_rate]).summary.warnings;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("the trace is empty: it begins at 1ms"), "{told:?}");
    // Nothing happens at the end itself.
    let at_the_end = [same_rate, ("run.stop", "20us"), ("trace.start", "20us")];
    let told = run_with(&traced, &at_the_end).summary.warnings;
    assert!(told.iter().any(|one| one.starts_with("the trace is empty")), "{told:?}");
    let early = [same_rate, ("trace.start", "1us")];
    assert_eq!(run_with(&traced, &early).summary.warnings, Vec::<String>::new());
}

/// Protects from taking a delay-based law for slow where its target is below the empty path's round
/// trip.
#[test]
fn paths_longer_than_the_target_of_swift_are_told() {
    let rest =
        "[run]\nstop = \"1ms\"\n[scheme]\nname = \"swift\"\nparams = { base_target = \"25us\" }\n";
    let far = incast(2, "20us", "100KB") + rest;
    let told = run(&far).summary.warnings;
    let is_told =
        |one: &String| one.starts_with("2 QPs have paths") && one.contains("raise base_target");
    assert!(told.iter().any(is_told), "{told:?}");
    let near = run_with(&far, &[("topology.host_delay", "1us")]).summary.warnings;
    assert_eq!(near, Vec::<String>::new());
}
