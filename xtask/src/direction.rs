//! The allowed dependencies: between crates, and between modules of `hyperslab`.

mod map;
mod modules;

use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::Path;

/// The crates that each crate may use, as drawn in ARCHITECTURE.md. All others are forbidden.
const MAY_USE: &[(&str, &[&str])] = &[
    ("hyperslab-core", &[]),
    ("hyperslab-codec", &["hyperslab-core"]),
    ("hyperslab-model", &["hyperslab-core"]),
    ("hyperslab-cf", &["hyperslab-core", "hyperslab-model"]),
    ("hyperslab-ndl", &["hyperslab-core", "hyperslab-model"]),
    ("hyperslab-hdf5", &["hyperslab-core", "hyperslab-codec"]),
    ("hyperslab-zarr", &["hyperslab-core", "hyperslab-codec"]),
    ("hyperslab-tiledb", &["hyperslab-core", "hyperslab-codec"]),
    ("hyperslab-netcdf3", &["hyperslab-core"]),
    ("hyperslab-netcdf4", &["hyperslab-core", "hyperslab-hdf5"]),
    (
        "hyperslab",
        &[
            "hyperslab-core",
            "hyperslab-cf",
            "hyperslab-codec",
            "hyperslab-model",
            "hyperslab-ndl",
            "hyperslab-hdf5",
            "hyperslab-netcdf3",
            "hyperslab-netcdf4",
            "hyperslab-tiledb",
            "hyperslab-zarr",
        ],
    ),
    ("hyperslab-cli", &["hyperslab"]),
    ("hyperslab-python", &["hyperslab"]),
    ("xtask", &[]),
];

/// Checks the manifest of every member, the modules of `hyperslab`, and the code map.
pub(crate) fn check() -> Result<Tally, String> {
    let root = workspace::root();
    let mut manifests = vec![root.join("xtask").join("Cargo.toml")];
    let crates = fs::read_dir(root.join("crates")).map_err(|error| format!("crates: {error}"))?;
    manifests.extend(crates.flatten().map(|entry| entry.path().join("Cargo.toml")));
    manifests.sort();
    let mut tally = Tally::default();
    for manifest in manifests.iter().filter(|manifest| manifest.is_file()) {
        let problems = read(manifest)?.problems();
        for problem in &problems {
            println!("{}: {problem}", manifest.display());
        }
        let name = manifest.strip_prefix(&root).unwrap_or(manifest);
        tally.check(problems.is_empty(), format_args!("{} uses only what is below it", name.display()));
    }
    modules::check(&mut tally)?;
    map::check(&mut tally)?;
    Ok(tally)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Manifest {
    name: String,
    uses: Vec<String>,
    inherits_lints: bool,
}

fn read(path: &Path) -> Result<Manifest, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Manifest::parse(&text))
}

impl Manifest {
    /// Parses a manifest: tables, with one key per line.
    fn parse(text: &str) -> Self {
        let mut manifest = Manifest::default();
        let mut table = "";
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                table = header.trim_end_matches(']');
                // `[dependencies.hyperslab-core]` names a dependency in its header.
                if let Some((_, name)) = table.split_once("dependencies.") {
                    manifest.uses.push(name.to_owned());
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let key = key.trim();
            match (table, key) {
                ("package", "name") => manifest.name = value.trim().trim_matches('"').to_owned(),
                ("lints", "workspace") => manifest.inherits_lints = value.trim() == "true",
                (table, key) if table.ends_with("dependencies") => {
                    manifest.uses.push(key.split('.').next().unwrap_or(key).to_owned());
                }
                _ => {}
            }
        }
        manifest
    }

    fn problems(&self) -> Vec<String> {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == self.name) else {
            return vec![format!("'{}' has no row in xtask/src/direction.rs", self.name)];
        };
        // A crate's tests use the crate itself, with features.
        let may_use = |used: &str| used == self.name || allowed.contains(&used);
        let mut problems: Vec<String> = self
            .uses
            .iter()
            .filter(|used| used.starts_with("hyperslab") && !may_use(used))
            .map(|used| format!("{} may not use {used}", self.name))
            .collect();
        if !self.inherits_lints {
            problems.push(format!("{} does not inherit the workspace's lints", self.name));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_forbidden_dependency() {
        let text = "[package]\nname = \"hyperslab-core\"\n[lints]\nworkspace = true\n\
             [dependencies]\nbytes.workspace = true\nhyperslab-model.workspace = true\n";
        assert_eq!(Manifest::parse(text).problems(), ["hyperslab-core may not use hyperslab-model"]);
    }

    #[test]
    fn finds_a_dependency_with_its_own_table() {
        let text = "[package]\nname = \"hyperslab-cli\"\n[dependencies.hyperslab-hdf5]\npath = \"../hdf5\"\n\
             [lints]\nworkspace = true\n";
        assert_eq!(Manifest::parse(text).problems(), ["hyperslab-cli may not use hyperslab-hdf5"]);
    }

    #[test]
    fn finds_a_crate_without_a_row_or_lints() {
        assert_eq!(Manifest::parse("[package]\nname = \"other\"\n").problems().len(), 1);
        assert_eq!(
            Manifest::parse("[package]\nname = \"xtask\"\n").problems(),
            ["xtask does not inherit the workspace's lints"]
        );
    }
}
