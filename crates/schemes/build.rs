//! Makes the macro `for_each_scheme!` of `schemes.txt`, and `for_each_mix!` of `mixes.txt`: all
//! schemes, or those that the environment variable `ROCELAB_SCHEMES` names, and all mixes of these.
//! The macros `part_1!` to `part_4!` have a fourth each.

use std::env;
use std::fs;
use std::path::Path;

const LIST: &str = "schemes.txt";
const MIXES: &str = "mixes.txt";
const SELECTION: &str = "ROCELAB_SCHEMES";
/// The crates `instantiations-1` and so on, which compile the fabric for them.
const PARTS: usize = 4;

/// A line of the list.
struct Entry<'a> {
    name: &'a str,
    types: &'a str,
}

impl Entry<'_> {
    /// The type with room for the shortest paths.
    fn first_type(&self) -> String {
        let first = self.types.split(", crate::").next().unwrap_or(self.types);
        as_in_macros(first)
    }

    /// How many times the fabric is compiled for it.
    fn number_of_types(&self) -> usize {
        self.types.split(", crate::").count()
    }
}

type MixOf<'a, 'b> = (&'b Entry<'a>, &'b Entry<'a>);

/// What one crate compiles.
#[derive(Default)]
struct Part<'a, 'b> {
    schemes: Vec<&'b Entry<'a>>,
    mixes: Vec<MixOf<'a, 'b>>,
}

impl Part<'_, '_> {
    fn number_of_types(&self) -> usize {
        let of_schemes: usize = self.schemes.iter().map(|entry| entry.number_of_types()).sum();
        of_schemes + self.mixes.len()
    }
}

fn as_in_macros(types: &str) -> String {
    types.replace("crate::", "$crate::")
}

fn main() {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-changed={MIXES}");
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
    let mixes = fs::read_to_string(MIXES).map_err(|error| format!("{MIXES}: {error}"))?;
    let mixes = parse_mixes(&mixes, &entries)?;
    let is_selected = |entry: &Entry<'_>| selected.iter().any(|other| other.name == entry.name);
    let mixes: Vec<_> =
        mixes.into_iter().filter(|(a, b)| is_selected(a) && is_selected(b)).collect();
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let path = Path::new(&out).join("for_each_scheme.rs");
    fs::write(path, source(&selected, &left_out, &mixes)).map_err(|error| error.to_string())
}

/// The lines of the list of mixes.
fn parse_mixes<'a, 'b>(list: &str, entries: &'b [Entry<'a>]) -> Result<Vec<MixOf<'a, 'b>>, String> {
    let lines = list.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let entry = |name: &str| entries.iter().find(|entry| entry.name == name.trim());
            let names = line.split_once(',');
            let pair = names.and_then(|(first, second)| Some((entry(first)?, entry(second)?)));
            pair.ok_or_else(|| format!("{MIXES}:{}: `{line}` is not two schemes", number + 1))
        })
        .collect()
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

/// Divides what is to be compiled, so that no crate has many more types than another.
fn parts<'a, 'b>(selected: &[&'b Entry<'a>], mixes: &[MixOf<'a, 'b>]) -> Vec<Part<'a, 'b>> {
    let mut parts: Vec<Part<'_, '_>> = (0..PARTS).map(|_| Part::default()).collect();
    let next = |parts: &[Part<'_, '_>]| {
        (0..PARTS).min_by_key(|&part| parts[part].number_of_types()).expect("there are several")
    };
    for &mix in mixes {
        let part = next(&parts);
        parts[part].mixes.push(mix);
    }
    let mut by_size = selected.to_vec();
    by_size.sort_by_key(|entry| std::cmp::Reverse(entry.number_of_types()));
    for entry in by_size {
        let part = next(&parts);
        parts[part].schemes.push(entry);
    }
    parts
}

fn source_of_part(number: usize, part: &Part<'_, '_>) -> String {
    let schemes: String = part
        .schemes
        .iter()
        .map(|entry| format!("                {};\n", as_in_macros(entry.types)))
        .collect();
    format!(
        "/// Calls `$callback!` with the types that the crate `instantiations-{number}` compiles.
#[macro_export]
macro_rules! part_{number} {{
    ($callback:ident) => {{
        $callback! {{
            schemes {{
{schemes}            }}
            mixes {{
{mixes}            }}
        }}
    }};
}}
",
        mixes = pairs(&part.mixes),
    )
}

/// The first types of mixes, a line for each.
fn pairs(mixes: &[MixOf<'_, '_>]) -> String {
    mixes
        .iter()
        .map(|(a, b)| format!("            {}, {};\n", a.first_type(), b.first_type()))
        .collect()
}

fn source(selected: &[&Entry<'_>], left_out: &[&Entry<'_>], mixes: &[MixOf<'_, '_>]) -> String {
    let names = |entries: &[&Entry<'_>]| -> String {
        entries.iter().map(|entry| format!("{:?}, ", entry.name)).collect()
    };
    let lines: String = selected
        .iter()
        .map(|entry| {
            let word = entry.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
            format!("            {word}: {};\n", as_in_macros(entry.types))
        })
        .collect();
    let pairs = pairs(mixes);
    let parts: String = parts(selected, mixes)
        .iter()
        .enumerate()
        .map(|(index, part)| source_of_part(index + 1, part))
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

/// Calls `$callback!` with the types of both schemes of every mix that is compiled in.
#[macro_export]
macro_rules! for_each_mix {{
    ($callback:ident) => {{
        $callback! {{
{pairs}        }}
    }};
}}

{parts}
/// The names in `schemes.txt` of the schemes that are compiled in.
pub const COMPILED_IN: &[&str] = &[{}];

/// The names of the schemes that `ROCELAB_SCHEMES` left out when this was built.
pub const LEFT_OUT: &[&str] = &[{}];
",
        names(selected),
        names(left_out)
    )
}
