//! Data centres joined by long links: THEMIS, and requests with their responses.

use crate::common::{run, run_on};
use rocelab::RunResult;

/// Two data centres of two racks each, 100 Gb/s everywhere but between the external switches.
const NETWORK: &str = r#"
[topology]
kind = "cross-dc"
rate = "400Gbps"
delay = "1us"
wan_rate = "1600Gbps"
wan_delay = "500us"
external_buffer = "1GB"
[topology.data_centre]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
host_rate = "100Gbps"
host_delay = "1us"
rate = "100Gbps"
delay = "1us"
"#;

/// A flow to the other data centre, and a train of short ones inside that meet it.
fn meeting(scheme: &str, src: &str, dst: &str, inside: &str, to: &str) -> RunResult {
    let mut text =
        format!("{NETWORK}\n[scheme]\n{scheme}\n[[traffic]]\nkind = \"flows\"\nflows = [\n");
    text += &format!("{{ src = \"{src}\", dst = \"{dst}\", size = \"30MB\", tag = \"inter\" }},\n");
    for start in 0..16 {
        text += &format!(
            "{{ src = \"{inside}\", dst = \"{to}\", size = \"1MB\", start = \"{}us\", \
             tag = \"intra\" }},\n",
            600 + start * 100
        );
    }
    run(&(text + "]\n"))
}

/// Mean slowdown inside, and unfairness.
fn inside(result: &RunResult) -> (f64, f64) {
    let flows = &result.flows;
    let intra = flows.tags.iter().position(|tag| tag == "intra").unwrap();
    let rows = (0..flows.len()).filter(|&row| usize::from(flows.tag[row]) == intra);
    let slowdowns: Vec<f64> = rows.map(|row| flows.slowdown(row).expect("done")).collect();
    let mean = slowdowns.iter().sum::<f64>() / slowdowns.len() as f64;
    (mean, result.summary.intra_inter_slowdown.unwrap())
}

const DCQCN: &str = "name = \"dcqcn\"";
const NOTIFY: &str = "name = \"themis\"\nparams = { react = false }";
const REACT: &str = "name = \"themis\"\nparams = { notify = false }";
const BOTH: &str = "name = \"themis\"";

#[test]
fn the_notification_point_mends_what_happens_near_the_source() {
    let near = |scheme| inside(&meeting(scheme, "dc0/h0", "dc1/h0", "dc0/h1", "dc0/h4"));
    let [dcqcn, notify, react, both] = [DCQCN, NOTIFY, REACT, BOTH].map(near);
    let all = format!("{dcqcn:?} {notify:?} {react:?} {both:?}");
    assert!(dcqcn.1 > 2.0 && notify.0 < 0.8 * dcqcn.0 && notify.1 < dcqcn.1, "{all}");
    assert!(react.0 > 0.9 * dcqcn.0, "the reaction point is too far away: {all}");
    assert_eq!(both, notify, "and hears of nothing: {all}");
}

#[test]
fn the_reaction_point_mends_what_happens_near_the_destination() {
    let far = |scheme| inside(&meeting(scheme, "dc0/h0", "dc1/h0", "dc1/h4", "dc1/h0"));
    let [dcqcn, notify, react, both] = [DCQCN, NOTIFY, REACT, BOTH].map(far);
    let all = format!("{dcqcn:?} {notify:?} {react:?} {both:?}");
    assert!(dcqcn.1 > 1.5 && react.0 < 0.8 * dcqcn.0 && react.1 < dcqcn.1, "{all}");
    assert_eq!(notify, dcqcn, "CNPs come no closer to each other: {all}");
    assert_eq!(both, react, "{all}");
}

const HPCC: &str = "name = \"hpcc\"\nparams = { base_rtt = \"path\" }";
const HPCC_NOTIFY: &str = "name = \"themis+hpcc\"\nparams = { react = false }";
const HPCC_REACT: &str = "name = \"themis+hpcc\"\nparams = { notify = false }";
const HPCC_BOTH: &str = "name = \"themis+hpcc\"";
const HPCC_NEITHER: &str = "name = \"themis+hpcc\"\nparams = { notify = false, react = false }";

#[test]
fn each_point_mends_its_own_side_over_hpcc() {
    let near = |scheme| inside(&meeting(scheme, "dc0/h0", "dc1/h0", "dc0/h1", "dc0/h4"));
    let [hpcc, notify, react, both] = [HPCC, HPCC_NOTIFY, HPCC_REACT, HPCC_BOTH].map(near);
    let all = format!("near the source: {hpcc:?} {notify:?} {react:?} {both:?}");
    assert!(hpcc.1 > 2.0 && notify.0 < 0.5 * hpcc.0 && notify.1 < 0.5 * hpcc.1, "{all}");
    assert!(react.0 > 0.9 * hpcc.0, "the reaction point is too far away: {all}");
    assert!(both.0 < 0.5 * hpcc.0, "{all}");

    let far = |scheme| inside(&meeting(scheme, "dc0/h0", "dc1/h0", "dc1/h4", "dc1/h0"));
    let [hpcc, notify, react, both] = [HPCC, HPCC_NOTIFY, HPCC_REACT, HPCC_BOTH].map(far);
    let all = format!("near the destination: {hpcc:?} {notify:?} {react:?} {both:?}");
    assert!(hpcc.1 > 2.0 && react.0 < 0.5 * hpcc.0 && react.1 < 0.5 * hpcc.1, "{all}");
    assert!(notify.0 > 0.9 * hpcc.0, "the notification point is too far away: {all}");
    assert!(both.0 < 0.5 * hpcc.0, "{all}");
}

