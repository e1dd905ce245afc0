//! Tests of refused targets, of failed, killed and concurrent runs, and of resuming them.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const OVERWRITE: PublishOptions = PublishOptions { overwrite: true, resume: false, sync: false };
const RESUME: PublishOptions = PublishOptions { overwrite: false, resume: true, sync: false };

/// A temporary folder with a source file.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.at("source.h5"), b"\x89HDF\r\n\x1a\n of old").unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn store(&self, name: &str, content: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.join("c")).unwrap();
        fs::write(path.join("zarr.json"), document(content)).unwrap();
        fs::write(path.join("c/0"), content).unwrap();
        path
    }

    fn begin(&self, target: &str, options: &PublishOptions) -> Result<Publication> {
        self.begin_from(target, &self.at("source.h5"), options)
    }

    fn begin_from(&self, target: &str, source: &Path, options: &PublishOptions) -> Result<Publication> {
        let fingerprint = Fingerprint::of_source(source, "-c keep").unwrap();
        Publication::begin(&self.at(target), true, &fingerprint, options)
    }

    fn refusal(&self, target: &str, source: &Path, options: &PublishOptions) -> String {
        let before = self.names();
        let refusal = self.begin_from(target, source, options).unwrap_err().to_string();
        assert_eq!(self.names(), before, "something was written");
        let refusal = refusal.replace(&self.0.path().display().to_string(), "").replace("/private", "");
        // Messages begin with the target.
        refusal.strip_prefix(&format!("/{target}: ")).unwrap_or_else(|| panic!("{refusal}")).to_owned()
    }

    /// The names of all entries in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn work(&self, target: &str) -> PathBuf {
        self.at(&format!(".{target}.hyperslab-partial"))
    }
}

fn unit(tiles: std::ops::Range<u64>) -> Unit {
    Unit { array: crate::NodePath::new("/sst").unwrap(), tile: vec![8], tiles }
}

fn fill(publication: &Publication, content: &str) {
    fs::create_dir_all(publication.path().join("c")).unwrap();
    fs::write(publication.path().join("c/0"), content).unwrap();
    fs::write(publication.path().join("zarr.json"), document(content)).unwrap();
}

/// The metadata document of an array of one chunk, with `content` as an attribute.
fn document(content: &str) -> String {
    let chunks = serde_json::json!({"name": "regular", "configuration": {"chunk_shape": [1]}});
    let document = serde_json::json!({
        "zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "uint8", "chunk_grid": chunks,
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}],
        "attributes": {"content": content},
    });
    document.to_string()
}

fn content_of(path: &Path) -> String {
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path.join("zarr.json")).unwrap()).unwrap();
    document["attributes"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_target_appears_complete_and_the_work_folder_is_removed() {
    for sync in [false, true] {
        let place = Place::new();
        let options = PublishOptions { sync, ..PublishOptions::default() };
        let publication = place.begin("x.zarr", &options).unwrap();
        fill(&publication, "new");
        publication.record(&unit(0..4), 100).unwrap();
        assert!(!place.at("x.zarr").exists());
        publication.publish().unwrap();
        assert_eq!(content_of(&place.at("x.zarr")), "new");
        assert_eq!(place.names(), ["source.h5", "x.zarr"]);
    }
}

#[test]
fn publishes_a_target_that_is_a_file() {
    let place = Place::new();
    let (source, target) = (place.at("source.h5"), place.at("x.zarr.zip"));
    let fingerprint = Fingerprint::of_source(&source, "").unwrap();
    let begin = |options: PublishOptions| Publication::begin(&target, false, &fingerprint, &options);
    let publication = begin(PublishOptions::default()).unwrap();
    assert!(!publication.path().exists());
    fs::write(publication.path(), b"\x89HDF\r\n\x1a\n").unwrap();
    publication.publish().unwrap();
    assert_eq!(place.names(), ["source.h5", "x.zarr.zip"]);
    let publication = begin(OVERWRITE).unwrap();
    fs::write(publication.path(), b"new").unwrap();
    publication.publish().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"new");
    assert_eq!(place.names(), ["source.h5", "x.zarr.zip"]);
}

#[test]
fn replaces_an_empty_folder() {
    let place = Place::new();
    fs::create_dir(place.at("x.zarr")).unwrap();
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&publication, "new");
    publication.publish().unwrap();
    assert_eq!(content_of(&place.at("x.zarr")), "new");
}

