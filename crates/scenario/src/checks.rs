//! What a scenario must fulfil that no section of it decides alone.

use crate::also::AlsoScheme;
use crate::error::{Result, ScenarioError};
use crate::network::Network;
use crate::settings::{self, Pfc, Stop, Wire};
use crate::spec::{FailureSpec, QuirksSpec, SCHEMA_VERSION, TrafficSpec};
use crate::traffic::Traffic;
use model::{Impairment, Paths};
use schemes::registry::SchemeInfo;

/// Most bytes of a scenario's name. What a file system takes for one is 255; while a result is
/// written, its own has more.
pub const MAX_NAME_BYTES: usize = 200;

/// Refuses a file that is written in another version of the schema.
pub(crate) fn schema(version: u32) -> Result<()> {
    match version {
        SCHEMA_VERSION => Ok(()),
        1 => Err(old_schema()),
        _ => Err(unknown_schema(version.into())),
    }
}

/// A scenario of a schema that there is not, or not yet.
pub(crate) fn unknown_schema(version: i64) -> ScenarioError {
    let why = format!("version {version} is unknown; this program reads {SCHEMA_VERSION}");
    let mend = if version > SCHEMA_VERSION.into() {
        "a later version of rocelab reads it".to_owned()
    } else {
        format!("set schema = {SCHEMA_VERSION}, or leave it out")
    };
    ScenarioError::new("schema", why).hint(mend)
}

/// Fills in the name of a scenario that has none. Returns it if it can be that of a directory.
pub(crate) fn name(name: &mut Option<String>) -> Result<String> {
    let name = name.get_or_insert_with(|| "scenario".to_owned()).clone();
    let is_refused = name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.starts_with('.')
        || name.chars().any(|c| c.is_control() || c == '/');
    if is_refused {
        let why = format!("{name:?} cannot be a scenario's name");
        return Err(ScenarioError::new("name", why).hint(
            "the directory of its result is called so: give it a `name` of 1 to 200 bytes (a \
             letter beyond ASCII has two to four), without `/` and control characters, no `.` \
             first",
        ));
    }
    Ok(name)
}

/// The HPCC simulator has no run with two schemes.
pub(crate) fn also_without_quirks(also: Option<&AlsoScheme>, quirks: &QuirksSpec) -> Result<()> {
    if also.is_none() || quirks.is_native() {
        return Ok(());
    }
    let why = "does not go with quirks: the HPCC simulator has one scheme in a run";
    Err(ScenarioError::new("scheme.also", why)
        .hint("leave [[scheme.also]] out, or turn the quirks off"))
}

/// A run that ends with its messages has some.
pub(crate) fn has_messages(traffic: &Traffic, specs: &[TrafficSpec], stop: Stop) -> Result<()> {
    if !traffic.messages.is_empty() || stop != Stop::FlowsDone {
        return Ok(());
    }
    let (why, mend) = match specs.is_empty() {
        true => ("there is no message to send", "give a [[traffic]]"),
        false => (
            "none of it has a message to send",
            "give messages, let it last longer or have more load",
        ),
    };
    Err(ScenarioError::new("traffic", why).hint(format!("{mend}, or give a time as `run.stop`")))
}

/// The times of pauses hold for links with PFC while they are slow, too.
pub(crate) fn pause_times_of_slow_links(
    impairments: &[Impairment],
    network: &Network,
    pfc: &Pfc,
) -> Result<()> {
    for impairment in impairments {
        let link = &network.links[impairment.link as usize];
        if let Some(rate) = impairment.rate.filter(|_| link.pfc) {
            settings::check_pause_times(&pfc.timing, link, rate)?;
        }
    }
    Ok(())
}

/// A scenario of schema 1, some keys of which have other names now.
pub(crate) fn old_schema() -> ScenarioError {
    ScenarioError::new("schema", format!("version 1 is old; this program reads {SCHEMA_VERSION}"))
        .hint("`rocelab migrate FILE` rewrites a file")
}

/// Statistics are by tag, and where a run has two schemes by scheme: names must tell them apart.
pub(crate) fn tags(traffic: &Traffic, schemes: [&str; 2]) -> Result<()> {
    match traffic.tags.iter().find(|tag| schemes.contains(&tag.as_str())) {
        None => Ok(()),
        Some(tag) => {
            let why = format!("messages have the tag \"{tag}\", which is a scheme of this run");
            Err(ScenarioError::new("traffic", why).hint("give them another tag"))
        }
    }
}

/// Some schemes take the queues of a port for one.
pub(crate) fn priorities(traffic: &Traffic, scheme: &SchemeInfo) -> Result<()> {
    let Some(first) = traffic.messages.first().filter(|_| scheme.one_data_priority) else {
        return Ok(());
    };
    match traffic.messages.iter().find(|message| message.priority != first.priority) {
        None => Ok(()),
        Some(other) => {
            let why = format!(
                "messages have priorities {} and {}, and scheme {} takes the queues of a port for \
                 one",
                first.priority, other.priority, scheme.name
            );
            Err(ScenarioError::new("traffic", why).hint("give all of them one priority"))
        }
    }
}

/// The ports of spanning trees are of different paths: who goes from one to another may go in a
/// circle.
pub(crate) fn trees(routing: &Paths, scheme: &SchemeInfo) -> Result<()> {
    if !scheme.input_queues || !matches!(routing, Paths::SpanningTrees { .. }) {
        return Ok(());
    }
    let why = format!(
        "scheme {} chooses among ports of equal cost, and spanning trees have none",
        scheme.name
    );
    Err(ScenarioError::new("routing.paths", why).hint("set routing.paths = \"shortest\""))
}

/// CIOQ switches know no links that fail or lose packets.
pub(crate) fn sound_links(
    network: &Network,
    failures: &[FailureSpec],
    wire: &Wire,
    scheme: &SchemeInfo,
) -> Result<()> {
    let why = "CIOQ switches (switch.architecture = \"cioq\") have sound links only";
    let hint = if scheme.input_queues {
        format!("scheme {} needs such switches: choose another", scheme.name)
    } else {
        "set switch.architecture = \"shared-memory\"".to_owned()
    };
    let refuse = |key: String, why: String| Err(ScenarioError::new(key, why).hint(hint.clone()));
    if !failures.is_empty() {
        return refuse("failure".to_owned(), why.to_owned());
    }
    match network.links.iter().enumerate().find(|(_, link)| link.error_rate > 0.0) {
        None => Ok(()),
        Some((_, link)) if link.error_rate == wire.error_rate => {
            refuse("wire.error_rate".to_owned(), why.to_owned())
        }
        // Only links that are listed have rates of their own.
        Some((index, link)) => refuse(
            format!("topology.links.{index}.error_rate"),
            format!("{}:{} damages packets, and {why}", network.name(link.a), network.name(link.b)),
        ),
    }
}
