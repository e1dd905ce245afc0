//! The rows of the benchmark of writing HDF5.

use crate::bench::compare::Place;
use crate::bench::compare::row::{Memory, Name, OURS, Row, Side, THREADS, Wanted};
use crate::workspace;

const H5PY: &str = "h5py";
const LOW_LEVEL: &str = "h5py, low-level calls";
const REPACK: &str = "h5repack";
const COPY: &str = "cp";
const PWRITE: &str = "limit: pwrite of 1 MiB";
const PEERS: [&str; 2] = ["rust-hdf5", "hdf5-pure"];

const FRESH: Option<Memory> = Some(Memory::Fresh);

/// Limits in megabytes: in addition to the array, for a million chunks, and for a million objects.
const BESIDE_ARRAY: u64 = 300;
const CHUNKS: u64 = 350;
const OBJECTS: u64 = 400;

/// The maximum size of a file as a fraction of the one that libhdf5 writes.
const MAX_SIZE: f64 = 1.02;

/// All rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<Row> {
    let mut rows = from_memory(place);
    rows.extend(of_the_command(place));
    rows
}

/// What libraries write.
fn from_memory(place: &Place<'_>) -> Vec<Row> {
    let small = place.data.ends_with("hdf5-small");
    let (shape, chunks) = if small { ("128,128,256", "32,32,32") } else { ("512,512,1024", "128,128,128") };
    let source = format!("source={}", place.data.join("source.f4").display());
    let array = [source, format!("shape={shape}")];
    let deflated: Vec<String> =
        array.iter().cloned().chain([format!("chunks={chunks}"), "codec=deflate".to_owned()]).collect();
    let (ours, h5py): (Name, Name) = ((OURS, FRESH), (H5PY, FRESH));
    let peers = |memory| PEERS.iter().map(|peer| (*peer, memory)).collect();
    let groups = if small { 25 } else { 200 };
    let many = |groups: u32, members: u32| {
        ["source=/dev/null".to_owned(), format!("groups={groups}"), format!("members={members}")]
    };
    let few = many(groups, 1_000);
    let low: Vec<String> = few.iter().cloned().chain(["api=low".to_owned()]).collect();
    let million = ["shape=8000,8000".to_owned(), "chunks=8,8".to_owned()];
    vec![
        Row {
            name: "deflate",
            what: "1 GB from memory in chunks of 128³, shuffled and deflated (level 4)".to_owned(),
            sides: libraries(place, "array", &deflated, FRESH, &[(H5PY, "h5py", &deflated)]),
            wanted: vec![
                Wanted::AtMost(ours, h5py, Some(0.22)),
                Wanted::AheadOfEach(ours, peers(FRESH)),
                Wanted::Stored(ours, h5py, MAX_SIZE),
                Wanted::Beside(BESIDE_ARRAY),
            ],
            once: false,
        },
        Row {
            name: "contiguous",
            what: "1 GB from memory, contiguous".to_owned(),
            sides: libraries(
                place,
                "array",
                &array,
                FRESH,
                &[(PWRITE, "pwrite", &array), (H5PY, "h5py", &array)],
            ),
            wanted: vec![
                Wanted::AtMost(ours, (PWRITE, FRESH), Some(0.8)),
                Wanted::AheadOfEach(ours, peers(FRESH)),
                Wanted::Stored(ours, h5py, MAX_SIZE),
            ],
            once: false,
        },
        Row {
            name: "many",
            what: "200,000 datasets of 10 elements in 200 groups".to_owned(),
            sides: libraries(place, "many", &few, None, &[(H5PY, "h5py", &few), (LOW_LEVEL, "h5py", &low)]),
            wanted: vec![
                Wanted::AtMost((OURS, None), (H5PY, None), Some(0.1)),
                Wanted::AtMost((OURS, None), (LOW_LEVEL, None), Some(0.25)),
                Wanted::AheadOfEach((OURS, None), peers(None)),
                Wanted::Stored((OURS, None), (LOW_LEVEL, None), MAX_SIZE),
            ],
            once: false,
        },
        Row {
            name: "million-chunks",
            what: "a million chunks of 8×8 elements, not filtered".to_owned(),
            sides: vec![zeros(place, &million)],
            wanted: vec![Wanted::InAll(CHUNKS)],
            once: true,
        },
        Row {
            name: "million-objects",
            what: "a million datasets of 10 elements in 1,000 groups".to_owned(),
            sides: vec![side(
                place,
                (OURS, "ours"),
                "many",
                &many(if small { 16 } else { 1_000 }, 1_000),
                None,
            )],
            wanted: vec![Wanted::InAll(OBJECTS)],
            once: true,
        },
    ]
}

