//! The ideal completion time of a message: alone in the network, at line rate.

use crate::network::graph::{Graph, LinkEnd};
use model::HostConfig;
use units::{Bytes, Time};

/// Bytes on the wire of a message's packets (first, middle, last) and of an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketBytes {
    pub(crate) count: u64,
    pub(crate) first: u64,
    pub(crate) middle: u64,
    pub(crate) last: u64,
    pub(crate) ack: u64,
}

/// A link as a stage of the path.
pub(crate) struct Stage {
    /// Serialisation of a first, middle and last packet.
    times: [Time; 3],
    /// Propagation, and the latency of the next node.
    after: Time,
}

fn stages(graph: &Graph, path: &[LinkEnd], latency: (Time, Time), bytes: [u64; 3]) -> Vec<Stage> {
    path.iter()
        .map(|end| Stage {
            times: bytes.map(|bytes| end.rate.time_for(Bytes::new(bytes))),
            after: end.delay + if graph.is_host(end.peer) { latency.0 } else { latency.1 },
        })
        .collect()
}

/// Time from posting to the last ACK, for a message alone in the network at line rate.
///
/// The links are queues in tandem with fixed service times, so the last packet leaves the last
/// link after the longest chain of services from (first packet, first link) to (last packet, last
/// link) in which each step goes to the next packet on the same link or to the same packet on the
/// next link. All packets between the first and the last have one size. So a longest chain serves
/// them on one link: the slowest one between the link where the chain leaves the first packet and
/// the link where it joins the last. Only those two links must be tried. ACKs of single packets add
/// more links.
pub(crate) fn completion_time(
    graph: &Graph,
    forward: &[LinkEnd],
    backward: &[LinkEnd],
    bytes: &PacketBytes,
    host: &HostConfig,
    switch_latency: Time,
) -> Time {
    let latency = (host.latency, switch_latency);
    let sizes = [bytes.first, bytes.middle, bytes.last];
    let data = stages(graph, forward, latency, sizes);
    let acks = stages(graph, backward, latency, [bytes.ack; 3]);
    if host.ack_every == 1 {
        let all: Vec<Stage> = data.into_iter().chain(acks).collect();
        return tandem(&all, bytes.count);
    }
    acknowledged(&data, &acks, bytes.count, u64::from(host.ack_every))
}

/// When the last ACK has passed all stages of its way, if `count` packets are ready at time 0 and
/// are acknowledged `ack_every` at a time, which is two or more.
///
/// The last ACK may wait behind those before it, which are all of one size. If it waits for the
/// k-th, the slowest link of their way serves all from that one to the last in a row. When the k-th
/// is sent is convex in k, so only the first and the last but one must be tried.
fn acknowledged(data: &[Stage], acks: &[Stage], count: u64, ack_every: u64) -> Time {
    let way_back: Time = acks.iter().map(|stage| stage.times[2] + stage.after).sum();
    let last = tandem(data, count).saturating_add(way_back);
    let others = (count - 1) / ack_every;
    if others == 0 {
        return last;
    }
    let as_middle = |stage: &Stage| Stage {
        times: [stage.times[0], stage.times[1], stage.times[1]],
        after: stage.after,
    };
    let data: Vec<Stage> = data.iter().map(as_middle).collect();
    let slowest = acks.iter().map(|stage| stage.times[2]).max().unwrap_or(Time::ZERO);
    let behind = |k: u64| {
        let arrives = tandem(&data, k * ack_every).saturating_add(way_back);
        arrives.saturating_add(slowest.saturating_mul(others + 1 - k))
    };
    last.max(behind(1)).max(behind(others))
}

