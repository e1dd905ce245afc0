//! `cargo xtask docs`: the pages of `docs/` as a book, in `target/book`.

use crate::tools::MDBOOK;
use crate::{run, workspace};

/// Builds the book. A warning from mdBook is an error, because it concerns something that readers would not see.
pub(crate) fn main() -> Result<(), String> {
    let mdbook = MDBOOK.installed()?;
    let book = workspace::target().join("book");
    let done = run::shown(run::command(mdbook).arg("build").arg("--dest-dir").arg(&book))?;
    if !done.success || done.output.contains("WARN") {
        return Err("the book does not build without a warning".to_owned());
    }
    println!("{}", book.join("index.html").display());
    Ok(())
}
