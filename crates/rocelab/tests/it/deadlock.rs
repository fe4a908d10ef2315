//! PFC can deadlock where switches wait for each other in a circle, and then the summary says so.

use crate::common::run_with;

/// Four switches in a ring with a host each, and flows to the host opposite, by either way.
const RING: &str = r#"
    [topology]
    kind = "custom"
    nodes = [
        { name = "s0", kind = "switch" }, { name = "h0", kind = "host" },
        { name = "s1", kind = "switch" }, { name = "h1", kind = "host" },
        { name = "s2", kind = "switch" }, { name = "h2", kind = "host" },
        { name = "s3", kind = "switch" }, { name = "h3", kind = "host" },
    ]
    links = [
        { a = "s0", b = "s1", rate = "100Gbps", delay = "1us" },
        { a = "s1", b = "s2", rate = "100Gbps", delay = "1us" },
        { a = "s2", b = "s3", rate = "100Gbps", delay = "1us" },
        { a = "s3", b = "s0", rate = "100Gbps", delay = "1us" },
        { a = "h0", b = "s0", rate = "400Gbps", delay = "1us" },
        { a = "h1", b = "s1", rate = "400Gbps", delay = "1us" },
        { a = "h2", b = "s2", rate = "400Gbps", delay = "1us" },
        { a = "h3", b = "s3", rate = "400Gbps", delay = "1us" },
    ]
    [switch]
    buffer = "2MB"
    [pfc]
    threshold = "static"
    xoff = "100KB"
    [scheme]
    name = "none"
    [[traffic]]
    kind = "flows"
    flows = [
        { src = "h0", dst = "h2", size = "5MB" }, { src = "h0", dst = "h2", size = "5MB" },
        { src = "h0", dst = "h2", size = "5MB" }, { src = "h0", dst = "h2", size = "5MB" },
        { src = "h1", dst = "h3", size = "5MB" }, { src = "h1", dst = "h3", size = "5MB" },
        { src = "h1", dst = "h3", size = "5MB" }, { src = "h1", dst = "h3", size = "5MB" },
        { src = "h2", dst = "h0", size = "5MB" }, { src = "h2", dst = "h0", size = "5MB" },
        { src = "h2", dst = "h0", size = "5MB" }, { src = "h2", dst = "h0", size = "5MB" },
        { src = "h3", dst = "h1", size = "5MB" }, { src = "h3", dst = "h1", size = "5MB" },
        { src = "h3", dst = "h1", size = "5MB" }, { src = "h3", dst = "h1", size = "5MB" },
    ]
"#;

/// Two switches that pause each other, each in a priority of its own, while a slow host takes what
/// came.
const TWO_CLASSES: &str = r#"
    [run]
    time_limit = "1ms"
    [topology]
    kind = "custom"
    nodes = [
        { name = "s0", kind = "switch" }, { name = "s1", kind = "switch" },
        { name = "a0", kind = "host" }, { name = "a1", kind = "host" },
        { name = "b0", kind = "host" }, { name = "b1", kind = "host" },
    ]
    links = [
        { a = "s0", b = "s1", rate = "100Gbps", delay = "1us" },
        { a = "a0", b = "s0", rate = "100Gbps", delay = "1us" },
        { a = "a1", b = "s0", rate = "1Gbps", delay = "1us" },
        { a = "b0", b = "s1", rate = "100Gbps", delay = "1us" },
        { a = "b1", b = "s1", rate = "1Gbps", delay = "1us" },
    ]
    [classes]
    lossless = [3, 4]
    [pfc]
    threshold = "static"
    xoff = "200KB"
    xon = "10KB"
    [scheme]
    name = "none"
    [[traffic]]
    kind = "flows"
    flows = [
        { src = "a0", dst = "b1", size = "5MB", priority = 3 },
        { src = "b0", dst = "a1", size = "5MB", priority = 4 },
    ]
"#;

fn warnings(scenario: &str, set: &[(&str, &str)]) -> (u64, Vec<String>) {
    let summary = run_with(scenario, set).summary;
    (summary.flows_done, summary.warnings)
}

