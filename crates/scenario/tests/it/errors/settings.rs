//! Settings of switches, hosts, schemes and probes that make no sense, alone or together.

use scenario::parse;

use super::{FLOW, STAR, error, owned, says, set, star};

#[test]
fn a_second_scheme_without_messages_names_what_was_given() {
    let both = |entry: &str| format!("{FLOW}[scheme]\nname = \"none\"\nalso = [{entry}]\n");
    says(
        &star(&both("{ name = \"dcqcn\", hosts = [\"h2\"] }")),
        &["scheme.also.0.hosts: no message has this scheme: these hosts send nothing"],
    );
    let few = "[[traffic]]\nkind = \"poisson\"\nload = 0.001\nworkload = \"WebSearch\"\n\
               duration = \"1ns\"\ntag = \"few\"\n";
    says(
        &star(&(both("{ name = \"dcqcn\", traffic = [\"few\"] }") + few)),
        &[
            "scheme.also.0.traffic: no message has this scheme",
            "none has one of these tags",
            "hint: name tags that messages have",
        ],
    );
}

#[test]
fn the_payload_is_limited_by_the_profile() {
    let wire = |payload: &str, profile: &str| {
        let text = format!(
            "{STAR}{FLOW}[scheme]\nname = \"none\"\n[wire]\npayload = \"{payload}\"\n\
             profile = \"{profile}\"\n"
        );
        parse(&text, None, &[]).map_err(|error| error.to_string())
    };
    for (payload, profile) in [("64B", "rocev2"), ("9000B", "rocev2"), ("65000B", "hpcc-ns3")] {
        wire(payload, profile).unwrap();
    }
    wire("1B", "hpcc-ns3").unwrap();
    says(&wire("9001B", "rocev2").unwrap_err(), &["9001B is out of range; allowed: 64B to 9000B"]);
    says(&wire("0B", "hpcc-ns3").unwrap_err(), &["0B is out of range; allowed: 1B to 65000B"]);
    says(&wire("65001B", "hpcc-ns3").unwrap_err(), &["allowed: 1B to 65000B"]);
}

/// Protects PFC of switches with a buffer of their own, which may be smaller than all others'.
#[test]
fn thresholds_fit_the_smallest_buffer() {
    let text = r#"
[topology]
kind = "custom"
nodes = [
    { name = "a", kind = "host" },
    { name = "b", kind = "host" },
    { name = "s", kind = "switch", buffer = "300KB" },
]
links = [
    { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "b", b = "s", rate = "100Gbps", delay = "1us" },
]
[run]
stop = "1us"
[pfc]
xoff = "100KB"
"#;
    assert!(parse(text, None, &[]).is_ok());
    let wrong = |from, to| parse(&text.replace(from, to), None, &[]).unwrap_err().to_string();
    says(
        &wrong("xoff = \"100KB\"", "xoff = \"301KB\""),
        &["pfc.xoff: 301KB is more than the buffer of s of 300KB"],
    );
    says(
        &wrong("xoff = \"100KB\"", "reserve = \"301KB\""),
        &["pfc.reserve: 301KB is more than the buffer of s"],
    );
    says(&wrong("300KB", "30KB"), &["pfc.xoff: 100KB is more than the buffer of s of 30KB"]);
    says(
        &wrong("delay = \"1us\"", "delay = \"20us\""),
        &["topology: 300KB is too small for PFC: it must be above the headroom of s's ports"],
    );
}

