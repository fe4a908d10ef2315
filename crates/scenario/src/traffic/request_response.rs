//! Requests and responses, within and between data centres.

use super::poisson::{self, Arrivals};
use super::{Context, Entry, Sink, check_time};
use crate::error::{Result, ScenarioError};
use crate::random::Stream;
use crate::spec::{DestinationMix, RequestResponseSpec};
use crate::workload::MAX_MESSAGE;
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
    let request = spec.request_size.0.get();
    if request > MAX_MESSAGE {
        return Err(ScenarioError::new(entry.key("request_size"), "a message has at most 4000GB"));
    }
    let service = check_time(spec.service_time, || entry.key("service_time"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    let end = poisson::end(&mut spec.duration, spec.messages, entry, context, start)?;
    let hosts = entry.hosts(spec.hosts.as_deref(), context)?;
    let partners = Partners::new(spec, &hosts, entry, context)?;

    let mut arrivals =
        Arrivals::new("response", &hosts, &cdf, spec.load, (start, end), entry, context);
    let messages = if request == 0 { 1 } else { 2 };
    entry.make_room((arrivals.expected as u64).saturating_mul(messages), sink)?;
    let mut mix = Mix::new(spec, arrivals.expected);
    let [intra, inter] = ["intra", "inter"].map(|tag| sink.tag(tag, &entry.key("tag")));
    let (intra, inter) = (intra?, inter?);
    while !mix.is_full()
        && let Some((index, at)) = arrivals.next()
    {
        arrivals.check_start(at, entry)?;
        let source = &mut arrivals.sources[index];
        let size = cdf.draw(&mut source.sizes);
        let (client, is_inter) = mix.draw(index, &partners, &mut source.destinations);
        let server = hosts[index];
        let mut response = entry.message(server, client, size, at);
        response.tag = if is_inter { inter } else { intra };
        if request > 0 {
            let message = sink.messages.len() as u32;
            sink.push(entry.message(client, server, request, at), || entry.key.clone())?;
            response.after = Some(sink.joins.add(service, [message]));
        }
        sink.push(response, || entry.key.clone())?;
    }
    Ok(())
}

/// Whom hosts can answer.
struct Partners {
    /// By host its data centre, and its place among those of `intra`.
    places: Vec<(usize, usize)>,
    /// By data centre those in it, and those in others.
    sites: Vec<Site>,
}

#[derive(Default)]
struct Site {
    intra: Vec<NodeId>,
    inter: Vec<NodeId>,
}

impl Partners {
    fn new(
        spec: &RequestResponseSpec,
        hosts: &[NodeId],
        entry: &Entry,
        context: &Context<'_>,
    ) -> Result<Partners> {
        if !(0.0..=1.0).contains(&spec.inter_share) {
            return Err(ScenarioError::new(
                entry.key("inter_share"),
                format!("must be 0 to 1, got {}", spec.inter_share),
            ));
        }
        let network = context.nodes.network();
        let site_of = network.data_centres();
        let mut sites: Vec<Site> = Vec::new();
        sites.resize_with(site_of.len(), Site::default);
        let mut places = Vec::with_capacity(hosts.len());
        for host in hosts {
            let site = site_of[host.index()];
            let intra = &mut sites[site].intra;
            places.push((site, intra.len()));
            intra.push(*host);
        }
        for (site, own) in sites.iter_mut().enumerate().filter(|(_, own)| !own.intra.is_empty()) {
            let outside = hosts.iter().filter(|host| site_of[host.index()] != site);
            own.inter = outside.copied().collect();
        }
        for (host, (site, _)) in hosts.iter().zip(&places) {
            let lacks = |what: &str, hint: &str| {
                let name = network.name(*host);
                let why = format!("{name} has no {what} among the hosts");
                Err(ScenarioError::new(entry.key("inter_share"), why).hint(hint))
            };
            let site = &sites[*site];
            if site.inter.is_empty() && spec.inter_share > 0.0 {
                return lacks(
                    "partner in another data centre",
                    "a data centre ends where links have 10us or more; inter_share = 0 stays \
                     inside",
                );
            }
            if site.intra.len() == 1 && spec.inter_share < 1.0 {
                return lacks("partner in its data centre", "inter_share = 1 goes outside alone");
            }
        }
        Ok(Partners { places, sites })
    }

    /// Partners of the host of this index: how many in its data centre, how many in others.
    fn count(&self, host: usize) -> (u64, u64) {
        let site = &self.sites[self.places[host].0];
        (site.intra.len() as u64 - 1, site.inter.len() as u64)
    }

    fn draw(&self, host: usize, is_inter: bool, stream: &mut Stream) -> NodeId {
        let (site, own) = self.places[host];
        let site = &self.sites[site];
        if is_inter {
            return site.inter[stream.below(site.inter.len() as u64) as usize];
        }
        let drawn = stream.below(site.intra.len() as u64 - 1) as usize;
        site.intra[drawn + usize::from(drawn >= own)]
    }
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
        match spec.destination_mix {
            DestinationMix::Steady => Mix::Steady(spec.inter_share),
            DestinationMix::Quota => {
                let inter = (expected * spec.inter_share) as u64;
                let intra = match spec.messages {
                    Some(all) => all - inter.min(all),
                    None => (expected * (1.0 - spec.inter_share)) as u64,
                };
                Mix::Quota { intra, inter }
            }
        }
    }

    fn is_full(&self) -> bool {
        matches!(self, Mix::Quota { intra: 0, inter: 0 })
    }

    /// The client of the host of this index, and whether it is in another data centre.
    fn draw(&mut self, host: usize, partners: &Partners, stream: &mut Stream) -> (NodeId, bool) {
        let is_inter = match self {
            Mix::Steady(inter) => stream.fraction() < *inter,
            Mix::Quota { intra: 0, .. } => true,
            Mix::Quota { inter: 0, .. } => false,
            Mix::Quota { .. } => {
                let (inside, outside) = partners.count(host);
                stream.below(inside + outside) >= inside
            }
        };
        if let Mix::Quota { intra, inter } = self {
            *(if is_inter { inter } else { intra }) -= 1;
        }
        (partners.draw(host, is_inter, stream), is_inter)
    }
}
