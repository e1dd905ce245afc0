//! The output file of `-o` appears only when it is complete, and replaces nothing that must be kept.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

/// A folder with copies of some examples and of a file that reads others.
fn place() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["ocean.nc", "buoys.yaml"] {
        fs::copy(examples().join(name), folder.path().join(name)).unwrap();
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for from in [crates.join("hyperslab/tests/data/nexus"), crates.join("hdf5/tests/data/sets")] {
        for file in fs::read_dir(from).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let converted = run(folder.path(), &["convert", "-q", "ocean.nc", "ocean.zarr"]);
    assert_eq!(converted.code, 0, "{}", converted.messages);
    folder
}

/// The names and contents of all files in and below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap_or_default())),
        }
    }
    found.sort();
    found
}

#[test]
fn texts_are_characters_for_numpy_and_bytes_if_these_are_asked_for() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  s: {shape: [2], type: string, value: [a\u{e9}, b], storage: {length: 4}}\n  \
                v: {shape: [2], type: string, value: ['', '\u{1f30d}z']}\n";
    fs::write(folder.path().join("texts.yaml"), text).unwrap();
    let npy = |args: &[&str]| {
        let all = ["show", "--as", "npy"].iter().chain(args);
        let output = prepared(all).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let body = output.stdout.get(128..).unwrap().to_vec();
        (String::from_utf8_lossy(&output.stdout[10..128]).trim_end().to_owned(), body)
    };
    let header = |descr: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}");
    let utf32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(npy(&["texts.yaml:/s"]), (header("<U2"), utf32("a\u{e9}b\0")));
    assert_eq!(npy(&["texts.yaml:/v"]), (header("<U2"), utf32("\0\0\u{1f30d}z")));
    assert_eq!(npy(&["--raw", "texts.yaml:/s"]), (header("|S4"), b"a\xc3\xa9\0b\0\0\0".to_vec()));
}

#[test]
fn data_is_replaced_only_with_overwrite_and_sources_never() {
    let place = place();
    let folder = place.path();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("ocean.nc", folder.join("link.nc")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
        fs::hard_link(folder.join("ocean.nc"), folder.join("hard.nc")).unwrap();
    }
    let before = files(folder);
    let exists = |what: &str| format!("exists and {what}\n  help: --overwrite replaces it");
    for (args, file, refusal) in [
        (&["describe", "ocean.nc"][..], "ocean.nc", "is the source itself"),
        #[cfg(unix)]
        (&["describe", "ocean.nc"], "link.nc", "is the source itself"),
        #[cfg(unix)]
        (&["describe", "link.nc"], "ocean.nc", "is the source itself"),
        #[cfg(unix)]
        (&["describe", "ocean.nc"], "hard.nc", "is the source itself"),
        #[cfg(unix)]
        (&["describe", "ocean.nc"], "dangling", "is a symbolic link to a target that does not exist"),
        (&["diff", "ocean.nc", "buoys.yaml"], "buoys.yaml", "is the source itself"),
        (&["check", "ocean.nc", "--against", "buoys.yaml"], "buoys.yaml", "is the source itself"),
        (&["create", "-n", "buoys.yaml"], "buoys.yaml", "is the source itself"),
        (&["show", "ocean.zarr:/depth"], "ocean.zarr/new.txt", "lies in the source ocean.zarr"),
        (&["show", "ocean.zarr:/depth"], "ocean.zarr/zarr.json", "lies in the source ocean.zarr"),
        (&["digest", "master.nxs"], "data_1.h5", "is a file that the source reads"),
        (&["digest", "master.nxs"], "data_2.raw", "is a file that the source reads"),
        (&["ls", "old_3.h5"], "old_0.h5", "is a file that the source reads"),
        (&["stat", "ocean.nc"], "ocean.zarr", "is a directory, expected a file"),
    ] {
        for overwrite in [&[][..], &["--overwrite"]] {
            let refused = run(folder, &[args, &["-o", file], overwrite].concat());
            let help = if refusal == "is the source itself" { "  help: choose another name\n" } else { "" };
            let expected = (2, String::new(), format!("error: {file}: {refusal}\n{help}"));
            assert_eq!((refused.code, refused.answer, refused.messages), expected, "{args:?}");
        }
    }
    let root = folder.canonicalize().unwrap();
    let in_store = exists(&format!("belongs to the store {}", root.join("ocean.zarr").display()));
    for (file, refusal) in [
        ("buoys.yaml", exists("holds data (NDL)")),
        ("master.nxs", exists("holds data (HDF5 or NetCDF-4)")),
        ("old_3.h5", exists("holds data (HDF5 or NetCDF-4)")),
        ("ocean.zarr/zarr.json", in_store.clone()),
        ("ocean.zarr/depth/c/0", in_store),
    ] {
        let refused = run(folder, &["schema", "-o", file]);
        assert_eq!((refused.code, refused.messages), (2, format!("error: {file}: {refusal}\n")));
    }
    assert_eq!(files(folder), before, "nothing was written");
    let replaced = run(folder, &["digest", "ocean.nc", "-o", "buoys.yaml", "--overwrite"]);
    assert_eq!(replaced.code, 0, "{}", replaced.messages);
    let digests = run(folder, &["digest", "ocean.nc"]).answer;
    assert_eq!(fs::read_to_string(folder.join("buoys.yaml")).unwrap(), digests);
}