#[test]
fn replaces_only_stores_and_only_with_overwrite() {
    let place = Place::new();
    let source = place.at("source.h5");
    place.store("x.zarr", "old");
    let plain = PublishOptions::default();
    assert_eq!(place.refusal("x.zarr", &source, &plain), "exists\nhelp: allow it to be overwritten");

    fs::create_dir(place.at("photos")).unwrap();
    fs::write(place.at("photos/a.png"), "png").unwrap();
    fs::write(place.at("empty"), "").unwrap();
    // It begins like an NDL document.
    fs::write(place.at("script.sh"), format!("#!/bin/sh\n{}rm -r *\n", "# Removes all.\n".repeat(40)))
        .unwrap();
    fs::write(place.at("settings.json"), "{\"attributes\": 1, \"color\": \"red\"}").unwrap();
    for other in ["photos", "empty", "script.sh", "settings.json"] {
        for options in [&plain, &OVERWRITE] {
            assert_eq!(
                place.refusal(other, &source, options),
                "exists and is not a store; only stores of known formats are overwritten"
            );
        }
    }
    fs::write(place.at("document.yaml"), "attributes: {title: a}\n").unwrap();
    fs::write(place.at("other.h5"), b"\x89HDF\r\n\x1a\n damaged").unwrap();
    for store in ["x.zarr", "document.yaml", "other.h5"] {
        place.begin(store, &OVERWRITE).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn the_lock_file_is_never_a_link_or_a_pipe() {
    let place = Place::new();
    let work = place.work("x.zarr");
    fs::create_dir(&work).unwrap();
    let lock = work.join("lock");
    for planted in ["link", "dangling", "pipe"] {
        match planted {
            "link" => std::os::unix::fs::symlink(place.at("source.h5"), &lock).unwrap(),
            "dangling" => std::os::unix::fs::symlink(place.at("nothing"), &lock).unwrap(),
            _ => assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success()),
        }
        let before = fs::read(place.at("source.h5")).unwrap();
        let e = place.begin("x.zarr", &PublishOptions::default()).unwrap_err().to_string();
        assert!(e.contains("lock") && e.contains("is not a regular file"), "{planted}: {e}");
        assert_eq!(fs::read(place.at("source.h5")).unwrap(), before, "{planted}");
        assert!(!place.at("nothing").exists());
        fs::remove_file(&lock).unwrap();
    }
    place.begin("x.zarr", &PublishOptions::default()).unwrap();
}

/// At each step of a run, the work folder is swapped for a link to a folder with files of the same names.
#[cfg(unix)]
#[test]
fn a_link_put_in_the_place_of_the_work_folder_leads_nowhere() {
    let theirs = ["lock", STORE, JOURNAL, CLOSING, "scratch", "journal.new"];
    for step in ["create", "record", "publish", "overwrite", "discard", "drop"] {
        let place = Place::new();
        let work = place.work("x.zarr");
        fs::create_dir(place.at("theirs")).unwrap();
        theirs.iter().for_each(|name| fs::write(place.at("theirs").join(name), "theirs").unwrap());
        let swap = || {
            fs::rename(&work, place.at("moved")).unwrap();
            std::os::unix::fs::symlink("theirs", &work).unwrap();
        };
        if step == "overwrite" {
            place.store("x.zarr", "old");
        }
        let publication = place.begin("x.zarr", &OVERWRITE).unwrap();
        match step {
            "create" => {
                swap();
                let planned = crate::target::Planned::default();
                for (name, is_directory) in [("zarr", true), ("zarr", false)] {
                    let format = crate::formats::target_format(name).unwrap();
                    let options = crate::target::TargetOptions::default();
                    let created = format.create(publication.path(), is_directory, &options, &planned);
                    assert!(created.is_err(), "{name} {is_directory}");
                }
            }
            "record" => {
                swap();
                publication.record(&unit(0..4), 100).unwrap();
                assert!(fs::metadata(place.at("moved/journal")).unwrap().len() > 100);
            }
            "publish" | "overwrite" => {
                fill(&publication, "new");
                swap();
                publication.publish().unwrap_err();
                assert_eq!(place.at("x.zarr").exists(), step == "overwrite");
            }
            "discard" => {
                fill(&publication, "new");
                swap();
                fs::write(place.at("source.h5"), "changed since").unwrap();
                publication.publish().unwrap_err();
            }
            _ => {
                swap();
                drop(publication);
            }
        }
        for name in theirs {
            let found = fs::read_to_string(place.at("theirs").join(name));
            assert_eq!(found.unwrap(), "theirs", "{step} {name}");
        }
        assert_eq!(fs::read_dir(place.at("theirs")).unwrap().count(), theirs.len(), "{step}");
    }
}

#[cfg(unix)]
#[test]
fn rejects_targets_that_cannot_be_a_store() {
    let place = Place::new();
    let source = place.at("source.h5");
    std::os::unix::net::UnixListener::bind(place.at("socket")).unwrap();
    let refusal = place.refusal("socket", &source, &OVERWRITE);
    assert!(refusal.ends_with("is not a regular file"), "{refusal}");
    std::os::unix::fs::symlink("nowhere", place.at("link")).unwrap();
    assert_eq!(place.refusal("link", &source, &OVERWRITE), "is a symbolic link without a target");
    assert_eq!(
        place.refusal("no/x.zarr", &source, &OVERWRITE),
        "/no: no such file or directory\nhelp: make the folder /no first"
    );
    assert_eq!(place.refusal("source.h5/x.zarr", &source, &OVERWRITE), "/source.h5 is not a folder");
    let refusal = place.refusal("..", &source, &OVERWRITE);
    assert_eq!(refusal, "has no file name");
    // Permissions do not stop root, but a file with the name of the work folder does.
    fs::write(place.work("y.zarr"), "mine").unwrap();
    let refusal = place.refusal("y.zarr", &source, &OVERWRITE);
    assert_eq!(refusal, "/.y.zarr.hyperslab-partial is not a folder, expected the work folder of a run");
}

#[cfg(unix)]
#[test]
fn names_the_folder_that_is_not_writable() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let folder = place.at("mine");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Root can write despite permissions, but not in folders of the kernel.
    let (folder, why) = match fs::write(folder.join("probe"), "") {
        Err(_) => (folder, "permission denied"),
        Ok(()) if Path::new("/proc/sys/kernel").is_dir() => ("/proc/sys/kernel".into(), ""),
        Ok(()) => panic!("found no folder that is not writable"),
    };
    let source = place.at("source.h5");
    let fingerprint = Fingerprint::of_source(&source, "").unwrap();
    let target = folder.join("x.zarr");
    let refusal = Publication::begin(&target, true, &fingerprint, &OVERWRITE).unwrap_err().to_string();
    let expected = format!("{}: {}: {why}", target.display(), folder.canonicalize().unwrap().display());
    assert!(refusal.starts_with(&expected), "{refusal}");
}

