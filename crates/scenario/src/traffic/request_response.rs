//! Requests and responses, within and between data centres.

use super::poisson::{self, Arrivals};
use super::{After, Context, Entry, Sink, check_time};
use crate::error::{Result, ScenarioError};
use crate::random::Stream;
use crate::spec::{DestinationMix, RequestResponseSpec};
use crate::workload::LARGEST_MESSAGE;
use units::NodeId;

pub(super) fn request_response(
    spec: &mut RequestResponseSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let given = (&mut spec.workload, &mut spec.cdf, &mut spec.workload_file);
    let cdf = poisson::sizes(given, entry, context)?;
    poisson::check_load(spec.load, entry)?;
    let request = spec.request.0.get();
    if request > LARGEST_MESSAGE {
        return Err(ScenarioError::new(entry.key("request"), "a message has at most 4000GB"));
    }
    let service = check_time(spec.service, || entry.key("service"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let end = poisson::end(&mut spec.duration, spec.flows, entry, context, start)?;
    let hosts = entry.hosts(spec.hosts.as_deref(), context)?;
    let partners = partners(spec, &hosts, entry, context)?;

    let mut arrivals =
        Arrivals::new("response", &hosts, &cdf, spec.load, (start, end), entry, context);
    let messages = if request == 0 { 1 } else { 2 };
    entry.check_count((arrivals.expected as u64).saturating_mul(messages), sink)?;
    let mut mix = Mix::new(spec, arrivals.expected);
    let [intra, inter] = ["intra", "inter"].map(|tag| sink.tag(tag, &entry.key));
    let (intra, inter) = (intra?, inter?);
    while !mix.is_full()
        && let Some((index, at)) = arrivals.next()
    {
        let source = &mut arrivals.sources[index];
        let size = cdf.draw(&mut source.sizes);
        let (client, is_inter) = mix.draw(&partners[index], &mut source.destinations);
        let server = hosts[index];
        let mut response = entry.message(server, client, size, at);
        response.tag = if is_inter { inter } else { intra };
        if request > 0 {
            let message = sink.messages.len() as u32;
            sink.push(entry.message(client, server, request, at), || entry.key.clone())?;
            response.after = Some(After { message, delay: service });
        }
        sink.push(response, || entry.key.clone())?;
    }
    Ok(())
}

/// Whom a host can answer: in its data centre, in others.
struct Partners {
    intra: Vec<NodeId>,
    inter: Vec<NodeId>,
}

fn partners(
    spec: &RequestResponseSpec,
    hosts: &[NodeId],
    entry: &Entry,
    context: &Context<'_>,
) -> Result<Vec<Partners>> {
    if !(0.0..=1.0).contains(&spec.inter) {
        return Err(ScenarioError::new(
            entry.key("inter"),
            format!("must be 0 to 1, got {}", spec.inter),
        ));
    }
    let network = context.nodes.network();
    let sites = network.sites();
    let of_host = |host: &NodeId| {
        let others = hosts.iter().copied().filter(|other| other != host);
        let (intra, inter): (Vec<NodeId>, Vec<NodeId>) =
            others.partition(|other| sites[other.index()] == sites[host.index()]);
        let lacks = |what: &str, key: &str, hint: &str| {
            let name = &network.node(*host).name;
            Err(ScenarioError::new(entry.key(key), format!("{name} has no {what} among the hosts"))
                .hint(hint))
        };
        if inter.is_empty() && spec.inter > 0.0 {
            return lacks(
                "partner in another data centre",
                "inter",
                "a data centre ends where links have 10us or more; inter = 0 stays inside",
            );
        }
        if intra.is_empty() && spec.inter < 1.0 {
            return lacks("partner in its data centre", "inter", "inter = 1 goes outside alone");
        }
        Ok(Partners { intra, inter })
    };
    hosts.iter().map(of_host).collect()
}

/// Decides who gets a response.
enum Mix {
    /// Another data centre with this probability.
    Steady(f64),
    /// How many more may go inside and to others.
    Quota { intra: u64, inter: u64 },
}

impl Mix {
    fn new(spec: &RequestResponseSpec, expected: f64) -> Mix {
        match spec.mix {
            DestinationMix::Steady => Mix::Steady(spec.inter),
            DestinationMix::Quota => {
                let inter = (expected * spec.inter) as u64;
                let intra = match spec.flows {
                    Some(all) => all - inter.min(all),
                    None => (expected * (1.0 - spec.inter)) as u64,
                };
                Mix::Quota { intra, inter }
            }
        }
    }

    fn is_full(&self) -> bool {
        matches!(self, Mix::Quota { intra: 0, inter: 0 })
    }

    /// The client, and whether it is in another data centre.
    fn draw(&mut self, partners: &Partners, stream: &mut Stream) -> (NodeId, bool) {
        let (inside, outside) = (partners.intra.len() as u64, partners.inter.len() as u64);
        let is_inter = match self {
            Mix::Steady(inter) => stream.fraction() < *inter,
            Mix::Quota { intra: 0, .. } => true,
            Mix::Quota { inter: 0, .. } => false,
            Mix::Quota { .. } => stream.below(inside + outside) >= inside,
        };
        if let Mix::Quota { intra, inter } = self {
            *(if is_inter { inter } else { intra }) -= 1;
        }
        let list = if is_inter { &partners.inter } else { &partners.intra };
        (list[stream.below(list.len() as u64) as usize], is_inter)
    }
}
