//! Protects the reading of files of the simulator's forks, and that what changes a result there is
//! honoured or refused, never skipped.

use hpcc_files::topology::{self, Form};
use hpcc_files::{CcMode, Config, FileError, LoadBalancing, Warning, config, flows};
use units::{NodeId, Time};

const FILES: &str = "TOPOLOGY_FILE t.txt FLOW_FILE f.txt";
const LINKS: &str = "0 4 25000000000.0 1us 0
1 4 25Gbps 1us 0
2 4 25Gbps 1us 0
3 4 25Gbps 1us 0
4 5 100Gbps 1us 0
";

fn network(head: &str) -> (topology::Topology, Vec<String>) {
    let mut warnings = Vec::new();
    let text = format!("{head}\n4 5\n{LINKS}");
    let read = topology::parse(text.as_bytes(), &mut warnings).unwrap();
    (read, warnings.iter().map(Warning::to_string).collect())
}

fn read(keys: &str) -> (Result<Config, FileError>, Vec<String>) {
    let mut warnings = Vec::new();
    let read = config::parse(format!("{FILES}\n{keys}").as_bytes(), &mut warnings);
    (read, warnings.iter().map(Warning::to_string).collect())
}

#[test]
fn first_lines_of_forks() {
    let numbers = |nodes: Vec<NodeId>| nodes.iter().map(|node| node.get()).collect::<Vec<_>>();
    for (head, form, words) in [
        ("6 2 5", Form::Original, ""),
        ("6 2 1 5", Form::PowerTcp, "a topology of the simulator of PowerTCP: the number of ToRs"),
        ("6 2 1 5 25000000000 1e11", Form::Original, ""),
        ("6 2 1 5 25000000000 25000000000", Form::Reverie, "the simulator of Reverie: the number"),
        ("6 4 1 1 5 A100", Form::SimAi, "the type of GPU, \"A100\", changes nothing"),
    ] {
        // A rate in another form is no number: that is no first line of Reverie's.
        if head.contains("1e11") {
            let text = format!("{head}\n4 5\n{LINKS}");
            assert!(topology::parse(text.as_bytes(), &mut Vec::new()).is_err());
            continue;
        }
        let (read, warnings) = network(head);
        assert_eq!(read.form, form, "{head}");
        assert_eq!(numbers(read.switches().collect()), [4, 5], "{head}");
        assert_eq!(read.links.len(), 5, "{head}");
        assert_eq!(read.is_nvswitch[4], form == Form::SimAi, "{head}");
        assert!(!read.is_nvswitch[5], "{head}");
        match warnings.as_slice() {
            [] => assert_eq!(words, ""),
            [one] => assert!(!words.is_empty() && one.contains(words), "{one}"),
            more => panic!("{head}: {more:?}"),
        }
    }
    // An NVSwitch marks nothing; the link to it needs no threshold unless the other end marks.
    let (read, _) = network("6 4 1 1 5 A100");
    assert_eq!(read.switch_links().count(), 5);
    assert_eq!(read.marking_links().map(|link| link.line).collect::<Vec<_>>(), [7]);
}

/// The original reads words in whatever line they are, so its switches may be in the first line.
#[test]
fn a_first_line_of_the_original_may_be_long() {
    let text = "4 1 3 3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
    let mut warnings = Vec::new();
    let read = topology::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!((read.form, read.links.len(), warnings.len()), (Form::Original, 3, 0));
}

#[test]
fn servers_that_do_not_fit() {
    let text = format!("6 3 1 1 5 A100\n4 5\n{LINKS}");
    let error = topology::parse(text.as_bytes(), &mut Vec::new()).unwrap_err();
    assert_eq!(error.line, Some(1));
    assert!(error.to_string().contains("4 GPUs, which fill no number of servers with 3 GPUs"));
}

#[test]
fn flows_without_a_port() {
    let (network, _) = network("6 2 5");
    let mut warnings = Vec::new();
    let text = b"2\n0 1 3 5000 2.0\n2 3 4 7000 2.000000027\n";
    let read = flows::parse(text, &network, &mut warnings).unwrap().flows;
    let sizes: Vec<(u64, u16, u8, u64)> = read
        .iter()
        .map(|flow| (flow.size.get(), flow.dport, flow.priority.get(), flow.start.ns()))
        .collect();
    assert_eq!(sizes, [(5000, 100, 3, 2_000_000_000), (7000, 100, 4, 2_000_000_027)]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].to_string().contains("as in ConWeave"), "{}", warnings[0]);
    // Six words a flow, in lines of five: the original reads those, too.
    let text = b"5\n0 1 3 1 1\n2.0 0 1 3 1\n1 2.0 0 1 3\n1 1 2.0 0 1\n3 1 1 2.0 0\n1 3 1 1 2.0";
    assert_eq!(flows::parse(text, &network, &mut Vec::new()).unwrap().flows.len(), 5);
}

