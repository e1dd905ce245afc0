//! The tasks of three trades, typed by habit, and the answers of the command, as listed in docs/status/tasks.md.

use crate::command::{Ran, examples, prepared, ran};
use crate::golden;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A task as typed by somebody who has not read the help.
struct Task {
    wish: &'static str,
    /// A shell command line, in which `hyperslab` stands for the command.
    typed: &'static str,
    code: i32,
    /// A part of the output line that answers the question.
    says: &'static str,
}

const fn task(wish: &'static str, typed: &'static str, code: i32, says: &'static str) -> Task {
    Task { wish, typed, code, says }
}

const CLIMATE: &[Task] = &[
    task("What is in this file?", "hyperslab ocean.nc", 0, "title: Skagerrak section, weekly mean"),
    task("The header, as ncdump -h", "hyperslab header ocean.nc", 2, "`hyperslab describe ocean.nc`"),
    task("A list of variables", "hyperslab ls ocean.nc", 0, "temperature       int16"),
    task("Variables with chunks and filters", "hyperslab ls -rl ocean.nc", 0, "fletcher32 shuffle deflate"),
    task("All units", "hyperslab ls 'ocean.nc:/**/*@units'", 0, "/temperature@units"),
    task("Attributes of one variable", "hyperslab ls --attrs ocean.nc:/temperature", 0, "@scale_factor"),
    task(
        "Values of a variable, as with ncks -v",
        "hyperslab show ocean.nc lat",
        2,
        "`hyperslab show ocean.nc:/lat`",
    ),
    task(
        "Values of a variable, as with ncdump -v",
        "hyperslab show -v lat ocean.nc",
        2,
        "`hyperslab show ocean.nc:/lat`",
    ),
    task(
        "Values of a variable, as in GDAL",
        "hyperslab show ocean.nc:lat",
        2,
        "`hyperslab show ocean.nc:/lat`",
    ),
    task("All values, as ncdump", "hyperslab dump ocean.nc:/lat", 2, "`hyperslab show ocean.nc:/lat`"),
    task(
        "One level at one time",
        "hyperslab show ocean.nc:/temperature -s time=0,depth=0",
        0,
        "as stored: counts of time in /time, packed numbers in /temperature",
    ),
    task(
        "The same in degrees, with dates",
        "hyperslab show ocean.nc:/temperature -s time=0,depth=0 --decode",
        0,
        "# /temperature float32, time 2024-03-01T00:00:00, depth 0.0",
    ),
    task(
        "At a latitude",
        "hyperslab show ocean.nc:/temperature -s lat=58",
        2,
        "-s lat==58` selects the coordinate",
    ),
    task(
        "At a latitude of the other hemisphere",
        "hyperslab show ocean.nc:/temperature -s lat=-30",
        2,
        "-s lat==57.75` selects the nearest coordinate",
    ),
    task(
        "A box and the nearest level",
        "hyperslab show ocean.nc:/salinity -s 'time=2024-03-15,lat=57.9..58.3,depth~=20'",
        0,
        "# /salinity float32",
    ),
    task(
        "A year outside of the data",
        "hyperslab show ocean.nc:/temperature -s time=2020",
        2,
        "selects the nearest coordinate, position 0",
    ),
    task("Which dates are these?", "hyperslab show ocean.nc:/time --decode", 0, "2024-03-08T00:00:00"),
    task(
        "Quality flags as words",
        "hyperslab show ocean.nc:/temperature_flag -s time=0,depth=0,lat=0 --decode",
        0,
        "8.0  good",
    ),
    task("The title", "hyperslab show ocean.nc@title", 2, "`hyperslab show ocean.nc:/@title`"),
    task(
        "A table for pandas",
        "hyperslab show ocean.nc:/temperature --decode -s time=2024-03 --as csv",
        0,
        "time,depth,lat,lon,temperature",
    ),
    task(
        "A table for a spreadsheet",
        "hyperslab show ocean.nc:/lat -o lat.xlsx",
        2,
        "write .csv, which spreadsheets open",
    ),
    task(
        "A Parquet file",
        "hyperslab show ocean.nc:/temperature --decode -o t.parquet && ls t.parquet",
        0,
        "t.parquet",
    ),
    task("A NumPy file", "hyperslab show ocean.nc:/lat -o lat.npy && ls lat.npy", 0, "lat.npy"),
    task(
        "Export a variable",
        "hyperslab export ocean.nc:/temperature t.csv",
        2,
        "`hyperslab show ocean.nc:/temperature -o t.csv`",
    ),
    task("Minimum, maximum, mean, missing", "hyperslab stat --decode ocean.nc:/temperature", 0, "6.57"),
    task("To Zarr for the cloud", "hyperslab convert ocean.nc ocean.zarr", 0, "wrote ocean.zarr: 16 arrays"),
    task(
        "What would be lost?",
        "hyperslab convert -n ocean.nc o.zarr -f '/waves/energy:bitround=8'",
        1,
        "lost precision",
    ),
    task(
        "One chunk a time step",
        "hyperslab convert ocean.nc steps.zarr -c time=1 -f zstd=5",
        0,
        "wrote steps.zarr: 16 arrays",
    ),
    task(
        "Is the copy the same?",
        "hyperslab convert -q ocean.nc same.zarr && hyperslab diff ocean.nc same.zarr && echo same",
        0,
        "same",
    ),
    task("A map", "hyperslab show ocean.nc:/temperature -s time=0,depth=0 --plot", 0, "lon (degrees_east)"),
    task(
        "A curve over time",
        "hyperslab show ocean.nc:/temperature -s depth=0,lat=0,lon=0 --plot",
        0,
        "time, 2024",
    ),
    task(
        "A picture for the report",
        "hyperslab show ocean.nc:/temperature -s time=0,depth=0 --plot=map.png && ls map.png",
        0,
        "map.png",
    ),
    task(
        "Days to one file, as ncrcat",
        "hyperslab ncrcat day1.yaml day2.yaml days.zarr",
        2,
        "`hyperslab concat day1.yaml day2.yaml days.zarr`",
    ),
    task(
        "Days to one file",
        "hyperslab concat day1.yaml day2.yaml day3.yaml joined.zarr --along time",
        0,
        "wrote joined.zarr: 2 arrays",
    ),
    task(
        "Days in another order",
        "hyperslab concat day2.yaml day1.yaml mixed.zarr",
        2,
        "--sort joins them in the order of their coordinates",
    ),
    task("A day is missing", "hyperslab concat day1.yaml day3.yaml gap.zarr", 0, "4 coordinates are missing"),
    task(
        "One date across files",
        "hyperslab show 'day*.yaml:/t2m' -s time=2024-03-02 --decode",
        0,
        "2024-03-02T06:00:00 282.5",
    ),
    task(
        "A folder against its backup",
        "mkdir a b; cp classic.nc unlimited.nc a; cp classic.nc b; hyperslab diff a b",
        1,
        "- unlimited.nc",
    ),
    task(
        "What did my edit change?",
        "hyperslab diff ocean.nc:/lat ocean.nc:/lon",
        1,
        "~ /lat        shape [3] → [8]",
    ),
    task("A file of the old format", "hyperslab ls classic.nc", 0, "classic.nc: NetCDF-3 classic"),
    task(
        "A file from a link",
        "hyperslab ls https://example.org/sst.nc",
        2,
        "`curl -LO https://example.org/sst.nc` copies a file here",
    ),
    task("Many files at once", "hyperslab ls ocean.nc classic.nc unlimited.nc", 0, "unlimited.nc: NetCDF-4"),
];

