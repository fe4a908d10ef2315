//! The reader of configurations: values, defaults, what is odd, and errors of bad ones.

use crate::common::{FILES, TOPOLOGY, refused, texts};
use hpcc_files::CcMode;
use hpcc_files::config::{self, LinkDown};
use std::path::PathBuf;
use units::{Bytes, NodeId, Rate, Time};

fn config_warnings(text: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    config::parse(text.as_bytes(), &mut warnings).unwrap();
    texts(&warnings)
}

#[test]
fn defaults_of_a_configuration() {
    let mut warnings = Vec::new();
    let config = config::parse(FILES.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(config.topology_file, PathBuf::from("t.txt"));
    assert_eq!(config.fct_output_file, PathBuf::from("fct.txt"));
    assert_eq!(config.simulator_stop_time, Some(Time::from_ms(3010)));
    assert_eq!(config.cc_mode, CcMode::Dcqcn);
    assert_eq!(config.alpha_resume_interval, Time::from_us(55));
    assert_eq!((config.mi_thresh, config.fast_recovery_times), (5, 5));
    assert_eq!(config.buffer_size, Bytes::new(16 * 1024 * 1024));
    assert!(config.enable_trace && config.multi_rate && config.fast_react && config.global_t);
    assert!(!config.var_win && !config.ack_high_prio && config.enable_themis.is_none());
    assert_eq!((config.rp_timer, config.ewma_gain, config.rate_ai), (None, None, None));
}

#[test]
fn values_of_a_configuration() {
    let text = "\
ENABLE_THEMIS 1 TOPOLOGY_FILE ../t.txt
FLOW_FILE f.txt CC_MODE 3
RATE_AI 50Mb/s BUFFER_SIZE 32 GLOBAL_T 2 HAS_WIN 2 RP_TIMER 900 EWMA_GAIN 0.00390625
KMAX_MAP 2 100000000000 1600
 400000000000 6400
KMIN_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 .20
LINK_DOWN 1500 0 4 SIMULATOR_STOP_TIME 2.05
QLEN_MON_START 2000000000";
    let mut warnings = Vec::new();
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, []);
    assert!(config.enable_themis == Some(true) && config.has_win);
    // 2 sets every flag but this one.
    assert!(!config.global_t);
    assert_eq!(config.topology_file, PathBuf::from("../t.txt"));
    assert_eq!(config.cc_mode, CcMode::Hpcc);
    assert_eq!(config.rate_ai, Some(Rate::from_mbps(50)));
    assert_eq!(config.buffer_size, Bytes::new(32 << 20));
    assert_eq!(config.rp_timer, Some(Time::from_us(900)));
    assert_eq!(config.ewma_gain, Some(1.0 / 256.0));
    assert_eq!(config.kmax[&Rate::from_gbps(400)], Bytes::new(6_400_000));
    assert_eq!(config.kmin[&Rate::from_gbps(100)], Bytes::new(400_000));
    assert_eq!(config.pmax[&Rate::from_gbps(100)], 0.2);
    let (a, b) = (NodeId::new(0), NodeId::new(4));
    assert_eq!(config.link_down, Some(LinkDown { at: Time::from_us(2_001_500), a, b }));
    // 2.05 s as a double is a little less.
    assert_eq!(config.simulator_stop_time, Some(Time::from_ns(2_049_999_999)));
    assert_eq!(config.qlen_mon_start, Time::from_ms(2000));
}

