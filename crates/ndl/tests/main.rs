//! Whole documents, as a program that describes files sees them.

mod build;
mod buoys;
mod everything;
mod ocean;