const COMPUTING: &[Task] = &[
    task("What is here?", "hyperslab ls", 0, "chunk_indexes.h5"),
    task("The tree, as h5ls -r", "hyperslab tree chunk_indexes.h5", 2, "`hyperslab ls -r chunk_indexes.h5`"),
    task(
        "By the name of the other command",
        "hyperslab h5ls chunk_indexes.h5",
        2,
        "`hyperslab ls chunk_indexes.h5`",
    ),
    task("Names for a script", "hyperslab ls -r1 chunk_indexes.h5", 0, "/btree_v1_deep"),
    task("JSON for a script", "hyperslab ls --json chunk_indexes.h5", 0, r#""path":"/btree_v1""#),
    task("Why is it slow to read?", "hyperslab stat chunk_indexes.h5", 0, "is split into 1100 chunks of 4 B"),
    task("How well is it compressed?", "hyperslab stat ocean.nc:/salinity", 0, "14.16"),
    task(
        "Everything about the storage",
        "hyperslab describe --storage full chunk_indexes.h5:/btree_v1",
        0,
        "chunk: [4, 3]",
    ),
    task(
        "Repack with other filters",
        "hyperslab repack chunk_indexes.h5 packed.h5 -f deflate=9",
        0,
        "wrote packed.h5: 15 arrays",
    ),
    task(
        "Larger chunks, zstd",
        "hyperslab convert chunk_indexes.h5 large.zarr -c 4MiB -f zstd=3",
        0,
        "wrote large.zarr: 15 arrays",
    ),
    task(
        "With two threads and little memory",
        "hyperslab convert -j 2 -m 64MiB chunk_indexes.h5 small.zarr",
        0,
        "wrote small.zarr: 15 arrays",
    ),
    task("Checksums of the contents", "hyperslab digest chunk_indexes.h5:/fixed_array", 0, "blake3:"),
    task(
        "Is this file damaged?",
        "hyperslab check cut.nc",
        1,
        "the file was cut, or a part of it was never copied",
    ),
    task(
        "Read what is left of it",
        "hyperslab describe cut.nc",
        1,
        "`hyperslab check cut.nc` lists all damage",
    ),
    task("Is this one sound?", "hyperslab validate ocean.nc", 2, "`hyperslab check ocean.nc`"),
    task("A compressed download", "hyperslab ls ocean.nc.gz", 2, "unpack it with gunzip -k"),
    task(
        "A web page instead of data",
        "hyperslab ls page.nc",
        2,
        "the server sent a web page instead of the file",
    ),
    task("The first values", "hyperslab head ocean.nc:/temperature", 2, "-s :10`"),
    task(
        "An element by brackets",
        "hyperslab show 'ocean.nc:/salinity[0,0]'",
        2,
        "`hyperslab show ocean.nc:/salinity -s 0,0`",
    ),
    task("A member of a compound", "hyperslab show nested_groups.nc:/home/lat", 0, "60.5"),
    task("A misspelt variable", "hyperslab show ocean.nc:/temprature", 2, "did you mean /temperature?"),
    task("A misspelt option", "hyperslab ls --atrs ocean.nc", 2, "`hyperslab ls --attrs ocean.nc`"),
    task("Options first", "hyperslab -q ocean.nc", 0, "title: Skagerrak section, weekly mean"),
    task(
        "Only the beginning",
        "hyperslab ocean.nc | head -1",
        0,
        "# NDL 0.6.1, described from ocean.nc (NetCDF-4)",
    ),
    task(
        "Create a file from a text",
        "hyperslab create buoys.yaml buoys.zarr",
        0,
        "wrote buoys.zarr: 5 arrays",
    ),
    task(
        "Hold data against a contract",
        "hyperslab describe ocean.nc > contract.yaml; hyperslab check ocean.nc --against contract.yaml",
        0,
        "no findings in 1 location",
    ),
    task("Zarr in a zip file", "hyperslab ls -l single.zarr.zip", 0, "single.zarr.zip: Zarr"),
];

const BEAMLINE: &[Task] = &[
    task("What did the scan write?", "hyperslab ls -r scan.nxs", 0, "NXdetector"),
    task(
        "Where is the detector?",
        "hyperslab ls 'scan.nxs:/**/*@NX_class'",
        0,
        "/entry/instrument/detector@NX_class",
    ),
    task("The energy", "hyperslab ls scan.nxs:/entry/instrument/monochromator", 0, "= 12.398 keV"),
    task("The title", "hyperslab show scan.nxs:/entry/title", 0, "Rocking scan of quartz 101"),
    task("One frame", "hyperslab show scan.nxs:/entry/data/counts -s 2", 0, "893  2426  3386  2426  893"),
    task(
        "One frame by brackets",
        "hyperslab show 'scan.nxs:/entry/data/counts[2]'",
        2,
        "`hyperslab show scan.nxs:/entry/data/counts -s 2`",
    ),
    task(
        "A frame as text for another program",
        "hyperslab show scan.nxs:/entry/data/counts -s 2 --as matrix",
        0,
        "893,2426,3386,2426,893",
    ),
    task("The log, as a table", "hyperslab show scan.nxs:/entry/log", 0, "0.62  beam lost"),
    task("One column of the log", "hyperslab show scan.nxs:/entry/log/event", 0, "beam lost"),
    task("Units of the motor", "hyperslab show scan.nxs:/entry/sample/omega@units", 0, "deg"),
    task(
        "Saturated or dead pixels?",
        "hyperslab stat --values scan.nxs:/entry/instrument/detector",
        0,
        "3386",
    ),
    task(
        "A misspelt group",
        "hyperslab ls scan.nxs:/entry/instrument/detektor",
        2,
        "did you mean /entry/instrument/detector?",
    ),
    task("Is the file whole?", "hyperslab check scan.nxs", 0, "no findings in 1 location"),
    task("What must I copy with the master file?", "hyperslab files master.nxs", 1, "data_1.h5"),
    task("Data behind external links", "hyperslab ls -L master.nxs:/entry", 1, "first    int16"),
    task(
        "A virtual dataset with a missing file",
        "hyperslab show master.nxs:/entry/all",
        0,
        "1 missing source (data_3.h5:data)",
    ),
    task("To Zarr for the analysis", "hyperslab convert scan.nxs scan.zarr", 0, "wrote scan.zarr: 12 arrays"),
    task(
        "Did the conversion keep all?",
        "hyperslab convert -q scan.nxs kept.zarr && hyperslab diff scan.nxs kept.zarr && echo same",
        0,
        "same",
    ),
];

const TRADES: &[(&str, &[Task])] =
    &[("Climate and ocean", CLIMATE), ("High-performance computing", COMPUTING), ("Beamline", BEAMLINE)];

/// A folder with the examples, a master file with its data files, and files that are damaged or contain no data.
fn place() -> TempDir {
    let dir = TempDir::new().unwrap();
    let nexus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hyperslab/tests/data/nexus");
    for folder in [examples(), nexus] {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
            }
        }
    }
    let ocean = fs::read(examples().join("ocean.nc")).unwrap();
    fs::write(dir.path().join("cut.nc"), ocean.get(..30_000).unwrap()).unwrap();
    for day in 1..=3 {
        let text = format!(
            "# NDL 0.6.1\n\ndimcoords:\n  time:\n    size: null\n    type: int32\n    attributes: {{units: hours since 2024-03-0{day}}}\n    \
             value: [0, 6, 12, 18]\n    storage: {{size: 4}}\n\nndarrays:\n  t2m: {{shape: [time], type: float32, attributes: {{units: K}}, \
             value: [28{day}.0, 28{day}.5, 28{day}.25, 28{day}.75]}}\n"
        );
        fs::write(dir.path().join(format!("day{day}.yaml")), text).unwrap();
    }
    fs::write(dir.path().join("ocean.nc.gz"), b"\x1f\x8b\x08\x00\x00\x00\x00\x00").unwrap();
    fs::write(dir.path().join("page.nc"), b"<!DOCTYPE html><p>Not found").unwrap();
    dir
}

