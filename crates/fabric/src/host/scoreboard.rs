//! What a sending end knows of its packets that are not acknowledged in order: which of them have
//! arrived, which are lost, and which are on the way. Only QPs whose receivers keep data that is
//! out of order have one.
//!
//! A packet is known by its number in the stream of the QP. An ACK says up to which byte everything
//! has arrived, and names the packet that it answers.

use crate::context::recovery::LossTest;
use std::collections::VecDeque;
use units::Time;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It was sent, and nothing was heard of it.
    OnTheWay,
    /// It has arrived ahead of others.
    Kept,
    /// It is lost, and waits to be sent again.
    Lost,
}

/// A packet that is not acknowledged in order.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    /// Its first byte in the stream.
    sequence: u64,
    /// When it was last sent.
    sent_at: Time,
    payload: u16,
    /// The entropy value that it carried.
    entropy: u16,
    state: State,
    /// It was sent more than once.
    is_resent: bool,
    /// A timeout says that it is lost.
    by_timeout: bool,
}

/// Which packets are taken for lost when all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Losing {
    /// Those that are not known to have arrived.
    Unknown,
    /// Also those that have arrived ahead of others, as in go-back-N.
    Kept,
}

/// What tells that a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossSign {
    /// Later packets have arrived.
    Gap,
    /// Nothing was heard for the timeout.
    Timeout,
}

/// A packet that is to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostPacket {
    pub(crate) sequence: u64,
    pub(crate) payload: u16,
    pub(crate) number: u32,
    /// A timeout says that it is lost, and not the arrival of later ones.
    pub(crate) by_timeout: bool,
}

/// What an ACK says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Payload bytes that are now known to have arrived, in order or not.
    pub(crate) newly_acked: u64,
    /// Payload bytes that are now taken for lost.
    pub(crate) newly_lost: u64,
    /// The entropy value of the packet that it answers, if that packet was on the way.
    pub(crate) entropy: Option<u16>,
}

/// The packets of a QP from the first on that is not acknowledged in order.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// By number.
    packets: VecDeque<SentPacket>,
    /// The number of the first of them.
    first: u32,
    /// All that have arrived have numbers below this.
    arrived_up_to: u32,
    /// [`LossTest::Distance`] was applied to all numbers below this.
    judged_up_to: u32,
    /// All that are lost have numbers from this on.
    lost_from: u32,
    kept: u32,
    lost: u32,
    /// Bytes that are kept or lost: they are not on the way.
    settled: u32,
    /// Sending times with the packets' numbers, in order, for [`LossTest::After`].
    transmissions: VecDeque<(Time, u32)>,
    /// When the packet left that left last of those known to have arrived.
    newest_arrived: Time,
    /// [`LossTest::AllAtGap`]: the sender recovers until all before this number has arrived.
    recovers_up_to: u32,
}

impl Scoreboard {
    /// Forgets everything, for another QP.
    pub(crate) fn reset(&mut self) {
        self.packets.clear();
        self.transmissions.clear();
        let Scoreboard { packets, transmissions, .. } = std::mem::take(self);
        *self = Scoreboard { packets, transmissions, ..Scoreboard::default() };
    }

    /// Payload bytes that are sent and not acknowledged in order, but not on the way either.
    pub(crate) fn settled(&self) -> u32 {
        self.settled
    }

    /// Whether a packet waits to be sent again.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// How many packets were sent and are not known to have arrived.
    pub(crate) fn outstanding(&self) -> u32 {
        self.packets.len() as u32 - self.kept
    }

    /// How many packets there are from the first that is missing at the receiver to the last one
    /// that was sent.
    pub(crate) fn span(&self) -> u32 {
        self.packets.len() as u32
    }

    /// Adds a new packet, which is being sent. Returns its number.
    pub(crate) fn send(&mut self, now: Time, sequence: u64, payload: u16, test: LossTest) -> u32 {
        let number = self.first + self.packets.len() as u32;
        self.packets.push_back(SentPacket {
            sequence,
            sent_at: now,
            payload,
            entropy: 0,
            state: State::OnTheWay,
            is_resent: false,
            by_timeout: false,
        });
        self.note_transmission(now, number, test);
        number
    }

