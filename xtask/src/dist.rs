//! `cargo xtask dist`: the files of a release, in `target/dist`, which are then installed and tried.
//!
//! The same commit gives the same bytes on the same system: dates are those of the commit (or `SOURCE_DATE_EPOCH`), and
//! the program contains no path of the machine that builds it.

mod crates;
mod tried;

use crate::debian::{self, Program};
use crate::missing::Missing;
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::tools::CARGO_DEB;
use crate::{programs, workspace};
use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profile of the released program, described in `Cargo.toml`.
const PROFILE: &str = "packaged";

/// The maximum size of the released program in bytes.
const LARGEST: u64 = 20 << 20;

/// The version of all crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Programs with which the package is made and tried.
const DPKG_DEV: Program = Program { name: "dpkg-shlibdeps", package: "dpkg-dev" };
const MAN: Program = Program { name: "man", package: "man-db" };

/// Makes, installs and tries a release, and has cargo build every crate as crates.io would receive it.
pub(crate) fn main() -> Result<(), String> {
    build()?;
    let release = Release::new(PROFILE, "dist")?;
    let mut tally = Tally::default();
    let made = release.make(CARGO_DEB.installed().map_err(Missing::of), &mut tally)?;
    tried::all(&release, &made, &mut tally)?;
    let size = length(&release.program());
    tally.check(size <= LARGEST, format_args!("the program has at most {LARGEST} bytes, here {size}"));
    crates::build_as_published(&mut tally)?;
    println!("\n{tally}");
    for file in made.files() {
        println!("{:>10}  {}", length(file), file.display());
    }
    for skip in &tally.skipped {
        println!("missing: {skip}");
    }
    match (tally.failed, tally.skipped.is_empty()) {
        (0, true) => Ok(()),
        (0, false) => Err("the release is incomplete".to_owned()),
        _ => Err("the release is not sound".to_owned()),
    }
}

/// The stage `dist`: a release of the command that all stages use, made twice and tried.
pub(crate) fn stage() -> Result<Tally, String> {
    programs::command()?;
    let mut tally = Tally::default();
    let [first, second] = ["first", "second"].map(|folder| {
        let release = Release::new(programs::PROFILE, &format!("dist-trial/{folder}"))?;
        // cargo-deb is not installed here, because that takes two minutes to build.
        let deb = CARGO_DEB.found().ok_or_else(|| Missing::of(NO_CARGO_DEB.to_owned()));
        Ok::<_, String>((release.make(deb, &mut tally)?, release))
    });
    let ((first, release), (second, _)) = (first?, second?);
    tally.skipped.dedup();
    let same = read(&first.sums)? == read(&second.sums)?;
    tally.check(same, "the same sources give the same files, byte for byte");
    tried::all(&release, &first, &mut tally)?;
    Ok(tally)
}

const NO_CARGO_DEB: &str = "cargo-deb is not installed: `cargo xtask oracles` installs it";

/// Builds the released program.
fn build() -> Result<(), String> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--locked", "--profile", PROFILE, "--package", "hyperslab-cli"]);
    // Panic messages contain the paths of sources. Without these flags, they would include the folders of whoever
    // builds.
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).unwrap_or_default();
    let flags = env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!(
        "{flags} --remap-path-prefix={}=/cargo --remap-path-prefix={}=/hyperslab",
        home.display(),
        workspace::root().display()
    );
    match run::shown(cargo.env("RUSTFLAGS", flags.trim()))?.success {
        true => Ok(()),
        false => Err("the command does not build".to_owned()),
    }
}

/// A release that is being made.
struct Release {
    profile: &'static str,
    /// The folder for its files.
    folder: PathBuf,
    /// The date of everything in it, in seconds since 1970.
    seconds: String,
    /// The target system, as Rust names it.
    target: String,
}

/// The files of a release.
struct Made {
    archive: PathBuf,
    bill: PathBuf,
    /// The Debian package, if it could be made.
    package: Option<PathBuf>,
    sums: PathBuf,
}

impl Made {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.archive, &self.bill].into_iter().chain(&self.package).chain([&self.sums])
    }
}

