use std::fmt;

/// Why bytes are not the header that was asked for, or do not fit where they should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer bytes than the header has.
    Short {
        /// What the header needs.
        needed: usize,
        /// What there was.
        got: usize,
    },
    /// A field that must have one value has another.
    Field(&'static str),
    /// The IPv4 header checksum is wrong.
    Checksum,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Short { needed, got } => write!(f, "{needed} bytes needed, {got} given"),
            DecodeError::Field(name) => write!(f, "the field `{name}` has a value it cannot have"),
            DecodeError::Checksum => f.write_str("wrong header checksum"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The first `N` bytes of `bytes`.
#[inline]
pub(crate) fn head<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], DecodeError> {
    bytes.first_chunk().ok_or(DecodeError::Short { needed: N, got: bytes.len() })
}

/// The first `N` bytes of `bytes`, to write to.
#[inline]
pub(crate) fn head_mut<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], DecodeError> {
    let got = bytes.len();
    bytes.first_chunk_mut().ok_or(DecodeError::Short { needed: N, got })
}

/// A 24-bit number, highest byte first.
#[inline]
pub(crate) fn u24(high: u8, middle: u8, low: u8) -> u32 {
    u32::from_be_bytes([0, high, middle, low])
}
