//! Folders of the workspace.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The target folder of cargo. Everything in it can be regenerated.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The path where `cargo build --release` puts the command.
pub(crate) fn released() -> PathBuf {
    target().join("release").join(format!("hyperslab{}", env::consts::EXE_SUFFIX))
}

/// The folder for packages of other versions of tiledb-py.
pub(crate) fn wheels() -> PathBuf {
    target().join("oracles").join("wheels")
}

/// The folder with the archives of the corpus.
pub(crate) fn corpus() -> PathBuf {
    env::var_os("HYPERSLAB_CORPUS")
        .map_or_else(|| root().join("..").join("shared").join("corpus"), |dir| root().join(dir))
}

/// Whether a program can be started by name.
pub(crate) fn on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Whether this run decides whether a change may land. In that case no check may be skipped because of a missing tool
/// or file.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true")
}
