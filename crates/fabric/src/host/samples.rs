//! What probes sample at a host, and what it recorded.

use super::{Host, ReceiverSlot};
use crate::observe::samples::Reading;
use crate::observe::spill::Batch;
use crate::packet::{Scheme, Win};
use model::ProbeKind;
use schemes::contract::{Rp, SenderMetric};
use std::cell::LazyCell;
use units::Time;

impl<S: Scheme> Host<S> {
    /// Moves to `batch` what was recorded before `end`.
    pub(crate) fn hand_over(&mut self, batch: &mut Batch, end: Time) {
        self.port_probes.hand_over(&mut batch.readings);
        self.flow_probes.hand_over(&mut batch.readings);
        if let Some(recorder) = &mut self.recorder {
            // Only switches record lengths of queues.
            recorder.hand_over(&mut batch.events, end, &|_| 0);
        }
    }

    /// Finds when the next sample is due.
    pub(super) fn find_next_sample(&mut self) {
        self.next_sample = self.port_probes.next().min(self.flow_probes.next());
    }

    /// Takes the samples that are due at `now`.
    pub(super) fn sample(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if window.may_record() {
            self.take_samples(window, now);
        } else {
            self.port_probes.stop();
            self.flow_probes.stop();
        }
        self.find_next_sample();
    }

    fn take_samples(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if self.port_probes.next() == now {
            let nics = &self.nics;
            let port = |port: usize| &nics[port].port;
            let taken = self.port_probes.sample(now, port, |_, _| 0, |_, _| None);
            window.count_recorded(taken, taken * Reading::BYTES);
        }
        if self.flow_probes.next() == now {
            // The slots of senders by the message that they are at, found only if a probe asks one.
            let senders = LazyCell::new(|| {
                let open = self.senders.iter().filter(|(_, sender)| sender.open);
                let flow = |slot, sender| self.cold.messages(sender, slot).oldest.flow;
                let mut by_flow: Vec<(u32, u32)> =
                    open.map(|(slot, sender)| (flow(slot, sender), slot)).collect();
                by_flow.sort_unstable();
                by_flow
            });
            // Of a flow that ends here, if its QP is open and data is kept at all.
            let kept = |flow: u32| {
                let place = self.common.flows[flow as usize].receiver_slot as usize;
                let ReceiverSlot::Open(slot) = self.receiver_slots[place] else { return None };
                self.reorder_buffers.get(slot as usize).map(|buffer| buffer.bytes() as f64)
            };
            let taken = self.flow_probes.sample(now, |flow, kind| {
                if kind == ProbeKind::ReorderBuffer {
                    return kept(flow);
                }
                let what = match kind {
                    ProbeKind::Rate => SenderMetric::Rate,
                    ProbeKind::Window => SenderMetric::Window,
                    _ => SenderMetric::Alpha,
                };
                let place = senders.binary_search_by_key(&flow, |(flow, _)| *flow).ok()?;
                self.senders.get(senders[place].1)?.rp.observe(now, what)
            });
            window.count_recorded(taken, taken * Reading::BYTES);
        }
    }
}
