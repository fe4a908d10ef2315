//! Text columns: ids become the names people gave.

use arrow_array::{ArrayRef, LargeStringArray};
use std::sync::Arc;

/// A column of names, one for each id. The offsets are 64 bits wide, so that a long series of long
/// names cannot overflow them.
///
/// # Panics
/// If an id has no name.
pub(crate) fn names_of(ids: impl Iterator<Item = usize>, names: &[String]) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter_values(ids.map(|id| names[id].as_str())))
}
