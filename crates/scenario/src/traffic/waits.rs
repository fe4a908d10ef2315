//! Messages that wait until their sender has received all messages of a tag.

use super::{MAX_MESSAGES, Sink, check_time};
use crate::error::{Result, ScenarioError, known_words};
use crate::spec::Quantity;
use model::{Awaited, Message};
use std::collections::BTreeMap;
use units::{NodeId, Time, cancel};

/// The keys `after` and `after_delay`.
pub(super) struct After {
    tag: String,
    delay: Time,
    /// The key that names the tag.
    key: String,
}

impl After {
    /// Checks the two keys; `key` makes the whole of each from its name.
    pub(super) fn new(
        tag: Option<&str>,
        delay: Option<Quantity<Time>>,
        key: impl Fn(&str) -> String,
    ) -> Result<Option<After>> {
        let Some(tag) = tag else {
            return match delay {
                None => Ok(None),
                Some(_) => {
                    Err(ScenarioError::new(key("after_delay"), "has no effect without `after`")
                        .hint("`after` names the tag of the messages to wait for"))
                }
            };
        };
        let delay = check_time(delay.unwrap_or_default(), || key("after_delay"))?;
        Ok(Some(After { tag: tag.to_owned(), delay, key: key("after") }))
    }
}

/// What is known of the tags that messages may wait for.
#[derive(Default)]
pub(super) struct Waits {
    by_tag: Vec<Tagged>,
    /// How many messages were looked at. None are until one waits.
    seen: usize,
}

/// The messages of a tag.
#[derive(Default)]
struct Tagged {
    count: usize,
    /// Those that are waited for, by receiver.
    awaited: BTreeMap<NodeId, Vec<u32>>,
    /// The key that first named the tag, and how many messages had it then.
    named: Option<(String, usize)>,
    /// The joins of messages that wait for it, by host and delay.
    joins: BTreeMap<(NodeId, Time), u32>,
}

impl Waits {
    /// Looks at the messages that came since the last time.
    fn see(&mut self, messages: &[Message]) {
        for (index, message) in (self.seen as u32..).zip(&messages[self.seen..]) {
            let tag = usize::from(message.tag);
            if self.by_tag.len() <= tag {
                self.by_tag.resize_with(tag + 1, Tagged::default);
            }
            let tagged = &mut self.by_tag[tag];
            tagged.count += 1;
            if tagged.named.is_none() {
                tagged.awaited.entry(message.dst).or_default().push(index);
            }
        }
        self.seen = messages.len();
    }

    /// Forgets a tag that no message has. Those behind it move up.
    pub(super) fn take_back(&mut self, tag: u16) {
        if usize::from(tag) < self.by_tag.len() {
            self.by_tag.remove(usize::from(tag));
        }
    }
}

impl Sink<'_> {
    /// Has `message` wait until its sender has all messages of a tag, of those so far.
    pub(super) fn waiting(&mut self, after: Option<&After>, message: Message) -> Result<Message> {
        let Some(after) = after else { return Ok(message) };
        self.waits.see(&self.messages);
        let number = self.tag_numbers.get(&after.tag).map(|&number| usize::from(number));
        let found = number.and_then(|number| self.waits.by_tag.get_mut(number));
        let Some(tagged) = found.filter(|tagged| tagged.count > 0) else {
            let why = format!("no message above has the tag `{}`", after.tag);
            return Err(ScenarioError::new(&after.key, why).hint(self.known_tags(&after.tag)));
        };
        tagged.named.get_or_insert_with(|| (after.key.clone(), tagged.count));
        let place = (message.src, after.delay);
        if let Some(&join) = tagged.joins.get(&place) {
            return Ok(Message { after: Some(join), ..message });
        }
        let Some(awaited) = tagged.awaited.get(&message.src) else {
            let (name, tag) = (self.network.name(message.src), &after.tag);
            let why = format!("{name} waits for messages with the tag `{tag}`, but receives none");
            return Err(ScenarioError::new(&after.key, why).hint("only who receives can wait"));
        };
        if (self.joins.awaited.len() + awaited.len()) as u64 > MAX_MESSAGES {
            let why = format!("all messages together wait for more than {MAX_MESSAGES} others");
            let hint = "wait for a tag of fewer messages";
            return Err(ScenarioError::new(&after.key, why).hint(hint));
        }
        let join = self.joins.add(after.delay, awaited.iter().copied());
        tagged.joins.insert(place, join);
        Ok(Message { after: Some(join), ..message })
    }

    /// What to do about a tag that no message has.
    fn known_tags(&self, tag: &str) -> String {
        let names = self.tags.iter().zip(&self.waits.by_tag);
        let used = names.filter(|(_, tagged)| tagged.count > 0);
        let names: Vec<&str> = used.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            return "list the messages to wait for before those that wait".to_owned();
        }
        known_words(tag, names)
    }

    /// Refuses messages of a tag that others, further above, wait for.
    pub(super) fn check_waits(&mut self) -> Result<()> {
        if self.waits.seen > 0 {
            self.waits.see(&self.messages);
        }
        for (tag, tagged) in self.tags.iter().zip(&self.waits.by_tag) {
            if let Some((key, count)) = &tagged.named
                && tagged.count > *count
            {
                let why = format!("waits for the tag `{tag}`, which messages from here on have");
                return Err(
                    ScenarioError::new(key, why).hint("list them above, or give them another tag")
                );
            }
        }
        Ok(())
    }

    /// Refuses messages that wait for themselves. What is waited for is listed above, but a QP
    /// sends in the order of starts.
    pub(super) fn check_order(&self) -> Result<()> {
        if self.joins.delays.is_empty() || self.qps.is_empty() {
            return Ok(());
        }
        let Some((before, behind)) = Needs::new(self).circle() else { return Ok(()) };
        let message = |index: u32| &self.messages[index as usize];
        let qp = self.qps.iter().find(|(_, known)| known.0 == message(behind).qp);
        let name = qp.map_or("", |(name, _)| name);
        let why = format!(
            "the QP `{name}` sends in the order of `start`: its message at {} comes before that at \
             {}, and waits for it",
            message(before).start,
            message(behind).start
        );
        let hint = "give what waits a later `start` or a QP of its own";
        Err(ScenarioError::new("traffic", why).hint(hint))
    }
}

