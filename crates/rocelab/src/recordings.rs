//! Time series, traces and captures of a run, which may be larger than memory: they are read piece
//! by piece.

use crate::RecordedEvents;
use crate::output::capture::Capturer;
use crate::output::{report, traces};
use fabric::{PacketEvent, PfcEvent, ProbeTargets, QueueBlock, Samples, Sequence};
use results::{PacketTrace, PfcTrace, Series, SeriesInfo};
use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use units::{Bytes, Time};

/// What a run recorded. Copies share it.
#[derive(Clone, Debug)]
pub struct Recordings {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) samples: Samples,
    /// By probe: its table without rows, and where or of whom its values are.
    pub(crate) probes: Vec<(Series, ProbeTargets)>,
    pub(crate) pfc: Sequence<PfcEvent>,
    pub(crate) packets: Sequence<PacketEvent>,
    pub(crate) queues: Sequence<QueueBlock>,
    /// The scenario asks for a table of PFC frames.
    pub(crate) traces_pfc: bool,
    /// The scenario asks for a table of packets.
    pub(crate) traces_packets: bool,
    /// By node, then port: the node at the other end.
    pub(crate) peers: Vec<Vec<u32>>,
    pub(crate) node_names: Arc<Vec<String>>,
    pub(crate) capturer: Option<Capturer>,
    pub(crate) network_bdp: Option<Bytes>,
}

/// Rows of a piece of a table, as many as row groups of Parquet files have.
pub const ROWS: usize = 1 << 18;

impl Recordings {
    /// What the summary says of each series.
    pub fn series_infos(&self) -> Vec<SeriesInfo> {
        let Inner { probes, samples, .. } = &*self.inner;
        let probes = probes.iter().enumerate();
        let info = |(probe, (empty, _)): (usize, &(Series, _))| SeriesInfo {
            rows: samples.count(probe) as u64,
            ..empty.info()
        };
        probes.map(info).collect()
    }

