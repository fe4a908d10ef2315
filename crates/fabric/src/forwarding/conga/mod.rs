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

mod estimator;
mod feedback;

use super::flowlet_table::FlowletTable;
use super::{Choice, Depends, Ecmp, Forwarding, Moves, Place};
use crate::compat::CongaForm;
use crate::packet::{Header, PacketKind};
use crate::routing::hash::scale_to;
use estimator::{Estimator, Scale};
use feedback::{Feedback, NO_TAG, Tag};
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
                from: counts.iter().map(|&count| Feedback::new(count)).collect(),
            })
        });
        Conga { ecmp, estimators, scale: Scale::new(params.bits, form), form, leaf }
    }

    /// The uplink of a data packet to a leaf, which has several.
    fn uplink(&mut self, choice: &Choice<'_>, header: &Header, target: u32) -> PortId {
        let Conga { estimators, scale, form, leaf, .. } = self;
        let leaf = leaf.as_mut().expect("only leaves choose");
        let Leaf { flows, age, draws, uplinks, to, .. } = &mut **leaf;
        let (mut next_hops, now) = (choice.next_hops(), choice.now());
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
            Some(leaf) => {
                let port = if choice.is_open(header) {
                    self.uplink(choice, header, target)
                } else {
                    let port = self.ecmp.select(choice, header)?;
                    leaf.flows.note_only_port(header, port);
                    port
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
            choice.set_tag(Tag::collect(choice.tag(), estimator.level(choice.now(), self.scale)));
        }
        Some(port)
    }

    fn on_depart(&mut self, now: Time, (port, rate): (PortId, Rate), size: u16, tag: u64) -> u64 {
        let Some(estimator) = &mut self.estimators[port.index()] else { return tag };
        estimator.follow(rate);
        match self.form {
            CongaForm::Native => {
                estimator.count(now, size);
                Tag::collect(tag, estimator.level(now, self.scale))
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