impl Release {
    /// An empty folder below `target/` for a release of the program of this profile.
    fn new(profile: &'static str, folder: &str) -> Result<Release, String> {
        let folder = workspace::target().join(folder);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Release { profile, folder, seconds: seconds()?, target: target()? })
    }

    fn program(&self) -> PathBuf {
        self.built().join(format!("hyperslab{EXE_SUFFIX}"))
    }

    /// Manual, completions and documents, where cargo-deb expects them.
    fn share(&self) -> PathBuf {
        self.built().join("share")
    }

    fn built(&self) -> PathBuf {
        workspace::target().join(self.profile)
    }

    /// Makes all files. Without cargo-deb the Debian package is omitted, and counted as skipped.
    fn make(&self, cargo_deb: Result<PathBuf, Missing>, tally: &mut Tally) -> Result<Made, String> {
        let (program, share) = (self.program(), self.share());
        let name = format!("hyperslab-{VERSION}-{}", self.target);
        let archive = self.folder.join(format!("{name}.tar.gz"));
        let bill = self.folder.join(format!("{name}.cdx.json"));
        let licences = share.join("doc/hyperslab/THIRD-PARTY-LICENCES.txt");
        finish(script("shared.py").args([&program, &share]).arg(&self.seconds))?;
        let mut dependencies = script("dependencies.py");
        dependencies.args([&licences, &bill]).args([VERSION, &self.seconds, &self.target]);
        finish(&mut dependencies)?;
        finish(script("archive.py").args([&program, &share, &archive]).arg(&self.seconds))?;
        let package = match cargo_deb.and_then(|cargo_deb| self.package(&cargo_deb)) {
            Ok(package) => Some(package),
            Err(missing) => {
                *tally += missing.tally();
                None
            }
        };
        let mut made = Made { archive, bill, package, sums: self.folder.join("SHA256SUMS") };
        let sums = finish(script("sums.py").args(made.files().filter(|file| file.exists())))?;
        fs::write(&made.sums, sums.output).map_err(|error| format!("{}: {error}", made.sums.display()))?;
        made.package = made.package.filter(|package| package.exists());
        Ok(made)
    }

    /// The Debian package, as described by the table `package.metadata.deb` in the command's manifest.
    fn package(&self, cargo_deb: &Path) -> Result<PathBuf, Missing> {
        debian::installed(&[DPKG_DEV])?;
        let mut deb = run::command(cargo_deb);
        deb.args(["--no-build", "--no-strip", "--locked", "--package", "hyperslab-cli"]);
        deb.args(["--profile", self.profile, "--output"]).arg(&self.folder);
        // A package that is only tried need not be small.
        if self.profile != PROFILE {
            deb.arg("--fast");
        }
        let done = run::quietly(deb.env("SOURCE_DATE_EPOCH", &self.seconds)).map_err(Missing::of)?;
        print!("{}", done.output);
        let entries = fs::read_dir(&self.folder).map_err(|error| Missing::of(error.to_string()))?;
        let package = entries
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"));
        match package {
            Some(package) if done.success => Ok(package),
            _ => Err(Missing::of(format!("no Debian package: {}", done.last_line()))),
        }
    }
}

/// The date of the release: the one in the environment, by the convention of tools for reproducible builds, or the date
/// of the last commit.
fn seconds() -> Result<String, String> {
    if let Ok(seconds) = env::var("SOURCE_DATE_EPOCH") {
        return Ok(seconds);
    }
    let commit = run::quietly(run::command("git").args(["log", "-1", "--format=%ct"]));
    match commit {
        Ok(done) if done.success => Ok(done.output.trim().to_owned()),
        _ => Err(
            "this is not a git repository, and SOURCE_DATE_EPOCH is not set to the date of the release in \
                  seconds since 1970"
                .to_owned(),
        ),
    }
}

/// The system that cargo builds for.
fn target() -> Result<String, String> {
    let about = finish(run::command("rustc").arg("-vV"))?;
    let host = about.output.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// A script of `xtask/dist`.
fn script(name: &str) -> Command {
    let mut command = run::command("python3");
    command.arg(workspace::root().join("xtask/dist").join(name)).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs a program that must succeed.
fn finish(command: &mut Command) -> Result<Finished, String> {
    let done = run::quietly(command)?;
    match done.success {
        true => Ok(done),
        false => Err(format!("{:?} failed:\n{}", command.get_args().next().unwrap_or_default(), done.output)),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}