    /// The series of a probe without its rows.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn empty_series(&self, probe: usize) -> &Series {
        &self.inner.probes[probe].0
    }

    /// The series of a probe in pieces of at most `rows` rows, by time and then target.
    ///
    /// # Errors
    /// Where a file that holds them cannot be read.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn series(
        &self,
        probe: usize,
        rows: usize,
    ) -> impl Iterator<Item = io::Result<Series>> + Send + use<> {
        let inner = Arc::clone(&self.inner);
        pieces(inner.samples.of(probe), rows, move |samples| {
            let (empty, targets) = &inner.probes[probe];
            report::series_of(empty, targets, samples)
        })
    }

    /// How many PFC frames the scenario's trace has, if it asks for one.
    pub fn pfc_rows(&self) -> Option<u64> {
        self.inner.traces_pfc.then(|| self.inner.pfc.len())
    }

    /// The trace of PFC frames in pieces of at most `rows` rows, by time, node and port.
    ///
    /// # Errors
    /// Where a file that holds them cannot be read.
    pub fn pfc_trace(
        &self,
        rows: usize,
    ) -> impl Iterator<Item = io::Result<PfcTrace>> + Send + use<> {
        let inner = Arc::clone(&self.inner);
        let key = |event: &PfcEvent| (event.time, event.node, event.port, event.priority);
        let events = in_order(inner.pfc.iter(), |event| event.time, key);
        pieces(events, rows, move |events| traces::pfc(events, &inner.peers, &inner.node_names))
    }

    /// How many events of packets the scenario's trace has, if it asks for one.
    pub fn packet_rows(&self) -> Option<u64> {
        self.inner.traces_packets.then(|| self.inner.packets.len())
    }

    /// The trace of packets in pieces of at most `rows` rows, by time, node and port.
    ///
    /// # Errors
    /// Where a file that holds them cannot be read.
    pub fn packet_trace(
        &self,
        rows: usize,
    ) -> impl Iterator<Item = io::Result<PacketTrace>> + Send + use<> {
        let inner = Arc::clone(&self.inner);
        pieces(self.packets_by_port(), rows, move |events| {
            traces::packets(events, &inner.node_names)
        })
    }

    /// Whether the scenario asks for a capture.
    pub fn has_capture(&self) -> bool {
        self.inner.capturer.is_some()
    }

    /// Writes the capture (pcapng), if the scenario asks for one.
    ///
    /// # Errors
    /// Where `out` cannot be written, or a file that holds the events cannot be read.
    pub fn write_capture(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.inner.capturer {
            Some(capturer) => capturer.write(self.packets_by_port(), out),
            None => Ok(()),
        }
    }

    /// PFC frames that arrived, by time and node.
    pub(crate) fn pfc_events(&self) -> impl Iterator<Item = io::Result<PfcEvent>> + use<> {
        self.inner.pfc.iter()
    }

    /// What happened to packets, by time and node.
    pub(crate) fn packet_events(&self) -> impl Iterator<Item = io::Result<PacketEvent>> + use<> {
        self.inner.packets.iter()
    }

    /// Lengths of queues, by time and node.
    pub(crate) fn queue_blocks(&self) -> impl Iterator<Item = io::Result<QueueBlock>> + use<> {
        self.inner.queues.iter()
    }

    pub(crate) fn network_bdp(&self) -> Option<Bytes> {
        self.inner.network_bdp
    }

    /// Single events that no trace of the scenario has, in memory.
    pub(crate) fn to_recorded(&self) -> io::Result<RecordedEvents> {
        let Inner { traces_pfc, traces_packets, network_bdp, .. } = *self.inner;
        let mut recorded = RecordedEvents { network_bdp, ..RecordedEvents::default() };
        if !traces_pfc {
            recorded.pfc = self.pfc_events().collect::<io::Result<_>>()?;
        }
        if !traces_packets {
            recorded.packets = self.packet_events().collect::<io::Result<_>>()?;
        }
        recorded.queues = self.queue_blocks().collect::<io::Result<_>>()?;
        Ok(recorded)
    }

    /// Ports of a node are worked in any order where none sees another: in tables events of one
    /// instant come port by port.
    fn packets_by_port(&self) -> impl Iterator<Item = io::Result<PacketEvent>> + Send + use<> {
        let key = |event: &PacketEvent| (event.time, event.node, event.port, event.happening);
        in_order(self.inner.packets.iter(), |event| event.time, key)
    }
}

/// Tables of at most `rows` items.
fn pieces<T, P>(
    mut items: impl Iterator<Item = io::Result<T>> + Send,
    rows: usize,
    table: impl Fn(&[T]) -> P + Send,
) -> impl Iterator<Item = io::Result<P>> + Send {
    iter::from_fn(move || {
        let piece: io::Result<Vec<T>> = items.by_ref().take(rows).collect();
        match piece {
            Ok(piece) => (!piece.is_empty()).then(|| Ok(table(&piece))),
            Err(error) => Some(Err(error)),
        }
    })
}

/// Puts those of one instant in the order of `key`; equal ones stay in theirs.
fn in_order<T: Send, K: Ord>(
    events: impl Iterator<Item = io::Result<T>> + Send,
    time: impl Fn(&T) -> Time + Send,
    key: impl Fn(&T) -> K + Send,
) -> impl Iterator<Item = io::Result<T>> + Send {
    let mut events = events.peekable();
    let mut instant = Vec::new().into_iter();
    iter::from_fn(move || {
        if let Some(event) = instant.next() {
            return Some(Ok(event));
        }
        let first = match events.next()? {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let now = time(&first);
        let mut next = || {
            let next = events.next_if(|next| next.as_ref().is_ok_and(|next| time(next) == now));
            next.and_then(Result::ok)
        };
        let Some(second) = next() else { return Some(Ok(first)) };
        let mut all = vec![first, second];
        all.extend(iter::from_fn(next));
        all.sort_by_key(&key);
        instant = all.into_iter();
        instant.next().map(Ok)
    })
}
