//! Locations that name several stores: patterns, and folders of stores.

use crate::args::{Check, Concat, Convert, Describe, Digest, Files, History, Ls, Show, Stat, Verb};
use hyperslab::files::{is_plain_folder, matching, stores_in};
use hyperslab::{Error, Result};
use std::path::Path;

/// Replaces locations that have a pattern for their store by the stores that match, and, for verbs that process each
/// store separately, folders by the stores in them.
///
/// # Errors
/// If a folder cannot be listed, or contains no stores.
pub(crate) fn expand(verb: &mut Verb) -> Result<()> {
    match verb {
        Verb::Describe(Describe { locations, .. })
        | Verb::Ls(Ls { locations, .. })
        | Verb::Show(Show { locations, .. })
        | Verb::Files(Files { locations, .. })
        | Verb::History(History { locations, .. })
        | Verb::Convert(Convert { sources: locations, .. })
        | Verb::Concat(Concat { sources: locations, .. }) => expanded(locations, false),
        Verb::Stat(Stat { locations, .. })
        | Verb::Digest(Digest { locations, .. })
        | Verb::Check(Check { locations, .. }) => expanded(locations, true),
        Verb::Diff(_)
        | Verb::Create(_)
        | Verb::Edit(_)
        | Verb::Repack(_)
        | Verb::Schema { .. }
        | Verb::Completions { .. }
        | Verb::Man { .. } => Ok(()),
    }
}

fn expanded(locations: &mut Vec<String>, in_folders: bool) -> Result<()> {
    let mut all = Vec::with_capacity(locations.len());
    for location in locations.iter() {
        for location in matching(location)? {
            let folder = Path::new(&location);
            if !in_folders || !is_plain_folder(folder) {
                all.push(location);
                continue;
            }
            let stores = stores_in(folder)?;
            if stores.is_empty() {
                return Err(Error::not_found("is a directory without stores").in_file(location));
            }
            all.extend(stores.iter().map(|store| store.display().to_string()));
        }
    }
    *locations = all;
    Ok(())
}