#[cfg(unix)]
#[test]
fn rejects_the_source_as_target_under_every_name() {
    let place = Place::new();
    let source = place.at("source.h5");
    std::os::unix::fs::symlink("source.h5", place.at("link.h5")).unwrap();
    std::os::unix::fs::symlink(".", place.at("here")).unwrap();
    fs::hard_link(&source, place.at("hard.h5")).unwrap();
    for name in ["source.h5", "link.h5", "hard.h5", "here/source.h5", "here/./here/link.h5"] {
        for options in [PublishOptions::default(), OVERWRITE, RESUME] {
            assert_eq!(
                place.refusal(name, &source, &options),
                "is the source itself\nhelp: choose another name"
            );
            assert_eq!(
                place.refusal("source.h5", &place.at(name), &options),
                "is the source itself\nhelp: choose another name"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn rejects_a_target_inside_or_around_its_source() {
    let place = Place::new();
    let outer = place.store("outer.zarr", "outer");
    place.store("outer.zarr/inner.zarr", "inner");
    std::os::unix::fs::symlink("outer.zarr/inner.zarr", place.at("way_in.zarr")).unwrap();
    std::os::unix::fs::symlink("outer.zarr", place.at("way.zarr")).unwrap();
    let lies_in = format!("lies in the source {}", outer.display());
    let lies_in = lies_in.replace(&place.0.path().display().to_string(), "");
    for target in ["outer.zarr/inner.zarr", "outer.zarr/new.zarr", "way.zarr/new.zarr", "way_in.zarr"] {
        assert_eq!(place.refusal(target, &outer, &OVERWRITE), lies_in);
    }
    for inner in ["outer.zarr/inner.zarr", "way.zarr/inner.zarr", "way_in.zarr"] {
        let refusal = place.refusal("outer.zarr", &place.at(inner), &OVERWRITE);
        assert_eq!(refusal, format!("contains the source /{inner}"));
    }
    // A link inside the target to a source elsewhere would be removed with the target.
    std::os::unix::fs::symlink(place.at("source.h5"), place.at("outer.zarr/out.h5")).unwrap();
    let refusal = place.refusal("outer.zarr", &place.at("outer.zarr/out.h5"), &OVERWRITE);
    assert_eq!(refusal, "contains the source /outer.zarr/out.h5");
}

#[cfg(unix)]
#[test]
fn rejects_a_target_that_shares_files_with_a_source() {
    let place = Place::new();
    let source = place.store("source.zarr", "s");
    let target = place.store("x.zarr", "t");
    fs::hard_link(target.join("c/0"), source.join("c/1")).unwrap();
    let shared = "shares /x.zarr/c/0 with the source";
    assert_eq!(place.refusal("x.zarr", &source, &OVERWRITE), shared);
    fs::remove_file(source.join("c/1")).unwrap();
    std::os::unix::fs::symlink(target.join("c/0"), source.join("c/1")).unwrap();
    let refusal = place.refusal("x.zarr", &source, &OVERWRITE);
    assert_eq!(refusal, "contains a part of the source /source.zarr: /source.zarr/c/1 leads there");
    fs::remove_file(source.join("c/1")).unwrap();
    // The target is a file that is part of the source.
    fs::write(place.at("y.zarr.zip"), b"\x89HDF\r\n\x1a\n").unwrap();
    fs::hard_link(place.at("y.zarr.zip"), source.join("c/1")).unwrap();
    assert_eq!(place.refusal("y.zarr.zip", &source, &OVERWRITE), "shares /y.zarr.zip with the source");
    assert_eq!(
        place.refusal("source.zarr/c/1", &place.at("y.zarr.zip"), &OVERWRITE),
        "is the source itself\nhelp: choose another name"
    );
}

#[test]
fn compares_names_as_the_file_system_does() {
    let place = Place::new();
    let same = place.at("SOURCE.h5").exists();
    let begun = place.begin("SOURCE.h5", &OVERWRITE);
    assert_eq!(
        begun.is_err_and(|e| e.to_string().ends_with("is the source itself\nhelp: choose another name")),
        same
    );
}

#[test]
fn rejects_the_work_folder_as_source_of_its_target() {
    let place = Place::new();
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&publication, "new");
    publication.record(&unit(0..1), 10).unwrap();
    let unfinished = publication.path().to_path_buf();
    drop(publication);
    let refusal = place.refusal("x.zarr", &unfinished, &PublishOptions::default());
    assert!(
        refusal.starts_with("is the target of the unfinished store /.x.zarr.hyperslab-partial/store"),
        "{refusal}"
    );
}

#[test]
fn rejects_a_second_run_on_the_same_target() {
    let place = Place::new();
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&publication, "new");
    for options in [PublishOptions::default(), OVERWRITE, RESUME] {
        let e = place.begin("x.zarr", &options).unwrap_err().to_string();
        let process = std::process::id();
        assert!(e.ends_with(&format!("is being written by another run, process {process}")), "{e}");
    }
    assert!(publication.path().join("c/0").exists());
    publication.publish().unwrap();
    assert_eq!(content_of(&place.at("x.zarr")), "new");
    assert_eq!(place.names(), ["source.h5", "x.zarr"]);
}

/// Run by the test below in a separate process.
#[test]
fn waits_to_be_killed() {
    let Some(folder) = std::env::var_os("HYPERSLAB_TEST_HOLD") else { return };
    let folder = PathBuf::from(folder);
    let source = folder.join("source.h5");
    let fingerprint = Fingerprint::of_source(&source, "-c keep").unwrap();
    let options = PublishOptions::default();
    let publication = Publication::begin(&folder.join("x.zarr"), true, &fingerprint, &options).unwrap();
    fill(&publication, "half");
    publication.record(&unit(0..4), 100).unwrap();
    println!("\nholding");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn a_killed_run_unlocks_its_target_and_can_be_resumed() {
    let place = Place::new();
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "publish::tests::waits_to_be_killed", "--nocapture"])
        .env("HYPERSLAB_TEST_HOLD", place.0.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("holding")));
    let e = place.begin("x.zarr", &RESUME).unwrap_err().to_string();
    assert!(e.ends_with(&format!("is being written by another run, process {}", other.id())), "{e}");
    other.kill().unwrap();
    other.wait().unwrap();
    let publication = place.begin("x.zarr", &RESUME).unwrap();
    assert!(publication.finished(&unit(0..4)));
    assert_eq!(publication.finished_bytes(), 100);
    assert_eq!(content_of(publication.path()), "half");
}

