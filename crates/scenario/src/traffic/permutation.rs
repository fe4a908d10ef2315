//! Permutation: every host sends one message, and every host receives one. Pairs are drawn from the
//! seed.

use super::{Context, Entry, Sink, check_size, check_time};
use crate::error::Result;
use crate::random::Stream;
use crate::spec::PermutationSpec;

pub(super) fn permutation(
    spec: &mut PermutationSpec,
    entry: &Entry,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Result<()> {
    let hosts = entry.two_hosts_or_more(spec.hosts.as_deref(), "a permutation", context)?;
    let size = check_size(spec.size, || entry.key("size"))?;
    let start = check_time(spec.start, || entry.key("start"))?;
    entry.make_room(hosts.len() as u64, sink)?;
    let order = Stream::new(context.seed, "permutation", &[entry.entity]).derangement(hosts.len());
    for (src, dst) in hosts.iter().zip(order) {
        let message = entry.message(*src, hosts[dst], size, start);
        let message = sink.waiting(entry.after.as_ref(), message)?;
        sink.push(message, || entry.key.clone())?;
    }
    Ok(())
}
