//! Programs of Debian packages, which are installed if they are missing and the user is root.

use crate::missing::{Missing, is_unreachable};
use crate::{run, workspace};

/// A program, and the Debian package that contains it.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

/// Installs the missing programs.
pub(crate) fn installed(programs: &[Program]) -> Result<(), Missing> {
    let missing =
        || programs.iter().filter(|program| !workspace::on_path(program.name)).collect::<Vec<&Program>>();
    let needed = missing();
    if needed.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = needed.iter().map(|program| program.name).collect();
    let packages: Vec<&str> = needed.iter().map(|program| program.package).collect();
    let line = format!("apt-get install -y {}", packages.join(" "));
    let by_hand = |reason: &str, unreachable| Missing {
        reason: format!("{} are not installed; {reason}: {line}", names.join(" and ")),
        unreachable,
    };
    if !workspace::on_path("apt-get") {
        return Err(by_hand("there is no apt-get here; on Debian", false));
    }
    if !is_root() {
        return Err(by_hand("as root, run", false));
    }
    let apt = |args: &[&str]| {
        run::quietly(run::command("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"))
            .map_err(|error| by_hand(&error, false))
    };
    apt(&["update"])?;
    let install = [&["install", "-y", "--no-install-recommends"], packages.as_slice()].concat();
    let done = apt(&install)?;
    if done.success && missing().is_empty() {
        return Ok(());
    }
    Err(by_hand(done.last_line(), is_unreachable(&done)))
}

/// Whether the user may install packages and change the root directory of a process.
pub(crate) fn is_root() -> bool {
    run::quietly(run::command("id").arg("-u")).is_ok_and(|id| id.output.trim() == "0")
}
