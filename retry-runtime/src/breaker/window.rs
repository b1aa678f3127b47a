//! The last outcomes of a closed breaker, a bit each.

use super::word::{EPOCH, Field, Word};
use crate::sync::{AtomicU64, Ordering, const_fn, zeros};

/// Outcomes that are kept.
pub(super) const LONGEST: u32 = 1024;

const PER_WORD: u32 = 16;

#[expect(
    clippy::as_conversions,
    reason = "widens, and there is no other way in constants"
)]
const WORDS: usize = LONGEST.div_euclid(PER_WORD) as usize;

/// How often the word has changed. With it, and with the epoch in which it last did, a thread that
/// was held up between reading and exchanging the word finds that it has changed.
const CHANGES: Field = Field(PER_WORD, 30);

/// Each word holds some outcomes, a 1 for a failure, and above them [`CHANGES`] and [`EPOCH`].
pub(super) struct Window([AtomicU64; WORDS]);

impl Window {
    const_fn! {
        pub(super) fn new() -> Self {
            Self(zeros())
        }
    }

    /// The outcome at a position; the one that many positions earlier has the same place.
    pub(super) fn at(&self, position: u64) -> u64 {
        let (word, field) = self.place(position);
        word.map_or(0, |word| Word(word.load(Ordering::Acquire)).get(field))
    }

    /// Writes the outcome at a position, unless it is there. `None`: another thread was faster, or
    /// the caller's view, that the outcome is the latest, `is_current` no more.
    pub(super) fn keep(
        &self,
        position: u64,
        outcome: u64,
        epoch: u64,
        is_current: impl FnOnce() -> bool,
    ) -> Option<()> {
        let (word, field) = self.place(position);
        let word = word?;
        let kept = Word(word.load(Ordering::Acquire));
        if kept.get(field) == outcome && kept.get(EPOCH) == epoch {
            return Some(());
        }
        // It was not kept when the word was read. As long as it is not, the breaker does not go
        // on, and with it the word changes: so if the exchange succeeds, it was not kept until now.
        if !is_current() {
            return None;
        }
        let next = kept
            .with(field, outcome)
            .plus_one(CHANGES)
            .with(EPOCH, epoch);
        word.compare_exchange(kept.0, next.0, Ordering::AcqRel, Ordering::Relaxed)
            .ok()
            .map(|_| ())
    }

    #[inline]
    fn place(&self, position: u64) -> (Option<&AtomicU64>, Field) {
        let place = position.rem_euclid(LONGEST.into());
        let bit = place.rem_euclid(PER_WORD.into());
        let index = place.div_euclid(PER_WORD.into());
        (
            usize::try_from(index)
                .ok()
                .and_then(|word| self.0.get(word)),
            Field(u32::try_from(bit).unwrap_or(0), 1),
        )
    }
}