/// When the last of `count` packets has passed all stages, if all are ready at time 0.
fn tandem(stages: &[Stage], count: u64) -> Time {
    let after: Time = stages.iter().map(|stage| stage.after).sum();
    let sum = |kind: usize, stages: &[Stage]| stages.iter().map(|s| s.times[kind]).sum::<Time>();
    match count {
        // A message of one packet: its sizes are those of a first packet that is also the last.
        1 => sum(2, stages) + after,
        2 => {
            let longest =
                (0..stages.len()).map(|at| sum(0, &stages[..=at]) + sum(2, &stages[at..]));
            longest.max().unwrap_or(Time::ZERO) + after
        }
        _ => {
            let mut longest = Time::ZERO;
            let mut first = Time::ZERO;
            for leave in 0..stages.len() {
                first += stages[leave].times[0];
                let mut last = sum(2, &stages[leave..]);
                let (mut middle, mut slowest) = (Time::ZERO, Time::ZERO);
                for stage in &stages[leave..] {
                    middle += stage.times[1];
                    slowest = slowest.max(stage.times[1]);
                    // Terabytes over a slow link take longer than the range of a time.
                    let rest = slowest.saturating_mul(count - 3);
                    longest = longest.max((first + middle + last).saturating_add(rest));
                    last -= stage.times[2];
                }
            }
            longest.saturating_add(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The recursion that the closed form solves.
    fn step_by_step(stages: &[Stage], count: u64) -> Time {
        let mut free = vec![Time::ZERO; stages.len()];
        let mut done = Time::ZERO;
        for packet in 0..count {
            let kind = if packet + 1 == count { 2 } else { usize::from(packet > 0) };
            let mut at = Time::ZERO;
            for (stage, free) in stages.iter().zip(&mut free) {
                *free = at.max(*free) + stage.times[kind];
                at = *free + stage.after;
            }
            done = at;
        }
        done
    }

    /// The recursion of data and the ACKs for it.
    fn acks_step_by_step(data: &[Stage], acks: &[Stage], count: u64, ack_every: u64) -> Time {
        let (mut there, mut back) = (vec![Time::ZERO; data.len()], vec![Time::ZERO; acks.len()]);
        let mut done = Time::ZERO;
        for packet in 0..count {
            let kind = if packet + 1 == count { 2 } else { usize::from(packet > 0) };
            let mut at = Time::ZERO;
            for (stage, free) in data.iter().zip(&mut there) {
                *free = at.max(*free) + stage.times[kind];
                at = *free + stage.after;
            }
            if (packet + 1) % ack_every == 0 || packet + 1 == count {
                for (stage, free) in acks.iter().zip(&mut back) {
                    *free = at.max(*free) + stage.times[2];
                    at = *free + stage.after;
                }
                done = at;
            }
        }
        done
    }

    proptest! {
        #[test]
        fn the_closed_form_solves_the_recursion(
            stages in prop::collection::vec(([1u64..100, 1u64..100, 1u64..100], 0u64..50), 1..8),
            count in 1u64..12,
        ) {
            let stages: Vec<Stage> = stages
                .into_iter()
                .map(|(times, after)| Stage {
                    times: times.map(Time::from_ps),
                    after: Time::from_ps(after),
                })
                .collect();
            prop_assert_eq!(tandem(&stages, count), step_by_step(&stages, count));
        }

        #[test]
        fn the_closed_form_counts_acks_that_wait_for_others(
            data in prop::collection::vec(([1u64..100, 1u64..100, 1u64..100], 0u64..50), 1..5),
            acks in prop::collection::vec((1u64..400, 0u64..50), 1..5),
            count in 1u64..30,
            ack_every in 2u64..6,
        ) {
            let stage = |times: [u64; 3], after| Stage {
                times: times.map(Time::from_ps),
                after: Time::from_ps(after),
            };
            let data: Vec<_> = data.into_iter().map(|(times, after)| stage(times, after)).collect();
            let acks = acks.into_iter().map(|(time, after)| stage([time; 3], after));
            let acks: Vec<_> = acks.collect();
            prop_assert_eq!(
                acknowledged(&data, &acks, count, ack_every),
                acks_step_by_step(&data, &acks, count, ack_every)
            );
        }
    }
}
