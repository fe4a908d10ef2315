//! AIMD: a window that grows by a step each round trip and is cut where marks came back.
//!
//! An example, and no published scheme.

use crate::contract::{
    Absent, Ack, EcnCodePoint, EcnLaw, HostCx, HostFacts, NoCtl, PathFacts, PlainReceiver,
    PlainSwitch, Preset, Rp, Scheme, SendLimits, SwitchFacts,
};
use units::{Bytes, Rate, Time};

crate::params! {
    /// Parameters of AIMD.
    pub struct AimdParams {
        /// Share of the window that a marked round trip takes away.
        cut: f64, "beta", 0.01..=0.9, "chosen for this example";
        /// What a round trip without marks adds to the window.
        step: Bytes, "a", Bytes::new(1)..=Bytes::new(1_000_000), "chosen for this example";
    }
}

/// The scheme `aimd`.
#[derive(Debug)]
pub struct Aimd;

impl Scheme for Aimd {
    const NAME: &'static str = "aimd";
    const TITLE: &'static str = "AIMD on ECN echoes";
    const PAPER: &'static str = "none; an example";
    const CAVEAT: &'static str = "An example, tuned for nothing.";
    const PRESETS: &'static [Preset<AimdParams>] = &[Preset {
        name: "aimd-example",
        summary: "Halve on a mark, add a packet a round trip",
        source: "chosen for this example",
        ecn: Some(EcnLaw {
            kmin: Bytes::new(50_000),
            kmax: Bytes::new(200_000),
            pmax: 1.0,
            at: Rate::from_gbps(100),
        }),
        params: presets::example,
    }];

    type Params = AimdParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = Window;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn host(_params: &AimdParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &AimdParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `aimd-example`: halve on a mark, add a packet a round trip.
    pub fn example(_host_rate: Rate) -> AimdParams {
        AimdParams { cut: 0.5, step: Bytes::new(1000) }
    }
}

/// The reaction point: the window of a QP, and what the present round trip has seen.
#[derive(Debug)]
pub struct Window {
    keep: f64,
    step: f64,
    /// Bounds of the window, bytes.
    least: f64,
    most: f64,
    window: f64,
    /// The round trip ends when this byte of the stream is acknowledged.
    round_end: u64,
    marked: bool,
}

impl Window {
    /// A QP begins with what the path holds.
    pub fn new(params: &AimdParams, path: &PathFacts) -> Window {
        let most = path.line_rate.bytes_in(path.base_rtt).get() as f64;
        Window {
            keep: 1.0 - params.cut,
            step: params.step.get() as f64,
            least: path.payload.get() as f64,
            most,
            window: most,
            round_end: 0,
            marked: false,
        }
    }

    /// Everything up to `acknowledged` has arrived; the sender has sent up to `sent`.
    pub fn acknowledge(&mut self, acknowledged: u64, sent: u64, marked: bool) {
        self.marked |= marked;
        if acknowledged < self.round_end {
            return;
        }
        self.window = if self.marked { self.window * self.keep } else { self.window + self.step };
        self.window = self.window.clamp(self.least, self.most);
        self.round_end = sent;
        self.marked = false;
    }

    /// Bytes that may be in flight.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }
}

impl Rp<Aimd> for Window {
    type Timer = Absent;
    fn open(params: &AimdParams, _host: &mut (), path: &PathFacts, _now: Time) -> Window {
        Window::new(params, path)
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.bytes(), ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _cx: &mut HostCx<'_, Aimd>, ack: &Ack<'_, Aimd>) {
        let marked = ack.echo == EcnCodePoint::CongestionExperienced;
        self.acknowledge(ack.next_expected, ack.next_to_send, marked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn window() -> Window {
        let params = presets::example(Rate::from_gbps(100));
        let path = testing::path(Rate::from_gbps(100), Time::from_us(8));
        Window::new(&params, &path)
    }

    #[test]
    fn a_marked_round_trip_halves_and_a_clean_one_adds() {
        let mut window = window();
        assert_eq!(window.bytes(), Bytes::new(100_000), "100 Gb/s for 8 us");
        window.acknowledge(1000, 100_000, true);
        assert_eq!(window.bytes(), Bytes::new(50_000));
        window.acknowledge(2000, 101_000, false);
        assert_eq!(window.bytes(), Bytes::new(50_000), "the round trip is not over");
        window.acknowledge(100_000, 150_000, false);
        assert_eq!(window.bytes(), Bytes::new(51_000));
    }
}
