//! Links of a kilobit per second, on which control packets take longer to send than schemes wait to
//! send the next: queues of them stay bounded.

use crate::common::run_with;

/// Hosts that send 10 KB each to h0 at 1 kb/s.
fn incast(senders: u32, scheme: &str, run: &str) -> String {
    format!(
        "[topology]\nkind = \"star\"\nhosts = {}\nhost_rate = \"1Kbps\"\nhost_delay = \"1us\"\n\
         [[traffic]]\nkind = \"incast\"\nsenders = {senders}\nreceiver = \"h0\"\nsize = \"10KB\"\n\
         [scheme]\nname = \"{scheme}\"\n[run]\n{run}\n",
        senders + 1
    )
}

/// Requests take longer to send than their timeout, and credits come later still.
#[test]
fn messages_end_under_expresspass() {
    for senders in [1, 4] {
        let summary =
            run_with(&incast(senders, "expresspass", "time_limit = \"5000s\""), &[]).summary;
        assert_eq!(summary.flows_done, u64::from(senders), "{:?}", summary.warnings);
        // Ten data packets of each sender over two links, with their ACKs and credits: 600 with
        // four senders.
        assert!(summary.packet_hops < 2_000, "{} packet-hops", summary.packet_hops);
    }
}

/// RoCC's switches send a packet for each flow in a queue every 40 us: a port keeps 65,536 of them,
/// and drops the others.
#[test]
fn control_packets_of_switches_are_bounded() {
    let summary = run_with(&incast(3, "rocc", "stop = \"14s\""), &[]).summary;
    assert!(summary.drops > 10_000, "{} drops", summary.drops);
}
