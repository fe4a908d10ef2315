//! What follows from an experiment's files together with the keys that are set besides: it is found
//! only when all of these are known, so that no value outlives the setting that it came from.

use super::convert::CONTROL;
use super::{law, warnings};
use hpcc_files::topology::Link;
use hpcc_files::{CcMode, Experiment, Warning};
use scenario::spec::{
    Architecture, ClassesSpec, EcnRateSpec, Headroom, ParamValue, PauseTimeSpec, Quantity,
    RefreshSpec, SchemeSpec, Spec, ThresholdKind,
};
use schemes::contract::EcnLaw;
use schemes::int::IntFormat;
use schemes::registry;
use units::{Bytes, NodeId, Rate, Time};

/// Switches keep this much for each port.
const RESERVE: Bytes = Bytes::new(4096);
/// They resume this far below the threshold.
const RESUME_OFFSET: Bytes = Bytes::new(3072);
/// Two packets, which a switch of ConWeave's simulator lets an ingress hold before they count.
const CONWEAVE_RESERVE: Bytes = Bytes::new(2 * 1048);
/// Without PFC an egress queue takes this much of the free buffer.
const CONWEAVE_LOSSY_ALPHA: f64 = 1.0;
/// It resumes below the threshold.
const CONWEAVE_RESUME_OFFSET: Bytes = Bytes::new(1);
/// Alpha of ports at the hosts' rate.
const ALPHA: f64 = 0.125;
/// Buffer of the THEMIS prototype's external switches, those with a link of [`LONG`] or more.
const EXTERNAL_BUFFER: Bytes = Bytes::new(200 << 20);
/// A link of this delay leads to another data centre.
const LONG: Time = Time::from_us(10);
/// The preset of HPCC that `CC_MODE 3` asks for.
pub(super) const HPCC_NS3: &str = "hpcc-ns3";
/// The format of INT in which a port whose rate has no code says 25 Gb/s.
pub(super) const UNCODED: &str = "hpcc-ns3-uncoded";

/// Keys that the user set.
#[derive(Clone, Copy)]
struct Settings<'a>(&'a [(String, String)]);

impl Settings<'_> {
    /// Whether the key, a part of it or the table around it was set.
    fn has(&self, key: &str) -> bool {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.0.iter().any(|(set, _)| within(set, key) || within(key, set))
    }

    /// Whether the whole table was replaced.
    fn replaces(&self, table: &str) -> bool {
        self.0.iter().any(|(set, _)| set == table)
    }
}

/// Completes `spec`, which has what the files say with `settings` over it. Returns what is served
/// in another way than by the original.
pub(super) fn derive(
    spec: &mut Spec,
    experiment: &Experiment,
    settings: &[(String, String)],
) -> Vec<Warning> {
    let settings = Settings(settings);
    let mut warnings = Vec::new();
    let own_law = scheme(spec, experiment, settings, &mut warnings);
    if !settings.has("classes.strict") {
        let acks_first = experiment.config.conweave_key().is_some();
        spec.classes.strict = strict(&spec.classes, &spec.scheme, (own_law, acks_first));
    }
    threshold(spec, experiment, settings);
    warnings.extend(marking(spec, experiment, settings));
    let pauses_set = settings.has("pfc.enabled");
    warnings.extend(warnings::in_fast_order(spec, experiment, pauses_set));
    warnings
}

