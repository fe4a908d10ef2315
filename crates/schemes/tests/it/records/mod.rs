//! INT records as ports of any rate would make them.

use schemes::contract::LinkRates;
use schemes::int::IntRecord;
use units::{Rate, Time};

/// What a port of this rate says.
pub fn record(rate: Rate, time: Time, tx_bytes: u64, queue_bytes: u64) -> IntRecord {
    IntRecord { rate: LinkRates::new([rate]).code(rate), time, tx_bytes, queue_bytes }
}
