//! What tests of readers share.

use hpcc_files::{Result, Warning};
use std::fmt::Debug;

/// A configuration with the two keys that each must have.
pub(crate) const FILES: &str = "TOPOLOGY_FILE t.txt FLOW_FILE f.txt\n";

/// Two racks: hosts 0, 1 at switch 4 and 2, 3 at switch 5.
pub(crate) const TOPOLOGY: &str = "\
6 2 5
4 5
0 4 100Gbps 1000ns 0
1 4 100Gbps 1us 0.000000
2 5 100Gb/s 0.001ms 1e-3
5 4 400Gbps 0.0015ms 0
3 5 100Gbps 1000ns 0
";

pub(crate) fn texts(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(Warning::to_string).collect()
}

/// Asserts that each bad text is refused at its line with these words.
pub(crate) fn refused<T: Debug>(bad: &[(&str, usize, &str)], parse: impl Fn(&str) -> Result<T>) {
    for (text, line, words) in bad {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, Some(*line), "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?}: {error}");
    }
}
