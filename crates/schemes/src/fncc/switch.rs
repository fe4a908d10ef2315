//! The switch's part of FNCC: All_INT_Table, from which ACKs get their records.

use super::{Fncc, FnccParams, NotificationParams};
use crate::contract::{
    Cp, FullCx, LinkRates, OnEnqueue, Packet, PacketKind, PortFacts, PortView, RateCode, Strict,
    SwitchFacts,
};
use crate::int::{IntFormat, IntRecord};
use units::{NodeId, PortId, Time};

/// The table's entry for a port.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    rate: RateCode,
    /// ts and txBytes, both at the last departure.
    time: Time,
    tx_bytes: u64,
    /// qLen.
    queue_bytes: u64,
}

/// The congestion point of a switch: All_INT_Table. An ACK gets the entry of the port through which
/// it came in (Algorithm 1).
#[derive(Clone, Debug)]
pub struct IntTable {
    node: NodeId,
    period: Time,
    format: IntFormat,
    rates: LinkRates,
    /// The present values, by port.
    ports: Vec<Entry>,
    /// The values that ACKs get, and when they are updated next. With a period of zero, ACKs get
    /// `ports`.
    published: Vec<Entry>,
    published_until: Time,
}

impl IntTable {
    /// Returns the table of a switch that has sent nothing.
    pub fn new(params: &NotificationParams, facts: &SwitchFacts<'_>) -> IntTable {
        let format = params.format();
        let entry = |port: &PortFacts| Entry {
            rate: format.code(facts.rates, port.rate),
            ..Entry::default()
        };
        let ports: Vec<Entry> = facts.ports.iter().map(entry).collect();
        IntTable {
            node: facts.node,
            period: params.update_period,
            format,
            rates: facts.rates.clone(),
            published: ports.clone(),
            ports,
            published_until: params.update_period,
        }
    }

    /// Publishes the table if an update was due since the last call. Called before each event at
    /// the switch, so the table has not changed since the update was due.
    #[inline]
    fn update(&mut self, now: Time) {
        if self.period != Time::ZERO && now >= self.published_until {
            self.published.copy_from_slice(&self.ports);
            self.published_until = (now + Time::from_ps(1)).round_up(self.period);
        }
    }

    /// Returns the record for an ACK that came in through `port`.
    fn record(&self, port: PortId) -> IntRecord {
        let table = if self.period == Time::ZERO { &self.ports } else { &self.published };
        let Entry { rate, time, tx_bytes, queue_bytes } = table[port.index()];
        self.format.round(IntRecord { rate, time, tx_bytes, queue_bytes })
    }
}

impl<const N: usize> Cp<Fncc<N>> for IntTable {
    /// A departure reads the state of another port.
    type Level = Strict;
    type Port = ();
    crate::hooks!(enqueues);

    fn port(&self, _params: &FnccParams, _facts: &PortFacts) {}
    fn on_rate(&mut self, _params: &FnccParams, (): &mut (), facts: &PortFacts) {
        self.ports[facts.port.index()].rate = self.format.code(&self.rates, facts.rate);
    }

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Fncc<N>>,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<Fncc<N>>,
    ) {
        self.update(cx.now);
        let entry = &mut self.ports[view.port.index()];
        entry.time = cx.now;
        entry.tx_bytes = view.tx_bytes;
        entry.queue_bytes = view.queue_bytes;
        if packet.header.kind == PacketKind::Ack
            && let (header, Some(report)) = packet.split_mut()
        {
            let port = PortId::new(header.ingress);
            report.int.push(self.node, port, self.record(port));
        }
    }
    fn on_drop(
        &mut self,
        cx: &mut FullCx<'_, Fncc<N>>,
        (): &mut (),
        view: &PortView,
        _packet: &Packet<Fncc<N>>,
    ) {
        self.update(cx.now);
        self.ports[view.port.index()].queue_bytes = view.queue_bytes;
    }
}

impl<const N: usize> OnEnqueue<Fncc<N>> for IntTable {
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut FullCx<'_, Fncc<N>>,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<Fncc<N>>,
    ) {
        self.update(cx.now);
        let size = u64::from(packet.header.size);
        self.ports[view.port.index()].queue_bytes = view.queue_bytes + size;
    }
}