    /// Takes the first packet that is lost, to send it again.
    ///
    /// # Panics
    /// If none is lost.
    pub(crate) fn resend(&mut self, now: Time, test: LossTest) -> LostPacket {
        let begin = (self.lost_from - self.first) as usize;
        let place = (begin..self.packets.len())
            .find(|&place| self.packets[place].state == State::Lost)
            .expect("a packet is lost");
        let packet = &mut self.packets[place];
        (packet.state, packet.sent_at, packet.is_resent) = (State::OnTheWay, now, true);
        let SentPacket { sequence, payload, by_timeout, .. } = *packet;
        let number = self.first + place as u32;
        self.lost_from = number + 1;
        self.lost -= 1;
        self.settled -= u32::from(payload);
        self.note_transmission(now, number, test);
        LostPacket { sequence, payload, number, by_timeout }
    }

    /// Notes the entropy value with which a packet is sent.
    pub(crate) fn set_entropy(&mut self, number: u32, entropy: u16) {
        self.packets[(number - self.first) as usize].entropy = entropy;
    }

    fn note_transmission(&mut self, now: Time, number: u32, test: LossTest) {
        if matches!(test, LossTest::After(_)) {
            self.transmissions.push_back((now, number));
        }
    }

    /// Handles an ACK: everything before byte `expected` has arrived, and the packet whose number
    /// ends in the 16 bits of `answered`. That one was sent at `sent_at`.
    pub(crate) fn acknowledge(&mut self, expected: u64, answered: u16, sent_at: Time) -> Progress {
        let mut progress = Progress::default();
        let distance = answered.wrapping_sub(self.first as u16) as i16;
        let answered = u32::try_from(distance).ok().map(|distance| self.first + distance);
        if let Some(packet) = answered.and_then(|number| self.get(number)) {
            progress.entropy = (packet.sent_at == sent_at).then_some(packet.entropy);
        }
        while let Some(packet) = self.packets.front().filter(|packet| packet.sequence < expected) {
            let payload = u32::from(packet.payload);
            match packet.state {
                State::OnTheWay => progress.newly_acked += u64::from(payload),
                State::Kept => (self.kept, self.settled) = (self.kept - 1, self.settled - payload),
                State::Lost => {
                    progress.newly_acked += u64::from(payload);
                    (self.lost, self.settled) = (self.lost - 1, self.settled - payload);
                }
            }
            self.packets.pop_front();
            self.first += 1;
        }
        if let Some(number) = answered
            && number >= self.first
            && let Some(packet) = self.packets.get_mut((number - self.first) as usize)
            && packet.state != State::Kept
        {
            let payload = u32::from(packet.payload);
            if packet.state == State::Lost {
                self.lost -= 1;
            } else {
                self.settled += payload;
            }
            packet.state = State::Kept;
            self.kept += 1;
            self.arrived_up_to = self.arrived_up_to.max(number + 1);
            progress.newly_acked += u64::from(payload);
        }
        self.arrived_up_to = self.arrived_up_to.max(self.first);
        self.judged_up_to = self.judged_up_to.max(self.first);
        self.lost_from = self.lost_from.max(self.first);
        self.newest_arrived = self.newest_arrived.max(sent_at);
        progress
    }

    fn get(&self, number: u32) -> Option<&SentPacket> {
        self.packets.get(number.checked_sub(self.first)? as usize)
    }

    /// Finds packets that are lost, after an ACK. Returns their payload bytes, and calls `each`
    /// with the entropy value of each.
    pub(crate) fn find_lost(&mut self, test: LossTest, mut each: impl FnMut(u16)) -> u64 {
        match test {
            LossTest::Distance(packets) => {
                let end = (self.arrived_up_to).saturating_sub(packets);
                let judged = self.judged_up_to..end.max(self.judged_up_to);
                self.judged_up_to = judged.end;
                // A packet that was sent again has left later than some that have arrived: only a
                // timeout tells that it is lost, too.
                judged.map(|number| self.lose(number, |packet| !packet.is_resent, &mut each)).sum()
            }
            LossTest::After(time) => {
                let mut bytes = 0;
                while let Some(&(sent_at, number)) = self.transmissions.front() {
                    if sent_at.saturating_add(time) > self.newest_arrived {
                        break;
                    }
                    self.transmissions.pop_front();
                    if number >= self.first {
                        bytes += self.lose(number, |packet| packet.sent_at == sent_at, &mut each);
                    }
                }
                bytes
            }
            LossTest::AllAtGap if self.kept == 0 => {
                self.recovers_up_to = self.first;
                0
            }
            LossTest::AllAtGap if self.first < self.recovers_up_to => 0,
            LossTest::AllAtGap => {
                self.recovers_up_to = self.next_to_send();
                let settled = self.settled;
                self.lose_all(Losing::Unknown, LossSign::Gap, each);
                u64::from(self.settled - settled)
            }
            LossTest::Never => 0,
        }
    }

