//! What a switch does because a hook of its congestion point asked for it.

use super::chassis::Chassis;
use super::egress::LevelOf;
use crate::context::RunContext;
use crate::packet::{Flags, Header, Packet, PacketKind, PfcFrame, Scheme, Win, blank};
use schemes::contract::{Ctl, Level, QpEnd, SwitchEffect};
use units::{Priority, Time};

/// What a switch must do because a hook asked for it.
pub(crate) enum SwitchAction<S: Scheme> {
    /// Send a packet to a host.
    ToHost(Packet<S>),
    /// Send a packet over the link of a port.
    ToLink(usize, Packet<S>),
    /// Check again what may leave a port.
    Wake(usize),
}

/// A switch that does what its thresholds and the hooks of its congestion point ask for.
pub(crate) trait SwitchCore<S: Scheme> {
    fn chassis(&mut self) -> &mut Chassis<S>;

    /// Does one of the things that were asked for.
    fn act(&mut self, window: &mut Win<'_, '_, S>, now: Time, action: SwitchAction<S>);

    /// Has a port pause or resume a priority of its peer.
    fn send_pfc(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: usize,
        priority: u8,
        frame: PfcFrame,
    );

    /// Takes a packet that leaves the switch off the count of the ingress through which it came,
    /// and resumes the peer there if that ends a pause.
    #[inline(always)]
    fn release_ingress(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        ingress: u16,
        priority: u8,
        size: u16,
    ) {
        if self.chassis().mmu.release(ingress, priority, u64::from(size)) {
            self.send_pfc(window, now, usize::from(ingress), priority, PfcFrame::Resume);
        }
    }

    /// Does all that the hooks have asked for.
    #[inline]
    fn apply_effects(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if LevelOf::<S>::EMITS && !self.chassis().effects.is_empty() {
            self.apply_all(window, now);
        }
    }

    #[inline(never)]
    fn apply_all(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        // An action may cause effects of its own (an enqueue hook that sends): they are collected
        // meanwhile and follow.
        while !self.chassis().effects.is_empty() {
            let mut effects = std::mem::take(&mut self.chassis().effects);
            for effect in effects.drain(..) {
                let action = SwitchAction::of(&self.chassis().common, effect);
                self.act(window, now, action);
            }
            if self.chassis().effects.is_empty() {
                // Its memory is used again.
                self.chassis().effects = effects;
            }
        }
    }
}

impl<S: Scheme> SwitchAction<S> {
    fn of(common: &RunContext<S>, effect: SwitchEffect<S::Ctl>) -> SwitchAction<S> {
        match effect {
            SwitchEffect::ToHost(mut address, target, ctl) => {
                if target == QpEnd::Sender {
                    address.hash = common.hash_back(&address);
                }
                let mut header = control_header(common, PacketKind::Control, &ctl);
                header.address = address;
                header.flags.set(Flags::CNP, ctl.is_cnp());
                header.flags.set(Flags::TO_SOURCE, target == QpEnd::Sender);
                SwitchAction::ToHost(Packet::with_ctl(header, ctl))
            }
            SwitchEffect::ToLink(port, ctl) => {
                let header = control_header(common, PacketKind::LinkControl, &ctl);
                SwitchAction::ToLink(port.index(), Packet::with_ctl(header, ctl))
            }
            SwitchEffect::Wake(port) => SwitchAction::Wake(port.index()),
        }
    }
}

/// Returns the header of a control packet that the switch makes.
fn control_header<S: Scheme>(common: &RunContext<S>, kind: PacketKind, ctl: &S::Ctl) -> Header {
    let priority = ctl.priority(&common.params);
    let priority = priority.map_or(common.classes.config.control, Priority::get);
    blank(kind, Default::default(), priority, common.control_size(ctl))
}
