//! Hostile names, strings, arguments and messages on a terminal.

use crate::command::prepared;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A name that would colour the terminal, write from right to left and add a line.
const HOSTILE: &str = "a\u{1b}[41m\u{202e}b\u{2028}\u{200b}\u{9b}5mc\nINJECTED";

/// What the command writes to a terminal, on both streams.
fn on_terminal(folder: &Path, args: &[&str], color: bool) -> String {
    on_terminal_of(folder, args, color, None)
}

/// Like [`on_terminal`], with a different width.
pub(crate) fn on_terminal_of(folder: &Path, args: &[&str], color: bool, width: Option<usize>) -> String {
    let mut command = prepared(args);
    command.current_dir(folder);
    if let Some(width) = width {
        command.env("COLUMNS", width.to_string());
    }
    if color {
        command.env_remove("NO_COLOR").env("TERM", "xterm");
    }
    shown_by(command)
}

/// What a prepared command writes to a terminal, on both streams.
pub(crate) fn shown_by(mut command: Command) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
    command.stdout(Stdio::from(slave.try_clone().unwrap())).stderr(Stdio::from(slave));
    let mut child = command.spawn().unwrap();
    // These are the last file descriptors of the terminal outside the process.
    drop(command);
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    let mut master = File::from(master);
    // Reading fails once nobody can write any more.
    while let Ok(len @ 1..) = master.read(&mut piece) {
        shown.extend_from_slice(&piece[..len]);
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

/// The text without our own colours and the progress line.
fn without_own(text: &str) -> String {
    let mut text = text.replace("\r\u{1b}[K", "");
    for code in ["", "0", "1", "2", "4", "31", "32", "33", "34", "36", "91", "92", "93", "94", "96"] {
        text = text.replace(&format!("\u{1b}[{code}m"), "");
    }
    text
}

fn is_obeyed(c: char) -> bool {
    let hides =
        matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    hides || c == '\u{61c}' || c.is_control() && !matches!(c, '\n' | '\t')
}

/// A folder with the hostile stores: HDF5, Zarr and documents.
fn place() -> TempDir {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile.h5");
    fs::copy(data, at("hostile.h5")).unwrap();
    let quoted = in_quotes(HOSTILE);
    let text = format!(
        "attributes:\n  {quoted}: \"\\e]0;t\\a\\u202e\"\nndarrays:\n  {quoted}: {{shape: [2], type: int8, value: [1, 2]}}\n  \
         s: {{shape: [2], type: string, value: [\"\\e[41mx\", \"\\u202ey\"]}}\nlinks:\n  l: {{kind: soft, target: {quoted}}}\n"
    );
    fs::write(at("hostile.yaml"), text).unwrap();
    let wrong =
        format!("ndarrays:\n  {quoted}: {{shape: [2], type: {quoted}}}\n  x: {{\u{202e}shape: []}}\n");
    fs::write(at("wrong.yaml"), wrong).unwrap();
    let group = |attributes: &str| {
        format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{{attributes}}}}}"#)
    };
    // Not every file system allows all of these characters in file names, and Zarr keys are paths in a directory here.
    let name = HOSTILE.replace('\n', "");
    fs::create_dir_all(at("hostile.zarr").join(&name)).unwrap();
    fs::write(at("hostile.zarr/zarr.json"), group(&format!("{quoted}: {quoted}"))).unwrap();
    fs::write(at("hostile.zarr").join(&name).join("zarr.json"), "{\"zarr_format\": \"\u{202e}\"}").unwrap();
    fs::create_dir_all(at("hostile.zarr/array")).unwrap();
    let array = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int8", "dimension_names": [{quoted}],
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0, "attributes": {{"a": {quoted}}},
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
    );
    fs::write(at("hostile.zarr/array/zarr.json"), array).unwrap();
    folder
}

/// The text in double quotes, following the rules common to JSON and YAML.
fn in_quotes(text: &str) -> String {
    let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{escaped}\"")
}

