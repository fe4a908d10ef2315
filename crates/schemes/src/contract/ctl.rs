//! Control packets of a scheme.

/// The control packets of a scheme that has none: no value exists.
#[derive(Clone, Copy, Debug)]
pub enum NoCtl {}
