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
        "dst, src, size, start, tag, priority, qp\nh1, h0, 1KB, 2us,,,\nh2, h0, 2KB, 0ns, b, 5, \
         q\n",
    )
    .unwrap();
    let listed = "[topology]\nkind = \"star\"\nhosts = 4\nhost_rate = \"1Gbps\"\n\
                  host_delay = \"1us\"\n[[traffic]]\nkind = \"flows\"\npriority = 2\nflows = [\n\
                  { src = \"h0\", dst = \"h1\", size = \"1KB\", start = \"2us\" },\n\
                  { src = \"h0\", dst = \"h2\", size = \"2KB\", tag = \"b\", priority = 5, qp = \
                  \"q\" }]\n";
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
    says("one", &format!("{head}h0\n"), "line 2: has 1 column, and the head 4");
    says(
        "neither",
        "src,dst,size,size_bytes\nh0,h1,,\n",
        "line 2: needs either `size` or `size_bytes`",
    );
    says(
        "both",
        "src,dst,size,start,start_ps\nh0,h1,1B,1ns,1\n",
        "has both `start` and `start_ps`",
    );
    says(
        "number",
        "src,dst,size_bytes\nh0,h1,many\n",
        "line 2: size_bytes: \"many\": needs a whole number of bytes up to 4000000000000, in \
         digits alone; hint: a column `size` has quantities such as \"1MB\"",
    );
    let number = |column: &str, value: &str, expected: &str| {
        says(column, &format!("src,dst,size,{column}\nh0,h1,,{value}\n"), expected);
    };
    number("size_bytes", "1e6", "size_bytes: \"1e6\": needs a whole number of bytes");
    number("start_ps", "-1", "a whole number of picoseconds up to 1000000000000000000");
    number("priority", "300", "priority: \"300\": needs a whole number from 0 to 7,");
    number("port", "99999", "port: \"99999\": needs a whole number from 0 to 65535,");
    says("quote", "src,dst,size\nh0,h1,\"1KB\n", "line 2: a quote is not closed");
    says(
        "several",
        "src,dst,size\n\"h\"\"0\",h1,1KB\nh0,h1,\"1\n\nKB\n",
        "line 3: a quote is not closed",
    );
}

/// Protects messages from being taken for a head, or from getting lost with a head that says
/// nothing.
#[test]
fn a_file_has_a_head_even_without_messages() {
    let says = |name: &str, text: &str, expected: &str| {
        let error = read(name, text).unwrap_err();
        assert_eq!(error, format!("DIR/run.toml:9: traffic.0.flows_file: DIR/flows.csv{expected}"));
    };
    let head = "; hint: the first line is a head such as src,dst,size";
    for (name, text) in [("empty", ""), ("blank", "\n \n"), ("mark", "\u{feff}")] {
        says(name, text, &format!(": is empty{head}"));
    }
    says("headless", "h0,h1,1KB\n", &format!(", line 1: unknown column `h0`{head}"));
    says("headless2", "h0,h1,1KB\nh0,h1,2KB\n", &format!(", line 1: unknown column `h0`{head}"));
    let meant = ", line 1: unknown column `sorce`; hint: did you mean `src`?";
    says("misspelt", "sorce,dst,size\n", meant);
    let known = "; hint: known: src, dst, size, size_bytes, start, start_ps, priority, qp, tag, \
                 port, after, after_delay";
    says("unknown", "src,dst,x\n", &format!(", line 1: unknown column `x`{known}"));
    says(
        "twice",
        "src,dst,size,dst\nh0,h1,1KB,h2\n",
        ", line 1: the column `dst` is there twice; hint: leave one out",
    );
    says("src", "dst,size\n", &format!(", line 1: the column `src` is missing{head}"));
    let size = ", line 1: the column `size` or `size_bytes` is missing";
    says("size", "src,dst\nh0,h1\n", &format!("{size}{head}"));
    let commas = "; hint: columns are separated by commas";
    for (name, sep) in [("semicolon", ";"), ("tab", "\t")] {
        let text = "src,dst,size\nh0,h1,1KB\n".replace(',', sep);
        let shown = format!("src{sep}dst{sep}size").escape_debug().to_string();
        says(name, &text, &format!(", line 1: unknown column `{shown}`{commas}"));
    }
    // With a head, no messages are no messages.
    let none = read("none", "src,dst,size\n").unwrap_err();
    assert!(none.contains("traffic: none of it has a message to send"), "{none}");
    assert!(none.contains("hint: give messages, let it last longer or have more load"), "{none}");
}

#[test]
fn quotes_and_blank_lines_are_read() {
    let text = "\"src\",dst,size,tag\n\nh0,h1,\"1KB\",\"say \"\"so\"\"\"\n\nh1,h2,2KB,a \"b\n";
    let scenario = read("quotes", text).unwrap();
    assert_eq!(scenario.tags, ["say \"so\"", "a \"b"]);
}

#[test]
fn lines_that_begin_with_a_hash_are_comments() {
    let text =
        "# of \"one\n\n# day\r\nsrc,dst,size\n# \"h0,h9\nh0,h1,1KB\n\n#\nh1,h2,\"1\n#\nKB\"\n";
    let unit = read("comments", text).unwrap_err();
    assert!(unit.contains("line 9: unknown unit"), "{unit}");
    let text = text.replace("\"1\n#\nKB\"", "2KB");
    let sizes: Vec<_> =
        read("comments", &text).unwrap().messages.iter().map(|one| one.size.get()).collect();
    assert_eq!(sizes, [1_000, 2_000]);
    for (from, to, expected) in [
        ("h1,h2", "h1,h9", "line 9: dst: unknown node `h9`"),
        ("h1,h2", "h1", "line 9: has 2 columns, and the head 3"),
        ("h1,h2,2KB", "h1,h2,\"", "line 9: a quote is not closed"),
        ("src,dst", "sorce,dst", "line 4: unknown column `sorce`"),
    ] {
        for ends in ["\n", "\r\n"] {
            let text = text.replace(from, to).replace("\r\n", "\n").replace('\n', ends);
            let error = read("comments", &text).unwrap_err();
            assert!(error.contains(expected), "{error}");
            let error = read("comments", &format!("\u{feff}{text}")).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
    let none = read("comments", "# nothing\n").unwrap_err();
    assert!(none.contains("flows.csv: is empty"), "{none}");
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
