//! Traffic that makes no sense.

use scenario::parse;

use super::{STAR, error, says, set, star};

#[test]
fn messages_have_a_size() {
    let size = |size: &str| set("traffic.0.flows.0.size", size);
    says(&size("0B"), &["traffic.0.flows.0.size: must be above zero"]);
    says(&size("9223372036854775808B"), &["traffic.0.flows.0.size", "at most 4000GB"]);
    says(&size("5000GB"), &["at most 4000GB"]);
    says(&size("99999999999999999999B"), &["cannot be held"]);
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
