//! Folders of the workspace.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The target folder of cargo, with everything that can be made again.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Where `cargo build --release` puts the command.
pub(crate) fn released() -> PathBuf {
    target().join("release").join(format!("hyperslab{}", env::consts::EXE_SUFFIX))
}

/// Where packages of other versions of tiledb-py are kept.
pub(crate) fn wheels() -> PathBuf {
    target().join("oracles").join("wheels")
}

/// The folder with the archives of the corpus.
pub(crate) fn corpus() -> PathBuf {
    env::var_os("HYPERSLAB_CORPUS")
        .map_or_else(|| root().join("..").join("shared").join("corpus"), |dir| root().join(dir))
}

/// Whether a program can be started by its name.
pub(crate) fn on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Whether this run decides about a change. Then no check may be skipped for a missing tool or file.
pub(crate) fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true")
}