#[test]
fn themis_over_hpcc_without_its_parts_is_hpcc() {
    let run = |scheme| meeting(scheme, "dc0/h0", "dc1/h0", "dc1/h4", "dc1/h0").summary.digest;
    assert_eq!(run(HPCC_NEITHER), run(HPCC));
    assert_ne!(run(HPCC_BOTH), run(HPCC));
    // And so is all of it where no link is long.
    assert_eq!(run("name = \"themis+hpcc\"\nparams = { wan_delay = \"1ms\" }"), run(HPCC));
}

/// Blocked packets fill the external switch's buffer and PFC stops the long link: all arrives, none
/// before its turn.
#[test]
fn blocked_flows_all_end_where_the_buffer_is_small() {
    let text = format!(
        "{}\n[scheme]\n{HPCC_BOTH}\n[[traffic]]\nkind = \"incast\"\nsenders = 12\n\
         receiver = \"dc1/h0\"\nsize = \"2MB\"\n",
        NETWORK.replace("1GB", "203MB")
    );
    let result = run(&text);
    let summary = &result.summary;
    assert_eq!((summary.flows_done, summary.lossless_drops), (summary.flows, 0));
    assert_eq!(summary.out_of_order_packets, 0);
    assert_eq!(result.flows.retransmitted_bytes.iter().sum::<u64>(), 0);
    assert!(summary.pause_frames > 0, "the case is one with pauses");
}

#[test]
fn themis_does_the_same_on_any_number_of_threads() {
    let digest = |scheme: &str, preset: &str, threads| {
        let text = format!(
            "{NETWORK}\n[scheme]\nname = \"{scheme}\"\npreset = \"{preset}\"\n[[traffic]]\n\
             kind = \"request-response\"\nworkload = \"WebSearch\"\nload = 0.8\nduration = \
             \"500us\"\n"
        );
        let set: &[(&str, &str)] = if scheme == "themis" {
            &[("scheme.params.stall_after_requeue", "false")]
        } else {
            &[]
        };
        let result = run_on(&text, set, threads);
        assert_eq!(result.summary.flows_done, result.summary.flows);
        assert_eq!(result.summary.lossless_drops, 0);
        result.summary.digest
    };
    for (scheme, preset) in
        [("themis", "themis"), ("themis", "themis-prototype"), ("themis+hpcc", "themis+hpcc")]
    {
        assert_eq!(digest(scheme, preset, 1), digest(scheme, preset, 3));
    }
}

/// Packets that go back wait at a port whose link fails, and their rounds with them.
#[test]
fn the_prototypes_rounds_end_where_a_link_fails() {
    let text = r#"
        [topology]
        kind = "custom"
        nodes = [
            { name = "h0", kind = "host" }, { name = "h1", kind = "host" },
            { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
            { name = "t0", kind = "switch" }, { name = "t1", kind = "switch" },
            { name = "e0", kind = "switch" }, { name = "e1", kind = "switch" },
            { name = "a0", kind = "switch" }, { name = "a1", kind = "switch" },
        ]
        links = [
            { a = "h0", b = "t0", rate = "100Gbps", delay = "1us" },
            { a = "h1", b = "t0", rate = "100Gbps", delay = "1us" },
            { a = "t0", b = "e0", rate = "400Gbps", delay = "1us" },
            { a = "e0", b = "e1", rate = "400Gbps", delay = "100us" },
            { a = "e1", b = "a0", rate = "40Gbps", delay = "1us" },
            { a = "e1", b = "a1", rate = "40Gbps", delay = "1us" },
            { a = "a0", b = "t1", rate = "100Gbps", delay = "1us" },
            { a = "a1", b = "t1", rate = "100Gbps", delay = "1us" },
            { a = "h2", b = "t1", rate = "100Gbps", delay = "1us" },
            { a = "h3", b = "t1", rate = "100Gbps", delay = "1us" },
        ]
        [switch]
        buffer = "200MB"
        [scheme]
        name = "themis"
        preset = "themis-prototype"
        params = { stall_after_requeue = false }
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h2", size = "10MB" },
            { src = "h1", dst = "h3", size = "10MB" },
            { src = "h0", dst = "h3", size = "10MB" },
            { src = "h1", dst = "h2", size = "10MB" },
        ]
        [[failure]]
        link = "e1:a0"
        at = "150us"
        [run]
        time_limit = "200ms"
    "#;
    let summary = run(text).summary;
    assert!(summary.lost_packets > 0, "the case is one with a failure");
    assert_eq!(summary.flows_done, summary.flows);
}

