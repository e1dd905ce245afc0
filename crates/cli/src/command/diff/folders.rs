//! `diff FOLDER FOLDER`: compares the stores in two folders.

use super::stores;
use crate::args::{Common, Diff};
use crate::exit::Exit;
use crate::output::Messages;
use crate::terminal::{Out, harmless};
use hyperslab::files::stores_in;
use hyperslab::location::Locator;
use hyperslab::{ErrorKind, Result, stem};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Compares each store in `a` with the one in `b` that has the same relative path. If there is none, compares it with
/// the only one that has the same path apart from the suffix of its format: `2020/day1.nc` with `2020/day1.zarr`.
pub(super) fn run(
    a: &Path,
    b: &Path,
    args: &Diff,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<Exit> {
    let pairs = pairs(&relative(a)?, &relative(b)?);
    let mut worst = Exit::Yes;
    let (mut compared, mut differing, mut only) = (0_u64, 0_u64, [0_u64; 2]);
    for (x, y) in &pairs {
        let exit = match (x, y) {
            (Some(x), Some(y)) => {
                compared += 1;
                let name = if x == y { x.clone() } else { format!("{x} {y}") };
                let at = |folder: &Path, name: &str| Locator {
                    store: folder.join(name).display().to_string(),
                    path: None,
                };
                let exit = match stores((&at(a, x), &at(b, y)), Some(&name), args, common, messages, out) {
                    Ok(exit) => exit,
                    Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                    Err(error) => {
                        messages.error(&error);
                        Exit::Trouble
                    }
                };
                differing += u64::from(exit == Exit::No);
                exit
            }
            (Some(x), None) => {
                only[0] += 1;
                alone('-', x, args, out)?
            }
            (None, Some(y)) => {
                only[1] += 1;
                alone('+', y, args, out)?
            }
            (None, None) => Exit::Yes,
        };
        worst = worst.max(exit);
    }
    if worst != Exit::Yes && !args.json {
        let mut parts = vec![format!("{differing} of {compared} stores in both differ")];
        for (count, folder) in only.into_iter().zip([a, b]).filter(|(count, _)| *count > 0) {
            parts.push(format!("{count} only in {}", harmless(&folder.display().to_string())));
        }
        writeln!(out, "{}", parts.join(", "))?;
    }
    Ok(worst)
}

/// Reports a store that only one folder has.
fn alone(sign: char, name: &str, args: &Diff, out: &mut Out<'_>) -> Result<Exit> {
    match args.json {
        true => {
            let line = serde_json::json!({"file": name, "kind": "store", "change": sign, "what": "presence"});
            out.json_line(line)?;
        }
        false => out.own(format_args!("{sign} {}\n", harmless(name)))?,
    }
    Ok(Exit::No)
}

/// The stores in a folder by their relative paths.
fn relative(folder: &Path) -> Result<Vec<String>> {
    let stores = stores_in(folder)?;
    let inside = |store: &PathBuf| store.strip_prefix(folder).unwrap_or(store).display().to_string();
    let mut names: Vec<String> = stores.iter().map(inside).collect();
    names.sort();
    Ok(names)
}

/// The pairs of corresponding stores, in the order of their names.
fn pairs(a: &[String], b: &[String]) -> Vec<(Option<String>, Option<String>)> {
    // The path without its suffix, if it belongs to only one of the stores without a namesake.
    let by_stem = |own: &[String], others: &[String]| {
        let mut found: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
        for name in own.iter().filter(|name| others.binary_search(name).is_err()) {
            let path = Path::new(name);
            let stem = path.with_file_name(stem(path));
            found.entry(stem).and_modify(|known| *known = None).or_insert_with(|| Some(name.clone()));
        }
        found
    };
    let (in_a, in_b) = (by_stem(a, b), by_stem(b, a));
    let partner = |name: &String,
                   own: &BTreeMap<PathBuf, Option<String>>,
                   other: &BTreeMap<PathBuf, Option<String>>| {
        let path = Path::new(name);
        let stem = path.with_file_name(stem(path));
        own.get(&stem).cloned().flatten().filter(|known| known == name)?;
        other.get(&stem).cloned().flatten()
    };
    let mut pairs = Vec::new();
    for name in a {
        let other =
            if b.binary_search(name).is_ok() { Some(name.clone()) } else { partner(name, &in_a, &in_b) };
        pairs.push((Some(name.clone()), other));
    }
    for name in b {
        if a.binary_search(name).is_err() && partner(name, &in_b, &in_a).is_none() {
            pairs.push((None, Some(name.clone())));
        }
    }
    pairs.sort_by(|x, y| x.0.as_ref().or(x.1.as_ref()).cmp(&y.0.as_ref().or(y.1.as_ref())));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_belong_together_by_name_and_else_by_name_without_suffix() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = pairs(
            &names(&["a.nc", "b.nc", "c.nc", "d.h5", "d.nc", "s/e.nc"]),
            &names(&["a.nc", "b.zarr", "d.zarr", "f.zarr", "s/e.zarr"]),
        );
        let shown: Vec<String> = found
            .iter()
            .map(|(a, b)| format!("{}|{}", a.as_deref().unwrap_or(""), b.as_deref().unwrap_or("")))
            .collect();
        let expected =
            ["a.nc|a.nc", "b.nc|b.zarr", "c.nc|", "d.h5|", "d.nc|", "|d.zarr", "|f.zarr", "s/e.nc|s/e.zarr"];
        assert_eq!(shown, expected);
    }
}
