//! What must hold for any bytes in the files of a scenario. Fuzz targets and tests share these.

use std::path::Path;

/// A network of four hosts without traffic, for files that name hosts.
const STAR: &str = r#"
    name = "fuzzed"
    run.stop = "1ms"
    [topology]
    kind = "star"
    hosts = 4
    host_rate = "100Gbps"
    host_delay = "1us"
"#;

/// A scenario that overrides change.
const USUAL: &str = r#"
    name = "fuzzed"
    run.stop = "1ms"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 2
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us"
    [[traffic]]
    kind = "incast"
    senders = 3
    receiver = "h0"
    size = "10KB"
    [[traffic]]
    kind = "poisson"
    workload = "WebSearch"
    load = 0.3
    flows = 20
    [[probe]]
    name = "q"
    kind = "queue"
    interval = "10us"
    nodes = ["leaf*"]
"#;

/// A scenario that was read reads back from its own TOML; an error is one line.
fn check(text: &str, overrides: &[(String, String)]) -> bool {
    match scenario::parse(text, None, overrides) {
        Ok(scenario) => {
            let again = scenario::parse(&scenario.to_toml(), None, &[]);
            assert!(again.as_ref() == Ok(&scenario), "{again:?}\n{}", scenario.to_toml());
            true
        }
        Err(error) => {
            let error = error.to_string();
            assert!(!error.is_empty() && !error.contains(char::is_control), "{error:?}");
            false
        }
    }
}

/// Whether the text may name a file: targets of their own read those.
fn names_a_file(text: &str) -> bool {
    ["_file", "path", "\\"].iter().any(|word| text.contains(word))
}

/// Any bytes as a scenario file. Says whether they are one.
pub fn text(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(text) if !names_a_file(text) => check(text, &[]),
        _ => false,
    }
}

/// Any lines `KEY=VALUE` as overrides of a scenario.
pub fn overrides(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if names_a_file(text) {
        return false;
    }
    let pairs: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    check(USUAL, &pairs)
}

/// Reads a scenario that names a file with these bytes.
fn with_file(bytes: &[u8], path: &Path, text: &str) -> bool {
    std::fs::write(path, bytes).expect("a temporary directory that can be written");
    check(text, &[])
}

/// Any bytes as a list of flows, in a file at `path`, which is written.
pub fn flow_file(bytes: &[u8], path: &Path) -> bool {
    let traffic = format!("[[traffic]]\nkind = 'flows'\nflows_file = '{}'", path.display());
    with_file(bytes, path, &format!("{STAR}{traffic}"))
}

/// Any bytes as a topology, in a file at `path`, which is written. Its ending is that of JSON or
/// TOML, as the bytes look.
pub fn topology_file(bytes: &[u8], path: &Path) -> bool {
    let is_json = bytes.trim_ascii_start().first() == Some(&b'{');
    let path = path.with_extension(if is_json { "json" } else { "toml" });
    let head = "name = 'fuzzed'\nrun.stop = '1ms'\n[topology]\nkind = 'file'";
    with_file(bytes, &path, &format!("{head}\npath = '{}'", path.display()))
}

/// Any bytes as a table of flow sizes. Its statistics are finite and in order.
pub fn sizes(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match scenario::workload::Cdf::read(text) {
        Ok(cdf) => {
            let (mean, max) = (cdf.mean(), cdf.max() as f64);
            assert!((0.0..=max * (1.0 + 1e-9)).contains(&mean), "mean {mean}, largest {max}");
            let quantiles = [0.0, 0.25, 0.5, 0.99, 1.0].map(|p| cdf.quantile(p));
            assert!(quantiles.is_sorted(), "{quantiles:?}");
            assert!((0.0..=max).contains(&quantiles[0]) && quantiles[4] <= max, "{quantiles:?}");
            true
        }
        Err(error) => {
            assert!(!error.is_empty() && !error.contains(char::is_control), "{error:?}");
            false
        }
    }
}
