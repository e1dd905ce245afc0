//! Structures in files of others.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod corpus;
