//! From `[[receiver]]` to hosts that take data slowly.

use crate::error::{Result, ScenarioError};
use crate::network::Network;
use crate::selector::Selector;
use crate::settings::{Classes, Pfc, Wire, check_buffer};
use crate::spec::{Quantity, QuirksSpec, ReceiverSpec};
use crate::traffic::{check_time, check_until};
use model::{Link, SlowReceiver};
use std::collections::BTreeMap;
use units::{Bytes, NodeId, Time};

/// The slow receivers of a run, by host and time. `latency`: that of hosts.
pub(crate) fn resolve(
    specs: &mut [ReceiverSpec],
    nodes: &Selector<'_>,
    (pfc, classes): (&Pfc, &Classes),
    latency: Time,
    wire: &Wire,
    quirks: &QuirksSpec,
) -> Result<Vec<SlowReceiver>> {
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let network = nodes.network();
    let pauses = pfc.pauses(classes);
    let mut found: BTreeMap<(NodeId, Time), SlowReceiver> = BTreeMap::new();
    let headroom = headroom(network, pfc, latency, wire);
    for (index, spec) in specs.iter_mut().enumerate() {
        let key = |name: &str| format!("receiver.{index}.{name}");
        if !quirks.is_native() {
            let why = "does not go with quirks: hosts of the HPCC simulator are never slow";
            return Err(ScenarioError::new(format!("receiver.{index}"), why)
                .hint("leave [[receiver]] out, or turn the quirks off"));
        }
        let given = [("xoff", spec.xoff), ("xon", spec.xon)];
        if !pauses && let Some((name, _)) = given.into_iter().find(|(_, given)| given.is_some()) {
            let (off, mend) = match pfc.enabled {
                false => ("pfc.enabled = false", "set pfc.enabled = true"),
                true => ("classes.lossless = []", "name priorities in classes.lossless"),
            };
            let why = format!("has no effect with {off}: a full buffer drops");
            return Err(
                ScenarioError::new(key(name), why).hint(format!("leave {name} out, or {mend}"))
            );
        }
        let buffer = check_buffer(spec.buffer.0, || key("buffer"))?;
        let half = Bytes::new(buffer.get() / 2);
        let xoff = spec.xoff.map_or(half, |given| given.0);
        let three_quarters = Bytes::new(xoff.get() / 4 * 3);
        let xon = spec.xon.map_or(three_quarters, |given| given.0);
        if pauses {
            (spec.xoff, spec.xon) = (Some(Quantity(xoff)), Some(Quantity(xon)));
        }
        if xoff == Bytes::ZERO || xoff > buffer {
            let why = format!("{xoff} is out of range; allowed: 1B to `buffer`, which is {buffer}");
            return Err(ScenarioError::new(key("xoff"), why));
        }
        if xon >= xoff {
            let why = format!("must be below `xoff`, which is {xoff}; got {xon}");
            return Err(ScenarioError::new(key("xon"), why));
        }
        let from = check_time(spec.at, || key("at"))?;
        let until = check_until(from, spec.until, || key("until"))?;
        let rate = spec.rate.0;
        for host in nodes.hosts(&spec.hosts, &key("hosts"))? {
            let needed = headroom[host.index()];
            if pauses && buffer.get() < xoff.get().saturating_add(needed.get()) {
                let why = format!(
                    "{buffer} is too small: after the pause at xoff = {xoff} up to {needed} may \
                     still arrive at {}",
                    network.name(host)
                );
                return Err(ScenarioError::new(key("buffer"), why)
                    .hint("enlarge `buffer`, or lower `xoff`"));
            }
            let slow = SlowReceiver { host, rate, buffer, xoff, xon, from, until };
            let mut others = found.range((host, Time::ZERO)..=(host, Time::NEVER));
            if others.any(|(_, other)| other.from < until && from < other.until) {
                let why = format!("{} has an entry for this time already", network.name(host));
                return Err(ScenarioError::new(key("hosts"), why).hint(
                    "give the entries of a host times that do not overlap: `at` and `until`",
                ));
            }
            found.insert((host, from), slow);
        }
    }
    Ok(found.into_values().collect())
}

/// For each node, what may arrive after it asked for a pause: all links of a host fill its one
/// buffer.
fn headroom(network: &Network, pfc: &Pfc, latency: Time, wire: &Wire) -> Vec<Bytes> {
    let mut needed = vec![0_u64; network.nodes.len()];
    for link in &network.links {
        let bytes = still_arrives(link, pfc, latency, wire).get();
        for end in [link.a, link.b] {
            needed[end.index()] = needed[end.index()].saturating_add(bytes);
        }
    }
    needed.into_iter().map(Bytes::new).collect()
}

/// What may arrive over a link after the pause was asked for.
fn still_arrives(link: &Link, pfc: &Pfc, latency: Time, wire: &Wire) -> Bytes {
    /// More than control packets have, and data packets of RoCEv2.
    const LONG_PACKET: Bytes = Bytes::new(9_500);
    /// Of all priorities.
    const PFC_FRAMES: u64 = 8 * 84;
    let longest = LONG_PACKET.max(wire.above_full_packet());
    pfc.timing.still_arrives((link.rate, link.delay), latency, longest, PFC_FRAMES)
}
