//! The rows of the conversion benchmark.

use crate::bench::compare::Place;
use crate::bench::compare::row::{Name, OURS, Row, STREAMING, Side, THREADS, Wanted};
use crate::workspace;

const XARRAY: &str = "xarray + dask";
const GDAL: &str = "gdalmdimtranslate";
const COPY: &str = "cp";
const LIMIT: &str = "limit: inflate + zstd";

/// Limits of process memory in megabytes: if chunks are kept, and if they are rearranged within the default memory.
const IN_PLACE: u64 = 200;
const RECHUNKING: u64 = 512;

/// A memory limit below the size of the chunks of both layouts.
const TOO_LITTLE: &str = "-m 48MiB";

/// All rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<Row> {
    let field = Field::of(place);
    let (ours, xarray, gdal): (Name, Name, Name) = ((OURS, None), (XARRAY, None), (GDAL, None));
    let zlib = format!(
        "-of Zarr -co ARRAY:COMPRESS=ZLIB -co ARRAY:ZLIB_LEVEL=3 -co ARRAY:IF(DIM=3):BLOCKSIZE={}",
        field.chunk
    );
    let mut rows = vec![
        Row {
            name: "zstd",
            what: "to Zarr in the same chunks, zstd (level 3); GDAL zlib (level 3)".to_owned(),
            sides: vec![
                by_ours(place, "convert", "field.nc", "-f zstd=3"),
                by_xarray(place, "field.nc", ""),
                by_program(place, GDAL, "gdal", "convert", "field.nc", &[&zlib]),
                limit(place, &field),
            ],
            wanted: vec![
                Wanted::AtMost(ours, xarray, Some(0.5)),
                Wanted::AtMost(ours, gdal, Some(0.25)),
                Wanted::AtMost(ours, (LIMIT, None), None),
                Wanted::InAll(IN_PLACE),
            ],
            once: false,
        },
        Row {
            name: "zlib",
            what: "to Zarr in the same chunks, zlib (level 3)".to_owned(),
            sides: vec![
                by_ours(place, "convert", "field.nc", "-f deflate=3"),
                by_program(place, GDAL, "gdal", "convert", "field.nc", &[&zlib]),
            ],
            wanted: vec![Wanted::AtMost(ours, gdal, None), Wanted::InAll(IN_PLACE)],
            once: false,
        },
        Row {
            name: "default",
            what: "to Zarr without options: in the same chunks, Blosc with shuffle and zlib (level 4)"
                .to_owned(),
            sides: vec![by_ours(place, "convert", "field.nc", ""), by_xarray_in_blosc(place, "field.nc")],
            wanted: vec![Wanted::AtMost(ours, xarray, Some(0.5)), Wanted::InAll(IN_PLACE)],
            once: false,
        },
        Row {
            name: "pass-through",
            what: "to Zarr with chunks as they are stored (`-f keep`); the file copied".to_owned(),
            sides: vec![
                by_ours(place, "convert", "field.nc", "-f keep"),
                by_program(place, COPY, "cp", "convert", "field.nc", &["--reflink=never"]),
            ],
            wanted: vec![Wanted::AtMost(ours, (COPY, None), Some(3.0)), Wanted::InAll(IN_PLACE)],
            once: false,
        },
    ];
    rows.push(Row {
        name: "rechunk",
        what: format!("to Zarr in chunks of {}, zstd (level 3)", field.columns.replace(',', "×")),
        sides: vec![
            by_ours(place, "convert", "field.nc", &format!("-c /data:{} -f zstd=3", field.columns)),
            by_xarray(place, "field.nc", &field.columns_by_name),
            limit(place, &field),
        ],
        wanted: vec![
            Wanted::AtMost(ours, xarray, Some(0.4)),
            Wanted::AtMost(ours, (LIMIT, None), None),
            Wanted::InAll(RECHUNKING),
        ],
        once: false,
    });
    rows.push(Row {
        name: "rechunk-two-passes",
        what: format!("the same with `{TOO_LITTLE}`, through a file between, and with `-m 512MiB`"),
        sides: vec![
            by_ours(
                place,
                "convert",
                "field.nc",
                &format!("{TOO_LITTLE} -c /data:{} -f zstd=3", field.columns),
            ),
            by_program(
                place,
                ENOUGH,
                "hyperslab",
                "convert",
                "field.nc",
                &[&format!("-m 512MiB -j {THREADS} -c /data:{} -f zstd=3", field.columns)],
            ),
        ],
        wanted: vec![Wanted::AtMost(ours, (ENOUGH, None), None), Wanted::InAll(STREAMING)],
        once: false,
    });
    for (name, file, how) in [
        ("sparse-contiguous", "sparse_contiguous.h5", "contiguous"),
        ("sparse-chunked", "sparse_chunked.h5", "in chunks, few of them written"),
    ] {
        rows.push(Row {
            name,
            what: format!("20 GB of float64 in a sparse file, {how}, to Zarr with zstd (level 3)"),
            sides: vec![by_ours(place, "sparse", file, "-f zstd=3")],
            wanted: vec![Wanted::InAll(STREAMING)],
            once: true,
        });
    }
    rows.push(Row {
        name: "many",
        what: "10,000 variables of 12 elements to Zarr with zstd (level 3)".to_owned(),
        sides: vec![by_ours(place, "convert", "many.nc", "-f zstd=3"), by_xarray(place, "many.nc", "")],
        wanted: vec![Wanted::AtMost(ours, xarray, None), Wanted::InAll(STREAMING)],
        once: false,
    });
    rows
}

