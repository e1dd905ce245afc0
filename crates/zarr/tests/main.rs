//! Whole stores: what is told of broken ones, and what is read of those that were made to harm.

mod check;
mod hostile;
