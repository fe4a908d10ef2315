//! Protects the whole sequence of events of a small run: time, number, and how many numbers each
//! event gives. The simulator printed it.

use crate::Options;
use crate::event_list::Kind;
use crate::simulation::Simulation;
use hpcc_files::Experiment;
use std::fs;
use std::io::ErrorKind;

const TOPOLOGY: &str =
    "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n";
const FLOWS: &str = "2\n0 2 3 100 2500 2.0\n1 2 3 100 1200 2.0\n";
const CONFIG: &str = "CC_MODE 0 HAS_WIN 0 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 ENABLE_TRACE 0 \
                      SIMULATOR_STOP_TIME 2.1 QLEN_MON_START 2000001300 QLEN_MON_END 2000001400 \
                      TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt";

/// Nanoseconds after 2 s, the event's number and what it is, and the numbers that it gave. Numbers
/// count from that of the stop.
const EVENTS: &str = "\
0: -2 reader -> 1 2
0: 1 app -> 3
0: 2 app -> 4
0: 3 flow -> 5 6
0: 4 flow -> 7 8
83: 5 end n0 -> 9 10
83: 7 end n1 -> 11 12
102: 11 end n1
166: 9 end n0 -> 13 14
209: 13 end n0
1083: 6 receive n3 -> 15 16
1083: 8 receive n3
1102: 12 receive n3
1166: 10 receive n3
1166: 15 end n3 -> 17 18
1209: 14 receive n3
1249: 17 end n3 -> 19 20
1268: 19 end n3 -> 21 22
1300: -1 monitor -> 23
1351: 21 end n3 -> 24 25
1394: 24 end n3
1400: 23 monitor
2166: 16 receive n2 -> 26 27
2170: 26 end n2
2249: 18 receive n2 -> 28 29
2253: 28 end n2
2268: 20 receive n2 -> 30 31
2272: 30 end n2
2351: 22 receive n2 -> 32 33
2355: 32 end n2
2394: 25 receive n2 -> 34 35
2398: 34 end n2
3170: 27 receive n3 -> 36 37
3174: 36 end n3
3253: 29 receive n3 -> 38 39
3257: 38 end n3
3272: 31 receive n3 -> 40 41
3276: 40 end n3
3355: 33 receive n3 -> 42 43
3359: 42 end n3
3398: 35 receive n3 -> 44 45
3402: 44 end n3
4174: 37 receive n0
4257: 39 receive n1
4276: 41 receive n1
4359: 43 receive n0
4402: 45 receive n0
";

#[test]
fn events_have_the_times_and_numbers_of_there() {
    let directory = std::env::temp_dir().join(format!("ns3-order-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    for (name, text) in [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("config.txt", CONFIG)] {
        fs::write(directory.join(name), text).unwrap();
    }
    let read = Experiment::read(&directory.join("config.txt"), &directory);
    fs::remove_dir_all(&directory).unwrap();
    let experiment = read.unwrap();
    let no_file = || Err(ErrorKind::Other.into());
    let options = Options { run: 1, new_file: &no_file, max_held_bytes: usize::MAX };
    let mut simulation = Simulation::new(&experiment, &options);
    let first = simulation.events.next_number();
    assert_eq!(first, 8 + 2 * 4 + 2 * 3);
    simulation.schedule_start();
    let stop = simulation.events.next_number() - 1;
    let relative = |number: u32| number.wrapping_sub(stop) as i32;
    let mut events = String::new();
    while let Some(event) = simulation.events.pop()
        && event.kind != Kind::Stop
    {
        let begin = simulation.events.next_number();
        let node = |simulation: &Simulation<'_>| simulation.ports[event.a as usize].node;
        let what = match event.kind {
            Kind::Reader => "reader".to_owned(),
            Kind::AppStart => "app".to_owned(),
            Kind::FlowStart => "flow".to_owned(),
            Kind::Monitor => "monitor".to_owned(),
            Kind::TransmitEnd => format!("end n{}", node(&simulation)),
            Kind::Receive => format!("receive n{}", node(&simulation)),
            other => format!("{other:?}"),
        };
        simulation.handle(event);
        let time = simulation.events.now() - 2_000_000_000;
        events += &format!("{time}: {} {what}", relative(event.number()));
        let given: Vec<String> = (begin..simulation.events.next_number())
            .map(|number| relative(number).to_string())
            .collect();
        events +=
            &if given.is_empty() { "\n".into() } else { format!(" -> {}\n", given.join(" ")) };
    }
    assert_eq!(events, EVENTS);
}
