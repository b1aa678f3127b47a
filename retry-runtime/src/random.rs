//! Numbers for tests that look random and are the same in each run.

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014.
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// In `0..limit`; the bias is below 2^-32 for the limits of tests.
    #[expect(clippy::arithmetic_side_effects, reason = "no limit is 0")]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(length)).unwrap_or(0)
    }
}
