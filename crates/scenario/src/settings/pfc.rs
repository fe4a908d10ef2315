//! `[pfc]`: thresholds and headroom, checked against the switches' buffers.

use super::{Classes, MAX_BUFFER, SwitchSettings, Wire};
use crate::error::{Result, ScenarioError};
use crate::network::{Network, NodeKind, WAN_DELAY};
use crate::spec::{
    ClassPfcSpec, Headroom, PauseTimeSpec, PfcSpec, Quantity, QuirksSpec, RefreshSpec,
    ResponseSpec, ThresholdKind, WatchdogActionSpec, WatchdogSpec,
};
use crate::traffic::check_time;
use model::{
    Link, PauseExpiry, PauseLength, PauseRenewal, PauseResponse, PauseTiming, Watchdog,
    WatchdogAction,
};
use units::{Bytes, Rate, Time};

/// Priority flow control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pfc {
    /// Whether switches pause; without it full buffers drop.
    pub enabled: bool,
    /// When an ingress queue pauses its upstream.
    pub threshold: Threshold,
    /// By priority, the threshold of classes that have one of their own. It is of the same kind.
    pub of_class: [Option<Threshold>; 8],
    /// Buffer for what still arrives after a pause.
    pub headroom: Headroom,
    /// How fast a pause takes hold, how long it lasts, and who frees what is paused without end.
    pub timing: PauseTiming,
}

impl Pfc {
    /// Returns whether anything may be paused.
    pub fn pauses(&self, classes: &Classes) -> bool {
        self.enabled && !classes.lossless.is_empty()
    }

    /// Returns whether PFC protects packets of a priority.
    pub fn protects(&self, classes: &Classes, priority: u8) -> bool {
        self.enabled && classes.lossless.contains(&priority)
    }
}

/// When an ingress queue (a port and priority) pauses its upstream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At a fixed number of bytes.
    Static {
        /// Pause at this many bytes.
        xoff: Bytes,
        /// Resume at this; not above `xoff`.
        xon: Bytes,
    },
    /// At a share of what is left of the shared buffer.
    Dynamic {
        /// The share.
        alpha: f64,
        /// Resume this much below the threshold.
        resume_offset: Bytes,
        /// Buffer kept for each port alone.
        reserve: Bytes,
    },
}

/// Switches count the alpha of dynamic thresholds in these.
const MIN_ALPHA: f64 = 1.0 / 65_536.0;

pub(crate) fn pfc(
    spec: &mut PfcSpec,
    switch: &SwitchSettings,
    classes: &Classes,
    wire: &Wire,
    network: &Network,
    quirks: &QuirksSpec,
) -> Result<Pfc> {
    // Where nothing pauses, defaults are not filled in: what is there was given.
    let pauses = spec.enabled && !classes.lossless.is_empty();
    let mut idle = (!pauses).then(|| spec.clone());
    let spec = idle.as_mut().unwrap_or(spec);
    let fixed = spec.xoff.is_some() || switch.cioq.is_some();
    let default = if fixed { ThresholdKind::Static } else { ThresholdKind::Dynamic };
    let threshold = match *spec.threshold.get_or_insert(default) {
        ThresholdKind::Static => {
            refuse_quirks_of_dynamic(quirks, switch)?;
            fixed_threshold(spec, pauses, switch, network)?
        }
        ThresholdKind::Dynamic if switch.cioq.is_some() => {
            return Err(ScenarioError::new(
                "pfc.threshold",
                "a dynamic threshold shares a buffer, and with switch.architecture = \"cioq\" \
                 there is none",
            )
            .hint("set pfc.threshold = \"static\", or leave it out"));
        }
        ThresholdKind::Dynamic => dynamic_threshold(spec, switch, network)?,
    };
    if let Headroom::Fixed(headroom) = spec.headroom
        && headroom > MAX_BUFFER
    {
        let why = format!("{headroom} is out of range; allowed: 0B to {MAX_BUFFER}");
        return Err(ScenarioError::new("pfc.headroom", why));
    }
    let timing = timing(spec, classes, network, quirks)?;
    let (enabled, headroom) = (spec.enabled, spec.headroom);
    let pfc = Pfc { enabled, threshold, of_class: [None; 8], headroom, timing };
    let limited = switch.cioq.is_none() && !quirks.threshold_wraparound;
    if pauses && limited {
        check_headroom(&pfc, switch, classes, wire, network, quirks)?;
    }
    Ok(pfc)
}

