//! The package as an interpreter would have it after an installation, without building a wheel.

use super::package;
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// Copies the package and its compiled module below `target/python/site`, and returns that folder.
pub(super) fn lay_out(module: &Path) -> Result<PathBuf, String> {
    let site = workspace::target().join("python").join("site");
    make(&site, module).map_err(|error| format!("{}: {error}", site.display()))?;
    Ok(site)
}

fn make(site: &Path, module: &Path) -> std::io::Result<()> {
    if site.exists() {
        fs::remove_dir_all(site)?;
    }
    let home = site.join("hyperslab");
    copy_sources(&package().join("python").join("hyperslab"), &home)?;
    let name = if cfg!(windows) { "_hyperslab.pyd" } else { "_hyperslab.abi3.so" };
    fs::copy(module, home.join(name))?;
    // The metadata from which xarray finds its engine, and Python the version.
    let version = env!("CARGO_PKG_VERSION");
    let about = site.join(format!("hyperslab-{version}.dist-info"));
    fs::create_dir(&about)?;
    fs::write(
        about.join("METADATA"),
        format!("Metadata-Version: 2.4\nName: hyperslab\nVersion: {version}\n"),
    )?;
    let project = fs::read_to_string(package().join("pyproject.toml"))?;
    fs::write(about.join("entry_points.txt"), entry_points(&project))
}

/// Copies sources and stubs, but not a compiled module that someone has built there.
fn copy_sources(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() && name != "__pycache__" {
            copy_sources(&path, &to.join(name))?;
        } else if matches!(extension, Some("py" | "pyi" | "typed")) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// The entry points of a project as an installer writes them.
fn entry_points(project: &str) -> String {
    let mut written = String::new();
    let mut is_within = false;
    for line in project.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let group =
                header.strip_prefix("project.entry-points.\"").and_then(|rest| rest.strip_suffix("\"]"));
            is_within = group.is_some();
            if let Some(group) = group {
                written += &format!("[{group}]\n");
            }
        } else if let (true, Some((name, value))) = (is_within, line.split_once('=')) {
            written += &format!("{} = {}\n", name.trim(), value.trim().trim_matches('"'));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_points_are_those_of_the_project() {
        let project = "[project]\nname = \"a\"\n[project.entry-points.\"xarray.backends\"]\na = \"a.b:C\"\n[tool.x]\nb = \"c\"\n";
        assert_eq!(entry_points(project), "[xarray.backends]\na = a.b:C\n");
    }
}
