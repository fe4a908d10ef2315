//! What the registry shows of a scheme is consistent.

use crate::params::Value;
use crate::registry::SchemeInfo;
use units::Rate;

/// Port rates from a NIC of long ago to one of some years hence.
const RATES_GBPS: [u64; 8] = [10, 25, 40, 100, 200, 400, 800, 1600];

/// Checks what the registry shows of a scheme: its texts, and whether every preset lies within the
/// ranges of its own parameters at port rates from 10 Gb/s to 1.6 Tb/s.
///
/// # Panics
///
/// If something is missing or out of range.
pub fn check_presets(scheme: &SchemeInfo) {
    let name = scheme.name;
    assert!(!scheme.title.is_empty() && !scheme.paper.is_empty(), "{name} has no title or paper");
    assert!(!(scheme.presets)().is_empty(), "{name} has no preset");
    for spec in (scheme.params)() {
        assert!(!spec.doc.is_empty(), "{name}: parameter {} has no description", spec.name);
        assert!(!spec.source.is_empty(), "{name}: parameter {} has no source", spec.name);
    }
    for preset in (scheme.presets)() {
        let who = preset.name;
        assert!(!preset.summary.is_empty() && !preset.source.is_empty(), "{who} has no texts");
        if let Some(ecn) = preset.ecn {
            assert!(ecn.kmin <= ecn.kmax && (0.0..=1.0).contains(&ecn.pmax), "{who}: {ecn:?}");
        }
        for gbps in RATES_GBPS {
            let rate = Rate::from_gbps(gbps);
            let values = match (scheme.resolve)(who, rate, &[]) {
                Ok(values) => values,
                Err(error) => panic!("preset {who} at {rate}: {error:?}"),
            };
            assert_eq!(values.len(), (scheme.params)().len(), "{who}");
            // As overrides the values go through all checks.
            let overrides: Vec<(String, Value)> =
                values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            let again = (scheme.resolve)(who, rate, &overrides);
            assert_eq!(again.as_ref(), Ok(&values), "{who} at {rate}");
        }
    }
}
