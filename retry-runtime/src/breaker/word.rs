//! Several numbers in one word: all that a breaker decides by.

/// A state with its epoch and counts. 0 is closed and new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    Open,
    HalfOpen,
    /// Open, from outside
    HeldOpen,
    /// Closed, from outside
    HeldClosed,
}

/// Bits of a word: the lowest, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field(pub(super) u32, pub(super) u32);

const STATE: Field = Field(0, 3);
/// Grows with each change of state; a permit remembers it. Wraps after 2^28 of them.
pub(super) const EPOCH: Field = Field(36, 28);

/// When closed: 1 if there are as many outcomes as it takes to open
pub(super) const ENOUGH: Field = Field(3, 1);

/// When half-open: permits that are out, or were when their call ended
pub(super) const TAKEN: Field = Field(3, 11);
/// When half-open: calls that have ended
pub(super) const PROBES_ENDED: Field = Field(14, 11);
/// When half-open: those of them that have failed
pub(super) const PROBES_FAILED: Field = Field(25, 11);

/// In a word beside it, with [`EPOCH`]: successes that are not in the window yet
pub(super) const SUCCESSES: Field = Field(0, 11);

impl Field {
    #[inline]
    const fn mask(self) -> u64 {
        1_u64.wrapping_shl(self.1).wrapping_sub(1)
    }
}

impl Word {
    #[inline]
    pub(super) const fn get(self, field: Field) -> u64 {
        self.0.wrapping_shr(field.0) & field.mask()
    }

    /// What does not fit into the field is cut off.
    #[inline]
    pub(super) const fn with(self, field: Field, value: u64) -> Self {
        let others = self.0 & !field.mask().wrapping_shl(field.0);
        Self(others | (value & field.mask()).wrapping_shl(field.0))
    }

    #[inline]
    pub(super) const fn plus_one(self, field: Field) -> Self {
        self.with(field, self.get(field).wrapping_add(1))
    }

    #[inline]
    pub(super) const fn state(self) -> State {
        match self.get(STATE) {
            0 => State::Closed,
            1 => State::Open,
            2 => State::HalfOpen,
            3 => State::HeldOpen,
            _ => State::HeldClosed,
        }
    }

    /// The beginning of the next epoch, in this state.
    pub(super) const fn followed_by(self, state: State) -> Self {
        let state = match state {
            State::Closed => 0,
            State::Open => 1,
            State::HalfOpen => 2,
            State::HeldOpen => 3,
            State::HeldClosed => 4,
        };
        let epoch = self.get(EPOCH).wrapping_add(1);
        Self(0).with(STATE, state).with(EPOCH, epoch)
    }
}
