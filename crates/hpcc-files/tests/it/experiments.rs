//! Whole experiments: a configuration with the files that it names.

use crate::common::{TOPOLOGY, texts};
use hpcc_files::Experiment;
use std::path::{Path, PathBuf};
use units::NodeId;

/// A directory for one test, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("hpcc-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, config: &str) -> hpcc_files::Result<Experiment> {
        self.write("config.txt", config);
        Experiment::read(&self.0.join("config.txt"), &self.0)
    }

    fn error(&self, config: &str) -> String {
        let error = self.read(config).expect_err(config).to_string();
        error.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DCQCN: &str = "\
TOPOLOGY_FILE t.txt FLOW_FILE f.txt
CC_MODE 1 RP_TIMER 300 EWMA_GAIN 0.00390625 RATE_AI 20Mb/s RATE_HAI 200Mb/s L2_ACK_INTERVAL 1
KMIN_MAP 2 100000000000 400 400000000000 1600
KMAX_MAP 2 100000000000 1600 400000000000 6400
PMAX_MAP 2 100000000000 .2 400000000000 .2
";

#[test]
fn an_experiment() {
    let there = Directory::new("experiment");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "1\n0 2 3 100 1000 2\n");
    there.write("trace.txt", "2\n0 99");

    let output = "TRACE_OUTPUT_FILE mix.tr";
    let experiment = there.read(&format!("{DCQCN}TRACE_FILE trace.txt {output}")).unwrap();
    assert_eq!(experiment.flows.len(), 1);
    assert_eq!(experiment.traced, [NodeId::new(0)]);
    assert_eq!(experiment.warnings.len(), 1);
    assert_eq!(experiment.warnings[0].file, Some(there.0.join("trace.txt")));
    // Without a list nothing is traced. Without tracing the list is not read.
    let experiment = there.read(&format!("{DCQCN}TRACE_FILE none.txt")).unwrap();
    assert_eq!(experiment.traced, []);
    let told = experiment.warnings[0].to_string();
    assert!(told.contains("config.txt:6: TRACE_FILE: none.txt does not exist"), "{told}");
    let quiet = format!("{DCQCN}ENABLE_TRACE 0 TRACE_FILE none.txt");
    assert_eq!(there.read(&quiet).unwrap().warnings, []);
    // A warning says what is asked for and goes nowhere.
    for (keys, needs) in
        [("TRACE_FILE trace.txt", "TRACE_OUTPUT_FILE"), ("QLEN_MON_START 5", "QLEN_MON_FILE")]
    {
        let told = there.read(&format!("{DCQCN}{keys}")).unwrap().warnings.pop().unwrap();
        let key = keys.split(' ').next().unwrap();
        let words = format!("config.txt:6: {key} is given without {needs}: no ");
        assert!(told.to_string().contains(&words), "{told}");
    }

    // A missing file is an error of the configuration.
    assert_eq!(
        there.error(&DCQCN.replace("t.txt", "nowhere.txt")),
        "config.txt:1: TOPOLOGY_FILE: cannot read nowhere.txt: No such file or directory"
    );
    assert_eq!(
        there.error(&DCQCN.replace("f.txt", ".")).replace("/.", "."),
        "config.txt:1: FLOW_FILE: cannot read .: Is a directory"
    );
    let config = there.0.join("config.txt");
    std::fs::write(&config, DCQCN.replace("t.txt", "far/t.txt")).unwrap();
    let error = Experiment::read(&config, Path::new(".")).unwrap_err();
    assert_eq!(error.message, "TOPOLOGY_FILE: cannot read far/t.txt: No such file or directory");
    let found = there.0.join("t.txt");
    let hint = format!("names are relative to the working directory; there is {}", found.display());
    assert_eq!(error.hint, Some(hint));
    assert_eq!(
        Experiment::read(Path::new("/"), Path::new("")).unwrap_err().to_string(),
        "/: cannot read: Is a directory"
    );
    assert_eq!(
        Experiment::read(Path::new("/dev/zero"), Path::new("")).unwrap_err().to_string(),
        "/dev/zero: cannot read: it is not a regular file"
    );
    there.write("f.txt", "1\n0 2 3 100 1000 soon\n");
    assert_eq!(
        there.error(DCQCN),
        "f.txt:2: start needs a decimal number, 0 or more, got \"soon\""
    );
    for mark in [0xfeff_u16.to_le_bytes(), 0xfeff_u16.to_be_bytes()] {
        std::fs::write(there.0.join("f.txt"), [&mark[..], b"1\0\n\0"].concat()).unwrap();
        assert_eq!(there.error(DCQCN), "f.txt: is UTF-16 text; hint: save it as UTF-8");
    }
}