#[test]
fn the_next_run_resumes_the_finished_parts_of_a_failed_run() {
    let place = Place::new();
    let failed = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    let e = failed.interrupted(Error::invalid("disk full").in_object("/sst"), Some(960 << 20));
    assert_eq!(e.to_string(), "/sst: disk full");
    assert_eq!(place.names(), ["source.h5"], "nothing to resume");

    let failed = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    failed.record(&unit(0..4), 400 << 20).unwrap();
    failed.record(&unit(8..9), 12 << 20).unwrap();
    let e = failed.interrupted(Error::invalid("disk full").in_object("/sst"), Some(960 << 20));
    let e = e.to_string();
    let begin = "/sst: disk full\nhelp: resume the run: 432013312 of 1006632960 bytes are finished\nhelp: ";
    let work = place.work("x.zarr").canonicalize().unwrap();
    let end = format!(" stay in {}; remove it to give up", work.display());
    assert!(e.starts_with(begin) && e.ends_with(&end), "{e}");
    assert!(!place.at("x.zarr").exists());

    let publication = place.begin("x.zarr", &RESUME).unwrap();
    assert!(publication.notes().is_empty());
    assert_eq!(publication.finished_bytes(), 412 << 20);
    assert!(publication.finished(&unit(0..4)) && publication.finished(&unit(1..3)));
    assert!(!publication.finished(&unit(3..5)) && !publication.finished(&unit(4..5)));
    fill(&publication, "new");
    publication.publish().unwrap();
    assert_eq!(place.names(), ["source.h5", "x.zarr"]);
}

