//! The complete, effective scenario: it says everything, and reads back as itself.

use proptest::prelude::*;
use scenario::{ProbeTargets, Scenario, Stop, Threshold, json_schema, load_with, parse};
use std::path::PathBuf;
use units::{Bytes, Rate, Time};

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn with(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load_with(example(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn reads_back(scenario: &Scenario) {
    let text = scenario.to_toml();
    let again = parse(&text, None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&again, scenario);
    assert_eq!(again.to_toml(), text);
}

#[test]
fn examples_are_valid_with_every_scheme_and_preset() {
    for name in ["incast.toml", "fat-tree.toml"] {
        for scheme in schemes::registry::all() {
            for preset in (scheme.presets)() {
                let table = format!("{{ name = {:?}, preset = {:?} }}", scheme.name, preset.name);
                let mut set = vec![("scheme", table.as_str())];
                if scheme.input_queues {
                    // Room for the Xoff that the examples give.
                    set.push(("switch.input_queue", "1MB"));
                }
                let scenario = with(name, &set);
                assert_eq!(scenario.scheme.preset, preset.name);
                assert_eq!(scenario.ecn.is_some(), preset.ecn.is_some());
                let symmetric = scenario.routing == scenario::Paths::Symmetric;
                assert_eq!(symmetric, scheme.symmetric_paths);
                assert_eq!(scenario.scheme.values.len(), (scheme.params)().len());
                reads_back(&scenario);
            }
        }
    }
}

#[test]
fn a_scheme_given_by_its_name_takes_further_keys() {
    let set = |more| with("incast.toml", &[("scheme", "dcqcn"), more]);
    assert_eq!(set(("scheme.name", "hpcc")).scheme.info.name, "hpcc");
    assert_eq!(set(("scheme.preset", "dcqcn-mlx")).scheme.preset, "dcqcn-mlx");
    let second = r#"[{ name = "hpcc", hosts = ["h0"] }]"#;
    assert!(set(("scheme.also", second)).also.is_some());
}

#[test]
fn a_word_that_reads_as_a_number_needs_no_quotes() {
    let quoted = with("incast.toml", &[("pfc.response", "\"802.3\"")]);
    let plain = with("incast.toml", &[("pfc.response", "802.3")]);
    assert_eq!(plain, quoted);
    assert_ne!(plain, with("incast.toml", &[]));
}

#[test]
fn the_incast_example_is_what_it_says() {
    let scenario = with("incast.toml", &[]);
    assert_eq!(scenario.name, "incast");
    assert_eq!(scenario.run.stop, Stop::FlowsDone);
    assert_eq!(scenario.messages.len(), 10);
    assert_eq!(scenario.tags, ["incast", "victim"]);
    let static_threshold =
        Threshold::Static { xoff: Bytes::new(320_000), xon: Bytes::new(318_000) };
    assert_eq!(scenario.pfc.threshold, static_threshold);
    assert!(scenario.pfc.enabled && scenario.ecn.is_none());
    let names: Vec<&str> = scenario.probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "victim", "upstream"]);
    let ProbeTargets::Ports(ports) = &scenario.probes[0].probe.targets else { panic!("ports") };
    let [(node, port)] = ports[..] else { panic!("one port") };
    assert_eq!(scenario.network.name(node), "s1");
    let peer = scenario.network.ports()[node.index()][port.index()].peer;
    assert_eq!(scenario.network.name(peer), "h2");
}

/// Protects that the complete scenario says what is recorded, and that a result names its series.
#[test]
fn a_preset_is_written_out() {
    let preset = [("probe", r#"[{ preset = "view", interval = "20us", end = "1ms" }]"#)];
    let scenario = with("incast.toml", &preset);
    reads_back(&scenario);
    let names: Vec<&str> = scenario.probes.iter().map(|probe| probe.name.as_str()).collect();
    let expected =
        ["view-queue", "view-utilisation", "view-paused-share", "view-rate", "view-window"];
    assert_eq!(names, expected);
    for named in &scenario.probes {
        let (ports, flows) = (2 * scenario.network.links.len(), scenario.messages.len());
        let all = if named.probe.kind.is_of_ports() { ports } else { flows };
        assert_eq!(named.probe.targets.count(), all, "{}", named.name);
        assert_eq!((named.probe.interval, named.probe.end), (Time::from_us(20), Time::from_ms(1)));
    }
    assert!(!scenario.to_toml().contains("preset = \"view\""));
    // Without messages there are no flows to look at.
    let idle = with("incast.toml", &[preset[0], ("traffic", "[]"), ("run.stop", "\"1ms\"")]);
    assert_eq!(idle.probes.len(), 3);
}

#[test]
fn the_fat_tree_example_is_what_it_says() {
    let scenario = with("fat-tree.toml", &[]);
    assert_eq!(scenario.network.hosts().count(), 128);
    assert_eq!(scenario.scheme.info.name, "hpcc");
    // 128 hosts at 50 Gb/s for 2 ms with a mean of 1.711 MB: 935 messages, give or take.
    assert!((800..1080).contains(&scenario.messages.len()), "{}", scenario.messages.len());
    assert!(scenario.messages.iter().all(|m| m.start < Time::from_ms(2)));
}

#[test]
fn every_key_has_its_value() {
    let text = with("fat-tree.toml", &[("scheme", "dcqcn")]).to_toml();
    for key in [
        "schema = 2",
        "seed = 1",
        "stop = \"flows-done\"",
        "time_limit = \"1s\"",
        "k = 8",
        "tag = ",
        "priority = 3",
        "preset = ",
        "[scheme.params]",
        "payload = \"1KB\"",
        "ack_every = 1",
        "nack = true",
        "buffer = ",
        "threshold = \"dynamic\"",
        "alpha = 0.125",
        "reserve = ",
        "resume_offset = ",
        "headroom = \"auto\"",
        "enabled = true",
        "kmin = ",
        "kmax = ",
        "pmax = ",
        "reference_rate = ",
        "mark_at = \"dequeue\"",
        "data = 3",
        "lossless = [3]",
        "weights = [1,",
        "quantum = ",
        "paths = \"shortest\"",
        "hash = ",
        "retransmit_timeout = ",
    ] {
        assert!(text.replace("[\n    ", "[").contains(key), "{key} is not in\n{text}");
    }
}

#[test]
fn the_retransmission_timeout_waits_for_long_links() {
    let timeout = |set: &[(&str, &str)]| with("incast.toml", set).host.retransmit_timeout;
    let lossy = ("wire.error_rate", "1e-9");
    assert_eq!(timeout(&[lossy]), Time::from_ms(1));
    // A round trip over 500 us takes more than 1 ms.
    let mut far = vec![lossy, ("topology.delay", "500us"), ("switch.buffer", "500MB")];
    assert_eq!(timeout(&far), Time::from_ms(4));
    far.push(("host.retransmit_timeout", "2ms"));
    assert_eq!(timeout(&far), Time::from_ms(2));
    // Eight buffers of 32 MB at 100 Gb/s.
    assert_eq!(timeout(&[]), Time::from_us(20_480));
    for may_lose in [("pfc.enabled", "false"), ("classes.lossless", "[]")] {
        assert_eq!(timeout(&[may_lose]), Time::from_ms(1), "{may_lose:?}");
    }
}

#[test]
fn a_link_that_only_becomes_slow_loses_nothing() {
    let hosts = |quality: &str, set: &[(&str, &str)]| {
        let failure = format!("[{{ link = \"h0:s0\", at = \"1us\", {quality} }}]");
        let mut all = vec![("failure", failure.as_str())];
        all.extend_from_slice(set);
        with("incast.toml", &all).host
    };
    // Eight buffers of 32 MB at the rate that is left.
    let slow = Time::from_us(204_800);
    for quality in ["rate = \"10Gbps\"", "rate = \"10Gbps\", error_rate = 0.0"] {
        assert_eq!(hosts(quality, &[]).retransmit_timeout, slow);
        let selective = hosts(quality, &[("host.recovery", "\"selective-repeat\"")]);
        assert_eq!(selective.recovery.rto_low, slow);
    }
    for loses in ["until = \"9us\", error_rate = 1.0", "rate = \"10Gbps\", error_rate = 0.1"] {
        assert_eq!(hosts(loses, &[]).retransmit_timeout, Time::from_ms(1), "{loses}");
    }
}

/// Two schemes whose presets have different laws, the second of them for data of priority 4.
fn two_laws(rest: &str) -> Result<Scenario, scenario::ScenarioError> {
    let text = format!(
        r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [scheme]
            name = "dcqcn"
            also = [{{ name = "dctcp", traffic = ["new"], priority = 4 }}]
            [[traffic]]
            kind = "flows"
            tag = "old"
            flows = [{{ src = "h0", dst = "h2", size = "9KB" }}]
            [[traffic]]
            kind = "flows"
            tag = "new"
            flows = [{{ src = "h1", dst = "h2", size = "9KB" }}]
            {rest}
            "#
    );
    parse(&text, None, &[])
}

#[test]
fn laws_for_all_ports_or_all_classes_decide_between_those_of_two_schemes() {
    let law = "kmin = \"10KB\", kmax = \"40KB\", pmax = 0.5";
    let at = |rate: &str| format!("[ecn]\nby_rate = [{{ rate = \"{rate}\", {law} }}]");
    let class =
        |priority: u8| format!("[[classes.settings]]\npriority = {priority}\necn = {{ {law} }}\n");
    let both = class(3) + &class(4);
    for rest in [at("100Gbps"), both] {
        let made = two_laws(&rest).unwrap_or_else(|error| panic!("{rest}: {error}"));
        reads_back(&made);
    }
    for rest in [at("40Gbps"), class(3), class(4), String::new()] {
        let error = two_laws(&rest).unwrap_err().to_string();
        assert!(error.contains("come with different thresholds"), "{rest}: {error}");
    }
}

#[test]
fn overrides_take_toml_and_bare_words() {
    let scenario = with(
        "incast.toml",
        &[
            ("run.seed", "7"),
            ("run.stop", "2ms"),
            ("topology.rate", "\"200Gbps\""),
            ("traffic.0.senders", "3"),
            ("traffic.0.receiver", "h3"),
            ("traffic.2", "{ kind = \"permutation\", size = \"1KB\" }"),
            ("probe.0.interval", "5us"),
            (
                "probe.3",
                "{ name = \"r\", kind = \"rate\", interval = \"1us\", flows = [\"victim\"] }",
            ),
            ("classes.lossless", "[3, 4]"),
            ("pfc.headroom", "50KB"),
        ],
    );
    assert_eq!(scenario.run.seed, 7);
    assert_eq!(scenario.run.stop, Stop::At(Time::from_ms(2)));
    assert_eq!(scenario.run.time_limit, Time::from_ms(2));
    assert_eq!(scenario.messages.len(), 3 + 1 + 12);
    assert_eq!(scenario.probes[0].probe.interval, Time::from_us(5));
    assert_eq!(scenario.classes.lossless, [3, 4]);
    let ProbeTargets::Flows(flows) = &scenario.probes[3].probe.targets else { panic!("flows") };
    let victim = scenario.messages[flows[0].index()];
    assert_eq!(scenario.tags[usize::from(victim.tag)], "victim");
    reads_back(&scenario);
    let scenario = with("incast.toml", &[("probe", "[]"), ("traffic.1.tag", "v")]);
    assert!(scenario.probes.is_empty());
    assert_eq!(scenario.tags, ["incast", "v"]);
    let dcqcn = [("scheme.name", "dcqcn"), ("scheme.params.rate_ai", "7Mbps")];
    let values = with("incast.toml", &dcqcn).scheme.values;
    let seven = schemes::params::Value::Rate(Rate::from_mbps(7));
    assert!(values.contains(&("rate_ai", seven)), "{values:?}");
}

#[test]
fn ecn_thresholds_scale_only_where_their_rate_is_known() {
    let ecn = |overrides: &[(&str, &str)]| {
        let mut all = vec![("scheme", "dcqcn")];
        all.extend(overrides);
        let scenario = with("incast.toml", &all);
        reads_back(&scenario);
        scenario.ecn
    };
    let law = schemes::registry::find("dcqcn").unwrap().preset("dcqcn-paper").unwrap().ecn.unwrap();
    let default = ecn(&[]).unwrap();
    assert_eq!((default.kmin, default.at), (law.kmin, Some(law.at)));
    let given = ecn(&[("ecn.kmin", "100KB"), ("ecn.kmax", "400KB")]).unwrap();
    assert_eq!((given.kmin, given.pmax, given.at), (Bytes::new(100_000), law.pmax, None));
    let at = ecn(&[("ecn.kmin", "100KB"), ("ecn.kmax", "400KB"), ("ecn.reference_rate", "25Gbps")])
        .unwrap();
    assert_eq!(at.at, Some(Rate::from_gbps(25)));
    let pmax = ecn(&[("ecn.pmax", "1")]).unwrap();
    assert_eq!((pmax.pmax, pmax.at), (1.0, Some(law.at)));
    assert_eq!(ecn(&[("ecn.enabled", "false")]), None);
}

#[test]
fn workload_files_become_part_of_the_scenario() {
    let dir = std::env::temp_dir().join(format!("rocelab-workload-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let sizes = "0,0\n1000,0.5\n2000,1\n";
    std::fs::write(dir.join("sizes.csv"), format!("# mine\nbytes,cdf\n{sizes}")).unwrap();
    let path = dir.join("run.toml");
    std::fs::write(
        &path,
        "[topology]\nkind = \"star\"\nhosts = 4\nhost_rate = \"1Gbps\"\nhost_delay = \"1us\"\n\
         [[traffic]]\nkind = \"poisson\"\nworkload_file = \"sizes.csv\"\nload = 0.5\nmessages = \
         9\n",
    )
    .unwrap();
    let scenario = scenario::load(&path).unwrap();
    assert_eq!(scenario.messages.len(), 9);
    reads_back(&scenario);
    // Some editors put a mark in front of a text.
    std::fs::write(dir.join("sizes.csv"), format!("\u{feff}{sizes}")).unwrap();
    assert_eq!(scenario::load(&path).unwrap(), scenario);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn the_schema_knows_every_section() {
    let schema = json_schema();
    let properties = schema["properties"].as_object().unwrap();
    for key in [
        "schema",
        "name",
        "description",
        "run",
        "topology",
        "traffic",
        "scheme",
        "wire",
        "host",
        "switch",
        "pfc",
        "ecn",
        "classes",
        "routing",
        "probe",
    ] {
        assert!(properties.contains_key(key), "{key}");
    }
    let text = schema.to_string();
    for word in ["leaf-spine", "workload_file", "resume_offset", "hpcc-ns3", "five-tuple"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn an_editor_with_the_schema_finds_wrong_names_units_and_priorities() {
    let schema = json_schema();
    let of = |table: &str, key: &str| schema["$defs"][table]["properties"][key].clone();
    for (table, key) in [("ClassesSpec", "data"), ("FlowSpec", "priority")] {
        assert_eq!(of(table, key)["maximum"], 7, "{table}.{key}");
    }
    assert_eq!(of("ClassesSpec", "lossless")["items"]["maximum"], 7);
    let name = of("SchemeSpec", "name")["pattern"].to_string();
    assert!(name.contains("|timely|") && name.contains(r"|mercury\\+hpcc|"), "{name}");
    let buffer = of("SwitchSpec", "buffer")["pattern"].to_string();
    assert!(buffer.contains("(B|[KMG]i?B)"), "{buffer}");
    let stop = of("RunSpec", "stop")["pattern"].to_string();
    assert!(stop.contains("flows-done|") && stop.contains("(ps|ns|us|ms|s)"), "{stop}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse(&text, None, &[]);
    }

    #[test]
    fn no_override_panics(key in "[a-z0-9_.]{0,20}", value in "\\PC{0,20}") {
        let _ = load_with(example("incast.toml"), &[(key, value)]);
    }

    #[test]
    fn no_damage_to_an_example_panics(at in 0..2000_usize, cut in 0..40_usize, put in "\\PC{0,6}") {
        let text = std::fs::read_to_string(example("incast.toml")).unwrap();
        let chars: Vec<char> = text.chars().collect();
        let at = at.min(chars.len());
        let end = (at + cut).min(chars.len());
        let (kept, rest) = (chars[..at].iter().copied(), chars[end..].iter().copied());
        let damaged: String = kept.chain(put.chars()).chain(rest).collect();
        let _ = parse(&damaged, None, &[]);
        let truncated: String = chars[..at].iter().collect();
        let _ = parse(&truncated, None, &[]);
    }
}

/// Small buffers go with PFC's usual thresholds.
#[test]
fn usual_thresholds_fit_into_small_buffers() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 3
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 2
        size = "10KB"
        [scheme]
        name = "none"
        [switch]
        buffer = "2KB"
        [pfc]
        enabled = false
    "#;
    let scenario = parse(text, None, &[]).expect("a valid scenario");
    let Threshold::Dynamic { resume_offset, reserve, .. } = scenario.pfc.threshold else {
        panic!("the usual threshold is dynamic")
    };
    assert_eq!((resume_offset, reserve), (Bytes::new(2_000), Bytes::new(2_000)));
}
