//! Loss recovery of hosts, and how they spread packets over paths.

use super::{long_links, timeout};
use crate::error::{Result, ScenarioError};
use crate::network::Network;
use crate::spec::{HostSpec, LossAfter, Quantity, RepsSpec, SpanSpec, SprayKind, Timeout};
use crate::traffic::MAX_TIME;
use model::{LossRule, PortUse, Recovery, RecoveryMode, Span, Spray};
use schemes::registry::SchemeInfo;
use units::{Bytes, Time};

/// IRN's timeouts (SIGCOMM 2018, section 3.1), and to how many packets the short one applies.
const RTO_LOW: Time = Time::from_us(100);
const RTO_HIGH: Time = Time::from_us(320);
const RTO_LOW_PACKETS: u32 = 3;

/// What of the rest of a scenario decides on recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    /// Switches choose a path for each packet.
    pub(crate) balances_packets: bool,
    /// Data is never lost: PFC on all links, none of which fails or damages packets.
    pub(crate) is_lossless: bool,
    /// The timeout of go-back-N.
    pub(crate) usual_timeout: Time,
}

/// Refuses a key that has no effect.
pub(crate) fn no_effect_of(section: &str, key: &str, goes_with: &str) -> ScenarioError {
    ScenarioError::new(format!("{section}.{key}"), format!("goes with {goes_with} only"))
        .hint(format!("leave {section}.{key} out, or set {goes_with}"))
}

fn no_effect(key: &str, goes_with: &str) -> ScenarioError {
    no_effect_of("host", key, goes_with)
}

/// Loss recovery, complete.
pub(crate) fn recovery(
    spec: &mut HostSpec,
    scheme: &SchemeInfo,
    network: &Network,
    around: Surroundings,
) -> Result<Recovery> {
    check_mode(spec)?;
    let is_selective = spec.recovery == RecoveryMode::SelectiveRepeat;
    let usual = match (is_selective, scheme.name) {
        (true, "none") => SpanSpec::Bdp,
        _ => SpanSpec::Unlimited,
    };
    let in_flight = if is_selective {
        *spec.in_flight.get_or_insert(usual)
    } else {
        spec.in_flight.unwrap_or(usual)
    };
    let mut recovery = Recovery {
        mode: spec.recovery,
        reorder: reorder(spec, in_flight)?,
        max_in_flight: span(in_flight, "in_flight")?,
        reordering_is_congestion: spec.reordering_makes_cnp,
        ..Recovery::GO_BACK_N
    };
    if recovery.max_in_flight == Span::Packets(0) {
        return Err(ScenarioError::new("host.in_flight", "must be above zero"));
    }
    if is_selective {
        let spreads =
            around.balances_packets || spec.spray != SprayKind::Off || spec.ports == PortUse::Spray;
        recovery.loss_after = loss_after(spec, spreads)?;
        (recovery.rto_low, recovery.rto_high) = timeouts(spec, network, around)?;
        recovery.rto_low_packets = *spec.rto_low_packets.get_or_insert(RTO_LOW_PACKETS);
    }
    Ok(recovery)
}

/// Refuses keys of the other mode of recovery.
fn check_mode(spec: &HostSpec) -> Result<()> {
    let go_back = "host.recovery = \"go-back-n\"";
    let keys: &[(&str, bool)] = match spec.recovery {
        RecoveryMode::GoBackN => &[
            ("loss_after", spec.loss_after.is_some()),
            ("rto_low", spec.rto_low.is_some()),
            ("rto_high", spec.rto_high.is_some()),
            ("rto_low_packets", spec.rto_low_packets.is_some()),
        ],
        RecoveryMode::SelectiveRepeat => &[
            ("nack", !spec.nack),
            ("nack_interval", spec.nack_interval != Timeout::Never),
            ("retransmit_timeout", spec.retransmit_timeout.is_some()),
        ],
    };
    match (keys.iter().find(|(_, given)| *given), spec.recovery) {
        (None, _) => Ok(()),
        (Some((key, _)), RecoveryMode::GoBackN) => {
            Err(no_effect(key, "host.recovery = \"selective-repeat\""))
        }
        (Some(("retransmit_timeout", _)), RecoveryMode::SelectiveRepeat) => {
            Err(no_effect("retransmit_timeout", go_back).hint(
                "leave host.retransmit_timeout out; give host.rto_low and host.rto_high instead",
            ))
        }
        (Some((key, _)), RecoveryMode::SelectiveRepeat) => Err(no_effect(key, go_back)),
    }
}

