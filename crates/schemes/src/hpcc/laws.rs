//! What QPs share of a law.

use super::{rate, window};
use std::sync::Arc;

/// The laws of a host's QPs. Most go by the same, and what is a QP's own is half of all.
#[derive(Debug, Default)]
pub struct Laws {
    /// Of the paper's form.
    pub paper: Shared<window::Law>,
    /// Of the HPCC simulator's.
    pub ns3: Shared<rate::Law>,
}

/// Laws that several QPs go by.
#[derive(Clone, Debug)]
pub struct Shared<L>(Vec<Arc<L>>);

impl<L> Default for Shared<L> {
    fn default() -> Shared<L> {
        Shared(Vec::new())
    }
}

impl<L: PartialEq> Shared<L> {
    /// Not more are kept: where each path has its own T, there may be as many laws as QPs.
    const MOST: usize = 8;

    /// `law`, shared with those who go by the same.
    pub fn share(&mut self, law: L) -> Arc<L> {
        if let Some(same) = self.0.iter().find(|known| ***known == law) {
            return Arc::clone(same);
        }
        let law = Arc::new(law);
        if self.0.len() < Self::MOST {
            self.0.push(Arc::clone(&law));
        }
        law
    }
}