/// The times of pauses.
fn timing(
    spec: &PfcSpec,
    classes: &Classes,
    network: &Network,
    quirks: &QuirksSpec,
) -> Result<PauseTiming> {
    let default = PfcSpec::default();
    let given = [
        ("response", spec.response != default.response),
        ("pause_time", spec.pause_time.is_some()),
        ("refresh", spec.refresh.is_some()),
        ("watchdog", spec.watchdog.is_some()),
    ];
    let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else {
        return Ok(PauseTiming::default());
    };
    let key = format!("pfc.{key}");
    let refuse = |why: &str, hint: &str| {
        Err(ScenarioError::new(&key, why).hint(format!("leave {key} out, or {hint}")))
    };
    if !spec.enabled {
        return refuse("has no effect with pfc.enabled = false", "set pfc.enabled = true");
    }
    if classes.lossless.is_empty() {
        let why = "has no effect with classes.lossless = []: PFC protects no priority";
        return refuse(why, "name priorities in classes.lossless");
    }
    if !quirks.conweave_buffer && !quirks.is_native() {
        let why = "does not go with quirks: pauses of the HPCC simulator have no times";
        return refuse(why, "turn the quirks off");
    }
    let response = match spec.response {
        ResponseSpec::Ieee8023 => PauseResponse::Ieee8023,
        ResponseSpec::After(time) => {
            let time = check_time(Quantity(time), || "pfc.response".to_owned())?;
            PauseResponse::Fixed(time)
        }
    };
    if spec.refresh.is_some() && spec.pause_time.is_none() {
        let why = "has no effect without pfc.pause_time: a pause lasts until it is taken back";
        return Err(ScenarioError::new("pfc.refresh", why).hint("give pfc.pause_time"));
    }
    let expiry = match spec.pause_time {
        None => None,
        Some(PauseTimeSpec::Quanta(0) | PauseTimeSpec::Time(Quantity(Time::ZERO))) => {
            let why = "must be above zero: a pause of no time is a resume";
            return Err(ScenarioError::new("pfc.pause_time", why));
        }
        Some(given) => {
            let length = match given {
                PauseTimeSpec::Quanta(quanta) => PauseLength::Quanta(quanta),
                PauseTimeSpec::Time(time) => {
                    PauseLength::Time(check_time(time, || "pfc.pause_time".to_owned())?)
                }
            };
            let renewal = match spec.refresh {
                None => PauseRenewal::AfterHalf,
                Some(RefreshSpec::Arrivals) => PauseRenewal::Arrivals,
                Some(RefreshSpec::After(time)) => {
                    let key = || "pfc.refresh".to_owned();
                    PauseRenewal::After(check_time(Quantity(time), key)?)
                }
            };
            Some(PauseExpiry { length, renewal })
        }
    };
    let watchdog = match &spec.watchdog {
        None => None,
        Some(WatchdogSpec { detect, restore, action }) => {
            for (name, time) in [("detect", detect), ("restore", restore)] {
                let key = || format!("pfc.watchdog.{name}");
                if check_time(*time, key)? == Time::ZERO {
                    return Err(ScenarioError::new(key(), "must be above zero"));
                }
            }
            let action = match action {
                WatchdogActionSpec::Drop => WatchdogAction::Drop,
                WatchdogActionSpec::Forward => WatchdogAction::Forward,
            };
            Some(Watchdog { detect: detect.0, restore: restore.0, action })
        }
    };
    let timing = PauseTiming { response, expiry, watchdog };
    for link in network.links.iter().filter(|link| link.pfc) {
        check_pause_times(&timing, link, link.rate)?;
    }
    Ok(timing)
}