#[test]
fn nothing_hostile_reaches_a_terminal_from_any_verb() {
    let place = place();
    let folder = place.path();
    let array = format!("hostile.h5:/{HOSTILE}/{HOSTILE}");
    let attribute = format!("hostile.h5:/@{HOSTILE}");
    let missing = format!("hostile.h5:/{HOSTILE}x");
    let (target, absent) = (format!("{HOSTILE}.zarr"), format!("{HOSTILE}.nc"));
    let selection = format!("{HOSTILE}=1");
    let stores = ["hostile.h5", "hostile.zarr", "hostile.yaml"];
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for store in stores {
        for verb in [
            &["describe"][..],
            &["describe", "--values"],
            &["describe", "--json", "--values"],
            &["describe", "--storage", "full", "--raw"],
            &["ls"],
            &["ls", "-r", "-l"],
            &["ls", "-1", "-r"],
            &["ls", "--json", "-r"],
            &["stat", "--values"],
            &["stat", "--json"],
            &["digest"],
            &["digest", "--json"],
            &["check"],
            &["check", "--json"],
            &["check", "--as", "sarif"],
            &["check", "--against", "hostile.yaml", "-v"],
            &["check", "--against", "wrong.yaml"],
            &["files"],
            &["files", "--json"],
            &["diff", "wrong.yaml"],
            &["diff", "hostile.yaml", "--order", "--storage"],
            &["diff", "hostile.h5", "--json"],
            &["convert", "-n", "x.zarr"],
            &["convert", "-n", "--json", "x.zarr"],
            &["create", "-n"],
            &["create", "-n", "--json", "--format", "zarr2"],
        ] {
            let mut args = verb.to_vec();
            let at = args.iter().position(|arg| *arg == "x.zarr").unwrap_or(args.len());
            args.insert(at, store);
            runs.push(args);
        }
    }
    for form in ["table", "csv", "tsv", "json", "npy", "raw"] {
        for object in [&array, &attribute, "hostile.h5:/plain", "hostile.h5:/struct", "hostile.yaml:/s"] {
            runs.push(vec!["show", object, "--as", form]);
        }
    }
    for args in [
        &["describe", "wrong.yaml"][..],
        &["check", "wrong.yaml"],
        &["check", "wrong.yaml", "--json"],
        &["create", "-n", "wrong.yaml"],
        &["show", "hostile.h5:/raw"],
        &["show", "hostile.h5:/soft_to_nothing"],
        &["show", "hostile.h5:/external"],
        &["show", "hostile.zarr:/array"],
        &["show", "hostile.zarr:/array", "--plot"],
        &["show", "hostile.zarr:/array", "-s", &selection],
        &["show", &missing],
        &["show", &absent],
        &["ls", &absent],
        &["files", &absent],
        &["diff", &absent, &absent],
        &["convert", "--allow-loss", "all", "hostile.h5", &target],
        &["convert", "--allow-loss", "all", "hostile.yaml", &target, "--overwrite", "--verify"],
        &["convert", "--allow-loss", "all", "hostile.yaml", &target],
        &["convert", "hostile.yaml", "y.zarr", "-O", HOSTILE],
        &["convert", "hostile.yaml", "y.zarr", "-f", HOSTILE],
        &["convert", "hostile.yaml", "y.zarr", "--allow-loss", HOSTILE],
        &["convert", "hostile.yaml", "y.zarr", "--format", HOSTILE],
        &["describe", "hostile.yaml", "-o", &target],
        &["describe", "hostile.yaml", "--color", HOSTILE],
        &["describe", "hostile.yaml", "--depth", HOSTILE],
        &["describe", "hostile.yaml", "--limit", HOSTILE],
        &["describe", "hostile.yaml", "--input-format", HOSTILE],
        &["describe", HOSTILE],
        &["stat", &selection, "-m", HOSTILE],
        &["man", HOSTILE],
        &["completions", HOSTILE],
        &["--\u{1b}[41m\nINJECTED"],
        &["ls", "--\u{1b}[41m\u{202e}\nINJECTED", "x"],
        &["describe", "-\u{202e}"],
        &[HOSTILE],
    ] {
        runs.push(args.to_vec());
    }
    for (number, args) in runs.iter().enumerate() {
        let shown = on_terminal(folder, args, number % 2 == 0);
        assert!(!shown.is_empty() || args[0] == "files" || args[0] == "diff", "{args:?}");
        let left = without_own(&shown);
        assert!(!left.contains(is_obeyed), "{args:?}: {left:?}");
        // A line that a name has injected.
        let is_made = |line: &str| line.trim_start_matches([' ', '>', '"']).starts_with("INJECTED");
        assert!(!left.lines().any(is_made), "{args:?}: {left}");
    }
}

#[test]
fn pipes_get_names_and_values_as_they_are() {
    let place = place();
    let run = |args: &[&str]| {
        crate::command::ran(prepared(args).current_dir(place.path()).output().unwrap()).answer
    };
    assert!(run(&["ls", "-1", "-r", "hostile.h5"]).contains(&format!("/{HOSTILE}/{HOSTILE}\n")));
    assert_eq!(
        run(&["show", "hostile.h5:/plain", "--as", "csv"]),
        "dim_0,plain\n0,\u{1b}[41mone\u{202e}\n1,two\u{7}\n"
    );
    // A Python string, without a line break that would end it.
    let npy = crate::command::prepared(["show", "hostile.h5:/struct", "--as", "npy"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let header = String::from_utf8_lossy(&npy.stdout[10..]).into_owned();
    let name = r"('a\x1b[41m\u202eb\u2028\u200b\x9b5mc\nINJECTED', '<i4')".replace(r"\n", r"\x0a");
    assert!(header.starts_with(&format!("{{'descr': [{name}")), "{header}");
    assert_eq!(
        run(&["show", "hostile.h5:/plain", "--as", "json"]),
        "[{\"dim_0\": 0, \"plain\": \"\\u001b[41mone\\u202e\"},\n {\"dim_0\": 1, \"plain\": \"two\\u0007\"}]\n"
    );
}
