//! Groups with a hub: a rack, whose switch all that its hosts send must pass. As long as none of them sends to
//! another, what the switch sends to hosts follows from what came from elsewhere, what hosts send from that,
//! and what the switch passes on from that: each is worked once for the whole window, as devices are that are
//! alone, however short the links are. Those that may send to each other, the tied ones, are worked in turn.

use super::Worker;
use crate::mailbox::MailSender;
use crate::window::Device;
use units::Time;

impl<'a, D: Device> Worker<'a, D> {
    /// Works the devices around `hub`, and the hub before and after them; tells when any wants to be worked
    /// next. `None` where all must be worked in turn.
    pub(super) fn advance_hub_group(
        &mut self,
        (group, hub): (u32, u32),
        devices: &[u32],
        window: u64,
        from: Time,
        sender: &mut MailSender<'a>,
    ) -> Option<Time> {
        let shared = self.shared;
        let (until, mailboxes) = (sender.ends[0], shared.mailboxes);
        let span = (from, until);
        // SAFETY: a group is worked by who took it, one device at a time.
        let device = |device: u32| unsafe { shared.devices[device as usize].get() };
        let mut couplings = std::mem::take(&mut self.couplings);
        couplings.clear();
        couplings.resize(devices.len(), 0);
        for &leaf in devices.iter().filter(|&&device| device != hub) {
            device(leaf).add_couplings(until, &mut couplings);
        }
        couplings[self.place[hub as usize] as usize] = 0;
        let mut within = sender.within(window, from);
        let arrivals = mailboxes.merged(window, self.thread, hub);
        self.bucketizer.kept.clear();
        self.bucketizer.for_coupled.clear();
        let view = &mut self.window_of(arrivals, span, &mut within);
        let is_split = device(hub).advance_downlinks(view, &couplings);
        sender.merge_posted(&within);
        if !is_split {
            self.couplings = couplings;
            return None;
        }
        let later = self.bucketizer.kept.len() + self.bucketizer.for_coupled.len();
        self.delivered += (arrivals.len() - later) as u64;
        arrivals.clear();
        self.advance_coupled_devices((group, hub), devices, &couplings, window, from, sender);
        for (&leaf, &coupling) in devices.iter().zip(&couplings) {
            if coupling <= 0 && leaf != hub {
                self.advance_uncoupled(leaf, window, span, &mut within);
            }
        }
        self.couplings = couplings;
        sender.merge_posted(&within);
        let arrivals = mailboxes.merged(window, self.thread, hub);
        arrivals.append(&mut self.bucketizer.kept);
        self.delivered += arrivals.len() as u64;
        let wake = device(hub).advance_uplinks(&mut self.window_of(arrivals, span, sender));
        arrivals.clear();
        shared.set_device_wake(hub, wake);
        devices.iter().map(|&device| shared.device_wake(device)).min()
    }

    /// Works a device for the whole window.
    fn advance_uncoupled(
        &mut self,
        device: u32,
        window: u64,
        span: (Time, Time),
        within: &mut MailSender<'a>,
    ) {
        let shared = self.shared;
        let arrivals = shared.mailboxes.merged(window, self.thread, device);
        if !arrivals.is_empty() || shared.device_wake(device) < span.1 {
            let wake = self.advance_device(device, arrivals, span, within);
            arrivals.clear();
            shared.set_device_wake(device, wake);
        }
    }

    /// Works those that are tied, if any are, and their share of the hub.
    fn advance_coupled_devices(
        &mut self,
        (group, hub): (u32, u32),
        devices: &[u32],
        couplings: &[i64],
        window: u64,
        from: Time,
        sender: &mut MailSender<'a>,
    ) {
        let shared = self.shared;
        if couplings.iter().all(|&coupling| coupling <= 0) {
            return;
        }
        for ((inbox, &device), &coupling) in self.inbox.iter_mut().zip(devices).zip(couplings) {
            if device == hub {
                self.bucketizer.sorter.sort(&mut self.bucketizer.for_coupled);
                inbox.fill(&mut self.bucketizer.for_coupled);
                // What waits there is known to it alone.
                inbox.due = from;
            } else if coupling > 0 {
                let arrivals = shared.mailboxes.merged(window, self.thread, device);
                self.bucketizer.sorter.sort(arrivals);
                inbox.fill(arrivals);
                inbox.due = inbox.next(from).min(shared.device_wake(device)).max(from);
            } else {
                inbox.due = Time::NEVER;
            }
        }
        let kept = self.bucketizer.kept.len();
        self.advance_lockstep(group, devices, Some(hub), from, sender);
        self.delivered -= (self.bucketizer.kept.len() - kept) as u64;
    }
}
