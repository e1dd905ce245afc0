//! A release as a user receives it: unpacked, installed in an empty root, run, and removed.

use super::{MAN, Made, Release, VERSION, finish, read};
use crate::tally::Tally;
use crate::{debian, run, workspace};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The completions that bash offers for a line, with the script that is loaded for the command.
const IN_BASH: &str = r#"
source "$1"
function=$(complete -p hyperslab | sed 's/.* -F \([^ ]*\).*/\1/')
COMP_LINE="$2" COMP_POINT=${#2} COMP_WORDS=($2) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$function" hyperslab "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Tries the files of a release.
pub(super) fn all(release: &Release, made: &Made, tally: &mut Tally) -> Result<(), String> {
    let mut sums = run::command("sha256sum");
    sums.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&release.folder);
    tally.check(run::quietly(&mut sums)?.success, "SHA256SUMS has the sums of all files");
    bill(&made.bill, tally)?;
    archive(release, made, tally)?;
    if let Some(package) = &made.package {
        let root = release.folder.join("root");
        let installed = Installed::new(root, package)?;
        installed.tried(tally)?;
        fs::remove_dir_all(&installed.root).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Checks that the bill of materials names the crates of the licence list.
fn bill(bill: &Path, tally: &mut Tally) -> Result<(), String> {
    let bill = read(bill)?;
    let named = bill.contains("\"pkg:cargo/hyperslab-core@") && bill.contains("\"pkg:cargo/zstd-sys@");
    tally.check(named, "the bill of materials names our crates and those of others");
    Ok(())
}

/// Checks that the archive works where it is unpacked.
fn archive(release: &Release, made: &Made, tally: &mut Tally) -> Result<(), String> {
    let mut unpack = run::command("tar");
    finish(unpack.arg("-xzf").arg(&made.archive).arg("-C").arg(&release.folder))?;
    let name = made.archive.file_name().unwrap_or_default().to_string_lossy();
    let folder = release.folder.join(name.trim_end_matches(".tar.gz"));
    let version = finish(run::command(folder.join("bin/hyperslab")).arg("--version"))?.output;
    tally.check(version.trim() == format!("hyperslab {VERSION}"), "the program of the archive runs");
    let places = [
        "share/man/man1/hyperslab-convert.1.gz",
        "share/bash-completion/completions/hyperslab",
        "share/zsh/site-functions/_hyperslab",
        "share/fish/vendor_completions.d/hyperslab.fish",
        "share/doc/hyperslab/LICENSE-MIT",
        "share/doc/hyperslab/THIRD-PARTY-LICENCES.txt",
    ];
    let lacking: Vec<_> = places.iter().filter(|place| !folder.join(place).is_file()).collect();
    for place in &lacking {
        println!("{place} is not in the archive");
    }
    tally.check(lacking.is_empty(), "the archive has manual, completions and licences");
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The package, installed in a root of its own.
struct Installed {
    root: PathBuf,
}

impl Installed {
    /// Installs it in a root that lists the packages of this system, so that its dependencies are checked.
    fn new(root: PathBuf, package: &Path) -> Result<Installed, String> {
        let list = root.join("var/lib/dpkg");
        for folder in ["info", "updates", "triggers"] {
            fs::create_dir_all(list.join(folder)).map_err(|error| error.to_string())?;
        }
        fs::copy("/var/lib/dpkg/status", list.join("status"))
            .map_err(|error| format!("/var/lib/dpkg/status: {error}"))?;
        let installed = Installed { root };
        // Container images often omit documentation.
        finish(installed.dpkg().args(["--path-include=*", "--install"]).arg(package))?;
        Ok(installed)
    }

    fn dpkg(&self) -> Command {
        let mut dpkg = run::command("dpkg");
        dpkg.arg(format!("--root={}", self.root.display())).arg("--force-not-root").env("LC_ALL", "C.UTF-8");
        // Without this, dpkg would write to the log of the system.
        dpkg.arg("--log=/dev/null");
        dpkg.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        dpkg
    }

    fn tried(&self, tally: &mut Tally) -> Result<(), String> {
        let status = finish(self.dpkg().args(["--status", "hyperslab"]))?.output;
        tally.check(status.contains("Status: install ok installed"), "dpkg installs the package");
        tally.check(status.contains("Depends: libc6"), "the package names the C library that it needs");
        let verified = finish(self.dpkg().args(["--verify", "hyperslab"]))?.output;
        tally.check(verified.trim().is_empty(), "the installed files have the sums of the package");
        let version = finish(self.hyperslab()?.arg("--version"))?.output;
        tally.check(version.trim() == format!("hyperslab {VERSION}"), "the installed command runs");
        let example = self.root.join("tmp/ocean.nc");
        fs::create_dir_all(self.root.join("tmp")).map_err(|error| error.to_string())?;
        fs::copy(workspace::root().join("examples/ocean.nc"), &example).map_err(|error| error.to_string())?;
        let described = finish(self.hyperslab()?.args(["describe", "tmp/ocean.nc"]))?.output;
        tally.check(described.starts_with("# NDL"), "the installed command describes a file");
        self.manual(tally)?;
        self.completions(tally)?;
        self.documents(tally)?;
        finish(self.dpkg().args(["--purge", "hyperslab"]))?;
        // Libraries that were copied for the command may be in other folders.
        let left = ["usr/bin", "usr/share"].iter().any(|folder| self.root.join(folder).exists());
        tally.check(!left, "nothing is left when the package is removed");
        Ok(())
    }

    /// The installed command, with access to this root alone if we are allowed to change the root.
    fn hyperslab(&self) -> Result<Command, String> {
        let program = self.root.join("usr/bin/hyperslab");
        if !debian::is_root() {
            let mut command = run::command(program);
            command.current_dir(&self.root);
            return Ok(command);
        }
        // Nothing else of the system is there: neither other libraries nor data files of a library.
        let libraries = finish(run::command("ldd").arg(&program))?.output;
        for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            let place = self.root.join(library.trim_start_matches('/'));
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            }
            fs::copy(library, &place).map_err(|error| format!("{library}: {error}"))?;
        }
        let mut command = run::command("chroot");
        command.arg(&self.root).arg("/usr/bin/hyperslab");
        Ok(command)
    }

    /// Checks that `man` finds the pages.
    fn manual(&self, tally: &mut Tally) -> Result<(), String> {
        if let Err(missing) = debian::installed(&[MAN]) {
            *tally += missing.tally();
            return Ok(());
        }
        for (page, title) in [("hyperslab", "hyperslab(1)"), ("hyperslab-convert", "hyperslab-convert(1)")] {
            let mut man = run::command("man");
            man.arg(page).env("MANPATH", self.root.join("usr/share/man")).env("MANPAGER", "cat");
            let text = finish(man.env("LC_ALL", "C.UTF-8"))?.output;
            let shown = text.to_lowercase().contains(title) && text.contains("EXIT STATUS");
            tally.check(shown, format_args!("`man {page}` shows the page"));
        }
        Ok(())
    }

    /// Checks that bash completes verbs, options and paths inside files.
    fn completions(&self, tally: &mut Tally) -> Result<(), String> {
        let script = self.root.join("usr/share/bash-completion/completions/hyperslab");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.root.join("usr/bin").as_os_str(), &path].join(OsStr::new(":"));
        for (line, wanted) in [
            ("hyperslab desc", "describe"),
            ("hyperslab ls --rec", "--recursive"),
            ("hyperslab show ocean.nc:/waves/h", "/waves/height"),
        ] {
            let mut bash = run::command("bash");
            bash.args(["--norc", "-c", IN_BASH, "bash"]).arg(&script).arg(line).env("PATH", &path);
            let offered = finish(bash.current_dir(self.root.join("tmp")))?.output;
            tally.check(offered.trim() == wanted, format_args!("bash completes `{line}`"));
        }
        Ok(())
    }

    /// Checks the documents that Debian policy requires.
    fn documents(&self, tally: &mut Tally) -> Result<(), String> {
        let folder = self.root.join("usr/share/doc/hyperslab");
        let copyright = read(&folder.join("copyright"))?;
        let licences = read(&folder.join("THIRD-PARTY-LICENCES.txt"))?;
        tally.check(copyright.contains("License: Expat or Apache-2.0"), "the package says its licence");
        tally.check(licences.contains("\nzstd-sys "), "the package has the licences of other libraries");
        tally.check(folder.join("changelog.Debian.gz").is_file(), "the package has a changelog");
        Ok(())
    }
}
