//! Runs that failed or were killed, and those that resume them.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
        .args(["--exact", "publish::tests::resumed::waits_to_be_killed", "--nocapture"])
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
    let end = format!(" stay in {}; remove that folder to discard them", work.display());
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
        assert_eq!(help, "help: without resuming, everything is written again from the beginning");
        e.split_once("interrupted run: ").unwrap().1.to_owned()
    };
    assert_eq!(refusal(&source, "-c 4MiB"), "its options were -c keep, not -c 4MiB");
    fs::copy(&source, place.at("copy.h5")).unwrap();
    assert_eq!(refusal(&place.at("copy.h5"), "-c keep"), "its source was /source.h5, not /copy.h5");
    let same_bytes = fs::read(&source).unwrap();
    fs::write(&source, b"shorter").unwrap();
    assert_eq!(
        refusal(&source, "-c keep"),
        "the source /source.h5 was changed since: it now has 7 bytes, previously 15"
    );
    fs::write(&source, same_bytes).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
    assert_eq!(refusal(&source, "-c keep"), "the source /source.h5 was changed since: it was written to");
    // The finished parts were not removed.
    assert!(place.work("x.zarr").join("journal").exists());
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
