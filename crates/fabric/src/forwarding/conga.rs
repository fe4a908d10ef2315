//! CONGA: each flowlet takes the uplink whose path to the destination's leaf is least congested
//! (Alizadeh et al., SIGCOMM 2014).
//!
//! Each port between switches measures how much of its rate is used ([`Estimator`]). A packet
//! collects the largest measure on its way. The leaf that it reaches keeps it, by source leaf and
//! uplink, and returns it with a packet of any kind in the other direction, one entry with each
//! packet. So each leaf knows how busy its paths to all others are.
//!
//! Open in the paper, decided here: a measure of u of the rate is the level floor(u 2^bits), at
//! most 2^bits - 1. A port counts packets when they leave. A level that was not renewed for the age
//! counts as 0 from then on. A flow that was never seen takes one of several best uplinks at
//! random; a later flowlet stays on its uplink if that is among them. [`CongaForm`] has the other
//! simulator's decisions.

use super::flowlet_table::FlowletTable;
use super::{Choice, Depends, Ecmp, Forwarding, Moves, Place};
use crate::compat::CongaForm;
use crate::packet::{Header, PacketKind};
use crate::routing::hash::scale_to;
use model::Conga as Params;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::{PortId, Rate, Time};

/// CONGA in one switch.
#[derive(Debug)]
pub(crate) struct Conga {
    ecmp: Ecmp,
    /// By port; `None` for ports to hosts.
    estimators: Vec<Option<Estimator>>,
    scale: Scale,
    form: CongaForm,
    /// `None` in spines.
    leaf: Option<Box<Leaf>>,
}

/// What a leaf knows beside.
#[derive(Debug)]
struct Leaf {
    /// Its number among the leaves.
    number: u32,
    flows: FlowletTable,
    age: Time,
    draws: Pcg64Mcg,
    /// By port: which uplink it is.
    uplinks: Vec<u16>,
    /// By leaf: how busy the paths to it are, by uplink, and since when that is known.
    to: Vec<Vec<Known>>,
    /// By leaf: how busy the paths from it are, by uplink of that leaf.
    from: Vec<Feedback>,
}

/// A level, and when it came.
#[derive(Clone, Copy, Debug)]
struct Known {
    level: u8,
    at: Time,
}

/// What a leaf has to return to another one.
#[derive(Debug)]
struct Feedback {
    /// By uplink; `None`: no packet has come that way.
    levels: Vec<Option<Level>>,
    /// Whose turn it is.
    next: usize,
    /// How many have changed since they were returned.
    changed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    level: u8,
    changed: bool,
}

/// Measures how much of a link's rate is used: the paper's discounting rate estimator. A register
/// grows by what is sent, and is multiplied by 1 - alpha after each period.
#[derive(Debug)]
struct Estimator {
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
    fn new(rate: Rate, params: &Params) -> Estimator {
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
    fn count(&mut self, now: Time, bytes: u16) {
        self.advance(now);
        self.register += f64::from(bytes);
    }

    /// Takes the rate of the link, which may have changed.
    fn follow(&mut self, rate: Rate) {
        if rate != self.rate {
            self.full *= rate.bps() as f64 / self.rate.bps() as f64;
            self.rate = rate;
        }
    }

    /// The level of what is used.
    fn level(&mut self, now: Time, scale: Scale) -> u8 {
        self.advance(now);
        ((self.register / self.full * scale.levels) as u32).min(u32::from(scale.most)) as u8
    }
}

/// The levels of what is used.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// How many the rate of a link has.
    levels: f64,
    most: u8,
}

impl Scale {
    fn new(bits: u8, form: CongaForm) -> Scale {
        let levels = 1_u16 << bits;
        let most = match form {
            CongaForm::Native => (levels - 1) as u8,
            CongaForm::FourUplinks => u8::MAX,
        };
        Scale { levels: f64::from(levels), most }
    }
}

/// What a packet carries between leaves. The paper has 4 bits for an uplink and 3 for a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    /// The uplink of the source leaf that it took.
    uplink: u16,
    /// The largest level on its way so far.
    level: u8,
    /// An uplink of the destination leaf, and the level of its path to the source leaf.
    feedback: Option<(u16, u8)>,
}

