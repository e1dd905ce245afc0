//! The rows of the benchmark of writing NetCDF-4.

use crate::bench::compare::Place;
use crate::bench::compare::row::{Name, OURS, Row, Side, THREADS, Wanted};
use crate::workspace;

const NCCOPY: &str = "nccopy";
const NCDUMP: &str = "ncdump";
const NETCDF4: &str = "netCDF4";

/// The maximum size of a file as a fraction of the one that the library writes.
const MAX_SIZE: f64 = 1.02;

/// The chunk shape of the array; that of the small array has other extents.
const CHUNK: &str = "8,256,256";
const SMALL_CHUNK: &str = "2,64,64";

/// All rows.
pub(super) fn rows(place: &Place<'_>) -> Vec<Row> {
    let chunk = if place.data.ends_with("netcdf-small") { SMALL_CHUNK } else { CHUNK };
    let by_name: Vec<String> = ["time", "lat", "lon"]
        .iter()
        .zip(chunk.split(','))
        .map(|(name, size)| format!("{name}/{size}"))
        .collect();
    let command = workspace::released().display().to_string();
    let ours = |file, words: &str| {
        side(place, OURS, "program", file, &[&format!("words={command} {words} -q -j {THREADS}")])
    };
    let other = |name, file, words: &str| side(place, name, "program", file, &[&format!("words={words}")]);
    let (own, nccopy, ncdump, library): (Name, Name, Name, Name) =
        ((OURS, None), (NCCOPY, None), (NCDUMP, None), (NETCDF4, None));
    let row =
        |name, what: &str, sides, wanted| Row { name, what: what.to_owned(), sides, wanted, once: false };
    vec![
        row(
            "many",
            "4,000 variables of 10 elements along one dimension",
            vec![
                ours("many.cdf", "convert SOURCE INTO"),
                side(place, NETCDF4, "many", "many.cdf", &["count=4000"]),
            ],
            vec![Wanted::AtLeast(own, library, Some(20.0)), Wanted::Stored(own, library, 0.34)],
        ),
        row(
            "many-records",
            "4,000 variables of 10 elements along one unlimited dimension",
            vec![
                ours("records.cdf", "convert SOURCE INTO"),
                side(place, NETCDF4, "many", "records.cdf", &["count=4000", "unlimited=1"]),
            ],
            vec![Wanted::AtLeast(own, library, Some(20.0)), Wanted::Stored(own, library, 0.34)],
        ),
        row(
            "recode",
            "chunks that are deflated (level 1), shuffled and deflated again (level 4)",
            vec![
                ours("field.nc", "convert SOURCE INTO -f shuffle,deflate=4"),
                other(NCCOPY, "field.nc", "nccopy -s -d 4 SOURCE INTO"),
            ],
            vec![Wanted::AtMost(own, nccopy, Some(0.15)), Wanted::Stored(own, nccopy, MAX_SIZE)],
        ),
        row(
            "from-classic",
            "NetCDF-3 to NetCDF-4, shuffled and deflated (level 4)",
            vec![
                ours("field.cdf", &format!("convert SOURCE INTO -c /data:{chunk} -f shuffle,deflate=4")),
                other(
                    NCCOPY,
                    "field.cdf",
                    &format!("nccopy -k nc4 -s -d 4 -c {} SOURCE INTO", by_name.join(",")),
                ),
            ],
            vec![Wanted::AtMost(own, nccopy, Some(0.25)), Wanted::Stored(own, nccopy, MAX_SIZE)],
        ),
        row(
            "describe-classic",
            "10,000 variables of NetCDF-3, described and printed by ncdump -h",
            vec![
                ours("large.cdf", "describe SOURCE -o INTO"),
                other(NCDUMP, "large.cdf", "ncdump -h SOURCE"),
            ],
            vec![Wanted::AtMost(own, ncdump, Some(0.2))],
        ),
    ]
}

fn side(place: &Place<'_>, name: &str, kind: &str, file: &str, keys: &[&str]) -> Side {
    let suffix = if keys.iter().any(|key| key.contains("describe")) || name == NCDUMP { "txt" } else { "nc" };
    let into = place.data.join("written").join(format!("{name}.{suffix}"));
    let mut args = vec![
        place.script("netcdf").display().to_string(),
        kind.to_owned(),
        "write".to_owned(),
        format!("source={}", place.data.join(file).display()),
        format!("into={}", into.display()),
    ];
    args.extend(keys.iter().map(|key| (*key).to_owned()));
    let threads = if name == OURS { THREADS } else { 1 };
    Side { name: name.to_owned(), threads, memory: None, program: place.python.to_path_buf(), args }
}
