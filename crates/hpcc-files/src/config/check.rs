//! Does a configuration fit a topology, and is everything there that it makes use of?

use super::{CcMode, Config};
use crate::error::{FileError, Result};
use crate::topology::Topology;
use std::collections::BTreeMap;
use units::{Bytes, Rate, Time};

/// Rates that HPCC's INT has a code for, in Gb/s.
const INT_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// Refuses what the original leaves undefined.
pub(crate) fn check(config: &Config, topology: &Topology) -> Result<()> {
    check_law(config)?;
    check_acks(config)?;
    check_tests(config)?;
    if config.enable_qcn && config.cc_mode.heeds_marks() {
        check_marking(config, topology)?;
    }
    // The THEMIS prototype's own network has such a link: what comes of it is known.
    if config.cc_mode == CcMode::Hpcc && config.enable_themis.is_none() {
        check_int(topology)?;
    }
    check_link_down(config, topology)
}

/// What the control law needs.
fn check_law(config: &Config) -> Result<()> {
    let mode = config.cc_mode;
    let needs = |key: &str, there: bool, example: &str| {
        if there {
            return Ok(());
        }
        Err(FileError::new(format!("{key} is missing, and CC_MODE {} needs it", mode.number()))
            .hint(format!("add a line such as {key} {example}")))
    };
    if mode == CcMode::Dcqcn {
        needs("RP_TIMER", config.rp_timer.is_some(), "300")?;
    }
    if matches!(mode, CcMode::Dcqcn | CcMode::Dctcp) {
        let example = if mode == CcMode::Dcqcn { "0.00390625" } else { "0.0625" };
        needs("EWMA_GAIN", config.ewma_gain.is_some(), example)?;
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
                return Err(FileError::new(format!("{key} is 0: time would stand still"))
                    .hint("set it to 1 (microsecond) or more"));
            }
        }
    }
    if mode == CcMode::Hpcc && !config.has_win {
        return Err(FileError::new("HAS_WIN is 0, and CC_MODE 3 divides by the window")
            .hint("set HAS_WIN 1"));
    }
    Ok(())
}

/// Without ACKs no flow ends.
fn check_acks(config: &Config) -> Result<()> {
    if config.l2_ack_interval == Bytes::ZERO {
        return Err(FileError::new(
            "L2_ACK_INTERVAL is 0 or missing: nothing is acknowledged and no flow ends",
        )
        .hint("set L2_ACK_INTERVAL 1"));
    }
    if config.l2_chunk_size == Bytes::ZERO && config.l2_ack_interval > Bytes::new(1) {
        return Err(FileError::new(
            "L2_CHUNK_SIZE is 0 or missing, and L2_ACK_INTERVAL above 1 divides by it",
        )
        .hint("set L2_CHUNK_SIZE 4000"));
    }
    Ok(())
}

/// Settings of the original that are not served, for what they do there is of no use.
fn check_tests(config: &Config) -> Result<()> {
    if config.l2_back_to_zero {
        return Err(FileError::new(
            "L2_BACK_TO_ZERO 1 is not served: with it, flows of the original whose size is no \
             multiple of L2_CHUNK_SIZE never end",
        )
        .hint("set L2_BACK_TO_ZERO 0: lost packets are sent again from the first one, go-back-N"));
    }
    if !config.rate_bound {
        return Err(FileError::new(
            "RATE_BOUND 0 is not served: it is the original's test of sending without regard to the \
             control law's rate",
        )
        .hint("set RATE_BOUND 1, or CC_MODE 0 for packets at line rate"));
    }
    Ok(())
}

/// Each port of a switch needs thresholds for its rate.
fn check_marking(config: &Config, topology: &Topology) -> Result<()> {
    fn lacks<T>(map: &BTreeMap<Rate, T>, rate: Rate) -> bool {
        !map.contains_key(&rate)
    }
    for link in topology.switch_links() {
        let rate = link.rate;
        let missing = [
            ("KMIN_MAP", lacks(&config.kmin, rate)),
            ("KMAX_MAP", lacks(&config.kmax, rate)),
            ("PMAX_MAP", lacks(&config.pmax, rate)),
        ]
        .into_iter()
        .find(|(_, lacks)| *lacks);
        if let Some((key, _)) = missing {
            return Err(FileError::new(format!(
                "{key} has no entry for {rate}, the rate of the link in line {} of the topology",
                link.line
            ))
            .hint(format!("add `{} VALUE` to {key} and count it", rate.bps())));
        }
    }
    Ok(())
}

/// INT has three bits for the rate of a port.
fn check_int(topology: &Topology) -> Result<()> {
    let coded = |rate: Rate| INT_GBPS.iter().any(|&gbps| rate == Rate::from_gbps(gbps));
    match topology.switch_links().find(|link| !coded(link.rate)) {
        None => Ok(()),
        Some(link) => Err(FileError::new(format!(
            "CC_MODE 3 has no code for {}, the rate of the link in line {} of the topology",
            link.rate, link.line
        ))
        .hint("use 25, 50, 100, 200 or 400Gbps at switches")),
    }
}

fn check_link_down(config: &Config, topology: &Topology) -> Result<()> {
    let Some(down) = config.link_down else { return Ok(()) };
    let is_it = |a, b| (a, b) == (down.a, down.b);
    if topology.links.iter().any(|link| is_it(link.a, link.b) || is_it(link.b, link.a)) {
        return Ok(());
    }
    Err(FileError::new(format!("LINK_DOWN names {} and {}, which no link joins", down.a, down.b))
        .hint("LINK_DOWN 0 0 0 takes none down"))
}