#[test]
fn cioq_switches_must_make_sense() {
    let with = |more: &str| star(&format!("{FLOW}{more}"));
    let cioq = |keys: &str| with(&format!("[switch]\narchitecture = \"cioq\"\n{keys}"));
    says(&cioq("speedup = 0.5"), &["switch.speedup: must be 1 to 16, got 0.5"]);
    says(&cioq("lossy_alpha = 1"), &["switch.lossy_alpha: is a share of a shared buffer"]);
    says(&set("switch.lossy_alpha", "0"), &["switch.lossy_alpha: must be from 2^-16 to 64, got 0"]);
    says(&cioq("input_queue = \"0B\""), &["switch.input_queue: 0B is out of range"]);
    says(&cioq("[pfc]\nthreshold = \"dynamic\""), &["pfc.threshold: a dynamic threshold shares"]);
    says(
        &cioq("[pfc]\nxoff = \"101KB\""),
        &["pfc.xoff: 101KB is more than an input queue of 100KB"],
    );
    says(
        &cioq("[wire]\nerror_rate = 0.1"),
        &["wire.error_rate: CIOQ switches (switch.architecture = \"cioq\") have sound links"],
    );
    let damaged = "[topology]\nkind = \"custom\"\n\
                   nodes = [{ name = \"a\", kind = \"host\" }, { name = \"b\", kind = \"host\" }]\n\
                   links = [\n{ a = \"a\", b = \"b\", rate = \"1Gbps\", delay = \"1us\", \
                   error_rate = 0.1 },\n]\n[run]\nstop = \"1us\"\n";
    says(
        &error(&format!("{damaged}[switch]\narchitecture = \"cioq\"\n")),
        &["line 5: topology.links.0.error_rate: a:b damages packets, and CIOQ switches"],
    );
    says(
        &cioq("[quirks]\nns3_ecmp_hash = true"),
        &["switch.architecture: \"cioq\" does not go with quirks.ns3_ecmp_hash: the HPCC \
             simulator"],
    );
    says(
        &with("[switch]\nspeedup = 2.0"),
        &["switch.speedup: goes with switch.architecture = \"cioq\", but it is \"shared-memory\""],
    );
    says(
        &with("[scheme]\nname = \"rcm\"\n[switch]\narchitecture = \"shared-memory\""),
        &["switch.architecture: scheme rcm works on input queues; hint: set switch.architecture \
             = \"cioq\""],
    );
}

#[test]
fn quirks_of_a_scan_need_the_scan() {
    for key in ["missed_wakeup", "stale_scan_index"] {
        let with = |scan| star(&format!("{FLOW}[quirks]\n{scan}{key} = true"));
        for scan in ["", "scan_queue_pairs = false\n"] {
            let line = 12 + scan.lines().count();
            says(
                &with(scan),
                &[
                    &format!("line {line}: quirks.{key}: goes with scan_queue_pairs = true"),
                    &format!("hint: turn quirks.scan_queue_pairs on, or quirks.{key} off"),
                ],
            );
        }
        let text = format!("{STAR}{FLOW}[quirks]\nscan_queue_pairs = true\n{key} = true");
        assert!(parse(&text, None, &[]).is_ok());
    }
}

/// Protects ConWeave's clocks, which are added to the time of the run.
#[test]
fn times_of_conweave_are_bounded() {
    for key in ["reply_extra", "path_busy", "inactive", "resume_extra", "resume_default"] {
        let lines = format!("balance = \"conweave\"\nconweave.{key} = \"18446744s\"");
        let text = format!("{STAR}{FLOW}[routing]\n{lines}");
        says(&error(&text), &[&format!("routing.conweave.{key}: 18446744"), "is too late"]);
    }
}

#[test]
fn one_run_has_one_scheme() {
    says(&set("scheme", "[\"dcqcn\", \"hpcc\"]"), &["scheme: names one scheme; hint"]);
    says(&set("schemes", "[\"dcqcn\"]"), &["schemes: names one scheme"]);
    says(&set("scheme.name", "[\"dcqcn\"]"), &["scheme.name: names one scheme"]);
    says(
        &error(&format!("{STAR}{FLOW}[[scheme]]\nname = \"dcqcn\"\n[[scheme]]\nname = \"hpcc\"")),
        &["line 11: scheme: names one scheme"],
    );
    let short = format!("scheme = \"dcqcn\"\n{STAR}{FLOW}");
    assert_eq!(parse(&short, None, &[]).unwrap().scheme.info.name, "dcqcn");
}

