//! Invalid input gives a one-sentence message, exit code 2 and no answer.

use crate::command::{Ran, examples, hyperslab, prepared, ran};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const READING: &[&str] = &["describe", "ls", "show", "digest"];

fn is_one_sentence(ran: &Ran, about: &str) {
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{ran:?}");
    let errors: Vec<&str> = ran.messages.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{}", ran.messages);
    assert!(ran.messages.lines().count() <= 3, "{}", ran.messages);
    let sentence = errors[0];
    assert!(sentence.contains(about), "{sentence} does not name {about}");
    assert!(!sentence.ends_with('.'), "{sentence}");
    for debris in ["Error {", "Os {", "panicked", "unwrap", "RUST_BACKTRACE"] {
        assert!(!ran.messages.contains(debris), "{}", ran.messages);
    }
}

fn file(dir: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn reports_an_empty_file() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "nothing.h5", b"");
    for verb in READING {
        let ran = hyperslab([verb, path.as_str()]);
        is_one_sentence(&ran, "nothing.h5");
        assert!(ran.messages.contains("empty"), "{}", ran.messages);
    }
}

#[test]
fn reports_a_directory() {
    let dir = TempDir::new().unwrap();
    for verb in ["describe", "show", "digest"] {
        let ran = hyperslab([verb, dir.path().to_str().unwrap()]);
        is_one_sentence(&ran, dir.path().to_str().unwrap());
        assert!(ran.messages.contains("directory"), "{}", ran.messages);
    }
}

#[test]
fn names_a_missing_file() {
    for verb in READING {
        let ran = hyperslab([verb, "no_such_file.nc"]);
        is_one_sentence(&ran, "no_such_file.nc");
    }
}

#[cfg(unix)]
#[test]
fn names_a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "secret.h5", &fs::read(examples().join("userblock.h5")).unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let output = if fs::read(&path).is_err() {
        prepared(["describe", path.as_str()]).output()
    } else {
        // Root can read every file, so the command runs as another user.
        let program = dir.path().join("hyperslab");
        fs::copy(env!("CARGO_BIN_EXE_hyperslab"), &program).unwrap();
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(program)
            .args(["describe", path.as_str()])
            .current_dir("/")
            .output()
    };
    let ran = ran(output.expect("setpriv of util-linux"));
    assert!(!ran.messages.starts_with("setpriv:"), "root could not become another user: {}", ran.messages);
    is_one_sentence(&ran, "secret.h5");
    assert!(ran.messages.to_lowercase().contains("permission"), "{}", ran.messages);
}

#[test]
fn recognises_formats_by_content_and_not_by_suffix() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "really.txt", &fs::read(examples().join("userblock.h5")).unwrap());
    assert_eq!(hyperslab(["describe", path.as_str()]).code, 0);
}

#[test]
fn names_the_format_of_other_files() {
    let dir = TempDir::new().unwrap();
    for (name, bytes, what) in [
        ("packed.h5", &b"\x1f\x8b\x08\0rest"[..], "gzip"),
        ("list.h5", b"PK\x03\x04rest", "zip"),
        ("notes.h5", b"some notes, not data", "not an HDF5"),
        ("short.h5", b"\x89HDF\r\n", "short.h5"),
    ] {
        let path = file(&dir, name, bytes);
        let ran = hyperslab(["describe", path.as_str()]);
        is_one_sentence(&ran, name);
        assert!(ran.messages.contains(what), "{}", ran.messages);
    }
}

#[test]
fn rejects_a_truncated_file() {
    let dir = TempDir::new().unwrap();
    let whole = fs::read(examples().join("ocean.nc")).unwrap();
    let path = file(&dir, "cut.nc", &whole[..30]);
    is_one_sentence(&hyperslab(["describe", path.as_str()]), "cut.nc");
}

#[test]
fn a_missing_object_gives_the_nearest_name() {
    for verb in READING {
        let ran = hyperslab([verb, "ocean.nc:/temprature"]);
        is_one_sentence(&ran, "/temprature");
        assert!(ran.messages.contains("did you mean /temperature?"), "{}", ran.messages);
    }
}