#[test]
fn keys_of_forks_are_told_as_others_are() {
    let twice = read("LB_MODE 9\nENABLE_IRN 1\nLB_MODE 0");
    assert_eq!(twice.0.unwrap().load_balancing, LoadBalancing::Ecmp);
    assert_eq!(twice.1, ["line 4: LB_MODE is in line 2 too; the last counts, as in the original"]);
    let (config, warnings) = read("# LB_MODE 9");
    assert_eq!(config.unwrap().load_balancing, LoadBalancing::ConWeave);
    assert!(warnings.iter().any(|one| one.contains("LB_MODE counts, though it looks commented")));
    for (word, key) in [("LB_MOD", "LB_MODE"), ("ENABLE_IRM", "ENABLE_IRN")] {
        let (config, warnings) = read(&format!("{word} 1"));
        assert_eq!(config.unwrap().conweave_key(), None);
        assert!(warnings[0].contains(&format!("did you mean {key}?")), "{warnings:?}");
    }
    // A key that changes nothing is no advice.
    assert!(!read("TRACE_NODES 1").1[0].contains("did you mean"));
}

#[test]
fn keys_of_forks() {
    let (config, warnings) = read("ENABLE_PFC 0\nENABLE_IRN 0\nLB_MODE 0\nFLOWGEN_STOP_TIME 2.003");
    let config = config.unwrap();
    assert!(!config.enable_pfc);
    assert_eq!(config.simulator_stop_time, Some(Time::from_ms(5003)));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(config.conweave_key(), Some("LB_MODE"));
    assert!(!config.enable_irn && config.load_balancing == LoadBalancing::Ecmp);
    assert_eq!(read("ENABLE_PFC 0").0.unwrap().conweave_key(), None);
    let modes = [
        (0, LoadBalancing::Ecmp),
        (2, LoadBalancing::Drill),
        (3, LoadBalancing::Conga),
        (6, LoadBalancing::LetFlow),
        (9, LoadBalancing::ConWeave),
    ];
    for (mode, balancing) in modes {
        let config = read(&format!("ENABLE_IRN 1\nLB_MODE {mode}")).0.unwrap();
        assert!(config.enable_irn && config.conweave_key().is_some());
        assert_eq!((config.load_balancing, balancing.mode()), (balancing, mode));
    }
    // The simulator's own key counts.
    let (config, _) = read("SIMULATOR_STOP_TIME 2.5 FLOWGEN_STOP_TIME 2.003");
    assert_eq!(config.unwrap().simulator_stop_time, Some(Time::from_ms(2500)));

    let (config, warnings) = read("LOAD 50\nCNP_OUTPUT_FILE a.txt\nMON_START 0\nBW_MON_FILE b.txt");
    assert!(config.is_ok());
    assert_eq!(
        warnings,
        ["line 2: keys of ConWeave and SimAI: LOAD, MON_START change nothing here; the files of \
          CNP_OUTPUT_FILE, BW_MON_FILE are not written"]
    );

    for (keys, line, words) in [
        ("\nENABLE_IRN maybe", 3, "ENABLE_IRN needs 0 or 1"),
        ("CONWEAVE_PATH_PAUSE_TIME 1.5", 2, "CONWEAVE_PATH_PAUSE_TIME needs a whole number"),
        ("LB_MODE 5", 2, "LB_MODE 5 is none; hint: 0 is ECMP, 2 DRILL"),
        ("ENABLE_PFC maybe", 2, "ENABLE_PFC needs 0 or 1"),
        ("FLOWGEN_STOP_TIME 1e9", 2, "FLOWGEN_STOP_TIME needs less than 200 days"),
    ] {
        let error = read(keys).0.unwrap_err();
        assert_eq!(error.line, Some(line), "{keys}");
        assert!(error.to_string().contains(words), "{keys}: {error}");
    }
}

#[test]
fn parameters_of_conweave() {
    let keys = "CONWEAVE_TX_EXPIRY_TIME 300\nCONWEAVE_PATH_PAUSE_TIME 16";
    let (config, warnings) = read(&format!("{keys}\nLB_MODE 9"));
    let times = config.unwrap().conweave;
    assert_eq!(times.inactive, Some(Time::from_us(300)));
    assert_eq!(times.path_busy, Some(Time::from_us(16)));
    assert_eq!(times.reply_extra, None);
    assert_eq!(warnings, [""; 0]);
    let (_, warnings) = read(&format!("LB_MODE 6\n{keys}\nLOAD 50"));
    let names = "LOAD, CONWEAVE_TX_EXPIRY_TIME, CONWEAVE_PATH_PAUSE_TIME";
    assert_eq!(warnings, [format!("line 3: keys of ConWeave: {names} change nothing here")]);
}

