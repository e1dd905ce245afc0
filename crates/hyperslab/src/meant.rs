//! What the author of a location that leads nowhere probably meant.

use crate::format::OpenOptions;
use crate::formats::{open, recognize};
use crate::location::{LocatedObject, Locator, missing_attribute, nearest};
use crate::source::Source;
use hyperslab_core::{Remedy, Result};
use std::path::Path;

/// What to write in place of the location `text`, whose store does not exist, if it consists of a store and an object
/// or attribute without `:/`, as in `a.nc:x`, `a.nc/x` or `a.nc@title`.
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

/// What to do if there is no store at the path `text`: use the most similar name in its folder, or look there.
pub fn store(text: &str) -> Option<Remedy> {
    let path = Path::new(text);
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().map_or(Path::new("."), |folder| match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let names: Vec<String> = match std::fs::read_dir(folder) {
        Ok(entries) => {
            let names = entries.flatten().map(|entry| entry.file_name());
            names.take(MAX_NAMES).filter_map(|name| name.into_string().ok()).collect()
        }
        Err(_) => Vec::new(),
    };
    // The suffix may be missing or different.
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    let same = names.iter().filter(|other| stem(other) == stem(name)).map(String::as_str);
    // A common suffix alone does not make names similar.
    let similar = names.iter().filter(|other| nearest(&stem(name), [stem(other).as_str()]).is_some());
    let near = nearest(name, same).or_else(|| nearest(name, similar.map(String::as_str)));
    let near = near
        .map(|near| path.with_file_name(near))
        .filter(|near| near.as_path() != path && recognize(near).is_ok_and(|format| format.is_some()));
    Some(match near.as_deref().and_then(Path::to_str) {
        Some(near) => Remedy::Instead { given: text.to_owned(), write: near.to_owned(), effect: None },
        None => Remedy::ListFolder(there.to_path_buf()),
    })
}

/// The maximum number of names in a folder that are searched for a similar one.
const MAX_NAMES: usize = 10_000;

/// Checks whether there is an object or attribute at a path.
///
/// # Errors
/// If there is none; the error suggests the most similar name.
fn resolve(source: &dyn Source, path: &str) -> Result<()> {
    let found = Locator { store: String::new(), path: Some(path.to_owned()) }.targets(source)?;
    let [LocatedObject { entry, attribute: Some(name) }] = found.as_slice() else { return Ok(()) };
    let node = source.load(&entry.handle)?;
    let mut names = node.attributes().into_iter().flat_map(|all| all.keys().map(String::as_str));
    match names.clone().any(|known| known == name) {
        true => Ok(()),
        false => Err(missing_attribute(&entry.handle.path, name, &mut names)),
    }
}
