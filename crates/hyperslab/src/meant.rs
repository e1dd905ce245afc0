//! What the author of a location that leads nowhere probably meant.

use crate::format::OpenOptions;
use crate::formats::open;
use crate::location::{LocatedObject, Locator, nearest};
use crate::source::Source;
use hyperslab_core::{Error, Remedy, Result};
use std::path::Path;

/// What to write in the place of the location `text`, whose store does not exist: a store, and behind it an object or
/// attribute without `:/`, as in `a.nc:x`, `a.nc/x` or `a.nc@title`.
pub fn location(text: &str, options: &OpenOptions) -> Option<Remedy> {
    let mut splits = text.rmatch_indices([':', '/', '@']).filter_map(|(at, _)| text.split_at_checked(at));
    // The longest name of a store decides.
    let (store, rest) = splits.find(|(store, _)| Path::new(store).exists())?;
    let path = match rest.strip_prefix('@') {
        Some(attribute) => format!("/@{attribute}"),
        None => format!("/{}", rest.trim_start_matches([':', '/'])),
    };
    let source = open(Path::new(store), options).ok()?;
    let write = match resolve(&*source, &path) {
        Ok(()) => path,
        Err(error) => match error.remedies() {
            [Remedy::Instead { given, write, .. }] => path.replacen(given.as_str(), write, 1),
            [Remedy::SelectPart { object, selection }] => {
                let object = format!("{store}:{object}");
                return Some(Remedy::SelectPart { object, selection: selection.clone() });
            }
            _ => return None,
        },
    };
    resolve(&*source, &write).ok()?;
    Some(Remedy::Instead { given: text.to_owned(), write: format!("{store}:{write}"), effect: None })
}

/// Finds out whether an object or attribute is at a path.
///
/// # Errors
/// If there is none; with the most similar name.
fn resolve(source: &dyn Source, path: &str) -> Result<()> {
    let found = Locator { store: String::new(), path: Some(path.to_owned()) }.targets(source)?;
    let [LocatedObject { entry, attribute: Some(name) }] = found.as_slice() else { return Ok(()) };
    let node = source.load(&entry.handle)?;
    let names = || node.attributes().into_iter().flat_map(|all| all.keys());
    if names().any(|known| known == name) {
        return Ok(());
    }
    let near = nearest(name, names().map(String::as_str));
    Err(Error::not_found("no such attribute").with_remedies(near.map(|near| Remedy::Instead {
        given: format!("@{name}"),
        write: format!("@{near}"),
        effect: None,
    })))
}
