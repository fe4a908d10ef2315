//! The networks that topologies describe.

use proptest::prelude::*;
use scenario::{Network, NodeKind, Scenario, parse};
use units::{Bytes, Rate, Time};

fn build(topology: &str) -> Scenario {
    let text = format!("[run]\nstop = \"1us\"\n[topology]\n{topology}");
    parse(&text, None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const LINKS: &str =
    "host_rate = \"100Gbps\"\nhost_delay = \"1us\"\nrate = \"400Gbps\"\ndelay = \"2us\"\n";

/// The names of a node's peers, in order of its ports.
fn peers(network: &Network, name: &str) -> Vec<String> {
    let ports = network.ports();
    let node = network.names.iter().position(|known| known == name).unwrap();
    ports[node].iter().map(|port| network.name(port.peer).to_owned()).collect()
}

fn count(network: &Network, prefix: &str) -> usize {
    network.names.iter().filter(|name| name.starts_with(prefix)).count()
}

#[test]
fn star_and_dumbbell() {
    let star = build("kind = \"star\"\nhosts = 3\nhost_rate = \"25Gbps\"\nhost_delay = \"1us\"");
    assert_eq!(peers(&star.network, "s0"), ["h0", "h1", "h2"]);
    assert_eq!(star.network.min_host_rate(), Rate::from_gbps(25));

    let text = format!(
        "kind = \"dumbbell\"\nswitches = 3\nsenders = 2\nreceivers = 2\nside_hosts = [0, 1]\n\
         {LINKS}"
    );
    let dumbbell = build(&text).network;
    assert_eq!(peers(&dumbbell, "s0"), ["h0", "h1", "s1"]);
    assert_eq!(peers(&dumbbell, "s1"), ["h4", "s0", "s2"]);
    assert_eq!(peers(&dumbbell, "s2"), ["h2", "h3", "s1"]);
    let last = dumbbell.links.last().unwrap();
    assert_eq!((last.rate, last.delay), (Rate::from_gbps(400), Time::from_us(2)));
    assert_eq!(dumbbell.links[0].rate, Rate::from_gbps(100));

    let slow = build(&format!("{text}sender_rate = \"20Gbps\"")).network;
    let rates: Vec<u64> = slow.links.iter().map(|link| link.rate.bps() / 1_000_000_000).collect();
    // Senders, receivers, the side host, the chain.
    assert_eq!(rates, [20, 20, 100, 100, 100, 400, 400]);
}

#[test]
fn leaf_spine_links_every_pair() {
    let text = format!(
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nlinks_per_pair = 2\n\
         {LINKS}"
    );
    let network = build(&text).network;
    assert_eq!(peers(&network, "leaf1"), ["h2", "h3", "spine0", "spine0", "spine1", "spine1"]);
    assert_eq!(peers(&network, "spine0"), ["leaf0", "leaf0", "leaf1", "leaf1"]);
}

#[test]
fn fat_tree_is_wired_in_planes() {
    let network = build(&format!("kind = \"fat-tree\"\nk = 4\n{LINKS}")).network;
    assert_eq!((count(&network, "h"), count(&network, "tor"), count(&network, "agg")), (16, 8, 8));
    assert_eq!(count(&network, "core"), 4);
    assert_eq!(peers(&network, "tor3"), ["h6", "h7", "agg2", "agg3"]);
    assert_eq!(peers(&network, "agg3"), ["tor2", "tor3", "core2", "core3"]);
    // A core's port p leads to pod p.
    assert_eq!(peers(&network, "core2"), ["agg1", "agg3", "agg5", "agg7"]);
    let tiers: Vec<u8> = ["h0", "tor0", "agg0", "core0"]
        .iter()
        .map(|name| {
            network.nodes[network.names.iter().position(|known| known == name).unwrap()].tier
        })
        .collect();
    assert_eq!(tiers, [0, 1, 2, 3]);
}

const TWO_DCS: &str = "kind = \"cross-dc\"\nrate = \"400Gbps\"\ndelay = \"1us\"\n\
    wan_rate = \"1600Gbps\"\nwan_length = \"100km\"\nexternal_buffer = \"200MB\"\n";

fn inside(topology: &str) -> String {
    format!("[pfc]\nenabled = false\n[topology.data_centre]\n{topology}\n{LINKS}")
}

#[test]
fn data_centres_are_joined_by_external_switches() {
    let pods = inside("kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2");
    let scenario = build(&format!("{TWO_DCS}{pods}"));
    let network = &scenario.network;
    assert_eq!(peers(network, "dc1/leaf0"), ["dc1/h0", "dc1/h1", "dc1/spine0", "dc1/spine1"]);
    assert_eq!(peers(network, "dc0/spine1"), ["dc0/leaf0", "dc0/leaf1", "dc0/ext"]);
    assert_eq!(peers(network, "dc0/ext"), ["dc0/spine0", "dc0/spine1", "dc1/ext"]);
    let wan = network.links.last().unwrap();
    assert_eq!((wan.rate, wan.delay), (Rate::from_gbps(1600), Time::from_us(500)));
    let up = network.links[network.links.len() - 2];
    assert_eq!((up.rate, up.delay), (Rate::from_gbps(400), Time::from_us(1)));
    let external = network.nodes.last().unwrap();
    assert_eq!((external.tier, external.buffer), (3, Some(Bytes::new(200_000_000))));
    let sites = network.data_centres();
    let half = network.nodes.len() / 2 - 1;
    let at = |name: &str| sites[network.names.iter().position(|known| known == name).unwrap()];
    assert!(sites[..half].iter().all(|site| *site == sites[0]), "{sites:?}");
    assert!(at("dc0/ext") == sites[0] && at("dc1/ext") == at("dc1/h3"));
    assert_ne!(at("dc0/h0"), at("dc1/h0"));

    // The length has become a delay, and the scenario written out is the same.
    assert!(scenario.to_toml().contains("wan_delay = \"500us\""));
    assert_eq!(parse(&scenario.to_toml(), None, &[]).unwrap().network, *network);
}

#[test]
fn long_links_need_headroom_or_go_without_pfc() {
    let star = "[topology.data_centre]\nkind = \"star\"\nhosts = 2\nhost_rate = \"100Gbps\"\n\
                host_delay = \"1us\"";
    let text = |keys: &str| format!("[run]\nstop = \"1us\"\n[topology]\n{TWO_DCS}{keys}\n{star}");
    // 1.6 Tb/s for a millisecond are exactly the buffer.
    let error = parse(&text(""), None, &[]).unwrap_err().to_string();
    for part in ["200MB is too small", "dc1/ext", "is 200", "external_buffer", "wan_pfc = false"] {
        assert!(error.contains(part), "{error}");
    }
    let larger = [("topology.external_buffer".to_owned(), "201MB".to_owned())];
    assert!(parse(&text(""), None, &larger).is_ok());
    let without = parse(&text("wan_pfc = false"), None, &[]).unwrap();
    assert!(!without.network.links.last().unwrap().pfc);
    assert!(without.network.links[0].pfc);
}

#[test]
fn three_data_centres_of_any_kind_are_linked_each_to_each() {
    let stars = "[pfc]\nenabled = false\n[topology.data_centre]\nkind = \"star\"\nhosts = 2\n\
                 host_rate = \"100Gbps\"\nhost_delay = \"1us\"";
    let network = build(&format!("{TWO_DCS}data_centres = 3\n{stars}")).network;
    assert_eq!(peers(&network, "dc1/ext"), ["dc1/s0", "dc0/ext", "dc2/ext"]);
    assert_eq!(count(&network, "dc2/h"), 2);
    let listed = "[pfc]\nenabled = false\n[topology.data_centre]\nkind = \"custom\"\n\
        nodes = [{ name = \"a\", kind = \"host\" }, { name = \"b\", kind = \"host\" }, \
                 { name = \"x\", kind = \"switch\" }, { name = \"y\", kind = \"switch\" }]\n\
        links = [{ a = \"a\", b = \"x\", rate = \"1Gbps\", length = \"20m\" }, \
                 { a = \"b\", b = \"x\", rate = \"1Gbps\", delay = \"1us\" }, \
                 { a = \"x\", b = \"y\", rate = \"1Gbps\", delay = \"1us\" }]";
    let network = build(&format!("{TWO_DCS}{listed}")).network;
    assert_eq!(peers(&network, "dc0/ext"), ["dc0/y", "dc1/ext"], "the highest tier alone");
}

#[test]
fn what_data_centres_cannot_be() {
    let refused = |outer: &str, inner: &str| {
        let text = format!(
            "[run]\nstop = \"1us\"\n[topology]\nkind = \"cross-dc\"\nrate = \"400Gbps\"\n\
             {outer}\n[topology.data_centre]\n{inner}"
        );
        parse(&text, None, &[]).unwrap_err().to_string()
    };
    let wan = "delay = \"1us\"\nwan_rate = \"1Tbps\"\nwan_delay = \"500us\"";
    let star = "kind = \"star\"\nhosts = 2\nhost_rate = \"100Gbps\"\nhost_delay = \"1us\"";
    let none = "delay = \"1us\"\nwan_rate = \"1Tbps\"";
    let short = "delay = \"1us\"\nwan_rate = \"1Tbps\"\nwan_length = \"1km\"";
    let alone = format!("data_centres = 1\n{wan}");
    let twice = "kind = \"custom\"\nnodes = [{ name = \"a\", kind = \"host\" }, \
                 { name = \"b\", kind = \"host\" }, { name = \"ext\", kind = \"switch\" }]\n\
                 links = [{ a = \"a\", b = \"ext\", rate = \"1Gbps\", delay = \"1us\" }, \
                 { a = \"b\", b = \"ext\", rate = \"1Gbps\", delay = \"1us\" }]";
    for (outer, inner, complaint) in [
        (
            wan,
            star.replace("hosts = 2", "hosts = 1").as_str(),
            "topology.data_centre.hosts: must be",
        ),
        (
            none,
            star,
            "topology.wan_delay: is missing; hint: give a `wan_delay` such as \"100us\" or a \
             `wan_length` such as \"20km\"",
        ),
        (short, star, "topology.wan_length: 5us is too short"),
        (&alone, star, "topology.data_centres: must be at least 2"),
        (wan, &star.replace("1us", "20us"), "topology.data_centre: has links of 10us or more"),
        (wan, twice, "topology.data_centre: a node of it is called `ext`, as is the switch"),
    ] {
        let error = refused(outer, inner);
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn three_tier_is_wired_in_planes_or_fully() {
    let text = |cores: u32, wiring: &str| {
        format!(
            "kind = \"three-tier\"\npods = 2\ntors_per_pod = 2\naggs_per_pod = 2\ncores = {cores}\n\
             hosts_per_tor = 3\ncore_wiring = \"{wiring}\"\nhost_rate = \"100Gbps\"\n\
             host_delay = \"1us\"\nagg_rate = \"200Gbps\"\nagg_delay = \"2us\"\n\
             core_rate = \"400Gbps\"\ncore_delay = \"3us\"\n"
        )
    };
    let planes = build(&text(4, "planes")).network;
    assert_eq!(peers(&planes, "agg1"), ["tor0", "tor1", "core2", "core3"]);
    let full = build(&text(3, "full")).network;
    assert_eq!(peers(&full, "agg1"), ["tor0", "tor1", "core0", "core1", "core2"]);
    let text = format!("[run]\nstop = \"1us\"\n[topology]\n{}", text(3, "planes"));
    let error = parse(&text, None, &[]).unwrap_err();
    assert_eq!(error.key, "topology.cores");
    assert!(error.hint.unwrap().contains("full"));
}

/// The networks of the FNCC, Mercury and HierCC papers need no list of links.
#[test]
fn networks_of_papers_are_kinds() {
    // FNCC, Figure 11: the joining host is at the switch whose port is to be congested.
    for (side, at) in [("[1]", "s0"), ("[0, 1]", "s1"), ("[0, 0, 1]", "s2")] {
        let text =
            format!("kind = \"dumbbell\"\nswitches = 3\nsenders = 1\nside_hosts = {side}\n{LINKS}");
        assert!(peers(&build(&text).network, at).contains(&"h2".to_owned()));
    }
    // Mercury, Figure 2: senders at 20 Gb/s, burst hosts at the last switch.
    let chain = "kind = \"dumbbell\"\nswitches = 3\nsenders = 2\nreceivers = 2\n\
                 side_hosts = [0, 0, 8]\nsender_rate = \"20Gbps\"\nhost_rate = \"40Gbps\"\n\
                 host_delay = \"4us\"\nrate = \"40Gbps\"\ndelay = \"4us\"\n";
    let network = build(chain).network;
    assert_eq!((network.hosts().count(), peers(&network, "s2").len()), (12, 2 + 8 + 1));
    assert_eq!(network.min_host_rate(), Rate::from_gbps(20));
    // Mercury and HierCC: 20 ToR, 20 aggregation and 16 core switches, 16 hosts at each ToR. In
    // five pods, links as in the HPCC simulator's topology of this size: 80 and 80.
    let large = "kind = \"three-tier\"\npods = 5\ntors_per_pod = 4\naggs_per_pod = 4\n\
                 cores = 16\nhosts_per_tor = 16\nhost_rate = \"100Gbps\"\nhost_delay = \"1us\"\n\
                 agg_rate = \"400Gbps\"\nagg_delay = \"1us\"\ncore_rate = \"400Gbps\"\n\
                 core_delay = \"1us\"\n";
    let network = build(large).network;
    for (prefix, nodes) in [("h", 320), ("tor", 20), ("agg", 20), ("core", 16)] {
        assert_eq!(count(&network, prefix), nodes, "{prefix}");
    }
    assert_eq!(network.links.len(), 320 + 80 + 80);
    assert_eq!(peers(&network, "tor0").len(), 16 + 4);
    assert_eq!(
        peers(&network, "agg5"),
        ["tor4", "tor5", "tor6", "tor7", "core4", "core5", "core6", "core7"]
    );
}

#[test]
fn custom_nodes_get_their_tier_and_lengths_their_delay() {
    let network = build(
        r#"kind = "custom"
nodes = [
    { name = "x", kind = "switch" },
    { name = "a", kind = "host" },
    { name = "b", kind = "host" },
    { name = "s", kind = "switch" },
    { name = "t", kind = "switch", tier = 9 },
]
links = [
    { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
    { a = "b", b = "t", rate = "10Gbps", delay = "1us" },
    { a = "s", b = "x", rate = "100Gbps", length = "2km" },
    { a = "x", b = "t", rate = "100Gbps", length = "0.1m" },
]"#,
    )
    .network;
    let tiers: Vec<u8> = network.nodes.iter().map(|node| node.tier).collect();
    assert_eq!(tiers, [2, 0, 0, 1, 9]);
    assert_eq!(network.links[2].delay, Time::from_us(10));
    assert_eq!(network.links[3].delay, Time::from_ps(500));
    assert_eq!(network.min_host_rate(), Rate::from_gbps(10));
}

#[test]
fn a_file_gives_the_same_network_in_toml_and_json() {
    let dir = std::env::temp_dir().join(format!("rocelab-topology-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let toml = r#"
nodes = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }]
links = [{ a = "a", b = "b", rate = "1Gbps", delay = "1ms" }]
"#;
    let json = r#"{
"nodes": [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}],
"links": [{"a": "a", "b": "b", "rate": "1Gbps", "delay": "1ms"}]
}"#;
    std::fs::write(dir.join("net.toml"), toml).unwrap();
    std::fs::write(dir.join("net.json"), json).unwrap();
    let path = dir.join("run.toml");
    let read = |file: &str| {
        let text = format!("[run]\nstop = \"1us\"\n[topology]\nkind = \"file\"\npath = \"{file}\"");
        std::fs::write(&path, text).unwrap();
        scenario::load(&path).unwrap()
    };
    let (from_toml, from_json) = (read("net.toml"), read("net.json"));
    assert_eq!(from_toml, from_json);
    assert_eq!(from_toml.name, "run");
    assert_eq!(from_toml.network.nodes.len(), 2);
    std::fs::remove_dir_all(&dir).unwrap();
    // What it was read from is part of it now.
    assert_eq!(parse(&from_toml.to_toml(), None, &[]).unwrap(), from_toml);
}

#[test]
fn sixty_five_thousand_hosts_build() {
    let network = build(&format!("kind = \"fat-tree\"\nk = 64\n{LINKS}")).network;
    assert_eq!(network.hosts().count(), 65_536);
    assert_eq!(network.links.len(), 3 * 65_536);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn regular_topologies_are_networks(
        kind in 0..5_u32,
        n in 1..6_u32,
        m in 1..5_u32,
        hosts in 2..5_u32,
    ) {
        let text = match kind {
            0 => format!("kind = \"star\"\nhosts = {}\nhost_rate = \"1Gbps\"\nhost_delay = \"1us\"",
                n + 1),
            1 => format!("kind = \"dumbbell\"\nswitches = {n}\nsenders = {hosts}\n\
                receivers = {m}\n{LINKS}"),
            2 => format!("kind = \"leaf-spine\"\nleaves = {n}\nspines = {m}\n\
                hosts_per_leaf = {hosts}\n{LINKS}"),
            3 => format!("kind = \"fat-tree\"\nk = {}\n{LINKS}", 2 * n),
            _ => format!(
                "kind = \"three-tier\"\npods = {n}\ntors_per_pod = {m}\naggs_per_pod = {hosts}\n\
                 cores = {}\nhosts_per_tor = {hosts}\nhost_rate = \"1Gbps\"\n\
                 host_delay = \"1us\"\nagg_rate = \"1Gbps\"\nagg_delay = \"1us\"\n\
                 core_rate = \"1Gbps\"\ncore_delay = \"1us\"", hosts * m),
        };
        let scenario = build(&text);
        let network = &scenario.network;
        let ports = network.ports();
        for (node, ports) in network.nodes.iter().zip(&ports) {
            match node.kind {
                NodeKind::Host => prop_assert_eq!((ports.len(), node.tier), (1, 0)),
                NodeKind::Switch => prop_assert!(!ports.is_empty() && node.tier > 0),
            }
        }
        // Each port's peer names that port back.
        for node in network.ids() {
            for (index, port) in ports[node.index()].iter().enumerate() {
                let back = ports[port.peer.index()][port.peer_port.index()];
                prop_assert_eq!(back.peer, node);
                prop_assert_eq!(back.peer_port.index(), index);
                prop_assert_eq!(back.link, port.link);
            }
        }
        prop_assert_eq!(parse(&scenario.to_toml(), None, &[]).unwrap(), scenario);
    }
}
