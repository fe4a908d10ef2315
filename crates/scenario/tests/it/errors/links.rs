//! Links that fail, are repaired or change.

use scenario::{Outage, parse};
use units::Time;

use super::{FLOW, STAR, are, every, says, set, star, topology};

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