#[test]
fn what_the_original_leaves_undefined() {
    let there = Directory::new("undefined");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "0\n");
    let without = |part: &str| DCQCN.replace(part, "");
    let refused = [
        (
            without("RP_TIMER 300"),
            "config.txt: RP_TIMER is missing, and CC_MODE 1 needs it; hint: add a line such as \
             RP_TIMER 300",
        ),
        (without("RATE_AI 20Mb/s"), "RATE_AI is missing"),
        (without("RATE_HAI 200Mb/s"), "RATE_HAI is missing"),
        (
            without("L2_ACK_INTERVAL 1"),
            "config.txt: L2_ACK_INTERVAL is missing: nothing is acknowledged and no flow ends; \
             hint: add a line such as L2_ACK_INTERVAL 1",
        ),
        (
            DCQCN.replace("RP_TIMER", "RP_TIMR"),
            "config.txt:2: RP_TIMER is missing, and CC_MODE 1 needs it; hint: \"RP_TIMR\" is not a \
             key; did you mean RP_TIMER? Write RP_TIMER 300",
        ),
        (
            format!("{DCQCN}\nL2_ACK_INTERVAL 0"),
            "config.txt:7: L2_ACK_INTERVAL is 0: nothing is acknowledged and no flow ends; hint: \
             set",
        ),
        (
            format!("{DCQCN}\nALPHA_RESUME_INTERVAL 0"),
            "config.txt:7: ALPHA_RESUME_INTERVAL is 0 us",
        ),
        (format!("{DCQCN}\nRATE_DECREASE_INTERVAL 0"), "txt:7: RATE_DECREASE_INTERVAL is 0 us"),
        (format!("{DCQCN}\nRATE_BOUND 0"), "config.txt:7: RATE_BOUND 0 is not served"),
        (format!("{DCQCN} RP_TIMER 0.9"), "config.txt:6: RP_TIMER is 0 us: time would stand still"),
        (format!("{DCQCN} L2_BACK_TO_ZERO 1"), "config.txt:6: L2_BACK_TO_ZERO 1 is not served"),
        (format!("{DCQCN} L2_ACK_INTERVAL 2000"), "config.txt: L2_CHUNK_SIZE is missing, and L2_"),
        (
            format!("{DCQCN} L2_ACK_INTERVAL 2000\nL2_CHUNK_SIZE 0"),
            "config.txt:7: L2_CHUNK_SIZE is 0, and L2_ACK_INTERVAL above 1 divides by it",
        ),
        (
            format!("{DCQCN} CC_MODE 3\nHAS_WIN 0"),
            "config.txt:7: HAS_WIN is 0, and CC_MODE 3 divides queues by the window: U is infinite",
        ),
        (
            format!("{DCQCN} LINK_DOWN 1 0 6"),
            "config.txt:6: LINK_DOWN names node 6, and the topology has nodes 0 to 5",
        ),
        (
            DCQCN.replace("KMAX_MAP 2 100000000000 1600 4", "KMAX_MAP 2 100000000000 1600 2"),
            "config.txt:4: KMAX_MAP has no entry for 400Gbps, the rate of the link in line 6 of \
             the topology; hint: add `400000000000 VALUE` to KMAX_MAP and count it",
        ),
    ];
    for (config, words) in &refused {
        let error = there.error(config);
        assert!(error.contains(words), "{error}");
    }
    let error = there.read(&DCQCN.replace("RP_TIMER 300", "# RP_TIMER 0")).unwrap_err();
    assert!(error.message.starts_with("RP_TIMER is 0 us"), "{error}");
    let told = texts(&error.warnings);
    assert!(
        told[0].contains("config.txt:2: RP_TIMER counts, though it looks commented"),
        "{told:?}"
    );
    // Thresholds are needed only if switches mark and the law reacts to marks.
    let unmarked = DCQCN.replace("KMAX_MAP 2 100000000000 1600 4", "KMAX_MAP 2 1 1600 4");
    assert!(there.read(&unmarked).is_err());
    for other in ["ENABLE_QCN 0", "CC_MODE 3", "CC_MODE 7", "CC_MODE 0"] {
        there.read(&format!("{unmarked} {other}")).unwrap();
    }
    let down = there.read(&format!("{DCQCN} LINK_DOWN 1 4 0")).unwrap();
    assert!(down.config.link_down.is_some());
}

#[test]
fn what_is_odd_in_the_values_of_a_configuration() {
    let there = Directory::new("odd");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "0\n");
    let told = |config: &str| texts(&there.read(config).unwrap().warnings);
    assert!(told(DCQCN).is_empty());
    let without = DCQCN.replace("EWMA_GAIN 0.00390625", "");
    for (config, words) in [
        (
            without.clone(),
            "config.txt: EWMA_GAIN is missing, which means 0: alpha stays 1, and each cut halves \
             the rate, as in the original; 0.00390625 is usual",
        ),
        (format!("{without} CC_MODE 8"), "EWMA_GAIN is missing, which means 0"),
        (format!("{DCQCN}\nEWMA_GAIN 0"), "config.txt:7: EWMA_GAIN is 0: alpha stays 1"),
        (
            format!("{DCQCN}\nRATE_AI 0"),
            "config.txt:7: RATE_AI is 0bps: such a step raises nothing, as in the original; \
             without a unit it is in bit/s",
        ),
        (
            format!("{DCQCN}\nCC_MODE 7 RATE_HAI 20"),
            "config.txt:7: RATE_HAI is 20bps: such a step raises next to nothing",
        ),
        (
            format!("{DCQCN}\nCC_MODE 8 DCTCP_RATE_AI 0Mb/s"),
            "config.txt:7: DCTCP_RATE_AI is 0bps: such a step raises nothing",
        ),
        (
            format!("{DCQCN}\nCC_MODE 3 U_TARGET 1.5"),
            "config.txt:7: U_TARGET is 1.5: senders aim at more than links carry, so that queues \
             stay, as in the original",
        ),
        (
            format!("{DCQCN}\nLINK_DOWN 1 0 5"),
            "config.txt:7: LINK_DOWN names 0 and 5, which no link joins: nothing fails, as in the \
             original",
        ),
    ] {
        let warnings = told(&config);
        assert!(warnings.iter().any(|warning| warning.contains(words)), "{warnings:?}");
    }
    // Where nothing reads the key, it is not odd.
    for other in ["CC_MODE 3 RATE_AI 0", "CC_MODE 0 RATE_AI 0", "CC_MODE 7 EWMA_GAIN 0"] {
        let warnings = told(&format!("{DCQCN}\n{other}"));
        assert!(!warnings.iter().any(|warning| warning.contains(" is 0")), "{warnings:?}");
    }
    let down = there.read(&format!("{DCQCN} LINK_DOWN 1 0 5")).unwrap();
    assert_eq!(down.config.link_down, None);
}