#[test]
fn a_mistyped_verb_gives_the_nearest_one() {
    let ran = hyperslab(["descirbe", "ocean.nc"]);
    is_one_sentence(&ran, "descirbe");
    assert!(ran.messages.contains("did you mean 'describe'?"), "{}", ran.messages);
}

#[test]
fn an_unknown_format_lists_the_known_ones() {
    let ran = hyperslab(["describe", "--input-format", "hdf6", "ocean.nc"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("hdf5"), "{}", ran.messages);
}

#[test]
fn an_invalid_location_does_not_stop_the_others() {
    let ran = hyperslab(["digest", "no_such_file.nc", "userblock.h5"]);
    assert_eq!(ran.code, 2);
    assert!(ran.answer.contains("/x"), "{}", ran.answer);
}

#[test]
fn a_location_with_the_name_of_a_verb_can_be_opened() {
    let dir = TempDir::new().unwrap();
    fs::copy(examples().join("userblock.h5"), dir.path().join("ls")).unwrap();
    let output = prepared(["./ls"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(ran(output).code, 0);
    assert!(Path::new(&dir.path().join("ls")).exists());
}

#[test]
fn text_of_ncdump_and_sections_of_netcdf_are_named() {
    let dir = TempDir::new().unwrap();
    let cdl = "netcdf r {\ndimensions:\n\tx = 3 ;\nvariables:\n\tfloat t(x) ;\ndata:\n\n t = 1, 2, 3 ;\n}\n";
    let path = file(&dir, "r.cdl", cdl.as_bytes());
    let target = dir.path().join("r.nc");
    let refused = hyperslab(["create", &path, target.to_str().unwrap()]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.messages.contains("CDL, the text form of NetCDF, expected YAML"), "{}", refused.messages);
    assert!(refused.messages.contains("ncgen -4 -o FILE.nc FILE.cdl"), "{}", refused.messages);
    let opened = hyperslab(["ls", &path]);
    assert!(opened.messages.contains("is CDL, the text form of NetCDF, not an"), "{}", opened.messages);
    for (section, meant) in [("variables", "ndarrays"), ("dimensions", "dimcoords"), ("attrs", "attributes")]
    {
        let text = format!("{section}:\n  x: {{shape: [2], type: int32}}\n");
        let path = file(&dir, "d.yaml", text.as_bytes());
        let refused = hyperslab(["create", &path, target.to_str().unwrap()]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.messages.contains(&format!("unknown key \"{section}\"")), "{}", refused.messages);
        assert!(refused.messages.contains(&format!("did you mean {meant}?")), "{}", refused.messages);
        assert_eq!(hyperslab(["check", &path]).code, 1);
    }
    assert!(!target.exists());
}

#[test]
fn a_missing_or_wrong_key_is_named_as_such() {
    let dir = TempDir::new().unwrap();
    let (key, other) = (file(&dir, "k", &[7; 32]), file(&dir, "o", &[8; 32]));
    let store = dir.path().join("t.tdb");
    let store = store.to_str().unwrap();
    let option = format!("tiledb.key-file={key}");
    let source = examples().join("ocean.nc");
    let made = hyperslab(["convert", source.to_str().unwrap(), store, "-O", &option, "-q"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let array = format!("{store}:/lat");
    let help = "help: --key-file FILE names the file with the key";
    for (args, about) in [
        (vec!["show", &array], "encrypted with AES-256-GCM, and no key is given"),
        (
            vec!["show", &array, "--key-file", &other],
            "the given key is not the one that it was encrypted with",
        ),
    ] {
        let refused = hyperslab(args);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.messages.contains(about) && refused.messages.contains(help), "{}", refused.messages);
        assert!(!refused.messages.contains("damaged"), "{}", refused.messages);
    }
    assert_eq!(hyperslab(["show", &array, "--key-file", &key]).code, 0);
    let checked = hyperslab(["check", store]);
    assert!(
        checked.answer.contains("no key is given\n  help: give the key that it was written with"),
        "{}",
        checked.answer
    );
}