/// A packet without a tag has this one.
const NO_TAG: u64 = 0;

impl Tag {
    fn to_bits(self) -> u64 {
        let (is_feedback, (uplink, level)) =
            (self.feedback.is_some(), self.feedback.unwrap_or_default());
        1 | u64::from(is_feedback) << 1
            | u64::from(self.level) << 8
            | u64::from(level) << 16
            | u64::from(self.uplink) << 32
            | u64::from(uplink) << 48
    }

    fn from_bits(bits: u64) -> Option<Tag> {
        let feedback = (bits & 2 != 0).then_some(((bits >> 48) as u16, (bits >> 16) as u8));
        (bits != NO_TAG).then_some(Tag {
            uplink: (bits >> 32) as u16,
            level: (bits >> 8) as u8,
            feedback,
        })
    }
}

impl Feedback {
    /// Notes the level of a packet that came by an uplink of the other leaf.
    fn note(&mut self, uplink: u16, level: u8) {
        let kept = &mut self.levels[usize::from(uplink)];
        let was = kept.is_some_and(|kept| kept.changed);
        let changed = was || kept.is_none_or(|kept| kept.level != level);
        self.changed += usize::from(changed) - usize::from(was);
        *kept = Some(Level { level, changed });
    }

    /// The entry to return next: of those that have changed, if there are any, in turn.
    fn take(&mut self) -> Option<(u16, u8)> {
        let count = self.levels.len();
        let wanted =
            |level: &Option<Level>| level.is_some_and(|level| level.changed || self.changed == 0);
        let place = (0..count).map(|step| (self.next + step) % count);
        let place = place.into_iter().find(|&place| wanted(&self.levels[place]))?;
        let level = self.levels[place].as_mut().expect("one that is known is wanted");
        self.changed -= usize::from(level.changed);
        level.changed = false;
        self.next = place + 1;
        Some((place as u16, level.level))
    }

    /// One entry of those that are known, drawn at random.
    fn draw(&self, draws: &mut Pcg64Mcg) -> Option<(u16, u8)> {
        let known =
            || (0..).zip(&self.levels).filter_map(|(place, level)| Some((place, (*level)?)));
        let count = known().count() as u32;
        let drawn = (count > 0).then(|| scale_to(draws.next_u32(), count))?;
        known().nth(drawn).map(|(place, level)| (place, level.level))
    }
}

impl Conga {
    pub(crate) fn new(ecmp: Ecmp, params: &Params, draws: Pcg64Mcg, place: &Place<'_>) -> Conga {
        let Place { graph, hosts, node, compat, .. } = *place;
        let form = compat.conga_form();
        let ends = graph.ports(node);
        let estimators = ends
            .iter()
            .map(|end| (!graph.is_host(end.peer)).then(|| Estimator::new(end.rate, params)))
            .collect();
        let number = hosts.iter().find(|host| host.tor.get() == node).map(|host| host.rack);
        let leaf = number.map(|number| {
            let uplinks_of =
                |leaf: u32| graph.ports(leaf).iter().filter(|end| !graph.is_host(end.peer)).count();
            // By leaf, the number of its uplinks.
            let mut counts = Vec::new();
            for host in hosts {
                let rack = host.rack as usize;
                if counts.len() <= rack {
                    counts.resize(rack + 1, 0);
                }
                if counts[rack] == 0 {
                    counts[rack] = uplinks_of(host.tor.get());
                }
            }
            let unknown = Known { level: 0, at: Time::ZERO };
            let feedback =
                |&count: &usize| Feedback { levels: vec![None; count], next: 0, changed: 0 };
            let mut uplink = 0;
            let uplinks = ends.iter().map(|end| {
                let own = uplink;
                uplink += u16::from(!graph.is_host(end.peer));
                own
            });
            Box::new(Leaf {
                number,
                flows: FlowletTable::new(params.gap),
                age: params.age,
                draws,
                uplinks: uplinks.collect(),
                to: vec![vec![unknown; counts[number as usize]]; counts.len()],
                from: counts.iter().map(feedback).collect(),
            })
        });
        Conga { ecmp, estimators, scale: Scale::new(params.bits, form), form, leaf }
    }

