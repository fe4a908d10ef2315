//! Results have equal bytes for any number of threads, any grouping and any probes.
//!
//! # Golden digests
//! A golden digest changes when the simulated behaviour changes, and only then. When a change of
//! behaviour is meant, run `cargo test -p rocelab --test it golden`, read in the failure what
//! each scheme's digest is now, put it into `GOLDEN`, and say in the commit why it changed. A
//! refactoring or an optimisation never changes it.

use crate::common::run_on;

/// The k = 8 example, cut short.
fn fat_tree() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/fat-tree.toml");
    std::fs::read_to_string(path).expect("the example is there")
}

const PROBES: &str = r#"
    [[probe]]
    name = "queues"
    kind = "queue"
    interval = "777ns"
    nodes = ["tor0", "agg*", "core0"]
    [[probe]]
    name = "links"
    kind = "utilisation"
    interval = "1us"
    nodes = ["tor*"]
    [[probe]]
    name = "pauses"
    kind = "pause"
    interval = "333ns"
    nodes = ["core*"]
    [[probe]]
    name = "windows"
    kind = "window"
    interval = "5us"
    nodes = ["h0..h9"]
    [[probe]]
    name = "latency"
    kind = "latency"
    interval = "10us"
    nodes = ["h*"]
"#;

/// Protects the engine's promise on the example of the README, with and without probes.
#[test]
fn the_example_is_the_same_on_any_threads_with_any_probes() {
    let plain = fat_tree();
    let probed = format!("{plain}\n{PROBES}");
    let set = [("run.stop", "200us"), ("traffic.0.duration", "150us")];
    let first = run_on(&plain, &set, 1);
    assert!(first.summary.packet_hops > 300_000, "{} hops", first.summary.packet_hops);
    for threads in [2, 4] {
        let other = run_on(&plain, &set, threads);
        assert_eq!(other.summary.digest, first.summary.digest, "{threads} threads");
        assert_eq!((&other.flows, &other.ports), (&first.flows, &first.ports));
    }
    let watched = run_on(&probed, &set, 1);
    assert_eq!(watched.summary.digest, first.summary.digest, "probes on");
    assert_eq!((&watched.flows, &watched.ports), (&first.flows, &first.ports));
    // What is recorded is the same too.
    let others = run_on(&probed, &set, 3);
    assert_eq!(others.summary.digest, first.summary.digest, "probes on, 3 threads");
    for (one, three) in watched.series.iter().zip(&others.series) {
        assert!(!one.value.is_empty(), "{} recorded nothing", one.name);
        assert_eq!(one, three, "series {}", one.name);
    }
}

/// Racks of hosts on cables of 10 ns, pauses included; every scheme.
fn racks(scheme: &str, host_delay: &str, threads: usize) -> rocelab::RunResult {
    let text = r#"
        [run]
        time_limit = "100ms"
        [topology]
        kind = "leaf-spine"
        leaves = 4
        spines = 2
        hosts_per_leaf = 4
        host_rate = "100Gbps"
        host_delay = "10ns"
        rate = "100Gbps"
        delay = "1us"
        [pfc]
        xoff = "30KB"
        [[traffic]]
        kind = "incast"
        senders = 12
        receiver = "h0"
        size = "60KB"
        [[traffic]]
        kind = "permutation"
        size = "100KB"
        start = "3us"
    "#;
    run_on(text, &[("scheme", scheme), ("topology.host_delay", host_delay)], threads)
}

/// Protects groups: where in-rack cables are shorter than all others a rack is worked as one, and
/// that must not show.
#[test]
fn racks_on_short_cables_are_the_same_on_any_threads() {
    for (scheme, _) in GOLDEN {
        for host_delay in ["10ns", "137ns", "2us"] {
            let first = racks(scheme, host_delay, 1);
            assert_eq!((first.summary.flows_done, first.summary.lossless_drops), (28, 0));
            // ExpressPass pauses nobody, but drops credits.
            let eventful = first.summary.pause_frames + first.summary.drops > 0;
            assert!(eventful, "{scheme}: the case is one with pauses");
            for threads in [2, 3] {
                let other = racks(scheme, host_delay, threads);
                assert_eq!(
                    other.summary.digest, first.summary.digest,
                    "{scheme}, {host_delay}, {threads} threads"
                );
            }
        }
    }
}

/// Protects the digest itself: it tells runs apart that differ, in the seed or in the scheme.
#[test]
fn different_runs_have_different_digests() {
    let set = |seed| [("run.stop", "60us"), ("traffic.0.duration", "50us"), ("run.seed", seed)];
    let text = fat_tree();
    let digests = [
        run_on(&text, &set("1"), 1).summary.digest,
        run_on(&text, &set("2"), 1).summary.digest,
        racks("none", "10ns", 1).summary.digest,
        racks("dcqcn", "10ns", 1).summary.digest,
        racks("hpcc", "10ns", 1).summary.digest,
    ];
    for (place, digest) in digests.iter().enumerate() {
        assert!(!digests[..place].contains(digest), "{digests:?}");
    }
}

/// The digests of [`racks`] with cables of 10 ns. How to update them: see the top of this file.
const GOLDEN: [(&str, &str); 22] = [
    ("none", "1d05130506e6a2e7fafdff455389c144"),
    ("dcqcn", "23d258230bb960a6779e647d13ad8a80"),
    ("hpcc", "028f229a8b720e2e128560d3a082c242"),
    ("timely", "8ce5ac37c847c6a643c6547b84b28b8d"),
    ("dctcp", "e23b0bedb1cef6681888e9f706226a35"),
    ("hpcc-pint", "459201a0c61397f3eabebb967a5afe41"),
    ("expresspass", "095252386bea3290fa6d90eefaf160ca"),
    ("rocc", "a5c78f3f1436155172d93c856d234662"),
    ("swift", "3354dd6277991f2c087551067d5b0160"),
    ("fncc", "36e844b35de0f362fdb4517cbf5d1f73"),
    ("mercury", "00614246d8fafd8d14586577d1a063f0"),
    ("mercury+timely", "6e4f9763be29b2de11229f0a042037f2"),
    ("mercury+hpcc", "1419045945a79f93e65eeb18369bd76e"),
    ("hiercc", "0d4fb03bd5795626ad9a6b33a0a7f503"),
    ("rcm", "1912198eb27d58babd705d075b7ebf1d"),
    ("dcqcn+tcd", "dc5dc1284152839aa59ba324f96a5345"),
    ("timely+tcd", "8ce5ac37c847c6a643c6547b84b28b8d"),
    ("themis", "23d258230bb960a6779e647d13ad8a80"),
    ("themis+hpcc", "1efcb6e0f696baba7d08db0b5d990a07"),
    ("hpcc+tcd", "38af4b3aedab3ad3d785b424b3318ed1"),
    ("pacc", "bc24ccad5320a157fec2a12108f7d028"),
    ("annulus", "170796b29120c854d99582c9ea63b7cc"),
];

/// Protects results from changing unnoticed, from one version to the next and from one machine to
/// another.
#[test]
fn golden_digests() {
    let now = GOLDEN.map(|(scheme, _)| (scheme, racks(scheme, "10ns", 2).summary.digest));
    let expected = GOLDEN.map(|(scheme, digest)| (scheme, digest.to_owned()));
    assert_eq!(now, expected, "behaviour changed; if that is meant, see the top of this file");
}
