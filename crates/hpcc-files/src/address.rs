//! The IPv4 addresses that the original gives to nodes: `11.x.y.1`, where x and y are the high and
//! the low byte of the node's number.

use std::net::Ipv4Addr;
use units::NodeId;

/// Nodes that can have an address.
pub const MAX_NODES: u32 = 1 << 16;

/// The address of a node below [`MAX_NODES`].
///
/// ```
/// use hpcc_files::address;
/// let node = units::NodeId::new(258);
/// assert_eq!(address::of(node).to_string(), "11.1.2.1");
/// assert_eq!(address::node(address::of(node)), node);
/// ```
pub fn of(node: NodeId) -> Ipv4Addr {
    let [_, _, high, low] = node.get().to_be_bytes();
    Ipv4Addr::new(11, high, low, 1)
}

/// The node with this address.
pub fn node(address: Ipv4Addr) -> NodeId {
    let [_, high, low, _] = address.octets();
    NodeId::new(u32::from(u16::from_be_bytes([high, low])))
}
