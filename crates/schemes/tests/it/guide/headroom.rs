//! Headroom: a window that keeps the busiest link of the path at a share of its rate.
//!
//! An example, and no published scheme.

use crate::contract::{
    Absent, Ack, HostCx, HostFacts, LinkRates, Needs, NoCtl, PathFacts, PlainReceiver, Preset, Rp,
    Scheme, SendLimits, SwitchFacts,
};
use crate::int::{IntFormat, IntStack, PreviousRecords, StampInt};
use units::{Bytes, Rate, Time};

crate::params! {
    /// Parameters of Headroom.
    pub struct HeadroomParams {
        /// Target share of the rate of the busiest link.
        share: f64, "eta", 0.1..=1.0, "chosen for this example";
    }
}

/// The scheme `headroom`.
#[derive(Debug)]
pub struct Headroom<const N: usize>;

impl<const N: usize> Scheme for Headroom<N> {
    const NAME: &'static str = "headroom";
    const TITLE: &'static str = "The busiest link at a share of its rate";
    const PAPER: &'static str = "none; an example";
    const PRESETS: &'static [Preset<HeadroomParams>] = &[Preset {
        name: "headroom-example",
        summary: "The busiest link at 95% of its rate",
        source: "chosen for this example",
        ecn: None,
        params: presets::example,
    }];
    const NEEDS: Needs = Needs { max_hops: N, max_link_rates: LinkRates::MAX, ..Needs::NONE };
    type Meta = IntStack<N>;
    type Cp = StampInt;
    type Rp = Busiest<N>;
    type Np = PlainReceiver;
    type Params = HeadroomParams;
    type Ctl = NoCtl;
    type Host = ();

    /// 8 bytes for each hop that there is room for, in data packets and in ACKs.
    fn meta_bytes(_params: &HeadroomParams) -> (u32, u32) {
        (8 * N as u32, 8 * N as u32)
    }
    fn host(_params: &HeadroomParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &HeadroomParams, facts: &SwitchFacts<'_>) -> Option<StampInt> {
        Some(StampInt::new(facts))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `headroom-example`: the busiest link at 95% of its rate.
    pub fn example(_host_rate: Rate) -> HeadroomParams {
        HeadroomParams { share: 0.95 }
    }
}

/// The reaction point: the window of a QP, and the records that the next ones are compared with.
#[derive(Debug)]
pub struct Busiest<const N: usize> {
    share: f64,
    rates: LinkRates,
    base_rtt: f64,
    earlier: PreviousRecords<N>,
    /// The busiest link of the present round trip, as a share of its rate.
    load: f64,
    round_end: u64,
    /// Bounds of the window, bytes.
    least: f64,
    most: f64,
    window: f64,
}

impl<const N: usize> Busiest<N> {
    /// How busy the busiest link was between the last records and these; 0 where nothing tells.
    pub fn measure(&mut self, now: Time, records: &IntStack<N>) -> f64 {
        const FORMAT: IntFormat = IntFormat::FULL;
        if self.earlier.is_stale(FORMAT, now) {
            self.earlier = PreviousRecords::NONE;
        }
        let mut busiest = 0.0_f64;
        for (new, old) in records.aligned_with(&self.earlier) {
            let span = FORMAT.span(&new, &old).ps() as f64;
            let link = self.rates.bytes_per_ps(new.rate);
            if span > 0.0 && link > 0.0 {
                let sent = FORMAT.sent_between(&new, &old) as f64 / span;
                let queue = new.queue_bytes.min(old.queue_bytes) as f64 / self.base_rtt;
                busiest = busiest.max((sent + queue) / link);
            }
        }
        self.earlier = PreviousRecords::from(now, records);
        busiest
    }
}

impl<const N: usize> Rp<Headroom<N>> for Busiest<N> {
    type Timer = Absent;
    fn open(params: &HeadroomParams, _host: &mut (), path: &PathFacts, _now: Time) -> Busiest<N> {
        let most = path.line_rate.bytes_in(path.base_rtt).get() as f64;
        Busiest {
            share: params.share,
            rates: path.rates.clone(),
            base_rtt: path.base_rtt.ps() as f64,
            earlier: PreviousRecords::NONE,
            load: 0.0,
            round_end: 0,
            least: path.payload.get() as f64,
            most,
            window: most,
        }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: Bytes::new(self.window as u64), ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, cx: &mut HostCx<'_, Headroom<N>>, ack: &Ack<'_, Headroom<N>>) {
        if !ack.acks_new_data() {
            return;
        }
        self.load = self.load.max(self.measure(cx.now, ack.meta));
        if ack.next_expected >= self.round_end {
            if self.load > 0.0 {
                let window = self.window * self.share / self.load;
                self.window = window.clamp(self.least, self.most);
            }
            (self.round_end, self.load) = (ack.next_to_send, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::int::IntRecord;
    use units::{NodeId, PortId};

    /// One switch at 100 Gb/s: when it says that it has sent how many bytes.
    fn records(rates: &LinkRates, time: Time, tx_bytes: u64) -> IntStack<5> {
        let rate = rates.code(Rate::from_gbps(100));
        let mut stack = IntStack::default();
        let record = IntRecord { rate, time, tx_bytes, queue_bytes: 0 };
        stack.push(NodeId::new(7), PortId::new(1), record);
        stack
    }

    #[test]
    fn a_link_that_sends_half_of_what_it_could_is_half_busy() {
        let rates = LinkRates::new([]);
        let mut rp = Busiest::<5> {
            share: 0.95,
            rates: rates.clone(),
            base_rtt: 8e6,
            earlier: PreviousRecords::NONE,
            load: 0.0,
            round_end: 0,
            least: 1000.0,
            most: 100_000.0,
            window: 100_000.0,
        };
        let us = Time::from_us;
        assert_eq!(rp.measure(us(10), &records(&rates, us(5), 0)), 0.0, "nothing to compare with");
        // 100 Gb/s are 12,500 bytes a microsecond.
        assert_eq!(rp.measure(us(12), &records(&rates, us(7), 12_500)), 0.5);
        let late = us(50_000);
        assert_eq!(rp.measure(late, &records(&rates, late, 12_500)), 0.0, "too long ago");
    }
}