    /// Returns the number of the packet that is sent next.
    fn next_to_send(&self) -> u32 {
        let is_lost = |packet: &SentPacket| packet.state == State::Lost;
        let place = self.packets.iter().position(is_lost).unwrap_or(self.packets.len());
        self.first + place as u32
    }

    /// Takes a packet for lost if it is on the way and `condition` holds. Returns its payload
    /// bytes.
    fn lose(
        &mut self,
        number: u32,
        condition: impl Fn(&SentPacket) -> bool,
        each: &mut impl FnMut(u16),
    ) -> u64 {
        let packet = &mut self.packets[(number - self.first) as usize];
        if packet.state != State::OnTheWay || !condition(packet) {
            return 0;
        }
        (packet.state, packet.by_timeout) = (State::Lost, false);
        each(packet.entropy);
        self.settled += u32::from(packet.payload);
        self.lost += 1;
        self.lost_from = self.lost_from.min(number);
        u64::from(packet.payload)
    }

    /// Takes all packets for lost. Calls `each` with the entropy value of each that was on the way.
    pub(crate) fn lose_all(&mut self, losing: Losing, sign: LossSign, mut each: impl FnMut(u16)) {
        let also_kept = losing == Losing::Kept;
        for packet in &mut self.packets {
            if packet.state == State::OnTheWay {
                each(packet.entropy);
                self.settled += u32::from(packet.payload);
            }
            if packet.state == State::OnTheWay || (also_kept && packet.state == State::Kept) {
                packet.state = State::Lost;
                packet.by_timeout = sign == LossSign::Timeout;
            }
        }
        self.lost_from = self.first;
        if also_kept {
            self.kept = 0;
        }
        self.lost = self.packets.len() as u32 - self.kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const PAYLOAD: u16 = 1000;

    fn ns(time: u64) -> Time {
        Time::from_ns(time)
    }

    /// A board with packets 0 to `count`, sent at 0 ns, 1 ns, and so on.
    fn sent(count: u64, test: LossTest) -> Scoreboard {
        let mut board = Scoreboard::default();
        for number in 0..count {
            board.send(ns(number), number * u64::from(PAYLOAD), PAYLOAD, test);
        }
        board
    }

    #[test]
    fn a_gap_makes_exactly_the_missing_packets_lost() {
        let test = LossTest::Distance(1);
        let mut board = sent(6, test);
        let progress = board.acknowledge(1000, 4, ns(4));
        assert_eq!(progress.newly_acked, 2000);
        assert_eq!(board.find_lost(test, |_| ()), 3000);
        assert_eq!((board.settled(), board.outstanding()), (4000, 4));
        let resent: Vec<u32> = (0..3).map(|_| board.resend(ns(10), test).number).collect();
        assert_eq!(resent, [1, 2, 3]);
        assert!(!board.has_lost());
        // What was sent again is not lost a second time by the same gap.
        assert_eq!(board.find_lost(test, |_| ()), 0);
    }

    #[test]
    fn a_distance_tolerates_reordering_up_to_it() {
        let test = LossTest::Distance(3);
        let mut board = sent(6, test);
        board.acknowledge(0, 2, ns(2));
        assert_eq!(board.find_lost(test, |_| ()), 0);
        board.acknowledge(0, 3, ns(3));
        assert_eq!(board.find_lost(test, |_| ()), 1000);
    }

    #[test]
    fn a_time_tells_also_that_a_second_copy_is_lost() {
        let test = LossTest::After(ns(3));
        let mut board = sent(6, test);
        board.acknowledge(0, 3, ns(3));
        assert_eq!(board.find_lost(test, |_| ()), 1000);
        assert_eq!(board.resend(ns(10), test).number, 0);
        board.acknowledge(0, 5, ns(5));
        assert_eq!(board.find_lost(test, |_| ()), 2000, "packets 1 and 2");
        board.send(ns(13), 6000, PAYLOAD, test);
        board.acknowledge(0, 6, ns(13));
        assert_eq!(
            board.find_lost(test, |_| ()),
            2000,
            "packet 4, and the second copy of packet 0"
        );
    }

    #[test]
    fn a_gap_may_have_all_sent_again_that_has_not_arrived() {
        let test = LossTest::AllAtGap;
        let mut board = sent(6, test);
        board.acknowledge(0, 2, ns(2));
        assert_eq!(board.find_lost(test, |_| ()), 5000, "all but packet 2");
        let again: Vec<u32> = (0..2).map(|_| board.resend(ns(10), test).number).collect();
        assert_eq!(again, [0, 1]);
        // It recovers from this gap.
        board.acknowledge(1000, 4, ns(4));
        assert_eq!(board.find_lost(test, |_| ()), 0);
        // Without a gap that is over, and what is left is sent again all the same.
        board.acknowledge(5000, 1, ns(10));
        assert_eq!((board.find_lost(test, |_| ()), board.has_lost()), (0, true));
        assert_eq!(board.resend(ns(11), test).number, 5);
        // The next gap has it go back again.
        board.send(ns(12), 6000, PAYLOAD, test);
        board.acknowledge(5000, 6, ns(12));
        assert_eq!(board.find_lost(test, |_| ()), 1000, "packet 5");
    }

    #[test]
    fn going_back_sends_everything_again_and_a_timeout_only_what_is_missing() {
        for (losing, expected) in
            [(Losing::Kept, vec![0, 1, 2, 3]), (Losing::Unknown, vec![0, 1, 3])]
        {
            let mut board = sent(4, LossTest::Never);
            board.acknowledge(0, 2, ns(2));
            board.lose_all(losing, LossSign::Timeout, |_| ());
            let mut again = Vec::new();
            while board.has_lost() {
                again.push(board.resend(ns(9), LossTest::Never).number);
            }
            assert_eq!(again, expected);
        }
    }

    proptest! {
        /// Whatever the order in which packets arrive: each byte is acknowledged once, counters
        /// fit the states, and nothing is left at the end.
        #[test]
        fn each_byte_is_acknowledged_once(
            order in Just((0u32..40).collect::<Vec<u32>>()).prop_shuffle(),
            dropped in prop::collection::btree_set(0u32..40, 0..10),
            distance in 1u32..8,
        ) {
            let test = LossTest::Distance(distance);
            let mut board = sent(40, test);
            let mut arrived = BTreeSet::new();
            let mut acked = 0;
            let mut arrive = |board: &mut Scoreboard, number: u32, sent_at: Time| {
                arrived.insert(number);
                let expected = (0..).find(|number| !arrived.contains(number)).unwrap();
                let answered = number as u16;
                let progress =
                    board.acknowledge(u64::from(expected) * u64::from(PAYLOAD), answered, sent_at);
                board.find_lost(test, |_| ());
                let states = board.packets.iter();
                let settled = states.filter(|packet| packet.state != State::OnTheWay).count();
                assert_eq!(board.settled(), settled as u32 * u32::from(PAYLOAD));
                progress.newly_acked
            };
            for &number in order.iter().filter(|number| !dropped.contains(number)) {
                acked += arrive(&mut board, number, ns(u64::from(number)));
            }
            while board.outstanding() > 0 {
                board.lose_all(Losing::Unknown, LossSign::Timeout, |_| ());
                let packet = board.resend(ns(100), test);
                acked += arrive(&mut board, packet.number, ns(100));
            }
            prop_assert_eq!(acked, 40 * u64::from(PAYLOAD));
            prop_assert_eq!((board.settled(), board.packets.len()), (0, 0));
        }
    }
}
