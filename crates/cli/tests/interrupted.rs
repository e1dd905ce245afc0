//! Conversions that are killed, run out of disk space or run at the same time.

use crate::command::{Ran, prepared, ran};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs the command in a folder.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

/// One hash per object, equal in all formats.
pub(crate) fn digests(folder: &Path, store: &str) -> String {
    let ran = run(folder, &["digest", store]);
    assert_eq!(ran.code, 0, "{store}: {}", ran.messages);
    // Formats list members in different orders.
    let mut lines: Vec<_> = ran.answer.lines().collect();
    lines.sort_unstable();
    lines.join("\n") + "\n"
}

/// The sorted names in a folder, including hidden ones.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A source of this many MiB: the file created by `cargo xtask soak`, or otherwise a Zarr array in chunks of 64 KiB.
fn source(folder: &Path, mebibytes: u32) -> String {
    if let Some(made) = std::env::var_os("HYPERSLAB_KILLS_SOURCE") {
        return made.into_string().unwrap();
    }
    zarr_source(folder, mebibytes)
}

/// A Zarr array `x` of 16-bit integers in chunks of 64 KiB.
pub(crate) fn zarr_source(folder: &Path, mebibytes: u32) -> String {
    let (store, chunks) = (folder.join("source.zarr"), mebibytes * 16);
    fs::create_dir_all(store.join("x/c")).unwrap();
    fs::write(store.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let array = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{chunks}, 32768], "data_type": "uint16",
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1, 32768]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
    );
    fs::write(store.join("x/zarr.json"), array).unwrap();
    for chunk in 0..chunks {
        fs::create_dir(store.join(format!("x/c/{chunk}"))).unwrap();
        let values =
            (0..32768_u32).map(|at| u16::try_from((at.wrapping_mul(chunk + 7) >> 3) & 0xffff).unwrap());
        let bytes: Vec<u8> = values.flat_map(u16::to_le_bytes).collect();
        fs::write(store.join(format!("x/c/{chunk}/0")), bytes).unwrap();
    }
    "source.zarr".into()
}

/// Pseudo-random numbers that are the same in every run. The states of the killed process still differ.
pub(crate) struct Moments(pub(crate) u64);

impl Moments {
    /// A random duration up to `max`.
    pub(crate) fn next(&mut self, max: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        max.mul_f64((self.0 % 1000) as f64 / 1000.0)
    }
}

