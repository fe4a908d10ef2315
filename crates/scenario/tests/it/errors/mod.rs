//! Bad input: each one clear line that names the key, its line and what to do.

mod links;
mod settings;
mod together;
mod topology;
mod traffic;

use scenario::{parse, parse_or_every_error};

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

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
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
    let cut = scenario::load(&path).unwrap_err().to_string();
    assert!(cut.ends_with("net.json:1: EOF while parsing a list"), "its line once: {cut}");
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