#[test]
fn settings_must_make_sense() {
    says(&set("schema", "3"), &["schema: version 3 is unknown"]);
    says(&set("run.seed", "-1"), &["run.seed: needs a whole number, 0 or more, got -1"]);
    says(
        &set("run.seed", "9223372036854775808"),
        &["run.seed: needs a whole number up to 9223372036854775807, got 9223372036854775808"],
    );
    says(
        &set("topology.hosts", "4294967296"),
        &["topology.hosts: needs a whole number up to 4294967295, got 4294967296"],
    );
    says(&set("run.seed", "1e3"), &["run.seed: needs a whole number, 0 or more, got 1000.0"]);
    says(&set("run.stop", "0ns"), &["run.stop: must be above zero"]);
    says(
        &set("wire.payload", "63B"),
        &["wire.payload: 63B is out of range; allowed: 64B to 9000B"],
    );
    says(&set("host.ack_every", "0"), &["host.ack_every: 0 is out of range; allowed: 1 to 10000"]);
    for name in ["", "..", "a/b"] {
        says(
            &set("name", &format!("\"{name}\"")),
            &[&format!("name: {name:?} cannot be a scenario's name; hint: "), "no `.` first"],
        );
    }
    says(&star("[classes]\nweights = [1, 2]"), &["classes.weights: needs a list of 8, got 2"]);
    let probe = |stop: &str, interval: &str| {
        error(&format!(
            "{STAR}{FLOW}[run]\nstop = \"{stop}\"\n[[probe]]\nname = \"a\"\nkind = \"queue\"\n\
             nodes = [\"s0\"]\ninterval = \"{interval}\"\n"
        ))
    };
    says(&probe("1ms", "1ps"), &["probe.0.interval: 1ps is too short"]);
    says(&probe("10s", "1ns"), &["probe.0.interval: the probe would take", "samples"]);
    says(&set("host.retransmit_timeout", "0s"), &["host.retransmit_timeout: must be above zero"]);
    says(&set("switch.buffer", "0B"), &["switch.buffer: 0B is out of range"]);
    says(
        &set("switch.buffer", "90KB"),
        &["switch.buffer: 90KB is too small for PFC", "s0's ports"],
    );
    let six = [("switch.buffer", "300KB"), ("classes.lossless", "[0, 1, 2, 3, 4, 5]")];
    let six = six.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let refused = scenario::parse(&format!("{STAR}{FLOW}"), None, &six).unwrap_err();
    says(&refused.to_string(), &["switch.buffer: 300KB is too small for PFC"]);
    says(&set("classes.data", "8"), &["classes.data: priorities are 0 to 7, got 8"]);
    says(&set("classes.ack", "300"), &["classes.ack: needs a priority or \"data\""]);
    says(&set("classes.lossless", "[3, 3]"), &["classes.lossless.1: priority 3 is listed twice"]);
    says(&set("classes.strict", "[9]"), &["classes.strict.0: priorities are 0 to 7"]);
    says(&set("classes.weights", "[1, 2]"), &["classes.weights: needs", "got 2 elements"]);
    says(&set("classes.weights", "[1,1,1,0,1,1,1,1]"), &["classes.weights.3: a weight is 1 to"]);
    says(
        &star("[classes]\nquantum = \"1GB\"\nweights = [1, 1, 1, 5, 1, 1, 1, 1]"),
        &["classes.quantum: 1GB times a weight of 5 is more than 4GB in a round", "lower it"],
    );
    says(&set("pfc.alpha", "0"), &["pfc.alpha: must be from 2^-16 to 64, got 0"]);
    says(&set("pfc.alpha", "1e-5"), &["pfc.alpha: must be from 2^-16 to 64"]);
    says(&set("pfc.headroom", "18446744073709551615B"), &["pfc.headroom: ", "is out of range"]);
    says(
        &set("pfc.headroom", "1GB"),
        &["pfc.headroom: 1GB is too large for s0, whose buffer is 32MB: so much is kept free \
             for each of its ports and lossless priorities, 4GB in all; hint: lower it, enlarge \
             switch.buffer"],
    );
    says(
        &set("topology.host_delay", "1234us"),
        &["switch.buffer: 32MB is too small for PFC: it must be above the headroom of s0's \
             ports, which is 123MB or more"],
    );
    says(&set("ecn.enabled", "true"), &["ecn.kmin: is missing; hint: preset none"]);
    says(&set("ecn.pmax", "1.5"), &["ecn.pmax: must be from 0 to 1, got 1.5"]);
    let both = |more: &str| error(&format!("{STAR}{FLOW}{more}"));
    says(
        &both("[pfc]\nxoff = \"10KB\"\nxon = \"11KB\""),
        &["line 13: pfc.xon: 11KB is above xoff, which is 10KB"],
    );
    says(
        &both("[pfc]\nthreshold = \"dynamic\"\nxoff = \"10KB\""),
        &["pfc.xoff: goes with pfc.threshold = \"static\""],
    );
    says(
        &both("[ecn]\nkmin = \"10KB\"\nkmax = \"9KB\""),
        &["ecn.kmin: 10KB is above kmax, which is 9KB"],
    );
    says(
        &both("[scheme]\nname = \"hpcc\"\n[routing]\nhash = \"bogus\""),
        &["routing.hash: unknown value `bogus`"],
    );
    says(&set("routing.trees", "4"), &["routing.trees: needs routing.paths = \"spanning-trees\""]);
    says(
        &both("[routing]\npaths = \"spanning-trees\"\ntrees = 0"),
        &["routing.trees: must be 1 to 1024, got 0"],
    );
    says(
        &both("[routing]\npaths = \"spanning-trees\"\n[quirks]\nns3_ecmp_hash = true"),
        &[
            "routing.paths: has no effect with quirks.ns3_ecmp_hash = true",
            "hint: set quirks.ns3_ecmp_hash = false",
        ],
    );
    says(
        &both("[routing]\nhash = \"symmetric\"\n[quirks]\nconweave_ecmp_hash = true"),
        &["routing.hash: has no effect with quirks.conweave_ecmp_hash = true"],
    );
    says(
        &both("[quirks]\nns3_ecmp_hash = true\nconweave_ecmp_hash = true"),
        &["quirks.conweave_ecmp_hash: is one way", "hint: turn one of the two off"],
    );
    says(
        &both("[quirks]\nconweave_drill = true"),
        &[
            "quirks.conweave_drill: has no effect without routing.balance = \"drill\"",
            "hint: set routing.balance = \"drill\", or turn quirks.conweave_drill off",
        ],
    );
    says(
        &both("[pfc]\nthreshold = \"static\"\n[quirks]\nconweave_buffer = true"),
        &[
            "quirks.conweave_buffer: goes with pfc.threshold = \"dynamic\"",
            "hint: set quirks.conweave_buffer = false, or pfc.threshold = \"dynamic\"",
        ],
    );
    says(
        &both("[quirks]\nconweave_conga = true"),
        &[
            "quirks.conweave_conga: has no effect without routing.balance = \"conga\"",
            "hint: set routing.balance = \"conga\", or turn quirks.conweave_conga off",
        ],
    );
    says(
        &both("[quirks]\nconweave_recovery = true"),
        &["quirks.conweave_recovery: has no effect without host.loss_after = \"gap\""],
    );
}

