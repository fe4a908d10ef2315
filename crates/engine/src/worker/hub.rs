//! Groups with a hub: a rack, whose switch all that its hosts send must pass. As long as none of them sends to
//! another, what the switch sends to hosts follows from what came from elsewhere, what hosts send from that,
//! and what the switch passes on from that: each is worked once for the whole window, as devices are that are
//! alone, however short the links are. Those that may send to each other, the tied ones, are worked in turn.

use super::Worker;
use crate::mailbox::Post;
use crate::window::Device;
use units::Time;

impl<'a, D: Device> Worker<'a, D> {
    /// Works the devices around `hub`, and the hub before and after them; tells when any wants to be worked
    /// next. `None` where all must be worked in turn.
    pub(super) fn work_around(
        &mut self,
        (group, hub): (u32, u32),
        devices: &[u32],
        window: u64,
        from: Time,
        post: &mut Post<'a>,
    ) -> Option<Time> {
        let shared = self.shared;
        let (until, mail) = (post.ends[0], shared.mail);
        let span = (from, until);
        // SAFETY: a group is worked by who took it, one device at a time.
        let device = |device: u32| unsafe { shared.devices[device as usize].get() };
        let mut ties = std::mem::take(&mut self.ties);
        ties.clear();
        ties.resize(devices.len(), 0);
        for &leaf in devices.iter().filter(|&&device| device != hub) {
            device(leaf).add_couplings(until, &mut ties);
        }
        ties[self.place[hub as usize] as usize] = 0;
        let mut within = post.within(window, from);
        let arrivals = mail.brought_together(window, self.thread, hub);
        self.dealer.kept.clear();
        self.dealer.for_tied.clear();
        let view = &mut self.window_of(arrivals, span, &mut within);
        let in_parts = device(hub).advance_downlinks(view, &ties);
        post.take_over(&within);
        if !in_parts {
            self.ties = ties;
            return None;
        }
        let later = self.dealer.kept.len() + self.dealer.for_tied.len();
        self.delivered += (arrivals.len() - later) as u64;
        arrivals.clear();
        self.work_tied((group, hub), devices, &ties, window, from, post);
        for (&leaf, &tie) in devices.iter().zip(&ties) {
            if tie <= 0 && leaf != hub {
                self.work_untied(leaf, window, span, &mut within);
            }
        }
        self.ties = ties;
        post.take_over(&within);
        let arrivals = mail.brought_together(window, self.thread, hub);
        arrivals.append(&mut self.dealer.kept);
        self.delivered += arrivals.len() as u64;
        let wake = device(hub).advance_uplinks(&mut self.window_of(arrivals, span, post));
        arrivals.clear();
        shared.set_device_wake(hub, wake);
        devices.iter().map(|&device| shared.device_wake(device)).min()
    }

    /// Works a device for the whole window.
    fn work_untied(&mut self, device: u32, window: u64, span: (Time, Time), within: &mut Post<'a>) {
        let shared = self.shared;
        let arrivals = shared.mail.brought_together(window, self.thread, device);
        if !arrivals.is_empty() || shared.device_wake(device) < span.1 {
            let wake = self.work_arrivals(device, arrivals, span, within);
            arrivals.clear();
            shared.set_device_wake(device, wake);
        }
    }

    /// Works those that are tied, if any are, and their share of the hub.
    fn work_tied(
        &mut self,
        (group, hub): (u32, u32),
        devices: &[u32],
        ties: &[i64],
        window: u64,
        from: Time,
        post: &mut Post<'a>,
    ) {
        let shared = self.shared;
        if ties.iter().all(|&tie| tie <= 0) {
            return;
        }
        for ((inbox, &device), &tie) in self.inbox.iter_mut().zip(devices).zip(ties) {
            if device == hub {
                self.dealer.sorter.sort(&mut self.dealer.for_tied);
                inbox.fill(&mut self.dealer.for_tied);
                // What waits there is known to it alone.
                inbox.due = from;
            } else if tie > 0 {
                let arrivals = shared.mail.brought_together(window, self.thread, device);
                self.dealer.sorter.sort(arrivals);
                inbox.fill(arrivals);
                inbox.due = inbox.next(from).min(shared.device_wake(device)).max(from);
            } else {
                inbox.due = Time::NEVER;
            }
        }
        let kept = self.dealer.kept.len();
        self.work_in_turn(group, devices, Some(hub), from, post);
        self.delivered -= (self.dealer.kept.len() - kept) as u64;
    }
}