/// How far ahead of a gap receivers keep data.
fn reorder(spec: &mut HostSpec, in_flight: SpanSpec) -> Result<Span> {
    const MAX: u32 = Recovery::MAX_PACKETS;
    let is_selective = spec.recovery == RecoveryMode::SelectiveRepeat;
    let reorder = match (is_selective, in_flight) {
        (false, _) => spec.reorder.unwrap_or(SpanSpec::Packets(0)),
        (true, SpanSpec::Bdp) => *spec.reorder.get_or_insert(SpanSpec::Bdp),
        // All that may be in flight.
        (true, _) => *spec.reorder.get_or_insert(SpanSpec::Packets(MAX)),
    };
    let refuse = |why: String| ScenarioError::new("host.reorder", why);
    match reorder {
        SpanSpec::Unlimited => Err(refuse("a receiver's memory has a limit".to_owned())
            .hint(format!("give packets, at most {MAX}, or \"bdp\""))),
        SpanSpec::Packets(packets) if packets > MAX => {
            Err(refuse(format!("{packets} is out of range; allowed: 0 to {MAX} packets")))
        }
        SpanSpec::Packets(0) if is_selective => {
            Err(refuse("a receiver that keeps nothing cannot repeat selectively".to_owned())
                .hint("leave host.reorder out, or set host.recovery = \"go-back-n\""))
        }
        _ => span(reorder, "reorder"),
    }
}

/// When a packet is taken for lost. `spreads`: packets of a flow take several paths.
fn loss_after(spec: &mut HostSpec, spreads: bool) -> Result<LossRule> {
    const MAX: u32 = Recovery::MAX_PACKETS;
    // Where packets take several paths, their order tells nothing of losses.
    let usual = if spreads { LossAfter::Timeout } else { LossAfter::Gap };
    Ok(match *spec.loss_after.get_or_insert(usual) {
        LossAfter::Gap => LossRule::Gap,
        LossAfter::Bdp => LossRule::Span(Span::Bdp),
        LossAfter::Timeout => LossRule::Timeout,
        LossAfter::Time(time) => LossRule::After(time),
        LossAfter::Packets(packets) if (1..=MAX).contains(&packets) => {
            LossRule::Span(Span::Packets(packets))
        }
        LossAfter::Packets(packets) => {
            return Err(ScenarioError::new(
                "host.loss_after",
                format!("{packets} is out of range; allowed: 1 to {MAX} packets"),
            ));
        }
    })
}

/// The short and the long timeout of selective repeat.
fn timeouts(spec: &mut HostSpec, network: &Network, around: Surroundings) -> Result<(Time, Time)> {
    let usual = |of_irn: Time| match around.is_lossless {
        true => around.usual_timeout,
        false => of_irn.max(long_links(network)).min(MAX_TIME),
    };
    let low = *spec.rto_low.get_or_insert_with(|| Timeout::After(usual(RTO_LOW)));
    let low = timeout(low, "host.rto_low")?;
    let usual_high = match low {
        Time::NEVER => Timeout::Never,
        low => Timeout::After(usual(RTO_HIGH).max(low)),
    };
    let high = timeout(*spec.rto_high.get_or_insert(usual_high), "host.rto_high")?;
    if high < low {
        return Err(ScenarioError::new(
            "host.rto_high",
            format!("{high} is below host.rto_low, which is {low}"),
        )
        .hint(format!("raise it, or set host.rto_low to at most {high}")));
    }
    Ok((low, high))
}

