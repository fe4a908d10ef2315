//! Keys set over an experiment of the HPCC simulator: what follows from a setting follows from the
//! one that counts, not from the one in the files.

use crate::hpcc::{Run, run_with, scenario_with};
use rocelab::RunResult;

/// `hosts` hosts at a switch. All but the last send 1 MB to the last at once.
fn incast(law: &str, hosts: u32, rate: &str, more: &str) -> Run {
    let mut topology = format!("{} 1 {hosts}\n{hosts}\n", hosts + 1);
    for host in 0..hosts {
        topology += &format!("{host} {hosts} {rate} 1us 0\n");
    }
    let receiver = hosts - 1;
    let flows: Vec<String> =
        (0..receiver).map(|host| format!("{host} {receiver} 3 100 1000000 2.0")).collect();
    Run::new("settings", law, &topology, &flows, more)
}

fn marks(result: &RunResult) -> u64 {
    result.ports.ecn_marked_packets.iter().sum()
}

/// Protects from a scheme in name only: where the files' law needs no marks and the one that is set
/// does, switches mark, by the files' thresholds.
#[test]
fn a_scheme_that_is_set_has_its_marks() {
    let run = incast("hpcc", 5, "100Gbps", "");
    assert_eq!(marks(&run.result), 0, "HPCC heeds none");
    let none = run_with(&run.experiment, &[("scheme", "none")]).unwrap();
    assert_eq!(marks(&none), 0, "nothing derived from CC_MODE 3 stays");
    for set in ["scheme", "scheme.name"] {
        for scheme in ["dcqcn", "dctcp"] {
            // DCTCP's windows keep the queue below the files' threshold.
            let low = ("ecn.kmin", if scheme == "dctcp" { "20KB" } else { "400KB" });
            let result = run_with(&run.experiment, &[(set, scheme), low]).unwrap();
            assert!(marks(&result) > 0, "{scheme}");
            assert_ne!(result.summary.digest, none.summary.digest, "{scheme}");
            assert_eq!(result.summary.warnings, Vec::<String>::new());
            let (scenario, warnings) = scenario_with(&run.experiment, &[(set, scheme)]).unwrap();
            let ecn = scenario.ecn.expect("it marks");
            assert_eq!(
                (ecn.kmin.get(), ecn.kmax.get()),
                (400_000, 1_600_000),
                "KMIN_MAP, KMAX_MAP"
            );
            let window = format!(
                "scheme {scheme} is set: its parameters are those of preset {scheme}-paper"
            );
            assert!(warnings[0].starts_with(&window), "{warnings:?}");
            assert!(
                warnings[0].ends_with("scheme.params.window = \"bdp\" is the window of HAS_WIN")
            );
        }
    }
    // And back: marks that nobody heeds are left out.
    let dcqcn = incast("dcqcn", 5, "100Gbps", "");
    assert!(marks(&dcqcn.result) > 0);
    let hpcc = run_with(&dcqcn.experiment, &[("scheme", "hpcc")]).unwrap();
    assert_eq!((marks(&hpcc), hpcc.summary.warnings), (0, Vec::new()));
}

/// What a user gives goes before what the files give.
#[test]
fn thresholds_that_are_set_hold_at_all_ports() {
    let run = incast("dcqcn", 4, "100Gbps", "");
    let ecn = |settings: &[(&str, &str)]| scenario_with(&run.experiment, settings).unwrap().0.ecn;
    let law = |settings: &[(&str, &str)]| ecn(settings).expect("it marks").by_rate[0];
    let (_, kmin, kmax, pmax) = law(&[]);
    assert_eq!((kmin.get(), kmax.get(), pmax), (400_000, 1_600_000, 0.2));
    let (_, kmin, kmax, pmax) = law(&[("ecn.kmin", "10KB"), ("ecn.pmax", "0.5")]);
    assert_eq!((kmin.get(), kmax.get(), pmax), (10_000, 1_600_000, 0.5));
    let (_, kmin, ..) = law(&[("ecn.by_rate.0.kmin", "20KB")]);
    assert_eq!(kmin.get(), 20_000);
    let scaled = ecn(&[("ecn.reference_rate", "50Gbps")]).expect("it marks");
    assert_eq!((scaled.by_rate.len(), scaled.kmin.get()), (0, 400_000));
    assert_eq!(ecn(&[("ecn.enabled", "false")]), None);
    let error = scenario_with(&run.experiment, &[("ecn.kmin", "2MB")]).unwrap_err();
    assert_eq!(error.to_string(), "ecn.kmin: 2MB is above kmax, which is 1600KB");
}

