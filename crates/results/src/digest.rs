//! A fingerprint of what a run did.

use crate::flows::FlowTable;
use crate::ports::PortTable;
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a digest.
const DIGITS: usize = 32;

/// Equal for two runs in which every flow and every port counter came out the same: a hash, in
/// hexadecimal, of all flow rows in order of their id and all ports in order of node and port.
/// Names, wall time and probes do not enter.
pub fn digest(flows: &FlowTable, ports: &PortTable) -> String {
    let mut hash = Sha256::new();
    let mut rows: Vec<usize> = (0..flows.len()).collect();
    rows.sort_by_key(|&row| flows.flow_id[row]);
    hash.update((rows.len() as u64).to_le_bytes());
    for row in rows {
        for id in [flows.flow_id[row], flows.qp_id[row], flows.src[row], flows.dst[row]] {
            hash.update(id.to_le_bytes());
        }
        hash.update([flows.priority[row]]);
        for value in [
            flows.size_bytes[row],
            flows.start_ps[row],
            flows.fct_ps[row],
            flows.ideal_fct_ps[row],
            flows.retransmitted_bytes[row],
        ] {
            hash.update(value.to_le_bytes());
        }
    }
    let mut rows: Vec<usize> = (0..ports.len()).collect();
    rows.sort_by_key(|&row| (ports.node[row], ports.port[row]));
    hash.update((rows.len() as u64).to_le_bytes());
    for row in rows {
        hash.update(ports.node[row].to_le_bytes());
        hash.update(ports.port[row].to_le_bytes());
        hash.update(ports.peer[row].to_le_bytes());
        for value in [
            ports.rate_bps[row],
            ports.tx_bytes[row],
            ports.tx_packets[row],
            ports.pause_frames_sent[row],
            ports.pause_frames_received[row],
            ports.paused_ps[row],
            ports.max_queue_bytes[row],
            ports.ecn_marked_packets[row],
            ports.dropped_packets[row],
        ] {
            hash.update(value.to_le_bytes());
        }
    }
    // Links that lose nothing are the rule, and digests from before there were others still hold.
    if ports.lost_packets.iter().any(|&lost| lost > 0) {
        let mut rows: Vec<usize> = (0..ports.len()).collect();
        rows.sort_by_key(|&row| (ports.node[row], ports.port[row]));
        for row in rows {
            hash.update(ports.lost_packets[row].to_le_bytes());
        }
    }
    let mut digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::tests::three_flows;
    use crate::ports::tests::two_ports;

    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        let flows = three_flows();
        let mut turned = flows.clone();
        turned.flow_id.reverse();
        turned.qp_id.reverse();
        turned.tag.reverse();
        turned.src.reverse();
        turned.dst.reverse();
        turned.priority.reverse();
        turned.size_bytes.reverse();
        turned.start_ps.reverse();
        turned.fct_ps.reverse();
        turned.ideal_fct_ps.reverse();
        turned.retransmitted_bytes.reverse();
        assert_eq!(digest(&flows, &two_ports()), digest(&turned, &two_ports()));
    }

    #[test]
    fn names_do_not_enter() {
        let flows = three_flows();
        let mut renamed = flows.clone();
        renamed.node_names = std::sync::Arc::new(vec!["a".into(), "b".into(), "c".into()]);
        renamed.tags = vec!["x".into(), "y".into()];
        assert_eq!(digest(&flows, &two_ports()), digest(&renamed, &two_ports()));
    }

    #[test]
    fn any_counter_changes_it() {
        let before = digest(&three_flows(), &two_ports());
        assert_eq!(before.len(), DIGITS);
        let mut flows = three_flows();
        flows.unfinished = vec![None; 3];
        assert_eq!(before, digest(&flows, &two_ports()), "causes follow from what is in it");
        flows.fct_ps[0] += 1;
        assert_ne!(before, digest(&flows, &two_ports()));
        let mut ports = two_ports();
        ports.paused_ps[0] += 1;
        assert_ne!(before, digest(&three_flows(), &ports));
        let mut lossy = two_ports();
        lossy.lost_packets[1] += 1;
        assert_ne!(before, digest(&three_flows(), &lossy));
    }

    #[test]
    fn it_is_the_same_on_every_machine() {
        assert_eq!(
            digest(&FlowTable::default(), &PortTable::default()),
            // SHA-256 of sixteen zero bytes, first half.
            "374708fff7719dd5979ec875d56cd228"
        );
    }
}
