//! What leaves tell each other about paths, and how packets carry it.

use crate::routing::hash::scale_to;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// What a packet carries between leaves. The paper has 4 bits for an uplink and 3 for a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// The uplink of the source leaf that it took.
    pub(super) uplink: u16,
    /// The largest level on its way so far.
    pub(super) level: u8,
    /// An uplink of the destination leaf, and the level of its path to the source leaf.
    pub(super) feedback: Option<(u16, u8)>,
}

/// A packet without a tag has this one.
pub(super) const NO_TAG: u64 = 0;

impl Tag {
    pub(super) fn to_bits(self) -> u64 {
        let (is_feedback, (uplink, level)) =
            (self.feedback.is_some(), self.feedback.unwrap_or_default());
        1 | u64::from(is_feedback) << 1
            | u64::from(self.level) << 8
            | u64::from(level) << 16
            | u64::from(self.uplink) << 32
            | u64::from(uplink) << 48
    }

    pub(super) fn from_bits(bits: u64) -> Option<Tag> {
        let feedback = (bits & 2 != 0).then_some(((bits >> 48) as u16, (bits >> 16) as u8));
        (bits != NO_TAG).then_some(Tag {
            uplink: (bits >> 32) as u16,
            level: (bits >> 8) as u8,
            feedback,
        })
    }

    /// The tag of a packet that goes by a link of this level.
    pub(super) fn collect(tag: u64, level: u8) -> u64 {
        match Tag::from_bits(tag) {
            Some(tag) => Tag { level: tag.level.max(level), ..tag }.to_bits(),
            None => tag,
        }
    }
}

/// What a leaf has to return to another one.
#[derive(Debug)]
pub(super) struct Feedback {
    /// By uplink; `None`: no packet has come that way.
    levels: Vec<Option<Level>>,
    /// Whose turn it is.
    next: usize,
    /// How many have changed since they were returned.
    changed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    level: u8,
    changed: bool,
}

impl Feedback {
    /// Of a leaf with this many uplinks.
    pub(super) fn new(uplinks: usize) -> Feedback {
        Feedback { levels: vec![None; uplinks], next: 0, changed: 0 }
    }

    /// Notes the level of a packet that came by an uplink of the other leaf.
    pub(super) fn note(&mut self, uplink: u16, level: u8) {
        let kept = &mut self.levels[usize::from(uplink)];
        let was = kept.is_some_and(|kept| kept.changed);
        let changed = was || kept.is_none_or(|kept| kept.level != level);
        self.changed += usize::from(changed) - usize::from(was);
        *kept = Some(Level { level, changed });
    }

    /// The entry to return next: of those that have changed, if there are any, in turn.
    pub(super) fn take(&mut self) -> Option<(u16, u8)> {
        let count = self.levels.len();
        let wanted =
            |level: &Option<Level>| level.is_some_and(|level| level.changed || self.changed == 0);
        let place = (0..count).map(|step| (self.next + step) % count);
        let place = place.into_iter().find(|&place| wanted(&self.levels[place]))?;
        let level = self.levels[place].as_mut().expect("one that is known is wanted");
        self.changed -= usize::from(level.changed);
        level.changed = false;
        self.next = place + 1;
        Some((place as u16, level.level))
    }

    /// One entry of those that are known, drawn at random.
    pub(super) fn draw(&self, draws: &mut Pcg64Mcg) -> Option<(u16, u8)> {
        let known =
            || (0..).zip(&self.levels).filter_map(|(place, level)| Some((place, (*level)?)));
        let count = known().count() as u32;
        let drawn = (count > 0).then(|| scale_to(draws.next_u32(), count))?;
        known().nth(drawn).map(|(place, level)| (place, level.level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tags_hold_what_is_written(
            uplink in any::<u16>(),
            level in any::<u8>(),
            feedback in any::<Option<(u16, u8)>>(),
        ) {
            let tag = Tag { uplink, level, feedback };
            prop_assert_eq!(Tag::from_bits(tag.to_bits()), Some(tag));
        }

        /// Compares with a plain list: what has changed goes first, all else in turn, and no level
        /// that is returned is older than the last one noted.
        #[test]
        fn changed_levels_are_returned_first(
            steps in prop::collection::vec(prop::option::of((0..5_u16, 0..3_u8)), 1..200),
        ) {
            let mut feedback = Feedback::new(5);
            let mut last: [Option<(u8, bool)>; 5] = [None; 5];
            let mut next = 0;
            for step in steps {
                match step {
                    Some((uplink, level)) => {
                        feedback.note(uplink, level);
                        let before = last[uplink as usize];
                        let changed = before.is_none_or(|(old, changed)| changed || old != level);
                        last[uplink as usize] = Some((level, changed));
                    }
                    None => {
                        let any = last.iter().flatten().any(|(_, changed)| *changed);
                        let turn = (0..5).map(|step| (next + step) % 5);
                        let expected = turn.into_iter().find(|&place| {
                            last[place].is_some_and(|(_, changed)| changed || !any)
                        });
                        let taken = feedback.take();
                        let level = |place: usize| last[place].expect("it is known").0;
                        prop_assert_eq!(
                            taken,
                            expected.map(|place| (place as u16, level(place)))
                        );
                        if let Some(place) = expected {
                            last[place] = Some((level(place), false));
                            next = place + 1;
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn each_level_that_is_known_is_drawn_equally_often() {
        let mut draws = crate::stream::stream(1, "test", 0);
        let mut feedback = Feedback::new(4);
        assert_eq!(feedback.draw(&mut draws), None);
        feedback.note(1, 5);
        feedback.note(3, 9);
        let drawn: Vec<_> = (0..1000).filter_map(|_| feedback.draw(&mut draws)).collect();
        let count = |entry| drawn.iter().filter(|drawn| **drawn == entry).count();
        assert_eq!(count((1, 5)) + count((3, 9)), 1000);
        assert!(count((1, 5)).abs_diff(500) < 100);
    }

    #[test]
    fn a_tag_of_no_packet_is_none() {
        assert_eq!(Tag::from_bits(NO_TAG), None);
    }
}
