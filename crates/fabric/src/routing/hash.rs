//! Hashes of flows, and how a hash becomes a choice.

/// Hash of the five-tuple of a QP.
///
/// RoCEv2's destination port is always 4791, and its source port carries the entropy of the QP. If
/// `symmetric`, the order of the addresses does not count, so both directions have the same hash.
/// `to_source`: of the packets that go from the receiver to the sender.
pub(crate) fn flow_hash(src: u32, dst: u32, entropy: u32, symmetric: bool, to_source: bool) -> u32 {
    let (a, b) = match (symmetric, to_source) {
        (true, _) => (src.min(dst), src.max(dst)),
        (false, false) => (src, dst),
        (false, true) => (dst, src),
    };
    let mut hash = 0x811c_9dc5u32;
    for word in [a, b, entropy] {
        hash = mix32(hash ^ word).wrapping_add(0x9e37_79b9);
    }
    hash
}

/// Scales a mixed hash to an index below `count`.
#[inline(always)]
pub(crate) fn scale_to(mixed: u32, count: u32) -> usize {
    ((u64::from(mixed) * u64::from(count)) >> 32) as usize
}

/// Mixes a salted hash, so that the choices of different tiers are independent of each other.
#[inline]
pub(crate) fn mix32(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x7feb_352d);
    let hash = (hash ^ hash >> 15).wrapping_mul(0x846c_a68b);
    hash ^ hash >> 16
}