/// Leaves out what the files say of a law that is not used. Returns whether the law is that of
/// `CC_MODE`.
fn scheme(
    spec: &mut Spec,
    experiment: &Experiment,
    settings: Settings<'_>,
    warnings: &mut Vec<Warning>,
) -> bool {
    let config = &experiment.config;
    let law = law::scheme(config);
    let scheme = &mut spec.scheme;
    if config.enable_themis == Some(true)
        && config.cc_mode != CcMode::Dcqcn
        && scheme.name == law.name
    {
        warnings.push(Warning::new("ENABLE_THEMIS goes with CC_MODE 1 alone: it is left out"));
    }
    if scheme.name != law.name && !settings.replaces("scheme") {
        if !settings.has("scheme.preset") {
            scheme.preset = None;
        }
        scheme.params.retain(|name, _| settings.has(&format!("scheme.params.{name}")));
    }
    let replaced = scheme.name != law.name || settings.replaces("scheme");
    if let Some(info) = registry::find(&scheme.name).filter(|_| replaced) {
        let default = (info.presets)().first().map_or("", |preset| preset.name);
        let preset = scheme.preset.as_deref().unwrap_or(default);
        let window = law::window(config);
        let takes_window = (info.params)().iter().any(|param| param.name == "window")
            && !scheme.params.contains_key("window")
            && window != "none";
        let mend = if takes_window {
            format!("; scheme.params.window = \"{window}\" is the window of HAS_WIN")
        } else {
            String::new()
        };
        warnings.push(Warning::new(format!(
            "scheme {} is set: its parameters are those of preset {preset}, and the keys of \
             CC_MODE {} and HAS_WIN are left out{mend}",
            scheme.name,
            config.cc_mode.number()
        )));
    }
    let is_coded = |link: &Link| IntFormat::SIMULATOR_RATES.contains(&link.rate);
    if scheme.name == "hpcc"
        && scheme.preset.as_deref() == Some(HPCC_NS3)
        && !experiment.topology.switch_links().all(is_coded)
    {
        let format = ParamValue::Text(UNCODED.to_owned());
        scheme.params.entry("int_format".to_owned()).or_insert(format);
    }
    scheme.name == law.name && scheme.preset == law.preset
}

/// Classes with strict precedence. `own_law`: the scheme is that of the files. `acks_first`:
/// switches send ACKs first.
fn strict(
    classes: &ClassesSpec,
    scheme: &SchemeSpec,
    (own_law, acks_first): (bool, bool),
) -> Vec<u8> {
    match (own_law, scheme.name.as_str()) {
        // CNPs of switches go before everything else; nothing else is of their class.
        (true, "themis") => vec![CONTROL],
        (true, _) if acks_first => vec![CONTROL],
        (true, _) => Vec::new(),
        // The original has no packets of their own for other schemes.
        (false, _) => {
            let usual = ClassesSpec::default().strict.into_iter();
            usual.filter(|priority| !classes.lossless.contains(priority)).collect()
        }
    }
}

/// The original's dynamic threshold, unless there is another.
fn threshold(spec: &mut Spec, experiment: &Experiment, settings: Settings<'_>) {
    let needs_cioq = registry::find(&spec.scheme.name).is_some_and(|info| info.input_queues);
    let cioq = match spec.switch.architecture {
        Some(architecture) => architecture == Architecture::Cioq,
        None => needs_cioq,
    };
    let fixed = cioq || spec.pfc.xoff.is_some();
    let usual = if fixed { ThresholdKind::Static } else { ThresholdKind::Dynamic };
    if *spec.pfc.threshold.get_or_insert(usual) == ThresholdKind::Static {
        return;
    }
    spec.pfc.alpha.get_or_insert(ALPHA);
    if experiment.config.conweave_key().is_some() {
        conweave_pauses(spec, experiment, settings);
    } else if spec.pfc.enabled && !settings.has("quirks.rate_scaled_alpha") {
        spec.quirks.rate_scaled_alpha = Some(Quantity(nic_rate(experiment)));
    }
    spec.pfc.resume_offset.get_or_insert(Quantity(RESUME_OFFSET));
    spec.pfc.reserve.get_or_insert(Quantity(RESERVE));
    if !settings.has("quirks.threshold_wraparound") {
        // Its external switches never pause; what it measured rests on that.
        spec.quirks.threshold_wraparound = experiment.config.enable_themis.is_some();
    }
}