    /// The uplink of a data packet to a leaf, which has several.
    fn uplink(&mut self, choice: &Choice<'_>, header: &Header, target: u32) -> PortId {
        let Conga { estimators, scale, form, leaf, .. } = self;
        let leaf = leaf.as_mut().expect("only leaves choose");
        let Leaf { flows, age, draws, uplinks, to, .. } = &mut **leaf;
        let (mut next_hops, now) = (choice.next_hops(header), choice.now());
        let mut level = |port: PortId| {
            let known = to[target as usize][usize::from(uplinks[port.index()])];
            let is_old = now.saturating_sub(known.at) > *age;
            let far = if is_old { 0 } else { known.level };
            let near = estimators[port.index()].as_mut();
            far.max(near.map_or(0, |near| near.level(now, *scale)))
        };
        flows.port(header, now, |before| {
            let before = match form {
                CongaForm::Native => before.filter(|before| next_hops.contains(before)),
                CongaForm::FourUplinks => {
                    let starts = next_hops.len().saturating_sub(NEIGHBOURS) + 1;
                    let start = scale_to(draws.next_u32(), starts as u32);
                    next_hops = &next_hops[start..next_hops.len().min(start + NEIGHBOURS)];
                    None
                }
            };
            let least = next_hops.iter().map(|&port| level(port)).min().expect("there are several");
            if let Some(before) = before
                && level(before) == least
            {
                return before;
            }
            let count = next_hops.iter().filter(|&&port| level(port) == least).count();
            let place = scale_to(draws.next_u32(), count as u32);
            let mut best = next_hops.iter().filter(|&&port| level(port) == least);
            *best.nth(place).expect("it is less than their number")
        })
    }

    /// Selects the port of a packet. A leaf also keeps what its tag says, or writes a new one.
    fn select_and_tag(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        let in_port = header.in_port();
        let from_switch = in_port.is_some_and(|port| self.estimators[port.index()].is_some());
        let [source, target] = choice.racks(header);
        match &mut self.leaf {
            // With failed links a shortest path may lead through a leaf.
            Some(leaf) if from_switch && target != leaf.number => {}
            None => {}
            Some(leaf) if target == leaf.number => {
                if from_switch && let Some(tag) = Tag::from_bits(choice.tag()) {
                    leaf.receive(source, tag, choice.now());
                }
                choice.set_tag(NO_TAG);
            }
            Some(_) => {
                let port = if choice.is_open(header) {
                    self.uplink(choice, header, target)
                } else {
                    self.ecmp.select(choice, header)?
                };
                let leaf = self.leaf.as_mut().expect("as above");
                let uplink = leaf.uplinks[port.index()];
                let from = &mut leaf.from[target as usize];
                let feedback = match self.form {
                    CongaForm::Native => from.take(),
                    CongaForm::FourUplinks => from.draw(&mut leaf.draws),
                };
                choice.set_tag(Tag { uplink, level: 0, feedback }.to_bits());
                return Some(port);
            }
        }
        self.ecmp.select(choice, header)
    }
}

/// How many uplinks a flow chooses from in [`CongaForm::FourUplinks`].
const NEIGHBOURS: usize = 4;

impl Leaf {
    /// Keeps what a packet from another leaf says.
    fn receive(&mut self, source: u32, tag: Tag, now: Time) {
        self.from[source as usize].note(tag.uplink, tag.level);
        if let Some((uplink, level)) = tag.feedback {
            self.to[source as usize][usize::from(uplink)] = Known { level, at: now };
        }
    }
}

