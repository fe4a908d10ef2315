//! Messages that wait until their sender has received all messages of a tag.

use super::{MAX_MESSAGES, Sink, check_time};
use crate::error::{Result, ScenarioError, known_words};
use crate::spec::Quantity;
use model::Message;
use std::collections::BTreeMap;
use units::{NodeId, Time};

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
                    Err(ScenarioError::new(key("after_delay"), "does nothing without `after`")
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
}