/// Pauses and buffers of ConWeave's simulator.
fn conweave_pauses(spec: &mut Spec, experiment: &Experiment, settings: Settings<'_>) {
    if !settings.has("quirks.conweave_buffer") {
        spec.quirks.conweave_buffer = spec.pfc.enabled;
    }
    let takes_share = !spec.pfc.enabled && spec.quirks.go_with_balancing();
    if takes_share && !settings.has("switch.lossy_alpha") {
        spec.switch.lossy_alpha = Some(CONWEAVE_LOSSY_ALPHA);
    }
    let pfc = &mut spec.pfc;
    // Without flows no class is protected, and nothing pauses.
    if !spec.quirks.conweave_buffer || !pfc.enabled || spec.classes.lossless.is_empty() {
        return;
    }
    pfc.resume_offset.get_or_insert(Quantity(CONWEAVE_RESUME_OFFSET));
    pfc.reserve.get_or_insert(Quantity(CONWEAVE_RESERVE));
    if !settings.has("pfc.pause_time") {
        pfc.pause_time = Some(PauseTimeSpec::Time(Quantity(experiment.config.pause_time)));
        pfc.refresh.get_or_insert(RefreshSpec::Arrivals);
    }
}

/// The rate of the first host's port.
fn nic_rate(experiment: &Experiment) -> Rate {
    let topology = &experiment.topology;
    let first = topology.hosts().next();
    let mut links = topology.links.iter();
    let link = links.find(|link| first.is_some_and(|host| link.a == host || link.b == host));
    link.map_or(Rate::ZERO, |link| link.rate)
}

/// Buffers of switches.
pub(super) struct Buffers {
    /// For each node a buffer of its own, where it has one.
    pub buffers: Vec<Option<Bytes>>,
    /// The first switch whose headroom exceeds `BUFFER_SIZE`, that headroom, and how many there
    /// are.
    pub small: Option<(NodeId, u64, u64)>,
}

/// Buffers of switches that are too small for their headroom. There the original's arithmetic goes
/// below zero and its PFC never fires; here the switch gets room for its headroom besides, but for
/// the THEMIS prototype, whose external switches have buffers of their own and are as there.
pub(super) fn node_buffers(experiment: &Experiment, spec: &Spec) -> Buffers {
    let buffer = spec.switch.buffer.0;
    let prototype = experiment.config.enable_themis.is_some();
    let pauses = spec.pfc.enabled && !spec.classes.lossless.is_empty();
    let links = || experiment.topology.links.iter();
    let is_external =
        |node: NodeId| links().any(|link| link.delay >= LONG && (link.a == node || link.b == node));
    let mut small: Option<(NodeId, u64, u64)> = None;
    let kept = kept_apart(experiment, spec);
    let nodes = (0..).map(NodeId::new).zip(&experiment.topology.is_switch).zip(kept);
    let buffers = nodes.map(|((node, &is_switch), needed)| {
        if !is_switch {
            return None;
        }
        if prototype {
            return is_external(node).then_some(EXTERNAL_BUFFER);
        }
        // Beyond this, a link is longer than is allowed, and another error says so.
        if !pauses || needed < buffer.get() || needed > 1 << 50 {
            return None;
        }
        small.get_or_insert((node, needed, 0)).2 += 1;
        Some(Bytes::new(needed + buffer.get()))
    });
    Buffers { buffers: buffers.collect(), small }
}

/// Headroom and reserve of each node's ports, where headroom is the original's.
fn kept_apart(experiment: &Experiment, spec: &Spec) -> Vec<u64> {
    let mut kept = vec![0_u64; experiment.topology.is_switch.len()];
    let headroom = |link: &Link| {
        let in_cable = link.rate.bytes_in(link.delay).get();
        match spec.pfc.headroom {
            Headroom::ThreeBdp => Some(in_cable.saturating_mul(3)),
            Headroom::TwoBdp => {
                Some(in_cable.saturating_mul(2).saturating_add(Headroom::TWO_PACKETS.get()))
            }
            Headroom::Auto | Headroom::Fixed(_) => None,
        }
    };
    let shifted = spec.quirks.rate_scaled_alpha.is_some_and(|rate| rate.0 > Rate::ZERO);
    let shares = if shifted { 1 } else { spec.classes.lossless.len() as u64 };
    let reserve = spec.pfc.reserve.map_or(0, |reserve| reserve.0.get())
        * if spec.quirks.conweave_buffer { 4 } else { 1 };
    for link in &experiment.topology.links {
        let Some(headroom) = headroom(link) else { return vec![0; kept.len()] };
        let port = headroom.saturating_add(reserve);
        for end in [link.a, link.b] {
            let sum = &mut kept[end.index()];
            *sum = sum.saturating_add(port.saturating_mul(shares));
        }
    }
    kept
}

