//! Tests of sizes and encodings, in one binary. `cargo test -p wire --test it -- headers::`
//! runs one file.

mod headers;
mod pcapng;
mod sizes;
