//! What the author of a location that leads nowhere probably meant.

use crate::format::OpenOptions;
use crate::formats::open;
use crate::location::{LocatedObject, Locator};
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

/// Whether an object or attribute is at a path.
fn resolve(source: &dyn Source, path: &str) -> Result<()> {
    let found = Locator { store: String::new(), path: Some(path.to_owned()) }.targets(source)?;
    let has = |target: &LocatedObject| match &target.attribute {
        Some(name) => {
            let node = source.load(&target.entry.handle).ok();
            node.is_some_and(|node| node.attributes().is_some_and(|all| all.contains_key(name)))
        }
        None => true,
    };
    match found.iter().any(has) {
        true => Ok(()),
        false => Err(Error::not_found("no such attribute")),
    }
}