#[test]
fn scheme_parameters_have_a_kind_and_a_range() {
    for scheme in schemes::registry::all() {
        for param in (scheme.params)() {
            let key = format!("scheme.params.{}", param.name);
            let overrides = [("scheme.name", scheme.name), (key.as_str(), "[1]")].map(owned);
            let message = parse(&format!("{STAR}{FLOW}"), None, &overrides).unwrap_err();
            assert_eq!(message.key, key);
            let Some((low, high)) = param.range else { continue };
            for (value, beyond) in [(low, "below"), (high, "above")] {
                let overrides =
                    [("scheme.name", scheme.name), (key.as_str(), &value.to_string())].map(owned);
                if let Err(error) = parse(&format!("{STAR}{FLOW}"), None, &overrides) {
                    // The ends of a range may conflict with the other parameters, no more.
                    assert!(!error.message.contains("out of range"), "{beyond}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_scheme_that_takes_the_queues_of_a_port_for_one_has_data_of_one_priority() {
    let other = FLOW.replace("[[traffic]]", "[[traffic]]\npriority = 4");
    assert_ne!(other, FLOW);
    let rcm = format!("{STAR}{FLOW}{other}[scheme]\nname = \"rcm\"\n");
    says(
        &error(&rcm),
        &["traffic: messages have priorities 3 and 4, and scheme rcm", "one priority"],
    );
    let alone = format!("{STAR}{other}[scheme]\nname = \"rcm\"\n");
    parse(&alone, None, &[]).unwrap();
}

#[test]
fn a_scheme_that_reroutes_takes_no_spanning_trees() {
    let trees =
        format!("{STAR}{FLOW}[scheme]\nname = \"rcm\"\n[routing]\npaths = \"spanning-trees\"\n");
    says(&error(&trees), &["routing.paths: scheme rcm chooses among ports", "\"shortest\""]);
}

#[test]
fn probes_must_select_something() {
    let probe = |keys: &str| {
        error(&format!("{STAR}{FLOW}[[probe]]\nname = \"a\"\ninterval = \"1us\"\n{keys}"))
    };
    says(&probe("kind = \"queue\""), &["probe.0.ports: the probe selects nothing"]);
    says(&probe("kind = \"rate\""), &["probe.0.flows: the probe selects nothing"]);
    says(&probe("kind = \"rate\"\nnodes = [\"h3\"]"), &["the probe selects nothing"]);
    says(&probe("kind = \"rate\"\nflows = [1]"), &["probe.0.flows.0: there is no flow 1"]);
    says(&probe("kind = \"rate\"\nflows = [\"flow\"]"), &["no traffic has tag `flow`", "`flows`"]);
    says(&probe("kind = \"rate\"\nports = [\"s0:h0\"]"), &["rate is a value of flows"]);
    says(&probe("kind = \"queue\"\nflows = [0]"), &["queue is a value of ports"]);
    says(&probe("kind = \"queue\"\nports = [\"s0\"]"), &["`s0` names no port"]);
    says(
        &probe("kind = \"queue\"\nports = [\"h1:h0\"]"),
        &["there is no link between", "hint: links of h1 lead to `s0`"],
    );
    says(&probe("kind = \"queue\"\nports = [\"s0:h9\"]"), &["unknown node `h9`"]);
    says(&probe("kind = \"queue\"\nports = [\"h*:h0..h1\"]"), &["no link fits `h*:h0..h1`"]);
    says(&probe("kind = \"queue\"\nports = [\"s0:x*\"]"), &["ports.0: `x*` fits no node", "`h0`"]);
    says(&probe("kind = \"queue\"\nports = [\"s0:h9..h0\"]"), &["`h9..h0` is no range"]);
    says(
        &probe("kind = \"queue\"\nnodes = [\"s0\"]\npriority = 8"),
        &["probe.0.priority", "0 to 7"],
    );
    says(
        &probe("kind = \"throughput\"\nnodes = [\"s0\"]\npriority = 3"),
        &["probe.0.priority: there is no throughput of a priority", "queue, input-queue and pause"],
    );
    says(&set("probe.0.name", "x"), &["probe.0.kind: is missing"]);
    let preset = |keys: &str| error(&format!("{STAR}{FLOW}[[probe]]\npreset = \"view\"\n{keys}"));
    says(&preset("nodes = [\"h0\"]"), &["probe.0.nodes: a preset has its own", "`interval`"]);
    says(&preset("interval = \"1ps\""), &["probe.0.interval: 1ps is too short"]);
    says(
        &preset("[[probe]]\npreset = \"view\""),
        &["probe.1.name: `view-queue` is the name of another probe"],
    );
    let named = |name: &str| {
        error(&format!(
            "{STAR}{FLOW}[[probe]]\nname = \"{name}\"\nkind = \"queue\"\ninterval = \"1us\"\n\
             nodes = [\"s0\"]"
        ))
    };
    says(&named("a/b"), &["probe.0.name: \"a/b\" cannot be the name of a series"]);
    says(&named("../b"), &["cannot be the name of a series"]);
    says(&named(""), &["cannot be the name of a series"]);
}

/// Protects runs from what presets make of extreme rates: either a scheme takes it, or it says
/// which parameter it does not take.
#[test]
fn presets_keep_their_parameters_bounds_at_any_rate() {
    let mut refused = 0;
    for scheme in schemes::registry::all() {
        for preset in (scheme.presets)() {
            for rate in ["1Kbps", "100Mbps", "25Gbps", "400Gbps", "11Tbps", "100Tbps"] {
                let given = [
                    ("scheme.name", scheme.name),
                    ("scheme.preset", preset.name),
                    ("topology.host_rate", rate),
                    ("switch.buffer", "10GB"),
                ];
                let given = given.map(|(key, value)| (key.to_owned(), value.to_owned()));
                match parse(&format!("{STAR}{FLOW}"), None, &given) {
                    Ok(scenario) => {
                        let values = scenario.scheme.overrides();
                        let again = (scheme.resolve)(
                            preset.name,
                            scenario.network.min_host_rate(),
                            &values,
                        );
                        assert!(again.is_ok(), "{} at {rate}: {again:?}", preset.name);
                    }
                    Err(error) if error.to_string().contains("scheme.params.") => {
                        says(&error.to_string(), &["is out of range", "the rate of hosts"]);
                        refused += 1;
                    }
                    Err(_) => {}
                }
            }
        }
    }
    assert!(refused > 0, "some preset of some scheme has no room for some rate");
}
