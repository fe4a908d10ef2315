//! Makes the macro `for_each_scheme!` of `schemes.txt`: all schemes, or those that the environment
//! variable `ROCELAB_SCHEMES` names.

use std::env;
use std::fs;
use std::path::Path;

const LIST: &str = "schemes.txt";
const SELECTION: &str = "ROCELAB_SCHEMES";

/// A line of the list.
struct Entry<'a> {
    name: &'a str,
    types: &'a str,
}

fn main() {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-env-changed={SELECTION}");
    if let Err(error) = generate() {
        println!("cargo::error={error}");
    }
}

fn generate() -> Result<(), String> {
    let list = fs::read_to_string(LIST).map_err(|error| format!("{LIST}: {error}"))?;
    let entries = parse(&list)?;
    let selection = env::var(SELECTION).unwrap_or_default();
    let (selected, left_out) = select(&entries, &selection)?;
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&out).join("for_each_scheme.rs");
    fs::write(path, source(&selected, &left_out)).map_err(|error| error.to_string())
}

fn parse(list: &str) -> Result<Vec<Entry<'_>>, String> {
    let lines = list.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let (name, types) = line.split_once(':').unwrap_or((line, ""));
            if types.trim().is_empty() {
                let number = number + 1;
                return Err(format!(
                    "{LIST}:{number}: `{line}` is not `name: crate::module::Type`"
                ));
            }
            Ok(Entry { name: name.trim(), types: types.trim() })
        })
        .collect()
}

type Selected<'a, 'b> = (Vec<&'b Entry<'a>>, Vec<&'b Entry<'a>>);

/// The entries that `selection` names, in the order of the list, and those that it leaves out. An
/// empty one names all.
fn select<'a, 'b>(entries: &'b [Entry<'a>], selection: &str) -> Result<Selected<'a, 'b>, String> {
    let wanted: Vec<&str> =
        selection.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    for name in &wanted {
        if !entries.iter().any(|entry| entry.name == *name) {
            let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            return Err(format!(
                "{SELECTION} names `{name}`, which is no scheme; there are {}",
                known.join(", ")
            ));
        }
    }
    Ok(entries.iter().partition(|entry| wanted.is_empty() || wanted.contains(&entry.name)))
}

fn source(selected: &[&Entry<'_>], left_out: &[&Entry<'_>]) -> String {
    let names = |entries: &[&Entry<'_>]| -> String {
        entries.iter().map(|entry| format!("{:?}, ", entry.name)).collect()
    };
    let lines: String = selected
        .iter()
        .map(|entry| {
            let word = entry.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
            format!("            {word}: {};\n", entry.types.replace("crate::", "$crate::"))
        })
        .collect();
    format!(
        "/// Calls `$callback!` with every scheme that is compiled in: its name with `_` for
/// signs, and the types that carry it.
#[macro_export]
macro_rules! for_each_scheme {{
    ($callback:ident) => {{
        $callback! {{
{lines}        }}
    }};
}}

/// The names in `schemes.txt` of the schemes that are compiled in.
pub const COMPILED_IN: &[&str] = &[{}];

/// The names of the schemes that `ROCELAB_SCHEMES` left out when this was built.
pub const LEFT_OUT: &[&str] = &[{}];
",
        names(selected),
        names(left_out)
    )
}
