//! Tests of quantities, in one binary. `cargo test -p units --test it -- quantity::`
//! runs one file.

mod quantity;