fn span(span: SpanSpec, key: &str) -> Result<Span> {
    Ok(match span {
        SpanSpec::Bdp => Span::Bdp,
        SpanSpec::Unlimited => Span::Unlimited,
        SpanSpec::Packets(packets) => Span::Packets(packets),
        SpanSpec::Size(size) if size == Bytes::ZERO => {
            return Err(ScenarioError::new(format!("host.{key}"), "must be above zero"));
        }
        SpanSpec::Size(size) => Span::Bytes(size),
    })
}

/// How senders spread packets, and over how many entropy values.
pub(crate) fn spray(spec: &mut HostSpec, recovery: &Recovery) -> Result<(Spray, u32)> {
    let kind = spec.spray;
    let others = [
        ("entropies", spec.entropies.is_some(), kind != SprayKind::Off, "host.spray"),
        ("cell", spec.cell.is_some(), kind == SprayKind::Flowcell, "host.spray = \"flowcell\""),
        ("reps", spec.reps.is_some(), kind == SprayKind::Reps, "host.spray = \"reps\""),
    ];
    if let Some((key, .., goes_with)) = others.iter().find(|(_, given, fits, _)| *given && !fits) {
        return Err(no_effect(key, goes_with));
    }
    if kind == SprayKind::Off {
        return Ok((Spray::Off, 1));
    }
    let usual = if kind == SprayKind::Reps { 65_536 } else { 256 };
    let entropies = *spec.entropies.get_or_insert(usual);
    if !(1..=65_536).contains(&entropies) {
        return Err(ScenarioError::new(
            "host.entropies",
            format!("{entropies} is out of range; allowed: 1 to 65536"),
        ));
    }
    if kind == SprayKind::Cycle && !entropies.is_power_of_two() {
        return Err(ScenarioError::new(
            "host.entropies",
            format!("{entropies} is no power of two, and host.spray = \"cycle\" needs one"),
        )
        .hint(format!("give {}", entropies.next_power_of_two().min(65_536))));
    }
    let spray = match kind {
        SprayKind::Off => Spray::Off,
        SprayKind::Random => Spray::Random,
        SprayKind::Cycle => Spray::Cycle,
        SprayKind::Bitmap => Spray::Bitmap,
        SprayKind::Flowcell => {
            let cell = spec.cell.get_or_insert(Quantity(Bytes::new(64_000))).0;
            if cell == Bytes::ZERO {
                return Err(ScenarioError::new("host.cell", "must be above zero"));
            }
            Spray::FlowCell { cell }
        }
        SprayKind::Reps => {
            let RepsSpec { cache, freeze, explore } =
                *spec.reps.get_or_insert_with(RepsSpec::default);
            if !(1..=1024).contains(&cache) {
                return Err(ScenarioError::new(
                    "host.reps.cache",
                    format!("{cache} is out of range; allowed: 1 to 1024"),
                ));
            }
            if freeze.0 == Time::ZERO && explore != RepsSpec::default().explore {
                let why = "counts the packets after a freeze, and with `freeze = \"0ns\"` there is \
                           none";
                return Err(
                    ScenarioError::new("host.reps.explore", why).hint("leave one of the two out")
                );
            }
            Spray::Reps { cache, freeze: freeze.0, explore }
        }
    };
    if spray.learns() {
        let name = if kind == SprayKind::Reps { "reps" } else { "bitmap" };
        if !recovery.keeps_out_of_order() {
            return Err(ScenarioError::new(
                "host.spray",
                format!(
                    "\"{name}\" learns from the ACK of each packet, and a receiver that discards \
                     what is out of order sends none"
                ),
            )
            .hint("set host.recovery = \"selective-repeat\", or host.reorder above 0"));
        }
        if spec.ack_every != 1 {
            return Err(ScenarioError::new(
                "host.ack_every",
                format!("host.spray = \"{name}\" learns from the ACK of each packet"),
            )
            .hint("set host.ack_every = 1"));
        }
    }
    Ok((spray, entropies))
}