#[test]
fn a_circle_of_pauses_is_told_however_the_run_ends() {
    for end in ["run.stop", "run.time_limit"] {
        let (done, warnings) = warnings(RING, &[(end, "10ms")]);
        let deadlock: Vec<_> = warnings.iter().filter(|line| line.contains("deadlock")).collect();
        assert_eq!((done, deadlock.len(), warnings.len()), (0, 2, 2), "{warnings:?}");
        assert!(warnings[0].contains("16 in a PFC deadlock"), "{warnings:?}");
        let circle = ["s0", "s1", "s2", "s3"].iter().all(|switch| deadlock[1].contains(switch));
        assert!(circle, "{warnings:?}");
    }
    let found = run_with(RING, &[("run.stop", "10ms")]).summary.deadlock.expect("a deadlock");
    let mut nodes = found.nodes.clone();
    nodes.sort();
    assert_eq!(nodes, ["s0", "s1", "s2", "s3"]);
    assert!((1..9_500_000).contains(&found.since_ns), "{found:?}");
}

/// What the warning says to set.
#[test]
fn without_a_circle_nothing_is_told() {
    let (_, told) = warnings(RING, &[("run.time_limit", "10ms")]);
    let fix = "To finish them, set routing.paths = \"spanning-trees\" and routing.trees = 1";
    assert!(told[0].ends_with(fix), "{told:?}");
    let tree = [("routing.paths", "spanning-trees"), ("routing.trees", "1")];
    let (done, warnings) = warnings(RING, &tree);
    assert!(done == 16 && warnings.is_empty(), "{done} {warnings:?}");
}

/// The plan names the circle of which the run may make a deadlock, and no circle where the fix that
/// the warning names is applied.
#[test]
fn a_plan_names_the_circle_before_the_run() {
    let checks = |settings: &[(&str, &str)]| {
        rocelab::plan(&crate::common::parse(RING, settings)).unwrap().checks
    };
    let found = checks(&[("quirks.ns3_ecmp_hash", "true")]);
    let mut circle = found.buffer_cycle.clone();
    circle.sort_unstable();
    assert_eq!(circle, ["s0", "s1", "s2", "s3"]);
    let told = &found.warnings[0];
    assert!(told.starts_with("cyclic buffer dependency in priority 3: s"), "{told}");
    let fix = [("routing.paths", "spanning-trees"), ("routing.trees", "1")];
    assert!(told.contains("routing.paths = \"spanning-trees\" and routing.trees = 1"), "{told}");
    for settings in [&fix[..], &[("pfc.enabled", "false")]] {
        let found = checks(settings);
        assert!(found.buffer_cycle.is_empty(), "{settings:?}: {found:?}");
    }
}

#[test]
fn pauses_of_several_priorities_make_no_circle() {
    let (done, told) = warnings(TWO_CLASSES, &[]);
    assert_eq!(done, 0);
    assert!(told.len() == 1 && told[0].contains(": 2 still sending. "), "{told:?}");
    assert!(told[0].ends_with("raise run.time_limit"), "{told:?}");
    let (_, told) = warnings(TWO_CLASSES, &[("run.time_limit", "1s")]);
    assert!(told.is_empty(), "{told:?}");
}

/// The HPCC simulator's hash knows no spanning trees: the fix that is named turns it off, too.
#[test]
fn the_fix_works_with_the_hash_of_the_hpcc_simulator() {
    let hash = ("quirks.ns3_ecmp_hash", "true");
    let (_, told) = warnings(RING, &[hash, ("run.time_limit", "10ms")]);
    assert!(told.iter().any(|line| line.starts_with("deadlock: ")), "{told:?}");
    let fix = "set quirks.ns3_ecmp_hash = false, routing.paths = \"spanning-trees\" and \
        routing.trees = 1";
    assert!(told[0].ends_with(fix), "{told:?}");
    let tree = [("routing.paths", "spanning-trees"), ("routing.trees", "1")];
    let set = [hash, ("quirks.ns3_ecmp_hash", "false"), tree[0], tree[1]];
    assert_eq!(warnings(RING, &set), (16, vec![]));
}
