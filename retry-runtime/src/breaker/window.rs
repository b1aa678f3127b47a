//! The last outcomes of a closed breaker, a bit each.

/// Outcomes that are kept, a power of two.
pub(super) const LONGEST: u32 = 1024;

const PER_WORD: u32 = u64::BITS;

#[expect(
    clippy::as_conversions,
    reason = "widens, and there is no other way in constants"
)]
const WORDS: usize = LONGEST.div_euclid(PER_WORD) as usize;

/// The outcomes of one epoch.
#[derive(Debug)]
pub(super) struct Window {
    epoch: u64,
    /// All so far
    outcomes: u64,
    /// Failures among the last ones
    failures: u64,
    /// A 1 for a failure; an outcome takes the place of the one `LONGEST` before it
    kept: [u64; WORDS],
}

impl Window {
    pub(super) const fn new() -> Self {
        Self {
            epoch: 0,
            outcomes: 0,
            failures: 0,
            kept: [0; WORDS],
        }
    }

    /// The window of this epoch, empty unless it has begun.
    pub(super) fn of(&mut self, epoch: u64) -> &mut Self {
        if self.epoch != epoch {
            *self = Self {
                epoch,
                ..Self::new()
            };
        }
        self
    }

    /// One more outcome; the one `length` before it does not count any more.
    pub(super) fn push(&mut self, failed: bool, length: u64) {
        if let Some(oldest) = self.outcomes.checked_sub(length) {
            self.failures = self.failures.saturating_sub(self.get(oldest));
        }
        self.failures = self.failures.saturating_add(failed.into());
        let (word, bit) = place(self.outcomes);
        if let Some(word) = self.kept.get_mut(word) {
            *word = if failed { *word | bit } else { *word & !bit };
        }
        self.outcomes = self.outcomes.saturating_add(1);
    }

    /// This many successes.
    pub(super) fn push_successes(&mut self, number: u64, length: u64) {
        if number >= length {
            self.outcomes = self.outcomes.max(length);
            self.failures = 0;
            self.kept = [0; WORDS];
        } else {
            (0..number).for_each(|_| self.push(false, length));
        }
    }

    /// How many outcomes there are, `length` at most.
    pub(super) fn seen(&self, length: u64) -> u64 {
        self.outcomes.min(length)
    }

    pub(super) const fn failures(&self) -> u64 {
        self.failures
    }

    fn get(&self, position: u64) -> u64 {
        let (word, bit) = place(position);
        let failed = self.kept.get(word).is_some_and(|word| word & bit != 0);
        failed.into()
    }

    /// Failures among the last `length`, counted one by one.
    #[cfg(test)]
    pub(super) fn recount(&self, length: u64) -> u64 {
        let first = self.outcomes.saturating_sub(length);
        (first..self.outcomes)
            .map(|position| self.get(position))
            .sum()
    }
}

/// The word of an outcome, and its bit in it.
fn place(position: u64) -> (usize, u64) {
    let place = position.rem_euclid(LONGEST.into());
    let word = usize::try_from(place.div_euclid(PER_WORD.into())).unwrap_or(0);
    let bit = u32::try_from(place.rem_euclid(PER_WORD.into())).unwrap_or(0);
    (word, 1_u64.wrapping_shl(bit))
}
