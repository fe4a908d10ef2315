//! Which fast paths a switch may use in a run. ARCHITECTURE.md has a table of them.

use crate::hooks::{ArrivalsOf, RequeueOf, SubQueuesOf, has_own_classes};
use crate::packet::Scheme;
use crate::port::losses::Losses;
use crate::switch::chassis::Chassis;
use crate::switch::egress::LevelOf;
use engine::Bucketing;
use schemes::contract::{ArrivalSlot, Level, Order, RequeueSlot, SubQueueSlot};

/// The fast paths that a switch may use. Each needs the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FastPaths {
    /// The switch is plain: only priorities, pauses and shapers decide what leaves, so that a
    /// packet may pass an idle port without queueing.
    pub(super) plain: bool,
    /// Each port may be advanced alone through a window.
    pub(super) independent_ports: bool,
    /// As the hub of a group it may be advanced in three parts.
    pub(super) rack: bool,
}

/// Returns whether a switch with the scheme's congestion point can be plain. A switch without one
/// can be plain under every scheme.
pub(super) const fn can_point_be_plain<S: Scheme>() -> bool {
    matches!(LevelOf::<S>::ORDER, Order::Lazy)
        && !RequeueOf::<S>::ENABLED
        && !ArrivalsOf::<S>::ENABLED
}

/// What decides about the fast paths of a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// The run is not in reference mode.
    enabled: bool,
    /// The congestion point is absent, or it is lazy and sees no arrivals and requeues nothing.
    plain_point: bool,
    /// The congestion point is absent, or acts at the port at hand only.
    local_point: bool,
    /// The scheme has traffic classes of its own, or sub-queues in this switch.
    own_classes: bool,
    sub_queues: bool,
    /// Packets have tags, which the forwarding policy reads and writes.
    tags: bool,
    /// The forwarding policy chooses by headers and the order of packets alone, and by no more than
    /// hashes of flows.
    by_order: bool,
    by_flow_hash: bool,
    /// Packets are lost on links to the switch.
    losses: bool,
    /// Some packets come over a link that is too fast for the order by emission.
    short_links: bool,
    records_packets: bool,
    records_queues_or_packets: bool,
    marks_at_enqueue: bool,
    /// All ports draw marks from one generator.
    shared_draws: bool,
    watchdog: bool,
    orders_by_emission: bool,
    alternates_packets: bool,
    hosts_pause: bool,
    is_hub: bool,
}

impl Conditions {
    /// Finds what decides about the switch with this chassis. `losses` are those of links to it.
    pub(super) fn of<S: Scheme>(
        chassis: &Chassis<S>,
        losses: Option<&Losses>,
        short_links: bool,
    ) -> Conditions {
        let Chassis { common, router, recorder, pause_clock, .. } = chassis;
        let has_point = chassis.cp.is_some();
        let is_lazy = matches!(LevelOf::<S>::ORDER, Order::Lazy);
        Conditions {
            enabled: common.fast_paths,
            plain_point: !has_point || can_point_be_plain::<S>(),
            local_point: !has_point || (is_lazy && !LevelOf::<S>::EMITS),
            own_classes: has_own_classes::<S>(),
            sub_queues: has_point && SubQueuesOf::<S>::ENABLED,
            tags: chassis.tags,
            by_order: router.bucketing() != Bucketing::None,
            by_flow_hash: router.hashes_flows(),
            losses: losses.is_some(),
            short_links,
            records_packets: recorder.as_ref().is_some_and(|it| it.records_packets()),
            records_queues_or_packets: chassis.records_queues_or_packets(),
            marks_at_enqueue: common.marks_at_enqueue,
            shared_draws: chassis.draws.is_some(),
            watchdog: pause_clock.as_ref().is_some_and(|clock| clock.has_watchdog()),
            orders_by_emission: common.compat.orders_by_emission(),
            alternates_packets: common.compat.alternates_packets(),
            hosts_pause: common.hosts_pause,
            is_hub: common.groups.is_hub(chassis.node),
        }
    }
}

