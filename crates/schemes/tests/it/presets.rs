//! What the registry shows of every scheme is consistent.

use schemes::params::{ParamError, Value};
use schemes::registry;
use std::collections::BTreeSet;
use units::{Rate, Time};

/// Port rates from a NIC of long ago to one of some years hence.
const RATES_GBPS: [u64; 8] = [10, 25, 40, 100, 200, 400, 800, 1600];

#[test]
fn every_preset_is_within_its_own_ranges() {
    for scheme in registry::all() {
        for preset in (scheme.presets)() {
            for gbps in RATES_GBPS {
                let rate = Rate::from_gbps(gbps);
                let values = (scheme.resolve)(preset.name, rate, &[]).unwrap();
                assert_eq!(values.len(), (scheme.params)().len(), "{}", preset.name);
                // As overrides the values go through all checks.
                let overrides: Vec<(String, Value)> =
                    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
                let again = (scheme.resolve)(preset.name, rate, &overrides);
                assert_eq!(again.as_ref(), Ok(&values), "{} at {rate}", preset.name);
            }
        }
    }
}

/// Protects from figures of a law that contradicts itself: each of these was accepted once and gave
/// some.
#[test]
fn values_that_break_a_law_together_are_refused() {
    let us = |n| Value::Time(Time::from_us(n));
    let contradictions = [
        ("rocc", "recovery_timer", us(40), "update_interval"),
        ("rcm", "harmful_share", Value::Number(17.0), "cam_depth"),
        ("mercury", "quiet_time", us(50), "notice_interval"),
        ("mercury+hpcc", "quiet_time", us(50), "notice_interval"),
        ("expresspass", "initial_w", Value::Number(0.6), "max_w"),
        ("expresspass", "initial_w", Value::Number(0.001), "min_w"),
        ("dcqcn+tcd", "hold_time", us(50), "cnp_interval"),
    ];
    for (scheme, name, value, other) in contradictions {
        let scheme = registry::find(scheme).unwrap();
        let preset = (scheme.presets)()[0].name;
        let overrides = [(name.to_owned(), value)];
        match (scheme.resolve)(preset, Rate::from_gbps(100), &overrides) {
            Err(ParamError::Conflict(which, why)) => {
                assert!(which == name && why.contains(other), "{}: {which}: {why}", scheme.name);
            }
            accepted => panic!("{}: {name}: {accepted:?}", scheme.name),
        }
    }
    let never = [("memory".to_owned(), Value::Time(Time::ZERO))];
    let rcm = registry::find("rcm").unwrap();
    assert!(
        (rcm.resolve)("rcm", Rate::from_gbps(100), &never).is_err(),
        "nothing would be congested"
    );
}

#[test]
fn names_are_unique_and_tables_complete() {
    let mut names = BTreeSet::new();
    let mut presets = BTreeSet::new();
    for scheme in registry::all() {
        assert!(names.insert(scheme.name), "two schemes are called {}", scheme.name);
        assert!(!(scheme.presets)().is_empty(), "{} has no preset", scheme.name);
        assert!(!scheme.title.is_empty() && !scheme.paper.is_empty());
        for preset in (scheme.presets)() {
            assert!(presets.insert(preset.name), "two presets are called {}", preset.name);
            assert!(!preset.summary.is_empty() && !preset.source.is_empty());
            if let Some(ecn) = preset.ecn {
                assert!(ecn.kmin <= ecn.kmax && (0.0..=1.0).contains(&ecn.pmax));
            }
        }
        for spec in (scheme.params)() {
            let name = spec.name;
            assert!(!spec.doc.is_empty() && !spec.source.is_empty(), "{}: {name}", scheme.name);
        }
    }
}
