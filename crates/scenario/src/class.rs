//! From `[[classes.settings]]` to what single traffic classes have of their own.

use crate::error::{Result, ScenarioError};
use crate::network::Network;
use crate::settings::{
    Classes, Pfc, SwitchSettings, check_alpha, check_order, check_probability,
    check_reference_rate, class_threshold,
};
use crate::spec::{ClassEcnSpec, ClassSpec, QuirksSpec};
use crate::traffic::check_priority;
use model::{ClassMarking, ClassSettings};

/// The settings of classes, each of which comes once. Thresholds of PFC go to `pfc`.
pub(crate) fn resolve(
    specs: &mut [ClassSpec],
    classes: &Classes,
    pfc: &mut Pfc,
    switch: &SwitchSettings,
    network: &Network,
    quirks: &QuirksSpec,
) -> Result<Vec<ClassSettings>> {
    let mut found: Vec<ClassSettings> = Vec::new();
    for (index, spec) in specs.iter_mut().enumerate() {
        let key = |name: &str| format!("classes.settings.{index}.{name}");
        let here = || format!("classes.settings.{index}");
        let priority = spec.priority;
        check_priority(priority, || key("priority"))?;
        if !quirks.is_native() {
            let why = "does not go with quirks: classes of the HPCC simulator have no settings";
            return Err(ScenarioError::new(here(), why)
                .hint("leave [[classes.settings]] out, or turn the quirks off"));
        }
        if found.iter().any(|one| one.priority == priority) {
            let why = format!("priority {priority} has an entry already");
            return Err(ScenarioError::new(key("priority"), why));
        }
        if spec.ecn.is_none() && spec.lossy_alpha.is_none() && spec.pfc.is_none() {
            return Err(ScenarioError::new(here(), "sets nothing")
                .hint("give `ecn`, `pfc` or `lossy_alpha`, or leave the entry out"));
        }
        let is_protected = pfc.protects(classes, priority);
        let lossy_alpha = spec.lossy_alpha.map(|alpha| check_alpha(alpha, &key("lossy_alpha")));
        let lossy_alpha = lossy_alpha.transpose()?;
        if lossy_alpha.is_some() && is_protected {
            let why = "has no effect on a class that PFC protects";
            return Err(ScenarioError::new(key("lossy_alpha"), why)
                .hint("leave it out, or take the priority from classes.lossless"));
        }
        if lossy_alpha.is_some() && switch.cioq.is_some() {
            let why = "is a share of a shared buffer, and CIOQ switches have none";
            return Err(ScenarioError::new(key("lossy_alpha"), why)
                .hint("leave it out, or set switch.architecture = \"shared-memory\""));
        }
        if spec.pfc.is_some() && !is_protected {
            let why = "has no effect on a class that PFC does not protect";
            return Err(ScenarioError::new(key("pfc"), why)
                .hint("leave it out, or add the priority to classes.lossless"));
        }
        if let Some(own) = &mut spec.pfc {
            let threshold = class_threshold(own, pfc, switch, network, &key("pfc"))?;
            pfc.of_class[usize::from(priority)] = Some(threshold);
        }
        let marking = spec.ecn.as_mut().map(|ecn| marking(ecn, &key("ecn"))).transpose()?;
        found.push(ClassSettings { priority, marking, lossy_alpha });
    }
    Ok(found)
}

fn marking(spec: &mut ClassEcnSpec, key: &str) -> Result<ClassMarking> {
    let key = |name: &str| format!("{key}.{name}");
    if !spec.enabled {
        let given = [
            ("kmin", spec.kmin.is_some()),
            ("kmax", spec.kmax.is_some()),
            ("pmax", spec.pmax.is_some()),
            ("reference_rate", spec.reference_rate.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let why = "has no effect with `enabled = false`";
            return Err(ScenarioError::new(key(name), why).hint("leave one of the two out"));
        }
        return Ok(ClassMarking::Off);
    }
    let (Some(kmin), Some(kmax)) = (spec.kmin, spec.kmax) else {
        let name = if spec.kmin.is_none() { "kmin" } else { "kmax" };
        return Err(ScenarioError::new(key(name), "is missing")
            .hint("a class with marking of its own has both `kmin` and `kmax`"));
    };
    check_order(kmin.0, kmax.0, &key("kmin"))?;
    let pmax = *spec.pmax.get_or_insert(1.0);
    check_probability(pmax, &key("pmax"))?;
    check_reference_rate(spec.reference_rate, &key("reference_rate"))?;
    let at = spec.reference_rate.map(|at| at.0);
    Ok(ClassMarking::Law { kmin: kmin.0, kmax: kmax.0, pmax, at })
}