#[test]
fn attributes_of_simai() {
    let (config, warnings) = read(
        "ns3::SwitchNode::PfcEnabled false\nns3::RdmaHw::CcMode 3\nns3::RdmaHw::VarWin true\n\
         ns3::Hpcc::TargetUtil 0.5\nns3::IbvInterface::SendLatency 8000\nMI_THRESH 4\n\
         #CC_MODE 1 is DCQCN\nns3::Hpcc::MiThresh 2\nns3::RdmaHw::TotalPauseTime 0",
    );
    let config = config.unwrap();
    assert_eq!((config.cc_mode, config.u_target, config.mi_thresh), (CcMode::Hpcc, 0.5, 2));
    assert!(!config.enable_pfc && config.var_win);
    assert_eq!(
        warnings,
        [
            "line 6: attributes of SimAI that are not served: ns3::IbvInterface::SendLatency",
            "line 9: MI_THRESH is in line 7 too; the last counts, as in the original",
            "line 10: keys of astra-sim: NIC_TOTAL_PAUSE_TIME change nothing here",
        ]
    );
    for (keys, line, words) in [
        ("ns3::RdmaHw::CcMode 13", 2, "CcMode 13 is a law that is not served; hint: 1 is DCQCN"),
        ("ns3::RdmaHw::VarWin maybe", 2, "VAR_WIN needs 0 or 1"),
        ("ns3::RdmaHw::Other", 2, "the file ends where the value of \"ns3::RdmaHw::Other\""),
    ] {
        let error = read(keys).0.unwrap_err();
        assert_eq!(error.line, Some(line), "{keys}");
        assert!(error.to_string().contains(words), "{keys}: {error}");
    }
    // Only such files have comments.
    assert_eq!(read("#CC_MODE 3\nCC_MODE 8").1.len(), 1);
    assert_eq!(read("# CC_MODE 3").0.unwrap().cc_mode, CcMode::Hpcc);
}

#[test]
fn times_of_monitors_in_seconds() {
    let (config, warnings) = read("QLEN_MON_START 2.0\nQLEN_MON_END 2.5");
    let config = config.unwrap();
    let times = (config.qlen_mon_start, config.qlen_mon_end);
    assert_eq!(times, (Time::from_ms(2000), Time::from_ms(2500)));
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn a_stop_time_beyond_200_days() {
    let (config, _) = read("SIMULATOR_STOP_TIME 40000000000000.00");
    assert_eq!(config.unwrap().simulator_stop_time, None);
}

#[test]
fn files_of_other_simulators() {
    let dcqcn = "NP_SAMPLING_INTERVAL 0\nCNP_INTERVAL 50\nDCTCP_GAIN 0.00390625\nBYTE_COUNTER 3";
    let error = read(dcqcn).0.unwrap_err();
    assert_eq!(error.line, Some(2));
    assert!(error.to_string().contains("bobzhuyb/ns3-rdma"), "{error}");
    // One such word is no other simulator.
    assert!(read("CNP_INTERVAL 50").0.is_ok());

    let error = read("schema = 2\n[topology]\nkind = \"star\"").0.unwrap_err();
    assert_eq!(error.line, Some(3));
    assert!(error.to_string().contains("a scenario of rocelab"), "{error}");
    assert!(error.to_string().contains("hint: run it by `rocelab run FILE`"), "{error}");

    let matrix = b"Nodes 16\nConnections 1\n0->1 start 0 size 2000000\n";
    let of_matrix = [
        config::parse(matrix, &mut Vec::new()).unwrap_err(),
        topology::parse(matrix, &mut Vec::new()).unwrap_err(),
    ];
    for error in of_matrix {
        assert!(error.to_string().contains("rocelab import cm"), "{error}");
    }
    let error = topology::parse(b"Nodes 16\nTiers 3\nPodsize 4\n", &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("a topology of htsim; hint: write a scenario"), "{error}");
}

/// The page lists each known key of a fork.
#[test]
fn the_page_lists_the_keys_of_forks() {
    let page = include_str!("../../../../docs/hpcc-simulator.md");
    for key in config::fork_keys() {
        assert!(page.contains(&format!("`{key}`")), "docs/hpcc-simulator.md lacks {key}");
    }
}
