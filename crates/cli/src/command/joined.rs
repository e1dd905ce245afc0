//! Several stores treated as one, for the verbs that join stores.

use crate::output::Messages;
use crate::words;
use hyperslab::location::Locator;
use hyperslab::{Error, JoinOptions, Joined, Result};
use std::path::PathBuf;

/// The stores of the locations, and the path that all locations name.
///
/// # Errors
/// If they name different objects.
pub(crate) fn stores(locations: &[String]) -> Result<(Vec<String>, Option<String>)> {
    let mut all = locations.iter().map(|text| Locator::parse(text));
    let Some(Locator { store, path }) = all.next() else { return Ok((Vec::new(), None)) };
    let mut stores = vec![store];
    for other in all {
        if other.path != path {
            let shown = |path: &Option<String>| path.clone().unwrap_or_else(|| "all of it".to_owned());
            let text = format!(
                "names {}, expected {} like the locations before it",
                shown(&other.path),
                shown(&path)
            );
            return Err(Error::invalid(text)
                .with_hint("files are joined object by object: give the same path in each")
                .in_file(other.store));
        }
        stores.push(other.store);
    }
    Ok((stores, path))
}

/// The name of joined stores in messages.
pub(crate) fn name(stores: &[String]) -> String {
    match stores {
        [first, .., last] => format!("{first} … {last}"),
        [only] => only.clone(),
        [] => String::new(),
    }
}

/// Opens stores as one, and reports how they differ.
///
/// # Errors
/// If they cannot be joined.
pub(crate) fn open(stores: &[String], options: &JoinOptions, messages: &Messages) -> Result<Joined> {
    let paths: Vec<PathBuf> = stores.iter().map(PathBuf::from).collect();
    let joined = Joined::open(&paths, options).map_err(|error| match error.file().map(str::to_owned) {
        Some(store) => words::unmatched(error, &store),
        None => error,
    })?;
    let tell = |all: &[String], tell: &dyn Fn(&str)| {
        all.iter().take(MAX_SHOWN).for_each(|one| tell(one));
        if let Some(more) = all.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            tell(&format!("{more} more of this kind"));
        }
    };
    tell(joined.notes(), &|note| messages.note(note));
    tell(joined.gaps(), &|gap| messages.warning(gap));
    Ok(joined)
}

/// The number of notes and of gaps that are reported.
const MAX_SHOWN: usize = 20;