#[test]
fn a_run_without_resume_removes_finished_parts_with_a_note() {
    let place = Place::new();
    let failed = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&failed, "half");
    failed.record(&unit(0..4), 400 << 20).unwrap();
    drop(failed);
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    assert_eq!(
        publication.notes(),
        ["removed the finished parts of an interrupted run (400 MiB): this run does not resume it"]
    );
    assert!(!publication.finished(&unit(0..4)));
    assert_eq!(fs::read_dir(publication.path()).unwrap().count(), 0);
}

#[test]
fn rejects_resuming_with_other_sources_or_options() {
    let place = Place::new();
    let source = place.at("source.h5");
    let failed = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    failed.record(&unit(0..4), 100).unwrap();
    drop(failed);
    let refusal = |source: &Path, options: &str| {
        let fingerprint = Fingerprint::of_source(source, options).unwrap();
        let begun = Publication::begin(&place.at("x.zarr"), true, &fingerprint, &RESUME);
        let e = begun
            .unwrap_err()
            .to_string()
            .replace(&place.0.path().canonicalize().unwrap().display().to_string(), "");
        let (e, help) = e.split_once('\n').unwrap();
        assert_eq!(help, "help: without resuming, everything is written anew");
        e.split_once("interrupted run: ").unwrap().1.to_owned()
    };
    assert_eq!(refusal(&source, "-c 4MiB"), "its options were -c keep, not -c 4MiB");
    fs::copy(&source, place.at("copy.h5")).unwrap();
    assert_eq!(refusal(&place.at("copy.h5"), "-c keep"), "its source was /source.h5, not /copy.h5");
    let same_bytes = fs::read(&source).unwrap();
    fs::write(&source, b"shorter").unwrap();
    assert_eq!(refusal(&source, "-c keep"), "the source /source.h5 was changed since: 7 bytes, were 15");
    fs::write(&source, same_bytes).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
    assert_eq!(refusal(&source, "-c keep"), "the source /source.h5 was changed since: it was written to");
    // The finished parts were not removed.
    assert!(place.work("x.zarr").join("journal").exists());
}

