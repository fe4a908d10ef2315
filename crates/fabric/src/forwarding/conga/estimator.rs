//! How busy a link is, as CONGA measures it.

use crate::compat::CongaForm;
use model::Conga as Params;
use units::{Rate, Time};

/// Measures how much of a link's rate is used: the paper's discounting rate estimator. A register
/// grows by what is sent, and is multiplied by 1 - alpha after each period.
#[derive(Debug)]
pub(super) struct Estimator {
    /// Bytes.
    register: f64,
    /// The period in which it was last changed.
    period: u64,
    period_ps: u64,
    keep: f64,
    rate: Rate,
    /// What the register tends to at the full rate.
    full: f64,
}

impl Estimator {
    pub(super) fn new(rate: Rate, params: &Params) -> Estimator {
        let per_period = rate.bps() as f64 * params.dre_period.ps() as f64 / 8e12;
        Estimator {
            register: 0.0,
            period: 0,
            period_ps: params.dre_period.ps(),
            keep: 1.0 - params.alpha,
            rate,
            full: per_period / params.alpha,
        }
    }

    /// Lets the periods pass that have ended by `now`.
    fn advance(&mut self, now: Time) {
        let period = now.ps() / self.period_ps;
        // By squaring: the standard library's power may differ between machines.
        let (mut passed, mut factor) = (period - self.period, self.keep);
        while passed > 0 {
            if passed & 1 == 1 {
                self.register *= factor;
            }
            factor *= factor;
            passed >>= 1;
        }
        self.period = period;
    }

    /// Counts a packet.
    pub(super) fn count(&mut self, now: Time, bytes: u16) {
        self.advance(now);
        self.register += f64::from(bytes);
    }

    /// Takes the rate of the link, which may have changed.
    pub(super) fn follow(&mut self, rate: Rate) {
        if rate != self.rate {
            self.full *= rate.bps() as f64 / self.rate.bps() as f64;
            self.rate = rate;
        }
    }

    /// The level of what is used.
    pub(super) fn level(&mut self, now: Time, scale: Scale) -> u8 {
        self.advance(now);
        ((self.register / self.full * scale.levels) as u32).min(u32::from(scale.most)) as u8
    }
}

/// The levels of what is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// How many the rate of a link has.
    levels: f64,
    most: u8,
}

impl Scale {
    pub(super) fn new(bits: u8, form: CongaForm) -> Scale {
        let levels = 1_u16 << bits;
        let most = match form {
            CongaForm::Native => (levels - 1) as u8,
            CongaForm::FourUplinks => u8::MAX,
        };
        Scale { levels: f64::from(levels), most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params {
        gap: Time::from_us(100),
        dre_period: Time::from_us(20),
        alpha: 0.125,
        bits: 3,
        age: Time::from_ms(10),
    };

    fn levels(bits: u8) -> Scale {
        Scale::new(bits, CongaForm::Native)
    }

    /// The paper's closed form: after k periods the register is within (1 - alpha)^k of R tau.
    #[test]
    fn a_constant_rate_is_measured_with_an_error_that_decays() {
        let mut estimator = Estimator::new(Rate::from_gbps(100), &PARAMS);
        // 1000 bytes each 200 ns are 40 Gb/s.
        for packet in 0..10_000_u64 {
            let now = Time::from_ns(packet * 200);
            estimator.count(now, 1000);
            let period = packet / 100;
            if packet % 100 == 99 && period > 0 {
                let measured = estimator.register / estimator.full;
                let error = 0.875_f64.powi(period as i32 + 1);
                assert!((measured - 0.4 * (1.0 - error)).abs() < 1e-9, "{period}: {measured}");
            }
        }
        // 0.4 of eight levels is the third from 0; a period later 0.35 of them, still 2.
        assert_eq!(estimator.level(Time::from_us(1999), levels(3)), 3);
        assert_eq!(estimator.level(Time::from_us(2001), levels(3)), 2);
        assert_eq!(estimator.level(Time::from_us(2001), levels(8)), (0.35 * 256.0) as u8);
        assert_eq!(estimator.level(Time::from_ms(9), levels(3)), 0);
    }

    #[test]
    fn more_than_the_rate_is_the_highest_level() {
        let mut estimator = Estimator::new(Rate::from_gbps(10), &PARAMS);
        (0..1000).for_each(|_| estimator.count(Time::from_us(3), 1000));
        assert_eq!(estimator.level(Time::from_us(3), levels(3)), 7);
        assert_eq!(estimator.level(Time::from_us(3), levels(8)), 255);
        let unbound = Scale::new(3, CongaForm::FourUplinks);
        // 1 MB where 200 kB fill the link.
        assert_eq!(estimator.level(Time::from_us(3), unbound), 40);
    }

    #[test]
    fn a_slower_link_is_fuller() {
        let mut estimator = Estimator::new(Rate::from_gbps(100), &PARAMS);
        // A fifth of the two megabytes that fill it.
        (0..400).for_each(|_| estimator.count(Time::from_us(3), 1000));
        assert_eq!(estimator.level(Time::from_us(3), levels(3)), 1);
        estimator.follow(Rate::from_gbps(25));
        assert_eq!(estimator.level(Time::from_us(4), levels(3)), 6);
    }
}
