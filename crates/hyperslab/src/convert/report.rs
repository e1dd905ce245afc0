//! What a target cannot hold as it is, and what becomes of it.

use crate::target::{Fate, Loss, Losses, Lowered};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::fmt;

/// Everything that a conversion lowers or loses, by kind.
#[derive(Clone, Debug, Default)]
pub struct LossReport {
    rows: Vec<ReportRow>,
    /// All places of which something is lost.
    lost: FxHashSet<String>,
}

/// One kind of thing, wherever it is.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// Objects as paths and attributes as `PATH@NAME`, the first ones of all.
    pub places: Vec<String>,
    /// How many there are.
    pub count: u64,
    /// What it is.
    pub what: String,
    /// What the target has instead.
    pub becomes: String,
    /// Whether it comes back.
    pub fate: Fate,
}

impl LossReport {
    /// What is restored, then what is changed, then what is lost, each in the order in which it was found.
    pub fn rows(&self) -> impl Iterator<Item = &ReportRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| match row.fate {
            Fate::Restored => 0,
            Fate::Changed => 1,
            Fate::Lost(_) => 2,
        });
        rows.into_iter()
    }

    /// Whether everything is held as it is.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The report as a table in plain text: the names of the columns, then a line for each row with its fate. Empty
    /// if everything is held as it is.
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

    /// The kinds that are lost.
    pub fn losses(&self) -> BTreeSet<Loss> {
        let losses = self.rows.iter().filter_map(|row| match row.fate {
            Fate::Lost(loss) => Some(loss),
            _ => None,
        });
        losses.collect()
    }

    /// How many things are lost that are not `allowed`.
    pub fn refused(&self, allowed: &[Loss]) -> u64 {
        let refused = self.rows.iter().filter(|row| match row.fate {
            Fate::Lost(loss) => !allowed.contains(&loss),
            _ => false,
        });
        refused.map(|row| row.count).sum()
    }

    /// Whether an object or attribute is lost, or lies in one that is.
    pub fn is_lost(&self, path: &str) -> bool {
        let ends = path.char_indices().filter(|(_, c)| "/@".contains(*c)).map(|(at, _)| at);
        let above = ends.filter_map(|end| path.get(..end.max(1)));
        above.chain([path]).any(|place| self.lost.contains(place))
    }

    pub(super) fn add(&mut self, place: String, what: String, becomes: String, fate: Fate) {
        // Behind the first line stands what to do, which is no matter of one row.
        let what = what.lines().next().unwrap_or_default().to_owned();
        if matches!(fate, Fate::Lost(_)) {
            self.lost.insert(place.clone());
        }
        let known =
            self.rows.iter_mut().find(|row| row.what == what && row.becomes == becomes && row.fate == fate);
        match known {
            Some(row) => {
                row.count += 1;
                if row.places.len() < MAX_PLACES {
                    row.places.push(place);
                }
            }
            None => self.rows.push(ReportRow { places: vec![place], count: 1, what, becomes, fate }),
        }
    }
}

impl Losses for LossReport {
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
        let what = detail.unwrap_or_else(|| lowered.what.to_owned());
        // Files with thousands of links would otherwise have a row for each.
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

/// Cells of the table that are wider are not aligned to.
const MAX_WIDTH: usize = 48;

/// Places of one kind that are kept.
const MAX_PLACES: usize = 1000;

/// Rows that tell one kind in detail.
const MAX_ROWS: usize = 40;
