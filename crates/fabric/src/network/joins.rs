//! What messages wait for, in the form that hosts need.

use super::flow::FlowInfo;
use super::setup::Setup;
use std::ops::Range;
use units::Time;

/// The joins of a run: each waits for messages that all arrive at one host, which then posts those
/// that wait for the join.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinTable {
    joins: Vec<JoinInfo>,
    /// The joins that each message belongs to, one message after the other.
    of_messages: Vec<u32>,
    /// The messages that wait for each join, one join after the other.
    posts: Vec<u32>,
}

#[derive(Clone, Debug)]
struct JoinInfo {
    /// From the last arrival to the posting.
    delay: Time,
    host: u32,
    /// How many messages it waits for.
    awaited: u32,
    /// Its index among the joins of its host.
    index_at_host: u32,
    /// A part of [`JoinTable::posts`].
    posts: Range<u32>,
}

impl JoinTable {
    /// Returns the joins of a setup for `hosts` hosts. Enters in each row the joins that its
    /// message belongs to.
    pub(crate) fn new(setup: &Setup, rows: &mut [FlowInfo], hosts: usize) -> JoinTable {
        let count = setup.joins.delays.len();
        if count == 0 {
            return JoinTable::default();
        }
        let awaited = &setup.joins.awaited;
        let (parts, of_messages) =
            grouped(rows.len(), awaited.iter().map(|one| (one.message, one.join)));
        for (row, part) in rows.iter_mut().zip(parts) {
            row.joins = (part.start, part.end);
        }
        let waiting = setup.messages.iter().enumerate();
        let waiting = waiting.filter_map(|(flow, one)| Some((one.after?, flow as u32)));
        let (parts, posts) = grouped(count, waiting);
        let mut joins: Vec<JoinInfo> = setup
            .joins
            .delays
            .iter()
            .zip(parts)
            .map(|(&delay, posts)| JoinInfo { delay, host: 0, awaited: 0, index_at_host: 0, posts })
            .collect();
        for one in awaited {
            let (join, host) = (&mut joins[one.join as usize], rows[one.message as usize].dst);
            debug_assert!(join.awaited == 0 || join.host == host, "a join is of one host");
            join.host = host;
            join.awaited += 1;
        }
        let mut of_host = vec![0; hosts];
        for join in &mut joins {
            join.index_at_host = of_host[join.host as usize];
            of_host[join.host as usize] += 1;
            let posts = &posts[join.posts.start as usize..join.posts.end as usize];
            debug_assert!(
                posts.iter().all(|&flow| rows[flow as usize].src == join.host),
                "a message waits for what its sender receives"
            );
        }
        JoinTable { joins, of_messages, posts }
    }

    /// Returns how many messages each join waits for, by host.
    pub(crate) fn awaited(&self, hosts: usize) -> Vec<Vec<u32>> {
        let mut awaited = vec![Vec::new(); hosts];
        for join in &self.joins {
            awaited[join.host as usize].push(join.awaited);
        }
        awaited
    }

    /// Calls `post` for each message that is posted now that the message of `row` has arrived at
    /// `now`, and when. `missing` has the number of messages that are missing, for each join of the
    /// host.
    pub(crate) fn arrived(
        &self,
        row: &FlowInfo,
        now: Time,
        missing: &mut [u32],
        mut post: impl FnMut(Time, u32),
    ) {
        for &join in &self.of_messages[row.joins.0 as usize..row.joins.1 as usize] {
            let join = &self.joins[join as usize];
            let missing = &mut missing[join.index_at_host as usize];
            *missing -= 1;
            if *missing == 0 {
                for &flow in &self.posts[join.posts.start as usize..join.posts.end as usize] {
                    post(now + join.delay, flow);
                }
            }
        }
    }
}

/// Sorts `pairs` of a group and a member by group. Returns the part of the members that each group
/// has, and the members.
fn grouped(
    groups: usize,
    pairs: impl Iterator<Item = (u32, u32)> + Clone,
) -> (Vec<Range<u32>>, Vec<u32>) {
    let mut parts = vec![0..0; groups];
    for (group, _) in pairs.clone() {
        parts[group as usize].end += 1;
    }
    let mut members = 0;
    for part in &mut parts {
        let size = part.end;
        *part = members..members;
        members += size;
    }
    let mut list = vec![0; members as usize];
    for (group, member) in pairs {
        let end = &mut parts[group as usize].end;
        list[*end as usize] = member;
        *end += 1;
    }
    (parts, list)
}
