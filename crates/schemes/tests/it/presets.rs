//! What the registry shows of every scheme is consistent.

use schemes::dcqcn::Dcqcn;
use schemes::params::{ParamError, Value};
use schemes::registry::{self, AddError, SchemeInfo};
use schemes::testing::check_presets;
use std::collections::BTreeSet;
use units::{Rate, Time};

#[test]
fn every_scheme_has_its_texts_and_presets_within_their_ranges() {
    for scheme in registry::all() {
        check_presets(scheme);
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

/// Protects the selection by `ROCELAB_SCHEMES`, which goes by the names in `schemes.txt`.
#[test]
fn schemes_have_the_names_by_which_they_are_selected() {
    let names: Vec<&str> = registry::all().iter().map(|scheme| scheme.name).collect();
    assert_eq!(names, registry::COMPILED_IN);
}

/// Protects users of schemes of their own: a scenario never names two schemes at once.
#[test]
fn a_scheme_with_the_name_of_another_is_not_added() {
    let again = SchemeInfo::of::<Dcqcn>();
    let refused = registry::add(&[again], &[]).unwrap_err();
    assert_eq!(refused, AddError::NameTaken("dcqcn"));
    assert!(refused.to_string().starts_with("there are two schemes called dcqcn: "));
    assert_eq!(registry::add(&[], &[again]), Err(AddError::NameTaken("dcqcn")));
}

#[test]
fn names_are_unique() {
    let mut names = BTreeSet::new();
    let mut presets = BTreeSet::new();
    for scheme in registry::all() {
        assert!(names.insert(scheme.name), "two schemes are called {}", scheme.name);
        for preset in (scheme.presets)() {
            assert!(presets.insert(preset.name), "two presets are called {}", preset.name);
        }
    }
}
