//! Edits that are killed, run out of disk space or run at the same time.

use crate::interrupted::{Moments, digests, killed, run, zarr_source};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// The numbers of rows and columns of the array in `base.tdb`.
const ROWS: usize = 16;
const COLUMNS: usize = 32768;

fn copy(folder: &Path, from: &str, to: &str) {
    let _ = fs::remove_dir_all(folder.join(to));
    let copied = Command::new("cp").args(["-R", from, to]).current_dir(folder).status().unwrap();
    assert!(copied.success());
}

/// Writes a NumPy file with this number of rows.
fn rows(folder: &Path, name: &str, rows: usize, seed: u16) {
    let header = format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({rows}, {COLUMNS}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
    bytes.extend(padded.bytes());
    bytes.extend(
        (0..=u16::MAX)
            .cycle()
            .take(rows * COLUMNS)
            .flat_map(|at| (seed.wrapping_mul(31).wrapping_add(at)).to_le_bytes()),
    );
    fs::write(folder.join(name), bytes).unwrap();
}

fn edited(folder: &Path, store: &str, args: &[&str]) {
    let ran = run(folder, &[&["edit", "-q", store], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.messages);
}

/// Creates `base.tdb`, an array of several fragments, and `consolidated.tdb`, which is ready for vacuum.
fn stores(folder: &Path) {
    let source = zarr_source(folder, 1);
    let made = run(folder, &["convert", "-q", &source, "base.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    for row in 0..8 {
        rows(folder, "two.npy", 2, row);
        edited(folder, "base.tdb", &["--write", &format!("/x:{row}:{}=two.npy", row + 2)]);
    }
    rows(folder, "all.npy", ROWS, 77);
    copy(folder, "base.tdb", "consolidated.tdb");
    edited(folder, "consolidated.tdb", &["--consolidate", "--consolidate=commits"]);
}

/// The names of files that writers have not finished.
fn unfinished(folder: &Path) -> Vec<String> {
    let (mut left, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => left.push(entry.path()),
                false if name.contains(".partial") => found.push(name),
                false => {}
            }
        }
    }
    found
}

#[test]
fn edits_killed_at_any_moment_leave_the_old_or_the_new() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    stores(folder);
    let wanted: u32 = std::env::var("HYPERSLAB_KILLS").map_or(4, |kills| kills.parse().unwrap());
    let mut moments = Moments(0x2545_f491_4f6c_dd1d);
    for (base, args) in [
        ("base.tdb", &["--write", "/x:0:16=all.npy"][..]),
        ("base.tdb", &["--set", "/x@title=a title"]),
        ("base.tdb", &["--consolidate"]),
        ("consolidated.tdb", &["--vacuum"]),
        ("base.tdb", &["--consolidate", "--consolidate=commits", "--vacuum"]),
    ] {
        copy(folder, base, "x.tdb");
        let before = digests(folder, "x.tdb");
        let begun = Instant::now();
        edited(folder, "x.tdb", args);
        let takes = begun.elapsed();
        let after = digests(folder, "x.tdb");
        let (mut kills, mut tries) = (0, 0);
        while kills < wanted && tries < 10 * wanted {
            tries += 1;
            copy(folder, base, "x.tdb");
            let line = [&["edit", "-q", "x.tdb"], args].concat();
            kills += u32::from(killed(folder, &line, moments.next(takes)));
            let now = digests(folder, "x.tdb");
            assert!(now == before || now == after, "{args:?}: neither the old array nor the new one");
            let check = run(folder, &["check", "-v", "x.tdb"]);
            assert!(check.code < 2, "{args:?}: {}", check.messages);
            assert!(
                unfinished(&folder.join("x.tdb")).is_empty() || check.answer.contains("--vacuum=all"),
                "{}",
                check.answer
            );
            edited(folder, "x.tdb", &["--vacuum=all"]);
            assert_eq!(digests(folder, "x.tdb"), now, "{args:?}: vacuum changes nothing");
            assert_eq!(unfinished(&folder.join("x.tdb")), [""; 0]);
            let check = run(folder, &["check", "x.tdb"]);
            assert_eq!(check.code, 0, "{args:?}: {}", check.answer);
            edited(folder, "x.tdb", args);
            assert_eq!(digests(folder, "x.tdb"), after, "{args:?}: a second run finishes");
        }
        assert!(kills > 0, "{args:?}: no run was killed");
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    stores(folder);
    copy(folder, "base.tdb", "x.tdb");
    let writers: Vec<_> = (0..4)
        .map(|number| {
            rows(folder, &format!("row{number}.npy"), 1, 100 + number);
            let (write, set) =
                (format!("/x:{number}:{}=row{number}.npy", number + 1), format!("/x@key{number}=1"));
            let args = ["edit", "-q", "x.tdb", "--write", &write, "--set", &set];
            crate::command::prepared(args).current_dir(folder).spawn().unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    copy(folder, "base.tdb", "one.tdb");
    for number in 0..4 {
        let (write, set) =
            (format!("/x:{number}:{}=row{number}.npy", number + 1), format!("/x@key{number}=1"));
        edited(folder, "one.tdb", &["--write", &write, "--set", &set]);
    }
    assert_eq!(digests(folder, "x.tdb"), digests(folder, "one.tdb"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_array_as_it_was() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    stores(folder);
    for args in [&["--write", "/x:0:16=all.npy"][..], &["--consolidate"]] {
        copy(folder, "base.tdb", "x.tdb");
        let before = digests(folder, "x.tdb");
        // Like a full disk, the limit causes an error instead of a signal.
        let script = r#"trap '' XFSZ; ulimit -f 20; "$0" edit -q x.tdb "$@""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_hyperslab")]).args(args);
        let failed = crate::command::ran(shell.current_dir(folder).output().unwrap());
        assert_eq!(failed.code, 2, "{args:?}: {}", failed.messages);
        assert!(failed.messages.contains("file too large"), "{}", failed.messages);
        assert_eq!(digests(folder, "x.tdb"), before);
        edited(folder, "x.tdb", &["--vacuum=all"]);
        assert_eq!(run(folder, &["check", "x.tdb"]).code, 0);
        edited(folder, "x.tdb", args);
    }
}
