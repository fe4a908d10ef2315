//! Sizes on the wire against the standards' and the HPCC simulator's.

use wire::Profile;

#[test]
fn rocev2_data_is_what_the_headers_add_up_to() {
    let rocev2 = Profile::Rocev2;
    // Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4: 62. Preamble and gap: 20.
    assert_eq!(rocev2.data_bytes(1000, false, 0), 1082);
    assert_eq!(rocev2.data_bytes(1000, true, 0), 1098);
    assert_eq!(rocev2.data_bytes(1000, false, 42), 1124);
    // 1001 bytes are padded to 1004.
    assert_eq!(rocev2.data_bytes(1001, false, 0), 1086);
    // A byte of payload, padded to 4, makes 66, just above the least frame.
    assert_eq!(rocev2.data_bytes(1, false, 0), 86);
    assert_eq!(rocev2.data_bytes(0, false, 0), 84);
}

#[test]
fn rocev2_control_packets() {
    let rocev2 = Profile::Rocev2;
    // 62 and an AETH of 4.
    assert_eq!(rocev2.ack_bytes(0), 86);
    assert_eq!(rocev2.ack_bytes(42), 128);
    // A CNP's frame is 78 bytes; 98 with preamble and gap.
    assert_eq!(rocev2.control_bytes(78), 98);
    assert_eq!(rocev2.control_bytes(30), 84);
    assert_eq!(rocev2.pfc_bytes(), 84);
}

#[test]
fn the_hpcc_simulators_packets() {
    let ns3 = Profile::HpccNs3;
    assert_eq!(ns3.preamble_and_gap(), 0);
    assert_eq!(ns3.data_bytes(1000, true, 0), 1048);
    assert_eq!(ns3.data_bytes(1000, false, 42), 1090);
    // TIMELY's timestamp.
    assert_eq!(ns3.data_bytes(1000, false, 8), 1056);
    // Data is not padded.
    assert_eq!(ns3.data_bytes(1, true, 0), 49);
    assert_eq!(ns3.ack_bytes(0), 60);
    assert_eq!(ns3.ack_bytes(42), 88);
    // A CNP, the least frame there is, and one as large as an ACK with INT.
    assert_eq!(ns3.control_bytes(78), 60);
    assert_eq!(ns3.control_bytes(0), 60);
    assert_eq!(ns3.control_bytes(66 + 42), ns3.ack_bytes(42));
    assert_eq!(ns3.pfc_bytes(), 43);
}
