//! Lists of node names: a name, a range `h0..h15` with both ends, or a pattern `tor*`.

use crate::error::{Result, ScenarioError, known_words};
use crate::network::{Link, NameIndex, Network, NodeKind};
use std::ops::ControlFlow;
use units::{NodeId, cancel};

/// Nodes by name.
pub(crate) struct Selector<'a> {
    network: &'a Network,
    names: NameIndex<'a>,
    hosts: Vec<NodeId>,
}

impl<'a> Selector<'a> {
    pub fn new(network: &'a Network) -> Selector<'a> {
        let hosts = network.hosts().collect();
        Selector { network, names: NameIndex::of(network), hosts }
    }

    pub fn network(&self) -> &'a Network {
        self.network
    }

    /// Every host, in order.
    pub fn all_hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// The node called `name`.
    pub fn node(&self, name: &str, key: &str) -> Result<NodeId> {
        self.names.get(name).ok_or_else(|| {
            let known = self.network.names.iter().take(1000).map(String::as_str);
            let error = ScenarioError::new(key, format!("unknown node `{name}`"));
            if let Some((first, last)) = self.numbered_as(name) {
                return error.hint(format!("there are `{first}` to `{last}`"));
            }
            match crate::error::nearest(name, known.clone()) {
                None if self.network.nodes.len() > 8 => {
                    error.hint(format!("there are {}", self.kinds_of_names(false)))
                }
                _ => error.hint(known_words(name, known)),
            }
        })
    }

