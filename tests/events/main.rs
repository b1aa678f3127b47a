//! Promises 21 and 23: what a call tells of its retries and of its end.

mod figures;
mod metered;
mod notify;
mod order;
mod table;
