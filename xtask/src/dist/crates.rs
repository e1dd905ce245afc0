//! The crates as crates.io would receive them.

use crate::missing::{UNREACHABLE, is_unreachable};
use crate::run;
use crate::tally::Tally;

/// Has cargo package every crate that can be published, build each from its package, and stop before the upload.
pub(super) fn build_as_published(tally: &mut Tally) -> Result<(), String> {
    let mut publish = run::cargo();
    publish.args(["publish", "--workspace", "--dry-run", "--locked", "--color", "never"]);
    let changes = run::quietly(run::command("git").args(["status", "--porcelain"]))?.output;
    if !changes.trim().is_empty() {
        println!("not committed, and nevertheless in the packages:\n{changes}");
        publish.arg("--allow-dirty");
    }
    let done = run::shown(&mut publish)?;
    if !done.success && is_unreachable(&done) {
        *tally += Tally::skip(format!("{UNREACHABLE}: {}", done.last_line()));
        return Ok(());
    }
    tally.check(done.success, "cargo builds every crate from its package");
    Ok(())
}