#[test]
fn rejects_a_source_that_changed_during_the_run() {
    let place = Place::new();
    let source = place.store("source.zarr", "s");
    let changes: [&dyn Fn(); 4] = [
        &|| fs::write(source.join("c/0"), "longer than before").unwrap(),
        &|| fs::write(source.join("c/1"), "new").unwrap(),
        &|| fs::remove_file(source.join("c/1")).unwrap(),
        &|| {
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
            let file = fs::File::options().write(true).open(source.join("zarr.json")).unwrap();
            file.set_modified(later).unwrap();
        },
    ];
    for change in changes {
        let publication = place.begin_from("x.zarr", &source, &PublishOptions::default()).unwrap();
        fill(&publication, "new");
        publication.record(&unit(0..4), 100).unwrap();
        change();
        let e = publication.publish().unwrap_err().to_string();
        assert!(e.contains("source.zarr was changed while it was read: "), "{e}");
        assert!(!e.contains("resume"), "{e}");
        assert_eq!(place.names(), ["source.h5", "source.zarr"], "invalid data is not kept");
    }
}

#[test]
fn rejects_a_change_of_a_file_that_the_source_reads() {
    let place = Place::new();
    let raw = place.at("elements.raw");
    fs::write(&raw, "1234").unwrap();
    let made_from = || {
        let made_from = Fingerprint::of_source(&place.at("source.h5"), "").unwrap();
        made_from.with_parts(std::slice::from_ref(&raw)).unwrap()
    };
    let begin = |options| Publication::begin(&place.at("x.zarr"), true, &made_from(), &options);
    let publication = begin(PublishOptions::default()).unwrap();
    fill(&publication, "new");
    publication.record(&unit(0..4), 100).unwrap();
    fs::write(&raw, "123").unwrap();
    let e = publication.publish().unwrap_err().to_string();
    assert!(e.contains("elements.raw was changed while it was read: 3 bytes, were 4"), "{e}");
    assert_eq!(place.names(), ["elements.raw", "source.h5"]);

    let publication = begin(PublishOptions::default()).unwrap();
    publication.record(&unit(0..4), 100).unwrap();
    drop(publication);
    fs::write(&raw, "12").unwrap();
    let e = begin(RESUME).unwrap_err().to_string();
    assert!(e.contains("elements.raw was changed since: 2 bytes, were 3"), "{e}");
}

#[cfg(unix)]
#[test]
fn rejects_a_file_that_the_source_reads_as_target_under_every_name() {
    let place = Place::new();
    let store = place.store("x.zarr", "t");
    let (part, inner) = (place.at("part.h5"), store.join("c/0"));
    fs::copy(place.at("source.h5"), &part).unwrap();
    std::os::unix::fs::symlink("part.h5", place.at("link.h5")).unwrap();
    fs::hard_link(&part, place.at("hard.h5")).unwrap();
    let made_from = Fingerprint::of_source(&place.at("source.h5"), "").unwrap();
    let made_from = made_from.with_parts(&[part, inner]).unwrap();
    for name in ["part.h5", "link.h5", "hard.h5"] {
        for options in [PublishOptions::default(), OVERWRITE] {
            let e = Publication::begin(&place.at(name), true, &made_from, &options).unwrap_err();
            assert_eq!(e.detail(), "is a file that the source reads", "{name}");
        }
    }
    let e = Publication::begin(&store, true, &made_from, &OVERWRITE).unwrap_err();
    assert!(e.detail().ends_with("x.zarr/c/0, which the source reads"), "{e}");
}

#[test]
fn keeps_the_old_store_until_the_new_one_is_complete() {
    let place = Place::new();
    let target = place.store("x.zarr", "old");
    let publication = place.begin("x.zarr", &OVERWRITE).unwrap();
    fill(&publication, "new");
    assert_eq!(content_of(&target), "old");
    drop(publication);
    assert_eq!(content_of(&target), "old");
    let publication = place.begin("x.zarr", &OVERWRITE).unwrap();
    fill(&publication, "new");
    publication.publish().unwrap();
    assert_eq!(content_of(&target), "new");
    assert_eq!(place.names(), ["source.h5", "x.zarr"]);
}

#[cfg(unix)]
#[test]
fn keeps_a_link_and_replaces_its_target() {
    let place = Place::new();
    fs::create_dir(place.at("disk")).unwrap();
    place.store("disk/real.zarr", "old");
    std::os::unix::fs::symlink("disk/real.zarr", place.at("x.zarr")).unwrap();
    let publication = place.begin("x.zarr", &OVERWRITE).unwrap();
    let e = place.begin("disk/real.zarr", &OVERWRITE).unwrap_err().to_string();
    assert!(e.contains("is being written by another run"), "{e}");
    fill(&publication, "new");
    publication.publish().unwrap();
    assert!(place.at("x.zarr").is_symlink());
    assert_eq!(content_of(&place.at("disk/real.zarr")), "new");
}