/// What each message needs before it can be sent. Messages and joins are numbered together,
/// messages first, in the order of making.
struct Needs<'a> {
    messages: &'a [Message],
    /// By join.
    awaited: &'a [Awaited],
    joins: usize,
    /// The message before each message on its QP.
    before: Vec<Option<u32>>,
}

impl Needs<'_> {
    fn new<'a>(sink: &'a Sink<'_>) -> Needs<'a> {
        let mut last = vec![None; sink.next_qp as usize];
        let mut before = vec![None; sink.messages.len()];
        for index in sink.order() {
            let qp = sink.messages[index as usize].qp;
            before[index as usize] = last[qp as usize].replace(index);
        }
        let joins = sink.joins.delays.len();
        Needs { messages: &sink.messages, awaited: &sink.joins.awaited, joins, before }
    }

    /// What a message or a join needs, one after the other.
    fn of(&self, number: u32, place: usize) -> Option<u32> {
        let messages = self.messages.len() as u32;
        let Some(message) = self.messages.get(number as usize) else {
            let join = number - messages;
            let first = self.awaited.partition_point(|one| one.join < join);
            let found = self.awaited.get(first + place).filter(|one| one.join == join);
            return found.map(|one| one.message);
        };
        let before = self.before[number as usize];
        before.into_iter().chain(message.after.map(|join| messages + join)).nth(place)
    }

    /// Two messages of a QP that are on a circle of needs: the first and the second by start, of
    /// which the second was made first.
    fn circle(&self) -> Option<(u32, u32)> {
        let count = self.messages.len() + self.joins;
        let mut state = vec![State::New; count];
        // The way to where the search is, with how many needs of each were looked at.
        let mut way: Vec<(u32, usize)> = Vec::new();
        for first in 0..count as u32 {
            let mut next = Some(first).filter(|&one| state[one as usize] == State::New);
            loop {
                cancel::check();
                if let Some(number) = next.take() {
                    state[number as usize] = State::OnWay;
                    way.push((number, 0));
                }
                let Some((number, place)) = way.last_mut() else { break };
                match self.of(*number, *place) {
                    None => {
                        state[*number as usize] = State::Done;
                        way.pop();
                    }
                    Some(needed) => {
                        *place += 1;
                        match state[needed as usize] {
                            State::New => next = Some(needed),
                            State::OnWay => return self.turn(&way, needed),
                            State::Done => {}
                        }
                    }
                }
            }
        }
        None
    }

    /// Where the circle that begins at `first` on `way` goes from a message to one that was made
    /// later. Joins are of messages that were made before those that wait.
    fn turn(&self, way: &[(u32, usize)], first: u32) -> Option<(u32, u32)> {
        let circle = way.iter().map(|one| one.0).skip_while(|&one| one != first);
        let next = circle.clone().skip(1).chain([first]);
        circle
            .zip(next)
            .find(|&(behind, before)| {
                before > behind && self.before.get(behind as usize) == Some(&Some(before))
            })
            .map(|(behind, before)| (before, behind))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnWay,
    Done,
}
