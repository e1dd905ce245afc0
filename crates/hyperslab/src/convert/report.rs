//! The report of everything that a target cannot store unchanged.

use crate::source::Unshown;
use crate::strings::with_slashes;
use crate::target::{Fate, Loss, Losses, Lowered};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::fmt;

/// All changes and losses of a conversion, by kind.
#[derive(Clone, Debug, Default)]
pub struct LossReport {
    rows: Vec<ReportRow>,
    /// The places of all losses, in the form that the [digest](crate::digest) uses.
    lost: FxHashMap<String, BTreeSet<Loss>>,
    /// The places of all changes.
    changed: FxHashSet<String>,
}

/// One kind of change or loss.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// The first places: objects as paths, attributes as `PATH@NAME`.
    pub places: Vec<String>,
    /// The number of places. An object counts once, however often it has this content.
    pub count: u64,
    /// The description of the content.
    pub what: String,
    /// The replacement in the target.
    pub becomes: String,
    /// Whether the content is restored, changed or lost.
    pub fate: Fate,
    /// The place that was added last: all content of an object is added together.
    last: String,
}

impl LossReport {
    /// The rows: restored, then changed, then lost content, each in the order in which it was found.
    pub fn rows(&self) -> impl Iterator<Item = &ReportRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| match row.fate {
            Fate::Restored => 0,
            Fate::Changed => 1,
            Fate::Lost(_) => 2,
        });
        rows.into_iter()
    }

    /// Whether everything is stored unchanged.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The report as a plain text table: the header, then one line for each row with its fate. Empty if everything is
    /// stored unchanged.
    pub fn table(&self) -> Vec<(String, Option<Fate>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let rows = self.rows().map(|row| {
            let place = match (row.places.as_slice(), row.count) {
                ([one], 1) => one.clone(),
                ([one, other, ..], 2) => format!("{one}, {other}"),
                ([first, ..], count) => format!("{first} and {} more", count - 1),
                ([], _) => String::new(),
            };
            ([place, row.what.clone(), row.becomes.clone(), row.fate.to_string()], Some(row.fate))
        });
        let head = ["WHERE", "WHAT", "BECOMES", "FATE"].map(str::to_owned);
        let lines: Vec<_> = std::iter::once((head, None)).chain(rows).collect();
        let mut widths = [0; 4];
        for (cells, _) in &lines {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count().min(MAX_WIDTH));
            }
        }
        let line = |cells: &[String; 4]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        lines.iter().map(|(cells, fate)| (line(cells), *fate)).collect()
    }

    /// The kinds of losses.
    pub fn losses(&self) -> BTreeSet<Loss> {
        let losses = self.rows.iter().filter_map(|row| match row.fate {
            Fate::Lost(loss) => Some(loss),
            _ => None,
        });
        losses.collect()
    }

    /// The number of losses that are not in `allowed`.
    pub fn refused(&self, allowed: &[Loss]) -> u64 {
        let refused = self.rows.iter().filter(|row| match row.fate {
            Fate::Lost(loss) => !allowed.contains(&loss),
            _ => false,
        });
        refused.map(|row| row.count).sum()
    }

    /// Whether the report states that the content of an object or attribute is lost or changes. Attributes of an object
    /// and members of a group have places of their own.
    pub fn is_lost(&self, path: &str) -> bool {
        self.lost.get(path).is_some_and(|losses| losses.iter().any(|loss| loss.changes_content()))
    }

    /// Whether the report states that an object or attribute is stored in another form.
    pub fn is_changed(&self, path: &str) -> bool {
        self.changed.contains(path)
    }

    /// Whether anything is stored in another form.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    pub(super) fn add(&mut self, place: String, what: String, becomes: String, fate: Fate) {
        let path = || with_slashes(&place);
        match fate {
            Fate::Lost(loss) => drop(self.lost.entry(path()).or_default().insert(loss)),
            Fate::Changed => drop(self.changed.insert(path())),
            Fate::Restored => {}
        }
        self.add_row(place, what, becomes, fate);
    }

    /// Adds dangling references in the target.
    pub(super) fn add_reference(&mut self, place: String) {
        let (what, becomes) = ("references to objects that are not converted", "dangling references");
        self.add(place, what.to_owned(), becomes.to_owned(), Fate::Lost(Loss::References));
    }

    /// Adds content that no object of the source shows.
    pub(super) fn add_unshown(&mut self, unshown: Unshown) {
        let Unshown { what, instead } = unshown;
        self.add_row("/".to_owned(), what, instead.to_owned(), Fate::Lost(Loss::Unreadable));
    }

    fn add_row(&mut self, place: String, what: String, becomes: String, fate: Fate) {
        // Remedies are on further lines and do not belong in a row.
        let what = what.lines().next().unwrap_or_default().to_owned();
        let known =
            self.rows.iter_mut().find(|row| row.what == what && row.becomes == becomes && row.fate == fate);
        match known {
            Some(row) if row.last == place => {}
            Some(row) => {
                row.count += 1;
                if row.places.len() < MAX_PLACES {
                    row.places.push(place.clone());
                }
                row.last = place;
            }
            None => {
                let (places, last) = (vec![place.clone()], place);
                self.rows.push(ReportRow { places, count: 1, what, becomes, fate, last });
            }
        }
    }
}

impl Losses for LossReport {
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
        let what = detail.unwrap_or_else(|| lowered.what.to_owned());
        // Otherwise files with thousands of links would have a row for each.
        let alike = self.rows.iter().filter(|row| row.becomes == lowered.becomes && row.fate == lowered.fate);
        let what = if alike.count() >= MAX_ROWS { lowered.what.to_owned() } else { what };
        self.add(place, what, lowered.becomes.to_owned(), lowered.fate);
    }
}

/// Displayed as [`LossReport::table`].
impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().iter().try_for_each(|(line, _)| writeln!(f, "{line}"))
    }
}

/// Cells wider than this do not widen their column.
const MAX_WIDTH: usize = 48;

/// The maximum number of places of one kind that are kept.
const MAX_PLACES: usize = 1000;

/// The maximum number of detailed rows of one kind.
const MAX_ROWS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_one_place_however_often_it_has_the_same_content() {
        let mut report = LossReport::default();
        for place in ["/a", "/a", "/b", "/b", "/b"] {
            report.add(place.to_owned(), "unnamed".to_owned(), "named".to_owned(), Fate::Changed);
        }
        let [row] = &report.rows[..] else { panic!("{:?}", report.rows) };
        assert_eq!((row.count, row.places.join(" ").as_str()), (2, "/a /b"));
        assert!(report.to_string().contains("\n/a, /b  unnamed  named    changed\n"), "{report}");
    }

    #[test]
    fn a_loss_excuses_what_it_is_about_and_nothing_else() {
        let mut report = LossReport::default();
        for (place, loss) in [
            ("/renamed", Loss::Names),
            ("/types/enum", Loss::Labels),
            ("/grown", Loss::Unlimited),
            ("/damaged", Loss::Unreadable),
        ] {
            report.add(place.to_owned(), String::new(), String::new(), Fate::Lost(loss));
        }
        report.add_unshown(Unshown { what: "a second variable".to_owned(), instead: "nothing" });
        for (path, is_lost) in [
            ("/renamed", true),
            ("/renamed/x", false),
            ("/renamed@title", false),
            ("/types/enum", true),
            ("/types", false),
            ("/grown", false),
            ("/damaged", true),
            ("/damaged@a", false),
            ("/damaged/x", false),
            ("/damaged_too", false),
            ("/", false),
        ] {
            assert_eq!(report.is_lost(path), is_lost, "{path}");
        }
    }
}
