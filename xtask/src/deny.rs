//! Checks licences and sources of dependencies with cargo-deny, by the rules in `deny.toml`.

use crate::run;
use crate::tally::Tally;
use crate::tools::CARGO_DENY;

/// The stage `deny`. It does not install cargo-deny, which takes minutes to build.
pub(crate) fn check() -> Result<Tally, String> {
    let Some(program) = CARGO_DENY.found() else {
        return Ok(Tally::skip("cargo-deny is not installed: `cargo xtask oracles` installs it"));
    };
    // Dependencies for other systems, whose licences count too, are not downloaded by a build. Without a network, the
    // check reports what is missing.
    run::quietly(run::cargo().args(["fetch", "--locked"]))?;
    // Advisories need a database from the network, which changes independently of the project.
    let args = ["deny", "--offline", "check", "bans", "licenses", "sources"];
    Ok(Tally::of(run::shown(run::command(program).args(args))?.success))
}
