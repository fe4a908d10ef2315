//! Shared by the tests that run whole scenarios.
#![allow(dead_code, reason = "each test file uses a part")]

use proptest::prelude::ProptestConfig;
use rocelab::{RunError, RunOptions, RunResult};
use scenario::{Scenario, ScenarioError};

/// Runs a scenario on one thread.
pub fn run(text: &str) -> RunResult {
    run_with(text, &[])
}

/// Runs a scenario with keys set.
pub fn run_with(text: &str, set: &[(&str, &str)]) -> RunResult {
    run_on(text, set, 1)
}

/// Runs a scenario with keys set on a number of threads.
pub fn run_on(text: &str, set: &[(&str, &str)], threads: usize) -> RunResult {
    let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
    rocelab::run(&parse(text, set), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns why the fabric refused a scenario.
pub fn refusal(error: RunError) -> ScenarioError {
    match error {
        RunError::Scenario(refusal) => refusal,
        RunError::Io(error) => panic!("{error}"),
    }
}

/// A scenario with keys set.
pub fn parse(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::parse(text, None, &set).unwrap_or_else(|error| panic!("{error}"))
}

/// A test of this many random cases. Failures are not kept in a file.
pub fn random_cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
