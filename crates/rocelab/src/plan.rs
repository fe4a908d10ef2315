//! What a scenario asks of its network, before it is run.

use crate::output::report::node_names;
use crate::plan_checks::plan_checks;
use fabric::{PortLoad, Setup};
use results::{LoadTable, MessageTable, PlanChecks};
use scenario::{Joins, Message, Scenario, ScenarioError};
use std::sync::Arc;
use units::Time;

/// What a scenario asks of its network, where each message arrives whole and nothing is sent twice,
/// by the paths that messages have as long as no link fails. A scheme that chooses paths itself may
/// take others.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One row per message.
    pub messages: MessageTable,
    /// One row per port.
    pub load: LoadTable,
    /// Buffers, thresholds and warnings.
    pub checks: PlanChecks,
}

impl Plan {
    /// The tables of `plan`. Refuses a port that would need longer to send its bytes than times
    /// reach.
    pub(crate) fn new(
        scenario: &Scenario,
        setup: &Setup,
        plan: &fabric::Plan,
    ) -> Result<Plan, ScenarioError> {
        let (messages, nodes) = (&scenario.messages, &scenario.network.nodes);
        let names = node_names(scenario);
        let (paths, ports) = (&plan.paths, &plan.ports);
        if let Some(port) = ports.iter().find(|port| port.busy_time() == Time::NEVER) {
            return Err(scenario.with_location(overloaded(scenario, port)));
        }
        let start_ps = earliest_starts(messages, &scenario.joins);
        let checks = plan_checks(scenario, setup, plan, &start_ps);
        Ok(Plan {
            messages: MessageTable {
                flow_id: (0..messages.len() as u32).collect(),
                qp_id: messages.iter().map(|message| message.qp).collect(),
                tag: messages.iter().map(|message| message.tag).collect(),
                tags: scenario.tags.clone(),
                src: messages.iter().map(|message| message.src.get()).collect(),
                dst: messages.iter().map(|message| message.dst.get()).collect(),
                node_names: Arc::clone(&names),
                priority: messages.iter().map(|message| message.priority).collect(),
                size_bytes: messages.iter().map(|message| message.size.get()).collect(),
                start_ps,
                waits: messages.iter().map(|message| message.after.is_some()).collect(),
                switches: paths.iter().map(|way| way.switches).collect(),
                bottleneck_bps: paths.iter().map(|way| way.bottleneck.bps()).collect(),
                base_rtt_ps: paths.iter().map(|way| way.base_rtt.ps()).collect(),
                ideal_fct_ps: paths.iter().map(|way| way.ideal.ps()).collect(),
            },
            load: LoadTable {
                node: ports.iter().map(|port| port.node.get()).collect(),
                port: ports.iter().map(|port| port.port.get()).collect(),
                peer: ports.iter().map(|port| port.peer.get()).collect(),
                node_names: names,
                tier: ports.iter().map(|port| nodes[port.node.index()].tier).collect(),
                peer_tier: ports.iter().map(|port| nodes[port.peer.index()].tier).collect(),
                rate_bps: ports.iter().map(|port| port.rate.bps()).collect(),
                messages: ports.iter().map(|port| port.messages).collect(),
                data_bytes: ports.iter().map(|port| port.data_bytes).collect(),
                ack_bytes: ports.iter().map(|port| port.ack_bytes).collect(),
                busy_ps: ports.iter().map(PortLoad::busy_time).map(Time::ps).collect(),
            },
            checks,
        })
    }
}

/// The earliest times at which messages may be posted, in ps: a message that waits is posted the
/// delay of its join after those that it waits for, which may wait themselves. What these take in
/// the network is left out, as it depends on all others.
fn earliest_starts(messages: &[Message], joins: &Joins) -> Vec<u64> {
    let mut starts: Vec<Time> = messages.iter().map(|message| message.start).collect();
    let mut awaited = joins.awaited.clone();
    awaited.sort_unstable_by_key(|one| one.message);
    let mut missing = vec![0u32; joins.delays.len()];
    awaited.iter().for_each(|one| missing[one.join as usize] += 1);
    let mut waiting = vec![Vec::new(); joins.delays.len()];
    let mut known = Vec::with_capacity(messages.len());
    for (number, message) in (0u32..).zip(messages) {
        match message.after {
            Some(join) => waiting[join as usize].push(number),
            None => known.push(number),
        }
    }
    let mut posted = vec![Time::ZERO; joins.delays.len()];
    while let Some(number) = known.pop() {
        let first = awaited.partition_point(|one| one.message < number);
        let its_own = awaited[first..].iter().take_while(|one| one.message == number);
        for join in its_own.map(|one| one.join as usize) {
            posted[join] = posted[join].max(starts[number as usize]);
            missing[join] -= 1;
            if missing[join] == 0 {
                for &next in &waiting[join] {
                    let start = &mut starts[next as usize];
                    *start = (*start).max(posted[join].saturating_add(joins.delays[join]));
                }
                known.append(&mut waiting[join]);
            }
        }
    }
    starts.into_iter().map(Time::ps).collect()
}

/// A port that needs longer to send its bytes than times reach.
fn overloaded(scenario: &Scenario, port: &PortLoad) -> ScenarioError {
    let name = |node| scenario.network.name(node);
    let bytes = port.data_bytes + port.ack_bytes;
    ScenarioError::new(
        "traffic",
        format!(
            "the port of {} to {} would send {bytes} bytes at {}, which takes {:.2e} s; times go \
             up to {:.2e} s",
            name(port.node),
            name(port.peer),
            port.rate,
            bytes as f64 * 8.0 / port.rate.bps().max(1) as f64,
            Time::NEVER.as_secs_f64(),
        ),
    )
    .hint("send less, or raise the rate of that link")
}
