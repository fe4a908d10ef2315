//! Mine: switches write the longest wait on the path into packets, and the sender
//! keeps it at a target.
//!
//! Each port of a switch knows how long a packet that joins its queue will wait. The largest of
//! these times travels in a field of the packet, and back in its ACK. Once in a round trip the
//! sender compares it with a target: it cuts its window if the wait is longer, else it adds a step.

use schemes::contract::{
    Absent, Ack, Cp, HostCx, HostFacts, LocalCx, NoCtl, Packet, PacketKind, PathFacts,
    PlainReceiver, PortFacts, PortLocal, PortView, Preset, Rp, Scheme, SendLimits, SwitchFacts,
};
use units::{Bytes, Rate, Time};

schemes::params! {
    /// Parameters of Mine.
    pub struct MineParams {
        /// Longest wait that is no congestion.
        target: Time, "T", Time::from_ns(100)..=Time::from_ms(1), "chosen for this example";
        /// Share of the window that a round trip with a longer wait takes away.
        cut: f64, "beta", 0.01..=0.9, "chosen for this example";
        /// What a round trip with a shorter wait adds to the window.
        step: Bytes, "a", Bytes::new(1)..=Bytes::new(1_000_000), "chosen for this example";
    }
}

/// The scheme `mine`.
#[derive(Debug)]
pub struct Mine;

impl Scheme for Mine {
    const NAME: &'static str = "mine";
    const TITLE: &'static str = "The longest wait on the path at a target";
    const PAPER: &'static str = "none; an example";
    const CAVEAT: &'static str = "An example, tuned for nothing.";
    const PRESETS: &'static [Preset<MineParams>] = &[
        Preset {
            name: "mine",
            summary: "A target of 5 us",
            source: "chosen for this example",
            ecn: None,
            params: presets::plain,
        },
        Preset {
            name: "mine-short",
            summary: "A target of 1 us",
            source: "chosen for this example",
            ecn: None,
            params: presets::short,
        },
    ];

    type Params = MineParams;
    type Meta = LongestWait;
    type Ctl = NoCtl;
    type Host = ();
    type Rp = Window;
    type Np = PlainReceiver;
    type Cp = Stamper;

    /// The field takes 4 bytes of data packets and of ACKs.
    fn meta_bytes(_params: &MineParams) -> (u32, u32) {
        (4, 4)
    }
    fn host(_params: &MineParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &MineParams, _facts: &SwitchFacts<'_>) -> Option<Stamper> {
        Some(Stamper)
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `mine`: a target of 5 us.
    pub fn plain(_host_rate: Rate) -> MineParams {
        MineParams { target: Time::from_us(5), cut: 0.2, step: Bytes::new(1000) }
    }

    /// Preset `mine-short`: a target of 1 us.
    pub fn short(host_rate: Rate) -> MineParams {
        MineParams { target: Time::from_us(1), ..plain(host_rate) }
    }
}

/// The field that packets carry: the longest wait so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongestWait {
    /// Nanoseconds.
    pub ns: u32,
}

/// The congestion point: writes the field.
#[derive(Debug)]
pub struct Stamper;

impl Cp<Mine> for Stamper {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!();

    fn port(&self, _params: &MineParams, _facts: &PortFacts) {}
    /// Nothing is kept of the rate: `on_depart` reads it from the view of the port.
    fn on_rate(&mut self, _params: &MineParams, (): &mut (), _facts: &PortFacts) {}
    fn on_depart(
        &mut self,
        _cx: &mut LocalCx,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<Mine>,
    ) {
        // ACKs bring back what data packets met. What they meet themselves is not written.
        if packet.header.kind == PacketKind::Data
            && let Some(longest) = packet.meta_mut()
        {
            let wait = view.rate.time_for(Bytes::new(view.queue_bytes));
            longest.ns = longest.ns.max(u32::try_from(wait.ns()).unwrap_or(u32::MAX));
        }
    }
}

/// The reaction point: the window of a QP, and what the present round trip has met.
#[derive(Debug)]
pub struct Window {
    target: Time,
    keep: f64,
    step: f64,
    /// Bounds of the window, bytes.
    least: f64,
    most: f64,
    window: f64,
    /// The round trip ends when this byte of the stream is acknowledged.
    round_end: u64,
    longest: Time,
}

impl Window {
    /// A QP begins with what the path holds.
    pub fn new(params: &MineParams, path: &PathFacts) -> Window {
        let most = path.line_rate.bytes_in(path.base_rtt).get() as f64;
        let least = path.payload.get() as f64;
        Window {
            target: params.target,
            keep: 1.0 - params.cut,
            step: params.step.get() as f64,
            least,
            most: most.max(least),
            window: most.max(least),
            round_end: 0,
            longest: Time::ZERO,
        }
    }

    /// Everything up to `acknowledged` has arrived, the last of it after a wait of `wait`; the
    /// sender has sent up to `sent`.
    pub fn acknowledge(&mut self, acknowledged: u64, sent: u64, wait: Time) {
        self.longest = self.longest.max(wait);
        if acknowledged < self.round_end {
            return;
        }
        let longer = self.longest > self.target;
        self.window = if longer { self.window * self.keep } else { self.window + self.step };
        self.window = self.window.clamp(self.least, self.most);
        self.round_end = sent;
        self.longest = Time::ZERO;
    }

    /// Bytes that may be in flight.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.window as u64)
    }
}

impl Rp<Mine> for Window {
    type Timer = Absent;
    fn open(params: &MineParams, _host: &mut (), path: &PathFacts, _now: Time) -> Window {
        Window::new(params, path)
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.bytes(), ..SendLimits::UNLIMITED }
    }
    fn on_ack(&mut self, _cx: &mut HostCx<'_, Mine>, ack: &Ack<'_, Mine>) {
        // A NACK, or an ACK that acknowledges nothing new, is about a packet that was discarded.
        if ack.acks_new_data() {
            let wait = Time::from_ns(u64::from(ack.meta.ns));
            self.acknowledge(ack.next_expected, ack.next_to_send, wait);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemes::testing;

    const RATE: Rate = Rate::from_gbps(100);

    #[test]
    fn a_long_wait_cuts_the_window_and_a_short_one_adds_a_step() {
        let path = testing::path(RATE, Time::from_us(8));
        let mut window = Window::new(&presets::plain(RATE), &path);
        assert_eq!(window.bytes(), Bytes::new(100_000), "100 Gb/s for 8 us");
        window.acknowledge(1000, 100_000, Time::from_us(6));
        assert_eq!(window.bytes(), Bytes::new(80_000));
        window.acknowledge(2000, 101_000, Time::ZERO);
        assert_eq!(window.bytes(), Bytes::new(80_000), "the round trip is not over");
        window.acknowledge(100_000, 180_000, Time::from_us(4));
        assert_eq!(window.bytes(), Bytes::new(81_000));
    }

    #[test]
    fn a_switch_writes_the_longest_wait_of_the_path() {
        let mut packet = testing::data_packet::<Mine>(0);
        for (queue_bytes, ns) in [(12_500, 1_000), (0, 1_000), (25_000, 2_000)] {
            testing::depart(&mut Stamper, &mut (), RATE, queue_bytes, &mut packet);
            assert_eq!(packet.meta().map(|longest| longest.ns), Some(ns));
        }
    }
}
