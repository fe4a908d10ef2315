//! Hooks that are called only where a constant says so, and the constants.
//!
//! Whether a hook is overridden can't be asked of a type, so this reads the sources, as rustfmt
//! leaves them.

use std::fs;
use std::path::Path;

/// Constants, what each is without being said, and the hooks that are called only where it is on.
const SWITCHES: [(&str, bool, &[&str]); 7] = [
    ("CLASSES", false, &["classes"]),
    ("SEES_ARRIVALS", false, &["on_arrival"]),
    ("SEES_JOINS", true, &["on_enqueue"]),
    ("ROUTES", false, &["route"]),
    ("RECIRCULATES", false, &["turn"]),
    ("SUB_QUEUES", false, &["sub_queue", "gate"]),
    ("INPUT_QUEUES", false, &["on_input", "reroute", "may_block", "crossing"]),
];

/// The schemes and congestion points that `source` implements: the line of each and what it says.
fn implementations(source: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if !text.starts_with("impl") {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - text.len()]);
        let count = lines[at..].iter().take_while(|line| **line != end).count();
        let block = lines[at..at + count].join("\n");
        let (head, body) = block.trim_start().split_once("{\n").unwrap_or_default();
        let is_wanted = head.split_once(" for ").is_some_and(|(left, _)| {
            left.ends_with(" Scheme") || left.starts_with("impl Cp<") || left.contains("> Cp<")
        });
        if is_wanted {
            found.push((at + 1, body.to_owned()));
        }
    }
    found
}

/// What is wrong with an implementation.
fn faults(body: &str) -> Vec<String> {
    let has_hook = |hook: &&str| body.contains(&format!("    fn {hook}("));
    let says = |name: &str| {
        let (_, said) = body.split_once(&format!("    const {name}: bool = "))?;
        said.split_once(';').map(|(value, _)| value)
    };
    let mut faults = Vec::new();
    for (name, default, hooks) in SWITCHES {
        let is_on = says(name).map_or(default, |value| value != "false");
        let hook = hooks.iter().copied().find(|hook| has_hook(hook));
        match (hook, says(name)) {
            (Some(hook), _) if !is_on => {
                faults.push(format!("`{hook}` is never called: say `const {name}: bool = true`"));
            }
            (None, Some("true")) => faults.push(format!("{name} is on, and no hook goes with it")),
            _ => {}
        }
    }
    let holds = says("HOLDS").is_some_and(|value| value != "false");
    if holds && says("SEES_ARRIVALS").is_none_or(|value| value == "false") {
        faults.push("HOLDS needs SEES_ARRIVALS".to_owned());
    }
    if !holds && body.contains("Verdict::Hold(") {
        faults.push("it holds packets: say `const HOLDS: bool = true`".to_owned());
    }
    faults
}

fn look_through(folder: &Path, seen: &mut usize, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_through(&path, seen, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            for (line, body) in implementations(&fs::read_to_string(&path).unwrap()) {
                *seen += 1;
                let place = path.display();
                all.extend(faults(&body).iter().map(|fault| format!("{place}:{line}: {fault}")));
            }
        }
    }
}

#[test]
fn hooks_that_need_a_constant_have_it() {
    let (mut seen, mut all) = (0, Vec::new());
    look_through(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut seen, &mut all);
    assert!(seen > 30, "the sources are not laid out as this test reads them: {seen} found");
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_hook_without_its_constant_is_found() {
    let source = "
impl Silent {
    fn turn(&self) {}
}

impl<const N: usize> Cp<Toy<N>> for Silent {
    const SEES_JOINS: bool = false;
    fn on_arrival(
        &mut self,
    ) -> Verdict {
        Verdict::Hold(now)
    }
    fn on_enqueue(&mut self) {}
}

impl Scheme for Toy {
    const CLASSES: bool = true;
}
";
    let found: Vec<(usize, String)> = implementations(source)
        .iter()
        .flat_map(|(line, body)| faults(body).into_iter().map(move |fault| (*line, fault)))
        .collect();
    let expected = [
        (6, "`on_arrival` is never called: say `const SEES_ARRIVALS: bool = true`"),
        (6, "`on_enqueue` is never called: say `const SEES_JOINS: bool = true`"),
        (6, "it holds packets: say `const HOLDS: bool = true`"),
        (16, "CLASSES is on, and no hook goes with it"),
    ];
    let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
    assert_eq!(found, expected);
}
