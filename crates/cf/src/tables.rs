//! The tables that the CF conventions refer to: standard names, area types, regions, and the appendices of the
//! conventions that list what is allowed. All tables are embedded in the crate, with their versions, and nothing is
//! looked up elsewhere.
//!
//! * [`StandardNames`]: names, their canonical units and aliases, optionally from a file of the caller.
//! * [`Vocabulary`]: area types and standardized regions.
//! * [`attributes`]: Appendix A.
//! * [`modifiers`]: Appendix C, modifiers that may follow a standard name.
//! * [`vertical`]: Appendix D, parametric vertical coordinates.
//! * [`cell_methods`]: Appendix E.
//! * [`grid_mappings`]: Appendix F.
//! * [`published`]: generates the embedded tables from the files that CF publishes.
//!
//! Spec: CF 1.13, appendices A and C to F; standard name table version 93, area types version 13, regions version 5

pub mod attributes;
pub mod cell_methods;
pub mod grid_mappings;
pub mod modifiers;
pub(crate) mod nearest;
pub mod published;
mod sorted;
mod standard_names;
mod tsv;
mod version;
pub mod vertical;
mod vocabulary;
mod xml;

pub use standard_names::{Alias, StandardName, StandardNames};
pub use version::Version;
pub use vocabulary::Vocabulary;
