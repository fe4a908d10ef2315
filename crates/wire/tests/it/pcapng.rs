//! Captures, byte by byte.

use units::{Rate, Time};
use wire::pcapng::{Capture, Direction};

#[test]
fn a_capture_is_blocks_of_words() {
    let mut capture = Capture::new();
    let first = capture.interface("h0:s0", Rate::from_gbps(100));
    let second = capture.interface("s0:h0", Rate::from_gbps(100));
    assert_eq!((first, second), (0, 1));
    let time = Time::from_ps(0x0000_0001_8765_4321);
    capture.packet(second, time, Direction::Outbound, &[1, 2, 3, 4, 5], 1078);
    #[rustfmt::skip]
    let expected: [&[u8]; 4] = [
        &[
            0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            255, 255, 255, 255, 255, 255, 255, 255, 28, 0, 0, 0,
        ],
        &[
            1, 0, 0, 0, 56, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
            // The name, its speed, 10^-12 s, the end.
            2, 0, 5, 0, b'h', b'0', b':', b's', b'0', 0, 0, 0,
            8, 0, 8, 0, 0x00, 0xe8, 0x76, 0x48, 0x17, 0, 0, 0,
            9, 0, 1, 0, 12, 0, 0, 0,
            0, 0, 0, 0, 56, 0, 0, 0,
        ],
        &[
            1, 0, 0, 0, 56, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 5, 0, b's', b'0', b':', b'h', b'0', 0, 0, 0,
            8, 0, 8, 0, 0x00, 0xe8, 0x76, 0x48, 0x17, 0, 0, 0,
            9, 0, 1, 0, 12, 0, 0, 0,
            0, 0, 0, 0, 56, 0, 0, 0,
        ],
        &[
            6, 0, 0, 0, 52, 0, 0, 0, 1, 0, 0, 0,
            1, 0, 0, 0, 0x21, 0x43, 0x65, 0x87,
            5, 0, 0, 0, 0x36, 4, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0,
            // Outbound, the end.
            2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0,
        ],
    ];
    assert_eq!(capture.take(), expected.concat());
}
