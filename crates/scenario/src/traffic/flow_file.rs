//! Messages listed in a CSV file.

use crate::error::{Result, ScenarioError};
use crate::files;
use crate::spec::{FlowSpec, Quantity};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use units::{Bytes, Time};

/// A line of the file; the columns may be in any order.
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
    pub(super) fn blame(&self, index: usize, error: ScenarioError) -> ScenarioError {
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

/// Reads the file `name`, relative to `base`; `key` is what named it.
pub(super) fn read(
    name: &str,
    base: Option<&Path>,
    key: &str,
) -> Result<(FlowFile, Vec<FlowSpec>)> {
    let (path, text) = files::read(name, base, key)?;
    let mut file = FlowFile { key: key.to_owned(), path, lines: Vec::new() };
    let mut flows = Vec::new();
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|error| file.at(1, &error.to_string()))?.clone();
    for record in reader.into_records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            file.at(line, &what_is_wrong(&error))
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        let row: Row = record.deserialize(Some(&head)).map_err(|error| {
            let place = place_of(&error, &head, &record);
            file.at(line, &format!("{place}{}", what_is_wrong(&error)))
        })?;
        flows.push(row.flow().map_err(|why| file.at(line, why))?);
        file.lines.push(line);
    }
    Ok((file, flows))
}

/// The column that an error is in and the value there, where it is in one.
fn place_of(error: &csv::Error, head: &csv::StringRecord, row: &csv::StringRecord) -> String {
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else { return String::new() };
    let at = |fields: &csv::StringRecord| {
        err.field().and_then(|field| fields.get(field as usize)).map(str::to_owned)
    };
    match (at(head), at(row)) {
        (Some(column), Some(value)) => format!("{column}: {value:?}: "),
        _ => String::new(),
    }
}

/// Without the place, which is told beside it.
fn what_is_wrong(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} columns, and the head {expected_len}")
        }
        _ => error.to_string(),
    }
}
