//! Columns of tables, as Arrow has them.

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, LargeStringArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use std::sync::Arc;

/// A column: its name, its values, and whether some of them may be null.
pub(crate) type Column<'a> = (&'a str, ArrayRef, bool);

/// Values that Arrow has an array for.
pub(crate) trait Value: Clone {
    /// That array.
    type Array: Array + From<Vec<Self>> + 'static;
}

macro_rules! values {
    ($($type:ty: $array:ty,)*) => {
        $(impl Value for $type {
            type Array = $array;
        })*
    };
}

values! {
    u8: UInt8Array,
    u16: UInt16Array,
    u32: UInt32Array,
    u64: UInt64Array,
    f64: Float64Array,
    bool: BooleanArray,
}

/// Returns a column of values as they are.
pub(crate) fn values<'a, T: Value>(name: &'a str, values: &[T]) -> Column<'a> {
    required(name, T::Array::from(values.to_vec()))
}

/// Returns a column of names, one for each id. The offsets are 64 bits wide, so that a long series
/// of long names cannot overflow them.
///
/// # Panics
/// If an id has no name.
pub(crate) fn names<'a, T: Copy + Into<u64>>(
    name: &'a str,
    ids: &[T],
    names: &[impl AsRef<str>],
) -> Column<'a> {
    let texts = ids.iter().map(|&id| names[id.into() as usize].as_ref());
    required(name, LargeStringArray::from_iter_values(texts))
}

/// Returns a column without nulls.
pub(crate) fn required(name: &str, array: impl Array + 'static) -> Column<'_> {
    (name, Arc::new(array), false)
}

/// Returns a column that may have nulls.
pub(crate) fn nullable(name: &str, array: impl Array + 'static) -> Column<'_> {
    (name, Arc::new(array), true)
}
