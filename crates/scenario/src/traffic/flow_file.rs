//! Messages listed in a CSV file.

use super::MAX_TIME;
use crate::error::{Result, ScenarioError, known_words};
use crate::memory;
use crate::read_file::Files;
use crate::spec::{FlowSpec, Quantity};
use crate::workload::MAX_MESSAGE;
use serde::Deserialize;
use std::path::PathBuf;
use units::{Bytes, Time, cancel};

/// What a head may name, in any order.
const COLUMNS: [&str; 12] = [
    "src",
    "dst",
    "size",
    "size_bytes",
    "start",
    "start_ps",
    "priority",
    "qp",
    "tag",
    "port",
    "after",
    "after_delay",
];
/// The hint for a file without a header line.
const NEEDS_HEAD: &str = "the first line is a head such as src,dst,size";
/// What a line begins with that is a comment.
const COMMENT: char = '#';

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    src: String,
    dst: String,
    size: Option<Quantity<Bytes>>,
    size_bytes: Option<u64>,
    start: Option<Quantity<Time>>,
    start_ps: Option<u64>,
    priority: Option<u8>,
    qp: Option<String>,
    tag: Option<String>,
    port: Option<u16>,
    after: Option<String>,
    after_delay: Option<Quantity<Time>>,
}

impl Row {
    fn flow(self) -> std::result::Result<FlowSpec, &'static str> {
        let size = match (self.size, self.size_bytes) {
            (Some(size), None) => size,
            (None, Some(bytes)) => Quantity(Bytes::new(bytes)),
            _ => return Err("needs either `size` or `size_bytes`"),
        };
        let start = match (self.start, self.start_ps) {
            (Some(start), None) => start,
            (None, ps) => Quantity(Time::from_ps(ps.unwrap_or(0))),
            (Some(_), Some(_)) => return Err("has both `start` and `start_ps`"),
        };
        Ok(FlowSpec {
            src: self.src,
            dst: self.dst,
            size,
            start,
            priority: self.priority,
            qp: self.qp,
            tag: self.tag,
            port: self.port,
            after: self.after,
            after_delay: self.after_delay,
        })
    }
}

/// Where messages were found.
pub(super) struct FlowFile {
    key: String,
    path: PathBuf,
    /// By message.
    lines: Vec<u64>,
}

impl FlowFile {
    /// An error of the message with this index, with its line.
    pub(super) fn in_flow_file(&self, index: usize, error: ScenarioError) -> ScenarioError {
        let column = error.key.rsplit('.').next().filter(|key| key.parse::<usize>().is_err());
        let place = column.map_or(String::new(), |column| format!("{column}: "));
        let message = format!("{place}{}", error.message);
        ScenarioError { hint: error.hint, ..self.at(self.lines[index], &message) }
    }

    fn at(&self, line: u64, message: &str) -> ScenarioError {
        let path = self.path.display();
        ScenarioError::new(&self.key, format!("{path}, line {line}: {message}"))
    }
}

/// Reads the file `name` of `files`; `key` is what named it.
pub(super) fn read(name: &str, files: &Files, key: &str) -> Result<(FlowFile, Vec<FlowSpec>)> {
    let (path, text) = files.read(name, key)?;
    let text = &*text;
    let mut file = FlowFile { key: key.to_owned(), path, lines: Vec::new() };
    let mut flows = Vec::new();
    if text.lines().all(|line| line.trim().is_empty() || line.starts_with(COMMENT)) {
        let why = format!("{}: is empty", file.path.display());
        return Err(ScenarioError::new(key, why).hint(NEEDS_HEAD));
    }
    let lines = text.bytes().filter(|&byte| byte == b'\n').count();
    memory::check_lines(lines as u64, key)?;
    if let Some(line) = open_quote(text) {
        return Err(file.at(line, "a quote is not closed").hint("is the file cut off?"));
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(COMMENT as u8))
        .from_reader(text.as_bytes());
    let first = skip_to_record(text, &csv::Position::new());
    let head = reader.headers().map_err(|error| file.at(first, &error.to_string()))?.clone();
    check_head(&head).map_err(|(why, mend)| file.at(first, &why).hint(mend))?;
    for record in reader.into_records() {
        cancel::check();
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, |from| skip_to_record(text, from));
            file.at(line, &what_is_wrong(&error))
        })?;
        let line = record.position().map_or(1, |from| skip_to_record(text, from));
        let row: Row = record.deserialize(Some(&head)).map_err(|error| {
            let Some((column, value)) = place_of(&error, &head, &record) else {
                return file.at(line, &what_is_wrong(&error));
            };
            let is_number = !matches!(column, "size" | "start" | "after_delay");
            let (why, mend) =
                if is_number { number(column) } else { (what_is_wrong(&error), None) };
            let error = file.at(line, &format!("{column}: {value:?}: {why}"));
            match mend {
                Some(mend) => error.hint(mend),
                None => error,
            }
        })?;
        flows.push(row.flow().map_err(|why| file.at(line, why))?);
        file.lines.push(line);
    }
    Ok((file, flows))
}

