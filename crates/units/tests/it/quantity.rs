//! Quantities as written: exact decimals, rounding up, and messages that say what was meant.

use proptest::prelude::*;
use units::{Bytes, Rate, Time, parse_bytes, parse_length, parse_rate, parse_time};

#[test]
fn units_and_decimals_are_exact() {
    assert_eq!(parse_time("0ns"), Ok(Time::ZERO));
    assert_eq!(parse_time("7ps"), Ok(Time::from_ps(7)));
    assert_eq!(parse_time("1.5us"), Ok(Time::from_ns(1500)));
    assert_eq!(parse_time(" 0.1 s "), Ok(Time::from_ms(100)));
    assert_eq!(parse_rate("12.5Gbps"), Ok(Rate::from_mbps(12_500)));
    assert_eq!(parse_rate("1.6Tbps"), Ok(Rate::from_gbps(1600)));
    assert_eq!(parse_bytes("320KB"), Ok(Bytes::new(320_000)));
    assert_eq!(parse_bytes("37.5KB"), Ok(Bytes::new(37_500)));
    assert_eq!(parse_bytes("1.5MiB"), Ok(Bytes::new(3 << 19)));
    assert_eq!(parse_bytes("9223372036854775808B"), Ok(Bytes::new(1 << 63)));
    assert_eq!(parse_length("40km"), Ok(Time::from_us(200)));
    assert_eq!(parse_length("0.5m"), Ok(Time::from_ps(2500)));
}

#[test]
fn what_is_finer_than_the_smallest_step_rounds_up() {
    assert_eq!(parse_time("0.1ps"), Ok(Time::from_ps(1)));
    assert_eq!(parse_time("1.0000000000001s"), Ok(Time::from_ps(1_000_000_000_001)));
    assert_eq!(parse_bytes("0.1KiB"), Ok(Bytes::new(103)));
    assert_eq!(parse_rate("1.0001Kbps"), Ok(Rate::from_bps(1001)));
}

#[test]
fn mistakes_are_named() {
    let time = |text: &str| parse_time(text).unwrap_err().to_string();
    let bytes = |text: &str| parse_bytes(text).unwrap_err().to_string();
    assert_eq!(time("5"), "a time needs its unit, such as \"1.5us\"; got \"5\"");
    assert_eq!(time(""), "a time is a number and its unit, such as \"1.5us\"; got \"\"");
    assert_eq!(time("-3us"), "a time cannot be negative; got \"-3us\"");
    assert_eq!(time("us"), "a time is a number and its unit, such as \"1.5us\"; got \"us\"");
    assert_eq!(time("1.2.3us"), "\"1.2.3\" is not a decimal number; got \"1.2.3us\"");
    assert_eq!(time(".5us"), "\".5\" is not a decimal number; got \".5us\"");
    assert_eq!(time("5GB"), "a time is needed, such as \"1.5us\", not a size; got \"5GB\"");
    assert_eq!(
        time("5min"),
        "unknown unit \"min\"; a time is written in ps, ns, us, ms, s; got \"5min\""
    );
    assert_eq!(bytes("5gb"), "unknown unit \"gb\"; did you mean \"GB\"?; got \"5gb\"");
    assert_eq!(bytes("1e30GB"), "a size is written without an exponent; got \"1e30GB\"");
    assert_eq!(
        bytes("99999999999999999999GB"),
        "a size this large cannot be held; got \"99999999999999999999GB\""
    );
    assert_eq!(
        bytes("18446744073709551616B"),
        "a size this large cannot be held; got \"18446744073709551616B\""
    );
    let long = format!("0.{}1us", "0".repeat(50));
    assert!(time(&long).starts_with("more than 24 decimals; got "), "{}", time(&long));
    assert!(time(&"9".repeat(10_000)).len() < 120);
    assert!(parse_bytes(&format!("{}B", "9".repeat(10_000))).is_err());
}

proptest! {
    #[test]
    fn display_is_read_back(n in any::<u64>()) {
        prop_assert_eq!(parse_time(&Time::from_ps(n).to_string()), Ok(Time::from_ps(n)));
        prop_assert_eq!(parse_rate(&Rate::from_bps(n).to_string()), Ok(Rate::from_bps(n)));
        prop_assert_eq!(parse_bytes(&Bytes::new(n).to_string()), Ok(Bytes::new(n)));
    }

    #[test]
    fn display_of_round_values_is_read_back(n in 0_u64..10_000, zeros in 0_u32..15) {
        let n = n * 10_u64.pow(zeros);
        prop_assert_eq!(parse_time(&Time::from_ps(n).to_string()), Ok(Time::from_ps(n)));
        prop_assert_eq!(parse_rate(&Rate::from_bps(n).to_string()), Ok(Rate::from_bps(n)));
        prop_assert_eq!(parse_bytes(&Bytes::new(n).to_string()), Ok(Bytes::new(n)));
    }

    #[test]
    fn decimals_are_thousandths_of_the_next_unit(whole in 0_u64..1_000_000, part in 0_u64..1000) {
        let text = format!("{whole}.{part:03}ns");
        prop_assert_eq!(parse_time(&text), Ok(Time::from_ps(whole * 1000 + part)));
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = (parse_time(&text), parse_rate(&text), parse_bytes(&text), parse_length(&text));
    }
}
