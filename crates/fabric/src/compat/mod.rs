//! What the HPCC authors' ns-3 simulator does differently, one by one.

pub(crate) mod mrg;

use units::{Bytes, Rate, Time};

/// Ways of the HPCC authors' ns-3 simulator. A native run has none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Times on the wire and between packets are cut to whole nanoseconds: 1048 bytes at 100 Gb/s
    /// take 83 ns and not 83.84, which makes links a little faster than their rate.
    pub whole_nanoseconds: bool,
    /// Each switch hashes with its own seed (MurmurHash3) and lists next hops as a search from the
    /// destination comes upon them that looks at neighbours by descending node number: in a tree by
    /// descending number, too. Of several links to the same neighbour only the last is used.
    pub node_hash: bool,
    /// The base round trip counts the payload's serialisation one way and the propagation both
    /// ways; headers and ACKs not at all. The ideal FCT follows it, and the network's BDP is the
    /// largest round trip times lowest rate of any pair of hosts.
    pub one_way_rtt: bool,
    /// Hosts send ACKs while the priority that carries them is paused.
    pub acks_ignore_pause: bool,
    /// Data that arrived before is not acknowledged again, and any NACK has the sender go back, before
    /// its control law hears of it.
    pub silent_duplicates: bool,
    /// A host's NIC looks through all its QPs in the order of their opening, from the one after the
    /// last that sent, whatever their priority.
    pub scan_queue_pairs: bool,
    /// With `scan_queue_pairs`: a NIC with nothing to send wakes at the earliest pacing time of all
    /// QPs with bytes left, and not at all if that has passed for one whose window is closed; a timer
    /// that changes a rate does not have it look.
    pub missed_wake_up: bool,
    /// With `scan_queue_pairs`: when finished QPs leave the table, the NIC's place in it is not
    /// corrected.
    pub stale_turn: bool,
    /// Dynamic thresholds double with each doubling of the port's rate over the slowest host port's,
    /// up to the whole of the free buffer; headroom belongs to the port and not to each priority;
    /// of ingresses that PFC protects nothing but their own limits is checked. It needs PFC and a
    /// dynamic threshold.
    pub shifted_threshold: bool,
    /// The free buffer is an unsigned 32-bit number: headroom beyond the buffer makes the threshold
    /// huge, and PFC never fires.
    pub threshold_wraps: bool,
    /// Marks are drawn from ns-3's generator, each draw and each PFC frame taking a stream; the run's
    /// seed is its run number. Where a single switch draws, the draws are the same.
    pub ns3_streams: bool,
    /// Arrivals at the same nanosecond come in the order in which their sending was scheduled, as far as
    /// packets tell, instead of by kind and in turn; what joins a free port leaves before the next one.
    pub emission_order: bool,
    /// Priorities that are not strict take turns at a port packet by packet, from the one after that
    /// which sent last, whatever their weights and the size of their packets.
    pub packet_turns: bool,
}

/// How long bytes take at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Exactly, rounded up to a picosecond.
    Exact,
    /// In whole nanoseconds, cut.
    WholeNanoseconds,
}

impl Clock {
    #[inline]
    pub(crate) fn time_for(self, rate: Rate, bytes: u64) -> Time {
        match self {
            Clock::Exact => rate.time_for(Bytes::new(bytes)),
            Clock::WholeNanoseconds => whole_nanoseconds(rate, bytes),
        }
    }
}

/// Seconds as a double, then as a 64.64-bit fixed-point number, then times 10^9 and cut: a product
/// that should be a whole number of nanoseconds often comes out as one less.
fn whole_nanoseconds(rate: Rate, bytes: u64) -> Time {
    if rate == Rate::ZERO {
        return Time::NEVER;
    }
    let seconds = bytes as f64 * 8.0 / rate.bps() as f64;
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * (1u128 << 64) as f64) as u128;
    let ns = whole as u64 * 1_000_000_000 + ((fraction * 1_000_000_000) >> 64) as u64;
    Time::from_ns(ns)
}

/// MurmurHash3 (Appleby, public domain), 32-bit, of three words.
#[inline]
pub(crate) fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 12;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// The address that a node has there: 11.x.y.1.
#[inline]
pub(crate) fn address(node: u32) -> u32 {
    0x0b00_0001 + (node / 256) * 0x1_0000 + (node % 256) * 0x100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_is_cut_to_nanoseconds() {
        let time = |bytes, gbps| whole_nanoseconds(Rate::from_gbps(gbps), bytes).ps() / 1000;
        assert_eq!(time(1048, 100), 83, "83.84");
        assert_eq!(time(1048, 400), 20, "20.96");
        assert_eq!(time(1090, 100), 87, "87.2");
        assert_eq!(time(60, 400), 1, "1.2");
        assert_eq!(time(43, 400), 0, "0.86");
        assert_eq!(time(125_000_000, 1), 1_000_000_000, "a whole second stays one");
    }

    #[test]
    fn murmur3_of_three_words() {
        // By an independent implementation, which gives 0x5a97808a for "aaaa" under 0x9747b28c.
        let words = [*b"abcd", *b"efgh", *b"ijkl"].map(u32::from_le_bytes);
        assert_eq!(murmur3(words, 0), 0xa36f_3d27);
        assert_eq!(murmur3([0; 3], 0), 0xd941_144b);
    }
}
