//! Checks that a configuration fits a topology and has everything that it uses.

use super::{CcMode, Config};
use crate::error::Result;
use crate::topology::Topology;
use std::collections::BTreeMap;
use units::{Bytes, Rate, Time};

/// Refuses what the original leaves undefined.
pub(crate) fn check(config: &Config, topology: &Topology) -> Result<()> {
    check_law(config)?;
    check_acks(config)?;
    check_tests(config)?;
    check_probabilities(config, topology)?;
    if config.enable_qcn && config.cc_mode.reacts_to_ecn() {
        check_marking(config, topology)?;
    }
    check_link_down(config, topology)
}

/// Checks that the keys which the control law needs are present.
fn check_law(config: &Config) -> Result<()> {
    let mode = config.cc_mode;
    let needs = |key: &str, there: bool, example: &str| {
        if there {
            return Ok(());
        }
        let default = if config.places.line("CC_MODE").is_some() { "" } else { ", the default," };
        let why = format!(", and CC_MODE {}{default} needs it", mode.number());
        Err(config.places.missing(key, &why, example))
    };
    if mode == CcMode::Dcqcn {
        needs("RP_TIMER", config.rp_timer.is_some(), "300")?;
    }
    if !matches!(mode, CcMode::Dctcp | CcMode::None(_)) {
        needs("RATE_AI", config.rate_ai.is_some(), "50Mb/s")?;
    }
    if matches!(mode, CcMode::Dcqcn | CcMode::Timely) {
        needs("RATE_HAI", config.rate_hai.is_some(), "200Mb/s")?;
    }
    if mode == CcMode::Dcqcn {
        for (key, interval) in [
            ("RP_TIMER", config.rp_timer.unwrap_or(Time::NEVER)),
            ("ALPHA_RESUME_INTERVAL", config.alpha_resume_interval),
            ("RATE_DECREASE_INTERVAL", config.rate_decrease_interval),
        ] {
            if interval == Time::ZERO {
                return Err(config
                    .places
                    .error(key, format!("{key} is 0 us: time would stand still"))
                    .hint("set it to 1 (microsecond) or more"));
            }
        }
    }
    if mode == CcMode::Hpcc && config.int_multi == 0 {
        return Err(config
            .places
            .error("INT_MULTI", "INT_MULTI is 0, and CC_MODE 3 divides by it")
            .hint("set INT_MULTI 1"));
    }
    if mode == CcMode::Hpcc && !config.has_win {
        return Err(config
            .places
            .error(
                "HAS_WIN",
                "HAS_WIN is 0, and CC_MODE 3 divides queues by the window: U is infinite in the \
                 original where there is a queue, and no number where there is none",
            )
            .hint("set HAS_WIN 1"));
    }
    Ok(())
}

/// Refuses a configuration without ACKs: no flow of it would end.
fn check_acks(config: &Config) -> Result<()> {
    let Config { l2_ack_interval: interval, l2_chunk_size: chunk, places, .. } = config;
    let refuse = |key: &str, why: &str, value: &str| {
        Err(match places.lines.get(key) {
            None => places.missing(key, why, value),
            Some(_) => {
                places.error(key, format!("{key} is 0{why}")).hint(format!("set {key} {value}"))
            }
        })
    };
    if *interval == Bytes::ZERO {
        return refuse("L2_ACK_INTERVAL", ": nothing is acknowledged and no flow ends", "1");
    }
    if *chunk == Bytes::ZERO && *interval > Bytes::new(1) {
        return refuse("L2_CHUNK_SIZE", ", and L2_ACK_INTERVAL above 1 divides by it", "4000");
    }
    Ok(())
}

/// Refuses settings of the original that are not supported. Nobody can use what they do there.
fn check_tests(config: &Config) -> Result<()> {
    if config.l2_back_to_zero {
        let why = "L2_BACK_TO_ZERO 1 is not served: with it, flows of the original whose size is \
                   no multiple of L2_CHUNK_SIZE never end";
        return Err(config.places.error("L2_BACK_TO_ZERO", why).hint(
            "set L2_BACK_TO_ZERO 0: lost packets are sent again from the first one, go-back-N",
        ));
    }
    if !config.rate_bound {
        let why = "RATE_BOUND 0 is not served: it is the original's test of sending without regard \
                   to the control law's rate";
        return Err(config
            .places
            .error("RATE_BOUND", why)
            .hint("set RATE_BOUND 1, or CC_MODE 0 for packets at line rate"));
    }
    Ok(())
}

/// Checks the probabilities of marks for the rates of ports of switches; others are not used.
fn check_probabilities(config: &Config, topology: &Topology) -> Result<()> {
    for link in topology.switch_links() {
        if let Some(pmax) = config.pmax.get(&link.rate).filter(|pmax| **pmax > 1.0) {
            let why = format!(
                "PMAX_MAP has {pmax} for {}, the rate of the link in line {} of the topology: a \
                 probability is at most 1",
                link.rate, link.line
            );
            return Err(config.places.error("PMAX_MAP", why).hint("set it to 1 or less"));
        }
    }
    Ok(())
}

/// Checks that the maps of ECN thresholds have an entry for the rate of each port of a switch.
fn check_marking(config: &Config, topology: &Topology) -> Result<()> {
    fn lacks<T>(map: &BTreeMap<Rate, T>, rate: Rate) -> bool {
        !map.contains_key(&rate)
    }
    for link in topology.marking_links() {
        let rate = link.rate;
        let missing = [
            ("KMIN_MAP", lacks(&config.kmin, rate)),
            ("KMAX_MAP", lacks(&config.kmax, rate)),
            ("PMAX_MAP", lacks(&config.pmax, rate)),
        ]
        .into_iter()
        .find(|(_, lacks)| *lacks);
        if let Some((key, _)) = missing {
            let why = format!(
                "{key} has no entry for {rate}, the rate of the link in line {} of the topology",
                link.line
            );
            return Err(config
                .places
                .error(key, why)
                .hint(format!("add `{} VALUE` to {key} and count it", rate.bps())));
        }
    }
    Ok(())
}

fn check_link_down(config: &Config, topology: &Topology) -> Result<()> {
    let Some(down) = config.link_down else { return Ok(()) };
    let nodes = topology.is_switch.len();
    let Some(node) = [down.a, down.b].into_iter().find(|node| node.index() >= nodes) else {
        return Ok(());
    };
    let why = format!("LINK_DOWN names node {node}, and the topology has nodes 0 to {}", nodes - 1);
    Err(config.places.error("LINK_DOWN", why).hint("LINK_DOWN 0 0 0 takes no link down"))
}
