//! Targets and sources that are refused.

use super::*;

#[cfg(unix)]
#[test]
fn rejects_targets_that_cannot_be_a_store() {
    let place = Place::new();
    let source = place.at("source.h5");
    std::os::unix::net::UnixListener::bind(place.at("socket")).unwrap();
    let refusal = place.refusal("socket", &source, &OVERWRITE);
    assert!(refusal.ends_with("is not a regular file"), "{refusal}");
    std::os::unix::fs::symlink("nowhere", place.at("link")).unwrap();
    assert_eq!(
        place.refusal("link", &source, &OVERWRITE),
        "is a symbolic link to a target that does not exist"
    );
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
    // Root can write regardless of permissions, but not in kernel folders.
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
    assert!(
        e.contains("elements.raw was changed while it was read: it now has 3 bytes, previously 4"),
        "{e}"
    );
    assert_eq!(place.names(), ["elements.raw", "source.h5"]);

    let publication = begin(PublishOptions::default()).unwrap();
    publication.record(&unit(0..4), 100).unwrap();
    drop(publication);
    fs::write(&raw, "12").unwrap();
    let e = begin(RESUME).unwrap_err().to_string();
    assert!(e.contains("elements.raw was changed since: it now has 2 bytes, previously 3"), "{e}");
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