/// A rate that the maps leave out is warned about if the law that is set needs them.
#[test]
fn rates_without_thresholds_are_told() {
    let run = incast("hpcc", 4, "200Gbps", "");
    let warnings = |settings: &[(&str, &str)]| scenario_with(&run.experiment, settings).unwrap().1;
    assert_eq!(warnings(&[]), Vec::<String>::new());
    let told = warnings(&[("scheme", "dcqcn")]);
    assert!(
        told[1].starts_with("KMIN_MAP, KMAX_MAP and PMAX_MAP do not all have an entry for 200Gbps")
    );
}

/// Protects from a scheme that waits for marks in vain.
#[test]
fn marks_that_are_off_are_told() {
    let run = incast("dcqcn", 4, "100Gbps", "ENABLE_QCN 0");
    assert_eq!(marks(&run.result), 0);
    let [warning] = run.result.summary.warnings.as_slice() else {
        panic!("{:?}", run.result.summary.warnings)
    };
    assert!(warning.contains("scheme.name = \"dcqcn\"") && warning.contains("ecn.enabled = false"));
    let marked = run_with(&run.experiment, &[("ecn.enabled", "true")]).unwrap();
    assert!(marks(&marked) > 0);
    assert_eq!(marked.summary.warnings, Vec::<String>::new());
}

/// Protects from an unlimited buffer: what PFC does not protect is dropped where the buffer is
/// full, whatever the dynamic threshold of the simulator leaves unchecked.
#[test]
fn without_pfc_a_full_buffer_drops() {
    let run = incast("none", 6, "100Gbps", "BUFFER_SIZE 1");
    let summary = &run.result.summary;
    assert_eq!((summary.drops, summary.flows_done), (0, 5));
    assert!(summary.pause_frames > 0 && summary.max_queue_bytes <= 1 << 20);
    for (key, value) in
        [("pfc.enabled", "false"), ("classes.lossless", "[]"), ("classes.lossless", "[4]")]
    {
        let summary = run_with(&run.experiment, &[(key, value)]).unwrap().summary;
        assert!(summary.drops > 0, "{key} = {value}");
        assert!(summary.max_queue_bytes <= 1 << 20, "{}", summary.max_queue_bytes);
    }
    // As PAUSE_TIME 0 has it, and a pause that is set again has the simulator's threshold.
    let unpaused = incast("none", 6, "100Gbps", "BUFFER_SIZE 1 PAUSE_TIME 0");
    let off = run_with(&run.experiment, &[("pfc.enabled", "false")]).unwrap().summary;
    assert_eq!(unpaused.result.summary.digest, off.digest);
    let settings = [("pfc.enabled", "true")];
    let (scenario, warnings) = scenario_with(&unpaused.experiment, &settings).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert!(scenario.quirks.rate_scaled_alpha.is_some());
    let on = run_with(&unpaused.experiment, &settings).unwrap().summary;
    assert_eq!(on.digest, run.result.summary.digest);
}

/// A static threshold leaves nothing of the dynamic one behind.
#[test]
fn a_threshold_that_is_set_replaces_the_dynamic_one() {
    let run = incast("none", 5, "100Gbps", "");
    for settings in [&[("pfc.threshold", "static")][..], &[("pfc.xoff", "50KB")]] {
        let (scenario, _) = scenario_with(&run.experiment, settings).unwrap();
        assert_eq!(scenario.quirks.rate_scaled_alpha, None);
        let result = run_with(&run.experiment, settings).unwrap();
        assert_eq!((result.summary.flows_done, result.summary.drops), (4, 0));
    }
}

/// A switch whose headroom exceeds the buffer gets it besides, of the buffer and headroom that
/// count.
#[test]
fn room_for_headroom_follows_from_what_is_set() {
    // Three times 12.5 KB a port, and the reserve.
    let star = |more: &str| {
        let run = incast("none", 30, "100Gbps", more);
        move |settings: &[(&str, &str)]| {
            let (scenario, warnings) = scenario_with(&run.experiment, settings).unwrap();
            (scenario.network.nodes[30].buffer.map(units::Bytes::get), warnings.len())
        }
    };
    let own = star("BUFFER_SIZE 1");
    let needed = 30 * (37_500 + 4_096);
    assert_eq!(own(&[]), (Some(needed + (1 << 20)), 1));
    assert_eq!(own(&[("switch.buffer", "1MB")]), (Some(needed + 1_000_000), 1));
    assert_eq!(own(&[("switch.buffer", "2MB")]), (None, 0));
    assert_eq!(own(&[("pfc.enabled", "false")]), (None, 0));
    assert_eq!(own(&[("pfc.headroom", "10KB")]), (None, 0));
    let unpaused = star("BUFFER_SIZE 1 PAUSE_TIME 0");
    assert_eq!(unpaused(&[]), (None, 1), "PAUSE_TIME 0 itself is told");
}

