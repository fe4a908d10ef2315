//! Data packets of QPs of which more is known than go-back-N needs: which packets have arrived,
//! what entropy values they carry, and how many may be on the way.

use super::send_data::{Sent, account, build, current_message, write_header};
use crate::context::RunContext;
use crate::host::qp::{ColdSenderState, Sender, StreamMessage};
use crate::host::scoreboard::LostPacket;
use crate::host::spray::{HostSpray, Next, hash_with};
use crate::packet::{Header, Scheme};
use model::PortUse;
use units::Time;

/// Fills the header of a QP's next data packet, a lost one first, and counts the packet as sent.
/// Returns its message.
#[inline(never)]
pub(super) fn fill<S: Scheme>(
    common: &RunContext<S>,
    cold: &mut ColdSenderState,
    spray: &mut HostSpray,
    (sender, slot): (&mut Sender<S>, u32),
    now: Time,
    header: &mut Header,
) -> (StreamMessage, Sent) {
    let recovery = &common.recovery;
    let keeps = recovery.keeps_out_of_order;
    let lost = (keeps && sender.has_lost).then(|| {
        let board = cold.board(slot);
        let packet = board.resend(now, recovery.loss_test);
        sender.follow(board);
        packet
    });
    let (message, sent) = match &lost {
        Some(packet) => {
            let message = message_at(common, cold.messages(sender, slot).oldest, packet);
            (message, build_again(common, sender, message, packet, now, header))
        }
        None => {
            let message = current_message(common, cold, sender, slot);
            build(common, sender, message, now, header);
            let sent_up_to = cold.sent_up_to(sender, slot);
            (message, account(sender, u64::from(header.payload), sent_up_to))
        }
    };
    let mut entropy = 0;
    if spray.is_on() {
        let (hash, sequence) = (sender.hash, header.sequence);
        let at_once = common.host.ports == PortUse::Spray;
        entropy = spray.entropy(&Next { now, slot, hash, sequence, at_once });
        header.address.hash = hash_with(hash, entropy);
    }
    let mut packets = 0;
    if keeps {
        let board = cold.board(slot);
        let (sequence, payload) = (header.sequence, header.payload);
        let number = match &lost {
            Some(packet) => packet.number,
            None => board.send(now, sequence, payload, recovery.loss_test),
        };
        board.set_entropy(number, entropy);
        packets = board.span();
    }
    sender.limit_in_flight(recovery.max_in_flight, packets);
    (message, sent)
}

/// The message that a packet is of. `oldest`: the first message of its QP that is not acknowledged.
fn message_at<S: Scheme>(
    common: &RunContext<S>,
    oldest: StreamMessage,
    packet: &LostPacket,
) -> StreamMessage {
    let mut message = oldest;
    while message.end <= packet.sequence {
        let flow = common.flows[message.flow as usize].next_on_qp;
        message = StreamMessage::from(message.end, flow, common.flows[flow as usize].size);
    }
    message
}

/// Fills the header of a data packet that was sent before, and counts it.
fn build_again<S: Scheme>(
    common: &RunContext<S>,
    sender: &mut Sender<S>,
    message: StreamMessage,
    packet: &LostPacket,
    now: Time,
    header: &mut Header,
) -> Sent {
    let LostPacket { sequence, payload, .. } = *packet;
    let begins = sequence == message.end - common.flows[message.flow as usize].size;
    write_header(common, sender.priority, message, (sequence, payload, begins), now, header);
    sender.since_ack_request += 1;
    sender.bytes_since += u32::from(payload);
    Sent { resent: payload.into(), is_new: false, by_timeout: packet.by_timeout }
}