impl Forwarding for Conga {
    /// On what ports have sent by now, so they must be drained.
    const DEPENDS: Depends = Depends::Queues;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        let counts_arrivals = self.form == CongaForm::FourUplinks;
        if counts_arrivals && header.kind != PacketKind::Data {
            return self.ecmp.select(choice, header);
        }
        let port = self.select_and_tag(choice, header)?;
        if counts_arrivals && let Some(estimator) = &mut self.estimators[port.index()] {
            estimator.count(choice.now(), header.size);
            choice.set_tag(collect(choice.tag(), estimator.level(choice.now(), self.scale)));
        }
        Some(port)
    }

    fn on_depart(&mut self, now: Time, (port, rate): (PortId, Rate), size: u16, tag: u64) -> u64 {
        let Some(estimator) = &mut self.estimators[port.index()] else { return tag };
        estimator.follow(rate);
        match self.form {
            CongaForm::Native => {
                estimator.count(now, size);
                collect(tag, estimator.level(now, self.scale))
            }
            CongaForm::FourUplinks => tag,
        }
    }

    fn on_reroute(&mut self) {
        if let Some(leaf) = &mut self.leaf {
            leaf.flows.forget_paths();
        }
    }

    fn moved(&self) -> Vec<Moves> {
        self.leaf.as_ref().map_or(Vec::new(), |leaf| leaf.flows.moved())
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.leaf.as_ref().map_or(Vec::new(), |leaf| leaf.flows.counters())
    }
}

/// The tag of a packet that goes by a link of this level.
fn collect(tag: u64, level: u8) -> u64 {
    match Tag::from_bits(tag) {
        Some(tag) => Tag { level: tag.level.max(level), ..tag }.to_bits(),
        None => tag,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn tags_hold_what_is_written(
            uplink in any::<u16>(),
            level in any::<u8>(),
            feedback in any::<Option<(u16, u8)>>(),
        ) {
            let tag = Tag { uplink, level, feedback };
            prop_assert_eq!(Tag::from_bits(tag.to_bits()), Some(tag));
        }

        /// Compares with a plain list: what has changed goes first, all else in turn, and no level
        /// that is returned is older than the last one noted.
        #[test]
        fn changed_levels_are_returned_first(
            steps in prop::collection::vec(prop::option::of((0..5_u16, 0..3_u8)), 1..200),
        ) {
            let mut feedback = Feedback { levels: vec![None; 5], next: 0, changed: 0 };
            let mut last: [Option<(u8, bool)>; 5] = [None; 5];
            let mut next = 0;
            for step in steps {
                match step {
                    Some((uplink, level)) => {
                        feedback.note(uplink, level);
                        let before = last[uplink as usize];
                        let changed = before.is_none_or(|(old, changed)| changed || old != level);
                        last[uplink as usize] = Some((level, changed));
                    }
                    None => {
                        let any = last.iter().flatten().any(|(_, changed)| *changed);
                        let turn = (0..5).map(|step| (next + step) % 5);
                        let expected = turn.into_iter().find(|&place| {
                            last[place].is_some_and(|(_, changed)| changed || !any)
                        });
                        let taken = feedback.take();
                        let level = |place: usize| last[place].expect("it is known").0;
                        prop_assert_eq!(
                            taken,
                            expected.map(|place| (place as u16, level(place)))
                        );
                        if let Some(place) = expected {
                            last[place] = Some((level(place), false));
                            next = place + 1;
                        }
                    }
                }
            }
        }
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

    #[test]
    fn each_level_that_is_known_is_drawn_equally_often() {
        let mut draws = crate::stream::stream(1, "test", 0);
        let mut feedback = Feedback { levels: vec![None; 4], next: 0, changed: 0 };
        assert_eq!(feedback.draw(&mut draws), None);
        feedback.note(1, 5);
        feedback.note(3, 9);
        let drawn: Vec<_> = (0..1000).filter_map(|_| feedback.draw(&mut draws)).collect();
        let count = |entry| drawn.iter().filter(|drawn| **drawn == entry).count();
        assert_eq!(count((1, 5)) + count((3, 9)), 1000);
        assert!(count((1, 5)).abs_diff(500) < 100);
    }

    #[test]
    fn a_tag_of_no_packet_is_none() {
        assert_eq!(Tag::from_bits(NO_TAG), None);
    }
}
