//! The rows of the reading benchmark.

use crate::bench::compare::Place;
use crate::bench::compare::row::{BESIDE, Memory, Name, OURS, Row, STREAMING, Side, THREADS, Wanted};

const PREAD: &str = "limit: pread";
const CHUNKS: &str = "limit: chunk preads";
const INFLATE: &str = "limit: inflate";
const UNSHUFFLE: &str = "limit: inflate + unshuffle";

const REUSED: Option<Memory> = Some(Memory::Reused);
const FRESH: Option<Memory> = Some(Memory::Fresh);

/// All rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<Row> {
    let limits = |names: &[Name], wanted: Wanted| (names.to_vec(), wanted);
    let deflated = &[(INFLATE, None), (UNSHUFFLE, None), (CHUNKS, None)];
    let ours = (OURS, REUSED);
    let mut rows = vec![
        place.array(
            "contiguous",
            "1 GB of float64, contiguous",
            ("contiguous.h5", "f8", 0, ""),
            limits(&[(PREAD, REUSED), (PREAD, FRESH)], Wanted::AtMost(ours, (PREAD, REUSED), Some(1.1))),
        ),
        place.array(
            "deflate",
            "1 GB of float32 in chunks of 256 KiB, shuffled and deflated (level 4)",
            ("deflate.h5", "f4", 256 << 10, ""),
            limits(deflated, Wanted::AtMost(ours, (UNSHUFFLE, None), Some(1.15))),
        ),
        place.array(
            "raw",
            "1 GB of float32 in chunks of 128 KiB as they are",
            ("raw.h5", "f4", 128 << 10, ""),
            limits(&[(PREAD, REUSED), (CHUNKS, None)], Wanted::AtMost(ours, ("h5py", REUSED), Some(0.6))),
        ),
        place.array(
            "span-deflate",
            "1 GB of float32 in chunks of 240×64×64 that span dimension 0, shuffled and deflated (level 4)",
            ("span_deflate.h5", "f4", 240 * 64 * 64 * 4, ""),
            limits(deflated, Wanted::AtMost(ours, (UNSHUFFLE, None), Some(1.3))),
        ),
        place.array(
            "span-raw",
            "1 GB of float32 in chunks of 240×64×64 that span dimension 0, as they are",
            ("span_raw.h5", "f4", 240 * 64 * 64 * 4, ""),
            limits(&[(PREAD, REUSED), (CHUNKS, None)], Wanted::AtMost(ours, (PREAD, REUSED), Some(1.3))),
        ),
    ];
    for (name, what, file, element) in [
        ("strided", "`[::4, ::4]` of 8192×16384 float64, contiguous", "contiguous.h5", "f8"),
        ("strided-deflate", "`[::4, ::4]` of 240×1024×1024 float32, deflated", "deflate.h5", "f4"),
        ("strided-raw", "`[::4, ::4]` of 240×1024×1024 float32, chunks as they are", "raw.h5", "f4"),
    ] {
        let wanted = Wanted::AtMost(ours, ("h5py", REUSED), Some(0.5));
        rows.push(place.array(name, what, (file, element, 0, "4,4"), (Vec::new(), wanted)));
    }
    rows.push(place.classic());
    rows.push(place.strings());
    for (name, kind, file) in [
        ("index-btree1", "a version 1 B-tree", "index_btree1.h5"),
        ("index-fixed", "a fixed array", "index_fixed.h5"),
        ("index-extensible", "an extensible array", "index_extensible.h5"),
    ] {
        let what = format!("the index of 65,536 chunks, {kind}; h5py `chunk_iter`");
        let sides = ["ours", "h5py", "hdf5-reader", "rust-hdf5", "hdf5-pure"];
        rows.push(place.plain(name, what, &sides, "index", file, 1.0 / 8.0));
    }
    for (name, what, file, within) in [
        (
            "elements",
            "10,000 elements of 4 deflated chunks of 256 KiB, a read each",
            "deflate.h5",
            "1,512,512",
        ),
        (
            "elements-many-chunks",
            "10,000 elements of an array in 1.5 million chunks of 256 bytes, a read each, the first of which finds the index",
            "many_chunks.h5",
            "20480,19200",
        ),
    ] {
        rows.push(place.elements(name, what, file, within));
    }
    for (name, kind, file) in [
        ("walk-in-order", "laid out in order", "in_order.h5"),
        ("walk-interleaved", "interleaved over 200 groups", "interleaved.h5"),
    ] {
        let what = format!("a walk of 200,000 objects with shape and type, {kind}; h5py `visititems`");
        let sides = ["ours", "h5py", "hdf5-reader", "rust-hdf5", "hdf5-pure"];
        rows.push(place.plain(name, what, &sides, "walk", file, 1.0 / 60.0));
    }
    rows.push(place.datasets());
    for (name, kind, file) in [
        ("digest-contiguous", "contiguous", "sparse_contiguous.h5"),
        ("digest-chunked", "in chunks, few of them written", "sparse_chunked.h5"),
    ] {
        let sides = vec![place.side("ours", "digest", file, THREADS, None, &[])];
        let what = format!("`digest` of 20 GB of float64 in a sparse file, {kind}");
        rows.push(Row { name, what, sides, wanted: vec![Wanted::InAll(STREAMING)], once: true });
    }
    rows
}