impl FastPaths {
    /// Returns the fast paths that change no result under these conditions.
    pub(super) fn under(it: &Conditions) -> FastPaths {
        let plain = it.enabled
            && it.plain_point
            && !(it.sub_queues || it.losses || it.short_links || it.tags)
            && !(it.records_packets || it.marks_at_enqueue || it.watchdog);
        // With an order by emission, all arrivals of the switch are put in order first.
        let independent_ports = plain
            && it.local_point
            && it.by_order
            && !it.own_classes
            && (it.orders_by_emission
                || !(it.shared_draws || it.alternates_packets || it.records_queues_or_packets));
        // A pause of a host in a rack acts on a downlink in the same window; and looking up next
        // hops of a rack's packets is written for those of their hashes alone.
        let rack = independent_ports
            && it.is_hub
            && it.by_flow_hash
            && !(it.orders_by_emission || it.hosts_pause);
        FastPaths { plain, independent_ports, rack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_ALLOWED: Conditions = Conditions {
        enabled: true,
        plain_point: true,
        local_point: true,
        own_classes: false,
        sub_queues: false,
        tags: false,
        by_order: true,
        by_flow_hash: true,
        losses: false,
        short_links: false,
        records_packets: false,
        records_queues_or_packets: false,
        marks_at_enqueue: false,
        shared_draws: false,
        watchdog: false,
        orders_by_emission: false,
        alternates_packets: false,
        hosts_pause: false,
        is_hub: true,
    };

    /// The table of fast paths in ARCHITECTURE.md. Each condition alone turns off the path that it
    /// is listed for, and those that need it.
    #[test]
    fn each_condition_turns_off_the_paths_that_it_would_make_wrong() {
        let all = ALL_ALLOWED;
        let table = [
            ("none", all, 3),
            ("reference mode", Conditions { enabled: false, ..all }, 0),
            ("a point that is not lazy", Conditions { plain_point: false, ..all }, 0),
            ("tags", Conditions { tags: true, ..all }, 0),
            ("sub-queues", Conditions { sub_queues: true, ..all }, 0),
            ("losses", Conditions { losses: true, ..all }, 0),
            ("short links", Conditions { short_links: true, ..all }, 0),
            ("packets are recorded", Conditions { records_packets: true, ..all }, 0),
            ("marks at enqueue", Conditions { marks_at_enqueue: true, ..all }, 0),
            ("a watchdog", Conditions { watchdog: true, ..all }, 0),
            ("a point that emits", Conditions { local_point: false, ..all }, 1),
            ("a policy that looks at times or queues", Conditions { by_order: false, ..all }, 1),
            ("own classes", Conditions { own_classes: true, ..all }, 1),
            ("one generator of marks", Conditions { shared_draws: true, ..all }, 1),
            ("packets alternate", Conditions { alternates_packets: true, ..all }, 1),
            ("queues are recorded", Conditions { records_queues_or_packets: true, ..all }, 1),
            ("not a hub", Conditions { is_hub: false, ..all }, 2),
            ("another hash", Conditions { by_flow_hash: false, ..all }, 2),
            ("hosts pause", Conditions { hosts_pause: true, ..all }, 2),
            ("order by emission", Conditions { orders_by_emission: true, ..all }, 2),
        ];
        for (what, conditions, allowed) in table {
            let FastPaths { plain, independent_ports, rack } = FastPaths::under(&conditions);
            let expected = [allowed > 0, allowed > 1, allowed > 2];
            assert_eq!([plain, independent_ports, rack], expected, "{what}");
        }
    }

    /// The order by emission allows for what is shared between ports, because arrivals of all ports
    /// are put in order first.
    #[test]
    fn ports_in_an_order_by_emission_may_share_what_depends_on_it() {
        let conditions = Conditions {
            orders_by_emission: true,
            shared_draws: true,
            alternates_packets: true,
            records_queues_or_packets: true,
            ..ALL_ALLOWED
        };
        assert!(FastPaths::under(&conditions).independent_ports);
    }
}
