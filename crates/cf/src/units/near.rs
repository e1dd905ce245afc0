//! Known units whose spelling is similar to an unknown one.

use super::database::Database;
use crate::edits::edits;

/// The known unit that an identifier was probably meant to be.
///
/// A symbol in another case comes first, such as `hPa` for `HPA`; then the name or long symbol with the fewest edits.
pub(super) fn near(identifier: &str, database: &Database) -> Option<String> {
    if identifier.chars().count() > LONGEST {
        return None;
    }
    symbol_in_other_case(identifier, database).or_else(|| fewest_edits(identifier, database))
}

/// Longer identifiers are not compared with anything, so that the time for one is bounded.
const LONGEST: usize = 40;

fn symbol_in_other_case(identifier: &str, database: &Database) -> Option<String> {
    let known = |text: &str| database.spelled_symbols.iter().find(|symbol| symbol.eq_ignore_ascii_case(text));
    if let Some(symbol) = known(identifier) {
        return Some((*symbol).to_owned());
    }
    database.symbol_prefixes.iter().find_map(|prefix| {
        let (start, rest) = identifier.split_at_checked(prefix.text.len())?;
        let symbol = known(rest)?;
        start.eq_ignore_ascii_case(prefix.text).then(|| format!("{}{symbol}", prefix.text))
    })
}

fn fewest_edits(identifier: &str, database: &Database) -> Option<String> {
    let lower = identifier.to_lowercase();
    let most = match lower.chars().count() {
        ..4 => return None,
        4..6 => 1,
        6..10 => 2,
        _ => 3,
    };
    let prefixes = database.name_prefixes.iter().map(|prefix| prefix.text);
    let starts = [""].into_iter().chain(prefixes.filter(|prefix| lower.starts_with(prefix)));
    let long_symbols = database.spelled_symbols.iter().filter(|symbol| symbol.chars().count() >= 3);
    let known = || database.spelled_names.iter().chain(long_symbols.clone());
    let candidates = starts.flat_map(|start| {
        let rest: Vec<char> = lower.chars().skip(start.len()).collect();
        let length = rest.len();
        let of_like_length = move |name: &&&str| name.chars().count().abs_diff(length) <= most;
        known().filter(of_like_length).filter_map(move |name| {
            let name_letters: Vec<char> = name.to_lowercase().chars().collect();
            let edits = edits(&rest, &name_letters, most).filter(|edits| *edits < rest.len())?;
            Some((edits, format!("{start}{name}")))
        })
    });
    candidates.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}
