//! Bad input: each one clear line that names the key, its line and what to do.

use scenario::{Outage, parse, parse_or_every_error};
use units::Time;

const STAR: &str = r#"
[topology]
kind = "star"
hosts = 4
host_rate = "100Gbps"
host_delay = "1us"
"#;

const FLOW: &str = r#"
[[traffic]]
kind = "flows"
flows = [{ src = "h0", dst = "h1", size = "1MB" }]
"#;

fn error(text: &str) -> String {
    parse(text, None, &[]).unwrap_err().to_string()
}

/// The error of the star with one flow after an override.
fn set(key: &str, value: &str) -> String {
    let overrides = [(key.to_owned(), value.to_owned())];
    parse(&format!("{STAR}{FLOW}"), None, &overrides).unwrap_err().to_string()
}

/// The error of the star with these further lines.
fn star(more: &str) -> String {
    error(&format!("{STAR}{more}"))
}

fn topology(text: &str) -> String {
    error(&format!("[topology]\n{text}{FLOW}"))
}

#[track_caller]
fn says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "{part:?} not in: {error}");
    }
    assert!(!error.contains('\n'), "several lines: {error}");
}

#[test]
fn syntax_errors_have_their_line() {
    says(&error("[topology]\nkind = \n"), &["line 2: "]);
    says(&error("[run]\nseed = 1\nseed = 2\n"), &["line 3: ", "duplicate key"]);
    says(&error("[run\n"), &["line 1: "]);
    says(&error(""), &["topology: is missing"]);
    says(&error(&STAR[..STAR.len() - 5]), &["line 6: "]);
}

#[test]
fn unknown_keys_name_the_nearest() {
    says(&star("[run]\nsede = 1"), &["line 8: run.sede: unknown key; hint: did you mean `seed`?"]);
    says(&star("[ecm]\n"), &["line 7: ecm: unknown key", "`ecn`"]);
    says(
        &topology("kind = \"star\"\nhost = 4\nhost_rate = \"1Gbps\"\nhost_delay = \"1us\"\n"),
        &["line 3: topology.host: unknown key; hint: did you mean `hosts`?"],
    );
    says(
        &star("[[traffic]]\nkind = \"flows\"\nflows = [{ src = \"h0\", dest = \"h1\" }]"),
        &["line 9: traffic.0.flows.0.dest: unknown key; hint: did you mean `dst`?"],
    );
    says(
        &star("[[probe]]\nname = \"a\"\nkindd = \"queue\"\ninterval = \"1us\""),
        &["probe.0.kindd: unknown key; hint: did you mean `kind`?"],
    );
}

#[test]
fn unknown_values_name_the_nearest() {
    says(
        &topology("kind = \"fattree\"\nk = 4\n"),
        &["line 2: topology.kind: unknown value `fattree`; hint: did you mean `fat-tree`?"],
    );
    says(&topology("k = 4\n"), &["topology.kind: is missing; hint: one of star, dumbbell"]);
    says(&topology("kind = 4\n"), &["topology.kind: needs one of star"]);
    says(&set("pfc.threshold", "statc"), &["pfc.threshold: unknown value `statc`", "`static`"]);
    says(&set("wire.profile", "roce"), &["wire.profile: unknown value `roce`"]);
    says(&set("scheme.name", "dcqnc"), &["scheme.name: unknown scheme `dcqnc`", "`dcqcn`"]);
    let scheme = |keys: &str| star(&format!("{FLOW}[scheme]\nname = \"none\"\n{keys}"));
    says(&scheme("preset = \"nonne\""), &["line 13: scheme.preset: unknown preset", "`none`"]);
    says(
        &scheme("preset = \"hpcc-ns3\""),
        &["scheme.preset: unknown preset", "it is a preset of hpcc: set scheme.name to hpcc, too"],
    );
    says(
        &scheme("params.g = 1"),
        &["line 13: scheme.params.g: unknown parameter", "known: window"],
    );
    says(&set("scheme.params.g", "1"), &["scheme.name: is missing"]);
    // Nothing in common is not near.
    says(&topology("kind = \"x\"\n"), &["unknown value `x`; hint: known: star, dumbbell"]);
    let custom = "kind = \"custom\"\nnodes = [{ name = \"a\", kind = \"host\" }]\n\
                  links = [{ a = \"a\", b = \"x\", rate = \"1Gbps\", delay = \"1us\" }]\n";
    says(&topology(custom), &["topology.links.0.b: unknown node `x`; hint: known: a"]);
    says(&set("run.stop", "flow-done"), &["run.stop: needs \"flows-done\" or a quantity"]);
}

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
fn quantities_say_what_was_meant() {
    says(
        &topology("kind = \"star\"\nhosts = 4\nhost_rate = 100\nhost_delay = \"1us\"\n"),
        &["line 4: topology.host_rate: a rate needs its unit, in quotes, such as \"100Gbps\""],
    );
    says(&set("topology.host_delay", "5"), &["topology.host_delay: a time needs its unit"]);
    says(&set("topology.host_delay", "5KB"), &["a time is needed", "not a size"]);
    says(&set("topology.host_rate", "-5Gbps"), &["topology.host_rate: a rate cannot be negative"]);
    says(
        &set("switch.buffer", "1e30GB"),
        &["switch.buffer: a size is written without an exponent"],
    );
    says(&set("run.stop", "2"), &["run.stop: needs \"flows-done\" or a quantity such as \"2ms\""]);
    says(&set("run.stop", "'2'"), &["run.stop: a time needs its unit"]);
    says(
        &set("topology.hosts", "-4"),
        &["topology.hosts: needs a whole number, 0 or more, got -4"],
    );
    says(&set("topology.hosts", "4.5"), &["topology.hosts: needs a whole number"]);
    says(&set("topology.hosts", "1e3"), &["topology.hosts: needs a whole number"]);
    says(&set("pfc.enabled", "yes"), &["pfc.enabled: needs true or false, got \"yes\""]);
    says(&set("topology", "star"), &["topology: needs a table"]);
    says(&set("topology", "[1]"), &["topology: needs a table with a `kind`", "got a list"]);
    says(&set("topology", "3"), &["topology: needs a table with a `kind`", "got 3"]);
    says(&set("traffic", "3"), &["traffic: needs a list, got 3"]);
    says(&set("traffic", "[3]"), &["traffic.0: needs a table with a `kind`", "got 3"]);
    says(&set("scheme", "3"), &["scheme: needs a table, got 3"]);
    says(&set("run", "3"), &["run: needs a table, got 3"]);
    says(&set("wire.profile", "3"), &["wire.profile: needs one of rocev2, hpcc-ns3, got 3"]);
    says(&set("wire.profile", "[3]"), &["wire.profile: needs one of rocev2, hpcc-ns3, got a list"]);
    says(
        &set("wire.profile", "{ kind = \"rocev2\" }"),
        &["wire.profile: needs one of", "got a table"],
    );
    says(&set("ecn.reference_rate", "2020-01-01"), &["ecn.reference_rate: unknown unit"]);
}

