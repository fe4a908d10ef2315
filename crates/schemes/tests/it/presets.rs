//! What the registry shows of every scheme is consistent.

use schemes::dcqcn::Dcqcn;
use schemes::int::MAX_RECORD_AGE;
use schemes::params::{ParamError, ParamSpec, Value};
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

/// Protects warnings of a `min_rate` that does not fit: no scheme with the parameter forgets to say
/// what it means.
#[test]
fn a_parameter_min_rate_is_the_floor_of_the_rate() {
    let host_rate = Rate::from_gbps(100);
    let mut floors = 0;
    for scheme in registry::all() {
        for preset in (scheme.presets)() {
            let values = (scheme.resolve)(preset.name, host_rate, &[]).unwrap();
            let value = |name: &str| Some(values.iter().find(|(known, _)| *known == name)?.1);
            let is_read = |spec: &&ParamSpec| {
                spec.only.is_none_or(|(switch, words)| {
                    words.contains(&value(switch).unwrap().to_string().as_str())
                })
            };
            let mut specs = (scheme.params)().iter();
            let spec = specs.find(|spec| spec.name == "min_rate").filter(is_read);
            let set = spec.map(|spec| value(spec.name).unwrap());
            let floor = (scheme.rate_floor)(preset.name, host_rate, &[]).unwrap();
            assert_eq!(floor.map(|floor| Value::Rate(floor.rate)), set, "{}", preset.name);
            floors += usize::from(floor.is_some());
        }
    }
    assert!(floors > 20, "{floors}");
}

/// Protects the warning of INT records that are too old to compare, also where the parameter of
/// their format is not the user's.
#[test]
fn schemes_that_compare_full_int_records_say_how_old_these_may_be() {
    for name in ["hpcc", "hpcc+tcd", "fncc", "themis+hpcc", "mercury+hpcc"] {
        let scheme = registry::find(name).unwrap();
        let preset = (scheme.presets)().remove(0);
        let floor = (scheme.rate_floor)(preset.name, Rate::from_gbps(100), &[]).unwrap().unwrap();
        assert_eq!(
            (floor.max_packet_gap, floor.has_window),
            (Some(MAX_RECORD_AGE), true),
            "{name}"
        );
    }
}
