//! What the engine simulates: a [`Device`], and which of its functions is called when.
//!
//! # The calls of one window
//!
//! In every window the engine runs each group that has an arrival or a device with an event of its
//! own. A thread claims a group and makes these calls:
//!
//! ```text
//! group of one device
//!
//!   prefetch ──> wants_buckets? ──yes──> advance_bucketed ──Some(next event)──────────┐
//!                      │                        │                                     │
//!                      no                      None: it handled no arrival            │
//!                      │                        │                                     │
//!                      └────────────┬───────────┘                                     │
//!                                   v                                                 v
//!                      (reorder_arrivals) ──> advance ──next event──────────────> window ends
//!
//! group with a hub: a rack, whose switch is the hub; its members are the hosts
//!
//!   every member:       add_couplings      who may exchange packets in this window?
//!   hub:                advance_downlinks  packets for uncoupled members; keeps the rest
//!                             │
//!                             ├─ false ──> as a group without a hub
//!                             v
//!   coupled members,    advance            in turn, in steps as short as their links;
//!     and hub:          advance_coupled    packets between them; keeps those for the uplinks
//!   uncoupled members:  as a group of one device (no prefetch), each once for the whole window
//!   hub:                advance_uplinks    everything that was kept, and what the members sent
//!
//! group without a hub: several devices, joined by short links
//!
//!   repeat: the device that is due first
//!                 (reorder_arrivals) ──> advance   until another device could send it a packet
//! ```
//!
//! `reorder_arrivals` is called with [`TieBreak::DeviceOrder`] only. It then comes before
//! `advance_bucketed`, and groups with a hub are advanced as those without. Which thread makes a
//! call, and how devices are grouped, changes no result.

use crate::arena::Packets;
use crate::arrival_key::{Entry, TieBreak};
use crate::buckets::Bucketing;
use crate::window::{Arrivals, Window};
use units::Time;

/// Something that acts in a simulation: a host or a switch. It owns all its state.
///
/// The [module](crate::device) shows the order of the calls. Only [`advance`](Device::advance) must
/// be written. [`reorder_arrivals`](Device::reorder_arrivals) chooses the order of simultaneous
/// arrivals. The other functions make a run faster and must not change its result.
pub trait Device: Send {
    /// What travels on links.
    type Packet: Copy + Send;

    /// Handles everything that is due before the end of the window: arrivals, in the order in which
    /// the window gives them, and the device's own events.
    ///
    /// Returns the time of its next own event, at or after the window's end, or [`Time::NEVER`].
    fn advance(&mut self, window: &mut Window<'_, '_, Self::Packet>) -> Time;

    /// Returns whether and how the device wants to handle this many arrivals in buckets, for
    /// instance one bucket for each port. If it does,
    /// [`advance_bucketed`](Device::advance_bucketed) is called.
    #[inline]
    fn wants_buckets(&self, _arrivals: usize) -> Bucketing {
        Bucketing::None
    }

    /// Handles the window from its arrivals, which it puts into buckets by [`Window::bucket`].
    /// Called only if [`wants_buckets`](Device::wants_buckets) asked for them. They may be unsorted
    /// unless it asked for their order.
    ///
    /// Returns the time of its next own event. Returns `None` if it handled no arrival: the engine
    /// then calls [`advance`](Device::advance). Own events due before the first arrival may be done
    /// by then.
    #[inline]
    fn advance_bucketed(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Option<Time> {
        None
    }

    /// Adds to `couplings` what could make two devices of the group exchange packets before
    /// `until`.
    ///
    /// `couplings` has one number for each device of the group, by its index there. Called for each
    /// device of a group that has a hub ([`Group::hub`](crate::Group::hub)), except the hub. A
    /// packet that this device will send to another adds one for both of them. A packet on its way
    /// between two of them counts, too, because the receiver may answer it: the sender may add it
    /// and the receiver subtract it, as only the sum counts. A device is *coupled* if its sum is
    /// positive.
    fn add_couplings(&self, _until: Time, couplings: &mut [i64]) {
        couplings.iter_mut().for_each(|coupling| *coupling += 1);
    }

    /// Handles, as the hub of a group, the arrivals of the window for uncoupled devices of the
    /// group. The arrivals are in no order.
    ///
    /// It keeps arrivals for coupled devices by [`Window::keep_for_coupled`], and arrivals for the
    /// rest of the network by [`Window::keep_for_uplinks`]. Returns `false` if it cannot separate
    /// these parts and handled no arrival: the engine then runs the whole group step by step. Own
    /// events due before the first arrival may be done by then.
    fn advance_downlinks(
        &mut self,
        _window: &mut Window<'_, '_, Self::Packet>,
        _couplings: &[i64],
    ) -> bool {
        false
    }

    /// Handles, as the hub of a group, what goes to coupled devices of the group, and keeps what
    /// goes to the rest of the network ([`Window::keep_next_for_uplinks`]). The arrivals are in
    /// order.
    ///
    /// Called after [`advance_downlinks`](Device::advance_downlinks), for any number of short parts
    /// of the window. Returns the time of the next own event that concerns the coupled devices.
    fn advance_coupled(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Time {
        unreachable!("advance_downlinks returned true, so advance_coupled must be written")
    }

    /// Handles, as the hub of a group, the rest of the window: what goes to the rest of the
    /// network. The arrivals are in no order. Called once in a window, after all other devices of
    /// the group.
    ///
    /// Returns the time of the hub's next own event.
    fn advance_uplinks(&mut self, _window: &mut Window<'_, '_, Self::Packet>) -> Time {
        unreachable!("advance_downlinks returned true, so advance_uplinks must be written")
    }

    /// Prefetches what [`advance`](Device::advance) will touch first. Called shortly before it,
    /// when the device itself is already in the cache.
    #[inline]
    fn prefetch(&self, _arrivals: usize) {}

    /// May put arrivals of the same instant into another order. Called with
    /// [`TieBreak::DeviceOrder`] only, before the arrivals are handled. Each arrival is in exactly
    /// one call.
    #[inline]
    fn reorder_arrivals(&mut self, _arrivals: &mut Arrivals<'_, '_, Self::Packet>) {}
}

/// Lets a device reorder the arrivals of a window that begins at `begin`, if the tie break says so.
#[inline(always)]
pub(crate) fn reorder_arrivals<D: Device>(
    device: &mut D,
    tie_break: TieBreak,
    packets: &Packets<'_, D::Packet>,
    begin: Time,
    entries: &mut [Entry],
) {
    if tie_break == TieBreak::DeviceOrder {
        device.reorder_arrivals(&mut Arrivals { packets, begin, entries });
    }
}