/// A shell that runs a command line in `folder` with a width of `width` columns.
fn shell(folder: &Path, line: &str, width: usize) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("hyperslab() {{ \"$HYPERSLAB\" \"$@\"; }}\n{line}")]);
    shell.envs(prepared([""]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("HYPERSLAB", env!("CARGO_BIN_EXE_hyperslab")).env("COLUMNS", width.to_string());
    shell.env_remove("PAGER").env("TERM", "xterm").current_dir(folder);
    shell
}

fn is_answer(task: &Task, line: &str) -> bool {
    line.contains(task.says) || line.split_whitespace().collect::<Vec<_>>().join(" ").contains(task.says)
}

#[test]
fn each_task_is_answered_as_the_table_says() {
    let place = place();
    let mut page = format!("{}\n", PREFACE.trim_start());
    let (mut count, mut wrong) = (0, String::new());
    for (trade, tasks) in TRADES {
        page.push_str(&format!("\n## {trade}\n\n| wanted | typed | answer |\n|---|---|---|\n"));
        for task in *tasks {
            let Ran { code, answer, messages } = ran(shell(place.path(), task.typed, 80).output().unwrap());
            let mut lines = answer.lines().chain(messages.lines());
            let Some(line) = lines.find(|line| is_answer(task, line)).filter(|_| code == task.code) else {
                wrong.push_str(&format!(
                    "{}: exit code {code}, expected {} and {:?}:\n{answer}{messages}",
                    task.typed, task.code, task.says
                ));
                continue;
            };
            let cell = |text: &str| text.trim().replace('|', "\\|");
            // Durations and folders differ from run to run.
            let line = line.replace(&*place.path().to_string_lossy(), "…");
            let whole = line.split_once(" in ").filter(|_| line.starts_with("wrote "));
            let line = whole.map_or(&*line, |(before, _)| before);
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            page.push_str(&format!(
                "| {} | `{}` | {} |\n",
                task.wish,
                cell(task.typed),
                in_code(&cell(&line))
            ));
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 70, "{count} tasks");
    golden::holds("../../../../docs/status/tasks.md", &page);
}

const PREFACE: &str = "
# Tasks of three trades

What people type by habit before they read any help, and the line of the output that answers. Where the habit is that of
another command, the answer is a message with the line that works here; a test runs it. Written by a test
(`crates/cli/tests/tasks.rs`), which also runs each line on terminals of 40, 80 and 200 columns.";

/// A text as Markdown code. The text may itself contain backticks.
fn in_code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// On a terminal, tables fit its width and the answers are the same.
#[cfg(target_os = "linux")]
#[test]
fn tasks_are_answered_on_narrow_and_wide_terminals() {
    let mut wrong = String::new();
    for width in [40, 80, 200] {
        let place = place();
        for task in TRADES.iter().flat_map(|(_, tasks)| *tasks) {
            let shown = crate::terminal::shown_by(shell(place.path(), task.typed, width));
            if width == 200 && !shown.lines().any(|line| is_answer(task, line)) {
                wrong.push_str(&format!("{}: no {:?} in:\n{shown}", task.typed, task.says));
            }
            // Tables are cut to the width of the terminal, but not below 60 columns.
            let is_list =
                task.typed.starts_with("hyperslab ls") && task.code == 0 && !task.typed.contains(['1', '{']);
            if is_list && !task.typed.contains("--json") {
                let is_row = |line: &&str| !line.contains(".nc: ");
                let widest =
                    shown.lines().skip(1).filter(is_row).map(|line| line.chars().count()).max().unwrap_or(0);
                if widest > width.max(60) {
                    wrong.push_str(&format!("{} at {width}: {widest} columns\n{shown}", task.typed));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The command lines that messages suggest work.
#[test]
fn lines_that_answers_suggest_work() {
    let place = place();
    for task in TRADES.iter().flat_map(|(_, tasks)| *tasks).filter(|task| task.code == 2) {
        let messages = ran(shell(place.path(), task.typed, 80).output().unwrap()).messages;
        let Some((_, rest)) = messages.split_once("`hyperslab ") else { continue };
        let line = format!("hyperslab {}", rest.split_once('`').unwrap().0);
        let done = ran(shell(place.path(), &line, 80).output().unwrap());
        assert_eq!(done.code, 0, "{}: {line}: {}", task.typed, done.messages);
    }
}