#[test]
fn does_not_replace_a_store_created_during_the_run() {
    let place = Place::new();
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&publication, "new");
    publication.record(&unit(0..4), 100).unwrap();
    place.store("x.zarr", "theirs");
    let e = publication.publish().unwrap_err().to_string();
    assert!(
        e.contains(
            "exists\nhelp: allow it to be overwritten\nhelp: resume the run: 100 bytes are finished\n"
        ),
        "{e}"
    );
    assert_eq!(content_of(&place.at("x.zarr")), "theirs");
    let resumed = place.begin("x.zarr", &PublishOptions { overwrite: true, ..RESUME }).unwrap();
    assert!(resumed.finished(&unit(0..4)));
    resumed.publish().unwrap();
    assert_eq!(content_of(&place.at("x.zarr")), "new");
}

#[test]
fn to_new_does_not_replace_existing_files() {
    let place = Place::new();
    let (mine, theirs) = (place.store("mine", "mine"), place.store("theirs", "theirs"));
    assert!(rename::to_new(&mine, &theirs).is_err());
    assert_eq!((content_of(&mine).as_str(), content_of(&theirs).as_str()), ("mine", "theirs"));
    let (one, other) = (place.at("one"), place.at("other"));
    fs::write(&one, "1").unwrap();
    fs::write(&other, "2").unwrap();
    assert!(rename::to_new(&one, &other).is_err());
    assert_eq!(fs::read(&other).unwrap(), b"2");
}

/// A run is killed at each step of replacing a store, on systems that can exchange names and on others.
#[test]
fn the_next_run_repairs_a_run_killed_between_renames() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Killed {
        Closing,
        Exchanged,
        TakenAway,
        Replaced,
        Removing,
    }
    use Killed::*;
    for killed in [Closing, Exchanged, TakenAway, Replaced, Removing] {
        for options in
            [PublishOptions::default(), RESUME, OVERWRITE, PublishOptions { overwrite: true, ..RESUME }]
        {
            let place = Place::new();
            let target = place.store("x.zarr", "old");
            let publication = place.begin("x.zarr", &OVERWRITE).unwrap();
            fill(&publication, "new");
            publication.record(&unit(0..4), 100).unwrap();
            let work = place.work("x.zarr");
            let (store, replaced) = (work.join(STORE), work.join(REPLACED));
            fs::rename(work.join(JOURNAL), work.join(CLOSING)).unwrap();
            match killed {
                Closing => {}
                Exchanged => {
                    rename::over(&store, &target, &replaced).unwrap();
                }
                TakenAway => fs::rename(&target, &replaced).unwrap(),
                Replaced => rename::over_in_two_steps(&store, &target, &replaced, || {
                    assert!(!target.exists() && replaced.exists() && store.exists());
                })
                .unwrap(),
                Removing => {
                    rename::over_in_two_steps(&store, &target, &replaced, || {}).unwrap();
                    fs::remove_file(replaced.join("zarr.json")).unwrap();
                }
            }
            // A killed process runs no destructors.
            let Publication { work: ref held, .. } = publication;
            held.unlock();
            std::mem::forget(publication);

            let expected = if matches!(killed, Closing | TakenAway) { "old" } else { "new" };
            let begun = place.begin("x.zarr", &options);
            assert_eq!(content_of(&target), expected, "{killed:?} {options:?}");
            match begun {
                Err(e) => assert!(!options.overwrite && e.to_string().contains("exists"), "{killed:?} {e}"),
                Ok(publication) => {
                    assert!(options.overwrite);
                    // Resuming is possible only if `store` is certainly the new store.
                    let resumed = publication.finished(&unit(0..4));
                    assert_eq!(resumed, killed == TakenAway && options.resume, "{killed:?} {options:?}");
                    assert_eq!(publication.path().join("zarr.json").exists(), resumed);
                    fill(&publication, "newest");
                    publication.publish().unwrap();
                    assert_eq!(content_of(&target), "newest");
                    assert_eq!(place.names(), ["source.h5", "x.zarr"]);
                }
            }
        }
    }
}