/// Refuses a head that does not say what the columns are: why, and what to do.
fn check_head(head: &csv::StringRecord) -> std::result::Result<(), (String, String)> {
    let known = |name: &str| COLUMNS.contains(&name);
    if let Some(strange) = head.iter().find(|name| !known(name)) {
        let mend = if head.len() == 1 && strange.contains([';', '\t']) {
            "columns are separated by commas".to_owned()
        } else if head.iter().any(known) {
            known_words(strange, COLUMNS)
        } else {
            NEEDS_HEAD.to_owned()
        };
        return Err((format!("unknown column `{}`", strange.escape_debug()), mend));
    }
    let mut names = head.iter().enumerate();
    if let Some((_, twice)) = names.find(|(at, name)| head.iter().take(*at).any(|n| n == *name)) {
        return Err((format!("the column `{twice}` is there twice"), "leave one out".to_owned()));
    }
    let needed = [("src", "src"), ("dst", "dst"), ("size", "size_bytes")];
    match needed.iter().find(|(one, other)| !head.iter().any(|name| name == *one || name == *other))
    {
        None => Ok(()),
        Some((one, other)) => {
            let column =
                if one == other { format!("`{one}`") } else { format!("`{one}` or `{other}`") };
            Err((format!("the column {column} is missing"), NEEDS_HEAD.to_owned()))
        }
    }
}

/// The line of the first record from a position on, which may be before blank lines and comments.
fn skip_to_record(text: &str, from: &csv::Position) -> u64 {
    let rest = text.get(from.byte() as usize..).unwrap_or_default();
    let skipped = rest.lines().take_while(|line| line.is_empty() || line.starts_with(COMMENT));
    from.line() + skipped.count() as u64
}

/// The line in which a quote begins that nothing closes.
fn open_quote(text: &str) -> Option<u64> {
    let mut line = 1;
    let mut opened = None;
    // Quotes count where a column begins; after one that closes, another has it go on.
    let mut begins = true;
    let mut closed = 0;
    let (mut is_first, mut is_comment) = (true, false);
    for c in text.chars() {
        is_comment |= opened.is_none() && is_first && c == COMMENT;
        is_first = matches!(c, '\n' | '\r');
        match (opened, c) {
            _ if is_comment => {}
            (None, '"') if begins => opened = Some(if closed > 0 { closed } else { line }),
            (Some(began), '"') => (opened, begins, closed) = (None, true, began),
            (Some(_), _) => {}
            (None, _) => (begins, closed) = (matches!(c, ',' | '\n' | '\r'), 0),
        }
        if c == '\n' {
            cancel::check();
            is_comment = false;
            line += 1;
        }
    }
    opened
}

/// What a column of plain numbers needs, and what to do instead.
fn number(column: &str) -> (String, Option<&'static str>) {
    let (range, mend) = match column {
        "size_bytes" => (
            format!("of bytes up to {MAX_MESSAGE}"),
            Some("a column `size` has quantities such as \"1MB\""),
        ),
        "start_ps" => (
            format!("of picoseconds up to {}", MAX_TIME.ps()),
            Some("a column `start` has quantities such as \"10us\""),
        ),
        "priority" => ("from 0 to 7".to_owned(), None),
        _ => (format!("from 0 to {}", u16::MAX), None),
    };
    (format!("needs a whole number {range}, in digits alone"), mend)
}

/// The column that an error is in and the value there, where it is in one.
fn place_of<'a>(
    error: &csv::Error,
    head: &'a csv::StringRecord,
    row: &'a csv::StringRecord,
) -> Option<(&'a str, &'a str)> {
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else { return None };
    let field = usize::try_from(err.field()?).ok()?;
    Some((head.get(field)?, row.get(field)?))
}

/// What is wrong, without the place, which the caller adds.
fn what_is_wrong(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let s = if *len == 1 { "" } else { "s" };
            format!("has {len} column{s}, and the head {expected_len}")
        }
        _ => error.to_string(),
    }
}