#[test]
fn what_is_odd_in_a_configuration() {
    let odd = [
        ("RATE_BOUNDS 1", "\"RATE_BOUNDS\" is not a key: skipped; did you mean RATE_BOUND?"),
        ("X_ONE 1 Y_TWO 2 Z_THREE 3", "\"X_ONE\", \"Y_TWO\", \"Z_THREE\" are not keys: skipped"),
        ("#CC_MODES 3", "\"#CC_MODES\" and 1 more are not keys: skipped"),
        (
            "DATA_RATE 1Gbps",
            "DATA_RATE is ignored, as in the original: each link has its own in the topology",
        ),
        (
            "USE_DYNAMIC_PFC_THRESHOLD 0",
            "USE_DYNAMIC_PFC_THRESHOLD 0 changes nothing, as in the original: the threshold is \
             dynamic",
        ),
        (
            "CC_MODE 4",
            "CC_MODE 4 is no control law (1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT): \
             packets go at line rate, as in the original",
        ),
        ("RP_TIMER 1.5", "RP_TIMER is 1 us: fractions are cut off, as in the original"),
        ("FLOW_FILE g.txt", "FLOW_FILE is in line 1 too; the last counts, as in the original"),
        ("rp_timer 300", "\"rp_timer\" is not a key: skipped; did you mean RP_TIMER?"),
        ("RP_TIMER=300", "\"RP_TIMER=300\" is not a key: skipped; did you mean RP_TIMER?"),
        (
            "RP_TIMR 1 EWMA_GIAN 2",
            "\"RP_TIMR\", \"EWMA_GIAN\" are not keys: skipped; did you mean RP_TIMER, \
             EWMA_GAIN?",
        ),
        (
            "KMIN_MAP 1 1 1 KMIN_MAP 1 1 2",
            "KMIN_MAP is in line 2 too; the entries of both count, and for a rate in both the \
             last, as in the original",
        ),
    ];
    for (line, warning) in odd {
        assert_eq!(config_warnings(&format!("{FILES}{line}\n")), [format!("line 2: {warning}")]);
    }
    let mut warnings = Vec::new();
    let text = format!("CC_MODE 3\n# old CC_MODE 8\n{FILES}");
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!(config.cc_mode, CcMode::Dctcp);
    assert_eq!(
        texts(&warnings),
        [
            "line 2: CC_MODE counts, though it looks commented out: the format has no comments",
            "line 2: CC_MODE is in line 1 too; the last counts, as in the original",
            "line 2: \"#\" and 1 more are not keys: skipped",
        ]
    );
    // Entries of several maps add up. The number of warnings is limited, however long the text.
    let text = format!("{FILES}PMAX_MAP 1 1 .1 PMAX_MAP 1 2 .2\n{}", "a b\nc d\n".repeat(1000));
    let mut warnings = Vec::new();
    assert_eq!(config::parse(text.as_bytes(), &mut warnings).unwrap().pmax.len(), 2);
    assert_eq!(warnings.len(), 22);
    assert!(warnings[21].to_string().contains("1980 more lines"), "{}", warnings[21]);
}

/// With kmin above kmax the original marks what exceeds kmax, and draws nothing.
#[test]
fn a_kmin_above_kmax_is_kmax() {
    let text = format!("{FILES}KMIN_MAP 2 1 400 2 500\nKMAX_MAP 2 1 300 2 500");
    let mut warnings = Vec::new();
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    let kmin: Vec<u64> = config.kmin.values().map(|kmin| kmin.get()).collect();
    assert_eq!(kmin, [300_000, 500_000]);
    assert_eq!(
        texts(&warnings),
        ["line 2: KMIN_MAP has 400 for 1bps, and KMAX_MAP 300: all above 300 is marked, and \
             nothing below, as in the original"]
    );
}

