//! Tests of targets that appear, are replaced or are written by several runs at once.

mod refused;
mod resumed;

use super::*;

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

/// The metadata document of an array with one chunk and with `content` as an attribute.
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
