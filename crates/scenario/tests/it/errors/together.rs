//! Several errors of one file.

use super::{FLOW, STAR, are, every};

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
