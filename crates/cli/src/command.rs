//! The verbs. Each takes its arguments, writes its output and returns the exit status.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod concat;
pub(crate) mod convert;
pub(crate) mod create;
pub(crate) mod describe;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod joined;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod repack;
pub(crate) mod show;
pub(crate) mod stat;