#[test]
fn messages_have_a_size() {
    let size = |size: &str| set("traffic.0.flows.0.size", size);
    says(&size("0B"), &["traffic.0.flows.0.size: must be above zero"]);
    says(&size("9223372036854775808B"), &["traffic.0.flows.0.size", "at most 4000GB"]);
    says(&size("5000GB"), &["at most 4000GB"]);
    says(&size("99999999999999999999B"), &["cannot be held"]);
}

#[test]
fn topologies_must_make_sense() {
    let tree = |k: &str| {
        topology(&format!(
            "kind = \"fat-tree\"\nk = {k}\nhost_rate = \"1Gbps\"\nhost_delay = \"1us\"\n\
             rate = \"1Gbps\"\ndelay = \"1us\"\n"
        ))
    };
    says(&tree("7"), &["line 3: topology.k: must be even, got 7"]);
    says(&tree("0"), &["topology.k: must be at least 2"]);
    says(&tree("4000000000"), &["topology: has", "nodes; the most is 1048576"]);
    says(&tree("99999999999999999999"), &["topology.k: a number this large cannot be held"]);
    says(&set("topology.hosts", "2000"), &["s0 has 2000 ports; a node has at most 1024"]);
    says(&set("topology.hosts", "1"), &["topology.hosts: must be at least 2"]);
    says(
        &set("topology.hosts", "99999999999999999999"),
        &["topology.hosts: needs a whole number up to 4294967295, got 99999999999999999999"],
    );
    says(
        &set("topology.hosts", "-99999999999999999999"),
        &["topology.hosts: needs a whole number up to 4294967295, got -99999999999999999999"],
    );
    says(
        &set("traffic.0.priority", "99999999999999999999"),
        &["0 to 255, got 99999999999999999999"],
    );
    says(&set("topology.host_rate", "0bps"), &["topology.host_rate: 0bps is out of range"]);
    says(
        &set("topology.host_delay", "0ns"),
        &["topology.host_delay: must be above zero; hint: nodes are simulated independently"],
    );
}

/// A custom topology of two hosts and a switch, with changes.
fn custom(from: &str, to: &str) -> String {
    let text = r#"kind = "custom"
nodes = [
    { name = "a", kind = "host" },
    { name = "b", kind = "host" },
    { name = "s", kind = "switch" },
    { name = "t", kind = "switch" },
]
links = [
    { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "b", b = "t", rate = "100Gbps", delay = "1us" },
    { a = "s", b = "t", rate = "100Gbps", length = "1km" },
]
"#;
    assert!(text.contains(from));
    topology(&text.replace(from, to))
}

#[test]
fn custom_topologies_must_make_sense() {
    says(
        &custom("name = \"b\"", "name = \"a\""),
        &["line 5: topology.nodes.1.name: duplicate node `a`"],
    );
    says(
        &custom("a = \"b\", b = \"t\"", "a = \"b\", b = \"tt\""),
        &["line 11: topology.links.1.b: unknown node `tt`; hint: did you mean `t`?"],
    );
    says(
        &custom("    { a = \"s\", b = \"t\", rate = \"100Gbps\", length = \"1km\" },\n", ""),
        &["topology: is disconnected: no path between {a, s} and {b, t}; hint: join them with a \
           link, or simulate each part by itself"],
    );
    says(
        &custom("    { a = \"b\", b = \"t\", rate = \"100Gbps\", delay = \"1us\" },\n", ""),
        &["topology: the host b has no link"],
    );
    says(
        &custom("b = \"t\", rate = \"100Gbps\", delay = \"1us\"", "b = \"t\", rate = \"100Gbps\""),
        &["topology.links.1.delay: is missing; hint: give a `delay`"],
    );
    says(
        &custom("length = \"1km\"", "length = \"1km\", delay = \"1us\""),
        &["topology.links.2.length: give either"],
    );
    says(&custom("length = \"1km\"", "length = \"1GB\""), &["links.2.length: a length is needed"]);
    says(&custom("length = \"1km\"", "length = \"0m\""), &["links.2.delay: must be above zero"]);
    says(&custom("a = \"s\", b = \"t\"", "a = \"s\", b = \"s\""), &["links s to itself"]);
    says(
        &custom("name = \"t\"", "name = \"t:u\""),
        &["':' cannot stand in a node's name; hint: take letters, digits, _, -, . and /"],
    );
    says(
        &custom("links = [", "links = [ [\"a\", \"b\"],"),
        &["topology.links.0: needs a table, got a list"],
    );
    // Hosts do not forward: a - s and t - b would be joined through the host c alone.
    let through_host = custom(
        "length = \"1km\" },",
        "length = \"1km\" },\n { a = \"c\", b = \"s\", rate = \"1Gbps\", delay = \"1us\" }",
    );
    says(&through_host, &["unknown node `c`"]);
}

