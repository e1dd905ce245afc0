//! The rows of the Zarr benchmark.

use crate::bench::compare::Place;
use crate::bench::compare::row::{Memory, Name, OURS, Row, Side, THREADS, Wanted};

const FRESH: Option<Memory> = Some(Memory::Fresh);

/// The number codecs, with the name of their store.
const STORES: [Store; 4] = [
    Store { read: "read-raw", write: "write-raw", folder: "raw", codec: "raw", what: "as they are" },
    Store { read: "read-zstd", write: "write-zstd", folder: "zstd", codec: "zstd", what: "zstd (level 3)" },
    Store {
        read: "read-blosc-lz4",
        write: "write-blosc-lz4",
        folder: "blosc-lz4",
        codec: "blosc-lz4",
        what: "Blosc of shuffled bytes and LZ4 (level 5)",
    },
    Store {
        read: "read-shards",
        write: "write-shards",
        folder: "shards",
        codec: "zstd",
        what: "zstd (level 3) of 64³ elements in shards of 256³",
    },
];

struct Store {
    read: &'static str,
    write: &'static str,
    folder: &'static str,
    codec: &'static str,
    what: &'static str,
}

/// The names of the other libraries and of their sides.
const PEERS: [(&str, &str); 4] =
    [("zarrs", "zarrs"), ("zarrs-python", "zarrs"), ("tensorstore", "tensorstore"), ("zarr-python", "zarr")];

/// The goal, as a fraction of the best other library.
const MIN_PART: f64 = 0.95;

/// All rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = STORES.iter().map(|store| read(place, store)).collect();
    rows.extend(STORES.iter().map(|store| write(place, store)));
    rows.push(walk(place, "open", "hierarchy", "without consolidated metadata", false));
    rows.push(walk(place, "open-consolidated", "hierarchy-consolidated", "with consolidated metadata", true));
    rows
}

fn read(place: &Place<'_>, store: &Store) -> Row {
    let keys = vec![format!("file={}", place.data.join(store.folder).display()), "path=/data".to_owned()];
    let ours = side(place, "read", (OURS, "ours"), "array", &keys, FRESH);
    let what = format!("1 GB of float32 read, chunks of 128³: {}", store.what);
    row(place, store.read, what, ours, ("array", keys))
}

fn write(place: &Place<'_>, store: &Store) -> Row {
    let (shape, chunks, shards) = match store.folder {
        "shards" => ("512,512,1024", "64,64,64", "256,256,256"),
        _ => ("512,512,1024", "128,128,128", ""),
    };
    let small = place.data.ends_with("zarr-small");
    let sized = |numbers: &str| -> String {
        let quarter = |number: &str| number.parse::<u64>().map_or(0, |number| number / 4).to_string();
        match small {
            true => numbers.split(',').filter(|n| !n.is_empty()).map(quarter).collect::<Vec<_>>().join(","),
            false => numbers.to_owned(),
        }
    };
    let mut keys = vec![
        format!("file={}.template", place.data.join(store.folder).display()),
        format!("source={}", place.data.join("source.f4").display()),
        format!("codec={}", store.codec),
    ];
    for (key, numbers) in [("shape", shape), ("chunks", chunks), ("shards", shards)] {
        keys.push(format!("{key}={}", sized(numbers)));
    }
    let ours = side(place, "zarr", (OURS, "ours"), "write", &into(place, OURS, &keys), FRESH);
    let what = format!("1 GB of float32 written, chunks of 128³: {}", store.what);
    row(place, store.write, what, ours, ("write", keys))
}

fn row(
    place: &Place<'_>,
    name: &'static str,
    what: String,
    ours: Side,
    (job, keys): (&str, Vec<String>),
) -> Row {
    let mut sides = vec![ours];
    for peer in PEERS {
        let keys = if job == "write" { into(place, peer.0, &keys) } else { keys.clone() };
        sides.push(side(place, "zarr", peer, job, &keys, FRESH));
    }
    let ours: Name = (OURS, FRESH);
    let peers: Vec<Name> = PEERS.iter().map(|(peer, _)| (*peer, FRESH)).collect();
    let wanted =
        vec![Wanted::BestOfProcessor(ours, peers.clone(), MIN_PART), Wanted::AheadOfEach(ours, peers)];
    Row { name, what, sides, wanted, once: false }
}

/// Each side writes to its own folder.
fn into(place: &Place<'_>, name: &str, keys: &[String]) -> Vec<String> {
    let into = format!("into={}", place.data.join("written").join(name).display());
    keys.iter().cloned().chain([into]).collect()
}

fn walk(place: &Place<'_>, name: &'static str, folder: &str, how: &str, consolidated: bool) -> Row {
    let mut keys = vec![format!("file={}", place.data.join(folder).display())];
    keys.push(format!("consolidated={}", if consolidated { "yes" } else { "no" }));
    let sides = vec![
        side(place, "read", (OURS, "ours"), "walk", &keys, None),
        side(place, "zarr", ("zarrs", "zarrs"), "walk", &keys, None),
        side(place, "zarr", ("zarr-python", "zarr"), "walk", &keys, None),
    ];
    let wanted = vec![Wanted::AtLeast((OURS, None), ("zarr-python", None), Some(20.0))];
    let what = format!("a hierarchy of 10,000 arrays in 100 groups opened, with shapes and types, {how}");
    Row { name, what, sides, wanted, once: false }
}

fn side(
    place: &Place<'_>,
    folder: &str,
    (name, side): (&str, &str),
    job: &str,
    keys: &[String],
    memory: Option<Memory>,
) -> Side {
    let is_python = !matches!(name, OURS | "zarrs");
    let mut args = Vec::new();
    if is_python {
        args.push(place.script(folder).display().to_string());
    }
    args.extend([side.to_owned(), job.to_owned(), format!("threads={THREADS}")]);
    args.extend(memory.map(|memory| format!("memory={}", memory.key())));
    args.extend_from_slice(keys);
    Side {
        name: name.to_owned(),
        threads: THREADS,
        memory,
        program: if is_python { place.python.to_path_buf() } else { place.program(folder) },
        args,
    }
}
