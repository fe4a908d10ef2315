//! Racks and pods of hosts.

use crate::network::graph::Graph;
use schemes::contract::HostLocation;
use units::{NodeId, Rate};

/// Switches of this tier and above connect pods.
const CORE_TIER: u8 = 3;

/// The location of each host, by index among the hosts.
pub(crate) fn of_hosts(graph: &Graph) -> Vec<HostLocation> {
    let tor = |host: u32| graph.ports(host).first().map_or(host, |end| end.peer);
    let mut racks: Vec<u32> = graph.hosts.iter().map(|&host| tor(host)).collect();
    racks.sort_unstable();
    racks.dedup();
    let pods = pods(graph);
    let place = |&host: &u32| HostLocation {
        tor: NodeId::new(tor(host)),
        rack: racks.binary_search(&tor(host)).expect("it is among them") as u32,
        pod: pods[tor(host) as usize],
        rate: graph.ports(host).first().map_or(Rate::ZERO, |end| end.rate),
        ports: graph.ports(host).len() as u16,
    };
    graph.hosts.iter().map(place).collect()
}

/// The pod of each switch. Pods are the connected parts of the network without the core and without
/// hosts, which forward nothing.
fn pods(graph: &Graph) -> Vec<u32> {
    let forwards = |node: u32| !graph.is_host(node) && graph.tiers[node as usize] < CORE_TIER;
    let mut pods = vec![u32::MAX; graph.nodes()];
    let mut count = 0;
    for first in 0..graph.nodes() as u32 {
        if pods[first as usize] != u32::MAX || !forwards(first) {
            continue;
        }
        let mut open = vec![first];
        while let Some(node) = open.pop() {
            if pods[node as usize] == u32::MAX && forwards(node) {
                pods[node as usize] = count;
                open.extend(graph.ports(node).iter().map(|end| end.peer));
            }
        }
        count += 1;
    }
    pods
}
