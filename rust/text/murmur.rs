//! `MurmurHash3` of 32 bits, with the seed 0 (A. Appleby, 2011).

/// The hash of what was added; up to three bytes wait for the rest of their word.
#[derive(Debug, Clone, Copy, Default)]
pub struct Murmur3 {
    hash: u32,
    waiting: u64,
    len: u32,
}

impl Murmur3 {
    pub fn add(mut self, text: &[u8]) -> Self {
        let (words, rest) = text.as_chunks();
        for word in words {
            self.wait(u32::from_le_bytes(*word));
            self.mix();
        }
        self.len = self.len.wrapping_add(4 * words.len() as u32);
        for byte in rest {
            self.wait(u32::from(*byte));
            self.len = self.len.wrapping_add(1);
            if self.len.is_multiple_of(4) {
                self.mix();
            }
        }
        self
    }

    pub fn end(self) -> u32 {
        let mut hash = self.hash ^ mixed(self.waiting as u32) ^ self.len;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
        hash ^ (hash >> 16)
    }

    fn wait(&mut self, bytes: u32) {
        self.waiting |= u64::from(bytes) << (8 * (self.len % 4));
    }

    fn mix(&mut self) {
        let hash = self.hash ^ mixed(self.waiting as u32);
        self.hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
        self.waiting >>= 32;
    }
}

fn mixed(word: u32) -> u32 {
    word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}