/// Starts a command and kills it after a time. Returns false if it ended before.
pub(crate) fn killed(folder: &Path, args: &[&str], after: Duration) -> bool {
    let mut running =
        prepared(args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let was_running = running.try_wait().unwrap().is_none();
    running.kill().unwrap();
    running.wait().unwrap();
    was_running
}

/// Sends Ctrl-C to a process.
#[cfg(unix)]
fn interrupt(running: &std::process::Child) {
    let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_conversion_that_can_be_resumed_and_leaves_no_partial_answer() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let source = source(folder, 8);
    let before = names(folder);
    let interrupted = |args: &[&str], is_begun: &dyn Fn() -> bool| {
        let mut running =
            prepared(args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while !is_begun() && running.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        interrupt(&running);
        let ended = running.wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };

    let is_begun = || names(folder).len() > before.len();
    let args = ["convert", "-q", "--threads", "1", "--filter", "deflate=9", &source, "x.zarr"];
    let (code, messages) = interrupted(&args, &is_begun);
    // On a fast machine, the command may already have ended.
    if code != Some(0) {
        assert_eq!(code, Some(130), "{messages}");
        assert!(messages.starts_with("error: interrupted"), "{messages}");
        // If parts were finished, the message states what remains and where.
        let is_said = messages.contains(".x.zarr.hyperslab-partial; remove that folder to discard them\n");
        assert_eq!(is_said, messages.contains("--resume continues from"), "{messages}");
        assert_eq!(is_said, folder.join(".x.zarr.hyperslab-partial").exists(), "{messages}");
        assert!(!folder.join("x.zarr").exists());
        let mut again = args.to_vec();
        again.push("--resume");
        let resumed = run(folder, &again);
        assert_eq!(resumed.code, 0, "{}", resumed.messages);
    }
    assert_eq!(digests(folder, "x.zarr"), digests(folder, &source));
    fs::remove_dir_all(folder.join("x.zarr")).unwrap();
    assert_eq!(names(folder), before);

    let (code, messages) =
        interrupted(&["digest", "--threads", "1", "-o", "digests.txt", &source], &is_begun);
    if code != Some(0) {
        assert_eq!((code, messages.as_str()), (Some(130), "error: interrupted\n"));
        assert_eq!(names(folder), before);
    }
}

#[test]
fn runs_killed_at_any_moment_leave_no_target_or_a_whole_one_and_are_resumed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let wanted: u32 = std::env::var("HYPERSLAB_KILLS").map_or(9, |kills| kills.parse().unwrap());
    let source = source(folder, 8);
    let expected = digests(folder, &source);
    let begun = Instant::now();
    assert_eq!(run(folder, &["convert", "-q", &source, "whole.zarr"]).code, 0);
    assert_eq!(run(folder, &["convert", "-q", "-j", "1", &source, "whole.h5"]).code, 0);
    let takes = begun.elapsed();
    assert_eq!(digests(folder, "whole.zarr"), expected);
    let before = names(folder);

    let old = digests(&crate::command::examples(), "ocean.nc");
    let (mut moments, mut kills, mut resumed) = (Moments(0x2545_f491_4f6c_dd1d), 0, 0);
    for number in 0.. {
        if kills >= wanted {
            break;
        }
        let (target, overwrites) =
            [("x.h5", false), ("x.zarr", false), ("x.tdb", false), ("x.zarr.zip", false), ("x.zarr", true)]
                [number % 5];
        let mut args = vec!["convert", "-q", "--resume", &source, target];
        if overwrites {
            args.push("--overwrite");
            let other = crate::command::examples().join("ocean.nc");
            assert_eq!(run(folder, &["convert", "-q", other.to_str().unwrap(), target]).code, 0);
        }
        let path = folder.join(target);
        // The run is killed again and again until it completes.
        while killed(folder, &args, moments.next(takes.mul_f64(1.2))) {
            kills += 1;
            match (path.exists(), overwrites) {
                (false, overwrites) => assert!(!overwrites, "the old store is gone"),
                (true, false) => break,
                (true, true) => {
                    let now = digests(folder, target);
                    assert!(now == old || now == expected, "neither the old store nor the new one");
                    if now == expected {
                        break;
                    }
                }
            }
            resumed += 1;
        }
        if !path.exists() || overwrites {
            // The target is missing or still the old one. This run is not killed.
            let last = run(folder, &args);
            assert_eq!(last.code, 0, "{}", last.messages);
        }
        assert_eq!(digests(folder, target), expected);
        assert_eq!(run(folder, &["check", target]).code, 0);
        if target == "x.h5" {
            let read = |name: &str| fs::read(folder.join(name)).unwrap();
            assert!(read("x.h5") == read("whole.h5"), "other bytes than those of a run that nobody killed");
        }
        // If a run was killed after its last step, the next run removes its remains whether or not it succeeds.
        assert_eq!(run(folder, &["convert", "-q", &source, target]).code, 2);
        let mut now = names(folder);
        now.retain(|name| name != target);
        assert_eq!(now, before);
        match path.is_dir() {
            true => fs::remove_dir_all(&path).unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
    }
    println!("{kills} kills of a run of {takes:.2?}, {resumed} of them resumed");
    assert_eq!(digests(folder, &source), expected, "the source is as it was");
}

#[test]
fn a_refused_run_removes_the_remains_of_a_run_that_was_killed_when_it_was_done() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let source = source(folder, 1);
    assert_eq!(run(folder, &["convert", "-q", &source, "x.zarr.zip"]).code, 0);
    let before = names(folder);
    let work = folder.join(".x.zarr.zip.hyperslab-partial");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("lock"), "1").unwrap();
    fs::write(work.join("closing"), "").unwrap();
    assert_eq!(run(folder, &["convert", "-n", "-q", &source, "x.zarr.zip"]).code, 2);
    assert!(work.exists(), "a dry run changes nothing");
    assert_eq!(run(folder, &["convert", "-q", &source, "x.zarr.zip"]).code, 2);
    assert_eq!(names(folder), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_the_run_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let source = source(folder.path(), 8);
    let expected = digests(folder.path(), &source);
    fs::create_dir(folder.path().join("disk")).unwrap();
    // The mount is in this shell's namespace, so other processes do not see it and it ends with the shell.
    let script = r#"
        mount -t tmpfs -o size=3m none disk || exit 77
        for target in disk/x.zarr disk/x.zarr.zip disk/x.h5 disk/x.tdb; do
            "$0" convert -q "$1" $target 2>&1; echo "code $?"
            ls disk
            mount -o remount,size=64m none disk
            "$0" convert -q --resume "$1" $target 2>&1; echo "code $?"
            "$0" digest $target | LC_ALL=C sort
            ls -A disk
            rm -r disk/*
            mount -o remount,size=3m none disk
        done"#;
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_hyperslab"), &source]);
    let done = shell.current_dir(folder.path()).output().expect("unshare of util-linux");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "a small disk could not be mounted, so that nothing was tried: {errors}");
    let said = String::from_utf8(done.stdout).unwrap();
    let mut rest = said.as_str();
    for target in ["x.zarr", "x.zarr.zip", "x.h5", "x.tdb"] {
        let (failed, after) = rest.split_once("code 2\n").unwrap_or_else(|| panic!("{said}"));
        assert!(failed.contains("no space left on device"), "{said}");
        // A TileDB array is written from the beginning because its fragment appears as a whole.
        if target != "x.tdb" {
            assert!(
                failed.contains("  help: --resume continues from ") && failed.contains(" of 8.0 MiB\n"),
                "{said}"
            );
            let stays = format!("/disk/.{target}.hyperslab-partial; remove that folder to discard them\n");
            assert!(failed.contains("MiB stay in ") && failed.ends_with(&stays), "{said}");
        }
        let goes_on = after.split_once("code 0\n").and_then(|(_, after)| after.strip_prefix(&*expected));
        let goes_on = goes_on.unwrap_or_else(|| panic!("{said}\nexpected\n{expected}"));
        rest = goes_on.strip_prefix(&format!("{target}\n")).unwrap_or_else(|| panic!("{said}"));
    }
    assert_eq!(rest, "");
    assert_eq!(digests(folder.path(), &source), expected, "the source is as it was");
}

#[cfg(unix)]
#[test]
fn reports_the_file_size_limit() {
    let folder = TempDir::new().unwrap();
    let source = source(folder.path(), 8);
    // Like a full disk, the limit causes an error instead of a signal.
    let script = r#"trap '' XFSZ; ulimit -f 2000; "$0" convert -q "$1" x.zarr.zip"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hyperslab"), &source]);
    let failed = ran(shell.current_dir(folder.path()).output().unwrap());
    assert_eq!(failed.code, 2, "{}", failed.messages);
    assert!(failed.messages.contains("file too large"), "{}", failed.messages);
    assert!(failed.messages.contains("  help: --resume continues from "), "{}", failed.messages);
    assert!(!folder.path().join("x.zarr.zip").exists());
    let resumed = run(folder.path(), &["convert", "-q", "--resume", &source, "x.zarr.zip"]);
    assert_eq!(resumed.code, 0, "{}", resumed.messages);
    assert_eq!(digests(folder.path(), "x.zarr.zip"), digests(folder.path(), &source));
}

#[test]
fn rejects_invalid_targets_before_writing_anything() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::copy(crate::command::examples().join("ocean.nc"), folder.join("ocean.nc")).unwrap();
    fs::create_dir(folder.join("photos.zarr")).unwrap();
    fs::write(folder.join("photos.zarr/a.png"), "png").unwrap();
    assert_eq!(run(folder, &["convert", "-q", "ocean.nc", "there.zarr"]).code, 0);
    let before = names(folder);
    for (args, refusal) in [
        (&["ocean.nc", "there.zarr"][..], "there.zarr: exists\n  help: --overwrite replaces it\n"),
        (&["ocean.nc", "there.zarr", "-n"], "there.zarr: exists\n  help: --overwrite replaces it\n"),
        (
            &["ocean.nc", "photos.zarr", "--overwrite"],
            "photos.zarr: exists and is not a store; only stores of known formats are overwritten\n",
        ),
        (
            &["there.zarr", "there.zarr", "--overwrite"],
            "there.zarr: is the source itself\n  help: choose another name\n",
        ),
        (&["there.zarr", "there.zarr/x.zarr"], "there.zarr/x.zarr: lies in the source there.zarr\n"),
        (
            &["there.zarr/temperature", "there.zarr", "--overwrite"],
            "there.zarr: contains the source there.zarr/temperature\n",
        ),
        (
            &["ocean.nc", "ocean.nc", "--format", "zarr3", "--overwrite"],
            "ocean.nc: is the source itself\n  help: choose another name\n",
        ),
        (
            &["ocean.nc", "no/x.zarr"],
            "no/x.zarr: no: no such file or directory\n  help: `mkdir -p no` makes the folder\n",
        ),
    ] {
        let refused = run(folder, &[&["convert"], args].concat());
        assert_eq!((refused.code, refused.messages), (2, format!("error: {refusal}")), "{args:?}");
        assert_eq!(names(folder), before);
    }
    // An existing folder in which nothing can be created.
    if cfg!(target_os = "linux") {
        let refused = run(folder, &["convert", "ocean.nc", "/proc/x.zarr"]);
        let refusal = "error: /proc/x.zarr: /proc: no file can be created in this folder\n";
        assert_eq!((refused.code, refused.messages.as_str()), (2, refusal));
    }
    let replaced = run(folder, &["convert", "-q", "ocean.nc", "there.zarr", "--overwrite", "--verify"]);
    assert_eq!(replaced.code, 0, "{}", replaced.messages);
    assert_eq!(names(folder), before);
}

#[test]
fn no_file_that_the_source_reads_is_overwritten() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for from in [crates.join("hyperslab/tests/data/nexus"), crates.join("hdf5/tests/data/sets")] {
        for file in fs::read_dir(from).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
    }
    for (source, target) in
        [("master.nxs", "data_1.h5"), ("master.nxs", "data_2.h5"), ("old_3.h5", "old_0.h5")]
    {
        let before = fs::read(folder.join(target)).unwrap();
        let refused = run(folder, &["convert", source, target, "--format", "zarr3", "--overwrite"]);
        let expected = format!("error: {target}: is a file that the source reads\n");
        assert_eq!((refused.code, refused.messages), (2, expected));
        assert_eq!(fs::read(folder.join(target)).unwrap(), before);
    }
}

#[test]
fn resumes_only_with_the_same_options() {
    let folder = TempDir::new().unwrap();
    let source = source(folder.path(), 8);
    let args = ["convert", "-q", &source, "x.zarr"];
    let left: PathBuf = folder.path().join(".x.zarr.hyperslab-partial/journal");
    let mut after = Duration::from_millis(20);
    // The run is killed late enough to have written some chunks, and early enough to leave others unwritten.
    while !(killed(folder.path(), &args, after)
        && fs::read_to_string(&left).is_ok_and(|lines| lines.lines().count() > 3))
    {
        let _ = fs::remove_dir_all(folder.path().join("x.zarr"));
        after = if after > Duration::from_secs(2) { Duration::from_millis(20) } else { after + after / 3 };
    }
    let refused = run(folder.path(), &[&args[..], &["--resume", "-O", "zarr.consolidated=false"]].concat());
    assert_eq!(refused.code, 2);
    assert_eq!(
        refused.messages,
        "error: x.zarr: cannot resume the interrupted run: its options were format zarr3, \
         not format zarr3; zarr.consolidated=false\n  help: without --resume, everything is written again from the beginning\n"
    );
    let resumed =
        run(folder.path(), &[&args[..], &["--resume", "--verify", "-j", "1", "-m", "64MiB"]].concat());
    assert_eq!(resumed.code, 0, "{}", resumed.messages);
}