/// Refuses times of pauses that do not fit a link at a rate that it has.
pub(crate) fn check_pause_times(timing: &PauseTiming, link: &Link, rate: Rate) -> Result<()> {
    let Some(response) = timing.response.known_at(rate) else {
        let why = format!("\"802.3\" has no bound that is known here for links of {rate}");
        return Err(ScenarioError::new("pfc.response", why).hint("give a time"));
    };
    let Some(expiry) = timing.expiry else { return Ok(()) };
    // What still arrives sends such a pause again.
    if expiry.renewal == PauseRenewal::Arrivals {
        return Ok(());
    }
    let (lasts, again) = (expiry.lasts(rate), expiry.refreshed_after(rate));
    if again == Time::ZERO || again >= lasts {
        let why =
            format!("a pause is sent again after {again}, but lasts {lasts} at links of {rate}");
        let key = match expiry.renewal {
            PauseRenewal::AfterHalf => "pfc.pause_time",
            PauseRenewal::After(_) | PauseRenewal::Arrivals => "pfc.refresh",
        };
        return Err(ScenarioError::new(key, why).hint("refresh it before it ends"));
    }
    // Else the peer sends again before a refresh can reach it.
    let least = link.delay * 2 + response;
    if lasts <= least {
        let why = format!(
            "a pause of {lasts} at links of {rate} ends before the queue can have seen it: that \
             takes up to {least}"
        );
        return Err(ScenarioError::new("pfc.pause_time", why).hint("raise it"));
    }
    Ok(())
}

/// Refuses quirks that change a dynamic threshold where there is none.
fn refuse_quirks_of_dynamic(quirks: &QuirksSpec, switch: &SwitchSettings) -> Result<()> {
    let quirks = [
        ("quirks.rate_scaled_alpha", quirks.rate_scaled_alpha.is_some(), "0bps"),
        ("quirks.threshold_wraparound", quirks.threshold_wraparound, "false"),
        ("quirks.conweave_buffer", quirks.conweave_buffer, "false"),
    ];
    // CIOQ switches have no quirk at all.
    let found = quirks.iter().find(|(_, on, _)| *on && switch.cioq.is_none());
    let Some((key, _, off)) = found else { return Ok(()) };
    let why = "goes with pfc.threshold = \"dynamic\", but it is \"static\"";
    Err(ScenarioError::new(*key, why).hint(format!(
        "set {key} = {off}, or pfc.threshold = \"dynamic\" without pfc.xoff and pfc.xon"
    )))
}

/// Xoff and Xon of every ingress. Where nothing `pauses`, the default fits any buffer.
fn fixed_threshold(
    spec: &mut PfcSpec,
    pauses: bool,
    switch: &SwitchSettings,
    network: &Network,
) -> Result<Threshold> {
    let (room, ..) = room(switch, network);
    refuse_strangers(
        "pfc",
        "static",
        &[
            ("alpha", spec.alpha.is_some()),
            ("resume_offset", spec.resume_offset.is_some()),
            ("reserve", spec.reserve.is_some()),
        ],
    )?;
    let share = |bytes: Bytes, parts, of| Bytes::new(bytes.get() * parts / of);
    let usual = match switch.cioq {
        Some(_) => share(room, 7, 10),
        None if pauses => Bytes::new(320_000),
        None => Bytes::new(320_000).min(room),
    };
    if spec.xoff.is_none() && usual == Bytes::ZERO {
        return Err(ScenarioError::new(
            "switch.input_queue",
            format!("{room} is too small: a port pauses at seven tenths of it"),
        ));
    }
    let xoff = spec.xoff.get_or_insert(Quantity(usual)).0;
    let below = match switch.cioq {
        Some(_) => share(xoff, 5, 7),
        None => xoff.saturating_sub(Bytes::new(2_000)),
    };
    let xon = spec.xon.get_or_insert(Quantity(below)).0;
    check_fixed(xoff, xon, switch, network, "pfc")?;
    Ok(Threshold::Static { xoff, xon })
}

/// How much an ingress may store at most, what that is, and how to have more.
fn room(switch: &SwitchSettings, network: &Network) -> (Bytes, String, String) {
    match switch.cioq {
        Some(cioq) => (
            cioq.input_queue,
            "an input queue".to_owned(),
            "lower it, or enlarge switch.input_queue".to_owned(),
        ),
        None => smallest_buffer(switch, network),
    }
}