/// What the command writes.
fn of_the_command(place: &Place<'_>) -> Vec<Row> {
    let side_of = if place.data.ends_with("hdf5-small") { 32 } else { 128 };
    let chunk = format!("{side_of},{side_of},{side_of}");
    let command = workspace::released().display().to_string();
    let ours = |verb: &str, file, options: &str| {
        program(place, OURS, file, &format!("{command} {verb} SOURCE INTO -q -j {THREADS} {options}"))
    };
    let other = |name, file, words: &str| program(place, name, file, words);
    let copy = |file| other(COPY, file, "cp --reflink=never SOURCE INTO");
    let (own, repack, cp): (Name, Name, Name) = ((OURS, None), (REPACK, None), (COPY, None));
    let deflated = format!("-c /data:{chunk} -f shuffle,deflate=4");
    let mut by_h5py = program(place, H5PY, "contiguous.h5", "");
    if let Some(kind) = by_h5py.args.get_mut(1) {
        *kind = "h5py".to_owned();
    }
    by_h5py.args.extend([format!("chunks={chunk}"), "codec=deflate".to_owned()]);
    let row =
        |name, what: &str, sides, wanted| Row { name, what: what.to_owned(), sides, wanted, once: false };
    vec![
        row(
            "convert-deflate",
            "1 GB contiguous to chunks of 128³, shuffled and deflated (level 4)",
            vec![ours("convert", "contiguous.h5", &deflated), by_h5py],
            vec![Wanted::AtMost(own, (H5PY, None), Some(0.25)), Wanted::Stored(own, (H5PY, None), MAX_SIZE)],
        ),
        row(
            "convert-contiguous",
            "1 GB contiguous to the same",
            vec![ours("convert", "contiguous.h5", ""), copy("contiguous.h5")],
            vec![Wanted::AtMost(own, cp, Some(1.2))],
        ),
        row(
            "recode",
            "chunks of 128³, shuffled and deflated, to the same with a checksum, deflated again (level 4)",
            vec![
                ours("convert", "chunked.h5", "-f shuffle,deflate=4,fletcher32"),
                other(REPACK, "chunked.h5", "h5repack -f SHUF -f GZIP=4 -f FLET SOURCE INTO"),
            ],
            vec![Wanted::AtMost(own, repack, Some(0.12)), Wanted::Stored(own, repack, MAX_SIZE)],
        ),
        row(
            "unchanged",
            "chunks of 128³, shuffled and deflated, as they are",
            vec![ours("convert", "chunked.h5", "-f keep"), copy("chunked.h5")],
            vec![Wanted::AtMost(own, cp, Some(1.3))],
        ),
        row(
            "many-unchanged",
            "200,000 datasets of 10 elements in 200 groups, as they are",
            vec![ours("convert", "many.h5", ""), other(REPACK, "many.h5", "h5repack SOURCE INTO")],
            vec![Wanted::AtMost(own, repack, Some(0.1)), Wanted::Stored(own, repack, MAX_SIZE)],
        ),
    ]
}

/// All libraries with the same keys, and further sides with their own.
fn libraries(
    place: &Place<'_>,
    job: &str,
    keys: &[String],
    memory: Option<Memory>,
    others: &[(&str, &str, &[String])],
) -> Vec<Side> {
    let mut sides = vec![side(place, (OURS, "ours"), job, keys, memory)];
    sides.extend(others.iter().map(|(name, kind, keys)| side(place, (name, kind), job, keys, memory)));
    sides.extend(PEERS.iter().map(|peer| side(place, (peer, peer), job, keys, memory)));
    sides
}

/// An array of zeros, which takes no memory of the program.
fn zeros(place: &Place<'_>, keys: &[String]) -> Side {
    let keys: Vec<String> =
        keys.iter().cloned().chain([format!("source={}", place.data.join("zeros.f4").display())]).collect();
    side(place, (OURS, "ours"), "array", &keys, None)
}

fn side(
    place: &Place<'_>,
    (name, kind): (&str, &str),
    job: &str,
    keys: &[String],
    memory: Option<Memory>,
) -> Side {
    let is_python = kind == "h5py";
    let mut args = Vec::new();
    if is_python {
        args.push(place.script("hdf5").display().to_string());
    }
    let threads = if is_python || kind == "pwrite" { 1 } else { THREADS };
    args.extend([kind.to_owned(), job.to_owned(), format!("threads={threads}")]);
    args.extend(memory.map(|memory| format!("memory={}", memory.key())));
    args.extend_from_slice(keys);
    args.push(format!("into={}", place.data.join("written").join(format!("{kind}.h5")).display()));
    args.push(format!("python={}", place.python.display()));
    args.push(format!("script={}", place.script("hdf5").with_file_name("content.py").display()));
    let program = if is_python { place.python.to_path_buf() } else { place.program("hdf5") };
    Side { name: name.to_owned(), threads, memory, program, args }
}

/// A program that converts a file to another file.
fn program(place: &Place<'_>, name: &str, file: &str, words: &str) -> Side {
    let into = place.data.join("written").join(format!("{name}.h5"));
    let args = vec![
        place.script("hdf5").display().to_string(),
        "program".to_owned(),
        "convert".to_owned(),
        format!("source={}", place.data.join(file).display()),
        format!("into={}", into.display()),
        format!("words={words}"),
    ];
    let threads = if name == OURS { THREADS } else { 1 };
    Side { name: name.to_owned(), threads, memory: None, program: place.python.to_path_buf(), args }
}
