//! From `[trace]` to what is recorded event by event.

use crate::error::{Result, ScenarioError};
use crate::selector::Selector;
use crate::spec::TraceSpec;
use crate::traffic::check_span;
use units::{NodeId, Time};

/// What is recorded event by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Each PFC frame where it arrives.
    pub pfc: bool,
    /// Each packet at these nodes.
    pub packets: Vec<NodeId>,
    /// These packets are written as a capture, too.
    pub capture: bool,
    /// Events from this time on.
    pub start: Time,
    /// No event after this time; `None`: to the end of the run.
    pub end: Option<Time>,
}

impl Trace {
    /// Whether anything is to be recorded.
    pub fn is_enabled(&self) -> bool {
        self.pfc || !self.packets.is_empty()
    }
}

/// Finds the nodes of `spec`.
pub(crate) fn resolve(spec: &TraceSpec, nodes: &Selector<'_>) -> Result<Trace> {
    let packets = nodes.nodes(&spec.packets, "trace.packets")?;
    let (start, end) = check_span(spec.start, spec.end, |name| format!("trace.{name}"))?;
    if spec.capture && packets.is_empty() {
        return Err(ScenarioError::new("trace.capture", "needs nodes whose packets are traced")
            .hint("choose some as trace.packets"));
    }
    let trace = Trace { pfc: spec.pfc, packets, capture: spec.capture, start, end };
    if !trace.is_enabled() && (start > Time::ZERO || end.is_some()) {
        return Err(ScenarioError::new("trace", "nothing is to be recorded between these times")
            .hint("choose `pfc = true`, or nodes as `packets`"));
    }
    Ok(trace)
}