/// Checks that a queue of `xoff` bytes has room, and that it does not resume above that.
fn check_fixed(
    xoff: Bytes,
    xon: Bytes,
    switch: &SwitchSettings,
    network: &Network,
    key: &str,
) -> Result<()> {
    let (room, what, mend) = room(switch, network);
    let of_xoff = |why: &str| ScenarioError::new(format!("{key}.xoff"), why);
    if xoff == Bytes::ZERO {
        return Err(of_xoff("must be above zero"));
    }
    if xoff > room {
        return Err(of_xoff(&format!("{xoff} is more than {what} of {room}")).hint(mend));
    }
    if xon > xoff {
        let why = format!("{xon} is above xoff, which is {xoff}");
        return Err(ScenarioError::new(format!("{key}.xon"), why)
            .hint("a port pauses at xoff and resumes at xon"));
    }
    Ok(())
}

/// The threshold of a class, of the kind that `[pfc]` has.
pub(crate) fn class_threshold(
    spec: &mut ClassPfcSpec,
    pfc: &Pfc,
    switch: &SwitchSettings,
    network: &Network,
    key: &str,
) -> Result<Threshold> {
    let missing = |name: &str, kind: &str| {
        let why =
            format!("is missing: it is the class's threshold where pfc.threshold = \"{kind}\"");
        ScenarioError::new(format!("{key}.{name}"), why)
    };
    match pfc.threshold {
        Threshold::Dynamic { resume_offset, reserve, .. } => {
            let strangers = [("xoff", spec.xoff.is_some()), ("xon", spec.xon.is_some())];
            refuse_strangers(key, "dynamic", &strangers)?;
            let alpha = spec.alpha.ok_or_else(|| missing("alpha", "dynamic"))?;
            let alpha = check_alpha(alpha, &format!("{key}.alpha"))?;
            Ok(Threshold::Dynamic { alpha, resume_offset, reserve })
        }
        Threshold::Static { xoff: usual, xon } => {
            refuse_strangers(key, "static", &[("alpha", spec.alpha.is_some())])?;
            let xoff = spec.xoff.ok_or_else(|| missing("xoff", "static"))?.0;
            let below = xoff.saturating_sub(usual - xon);
            let xon = spec.xon.get_or_insert(Quantity(below)).0;
            check_fixed(xoff, xon, switch, network, key)?;
            Ok(Threshold::Static { xoff, xon })
        }
    }
}

/// The smallest buffer of the switches that may pause a link, whose it is, and how to have a larger
/// one.
fn smallest_buffer(switch: &SwitchSettings, network: &Network) -> (Bytes, String, String) {
    let protected = network.links.iter().filter(|link| link.pfc);
    let ends = protected.flat_map(|link| [link.a, link.b]).map(|end| (end, network.node(end)));
    let smallest = ends
        .filter(|(_, node)| node.kind == NodeKind::Switch && node.buffer.is_some())
        .min_by_key(|(_, node)| node.buffer)
        .filter(|(_, node)| node.buffer < Some(switch.buffer));
    match smallest {
        Some((id, node)) => (
            switch.buffer_of(node).0,
            format!("the buffer of {}", network.name(id)),
            "lower it, or enlarge that switch's own buffer".to_owned(),
        ),
        None => (
            switch.buffer,
            "the switch's buffer".to_owned(),
            "lower it, or enlarge switch.buffer".to_owned(),
        ),
    }
}

/// Checks how many times what is free may be taken.
pub(crate) fn check_alpha(alpha: f64, key: &str) -> Result<f64> {
    if (MIN_ALPHA..=64.0).contains(&alpha) {
        return Ok(alpha);
    }
    Err(ScenarioError::new(key, format!("must be from 2^-16 to 64, got {alpha}")))
}

/// A share of the free buffer.
fn dynamic_threshold(
    spec: &mut PfcSpec,
    switch: &SwitchSettings,
    network: &Network,
) -> Result<Threshold> {
    let strangers = [("xoff", spec.xoff.is_some()), ("xon", spec.xon.is_some())];
    refuse_strangers("pfc", "dynamic", &strangers)?;
    let alpha = check_alpha(*spec.alpha.get_or_insert(0.125), "pfc.alpha")?;
    let (room, what, mend) = smallest_buffer(switch, network);
    let usual = |bytes| Quantity(Bytes::new(bytes).min(room));
    let resume_offset = spec.resume_offset.get_or_insert(usual(3_000)).0;
    let reserve = spec.reserve.get_or_insert(usual(4_000)).0;
    for (key, value) in [("pfc.resume_offset", resume_offset), ("pfc.reserve", reserve)] {
        if value > room {
            let why = format!("{value} is more than {what} of {room}");
            return Err(ScenarioError::new(key, why).hint(mend));
        }
    }
    Ok(Threshold::Dynamic { alpha, resume_offset, reserve })
}

