//! Interrupted conversions: the state of the target, and the next run, which resumes the work.

use crate::path;
use bytes::Bytes;
use hyperslab::convert::{ConvertOptions, Summary, convert, plan};
use hyperslab::publish::{Fingerprint, PublishOptions};
use hyperslab::target::Loss;
use hyperslab::target_format_of;
use hyperslab::{Error, NodePath, OpenOptions, Pool, Source, digest, open, open_storage};
use hyperslab_core::storage::{Fault, Faulty};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

const RESUME: PublishOptions = PublishOptions { overwrite: false, resume: true, sync: false };

fn digests(source: &dyn Source) -> Vec<String> {
    let lines = digest::lines(source, &NodePath::root()).unwrap();
    lines.iter().map(digest::Line::to_json).collect()
}

fn digests_at(path: &Path) -> Vec<String> {
    digests(&*open(path, &OpenOptions::default()).unwrap())
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes a Zarr store with an array of 64 chunks, and returns its path.
pub(crate) fn many_chunks(folder: &Path) -> PathBuf {
    let store = folder.join("source.zarr");
    fs::create_dir_all(store.join("x/c")).unwrap();
    fs::write(store.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [64, 65536], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 65536]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}]}"#;
    fs::write(store.join("x/zarr.json"), array).unwrap();
    for chunk in 0..64_u8 {
        fs::create_dir(store.join(format!("x/c/{chunk}"))).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(65536).map(|at| chunk.wrapping_add(at)).collect();
        fs::write(store.join(format!("x/c/{chunk}/0")), bytes).unwrap();
    }
    store
}

/// Converts with one thread. `step` is called after each part with the number of converted bytes.
fn run(
    source: &Path,
    target: &Path,
    publish: PublishOptions,
    step: &(dyn Fn(u64) + Sync),
) -> Result<Summary, Error> {
    let tell = |_: &NodePath, bytes: u64| step(bytes);
    let mut options = ConvertOptions::new(target_format_of(target)?);
    let made_from = Fingerprint::of_source(source, "")?;
    options.publish = publish;
    options.progress = Some(&tell);
    options.pool = Pool::new(1, Pool::MEMORY);
    let opened = open(source, &OpenOptions { pool: options.pool.clone(), ..OpenOptions::default() })?;
    convert(&*opened, &made_from, target, &plan(&*opened, &options)?, &options)
}

fn work(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap().to_str().unwrap();
    target.with_file_name(format!(".{name}.hyperslab-partial"))
}

/// The folder of the chunks in a store that is being written.
fn first_chunk(target: &Path) -> PathBuf {
    work(target).join("store/x/c")
}

/// Removes a store, which is a file or a folder.
fn remove(store: &Path) {
    match store.is_dir() {
        true => fs::remove_dir_all(store).unwrap(),
        false => fs::remove_file(store).unwrap(),
    }
}

#[test]
fn a_source_that_fails_at_any_read_leaves_no_target() {
    ["x.zarr", "x.h5"].into_iter().for_each(no_target_of_a_source_that_fails);
}