    /// The first and the last node whose names differ from `name` in their number only. `None`
    /// where there are no two.
    fn numbered_as(&self, name: &str) -> Option<(&'a str, &'a str)> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_number = |end: &str| !end.is_empty() && end.bytes().all(|c| c.is_ascii_digit());
        if stem.is_empty() || stem == name {
            return None;
        }
        let names = self.network.names.iter().map(String::as_str);
        let mut alike = names.filter(|one| one.strip_prefix(stem).is_some_and(is_number));
        alike.next().zip(alike.next_back())
    }

    /// The nodes that links of `node` lead to, as a hint.
    pub fn neighbours(&self, node: NodeId) -> String {
        const MOST: usize = 8;
        let other = |link: &Link| match (link.a == node, link.b == node) {
            (true, _) => Some(link.b),
            (_, true) => Some(link.a),
            _ => None,
        };
        let mut names: Vec<String> = Vec::new();
        for peer in self.network.links.iter().filter_map(other) {
            let name = format!("`{}`", self.network.name(peer));
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        let more = if names.len() > MOST { " and so on" } else { "" };
        names.truncate(MOST);
        format!("links of {} lead to {}{more}", self.network.name(node), names.join(", "))
    }

    /// The host called `name`.
    pub fn host(&self, name: &str, key: &str) -> Result<NodeId> {
        let id = self.node(name, key)?;
        match self.network.node(id).kind {
            NodeKind::Host => Ok(id),
            NodeKind::Switch => {
                Err(ScenarioError::new(key, format!("`{name}` is a switch; a host is needed")))
            }
        }
    }

    /// The hosts that `names` stand for, each once; patterns leave switches out.
    pub fn hosts(&self, names: &[String], key: &str) -> Result<Vec<NodeId>> {
        self.collect(names, key, true)
    }

    /// The nodes that `names` stand for, each once.
    pub fn nodes(&self, names: &[String], key: &str) -> Result<Vec<NodeId>> {
        self.collect(names, key, false)
    }

    /// The first name of each kind, such as `h0`, `leaf0` and `spine0`: of names that differ in
    /// their number only.
    fn kinds_of_names(&self, hosts_only: bool) -> String {
        const MOST: usize = 8;
        let mut kinds: Vec<&str> = Vec::new();
        let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let is_meant = |id: &NodeId| !hosts_only || self.network.node(*id).kind == NodeKind::Host;
        for name in self.network.ids().filter(is_meant).map(|id| self.network.name(id)) {
            if !kinds.iter().any(|kind| kind[..stem(kind)] == name[..stem(name)]) {
                kinds.push(name);
            }
            if kinds.len() == MOST {
                break;
            }
        }
        let names: Vec<String> = kinds.iter().map(|name| format!("`{name}`")).collect();
        format!("{} and so on", names.join(", "))
    }

    fn collect(&self, names: &[String], key: &str, hosts_only: bool) -> Result<Vec<NodeId>> {
        let mut chosen = Vec::new();
        let mut seen = vec![false; self.network.nodes.len()];
        let mut add = |id: NodeId| {
            let first = !std::mem::replace(&mut seen[id.index()], true);
            if first {
                chosen.push(id);
            }
            first
        };
        for (index, name) in names.iter().enumerate() {
            cancel::check();
            let key = format!("{key}.{index}");
            let mut is_new = true;
            self.visit(name, &key, hosts_only, |id| is_new = add(id))?;
            if !is_new && !is_several(name) {
                return Err(ScenarioError::new(key, format!("`{name}` is listed twice")));
            }
        }
        Ok(chosen)
    }

    /// Visits the nodes that `name` stands for.
    pub fn visit(
        &self,
        name: &str,
        key: &str,
        hosts_only: bool,
        mut visit: impl FnMut(NodeId),
    ) -> Result<()> {
        let one = |name: &str| if hosts_only { self.host(name, key) } else { self.node(name, key) };
        if name.contains('*') {
            let fits = |id: &NodeId| {
                let node = self.network.node(*id);
                let is_chosen = !hosts_only || node.kind == NodeKind::Host;
                is_chosen && matches(name, self.network.name(*id))
            };
            let found = self.network.ids().filter(fits).map(visit).count();
            if found == 0 {
                let error = ScenarioError::new(key, format!("`{name}` fits no node"));
                return Err(error.hint(format!("there are {}", self.kinds_of_names(hosts_only))));
            }
            return Ok(());
        }
        let Some((first, last)) = name.split_once("..") else {
            visit(one(name)?);
            return Ok(());
        };
        let each = |name: &str| match one(name) {
            Ok(id) => {
                visit(id);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        };
        match range(first, last, each) {
            Some(ControlFlow::Continue(())) => Ok(()),
            Some(ControlFlow::Break(error)) => Err(error),
            None => {
                let why = format!("`{name}` is no range; one is written like `h0..h15`");
                Err(ScenarioError::new(key, why))
            }
        }
    }
}

/// Whether `name` is a range or a pattern, which may stand for several nodes.
pub(crate) fn is_several(name: &str) -> bool {
    name.contains('*') || name.contains("..")
}

/// Visits `h0`, `h1`, ... `h15` for `h0` and `h15`; `None` where these are no range.
fn range<B>(
    first: &str,
    last: &str,
    mut visit: impl FnMut(&str) -> ControlFlow<B>,
) -> Option<ControlFlow<B>> {
    let split = |name: &str| -> Option<(usize, u32)> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let at = name.len() - digits;
        Some((at, name[at..].parse().ok()?))
    };
    let (prefix, low) = split(first)?;
    let (other_prefix, high) = split(last)?;
    if first[..prefix] != last[..other_prefix] || low > high {
        return None;
    }
    // Where the first has zeros in front, all have as many digits.
    let digits = &first[prefix..];
    let width = if digits.starts_with('0') { digits.len() } else { 0 };
    for number in low..=high {
        if let ControlFlow::Break(error) = visit(&format!("{}{number:0width$}", &first[..prefix])) {
            return Some(ControlFlow::Break(error));
        }
    }
    Some(ControlFlow::Continue(()))
}

/// Whether `name` fits `pattern`, in which each `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("tor*", "tor12"));
        assert!(matches("*", "x"));
        assert!(matches("*1*", "tor12"));
        assert!(matches("t*2", "tor12"));
        assert!(!matches("t*3", "tor12"));
        assert!(!matches("or*", "tor12"));
        assert!(!matches("tor*r*", "tor12"));
    }

    #[test]
    fn ranges() {
        let list = |first, last| {
            let mut names = Vec::new();
            let ended = range::<()>(first, last, |name| {
                names.push(name.to_owned());
                ControlFlow::Continue(())
            });
            ended.map(|_| names)
        };
        assert_eq!(list("h9", "h11").unwrap(), ["h9", "h10", "h11"]);
        assert_eq!(list("h0", "h2").unwrap(), ["h0", "h1", "h2"]);
        assert_eq!(list("h08", "h10").unwrap(), ["h08", "h09", "h10"]);
        assert_eq!(list("h9", "s11"), None);
        assert_eq!(list("h9", "h8"), None);
        assert_eq!(list("h", "h8"), None);
    }
}
