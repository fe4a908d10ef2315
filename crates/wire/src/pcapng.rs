//! Captures that Wireshark, tcpdump and their kin read: the blocks of pcapng
//! (draft-ietf-opsawg-pcapng), little-endian, with times in picoseconds.

use units::{Rate, Time};

/// Ethernet, as link types are numbered.
const ETHERNET: u16 = 1;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const END_OF_OPTIONS: u16 = 0;
const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_TIME_RESOLUTION: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// Which way a packet went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// It came in.
    Inbound = 1,
    /// It went out.
    Outbound = 2,
}

/// A capture that grows packet by packet.
#[derive(Clone, Debug)]
pub struct Capture {
    bytes: Vec<u8>,
    interfaces: u32,
}

impl Default for Capture {
    fn default() -> Capture {
        Capture::new()
    }
}

impl Capture {
    /// One without interfaces and packets.
    pub fn new() -> Capture {
        let mut capture = Capture { bytes: Vec::new(), interfaces: 0 };
        capture.block(SECTION_HEADER, |out| {
            out.extend(BYTE_ORDER_MAGIC.to_le_bytes());
            // Version 1.0; the length of the section is not given.
            out.extend([1, 0, 0, 0]);
            out.extend(u64::MAX.to_le_bytes());
        });
        capture
    }

    /// Adds an Ethernet interface; returns its number.
    pub fn interface(&mut self, name: &str, rate: Rate) -> u32 {
        self.block(INTERFACE_DESCRIPTION, |out| {
            out.extend(ETHERNET.to_le_bytes());
            out.extend([0; 2]);
            // Packets are cut where their headers end, wherever that is.
            out.extend(0_u32.to_le_bytes());
            option(out, IF_NAME, name.as_bytes());
            option(out, IF_SPEED, &rate.bps().to_le_bytes());
            // Powers of ten below a second.
            option(out, IF_TIME_RESOLUTION, &[12]);
            option(out, END_OF_OPTIONS, &[]);
        });
        self.interfaces += 1;
        self.interfaces - 1
    }

    /// Adds a packet of `length` bytes, of which `frame` are kept, that an interface saw.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn packet(
        &mut self,
        interface: u32,
        time: Time,
        direction: Direction,
        frame: &[u8],
        length: u32,
    ) {
        assert!(interface < self.interfaces, "there is no interface {interface}");
        self.block(ENHANCED_PACKET, |out| {
            let time = time.ps();
            out.extend(interface.to_le_bytes());
            out.extend(((time >> 32) as u32).to_le_bytes());
            out.extend((time as u32).to_le_bytes());
            out.extend((frame.len() as u32).to_le_bytes());
            out.extend(length.to_le_bytes());
            padded(out, frame);
            option(out, EPB_FLAGS, &(direction as u32).to_le_bytes());
            option(out, END_OF_OPTIONS, &[]);
        });
    }

    /// Bytes of the file that have not been taken.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether all that there is of the file has been taken.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes what there is of the file and has not been taken: what is added follows it.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// A block: its kind, its length, what it holds, its length again.
    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend([0; 4]);
        fill(&mut self.bytes);
        let length = (self.bytes.len() - begin + 4) as u32;
        self.bytes[begin + 4..begin + 8].copy_from_slice(&length.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
    }
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    padded(out, value);
}

/// Filled up to a multiple of four bytes.
fn padded(out: &mut Vec<u8>, value: &[u8]) {
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}