fn no_target_of_a_source_that_fails(name: &str) {
    let folder = TempDir::new().unwrap();
    let bytes = Bytes::from(fs::read(path("ocean.nc")).unwrap());
    let target = folder.path().join(name);
    let expected = digests(&*open_storage(Box::new(bytes.clone()), &OpenOptions::default()).unwrap());
    let try_with = |fault| -> Result<u64, Error> {
        let storage = std::sync::Arc::new(Faulty::new(bytes.clone(), fault));
        let source = open_storage(Box::new(storage.clone()), &OpenOptions::default())?;
        let mut options = ConvertOptions::new(target_format_of(&target)?);
        options.publish.resume = true;
        let plan = plan(&*source, &options)?;
        convert(&*source, &Fingerprint::default(), &target, &plan, &options)?;
        Ok(storage.reads())
    };
    let reads = try_with(Fault::Truncated(u64::MAX)).unwrap();
    assert!(reads > 10, "{reads}");
    assert_eq!(digests_at(&target), expected);
    remove(&target);
    let mut failed = 0;
    for read in 0..reads {
        let tried = try_with(Fault::FromRead(read));
        match tried {
            Err(e) => {
                failed += 1;
                assert!(!target.exists(), "{read}: {e}");
            }
            // The failed read was only needed to recognise the format.
            Ok(_) => {
                assert_eq!(digests_at(&target), expected, "{read}");
                remove(&target);
            }
        }
    }
    assert!(failed > 10, "{failed}");
    // A truncated source also gives an error or no target.
    for len in (0..bytes.len() as u64).step_by(997) {
        let _ = try_with(Fault::Shrunk(len));
        assert!(!target.exists() || digests_at(&target) == expected, "{len}");
    }
    try_with(Fault::Truncated(u64::MAX)).unwrap();
    assert_eq!(digests_at(&target), expected);
    assert_eq!(names(folder.path()), [name]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_chunk_is_reported_and_the_next_run_resumes() {
    for target in ["x.zarr", "x.zarr.zip"] {
        let folder = TempDir::new().unwrap();
        let source = many_chunks(folder.path());
        let before = digests_at(&source);
        let target = folder.path().join(target);
        // After the first part, a chunk of the source becomes unreadable.
        let lost = source.join("x/c/40/0");
        let kept = folder.path().join("kept");
        let moved = AtomicU64::new(0);
        let e = run(&source, &target, PublishOptions::default(), &|done| {
            if done >= 1 << 20 && moved.fetch_add(1, Ordering::Relaxed) == 0 {
                fs::rename(&lost, &kept).unwrap();
                fs::create_dir(&lost).unwrap();
            }
        });
        // A directory in place of a chunk counts as a missing chunk. The change is detected only at the end.
        let e = e.unwrap_err().to_string();
        assert!(e.contains("was changed while it was read"), "{e}");
        assert_eq!(names(folder.path()), ["kept", "source.zarr"], "what is worthless is not kept");
        fs::remove_dir(&lost).unwrap();
        fs::rename(&kept, &lost).unwrap();

        // A chunk outside of the store, which must not be read.
        fs::rename(&lost, &kept).unwrap();
        std::os::unix::fs::symlink(&kept, &lost).unwrap();
        let e = run(&source, &target, PublishOptions::default(), &|_| {}).unwrap_err().to_string();
        assert!(e.contains("/x"), "{e}");
        assert!(
            e.contains("\nhelp: resume the run: ") && e.contains(" of 4194304 bytes are finished\nhelp: "),
            "{e}"
        );
        assert!(!target.exists());
        let e = run(&source, &target, RESUME, &|_| {}).unwrap_err().to_string();
        assert!(e.contains("resume the run"), "{e}");
        fs::remove_file(&lost).unwrap();
        fs::rename(&kept, &lost).unwrap();
        let e = run(&source, &target, RESUME, &|_| {}).unwrap_err().to_string();
        assert!(e.contains("was changed since"), "{e}");
        run(&source, &target, PublishOptions::default(), &|_| {}).unwrap();
        assert_eq!(digests_at(&target), before);
        assert_eq!(digests_at(&source), before, "the source is as it was");
    }
}

#[test]
fn a_target_that_becomes_unwritable_is_reported_and_the_next_run_resumes() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let target = folder.path().join("x.zarr");
    let (chunks, aside) = (first_chunk(&target), folder.path().join("aside"));
    let e = run(&source, &target, PublishOptions::default(), &|done| {
        if done >= 1 << 20 && chunks.is_dir() {
            // Root can write regardless of permissions, but not below a file.
            fs::rename(&chunks, &aside).unwrap();
            fs::write(&chunks, "").unwrap();
        }
    });
    let e = e.unwrap_err().to_string();
    let shown = format!("{}:/x: chunk ", target.display());
    assert!(e.starts_with(&shown) && e.contains("\nhelp: resume the run: "), "{e}");
    assert!(!target.exists());
    fs::remove_file(&chunks).unwrap();
    fs::rename(&aside, &chunks).unwrap();

    let first = AtomicU64::new(0);
    run(&source, &target, RESUME, &|done| {
        let _ = first.compare_exchange(0, done, Ordering::Relaxed, Ordering::Relaxed);
    })
    .unwrap();
    assert!(first.into_inner() > 0);
    assert_eq!(digests_at(&target), digests_at(&source));
    assert_eq!(names(folder.path()), ["source.zarr", "x.zarr"]);
}

#[test]
fn finished_parts_are_not_written_again() {
    for target in ["x.zarr", "x.zarr.zip"] {
        let folder = TempDir::new().unwrap();
        let source = many_chunks(folder.path());
        let target = folder.path().join(target);
        let stop = std::panic::catch_unwind(|| {
            run(&source, &target, PublishOptions::default(), &|done| assert!(done < 2 << 20, "stop"))
        });
        assert!(stop.is_err());
        assert!(!target.exists());
        // Only the journal records which parts are finished. Writing them again would change the modification time.
        let written = |target: &Path| fs::metadata(target).unwrap().modified().unwrap();
        let chunk = first_chunk(&target).join("3/0");
        let before = chunk.exists().then(|| written(&chunk));
        run(&source, &target, RESUME, &|_| {}).unwrap();
        assert_eq!(before, target.is_dir().then(|| written(&target.join("x/c/3/0"))));
        assert_eq!(digests_at(&target), digests_at(&source));
    }
}

/// Writes a document with arrays of strings, with and without chunks, between arrays of numbers.
fn arrays_with_heaps(folder: &Path) -> PathBuf {
    let list = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let texts = list(30_000, &|at| format!("text number {at}"));
    let numbers = list(60_000, &|at| (at * 7 % 1000).to_string());
    let array = |name: &str, datatype: &str, shape: usize, storage: &str, values: &str| {
        format!("  {name}:\n    shape: [{shape}]\n    type: {datatype}\n{storage}    value: [{values}]\n")
    };
    let chunks = "    storage: {chunk: [5000]}\n";
    let text = [
        "ndarrays:\n".to_owned(),
        array("a", "int32", 60_000, chunks, &numbers),
        array("b", "string", 30_000, "", &texts),
        array("c", "int32", 60_000, "", &numbers),
        array("d", "string", 30_000, chunks, &texts),
        array("e", "string", 30_000, "", &texts),
    ];
    let document = folder.join("source.yaml");
    fs::write(&document, text.concat()).unwrap();
    document
}

#[test]
fn a_resumed_file_has_the_bytes_of_one_that_was_not_interrupted() {
    let folder = TempDir::new().unwrap();
    let source = arrays_with_heaps(folder.path());
    let whole = folder.path().join("whole.h5");
    let steps = AtomicU64::new(0);
    run(&source, &whole, PublishOptions::default(), &|_| {
        steps.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let (whole, steps) = (fs::read(&whole).unwrap(), steps.into_inner());
    assert!(steps > 8, "{steps}");
    for last in 0..steps {
        let target = folder.path().join(format!("{last}.h5"));
        let step = AtomicU64::new(0);
        let stopped = std::panic::catch_unwind(|| {
            run(&source, &target, PublishOptions::default(), &|_| {
                assert!(step.fetch_add(1, Ordering::Relaxed) < last, "stop");
            })
        });
        assert!(stopped.is_err() && !target.exists());
        run(&source, &target, RESUME, &|_| {}).unwrap();
        assert!(fs::read(&target).unwrap() == whole, "stopped after {last} of {steps} parts");
        fs::remove_file(&target).unwrap();
    }
}

#[test]
fn a_target_is_replaced_only_by_a_complete_one() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let target = folder.path().join("x.zarr");
    run(&path("ocean.nc"), &target, PublishOptions::default(), &|_| {}).unwrap();
    let old = digests_at(&target);
    let e = run(&source, &target, PublishOptions::default(), &|_| {}).unwrap_err().to_string();
    assert!(e.ends_with("x.zarr: exists\nhelp: allow it to be overwritten"), "{e}");
    let overwrite = PublishOptions { overwrite: true, ..PublishOptions::default() };
    let seen = AtomicU64::new(0);
    run(&source, &target, overwrite, &|_| {
        if seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(16) {
            assert_eq!(digests_at(&target), old);
        }
    })
    .unwrap();
    assert_eq!(digests_at(&target), digests_at(&source));
    let e = run(&target, &target, overwrite, &|_| {}).unwrap_err().to_string();
    assert!(e.contains("x.zarr: is the source itself"), "{e}");
}

#[cfg(unix)]
#[test]
fn a_file_is_begun_again_without_an_array_that_turns_out_to_be_unreadable() {
    let folder = TempDir::new().unwrap();
    let source = many_chunks(folder.path());
    let array = fs::read(source.join("x/zarr.json")).unwrap();
    for name in ["a", "z"] {
        fs::create_dir_all(source.join(name).join("c/0")).unwrap();
        fs::write(source.join(name).join("zarr.json"), &array).unwrap();
        fs::write(source.join(name).join("c/0/0"), vec![7; 65536]).unwrap();
    }
    let whole = digests_at(&source);
    // A chunk outside of the store, which must not be read.
    let (lost, kept) = (source.join("x/c/40/0"), folder.path().join("kept"));
    fs::rename(&lost, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &lost).unwrap();
    let target = folder.path().join("x.h5");
    let convert_with = |allow: Vec<Loss>| {
        let made_from = Fingerprint::of_source(&source, "").unwrap();
        let opened = open(&source, &OpenOptions::default()).unwrap();
        let options = ConvertOptions { allow, ..ConvertOptions::new(target_format_of(&target).unwrap()) };
        convert(&*opened, &made_from, &target, &plan(&*opened, &options).unwrap(), &options)
    };
    let e = convert_with(Vec::new()).unwrap_err().to_string();
    assert!(e.contains("/x") && e.contains("left out"), "{e}");
    assert!(!target.exists());
    let summary = convert_with(vec![Loss::Unreadable]).unwrap();
    assert_eq!(summary.left_out.len(), 1);
    assert_eq!((summary.left_out[0].object(), summary.arrays), (Some("/x"), 2));
    let expected: Vec<_> = whole.into_iter().filter(|line| !line.contains("/x")).collect();
    assert_eq!(digests_at(&target), expected);
    let report = hyperslab::check::check(&target, &OpenOptions::default(), &Default::default()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(names(folder.path()), ["kept", "source.zarr", "x.h5"]);
}
