//! The fabric compiled for a fourth of the schemes (3 of 4); see [`instantiations`].

use instantiations::{Part, part};

/// What is compiled here. A static, so that no other crate compiles it again.
pub static PART: Part = schemes::part_3!(part);
