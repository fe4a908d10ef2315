//! Topologies that make no sense.

use scenario::parse;

use super::{FLOW, error, says, set, topology};

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
