//! Cyclic buffer dependencies: what a deadlock of PFC needs.
//!
//! A packet that arrives over a link that PFC may pause, and leaves over another one, makes the
//! first link depend on the second: while the second is paused, the first may be paused, too. If
//! such dependencies of one priority form a circle, all its links can pause each other for ever.

use std::collections::BTreeMap;

/// The links that packets of one priority take one after another.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    /// By link: the links that it depends on, without repetition.
    next: BTreeMap<u32, Vec<u32>>,
}

impl Dependencies {
    /// Notes that packets arrive over `link` and leave over `next`.
    pub(crate) fn add(&mut self, link: u32, next: u32) {
        let known = self.next.entry(link).or_default();
        if !known.contains(&next) {
            known.push(next);
        }
    }

    /// Returns the links of a circle, in its order. `None` if there is no circle.
    pub(crate) fn circle(&self) -> Option<Vec<u32>> {
        let mut done: BTreeMap<u32, bool> = BTreeMap::new();
        for &start in self.next.keys() {
            if done.contains_key(&start) {
                continue;
            }
            // A depth-first search: the links on the way from `start`, and how many of the links
            // that each depends on have been looked at.
            let mut way = vec![(start, 0)];
            done.insert(start, false);
            while let Some((link, looked_at)) = way.last_mut() {
                let next = self.next.get(link).and_then(|next| next.get(*looked_at)).copied();
                *looked_at += 1;
                match next.map(|next| (next, done.get(&next))) {
                    None => {
                        done.insert(*link, true);
                        way.pop();
                    }
                    Some((next, None)) => {
                        done.insert(next, false);
                        way.push((next, 0));
                    }
                    Some((next, Some(false))) => {
                        let begin = way.iter().position(|&(link, _)| link == next)?;
                        return Some(way[begin..].iter().map(|&(link, _)| link).collect());
                    }
                    Some((_, Some(true))) => {}
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dependencies(edges: &[(u32, u32)]) -> Dependencies {
        let mut found = Dependencies::default();
        edges.iter().for_each(|&(link, next)| found.add(link, next));
        found
    }

    #[test]
    fn a_tree_has_no_circle_and_a_ring_is_found_whole() {
        assert_eq!(dependencies(&[(0, 1), (0, 2), (1, 3), (2, 3)]).circle(), None);
        let ring = dependencies(&[(9, 0), (0, 1), (1, 2), (2, 0), (2, 7)]).circle();
        assert_eq!(
            ring.map(|mut links| {
                links.sort_unstable();
                links
            }),
            Some(vec![0, 1, 2])
        );
    }

    proptest! {
        /// A circle exists exactly if links remain after all without dependencies are removed,
        /// again and again; and what is returned is one.
        #[test]
        fn a_circle_is_found_exactly_if_there_is_one(
            edges in prop::collection::vec((0_u32..12, 0_u32..12), 0..30),
        ) {
            let found = dependencies(&edges).circle();
            let mut left = edges.clone();
            loop {
                let before = left.len();
                let sources: Vec<u32> = left.iter().map(|edge| edge.0).collect();
                left.retain(|edge| sources.contains(&edge.1));
                if left.len() == before {
                    break;
                }
            }
            prop_assert_eq!(found.is_some(), !left.is_empty());
            if let Some(circle) = found {
                for (at, &link) in circle.iter().enumerate() {
                    let next = circle[(at + 1) % circle.len()];
                    prop_assert!(edges.contains(&(link, next)));
                }
            }
        }
    }
}
