//! The units and prefixes that UDUNITS-2 knows.
//!
//! Spec: UDUNITS-2.2.28, `lib/udunits2-*.xml`; `lib/xml.c` and `lib/idToUnitMap.c` for names, which are not
//! case-sensitive, and symbols, which are; `lib/prefix.c` for prefixes

use super::algebra::Meaningless;
use super::dimension::{BaseUnit, Dimension};
use super::{Unit, grammar};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The table that `xtask/oracles/cf_units_table.py` generates from the database of UDUNITS.
const TABLE: &str = include_str!("../../data/units.tsv");

/// The database of UDUNITS-2.
pub(super) fn udunits() -> &'static Database {
    static DATABASE: LazyLock<Database> = LazyLock::new(|| Database::parse(TABLE));
    &DATABASE
}

/// Units by name and symbol, and prefixes.
#[derive(Debug, Default)]
pub(super) struct Database {
    units: Vec<Unit>,
    /// The index of each unit in the list by its names, in lower case.
    names: HashMap<String, usize>,
    /// The index of each unit in the list by its symbols.
    symbols: HashMap<Cow<'static, str>, usize>,
    pub(super) name_prefixes: Vec<Prefix>,
    pub(super) symbol_prefixes: Vec<Prefix>,
    /// All names in their original spelling, in the order of the table.
    pub(super) spelled_names: Vec<&'static str>,
    /// All symbols, in the order of the table.
    pub(super) spelled_symbols: Vec<&'static str>,
    /// The length of the longest name or symbol; longer identifiers need not be looked up.
    longest: usize,
}

/// A prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) text: &'static str,
    pub(super) value: f64,
}

/// The reason why an identifier is not a unit.
pub(super) enum NoUnit {
    Unknown,
    Meaningless(Meaningless),
}

impl Database {
    /// Parses the table. A definition may use the units above it. One that cannot be parsed is left out; a test
    /// verifies that there is none.
    fn parse(table: &'static str) -> Database {
        let mut database = Database::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut columns = line.split('\t');
            let (kind, definition) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
            let mut identifiers =
                || columns.next().unwrap_or_default().split(' ').filter(|text| !text.is_empty());
            let (names, symbols): (Vec<_>, Vec<_>) = (identifiers().collect(), identifiers().collect());
            if kind == "prefix" {
                let value = definition.parse().unwrap_or(1.0);
                let prefixes =
                    |texts: Vec<&'static str>| texts.into_iter().map(move |text| Prefix { text, value });
                database.name_prefixes.extend(prefixes(names));
                database.symbol_prefixes.extend(prefixes(symbols));
                continue;
            }
            let base = symbols.first().and_then(|symbol| BaseUnit::of(symbol));
            let unit = match (kind, base) {
                ("base" | "dimensionless", Some(base)) => Some(Unit::product(Dimension::of(base))),
                _ => grammar::parse(definition, &database).ok(),
            };
            if let Some(unit) = unit {
                database.add(unit, &names, &symbols);
            }
        }
        database
    }

    fn add(&mut self, unit: Unit, names: &[&'static str], symbols: &[&'static str]) {
        let place = self.units.len();
        self.units.push(unit);
        for name in names.iter().flat_map(|name| variants(name)) {
            self.longest = self.longest.max(name.len());
            self.names.entry(name.to_ascii_lowercase()).or_insert(place);
        }
        for symbol in symbols.iter().flat_map(|symbol| variants(symbol)) {
            self.longest = self.longest.max(symbol.len());
            self.symbols.entry(symbol).or_insert(place);
        }
        self.spelled_names.extend(names);
        self.spelled_symbols.extend(symbols);
    }

    /// The unit with this name or symbol, without prefixes.
    fn get(&self, identifier: &str) -> Option<&Unit> {
        if identifier.len() > self.longest {
            return None;
        }
        let name = self.names.get(&identifier.to_ascii_lowercase());
        let place = name.or_else(|| self.symbols.get(identifier))?;
        self.units.get(*place)
    }

    /// The unit with this name or symbol, including prefixes: any number of prefix names, and at most one prefix
    /// symbol.
    pub(super) fn find(&self, identifier: &str) -> Result<Unit, NoUnit> {
        let mut rest = identifier;
        let mut factor = 1.0;
        let mut has_symbol = false;
        while !rest.is_empty() {
            if let Some(unit) = self.get(rest) {
                return unit.clone().scaled(factor).map_err(NoUnit::Meaningless);
            }
            let mut prefix = longest(&self.name_prefixes, rest, |one, two| one.eq_ignore_ascii_case(two));
            if prefix.is_none() && !has_symbol {
                prefix = longest(&self.symbol_prefixes, rest, |one, two| one == two);
                has_symbol = true;
            }
            let Some(Prefix { text, value }) = prefix else { break };
            factor *= value;
            rest = rest.get(text.len()..).unwrap_or_default();
        }
        Err(NoUnit::Unknown)
    }
}

/// An identifier, and its variant with non-breaking spaces instead of underscores.
fn variants(identifier: &'static str) -> impl Iterator<Item = Cow<'static, str>> {
    let with_spaces = identifier.contains('_').then(|| identifier.replace('_', "\u{a0}"));
    [Cow::Borrowed(identifier)].into_iter().chain(with_spaces.map(Cow::Owned))
}

/// The prefix at the beginning of a text, by a search that follows the text as far as any prefix goes and does not
/// backtrack: it finds none if the text matches only the beginning of a longer prefix.
fn longest(prefixes: &[Prefix], text: &str, is_equal: fn(&u8, &u8) -> bool) -> Option<Prefix> {
    let common = |prefix: &Prefix| {
        prefix.text.bytes().zip(text.bytes()).take_while(|(one, two)| is_equal(one, two)).count()
    };
    let reached = prefixes.iter().map(common).max().filter(|reached| *reached > 0)?;
    prefixes.iter().find(|prefix| prefix.text.len() == reached && common(prefix) == reached).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = |kind: &str| TABLE.lines().filter(|line| line.starts_with(kind)).count();
        let database = udunits();
        assert_eq!(database.units.len(), lines("unit\t") + lines("base\t") + lines("dimensionless\t"));
        assert_eq!(database.name_prefixes.len(), lines("prefix\t"));
        assert!(database.symbol_prefixes.iter().all(|prefix| prefix.value != 1.0));
    }

    #[test]
    fn no_identifier_has_two_meanings() {
        let database = udunits();
        let names = database.spelled_names.iter().flat_map(|name| variants(name));
        assert_eq!(names.count(), database.names.len());
        let symbols = database.spelled_symbols.iter().flat_map(|symbol| variants(symbol));
        assert_eq!(symbols.count(), database.symbols.len());
    }
}