#[test]
fn a_response_is_posted_when_its_request_has_arrived() {
    let posted = |service: &str| {
        let result = run(&format!(
            r#"
            [topology]
            kind = "star"
            hosts = 2
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "request-response"
            cdf = [[50000, 0.0], [50001, 1.0]]
            load = 0.5
            messages = 1
            inter_share = 0
            service_time = "{service}"
            "#
        ));
        let flows = &result.flows;
        assert_eq!((flows.len(), result.summary.flows_done), (2, 2));
        let tags: Vec<&str> =
            flows.tag.iter().map(|tag| flows.tags[usize::from(*tag)].as_str()).collect();
        assert_eq!(tags, ["request", "intra"]);
        assert_eq!((flows.src[0], flows.dst[0]), (flows.dst[1], flows.src[1]));
        // It is measured from its own posting; at most the request's ACK of 86 bytes goes before
        // it.
        assert_eq!(flows.fct_ps[0], flows.ideal_fct_ps[0]);
        let late = flows.fct_ps[1] - flows.ideal_fct_ps[1];
        (flows.start_ps[1] - flows.start_ps[0], flows.fct_ps[0], late)
    };
    let (at, request, late) = posted("0us");
    // The request is done when its ACK is back over two links at 80 ps a byte.
    assert_eq!((at, late), (request - 2 * (86 * 80 + 1_000_000), 86 * 80));
    assert_eq!(posted("7us"), (at + 7_000_000, request, 0));
}

#[test]
fn without_pfc_on_the_long_links_the_external_switch_drops() {
    // Two data centres send to a third, whose external switch has one link of 100 Gb/s inside.
    let text = |pfc: bool, buffer: &str| {
        format!(
            r#"
            [topology]
            kind = "cross-dc"
            data_centres = 3
            rate = "100Gbps"
            delay = "1us"
            wan_rate = "100Gbps"
            wan_length = "20km"
            wan_pfc = {pfc}
            external_buffer = "{buffer}"
            [topology.data_centre]
            kind = "star"
            hosts = 2
            host_rate = "100Gbps"
            host_delay = "1us"
            [host]
            retransmit_timeout = "2ms"
            [[traffic]]
            kind = "flows"
            flows = [
                {{ src = "dc0/h0", dst = "dc2/h0", size = "20MB" }},
                {{ src = "dc1/h0", dst = "dc2/h1", size = "20MB" }},
            ]
            "#
        )
    };
    // 20 km at 100 Gb/s need 2.5 MB of headroom.
    let lossless = run(&text(true, "8MB")).summary;
    assert_eq!((lossless.drops, lossless.flows_done), (0, 2));
    assert!(lossless.pause_frames > 0);
    let lossy = run(&text(false, "1MB")).summary;
    assert!(lossy.drops > 0 && lossy.pause_frames == 0, "{lossy:?}");
    assert_eq!((lossy.lossless_drops, lossy.flows_done), (0, 2));
}

#[test]
fn over_any_distance_everything_arrives_once_and_in_order() {
    for kilometres in [100, 1000, 5000] {
        for scheme in [
            BOTH,
            "name = \"themis\"\npreset = \"themis-prototype\"\n\
                              params = { stall_after_requeue = false }",
        ] {
            // Congestion at both ends of the long link, so that packets are held.
            let result = run(&format!(
                r#"
                [topology]
                kind = "cross-dc"
                rate = "100Gbps"
                delay = "1us"
                wan_rate = "100Gbps"
                wan_length = "{kilometres}km"
                external_buffer = "2GB"
                [topology.data_centre]
                kind = "leaf-spine"
                leaves = 2
                spines = 1
                hosts_per_leaf = 2
                host_rate = "25Gbps"
                host_delay = "1us"
                rate = "25Gbps"
                delay = "1us"
                [scheme]
                {scheme}
                [[traffic]]
                kind = "request-response"
                workload = "WebSearch"
                load = 0.7
                inter_share = 0.5
                duration = "1ms"
                [[traffic]]
                kind = "flows"
                flows = [
                    {{ src = "dc0/h0", dst = "dc1/h0", size = "5MB" }},
                    {{ src = "dc0/h1", dst = "dc1/h1", size = "5MB" }},
                    {{ src = "dc1/h2", dst = "dc1/h0", size = "5MB" }},
                ]
                "#
            ));
            let summary = &result.summary;
            let all = format!("{kilometres} km, {scheme}: {summary:?}");
            assert_eq!((summary.flows_done, summary.drops), (summary.flows, 0), "{all}");
            // A packet that overtakes another of its flow is a gap, and sent again.
            assert_eq!(result.flows.retransmitted_bytes.iter().sum::<u64>(), 0, "{all}");
            let farthest = *result.flows.ideal_fct_ps.iter().max().unwrap();
            assert!(farthest >= kilometres * 10_000_000, "5 us a kilometre both ways: {farthest}");
        }
    }
}
