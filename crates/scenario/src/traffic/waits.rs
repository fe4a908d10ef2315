//! Messages that wait until their sender has all messages of a tag.

use super::{MAX_MESSAGES, Sink, check_time};
use crate::error::{Result, ScenarioError, known_words};
use crate::spec::Quantity;
use model::Message;
use std::collections::BTreeMap;
use units::{NodeId, Time};

/// The keys `after` and `after_delay`.
#[derive(Clone)]
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

/// What is known of the tags that messages wait for.
#[derive(Default)]
pub(super) struct Waits {
    by_tag: BTreeMap<String, Tagged>,
    /// The joins by tag, host and delay.
    joins: BTreeMap<(String, NodeId, Time), u32>,
}

/// The messages of a tag.
struct Tagged {
    by_receiver: BTreeMap<NodeId, Vec<u32>>,
    count: usize,
    /// The key that first named the tag.
    key: String,
}

impl Tagged {
    fn find(tag: u16, messages: &[Message], key: &str) -> Tagged {
        let mut by_receiver: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        let mut count = 0;
        for (index, message) in (0..).zip(messages).filter(|(_, message)| message.tag == tag) {
            by_receiver.entry(message.dst).or_default().push(index);
            count += 1;
        }
        Tagged { by_receiver, count, key: key.to_owned() }
    }
}

impl Sink<'_> {
    /// Has `message` wait until its sender has all messages of a tag, of those so far.
    pub(super) fn waiting(&mut self, after: Option<&After>, message: Message) -> Result<Message> {
        let Some(After { tag, delay, key }) = after else { return Ok(message) };
        let place = (tag.clone(), message.src, *delay);
        let join = match self.waits.joins.get(&place) {
            Some(join) => *join,
            None => {
                let join = self.join(tag, *delay, message.src, key)?;
                self.waits.joins.insert(place, join);
                join
            }
        };
        Ok(Message { after: Some(join), ..message })
    }

    fn join(&mut self, tag: &str, delay: Time, host: NodeId, key: &str) -> Result<u32> {
        if !self.waits.by_tag.contains_key(tag) {
            let number = self.tags.iter().position(|known| known == tag);
            let found = number.map(|number| Tagged::find(number as u16, &self.messages, key));
            let Some(found) = found.filter(|found| found.count > 0) else {
                let why = format!("no message above has the tag `{tag}`");
                return Err(ScenarioError::new(key, why).hint(self.known_tags(tag)));
            };
            self.waits.by_tag.insert(tag.to_owned(), found);
        }
        let Some(awaited) = self.waits.by_tag[tag].by_receiver.get(&host) else {
            let name = self.network.name(host);
            let why = format!("{name} waits for messages with the tag `{tag}`, but receives none");
            return Err(ScenarioError::new(key, why).hint("only who receives can wait"));
        };
        if (self.joins.awaited.len() + awaited.len()) as u64 > MAX_MESSAGES {
            let why = format!("all messages together wait for more than {MAX_MESSAGES} others");
            return Err(ScenarioError::new(key, why).hint("wait for a tag of fewer messages"));
        }
        Ok(self.joins.add(delay, awaited.iter().copied()))
    }

    /// What to do about a tag that no message has.
    fn known_tags(&self, tag: &str) -> String {
        let mut used = vec![false; self.tags.len()];
        self.messages.iter().for_each(|message| used[usize::from(message.tag)] = true);
        let names = self.tags.iter().zip(used).filter(|(_, used)| *used);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            return "list the messages to wait for before those that wait".to_owned();
        }
        known_words(tag, names)
    }

    /// Refuses messages of a tag that others, further above, wait for.
    pub(super) fn check_waits(&self) -> Result<()> {
        for (tag, known) in &self.waits.by_tag {
            let number = self.tags.iter().position(|name| name == tag);
            let of_tag = self.messages.iter().filter(|one| Some(usize::from(one.tag)) == number);
            if of_tag.count() > known.count {
                let why = format!("waits for the tag `{tag}`, which messages from here on have");
                return Err(ScenarioError::new(&known.key, why)
                    .hint("list them above, or give them another tag"));
            }
        }
        Ok(())
    }
}