/// The thresholds of `KMIN_MAP`, `KMAX_MAP` and `PMAX_MAP` at ports of switches. Returns the first
/// rate of such ports that is in none of them, too.
pub(super) fn laws(experiment: &Experiment) -> (Vec<EcnRateSpec>, Option<Rate>) {
    let config = &experiment.config;
    let mut laws: Vec<EcnRateSpec> = Vec::new();
    let mut missing = None;
    for link in experiment.topology.marking_links() {
        if laws.iter().any(|law| law.rate.0 == link.rate) {
            continue;
        }
        let (kmin, kmax) = (config.kmin.get(&link.rate), config.kmax.get(&link.rate));
        let (Some(&kmin), Some(&kmax), Some(&pmax)) = (kmin, kmax, config.pmax.get(&link.rate))
        else {
            missing = missing.or(Some(link.rate));
            continue;
        };
        let rate = Quantity(link.rate);
        laws.push(EcnRateSpec { rate, kmin: Quantity(kmin), kmax: Quantity(kmax), pmax });
    }
    // Ports of NVSwitches mark nothing.
    for link in experiment.topology.switch_links() {
        if laws.iter().any(|law| law.rate.0 == link.rate) {
            continue;
        }
        if !experiment.topology.marking_links().any(|marks| marks.rate == link.rate) {
            let (rate, kmax) = (Quantity(link.rate), Quantity(config.buffer_size));
            laws.push(EcnRateSpec { rate, kmin: Quantity(Bytes::ZERO), kmax, pmax: 0.0 });
        }
    }
    (laws, missing)
}

/// The marking law that goes with the preset of a scheme.
fn law_of(scheme: &SchemeSpec) -> Option<EcnLaw> {
    let info = registry::find(&scheme.name)?;
    let preset = match &scheme.preset {
        Some(preset) => info.preset(preset),
        None => (info.presets)().first().copied(),
    };
    preset?.ecn
}

/// Where the scheme needs marks and `ENABLE_QCN` does not keep switches from marking, they mark by
/// the files' thresholds; where a threshold is set besides, it holds for ports of every rate.
fn marking(spec: &mut Spec, experiment: &Experiment, settings: Settings<'_>) -> Option<Warning> {
    let law = law_of(&spec.scheme);
    let ecn = &mut spec.ecn;
    let is_set = |key: &str| settings.has(&format!("ecn.{key}"));
    let marks = ecn.enabled.unwrap_or(law.is_some());
    if !is_set("by_rate") && (!marks || is_set("reference_rate")) {
        ecn.by_rate.clear();
    }
    if !marks {
        return None;
    }
    let (laws, missing) = laws(experiment);
    if missing.is_none()
        && let Some(first) = laws.first()
    {
        ecn.kmin.get_or_insert(first.kmin);
        ecn.kmax.get_or_insert(first.kmax);
        ecn.pmax.get_or_insert(first.pmax);
    }
    if is_set("by_rate") {
        return None;
    }
    for at in &mut ecn.by_rate {
        at.kmin = ecn.kmin.filter(|_| is_set("kmin")).unwrap_or(at.kmin);
        at.kmax = ecn.kmax.filter(|_| is_set("kmax")).unwrap_or(at.kmax);
        at.pmax = ecn.pmax.filter(|_| is_set("pmax")).unwrap_or(at.pmax);
    }
    let (rate, _) = (missing?, law?);
    Some(Warning::new(format!(
        "KMIN_MAP, KMAX_MAP and PMAX_MAP do not all have an entry for {rate}: ports of such rates \
         mark by the law of scheme {}; add entries, or set ecn.kmin, ecn.kmax and ecn.pmax",
        spec.scheme.name
    )))
}