#[test]
fn a_run_killed_after_publishing_leaves_nothing_to_resume() {
    let place = Place::new();
    let publication = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    fill(&publication, "new");
    publication.record(&unit(0..4), 100).unwrap();
    let work = place.work("x.zarr");
    fs::rename(work.join(JOURNAL), work.join(CLOSING)).unwrap();
    rename::to_new(&work.join(STORE), &place.at("x.zarr")).unwrap();
    publication.work.unlock();
    std::mem::forget(publication);
    let e = place.begin("x.zarr", &RESUME).unwrap_err().to_string();
    assert!(e.contains("exists"), "{e}");
    assert_eq!(place.names(), ["source.h5", "x.zarr"]);
}

#[test]
fn does_not_resume_if_the_unfinished_store_was_removed() {
    let place = Place::new();
    let failed = place.begin("x.zarr", &PublishOptions::default()).unwrap();
    failed.record(&unit(0..4), 100).unwrap();
    drop(failed);
    fs::remove_dir_all(place.work("x.zarr").join(STORE)).unwrap();
    let publication = place.begin("x.zarr", &RESUME).unwrap();
    assert!(!publication.finished(&unit(0..4)));
    assert!(publication.path().is_dir());
}

#[test]
fn one_of_many_concurrent_runs_publishes() {
    let place = Place::new();
    let done = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let Ok(publication) = place.begin("x.zarr", &PublishOptions::default()) else { return 0 };
                    fill(&publication, "new");
                    u32::from(publication.publish().is_ok())
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum::<u32>()
    });
    assert_eq!(done, 1);
    assert_eq!(content_of(&place.at("x.zarr")), "new");
}

#[test]
fn rejects_overwriting_a_store_with_foreign_files() {
    let place = Place::new();
    let source = place.at("source.h5");
    let target = place.store("x.zarr", "old");
    fs::write(target.join(".DS_Store"), "").unwrap();
    fs::write(target.join("._zarr.json"), "").unwrap();
    place.begin("x.zarr", &OVERWRITE).unwrap();
    fs::create_dir(target.join("notes")).unwrap();
    fs::write(target.join("notes/thesis.txt"), "years").unwrap();
    let refusal = place.refusal("x.zarr", &source, &OVERWRITE);
    let expected = "contains files that are not part of the store: notes/thesis.txt\nhelp: ";
    assert!(refusal.starts_with(expected), "{refusal}");
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(target.join(name), "").unwrap();
    }
    let refusal = place.refusal("x.zarr", &source, &OVERWRITE);
    assert!(refusal.contains("a.txt, b.txt, c.txt and 1 more\n"), "{refusal}");
    assert_eq!(content_of(&target), "old");

    fs::create_dir_all(place.at("home/docs")).unwrap();
    fs::write(place.at("home/zarr.json"), "{}").unwrap();
    let refusal = place.refusal("home", &source, &OVERWRITE);
    assert!(refusal.starts_with("contains files that are not part of the store: docs\n"), "{refusal}");
}

#[test]
fn publishes_names_of_the_maximum_length() {
    let place = Place::new();
    let (name, other) = ("n".repeat(255), "n".repeat(254) + "m");
    for name in [&name, &other] {
        let publication = place.begin(name, &PublishOptions::default()).unwrap();
        fill(&publication, name);
        publication.publish().unwrap();
        assert_eq!(content_of(&place.at(name)), *name);
    }
    let refusal = place.begin(&"n".repeat(256), &PublishOptions::default()).unwrap_err().to_string();
    assert!(refusal.starts_with(&place.at(&"n".repeat(256)).display().to_string()), "{refusal}");
}

#[test]
fn check_resumable_writes_nothing() {
    let place = Place::new();
    let (target, source) = (place.at("x.zarr"), place.at("source.h5"));
    let made_from = |options: &str| Fingerprint::of_source(&source, options).unwrap();
    check_resumable(&target, &made_from("-c 1")).unwrap();
    let publication = Publication::begin(&target, true, &made_from("-c 1"), &RESUME).unwrap();
    publication.record(&unit(0..4), 100).unwrap();
    drop(publication);
    check_resumable(&target, &made_from("-c 1")).unwrap();
    let refused = check_resumable(&target, &made_from("-c 2")).unwrap_err().to_string();
    assert!(refused.contains("its options were -c 1, not -c 2"), "{refused}");
    place.store("x.zarr", "whole");
    place.begin("y.zarr", &RESUME).unwrap();
    fs::remove_dir_all(place.work("x.zarr")).unwrap();
    let refusal = place.refusal("x.zarr", &source, &RESUME);
    assert!(refusal.starts_with("exists, and there is no interrupted run"), "{refusal}");
}