/// Refuses keys of `table` that belong to the other kind of threshold.
fn refuse_strangers(table: &str, kind: &str, keys: &[(&str, bool)]) -> Result<()> {
    match keys.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let other = if kind == "static" { "dynamic" } else { "static" };
            Err(ScenarioError::new(
                format!("{table}.{key}"),
                format!("goes with pfc.threshold = \"{other}\", but it is \"{kind}\""),
            )
            .hint(format!("leave {table}.{key} out, or set pfc.threshold = \"{other}\"")))
        }
    }
}

/// Refuses a buffer that is smaller than its headroom: what still comes after a pause was sent, for
/// every port and lossless priority, without what headers and PFC frames add. Where it only just
/// holds this, the fabric refuses it, which knows the rest.
fn check_headroom(
    pfc: &Pfc,
    switch: &SwitchSettings,
    classes: &Classes,
    wire: &Wire,
    network: &Network,
    quirks: &QuirksSpec,
) -> Result<()> {
    let shares =
        if quirks.rate_scaled_alpha.is_some() { 1 } else { classes.lossless.len() as u128 };
    let mut needed = vec![0_u128; network.nodes.len()];
    let mut longest = Time::ZERO;
    for link in network.links.iter().filter(|link| link.pfc) {
        longest = longest.max(link.delay);
        let bytes = match pfc.headroom {
            Headroom::Fixed(bytes) => u128::from(bytes.get()),
            Headroom::Auto => {
                let payload = Bytes::new(wire.payload.into());
                let cable = (link.rate, link.delay);
                u128::from(pfc.timing.still_arrives(cable, switch.latency, payload, 0).get())
            }
            Headroom::TwoBdp => {
                2 * u128::from(link.rate.bytes_in(link.delay).get())
                    + u128::from(Headroom::TWO_PACKETS.get())
            }
            Headroom::ThreeBdp => 3 * u128::from(link.rate.bytes_in(link.delay).get()),
        } * shares;
        for end in [link.a, link.b] {
            needed[end.index()] += bytes;
        }
    }
    let nodes = network.nodes.iter().zip(&network.names).zip(&needed);
    let short = nodes.filter(|((node, _), needed)| {
        node.kind == NodeKind::Switch && **needed >= u128::from(switch.buffer_of(node).0.get())
    });
    let Some(((node, name), &needed)) = short.max_by_key(|(_, needed)| **needed) else {
        return Ok(());
    };
    let (buffer, key) = switch.buffer_of(node);
    if let Headroom::Fixed(bytes) = pfc.headroom {
        let why = format!(
            "{bytes} is too large for {name}, whose buffer is {buffer}: so much is kept free for \
             each of its ports and lossless priorities, {} in all",
            rounded(needed)
        );
        let larger = if node.buffer.is_some() { "that switch's own buffer" } else { key };
        let mend = format!("lower it, enlarge {larger}, or have fewer lossless priorities");
        return Err(ScenarioError::new("pfc.headroom", why).hint(mend));
    }
    let mend = if longest >= WAN_DELAY {
        "a long link still delivers twice its delay times its rate after a pause; give external \
         switches a buffer of their own that holds it (topology.external_buffer), turn PFC off on \
         long links (topology.wan_pfc = false, or a link's `pfc`), or have it never fire there, \
         as in the HPCC simulator (quirks.threshold_wraparound)"
    } else {
        "headroom holds what each link still delivers after a pause, for each lossless \
         priority: three packets, and its rate times twice the link's delay and the switch's \
         latency; enlarge the buffer, set pfc.headroom, or have fewer lossless priorities"
    };
    let needed = rounded(needed);
    let why = format!(
        "{buffer} is too small for PFC: it must be above the headroom of {name}'s ports, which is \
         {needed} or more"
    );
    Err(ScenarioError::new(key, why).hint(mend))
}

/// Rounds `bytes` down to three digits.
fn rounded(bytes: u128) -> Bytes {
    let digits = bytes.checked_ilog10().unwrap_or(0);
    let step = 10_u128.pow(digits.saturating_sub(2));
    Bytes::new(u64::try_from(bytes / step * step).unwrap_or(u64::MAX))
}
