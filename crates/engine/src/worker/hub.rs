//! Groups with a hub: a rack, and its switch.
//!
//! All packets from hosts of the rack pass the switch. As long as no host sends to another, the
//! window has three parts that follow from each other:
//!
//! 1. what the switch sends to hosts follows from what arrived from the rest of the network;
//! 2. what hosts send follows from that;
//! 3. what the switch sends to the rest of the network follows from both.
//!
//! So each device is advanced once through the whole window, like a device without a group, even if
//! its links are much shorter than the window. Hosts that may send to each other in the window, the
//! *coupled* ones, are advanced step by step between parts 1 and 3.

use super::{Span, Worker};
use crate::device::Device;
use crate::mailbox::MailSender;
use units::Time;

/// A group with a hub, and its devices.
#[derive(Clone, Copy)]
pub(super) struct HubGroup<'g> {
    /// Its index.
    pub(super) group: u32,
    pub(super) hub: u32,
    /// All its devices, the hub included.
    pub(super) devices: &'g [u32],
}

impl<'a, D: Device> Worker<'a, D> {
    /// Advances a group with a hub: first the hub's downlinks, then the other devices, then its
    /// uplinks.
    ///
    /// Returns the time of the group's next event. Returns `None` if the hub cannot separate these
    /// parts: the group must then be advanced step by step.
    pub(super) fn advance_hub_group(
        &mut self,
        rack: HubGroup<'_>,
        span: Span,
        sender: &mut MailSender<'a>,
    ) -> Option<Time> {
        let HubGroup { hub, devices, .. } = rack;
        let shared = self.schedule.shared;
        let mailboxes = shared.mailboxes;
        // SAFETY: this thread has claimed the group, and uses one device at a time.
        let device = |device: u32| unsafe { self.devices.cells[device as usize].get() };
        let mut couplings = std::mem::take(&mut self.couplings);
        couplings.clear();
        couplings.resize(devices.len(), 0);
        for &leaf in devices.iter().filter(|&&device| device != hub) {
            device(leaf).add_couplings(span.until, &mut couplings);
        }
        couplings[self.index_in_group[hub as usize] as usize] = 0;
        let mut within = sender.within(span.window, span.begin);
        // SAFETY: as above.
        let arrivals = unsafe { mailboxes.merged(span.window, self.schedule.thread, hub) };
        self.bucketizer.kept.clear();
        self.bucketizer.for_coupled.clear();
        let view = &mut self.window_of((arrivals, false), span, &mut within);
        let is_split = device(hub).advance_downlinks(view, &couplings);
        let has_taken = view.remaining_arrivals() < arrivals.len();
        sender.merge_posted(&within);
        let later = self.bucketizer.kept.len() + self.bucketizer.for_coupled.len();
        if !is_split {
            assert!(!has_taken && later == 0, "the group is advanced step by step now");
            self.couplings = couplings;
            return None;
        }
        self.schedule.delivered += (arrivals.len() - later) as u64;
        arrivals.clear();
        self.advance_coupled_devices(rack, &couplings, span, sender);
        for (&leaf, &coupling) in devices.iter().zip(&couplings) {
            if coupling <= 0 && leaf != hub {
                self.advance_uncoupled(leaf, span, &mut within);
            }
        }
        self.couplings = couplings;
        sender.merge_posted(&within);
        // SAFETY: as above.
        let arrivals = unsafe { mailboxes.merged(span.window, self.schedule.thread, hub) };
        arrivals.append(&mut self.bucketizer.kept);
        self.schedule.delivered += arrivals.len() as u64;
        let view = &mut self.window_of((arrivals, false), span, sender);
        let wake = device(hub).advance_uplinks(view);
        arrivals.clear();
        shared.set_device_wake(hub, wake);
        devices.iter().map(|&device| shared.device_wake(device)).min()
    }

    /// Advances a device through the whole window, if it is due.
    fn advance_uncoupled(&mut self, device: u32, span: Span, within: &mut MailSender<'a>) {
        let shared = self.schedule.shared;
        // SAFETY: this thread has claimed the group, and uses one device at a time.
        let arrivals =
            unsafe { shared.mailboxes.merged(span.window, self.schedule.thread, device) };
        if !arrivals.is_empty() || shared.device_wake(device) < span.until {
            let wake = self.advance_device(device, arrivals, span, within);
            arrivals.clear();
            shared.set_device_wake(device, wake);
        }
    }

    /// Advances the coupled devices step by step, if there are any, and the hub's part between
    /// them.
    fn advance_coupled_devices(
        &mut self,
        rack: HubGroup<'_>,
        couplings: &[i64],
        span: Span,
        sender: &mut MailSender<'a>,
    ) {
        let HubGroup { group, hub, devices } = rack;
        let shared = self.schedule.shared;
        if couplings.iter().all(|&coupling| coupling <= 0) {
            return;
        }
        for ((inbox, &device), &coupling) in self.inbox.iter_mut().zip(devices).zip(couplings) {
            if device == hub {
                self.bucketizer.sorter.sort(&mut self.bucketizer.for_coupled);
                inbox.fill(&mut self.bucketizer.for_coupled);
                // Only the hub knows what waits in its queues, so it is called at the beginning.
                inbox.due = span.begin;
            } else if coupling > 0 {
                // SAFETY: this thread has claimed the group, and uses one device at a time.
                let arrivals =
                    unsafe { shared.mailboxes.merged(span.window, self.schedule.thread, device) };
                self.bucketizer.sorter.sort(arrivals);
                inbox.fill(arrivals);
                inbox.due = inbox.next(span.begin).min(shared.device_wake(device)).max(span.begin);
            } else {
                inbox.due = Time::NEVER;
            }
        }
        let kept = self.bucketizer.kept.len();
        self.advance_lockstep(group, devices, Some(hub), span, sender);
        self.schedule.delivered -= (self.bucketizer.kept.len() - kept) as u64;
    }
}
