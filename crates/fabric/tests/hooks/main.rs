//! The hooks of the contract, each with an effect that can be worked out by hand. All tests share
//! one toy scheme, [`toy::Toy`].
//!
//! Unless a test says otherwise, links are 100 Gb/s (80 ps a byte) and 1 us long, payloads 1000 B,
//! and hosts 0 and 1 are joined by a line of switches.

#[path = "../it/common/mod.rs"]
mod common;

mod input_queues;
mod levels;
mod receiver;
mod sender;
mod switch;
mod telemetry;
mod toy;