#[test]
fn messages_stay_within_a_part() {
    let text = r#"
[topology]
kind = "custom"
in_parts = true
nodes = [
    { name = "alone", kind = "host" },
    { name = "t", kind = "switch" },
    { name = "h0", kind = "host" },
    { name = "s", kind = "switch" },
    { name = "h1", kind = "host" },
    { name = "a", kind = "host" },
    { name = "b", kind = "host" },
]
links = [
    { a = "h0", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "h1", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "a", b = "b", rate = "100Gbps", delay = "1us" },
]
"#;
    parse(&format!("{text}{FLOW}"), None, &[]).unwrap();
    for other in ["a", "alone"] {
        says(
            &error(&format!("{text}{}", FLOW.replace("h1", other))),
            &[&format!(
                "traffic.0.flows.0: h0 and {other} are in parts that no link joins; hint: join \
                 the parts with a link, or leave the message out"
            )],
        );
    }
    says(&error(&format!("{text}{FLOW}").replace("in_parts = true", "")), &["alone has no link"]);
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

#[test]
fn hosts_do_not_forward() {
    let text = r#"
[topology]
kind = "custom"
nodes = [
    { name = "a", kind = "host" },
    { name = "b", kind = "host" },
    { name = "c", kind = "host" },
    { name = "s", kind = "switch" },
    { name = "t", kind = "switch" },
]
links = [
    { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "b", b = "t", rate = "100Gbps", delay = "1us" },
    { a = "c", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "c", b = "t", rate = "100Gbps", delay = "1us" },
]
[[traffic]]
kind = "flows"
flows = [{ src = "a", dst = "b", size = "1MB" }]
"#;
    says(&error(text), &["traffic.0.flows.0: a and b have no path but through another host"]);
    assert!(parse(&text.replace("dst = \"b\"", "dst = \"c\""), None, &[]).is_ok());
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
fn traffic_must_make_sense() {
    says(&star(""), &["traffic: there is no message to send"]);
    says(&set("traffic.0.flows.0.dst", "h0"), &["traffic.0.flows.0.dst: h0 cannot send to itself"]);
    says(&set("traffic.0.flows.0.dst", "h7"), &["unknown node `h7`; hint: there are `h0` to `h3`"]);
    says(&set("traffic.0.flows.0.dst", "s0"), &["`s0` is a switch; a host is needed"]);
    says(&set("traffic.0.priority", "8"), &["traffic.0.priority: priorities are 0 to 7, got 8"]);
    says(&set("traffic.0.flows.0.start", "3000000s"), &["flows.0.start", "is too late"]);
    says(&set("traffic.0.tag", ""), &["traffic.0.tag: must not be empty; hint: leave it out"]);
    says(
        &set("traffic.0.tag", "\"a\\tb\""),
        &["traffic.0.tag: \"a\\tb\" has a control character, which no tag may have"],
    );
    says(
        &set("traffic.0.flows.0.tag", ""),
        &["traffic.0.flows.0.tag: must not be empty; hint: leave it out"],
    );
    let poisson = |keys: &str| star(&format!("[[traffic]]\nkind = \"poisson\"\n{keys}"));
    for load in ["0", "2", "-0.5", "nan", "1.0000001"] {
        let text = format!("workload = \"WebSearch\"\nduration = \"1ms\"\nload = {load}");
        says(&poisson(&text), &["line 11: traffic.0.load: must be above 0 and at most 1"]);
    }
    says(&poisson("load = 0.5\nduration = \"1ms\""), &["traffic.0.workload: is missing; hint"]);
    let few = "workload = \"WebSearch\"\nload = 1e-300\n";
    says(
        &poisson(&format!("{few}messages = 3\n")),
        &["line 10: traffic.0.load: is so low that a message would start after the latest time, \
             1000000s"],
    );
    says(
        &poisson(&format!("{few}duration = \"1ms\"\n")),
        &["traffic: none of it has a message to send"],
    );
    let hadoop = |keys: &str| {
        poisson(&format!("load = 0.5\nworkload = \"FB_Hadoop\"\nduration = \"1ms\"\n{keys}"))
    };
    says(
        &hadoop("receivers = [\"h0\"]"),
        &["traffic.0.receivers: leaves h0 with none but itself to send to; hint: leave h0 out of \
             `hosts`, or give another receiver"],
    );
    says(
        &hadoop("receivers = [\"h0\"]\ngroups = 1"),
        &["traffic.0.groups: give either `receivers` or `groups`"],
    );
    says(&hadoop("groups = 5"), &["traffic.0.groups:", "make no 5 equal groups"]);
    says(&hadoop("groups = 0"), &["traffic.0.groups:", "make no 0 equal groups"]);
    says(
        &poisson("load = 0.5\nworkload = \"WebSaerch\"\nduration = \"1ms\""),
        &["traffic.0.workload: unknown workload", "`WebSearch`"],
    );
    says(
        &poisson("load = 0.5\nworkload = \"WebSearch\""),
        &["traffic.0.duration: is missing; hint: give a `duration`"],
    );
    says(
        &poisson("load = 0.5\nworkload = \"WebSearch\"\nduration = \"1ms\"\nmessages = 3"),
        &["give either `duration` or `messages`"],
    );
    says(
        &poisson("load = 0.5\ncdf = [[0, 0], [10, 0.5], [5, 1]]\nduration = \"1ms\""),
        &["traffic.0.cdf: is not monotone: 5 bytes after 10"],
    );
    says(
        &poisson("load = 0.5\ncdf = [[0, 0], [0, 0.25], [10, 1]]\nduration = \"1ms\""),
        &["traffic.0.cdf: has a probability of 0.25 at 0 bytes; a message has at least one byte"],
    );
    says(
        &poisson("load = 0.5\ncdf = [[0, 0], [10, 0.5]]\nduration = \"1ms\""),
        &["traffic.0.cdf: must end at probability 1"],
    );
    says(
        &poisson("load = 0.5\ncdf = [[0, 0], [10, 0.5, 3]]\nduration = \"1ms\""),
        &["traffic.0.cdf.1: needs 2 elements, got 3"],
    );
    says(
        &poisson("load = 0.5\nworkload = \"GoogleRPC2008\"\nduration = \"1000000s\""),
        &["traffic.0: makes about", "at most 50000000", "; hint: let the traffic last shorter"],
    );
    says(
        &poisson("load = 0.5\nworkload_file = \"/no/such.csv\"\nduration = \"1ms\""),
        &["traffic.0.workload_file: cannot read /no/such.csv: No such file or directory"],
    );
    let missing = poisson("load = 0.5\nworkload_file = \"/no/such.csv\"\nduration = \"1ms\"");
    assert!(missing.ends_with("directory"), "a number of the system's: {missing}");
    says(
        &poisson("load = \"29%\"\nworkload = \"WebSearch\"\nduration = \"1ms\""),
        &["traffic.0.load: needs a number, got \"29%\"; hint: 29% is written 0.29"],
    );
    says(
        &poisson("load = 0.5\nworkload = \"WebSearch\"\nmessages = 1000000000000"),
        &["makes about 1000000000000 messages"],
    );
    says(
        &poisson("load = 0.5\nworkload = \"WebSearch\"\nmessages = 9\nreceivers = [\"h0\"]"),
        &["traffic.0.receivers: leaves h0 with none but itself to send to; hint: leave h0 out of \
             `hosts`, or give another receiver"],
    );
    let incast =
        |keys: &str| star(&format!("[[traffic]]\nkind = \"incast\"\nsize = \"1KB\"\n{keys}"));
    says(&incast("senders = 4"), &["senders: 4 senders and a receiver need more than 4 hosts"]);
    says(&incast("senders = 0"), &["senders: must be above zero"]);
    says(
        &incast("senders = \"h0\""),
        &["senders: needs a number of hosts or a list of host names"],
    );
    says(&incast("senders = [\"h0\"]\nreceiver = \"h0\""), &["h0 is the receiver"]);
    says(&incast("senders = [\"h*\"]"), &["every host sends"]);
    says(
        &incast("senders = [\"h0..h9\"]"),
        &["senders.0: unknown node `h4`; hint: there are `h0` to `h3`"],
    );
    says(
        &incast("senders = [\"x*\"]"),
        &["senders.0: `x*` fits no node", "there are `h0` and so on"],
    );
    says(&incast("senders = [\"h0..s0\"]"), &["senders.0: `h0..s0` is no range"]);
    says(&incast("senders = [\"h0\", \"h0\"]"), &["senders.1: `h0` is listed twice"]);
    says(&incast("senders = 2\nrepeat = 3"), &["traffic.0.period: is missing"]);
    says(&incast("senders = 2\nrepeat = 0"), &["traffic.0.repeat: must be above zero"]);
    says(
        &incast("senders = 2\nperiod = \"1us\""),
        &["line 11: traffic.0.period: has no effect without `repeat`; hint: `repeat` is how many"],
    );
    let one = "[[traffic]]\nkind = \"incast\"\nsize = \"1KB\"\nsenders = 2\nrepeat = 1\n";
    assert!(parse(&format!("{STAR}{one}period = \"1us\""), None, &[]).is_ok(), "one of a sweep");
    says(
        &incast("senders = 2\nrepeat = 4000000000\nperiod = \"1us\""),
        &["makes about 8000000000 messages"],
    );
    let bursts = |src: &str, dst: &str| {
        star(&format!(
            "[[traffic]]\nkind = \"bursts\"\nsize = \"1KB\"\nperiod = \"1us\"\ncount = 2\n\
             src = {src}\ndst = {dst}"
        ))
    };
    says(&bursts("[\"h0\"]", "[\"h*\"]"), &["traffic.0.dst: h0 is a source too"]);
    says(&bursts("[]", "[\"h1\"]"), &["traffic.0.src: names no host"]);
    let collective =
        |keys: &str| star(&format!("[[traffic]]\nkind = \"collective\"\nsize = \"1KB\"\n{keys}"));
    says(&collective(""), &["traffic.0.operation: is missing"]);
    says(&collective("operation = \"all-ruduce\""), &["traffic.0.operation", "`all-reduce`"]);
    let all_reduce = |keys: &str| collective(&format!("operation = \"all-reduce\"\n{keys}"));
    says(
        &all_reduce("hosts = [\"h1\"]"),
        &["traffic.0.hosts: a collective operation needs at least 2 hosts, got 1"],
    );
    says(&all_reduce("barrier = true"), &["traffic.0.barrier: has no effect with a ring"]);
    says(
        &collective("operation = \"all-to-all\"\nbarrier = true"),
        &["traffic.0.barrier: has no effect without `repeat`"],
    );
    says(&all_reduce("repeat = 0"), &["traffic.0.repeat: must be above zero"]);
    says(&all_reduce("repeat = 4000000000"), &["traffic.0: makes about", "messages"]);
    says(
        &star(
            "[[traffic]]\nkind = \"flows\"\nflows = [\
             { src = \"h0\", dst = \"h1\", size = \"1KB\", qp = \"x\" },\
             { src = \"h0\", dst = \"h2\", size = \"1KB\", qp = \"x\" }]",
        ),
        &["traffic.0.flows.1.qp: the QP `x` is used with other ends"],
    );
}

/// Protects messages from waiting for ever, or for other messages than those meant.
#[test]
fn messages_wait_for_what_their_sender_receives() {
    let permutation =
        |keys: &str| format!("[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n{keys}\n");
    let incast = "[[traffic]]\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"1KB\"\n";
    let says = |text: &str, parts: &[&str]| says(&error(&format!("{STAR}{text}")), parts);
    let after = permutation("after = \"incast\"");
    says(
        &format!("{incast}{after}"),
        &["traffic.1.after: ", " waits for messages with the tag `incast`, but receives none"],
    );
    says(&after, &["traffic.0.after: no message above has the tag `incast`; hint: list"]);
    says(
        &format!("{}{}", permutation(""), permutation("after = \"permutatoin\"")),
        &["traffic.1.after: no message above", "did you mean `permutation`?"],
    );
    says(
        &format!("{}{}", permutation(""), permutation("after = \"permutation\"")),
        &["traffic.1.after: waits for the tag `permutation`, which messages from here on have"],
    );
    says(
        &permutation("after_delay = \"1us\""),
        &["traffic.0.after_delay: has no effect without `after`"],
    );
    let flow = |keys: &str| format!("{{ src = \"h1\", dst = \"h0\", size = \"1KB\"{keys} }}");
    let flows =
        |list: &[String]| format!("[[traffic]]\nkind = \"flows\"\nflows = [{}]\n", list.join(", "));
    says(
        &flows(&[flow(", tag = \"a\""), flow(", after = \"a\"")]),
        &["traffic.0.flows.1.after: h1 waits for messages with the tag `a`, but receives none"],
    );
    says(
        &flows(&[flow(", after = \"flows\"")]),
        &["traffic.0.flows.0.after: no message above has the tag `flows`"],
    );
}

/// A QP sends in the order of starts, whatever is listed first.
#[test]
fn messages_do_not_wait_for_themselves_through_their_qp() {
    let flows = |list: &[&str]| {
        let list: Vec<String> =
            list.iter().map(|keys| format!("{{ size = \"1KB\", {keys} }}")).collect();
        format!("[[traffic]]\nkind = \"flows\"\nflows = [{}]\n", list.join(", "))
    };
    let (there, back) = ("src = \"h0\", dst = \"h1\"", "src = \"h1\", dst = \"h0\"");
    let first = format!("{there}, qp = \"q\", tag = \"a\", start = \"10us\"");
    let second = format!("{back}, tag = \"b\", after = \"a\"");
    let third = format!("{there}, qp = \"q\", after = \"b\"");
    says(
        &star(&flows(&[&first, &second, &third])),
        &["traffic: the QP `q` sends in the order of `start`: its message at 0ns comes before \
             that at 10us, and waits for it; hint: give what waits a later `start` or a QP"],
    );
    // A later one is fine, and so is an earlier one that waits for nothing.
    let later = format!("{third}, start = \"20us\"");
    let free = format!("{there}, qp = \"q\", start = \"1us\"");
    for other in [later, free] {
        let text = format!("{STAR}{}", flows(&[&first, &second, &other]));
        parse(&text, None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
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
fn sums_of_what_messages_have_fit_64_bits() {
    let bursts = "[[traffic]]\nkind = \"incast\"\nsenders = [\"h0\"]\nreceiver = \"h1\"\nsize = \
        \"4000GB\"\n\
                  repeat = 20000\nperiod = \"1us\"\n";
    says(&error(&format!("{STAR}{bursts}")), &["all messages together have more than"]);
}

#[test]
fn traffic_without_a_message_is_told_from_none() {
    says(&error(STAR), &["there is no message to send", "give a [[traffic]]"]);
    let none = "[[traffic]]\nkind = \"poisson\"\nworkload = \"WebSearch\"\nload = 0.1\nduration = \
        \"1ns\"\n";
    says(&error(&format!("{STAR}{none}")), &["none of it has a message to send", "last longer"]);
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
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

#[test]
fn files_of_the_hpcc_simulator_have_a_command_of_their_own() {
    let error = error("TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n");
    says(&error, &["line 1: key with no value", "HPCC simulator: run it by `rocelab hpcc FILE`"]);
    assert!(!self::error("FLOWS flow.txt\n").contains("hpcc"));
}

#[test]
fn overrides_must_have_a_place() {
    says(&set("run.sede", "3"), &["run.sede: unknown key", "`seed`"]);
    // What was set stands on no line of the file.
    assert!(set("run.seed", "true").starts_with("run.seed: "));
    assert!(set("topology.hosts", "1").starts_with("topology.hosts: "));
    says(&set("run.seed.x", "3"), &["run.seed: needs a whole number, 0 or more, got a table"]);
    says(&set("topology.hosts.x", "3"), &["hosts.x: there is no `x` inside a plain value"]);
    let counted =
        "hint: elements are counted from 0, so traffic.0 is the first, and traffic.1 adds one";
    let no_index = "traffic.load: `load` is not an index; the list has 1";
    says(&set("traffic.load", "3"), &[no_index, counted]);
    says(&set("traffic.7.load", "3"), &["no element 7; the list has 1", counted]);
    says(&set("name.x", "3"), &["name"]);
    let short = format!("scheme = \"dcqcn\"\n{STAR}{FLOW}");
    let misspelt = [("scheme.nmae".to_owned(), "hpcc".to_owned())];
    let error = parse(&short, None, &misspelt).unwrap_err().to_string();
    says(&error, &["scheme.nmae: unknown key; hint: did you mean `name`?"]);
    says(&set("", "3"), &["a key to set is written like"]);
    says(&set("a..b", "3"), &["a key to set is written like"]);
    says(&set("run.seed", "1\nx = 2"), &["run.seed: needs a whole number"]);
}

#[test]
fn files_are_named() {
    let error = scenario::load("/no/such/scenario.toml").unwrap_err().to_string();
    says(&error, &["cannot read /no/such/scenario.toml: "]);
    let error = scenario::load("/").unwrap_err().to_string();
    says(&error, &["cannot read /: it is a directory"]);
    let dir = std::env::temp_dir().join(format!("rocelab-errors-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("broken.toml");
    std::fs::write(&path, b"name = \"\xff\"").unwrap();
    says(&scenario::load(&path).unwrap_err().to_string(), &["it is not UTF-8 text"]);
    std::fs::write(&path, format!("{STAR}[run]\nseed = true\n")).unwrap();
    let shown = path.display();
    says(
        &scenario::load(&path).unwrap_err().to_string(),
        &[&format!("{shown}:8: run.seed: needs a whole number, 0 or more, got true")],
    );
    std::fs::write(dir.join("net.json"), "{\"nodes\": [], \"links\": [").unwrap();
    std::fs::write(&path, "[topology]\nkind = \"file\"\npath = \"net.json\"\n").unwrap();
    says(&scenario::load(&path).unwrap_err().to_string(), &["net.json:1: EOF"]);
    std::fs::write(dir.join("net.json"), "{\"nodes\": [{\"name\": 3}], \"links\": []}").unwrap();
    says(
        &scenario::load(&path).unwrap_err().to_string(),
        &["net.json: nodes.0.name: needs a text in quotes, got 3"],
    );
    let twice = "\u{feff}{\"nodes\": [\n{\"name\": \"a\", \"name\": \"b\"}], \"links\": []}";
    std::fs::write(dir.join("net.json"), twice).unwrap();
    says(&scenario::load(&path).unwrap_err().to_string(), &["net.json:2: `name` is given twice"]);
    let net = dir.join("net.toml");
    let node = "{ name = \"a\", kind = \"host\" },\n";
    std::fs::write(&net, format!("nodes = [\n{node}{node}]\nlinks = []\n")).unwrap();
    std::fs::write(&path, "[topology]\nkind = \"file\"\npath = \"net.toml\"\n").unwrap();
    says(
        &scenario::load(&path).unwrap_err().to_string(),
        &["net.toml:3: nodes.1.name: duplicate node `a`"],
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn links_that_fail_and_damage() {
    let fails = |link: &str, at: &str| {
        star(&format!("{FLOW}[[failure]]\nlink = \"{link}\"\nat = \"{at}\"\n"))
    };
    says(&fails("h0", "1us"), &["failure.0.link: `h0` is no link", "\"tor0:agg1\""]);
    says(
        &fails("h0:h1", "1us"),
        &["failure.0.link: h0 and h1 have no link; hint: links of h0 lead to `s0`"],
    );
    says(&fails("h0:s1", "1us"), &["failure.0.link: unknown node `s1`"]);
    says(&fails("h0:s0", "0us"), &["failure.0.at: must be above zero"]);
    let twice = "[[failure]]\nlink = \"s0:h2\"\nat = \"1us\"\n\
                 [[failure]]\nlink = \"h2:s0\"\nat = \"2us\"\n";
    are(
        &every(&format!("{STAR}{FLOW}{twice}"), &[]),
        &[
            "line 12: failure.0.link: s0:h2 fails at 1us and leaves h0 and h2 without a way",
            "line 15: failure.1.link: the link between h2 and s0 fails at 1us already",
        ],
    );
    says(
        &fails("s0:h2", "1us"),
        &["line 12: failure.0.link: s0:h2 fails at 1us and leaves h0 and h2 without a way to \
             each other; hint"],
    );
    says(&set("wire.error_rate", "1.5"), &["wire.error_rate: 1.5 is no probability", "0 to 1"]);
    says(&set("wire.error_rate", "nan"), &["wire.error_rate: NaN is no probability"]);
    let custom = "kind = \"custom\"\nnodes = [{ name = \"h0\", kind = \"host\" }, \
                  { name = \"h1\", kind = \"host\" }]\nlinks = [{ a = \"h0\", b = \"h1\", \
                  rate = \"1Gbps\", delay = \"1us\", error_rate = -0.1 }]\n";
    says(&topology(custom), &["topology.links.0.error_rate: -0.1 is no probability"]);
}

#[test]
fn of_two_ways_one_may_fail() {
    let text = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                host_rate = \"100Gbps\"\nhost_delay = \"1us\"\nrate = \"100Gbps\"\n\
                delay = \"1us\"\n[wire]\nerror_rate = 1e-6\n[[failure]]\n\
                link = \"spine1:leaf0\"\nat = \"5us\"\n";
    let scenario = parse(&format!("{text}{FLOW}"), None, &[]);
    let scenario = scenario.unwrap();
    let [Outage { from, until, .. }] = scenario.outages[..] else {
        panic!("{:?}", scenario.outages)
    };
    assert_eq!((from, until), (Time::from_us(5), Time::NEVER));
    assert_eq!(scenario.wire.error_rate, 1e-6);
    let again = parse(&scenario.to_toml(), None, &[]).unwrap();
    assert_eq!(again, scenario, "the effective scenario says the same");
}

#[test]
fn links_that_are_repaired() {
    let text = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                host_rate = \"100Gbps\"\nhost_delay = \"1us\"\nrate = \"100Gbps\"\n\
                delay = \"1us\"\n";
    let fails = |times: &[(&str, &str, &str)]| {
        let one = |(link, at, until): &(&str, &str, &str)| {
            format!("[[failure]]\nlink = \"{link}\"\nat = \"{at}\"\nuntil = \"{until}\"\n")
        };
        parse(&format!("{text}{FLOW}{}", times.iter().map(one).collect::<String>()), None, &[])
    };
    let wrong = |times: &[(&str, &str, &str)]| fails(times).unwrap_err().to_string();
    let (near, far) = ("leaf0:spine0", "leaf0:spine1");
    says(
        &wrong(&[(near, "5us", "5us")]),
        &["failure.0.until: must be later than `at`, which is 5us; got 5us"],
    );
    // From one end to the other they are apart.
    let (first, second) = ((near, "5us", "9us"), (near, "10us", "12us"));
    let scenario = fails(&[second, first]).unwrap();
    assert_eq!(scenario.outages.len(), 2);
    assert_eq!(parse(&scenario.to_toml(), None, &[]).unwrap(), scenario);
    for touching in [(near, "9us", "12us"), (near, "1us", "5us"), (near, "6us", "7us")] {
        let why = "fails at 5us already, until 9us; hint: let one end before the other begins";
        says(&wrong(&[first, touching]), &["failure.1.link", why]);
    }
    // Both ways at once leave none; one after the other will do.
    fails(&[first, (far, "10us", "12us"), (near, "13us", "15us")]).unwrap();
    fails(&[first, (far, "9us", "12us")]).unwrap();
    let (first_down, far_down) =
        ("leaf0:spine0 is down (5us to 9us)", "leaf0:spine1 is down (4us to 6us)");
    for (both, entry, cut, other) in [
        ((far, "4us", "6us"), 0, "leaf0:spine0 fails at 5us", far_down),
        ((far, "6us", "7us"), 1, "leaf0:spine1 fails at 6us", first_down),
        ((far, "8us", "20us"), 1, "leaf0:spine1 fails at 8us", first_down),
    ] {
        let told = format!(
            "failure.{entry}.link: {cut} and leaves h0 and h2 without a way to each other while \
             {other}; hint: "
        );
        says(&wrong(&[first, both]), &[&told]);
    }
    // Links that have no part in it are not named.
    let other = ["spine0", "spine1"].map(|spine| format!("leaf1:{spine}"));
    let told = "failure.2.link: leaf0:spine1 fails at 20us and leaves h0 and h2 without a way to \
        each other while leaf1:spine0 is down (5us to 50us); hint: ";
    let others = [(&*other[1], "3us", "4us"), (&*other[0], "5us", "50us")];
    says(&wrong(&[others[0], others[1], (far, "20us", "30us")]), &[told]);
    let same_leaf = [("leaf1:spine1", "10us", "20us"), ("leaf0:spine1", "7us", "30us")];
    let told =
        "leaves h0 and h2 without a way to each other while leaf0:spine0 is down (5us to 9us)";
    says(&wrong(&[first, same_leaf[0], same_leaf[1]]), &[told]);
}

#[test]
fn links_change_at_no_more_times_than_there_is_room_for() {
    let text = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                host_rate = \"100Gbps\"\nhost_delay = \"1us\"\nrate = \"100Gbps\"\n\
                delay = \"1us\"\n";
    let flaps = |count: u32| {
        let one = |number: u32| {
            let (at, until) = (10 * number + 10, 10 * number + 15);
            format!(
                "[[failure]]\nlink = \"leaf0:spine0\"\nat = \"{at}us\"\nuntil = \"{until}us\"\n"
            )
        };
        parse(&format!("{text}{FLOW}{}", (0..count).map(one).collect::<String>()), None, &[])
    };
    flaps(128).unwrap();
    says(&flaps(129).unwrap_err().to_string(), &["failure: links fail or change at 258 times"]);
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

/// Nodes, hosts first, and links of a custom network, and a flow from `h1`.
fn with_links(hosts: &[&str], switches: &[&str], links: &str, to: &str, fails: &str) -> String {
    let node = |kind: &str, name: &&str| format!("{{ name = \"{name}\", kind = \"{kind}\" }},");
    let hosts: String = hosts.iter().map(|name| node("host", name)).collect();
    let switches: String = switches.iter().map(|name| node("switch", name)).collect();
    let link = |pair: &str| {
        let (a, b) = pair.split_once(':').unwrap();
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"100Gbps\", delay = \"1us\" }},")
    };
    let links: String = links.split_whitespace().map(link).collect();
    format!(
        "[topology]\nkind = \"custom\"\nnodes = [{hosts}{switches}]\nlinks = [{links}]\n\
         [[traffic]]\n\
         kind = \"flows\"\nflows = [{{ src = \"h1\", dst = \"{to}\", size = \"1KB\" }}]\n\
         [[failure]]\n\
         link = \"{fails}\"\nat = \"1us\"\n"
    )
}

/// A host with two links joins nobody else, and is no reason to overlook others.
#[test]
fn a_failure_that_cuts_hosts_off_is_found_in_any_order_of_hosts() {
    let links = "h0:a h0:b h1:a h2:b a:b";
    for hosts in [["h0", "h1", "h2"], ["h1", "h0", "h2"], ["h2", "h1", "h0"]] {
        let text = with_links(&hosts, &["a", "b"], links, "h2", "a:b");
        let (first, second) = if hosts[0] == "h2" { ("h2", "h1") } else { ("h1", "h2") };
        let words = format!("leaves {first} and {second} without a way to each other");
        says(&parse(&text, None, &[]).unwrap_err().to_string(), &[&words]);
    }
}

#[test]
fn hosts_that_never_had_a_way_are_not_cut_off() {
    let links = "h0:a h0:b h1:a h2:b a:c a:d c:d";
    for hosts in [["h0", "h1", "h2"], ["h1", "h0", "h2"]] {
        let text = with_links(&hosts, &["a", "b", "c", "d"], links, "h0", "a:c");
        parse(&text, None, &[]).unwrap();
    }
    // A link of their own is a way, too.
    let links = "h1:a h2:a h1:h2";
    parse(&with_links(&["h1", "h2"], &["a"], links, "h2", "h1:h2"), None, &[]).unwrap();
    let text = with_links(&["h0", "h1", "h2"], &["a"], "h0:a h1:a h1:h2", "h2", "h1:h2");
    says(&parse(&text, None, &[]).unwrap_err().to_string(), &["leaves h1 and h2 without a way"]);
}

#[test]
fn numbers_in_quotes_long_names_and_deep_keys() {
    says(&set("run.seed", "\"5\""), &["run.seed: needs a whole number, 0 or more, got \"5\""]);
    says(&set("run.seed", "\"99999999999999999999\""), &["up to 9223372036854775807"]);
    says(&set("name", &format!("\"{}\"", "日".repeat(67))), &["name: ", "1 to 200 bytes"]);
    let deep = vec!["a"; 100_000].join(".");
    says(&set(&deep, "1"), &["a key has more than 64 steps"]);
}

/// An error is a line, whatever a file says.
#[test]
fn control_characters_are_told_as_they_are_written() {
    says(&set("scheme", "\"a\\nb\\u001b[31m\""), &["unknown scheme `a\\nb\\u{1b}[31m`"]);
    let odd = "\"a\\nb\\u001b[31m\" = 1\n";
    says(&error(&format!("{odd}{STAR}{FLOW}")), &["a\\nb\\u{1b}[31m: unknown key"]);
    let scheme = format!("{STAR}{FLOW}[scheme]\nname = \"hpcc\"\n[scheme.params]\n{odd}");
    says(&error(&scheme), &["scheme.params.a\\nb\\u{1b}[31m: "]);
}

/// What is not seen, or changes how the rest is shown, is escaped; of long values a part is shown.
#[test]
fn errors_are_short_lines_of_what_is_seen() {
    says(&set("scheme", "\"\\u202Ea\\u200B\\u2028\""), &["`\\u{202e}a\\u{200b}\\u{2028}`"]);
    says(&set("traffic.0.flows.0.src", "\"h\\u2066\""), &["unknown node `h\\u{2066}`"]);
    let long = "x".repeat(10_000);
    for key in ["scheme", "run.seed", "topology.kind", "traffic.0.flows.0.dst", &long] {
        let error = set(key, &format!("\"{long}\""));
        assert!(error.contains("xxx…xxx"), "{key:.20}: {error:.300}");
        assert!(error.chars().count() < 1500, "{key:.20}: {} letters", error.len());
    }
    // Nor does a long word take long to compare with those that are known.
    set("traffic.0.flows.0.dst", &"y".repeat(1_000_000));
}

/// A pipe that nobody writes to would be waited for forever.
#[cfg(unix)]
#[test]
fn files_that_are_not_regular_are_refused_at_once() {
    let directory = std::env::temp_dir().join(format!("rocelab-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let pipe = directory.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.to_str().unwrap(), "/dev/zero"] {
        let flows = format!("{STAR}[[traffic]]\nkind = \"flows\"\nflows_file = \"{path}\"\n");
        let why = format!("traffic.0.flows_file: cannot read {path}: it is not a regular file");
        says(&error(&flows), &[&why]);
        let poisson = "[[traffic]]\nkind = \"poisson\"\nload = 0.5\nduration = \"1us\"\n";
        let sizes = format!("{STAR}{poisson}workload_file = \"{path}\"\n");
        says(&error(&sizes), &["workload_file: cannot read", "it is not a regular file"]);
        let topology = format!("[topology]\nkind = \"file\"\npath = \"{path}\"\n{FLOW}");
        says(&error(&topology), &["cannot read", "it is not a regular file"]);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// All errors of a text, each as it is shown.
fn every(text: &str, overrides: &[(String, String)]) -> Vec<String> {
    let errors =
        parse_or_every_error(text, None, overrides, &scenario::Files::default()).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

/// Expects these errors and no others, by how each begins.
#[track_caller]
fn are(errors: &[String], begins: &[&str]) {
    let is_match = |(error, begin): (&String, &&str)| error.starts_with(begin);
    let equal = errors.len() == begins.len() && errors.iter().zip(begins).all(is_match);
    assert!(equal, "{begins:#?} are not {errors:#?}");
}

#[test]
fn all_errors_are_reported_together() {
    // Unknown keys, values of the wrong kind, and names of what is not there.
    let text = format!(
        "{STAR}{FLOW}\
         [[traffic]]\nkind = \"incast\"\nsenders = 2\nreceiver = \"h9\"\nsize = \"1MB\"\n\
         [[probe]]\nname = \"q\"\nkind = \"queue\"\nnodes = [\"s7\"]\ninterval = \"1us\"\n\
         [switch]\nbufer = \"1MB\"\n\
         [pfc]\nxoff = 5\n\
         [scheme]\nname = \"dcqnc\"\n"
    );
    let set = [("run.seed".to_owned(), "x".to_owned())];
    are(
        &every(&text, &set),
        &[
            "line 14: traffic.1.receiver: unknown",
            "line 19: probe.0.nodes",
            "line 22: switch.bufer: unknown key; hint: did you mean `buffer`?",
            "line 24: pfc.xoff: a size needs its unit",
            "line 26: scheme.name: unknown scheme `dcqnc`",
            "run.seed: needs a whole number",
        ],
    );
}

#[test]
fn errors_that_follow_from_others_are_left_out() {
    // That `hosts` is missing follows from `host`.
    let misspelt = "[topology]\nkind = \"star\"\nhost = 4\nhost_rate = \"1Gbps\"\nhost_delay = 3\n";
    are(
        &every(misspelt, &[]),
        &["line 3: topology.host: unknown key", "line 5: topology.host_delay"],
    );
    // That the tag is unknown follows from the entry that has it.
    let tagged = format!(
        "{STAR}{FLOW}\
         [[traffic]]\nkind = \"incast\"\ntag = \"storage\"\nsenders = 2\nreceiver = \"h0\"\n\
         size = 1\n\
         [[probe]]\nname = \"r\"\nkind = \"rate\"\nflows = [\"storage\"]\ninterval = \"1us\"\n"
    );
    are(&every(&tagged, &[]), &["line 16: traffic.1.size"]);
    let waits = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\nafter = \"storage\"\n";
    are(&every(&format!("{tagged}{waits}"), &[]), &["line 16: traffic.1.size"]);
    // That an element is missing follows from what is wrong with it.
    for (first, why) in [("0", "0: a weight is 1 to 1000000"), ("\"x\"", "0: needs a whole number")]
    {
        let text = format!("{STAR}{FLOW}[classes]\nweights = [{first}, 1, 1, 1, 1, 1, 1, 1]\n");
        are(&every(&text, &[]), &[&format!("line 12: classes.weights.{why}")]);
    }
    // Without a network, names of hosts are not looked for.
    let network = format!("{}{FLOW}", STAR.replace("\"star\"", "\"stra\"").replace("h1", "h7"));
    are(&every(&network, &[]), &["line 3: topology.kind: unknown value `stra`"]);
    // What does not depend on the network is looked at.
    let network_and = |more: &str| every(&format!("{network}{more}"), &[]);
    are(
        &network_and("[ecn]\nkmin = \"9KB\"\nkmax = \"2KB\"\n[scheme]\nname = \"dcqcn\"\n"),
        &["line 3: topology.kind: unknown value `stra`", "line 12: ecn.kmin: 9KB is above kmax"],
    );
    are(
        &network_and("[scheme]\nname = \"dcqnc\"\n"),
        &["line 3: topology.kind: unknown value `stra`", "line 12: scheme.name: unknown scheme"],
    );
    // A scheme that cannot be is not blamed for marking.
    are(
        &every(&format!("{STAR}{FLOW}[ecn]\nkmin = 3\n[scheme]\nname = 4\n"), &[]),
        &["line 12: ecn.kmin", "line 14: scheme.name"],
    );
    let several = [("schemes".to_owned(), "[\"hpcc\", \"dcqcn\"]".to_owned())];
    are(&every(&format!("{STAR}{FLOW}"), &several), &["schemes: names one scheme"]);
}

#[test]
fn errors_keep_the_places_of_the_file() {
    let bad = |key: &str| format!("[[traffic]]\nkind = \"permutation\"\n{key}\n");
    let text = format!("{STAR}{}{}{FLOW}{}", bad("size = 1"), bad("x = 1"), bad("size = \"x\""));
    are(
        &every(&text, &[]),
        &[
            "line 9: traffic.0.size",
            "line 10: traffic.1.size: is missing",
            "line 12: traffic.1.x: unknown key",
            "line 19: traffic.3.size",
        ],
    );
    // The first two flows are taken out before the third is looked at.
    let flows = "[[traffic]]\nkind = \"flows\"\nflows = [\n\
                 { src = \"h0\", dst = \"h9\", size = \"1KB\" },\n\
                 { src = \"h8\", dst = \"h1\", size = \"1KB\" },\n\
                 { src = \"h7\", dst = \"h1\", size = \"1KB\" }]\n";
    are(
        &every(&format!("{STAR}{flows}"), &[]),
        &[
            "line 10: traffic.0.flows.0.dst",
            "line 11: traffic.0.flows.1.src",
            "line 12: traffic.0.flows.2.src",
        ],
    );
}

#[test]
fn all_missing_keys_of_a_table_are_reported_together() {
    let text = "[topology]\nkind = \"fat-tree\"\nk = 4\n[[traffic]]\nkind = \"incast\"\n";
    are(
        &every(text, &[]),
        &[
            "line 1: topology.host_rate: is missing",
            "line 1: topology.host_delay: is missing",
            "line 1: topology.rate: is missing",
            "line 1: topology.delay: is missing",
            "line 4: traffic.0.senders: is missing",
            "line 4: traffic.0.size: is missing",
        ],
    );
}

#[test]
fn errors_are_not_without_end() {
    let unknown: String = (0..300).map(|number| format!("k{number} = 1\n")).collect();
    let errors = every(&format!("{unknown}{STAR}{FLOW}"), &[]);
    assert_eq!(errors.len(), scenario::MAX_ERRORS);
}