/// HPCC runs at rates that its INT has no code for; a warning names the format that can carry them.
#[test]
fn rates_without_a_code_are_told_unless_int_is_exact() {
    let run = incast("hpcc", 3, "10Gbps", "");
    let warnings = |settings: &[(&str, &str)]| scenario_with(&run.experiment, settings).unwrap().1;
    let told = warnings(&[]);
    assert!(told[0].starts_with("CC_MODE 3 has no code for 10Gbps"), "{told:?}");
    assert!(told[0].contains("--set scheme.params.int_format=full"));
    let full = ("scheme.params.int_format", "full");
    assert_eq!(warnings(&[full]), Vec::<String>::new());
    let exact = run_with(&run.experiment, &[full]).unwrap();
    assert_eq!(exact.summary.flows_done, 2);
    assert_ne!(exact.summary.digest, run.result.summary.digest);
    let themis = incast("hpcc", 3, "10Gbps", "ENABLE_THEMIS 0");
    assert!(
        scenario_with(&themis.experiment, &[]).unwrap().1[0].starts_with("CC_MODE 3 has no code")
    );
    assert_eq!(scenario_with(&themis.experiment, &[full]).unwrap().1, Vec::<String>::new());
    // Other schemes have no warning about the files' law.
    let none = warnings(&[("scheme", "none")]);
    assert!(none.len() == 1 && none[0].starts_with("scheme none is set"), "{none:?}");
}

/// Two leaves and two spines: data and ACKs have two paths.
const TWO_PATHS: &str = "8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n\
                         3 5 100Gbps 1us 0\n4 6 100Gbps 1us 0\n4 7 100Gbps 1us 0\n5 6 100Gbps 1us \
                         0\n\
                         5 7 100Gbps 1us 0\n";

/// A scheme that needs one path for data and ACKs runs once the named fix is applied.
#[test]
fn schemes_of_one_path_name_a_way_out() {
    let flows: Vec<String> =
        (0..8).map(|number| format!("{} {} 3 100 20000 2.0", number % 2, 2 + number % 2)).collect();
    let run = Run::new("paths", "dcqcn", TWO_PATHS, &flows, "");
    for scheme in ["fncc", "expresspass"] {
        let set = ("scheme", scheme);
        let error = run_with(&run.experiment, &[set]).unwrap_err().to_string();
        let words = [scheme, "quirks.ns3_ecmp_hash", "hint: set quirks.ns3_ecmp_hash = false"];
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        let mended = run_with(&run.experiment, &[set, ("quirks.ns3_ecmp_hash", "false")]).unwrap();
        assert_eq!(mended.summary.flows_done, 8, "{scheme}");
    }
    for (key, value) in [("routing.hash", "symmetric"), ("routing.paths", "spanning-trees")] {
        let error = run_with(&run.experiment, &[(key, value)]).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains("quirks.ns3_ecmp_hash"), "{error}");
        let settings = [(key, value), ("quirks.ns3_ecmp_hash", "false")];
        assert_eq!(run_with(&run.experiment, &settings).unwrap().summary.flows_done, 8);
    }
}

/// Every scheme runs on the simulator's files, or names the keys that keep it from it.
#[test]
fn every_scheme_runs_on_the_files_or_names_what_keeps_it() {
    let run = incast("dcqcn", 4, "100Gbps", "");
    for scheme in schemes::registry::all() {
        match run_with(&run.experiment, &[("scheme", scheme.name)]) {
            Ok(result) => assert_eq!(result.summary.flows_done, 3, "{}", scheme.name),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains(scheme.name) && error.contains("quirks."), "{error}");
            }
        }
    }
}

#[test]
fn what_the_files_are_is_not_set() {
    let run = incast("dcqcn", 3, "100Gbps", "");
    for (key, file) in [
        ("topology.k", "TOPOLOGY_FILE"),
        ("traffic.0.tag", "FLOW_FILE"),
        ("trace.pfc", "TRACE_FILE"),
    ] {
        let error = scenario_with(&run.experiment, &[(key, "1")]).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{key}: comes from the file that {file} names")),
            "{error}"
        );
    }
    let error = scenario_with(&run.experiment, &[("scheme.nam", "1")]).unwrap_err();
    assert!(error.key == "scheme.nam" && error.line.is_none(), "{error}");
}