#[test]
fn a_text_is_replaced_by_a_complete_answer_alone() {
    let place = place();
    let folder = place.path();
    let text = folder.join("answer.txt");
    fs::write(&text, "old").unwrap();
    for args in [
        &["digest", "missing.nc"][..],
        &["digest", "ocean.nc", "missing.nc"],
        &["show", "ocean.nc:/missing"],
        &["diff", "ocean.nc", "missing.nc"],
    ] {
        let before = files(folder);
        let failed = run(folder, &[args, &["-o", "answer.txt"]].concat());
        assert_eq!(failed.code, 2, "{args:?}: {}", failed.messages);
        let note = "  note: answer.txt: not written, because the output is incomplete\n";
        assert!(failed.messages.ends_with(note), "{}", failed.messages);
        assert_eq!(files(folder), before, "{args:?}");
    }
    // The answer of `diff` is that the files differ.
    let differs = run(folder, &["diff", "ocean.nc", "buoys.yaml", "-o", "answer.txt"]);
    assert_eq!(differs.code, 1);
    assert!(fs::read_to_string(&text).unwrap().ends_with("differ\n"));
    // A log also contains the errors.
    let logged = run(folder, &["check", "missing.nc", "--as", "sarif", "-o", "answer.txt"]);
    assert_eq!(logged.code, 2);
    assert!(fs::read_to_string(&text).unwrap().contains("toolExecutionNotifications"));
    // A directory is not a source if only its stores are listed.
    assert_eq!(run(folder, &["ls", ".", "-o", "answer.txt"]).code, 0);
    assert!(fs::read_to_string(&text).unwrap().contains("ocean.nc"));
    let long = "n".repeat(250);
    assert_eq!(run(folder, &["schema", "-o", &long]).code, 0);
    let left = files(folder).into_iter().filter(|(name, _)| name.contains("partial"));
    assert_eq!(left.count(), 0);
    let stdout = run(folder, &["digest", "ocean.nc", "-o", "-"]);
    assert_eq!(stdout.answer, run(folder, &["digest", "ocean.nc"]).answer);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced_with_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let folder = place.path();
    fs::create_dir(folder.join("there")).unwrap();
    let file = folder.join("there/answer.txt");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("there/answer.txt", folder.join("link.txt")).unwrap();
    assert_eq!(run(folder, &["schema", "-o", "link.txt"]).code, 0);
    assert!(folder.join("link.txt").is_symlink());
    assert_ne!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_open_files_are_written_to_directly() {
    let place = place();
    let folder = place.path();
    let expected = run(folder, &["digest", "ocean.nc"]).answer;
    let script = r#"
        mkfifo pipe; cat pipe >from_pipe & "$0" digest ocean.nc -o pipe && wait || exit 3
        "$0" digest ocean.nc -o /dev/null && test -c /dev/null && test -p pipe || exit 4
        echo before >appended; "$0" digest ocean.nc -o /dev/stdout >>appended || exit 5
        "$0" digest ocean.nc -o /dev/fd/3 3>from_three || exit 6
        "$0" digest ocean.nc -o /dev/stdout | cat >from_stdout"#;
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hyperslab")]).current_dir(folder);
    let done = ran(shell.output().unwrap());
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    for name in ["from_pipe", "from_three", "from_stdout"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), expected, "{name}");
    }
    assert_eq!(fs::read_to_string(folder.join("appended")).unwrap(), format!("before\n{expected}"));
}

/// Like a full disk, a limit on the size of files ends a write with an error.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_named_and_leaves_the_old_file() {
    let place = place();
    let folder = place.path();
    fs::write(folder.join("answer.csv"), "old").unwrap();
    let before = files(folder);
    let command = env!("CARGO_BIN_EXE_hyperslab");
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; exec {command} show ocean.nc:/temperature --as json -o answer.csv"
    );
    let mut shell = std::process::Command::new("bash");
    let full = ran(shell.args(["-c", &limited]).current_dir(folder).output().unwrap());
    assert_eq!(full.code, 2, "{}", full.messages);
    assert!(full.messages.contains("answer.csv: "), "{}", full.messages);
    assert!(full.messages.contains("file too large"), "{}", full.messages);
    assert_eq!(files(folder), before);

    // Nobody can create files there, not even root.
    let refused = run(folder, &["show", "ocean.nc:/lat", "-o", "/sys/answer.csv"]);
    assert_eq!(refused.code, 2, "{}", refused.messages);
    assert!(refused.messages.starts_with("error: /sys/"), "{}", refused.messages);
}

#[test]
fn a_quiet_conversion_prints_nothing_and_a_dry_run_its_answer() {
    let place = place();
    let folder = place.path();
    let quiet = run(folder, &["convert", "-q", "ocean.nc", "quiet.zarr"]);
    assert_eq!((quiet.code, quiet.answer.as_str(), quiet.messages.as_str()), (0, "", ""));
    let dry = run(folder, &["convert", "-qn", "ocean.nc", "dry.zarr"]);
    assert_eq!(dry.code, 0, "{}", dry.messages);
    assert!(dry.answer.starts_with("WHERE"), "{}", dry.answer);
}