#[test]
fn bad_configurations() {
    let bad = [
        ("CC_MODE", 1, "the file ends where the value of CC_MODE should be"),
        ("CC_MODE fast", 1, "CC_MODE needs a whole number from 0 to 4294967295, got \"fast\""),
        ("CC_MODE 1.5", 1, "CC_MODE"),
        ("\nENABLE_QCN yes", 2, "ENABLE_QCN needs 0 or 1, got \"yes\""),
        (
            "TRACE_FILE\nTRACE_OUTPUT_FILE a",
            2,
            "TRACE_FILE needs the name of a file, got \"TRACE_OUTPUT_FILE\"",
        ),
        ("RATE_AI 50", 1, "nothing"),
        ("RATE_AI 50MB", 1, "RATE_AI needs a rate"),
        ("MIN_RATE 0Mb/s", 1, "MIN_RATE needs a rate above 0"),
        ("EWMA_GAIN 1/16", 1, "EWMA_GAIN needs a number from 0 to 1, got \"1/16\""),
        ("U_TARGET 0", 1, "U_TARGET needs a number above 0"),
        ("INT_MULTI 0", 1, "nothing"),
        ("INT_MULTI -1", 1, "INT_MULTI"),
        ("PINT_LOG_BASE 1", 1, "PINT_LOG_BASE needs a number above 1"),
        ("PACKET_PAYLOAD_SIZE 0", 1, "PACKET_PAYLOAD_SIZE"),
        ("BUFFER_SIZE 4096", 1, "BUFFER_SIZE needs a whole number from 1 to 4095"),
        ("SIMULATOR_STOP_TIME 1e18", 1, "nothing"),
        ("SIMULATOR_STOP_TIME -1", 1, "SIMULATOR_STOP_TIME needs a decimal number, 0 or more"),
        ("RP_TIMER 1e300", 1, "RP_TIMER needs at most 1000000000000 microseconds"),
        // 2^32 would be 0 in the original's frames.
        ("PAUSE_TIME 4294967295", 1, "nothing"),
        ("PAUSE_TIME 4294967296", 1, "PAUSE_TIME needs at most 4294967295 microseconds"),
        ("LINK_DOWN 0 0", 1, "LINK_DOWN"),
        ("KMIN_MAP -1", 1, "KMIN_MAP"),
        (
            "KMIN_MAP 2 1 1\nKMAX_MAP 1 1 1",
            2,
            "KMIN_MAP needs a whole number, 1 or more, got \"KMAX_MAP\"; hint: after the number 2, \
             KMIN_MAP needs 2 pairs of a rate in bit/s and a value",
        ),
        (
            "KMIN_MAP 1 100Gbps 400",
            1,
            "hint: after the number 1, KMIN_MAP needs 1 pair of a rate in bit/s and a value",
        ),
        ("HAS_WIN # 1", 1, "HAS_WIN needs 0 or 1, got \"#\"; hint: the format has no comments"),
        ("KMIN_MAP 4000000000 1 1", 1, "KMIN_MAP"),
        ("PMAX_MAP 1 100000000000 2", 1, "nothing"),
        ("PMAX_MAP 1 100000000000 -2", 1, "PMAX_MAP needs a decimal number, 0 or more"),
        ("QLEN_MON_END 18446744073709551615", 1, "QLEN_MON_END"),
        ("FLOW_FILE \u{0}", 1, "FLOW_FILE needs a name in UTF-8, without a null"),
    ];
    for (text, line, words) in bad {
        match config::parse(format!("{text} {FILES}").as_bytes(), &mut Vec::new()) {
            // These are fine.
            Ok(_) => assert_eq!(words, "nothing", "{text}"),
            Err(_) if text == "CC_MODE" || text == "LINK_DOWN 0 0" => {
                refused(&[(text, line, words)], |text| {
                    config::parse(text.as_bytes(), &mut Vec::new())
                });
            }
            Err(error) => {
                assert_eq!(error.line, Some(line), "{text}: {error}");
                assert!(error.to_string().contains(words), "{text}: {error}");
            }
        }
    }
    let error = config::parse(b"CC_MODE 3", &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TOPOLOGY_FILE is missing; hint: add a line such as TOPOLOGY_FILE topology.txt"
    );
    // A configuration that is refused gives its warnings, too.
    let mut warnings = Vec::new();
    let error = config::parse(b"FOO 1\nTOPLOGY_FILE t.txt", &mut warnings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: TOPOLOGY_FILE is missing; hint: \"TOPLOGY_FILE\" is not a key; did you mean \
         TOPOLOGY_FILE? Write TOPOLOGY_FILE topology.txt"
    );
    assert_eq!(
        texts(&warnings),
        [
            "line 1: \"FOO\" is not a key: skipped",
            "line 2: \"TOPLOGY_FILE\", \"t.txt\" are not keys: skipped; did you mean \
             TOPOLOGY_FILE?",
        ]
    );
}

#[test]
fn another_kind_of_file_is_told_in_one_error() {
    for text in [TOPOLOGY, "1\n0 2 3 100 1000 2\n", "[run]\nseed = 1\n"] {
        let mut warnings = Vec::new();
        let error = config::parse(text.as_bytes(), &mut warnings).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no word of it is a key of the HPCC simulator's configurations; hint: name the file \
             that has TOPOLOGY_FILE and FLOW_FILE"
        );
        assert_eq!(warnings, []);
    }
}
