//! Objects that a conversion creates in place of those that the format cannot represent.

use super::Parts;
use super::split::{Split, Splits};
use super::tabled::{Tabled, Tables};
use crate::cells::CellColumn;
use crate::pool::Pool;
use crate::source::{Entry, Source};
use crate::target::TargetFormat;
use hyperslab_core::Result;
use hyperslab_model::NodePath;
use std::sync::Arc;

/// The tables that replace sparse arrays, and the pairs that replace nullable arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    tables: Arc<Tables>,
    splits: Arc<Splits>,
}

impl Made {
    /// The replacements that a format needs.
    pub(super) fn of(format: &dyn TargetFormat, parts: Option<&Parts>, pool: &Pool) -> Made {
        let tables = Tables::of(format, parts, pool).into();
        Made { tables, splits: Splits::of(format, parts).into() }
    }

    /// Calls `see` with the source as the conversion sees it.
    ///
    /// # Errors
    /// Those of `see`.
    pub(super) fn with<T>(
        &self,
        source: &dyn Source,
        see: impl FnOnce(&dyn Source) -> Result<T>,
    ) -> Result<T> {
        let tabled = Tabled::new(source, &self.tables);
        see(&Split::new(&tabled, &self.splits))
    }

    /// Whether an object is converted even if it was not requested, because a related object is converted.
    pub(super) fn has(&self, path: &NodePath) -> bool {
        self.tables.has(path) || self.splits.has(path)
    }

    /// The columns of the sparse array at a group that becomes a table, as far as they are converted.
    pub(super) fn columns(&self, group: &NodePath) -> Option<Vec<CellColumn>> {
        self.tables.columns(group)
    }

    /// Describes what a nullable array becomes.
    pub(super) fn nullable(&self, path: &NodePath) -> Option<String> {
        self.splits.becomes(path)
    }
}

/// The names of the members of a group, including those created by the conversion.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn of(members: &[Entry]) -> Names {
        Names(members.iter().map(|entry| entry.handle.path.name().to_owned()).collect())
    }

    /// A name like `wish` that no member has, not even in different case, since some stores do not distinguish case.
    pub(super) fn new_one(&mut self, wish: &str) -> String {
        let is_taken = |name: &str| self.0.iter().any(|taken| taken.eq_ignore_ascii_case(name));
        let numbered = (1_u64..).map(|number| format!("{wish}_{number}"));
        let mut names = std::iter::once(wish.to_owned()).chain(numbered);
        let name = names.find(|name| !is_taken(name)).unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}

/// The identifier of objects that exist only in the conversion.
pub(super) const MADE: u64 = u64::MAX;
