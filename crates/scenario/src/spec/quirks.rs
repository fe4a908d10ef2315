//! `[quirks]`.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

/// What is done as the HPCC authors' ns-3 simulator does it, each by its own switch; all off unless
/// asked for. `rocelab hpcc` turns them on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuirksSpec {
    /// Cut times on the wire and between packets to whole nanoseconds; links are then a little
    /// faster than their rate.
    pub whole_nanoseconds: bool,
    /// Choose among equal paths by each switch's own MurmurHash3 over addresses and ports, with
    /// next hops as its search finds them: in trees by descending node number. `routing.hash` stays
    /// "five-tuple".
    pub ns3_ecmp_hash: bool,
    /// As `ns3_ecmp_hash`, but as ConWeave's simulator does it: next hops in trees by ascending
    /// node number, and UDP ports that each host counts, from 10000 for the QPs to others and from
    /// 100 for those from others. It goes with `routing.balance` and with `host.recovery`.
    pub conweave_ecmp_hash: bool,
    /// Needs `routing.balance = "drill"`: as in ConWeave's simulator, compare ports by the bytes
    /// that wait, whether they are paused or not, and remember the best ones for each destination
    /// host.
    pub conweave_drill: bool,
    /// Needs `routing.balance = "conga"`: as in ConWeave's simulator, a flow chooses among four
    /// neighbouring uplinks, the first of which is drawn, and ports count data alone, when it
    /// arrives. Levels may exceed that of the full rate. Leaves return what they know in random
    /// order.
    pub conweave_conga: bool,
    /// Needs `pfc.threshold = "dynamic"`: as in ConWeave's simulator, count all that is stored as
    /// shared, pause only above the threshold, and use headroom only where the shared part is full.
    /// Each port sets four times `pfc.reserve` aside.
    pub conweave_buffer: bool,
    /// Needs `host.loss_after = "gap"`: as in ConWeave's simulator, an ACK that shows a gap has the
    /// sender send everything again that is not known to have arrived. While it recovers, further
    /// gaps do nothing. It recovers until an ACK shows no gap, or until all has arrived that it had
    /// sent when that began. In `host.in_flight`, "bdp" is as much payload, without headers.
    pub conweave_recovery: bool,
    /// Count the base round trip as propagation both ways and the payload's serialisation one way;
    /// take it for the ideal FCT too, and for the network's BDP the largest round trip times lowest
    /// rate of any pair of hosts.
    pub one_way_rtt: bool,
    /// Have hosts send ACKs while the priority that carries them is paused.
    pub acks_ignore_pause: bool,
    /// Do not acknowledge data again that arrived before; go back for any NACK, before the scheme
    /// handles it.
    pub silent_duplicates: bool,
    /// Have each NIC look through all its QPs in the order of their opening, whatever their
    /// priority.
    pub scan_queue_pairs: bool,
    /// Needs `scan_queue_pairs`: let a QP whose window is closed keep the NIC from waking for the
    /// others, and do not wake it where a timer changes a rate.
    pub missed_wakeup: bool,
    /// Needs `scan_queue_pairs`: do not correct the NIC's place when finished QPs leave its table.
    pub stale_scan_index: bool,
    /// Needs `pfc.threshold = "dynamic"`: double its alpha with each doubling of a port's rate over
    /// this one, up to 1; give headroom to ports and not to priorities; check nothing but the
    /// ingress limits of the classes that PFC protects. 0bps: off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_scaled_alpha: Option<Quantity<Rate>>,
    /// Needs `pfc.threshold = "dynamic"`: let a headroom beyond the buffer wrap the free buffer to
    /// a huge number, so that PFC never fires.
    pub threshold_wraparound: bool,
    /// Draw marks from ns-3's generator, a stream for each draw and each PFC frame, with `run.seed`
    /// as its run number. Each switch begins with the same stream, so that the draws are those of
    /// the simulator where a single switch draws.
    pub ns3_ecn_draws: bool,
    /// Draw marks from ns-3's generator as in ConWeave's simulator: each switch draws the same
    /// numbers of one stream. `run.seed` is ns-3's seed.
    pub conweave_ecn_draws: bool,
    /// Handle arrivals at the same nanosecond in the order in which their sending was scheduled, as
    /// far as packets tell, and send what joins a free port before the next one.
    pub ns3_tie_order: bool,
    /// Have priorities that are not strict take turns at a port packet by packet, not byte by byte;
    /// `classes.weights` stay equal.
    pub packet_round_robin: bool,
}

impl QuirksSpec {
    /// Whether nothing is done as there.
    pub fn is_native(&self) -> bool {
        *self == QuirksSpec::default()
    }

    /// Whether load balancing and selective repeat go with them. What the HPCC simulator has with
    /// ECMP and go-back-N alone does not.
    pub fn go_with_balancing(&self) -> bool {
        let such = QuirksSpec {
            whole_nanoseconds: self.whole_nanoseconds,
            one_way_rtt: self.one_way_rtt,
            conweave_ecmp_hash: self.conweave_ecmp_hash,
            conweave_drill: self.conweave_drill,
            conweave_conga: self.conweave_conga,
            conweave_buffer: self.conweave_buffer,
            conweave_recovery: self.conweave_recovery,
            acks_ignore_pause: self.acks_ignore_pause,
            scan_queue_pairs: self.scan_queue_pairs,
            ns3_ecn_draws: self.ns3_ecn_draws,
            conweave_ecn_draws: self.conweave_ecn_draws,
            ns3_tie_order: self.ns3_tie_order,
            packet_round_robin: self.packet_round_robin,
            ..QuirksSpec::default()
        };
        *self == such
    }

    /// Whether spraying by hosts goes with them. The HPCC simulator's NICs and its order of
    /// arrivals do not know it.
    pub fn go_with_spraying(&self) -> bool {
        let of_nodes = [
            self.scan_queue_pairs,
            self.ns3_ecn_draws,
            self.conweave_ecn_draws,
            self.ns3_tie_order,
            self.packet_round_robin,
        ];
        !of_nodes.contains(&true)
    }

    /// The quirk that hashes addresses and ports with each switch's own seed, if one does.
    pub fn ecmp_hash(&self) -> Option<&'static str> {
        match self {
            QuirksSpec { ns3_ecmp_hash: true, .. } => Some("quirks.ns3_ecmp_hash"),
            QuirksSpec { conweave_ecmp_hash: true, .. } => Some("quirks.conweave_ecmp_hash"),
            _ => None,
        }
    }
}
