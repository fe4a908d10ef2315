//! The hash by which the HPCC simulator's switches choose among equal-cost paths.

/// A word that enters the hash, scrambled. What is hashed often is scrambled once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scrambled(u32);

impl Scrambled {
    #[inline(always)]
    pub(crate) fn new(word: u32) -> Scrambled {
        Scrambled(word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593))
    }
}

/// Returns the 32-bit MurmurHash3 (Appleby, public domain) of some words.
#[inline]
pub fn murmur3<const N: usize>(words: [u32; N], seed: u32) -> u32 {
    of_scrambled(words.map(Scrambled::new), seed)
}

/// Returns the hash of words that are scrambled.
#[inline(always)]
pub(crate) fn of_scrambled<const N: usize>(words: [Scrambled; N], seed: u32) -> u32 {
    let mut hash = seed;
    for Scrambled(word) in words {
        hash = (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 4 * N as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// Returns the IPv4 address that the simulator gives a node: 11.x.y.1.
#[inline]
pub fn address(node: u32) -> u32 {
    0x0b00_0001 + (node / 256) * 0x1_0000 + (node % 256) * 0x100
}

/// Returns the word of the UDP ports that enters the hash; `to_source`: of packets to the sender.
pub(crate) fn udp_word((source, destination): (u16, u16), to_source: bool) -> u32 {
    let (first, second) = if to_source { (destination, source) } else { (source, destination) };
    u32::from(first) | u32::from(second) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur3_of_three_words() {
        // By an independent implementation, which gives 0x5a97808a for "aaaa" under 0x9747b28c.
        let words = [*b"abcd", *b"efgh", *b"ijkl"].map(u32::from_le_bytes);
        assert_eq!(murmur3(words, 0), 0xa36f_3d27);
        assert_eq!(murmur3([0; 3], 0), 0xd941_144b);
    }
}
