//! Messages listed in a file.

use std::path::PathBuf;

/// The scenario whose messages are `text`, or what is wrong with it.
fn read(name: &str, text: &str) -> Result<scenario::Scenario, String> {
    let directory: PathBuf =
        std::env::temp_dir().join(format!("rocelab-flows-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("flows.csv"), text).unwrap();
    let path = directory.join("run.toml");
    let scenario = "[topology]\nkind = \"star\"\nhosts = 4\nhost_rate = \"1Gbps\"\n\
                    host_delay = \"1us\"\n[[traffic]]\nkind = \"flows\"\npriority = 2\n\
                    flows_file = \"flows.csv\"\n";
    std::fs::write(&path, scenario).unwrap();
    let read = scenario::load(&path);
    std::fs::remove_dir_all(&directory).unwrap();
    read.map_err(|error| error.to_string().replace(&*directory.to_string_lossy(), "DIR"))
}

#[test]
fn a_file_of_flows_is_the_same_as_a_list() {
    let scenario = read(
        "same",
        "dst, src, size, start, tag, priority, qp\nh1, h0, 1KB, 2us,,,\nh2, h0, 2KB, 0ns, b, 5, q\n",
    )
    .unwrap();
    let listed = "[topology]\nkind = \"star\"\nhosts = 4\nhost_rate = \"1Gbps\"\n\
                  host_delay = \"1us\"\n[[traffic]]\nkind = \"flows\"\npriority = 2\nflows = [\n\
                  { src = \"h0\", dst = \"h1\", size = \"1KB\", start = \"2us\" },\n\
                  { src = \"h0\", dst = \"h2\", size = \"2KB\", tag = \"b\", priority = 5, qp = \"q\" }]\n";
    let listed = scenario::parse(listed, None, &[]).unwrap();
    assert_eq!(scenario.messages, listed.messages);
    assert_eq!(scenario.tags, listed.tags);
    // It becomes a part of the scenario.
    let text = scenario.to_toml();
    assert!(!text.contains("flows_file"), "{text}");
    assert_eq!(scenario::parse(&text, None, &[]).unwrap().messages, listed.messages);
}

#[test]
fn the_columns_of_a_result_will_do() {
    let text = "src,dst,size_bytes,start_ps\nh0,h1,1000,5\nh3,h1,4,0\n";
    let messages = read("result", text).unwrap().messages;
    let rows: Vec<_> =
        messages.iter().map(|m| (m.src.get(), m.size.get(), m.start.ps(), m.priority)).collect();
    assert_eq!(rows, [(3, 4, 0, 2), (0, 1_000, 5, 2)]);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_line() {
    let says = |name: &str, text: &str, expected: &str| {
        let error = read(name, text).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("traffic.0.flows_file: DIR/flows.csv, line"), "{error}");
    };
    let head = "src,dst,size,start\n";
    says(
        "host",
        &format!("{head}h0,h1,1KB,0ns\nh0,h9,1KB,0ns\n"),
        "line 3: dst: unknown node `h9`",
    );
    says("self", &format!("{head}h1,h1,1KB,0ns\n"), "line 2: dst: h1 cannot send to itself");
    says("unit", &format!("{head}h0,h1,1kb,0ns\n"), "line 2: ");
    says("bare", &format!("{head}h0,h1,1000,0ns\n"), "line 2: ");
    says("short", &format!("{head}h0,h1,1KB\n"), "line 2: has 3 columns, and the head 4");
    says("column", "src,dst,bytes\nh0,h1,1KB\n", "line 2: unknown field `bytes`");
    says("none", "src,dst\nh0,h1\n", "line 2: needs either `size` or `size_bytes`");
    says(
        "both",
        "src,dst,size,start,start_ps\nh0,h1,1B,1ns,1\n",
        "has both `start` and `start_ps`",
    );
    says(
        "number",
        "src,dst,size_bytes\nh0,h1,many\n",
        "line 2: size_bytes: \"many\": invalid digit",
    );
}

#[test]
fn a_list_or_a_file() {
    let error = |keys: &str| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 4\nhost_rate = \"1Gbps\"\nhost_delay = \"1us\"\n\
             [[traffic]]\nkind = \"flows\"\n{keys}"
        );
        scenario::parse(&text, None, &[]).unwrap_err().to_string()
    };
    assert!(error("").contains("traffic.0.flows: is missing"), "{}", error(""));
    let both = error("flows = []\nflows_file = \"x.csv\"\n");
    assert!(both.contains("give either `flows` or `flows_file`"), "{both}");
    let absent = error("flows_file = \"no/such.csv\"\n");
    assert!(absent.contains("traffic.0.flows_file: cannot read no/such.csv"), "{absent}");
}
