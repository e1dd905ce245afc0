//! Licences and sources of dependencies, judged by cargo-deny as `deny.toml` says.

use crate::run;
use crate::tally::Tally;
use crate::tools::CARGO_DENY;

/// The stage `deny`. It does not install cargo-deny, which takes minutes to build.
pub(crate) fn check() -> Result<Tally, String> {
    let Some(program) = CARGO_DENY.found() else {
        return Ok(Tally::skip("cargo-deny is not installed: `cargo xtask oracles` installs it"));
    };
    // Advisories need a database from the network, and change while the project does not.
    let args = ["deny", "--offline", "check", "bans", "licenses", "sources"];
    Ok(Tally::of(run::shown(run::command(program).args(args))?.success))
}