/// The name must not start like those of our sides whose memory is a goal.
const ENOUGH: &str = "with `-m 512MiB`";

/// Chunk shapes of the converted file.
struct Field {
    chunk: &'static str,
    /// Chunks that span the first dimension.
    columns: &'static str,
    columns_by_name: String,
}

impl Field {
    fn of(place: &Place<'_>) -> Field {
        let (chunk, columns) = match place.data.ends_with("convert-small") {
            true => ("2,64,64", "60,16,16"),
            false => ("8,256,256", "240,64,64"),
        };
        let named = ["time", "lat", "lon"].into_iter().zip(columns.split(','));
        let named: Vec<String> = named.map(|(name, size)| format!("{name}:{size}")).collect();
        Field { chunk, columns, columns_by_name: named.join(",") }
    }
}

fn by_ours(place: &Place<'_>, job: &str, file: &str, options: &str) -> Side {
    by_program(place, OURS, "hyperslab", job, file, &[&format!("-j {THREADS} {options}")])
}

fn by_xarray(place: &Place<'_>, file: &str, chunks: &str) -> Side {
    let mut side = by_program(place, XARRAY, "xarray", "convert", file, &[]);
    side.args.push(format!("chunks={chunks}"));
    side
}

/// With the codec that hyperslab uses by default for shuffled and deflated chunks.
fn by_xarray_in_blosc(place: &Place<'_>, file: &str) -> Side {
    let mut side = by_xarray(place, file, "");
    side.args.push("codec=blosc".to_owned());
    side
}

/// The time for decoding and encoding alone: from memory to memory, chunk by chunk, with the same libraries.
fn limit(place: &Place<'_>, field: &Field) -> Side {
    let bytes = field.chunk.split(',').filter_map(|side| side.parse::<usize>().ok()).product::<usize>() * 4;
    let args = vec![
        "limit".to_owned(),
        "recode".to_owned(),
        format!("file={}", place.data.join("field.nc").display()),
        format!("chunk={bytes}"),
        format!("threads={THREADS}"),
    ];
    Side { name: LIMIT.to_owned(), threads: THREADS, memory: None, program: place.program("read"), args }
}

/// Each side writes to its own folder.
fn by_program(place: &Place<'_>, name: &str, side: &str, job: &str, file: &str, options: &[&str]) -> Side {
    let program = match side {
        "hyperslab" => workspace::released().display().to_string(),
        "gdal" => GDAL.to_owned(),
        _ => COPY.to_owned(),
    };
    let into = if side == "cp" { "copy.nc".to_owned() } else { format!("{side}.zarr") };
    let mut args = vec![place.script("convert").display().to_string(), side.to_owned(), job.to_owned()];
    args.push(format!("threads={THREADS}"));
    args.push(format!("program={program}"));
    args.push(format!("source={}", place.data.join(file).display()));
    args.push(format!("into={}", place.data.join("written").join(into).display()));
    args.push(format!("options={}", options.join(" ")));
    let threads = if side == "cp" { 1 } else { THREADS };
    Side { name: name.to_owned(), threads, memory: None, program: place.python.to_path_buf(), args }
}
