//! What a policy remembers of each group of next hops that a switch uses together.

/// A value for each group, or for each destination host. A switch has few groups with several
/// ports.
#[derive(Debug)]
pub(super) struct GroupTable<T> {
    groups: Vec<(u32, T)>,
}

impl<T: Clone> Clone for GroupTable<T> {
    fn clone(&self) -> GroupTable<T> {
        GroupTable { groups: self.groups.clone() }
    }

    /// Uses the memory again, as it is done for each batch of packets.
    fn clone_from(&mut self, other: &GroupTable<T>) {
        self.groups.clone_from(&other.groups);
    }
}

impl<T> GroupTable<T> {
    pub(super) fn new() -> GroupTable<T> {
        GroupTable { groups: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
    }

    /// The value of a group, which `first` makes when it is first asked for.
    #[inline]
    pub(super) fn get(&mut self, group: u32, first: impl FnOnce() -> T) -> &mut T {
        let place = match self.groups.binary_search_by_key(&group, |&(group, _)| group) {
            Ok(place) => place,
            Err(place) => {
                self.groups.insert(place, (group, first()));
                place
            }
        };
        &mut self.groups[place].1
    }
}