impl Place<'_> {
    /// An array that every side reads into its own memory and, if possible, into the caller's. `data` is the file,
    /// the element type, the chunk size in bytes and the step.
    fn array(
        &self,
        name: &'static str,
        what: &str,
        data: (&str, &str, usize, &str),
        (limits, wanted): (Vec<Name>, Wanted),
    ) -> Row {
        let (file, element, chunk, step) = data;
        let mut keys = vec![format!("element={element}"), format!("chunk={chunk}")];
        if !step.is_empty() {
            keys.push(format!("step={step}"));
        }
        let mut sides = Vec::new();
        for (side, threads) in [("ours", THREADS), ("h5py", 1)] {
            sides.push(self.side(side, "array", file, threads, REUSED, &keys));
            sides.push(self.side(side, "array", file, threads, FRESH, &keys));
        }
        let mut all = vec![wanted, Wanted::Beside(BESIDE)];
        for (limit, memory) in limits {
            let job = match limit {
                PREAD => "pread",
                CHUNKS => "chunks",
                INFLATE => "inflate",
                _ => "unshuffle",
            };
            let mut side = self.side("limit", job, file, THREADS, memory, &keys);
            limit.clone_into(&mut side.name);
            sides.push(side);
            if memory == FRESH {
                all.insert(1, Wanted::AtMost((OURS, FRESH), (limit, FRESH), None));
            }
        }
        if let Some(Wanted::AtMost(_, ("h5py", _), _)) = all.first() {
            all.insert(1, Wanted::AtMost((OURS, FRESH), ("h5py", FRESH), None));
        } else {
            all.insert(1, Wanted::AtMost((OURS, REUSED), ("h5py", REUSED), None));
        }
        sides.push(self.side("netCDF4", "array", file, 1, FRESH, &keys));
        sides.push(self.side("hdf5-reader", "array", file, 1, REUSED, &keys));
        sides.push(self.side("hdf5-reader", "array", file, THREADS, FRESH, &keys));
        sides.push(self.side("rust-hdf5", "array", file, THREADS, REUSED, &keys));
        sides.push(self.side("rust-hdf5", "array", file, THREADS, FRESH, &keys));
        sides.push(self.side("hdf5-pure", "array", file, 1, FRESH, &keys));
        Row { name, what: what.to_owned(), sides, wanted: all, once: false }
    }

    /// A file whose elements have the byte order of NetCDF classic files. The limit does not convert them.
    fn classic(&self) -> Row {
        let file = "classic.cdf";
        let (keys, stored) = ([("element=f8".to_owned())], [("element=>f8".to_owned())]);
        let sides = vec![
            self.side("ours", "array", file, THREADS, REUSED, &keys),
            self.side("ours", "array", file, THREADS, FRESH, &keys),
            Side { name: PREAD.to_owned(), ..self.side("limit", "pread", file, THREADS, REUSED, &stored) },
            Side { name: PREAD.to_owned(), ..self.side("limit", "pread", file, THREADS, FRESH, &stored) },
            self.side("netCDF4", "array", file, 1, FRESH, &keys),
        ];
        let ours = |memory| (OURS, memory);
        let wanted = vec![
            Wanted::AtMost(ours(REUSED), (PREAD, REUSED), Some(1.0)),
            Wanted::AtMost(ours(FRESH), (PREAD, FRESH), None),
            Wanted::AtMost(ours(FRESH), ("netCDF4", FRESH), None),
            Wanted::Beside(BESIDE),
        ];
        let what =
            "1 GB of float64 in a NetCDF classic file (CDF-5), in big-endian order; pread leaves the order"
                .to_owned();
        Row { name: "classic", what, sides, wanted, once: false }
    }

    fn strings(&self) -> Row {
        let mut sides = vec![self.side("ours", "strings", "strings.h5", THREADS, None, &[])];
        sides.push(self.side("h5py", "strings", "strings.h5", 1, None, &[]));
        let mut checked = self.side("h5py", "strings", "strings.h5", 1, None, &["as=str".to_owned()]);
        "h5py `asstr`".clone_into(&mut checked.name);
        sides.push(checked);
        for side in ["netCDF4", "hdf5-reader", "rust-hdf5", "hdf5-pure"] {
            sides.push(self.side(side, "strings", "strings.h5", 1, None, &[]));
        }
        let ours = (OURS, None);
        let wanted = vec![
            Wanted::AtMost(ours, ("h5py", None), Some(0.4)),
            Wanted::AtMost(ours, ("h5py `asstr`", None), None),
            Wanted::Beside(BESIDE),
        ];
        let what = "2 million variable-length strings, as UTF-8 with offsets; h5py as `bytes` objects, which are \
                    not checked, and as `str`";
        Row { name: "strings", what: what.to_owned(), sides, wanted, once: false }
    }

    /// A job without output for the caller. The goal is a fraction of h5py's time.
    fn plain(
        &self,
        name: &'static str,
        what: String,
        sides: &[&str],
        job: &str,
        file: &str,
        part: f64,
    ) -> Row {
        let threads = |side| if side == "ours" { THREADS } else { 1 };
        let sides = sides.iter().map(|side| self.side(side, job, file, threads(*side), None, &[])).collect();
        let wanted = vec![Wanted::AtMost((OURS, None), ("h5py", None), Some(part)), Wanted::Beside(BESIDE)];
        Row { name, what, sides, wanted, once: false }
    }

    /// Elements of one opened array; h5py's `dataset[i, j]`.
    fn elements(&self, name: &'static str, what: &str, file: &str, within: &str) -> Row {
        let keys = ["count=10000".to_owned(), format!("within={within}")];
        let sides = [("ours", THREADS), ("h5py", 1)]
            .map(|(side, threads)| self.side(side, "elements", file, threads, None, &keys));
        let wanted = vec![Wanted::AtMost((OURS, None), ("h5py", None), Some(1.0)), Wanted::Beside(BESIDE)];
        Row { name, what: what.to_owned(), sides: sides.into(), wanted, once: false }
    }

    fn datasets(&self) -> Row {
        let mut sides = Vec::new();
        for (side, names) in [
            ("ours", ["hyperslab, 1 thread", "hyperslab, 2 threads", "hyperslab, 4 threads"]),
            ("h5py", ["h5py, 1 thread", "h5py, 2 threads", "h5py, 4 threads"]),
        ] {
            for (name, threads) in names.into_iter().zip([1, 2, 4]) {
                let mut side = self.side(side, "datasets", "four.h5", threads, None, &[]);
                name.clone_into(&mut side.name);
                sides.push(side);
            }
        }
        let side = |name| (name, None);
        let wanted = vec![
            Wanted::AtLeast(side("hyperslab, 2 threads"), side("hyperslab, 1 thread"), Some(1.8)),
            Wanted::AtLeast(side("hyperslab, 4 threads"), side("hyperslab, 1 thread"), Some(1.8)),
            Wanted::AtLeast(side("h5py, 2 threads"), side("h5py, 1 thread"), None),
            Wanted::AtLeast(side("h5py, 4 threads"), side("h5py, 1 thread"), None),
            Wanted::Beside(BESIDE),
        ];
        let what = "four datasets of 250 MB, shuffled and deflated, in one file, shared out to threads of the caller";
        Row { name: "threads", what: what.to_owned(), sides, wanted, once: false }
    }

    fn side(
        &self,
        side: &str,
        job: &str,
        file: &str,
        threads: usize,
        memory: Option<Memory>,
        keys: &[String],
    ) -> Side {
        let is_python = matches!(side, "h5py" | "netCDF4");
        let mut args = Vec::new();
        if is_python {
            args.push(self.script("read").display().to_string());
        }
        args.extend([side, job, "path=/data"].map(str::to_owned));
        args.push(format!("file={}", self.data.join(file).display()));
        args.push(format!("threads={threads}"));
        args.extend(memory.map(|memory| format!("memory={}", memory.key())));
        args.extend_from_slice(keys);
        Side {
            name: if side == "ours" { OURS } else { side }.to_owned(),
            threads,
            memory,
            program: if is_python { self.python.to_path_buf() } else { self.program("read") },
            args,
        }
    }
}
