//! What is yet to happen, in order of time.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    time::Duration,
};

/// Time since the beginning of a simulation.
pub type Time = Duration;

/// Events at one time happen in the order in which they were planned.
pub struct Events<E> {
    queue: BinaryHeap<Reverse<Planned<E>>>,
    planned: u64,
}

impl<E> Events<E> {
    pub fn new() -> Self {
        Self {
            queue: BinaryHeap::new(),
            planned: 0,
        }
    }

    pub fn plan(&mut self, at: Time, event: E) {
        self.planned += 1;
        self.queue.push(Reverse(Planned {
            order: (at, self.planned),
            event,
        }));
    }

    pub fn next(&mut self) -> Option<(Time, E)> {
        let Reverse(planned) = self.queue.pop()?;
        Some((planned.order.0, planned.event))
    }
}

struct Planned<E> {
    order: (Time, u64),
    event: E,
}

impl<E> Ord for Planned<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}

impl<E> PartialOrd for Planned<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Planned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<E> Eq for Planned<E> {}
