//! The times of priority flow control: how fast a pause takes hold, how long it lasts, and when a
//! switch no longer heeds it.

use units::{Bytes, Rate, Time};

/// Bits of a pause quantum, the unit of the times in PFC frames.
const QUANTUM_BITS: u64 = 512;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Upper bounds of IEEE 802.3 for the time in which a pause takes hold, in quanta, by link rate in
/// Gb/s.
const IEEE_RESPONSE: [(u64, u32); 5] = [(10, 60), (25, 80), (40, 118), (100, 394), (400, 905)];

/// The times of priority flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseTiming {
    /// From the arrival of a PFC frame until it takes effect.
    pub response: PauseResponse,
    /// How long a pause lasts, and when it is sent again. `None`: a pause lasts until it is taken
    /// back.
    pub expiry: Option<PauseExpiry>,
    /// When switches no longer heed a pause. `None`: they always do.
    pub watchdog: Option<Watchdog>,
}

impl PauseTiming {
    /// The most bytes that may still arrive over a link with this rate and delay when a packet has
    /// crossed a pause threshold at its end. `latency`: what the end takes from the arrival of a
    /// packet to handling it. `longest`: the longest packet; `frames`: bytes of the PFC frames that
    /// may go before the one that pauses. The bytes are:
    /// - that packet itself;
    /// - what arrives while the pause frame waits for the packet on the wire, is sent and travels;
    ///   PFC frames of the other priorities may go first;
    /// - what the peer sends until the pause takes hold;
    /// - the packet that it has just begun to send then;
    /// - what is on the link at that time;
    /// - what has arrived and is not handled yet.
    pub fn still_arrives(
        self,
        (rate, delay): (Rate, Time),
        latency: Time,
        longest: Bytes,
        frames: u64,
    ) -> Bytes {
        let until_paused =
            delay.saturating_mul(2).saturating_add(self.response.at(rate)).saturating_add(latency);
        let on_the_way = rate.bytes_in(until_paused).get().saturating_add(1);
        let packets = longest.get().saturating_mul(3).saturating_add(frames);
        Bytes::new(on_the_way.saturating_add(packets))
    }
}

/// How long it takes until a pause holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseResponse {
    /// This time at all ports.
    Fixed(Time),
    /// The upper bound of IEEE 802.3 for the rate of the link.
    Ieee8023,
}

impl Default for PauseResponse {
    fn default() -> PauseResponse {
        PauseResponse::Fixed(Time::ZERO)
    }
}

impl PauseResponse {
    /// The time at a port of this rate. Zero where [`PauseResponse::known_at`] has none: scenarios
    /// are refused if a link with PFC has such a rate.
    pub fn at(self, rate: Rate) -> Time {
        self.known_at(rate).unwrap_or(Time::ZERO)
    }

    /// The time at a port of this rate. `None`: the standard has none that is known here.
    pub fn known_at(self, rate: Rate) -> Option<Time> {
        match self {
            PauseResponse::Fixed(time) => Some(time),
            PauseResponse::Ieee8023 => {
                let known = |(gbps, _): &&(u64, u32)| Rate::from_gbps(*gbps) == rate;
                let (_, quanta) = IEEE_RESPONSE.iter().find(known)?;
                Some(quanta_time(*quanta, rate))
            }
        }
    }
}

/// How long a pause lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseExpiry {
    /// The time in a PFC frame.
    pub length: PauseLength,
    /// When the frame is sent again.
    pub renewal: PauseRenewal,
}

/// The time in a PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseLength {
    /// In quanta of 512 bits.
    Quanta(u16),
    /// A time, at links of all rates.
    Time(Time),
}

/// When a pause is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseRenewal {
    /// After half of its time, if the queue is still above Xon.
    AfterHalf,
    /// After this time, if the queue is still above Xon.
    After(Time),
    /// With each packet that arrives while the queue is at Xoff or above.
    Arrivals,
}

impl PauseExpiry {
    /// How long a pause lasts at a port of this rate.
    pub fn lasts(self, rate: Rate) -> Time {
        match self.length {
            PauseLength::Quanta(quanta) => quanta_time(quanta.into(), rate),
            PauseLength::Time(time) => time,
        }
    }

    /// What a frame says at a port of this rate: the quanta that cover the pause, at most 65535.
    pub fn quanta(self, rate: Rate) -> u16 {
        match self.length {
            PauseLength::Quanta(quanta) => quanta,
            PauseLength::Time(time) => {
                let bits = u128::from(rate.bps()) * u128::from(time.ps());
                let quanta = bits.div_ceil(u128::from(QUANTUM_BITS) * PS_PER_SECOND);
                u16::try_from(quanta).unwrap_or(u16::MAX)
            }
        }
    }

    /// After which time it is sent again; [`Time::NEVER`] if no time decides on that.
    pub fn refreshed_after(self, rate: Rate) -> Time {
        match self.renewal {
            PauseRenewal::AfterHalf => Time::from_ps(self.lasts(rate).ps() / 2),
            PauseRenewal::After(time) => time,
            PauseRenewal::Arrivals => Time::NEVER,
        }
    }
}

fn quanta_time(quanta: u32, rate: Rate) -> Time {
    rate.time_for(Bytes::new(u64::from(quanta) * QUANTUM_BITS / 8))
}

/// Finds queues of a switch that are paused without end, and frees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// For so long a priority must be paused without a break, with packets waiting at the end.
    pub detect: Time,
    /// For so long it then does not heed pauses.
    pub restore: Time,
    /// What becomes of its packets meanwhile.
    pub action: WatchdogAction,
}

/// What a watchdog does with the packets of a priority that is paused without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Those that wait, and those that come, are dropped.
    Drop,
    /// They leave as if there were no pause.
    Forward,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quanta_are_512_bit_times_each() {
        let expiry = |quanta| PauseExpiry {
            length: PauseLength::Quanta(quanta),
            renewal: PauseRenewal::AfterHalf,
        };
        // 65535 quanta: 335.5392 us at 100G, 838.848 us at 40G.
        let longest = expiry(0xffff);
        assert_eq!(longest.lasts(Rate::from_gbps(100)), Time::from_ps(335_539_200));
        assert_eq!(longest.lasts(Rate::from_gbps(40)), Time::from_ps(838_848_000));
        assert_eq!(expiry(0).lasts(Rate::from_gbps(100)), Time::ZERO);
    }
}
