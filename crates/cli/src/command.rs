//! The verbs: each takes its arguments, writes its answer and says how it ended.

pub mod describe;
pub mod digest;
pub mod ls;
pub mod man;
pub mod show;
