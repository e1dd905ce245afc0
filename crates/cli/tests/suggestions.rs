//! Messages suggest command lines that work: the tests take the line from the message and run it in a shell.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with examples, which command lines may write to.
fn place() -> TempDir {
    let dir = TempDir::new().unwrap();
    for name in ["ocean.nc", "userblock.h5", "groups_new.h5", "buoys.yaml"] {
        fs::copy(examples().join(name), dir.path().join(name)).unwrap();
    }
    fs::copy(examples().join("ocean.nc"), dir.path().join("it's an ocean.nc")).unwrap();
    // A daily time axis that is long enough to have a position for every number that looks like a year.
    let days =
        "# NDL 0.6.1\ndimcoords:\n  time: {size: 3000, type: int32, value: {linear: {start: 0, step: 1}}}\n";
    let values: Vec<String> = (0..3000).map(|day| day.to_string()).collect();
    let days = days.replace("{linear: {start: 0, step: 1}}", &format!("[{}]", values.join(", ")));
    let days = days.replace("]}", "], attributes: {units: days since 2018-01-01}}");
    let days =
        format!("{days}ndarrays:\n  x: {{shape: [time], type: int32, value: [{}]}}\n", values.join(", "));
    fs::write(dir.path().join("days.yaml"), days).unwrap();
    dir
}

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

/// The command line in a message.
fn line(messages: &str) -> &str {
    let begin = messages.find("`hyperslab ").unwrap_or_else(|| panic!("no line in: {messages}")) + 1;
    messages[begin..].split_once('`').unwrap().0
}

/// Runs a line as a user would, in a shell.
fn in_shell(folder: &Path, line: &str) -> Ran {
    let script = format!("hyperslab() {{ \"$HYPERSLAB\" \"$@\"; }}\n{line}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("HYPERSLAB", env!("CARGO_BIN_EXE_hyperslab")).current_dir(folder);
    ran(shell.output().unwrap())
}

/// Runs wrong arguments, which must fail with a message that suggests `expected`, and then that line, which must work.
fn leads_to(folder: &Path, args: &[&str], expected: &str) -> Ran {
    let wrong = run(folder, args);
    assert!(wrong.code > 0, "{args:?}");
    assert_eq!(wrong.messages.matches("error:").count(), 1, "{args:?}: {}", wrong.messages);
    assert_eq!(line(&wrong.messages), expected, "{args:?}: {}", wrong.messages);
    let right = in_shell(folder, expected);
    let notes = right.messages.lines().all(|line| line.starts_with("  note: as stored: "));
    assert!(right.code == 0 && notes, "{expected}: {}", right.messages);
    right
}

#[test]
fn selections_by_position_that_mean_coordinates_lead_to_them() {
    let place = place();
    let salinity = "ocean.nc:/salinity";
    for (selection, expected) in [
        ("lat=58", "lat==58"),
        ("lat=-30", "lat==57.75"),
        ("lat=59", "lat==58.25"),
        ("lat=58.1", "'lat~=58.1'"),
        ("lat==58.2", "lat==58.25"),
        ("lat=57.9:59", "lat=57.9..59"),
        ("time=2024,lat=0", "time==2024,lat=0"),
        ("time=2020", "time==2024-03-01"),
        ("time=2024-05-30,depth=0", "time==2024-04-26,depth=0"),
        ("0,0,58", "0,0,:,lat==58"),
        ("lta=0", "lat=0"),
        ("lat=90..0", "lat=0..90"),
        ("time=2024-04..2024-03,depth=0", "time=2024-03..2024-04,depth=0"),
    ] {
        let args = ["show", salinity, "-s", selection];
        leads_to(place.path(), &args, &format!("hyperslab show ocean.nc:/salinity -s {expected}"));
    }
    let args = ["show", salinity, "-s", "time=0", "-slat=58", "--as", "csv"];
    leads_to(place.path(), &args, "hyperslab show ocean.nc:/salinity -s time=0 -slat==58 --as csv");
    let args = ["show", "ocean.nc:/transect", "--select=lat=58"];
    leads_to(place.path(), &args, "hyperslab show ocean.nc:/transect --select=lat==58");
    let args = ["stat", "ocean.nc:/salinity", "-s", "lat=58"];
    leads_to(place.path(), &args, "hyperslab stat ocean.nc:/salinity -s lat==58");
    let args = ["convert", "-q", "ocean.nc", "y.zarr", "-s", "lat=90..0", "--allow-loss", "all"];
    let line = "hyperslab convert -q ocean.nc y.zarr -s lat=0..90 --allow-loss all";
    leads_to(place.path(), &args, line);
    let args = ["convert", "-n", "-q", "ocean.nc", "x.zarr", "-s", "lat=58", "--allow-loss", "all"];
    let line = "hyperslab convert -n -q ocean.nc x.zarr -s lat==58 --allow-loss all";
    leads_to(place.path(), &args, line);
}

#[test]
fn a_position_that_looks_like_a_year_is_told() {
    let place = place();
    let args = ["stat", "days.yaml:/x", "-s", "time=2020"];
    let taken = run(place.path(), &args);
    assert_eq!(taken.code, 0, "{}", taken.messages);
    assert!(
        taken.messages.contains("time=2020 selects position 2020, not the year 2020"),
        "{}",
        taken.messages
    );
    assert_eq!(line(&taken.messages), "hyperslab stat days.yaml:/x -s time==2020");
    let year = in_shell(place.path(), line(&taken.messages));
    assert_eq!((year.code, year.messages.as_str()), (0, ""));
    assert!(year.answer.contains("730") && year.answer.contains("1095"), "{}", year.answer);
    // Other positions are not years, and quiet runs print no notes.
    assert_eq!(run(place.path(), &["stat", "days.yaml:/x", "-s", "time=202"]).messages, "");
    assert_eq!(run(place.path(), &["-q", "stat", "days.yaml:/x", "-s", "time=2020"]).messages, "");
}

#[test]
fn locations_in_other_spellings_lead_to_the_right_one() {
    let place = place();
    for (args, expected) in [
        (&["show", "ocean.nc:temperature"][..], "hyperslab show ocean.nc:/temperature"),
        (&["ocean.nc:temperature"], "hyperslab ocean.nc:/temperature"),
        (&["ls", "ocean.nc/temperature"], "hyperslab ls ocean.nc:/temperature"),
        (&["ls", "ocean.nc/waves/height"], "hyperslab ls ocean.nc:/waves/height"),
        (&["show", "it's an ocean.nc/crs"], "hyperslab show 'it'\\''s an ocean.nc:/crs'"),
        (&["show", "ocean.nc@title"], "hyperslab show ocean.nc:/@title"),
        (&["show", "ocean.nc@titel"], "hyperslab show ocean.nc:/@title"),
        (&["show", "ocean.nc:lat@unit"], "hyperslab show ocean.nc:/lat@units"),
        (&["show", "ocean.nc:lat@units"], "hyperslab show ocean.nc:/lat@units"),
        (&["show", "ocean.nc:temprature@units"], "hyperslab show ocean.nc:/temperature@units"),
        (&["show", "ocean.nc:/temprature@units"], "hyperslab show ocean.nc:/temperature@units"),
        (&["show", "ocean.nc:/wavs/hight"], "hyperslab show ocean.nc:/waves/height"),
        (&["show", "ocean.nc:/wmo"], "hyperslab show ocean.nc:/waves/buoys/wmo"),
        (&["show", "ocean.nc:/salinity[0,0]"], "hyperslab show ocean.nc:/salinity -s 0,0"),
        (&["show", "ocean.nc:salinity[-1,...]"], "hyperslab show ocean.nc:/salinity --select=-1,..."),
        (&["stat", "ocean.nc:/lat[0:2]"], "hyperslab show ocean.nc:/lat -s 0:2"),
        (&["describe", "ocean.nc", "lat"], "hyperslab describe ocean.nc:/lat"),
        (&["ls", "ocean.nc", "height", "-l"], "hyperslab ls ocean.nc:/waves/height -l"),
        (&["show", "ocean.nc:/lat", "lat=1:2"], "hyperslab show ocean.nc:/lat -s lat=1:2"),
        (&["stat", "ocean.nc:/lat", "lat=1:2", "-q"], "hyperslab stat ocean.nc:/lat -s lat=1:2 -q"),
    ] {
        leads_to(place.path(), args, expected);
    }
}

#[test]
fn urls_cannot_be_opened_and_the_message_says_how_to_get_the_data() {
    let place = place();
    for (url, line) in [
        ("https://example.org/a b.nc", "`curl -LO 'https://example.org/a b.nc'`"),
        ("s3://bucket/ocean.zarr", "`aws s3 cp s3://bucket/ocean.zarr .`"),
    ] {
        for args in [&["show", url][..], &[url], &["ls", url]] {
            let wrong = run(place.path(), args);
            assert_eq!(wrong.code, 2);
            assert!(wrong.messages.contains("URLs cannot be opened yet"), "{}", wrong.messages);
            assert!(wrong.messages.contains(line), "{}", wrong.messages);
        }
        let part = run(place.path(), &["show", &format!("{url}:/sst")]);
        assert!(part.messages.contains(line), "{}", part.messages);
    }
}

#[test]
fn verbs_of_other_commands_lead_to_those_that_do_it_here() {
    let place = place();
    for (args, expected) in [
        (&["info", "ocean.nc"][..], "hyperslab describe ocean.nc"),
        (&["header", "ocean.nc"], "hyperslab describe ocean.nc"),
        (&["-q", "info", "ocean.nc"], "hyperslab describe -q ocean.nc"),
        (&["dump", "ocean.nc"], "hyperslab describe --values ocean.nc"),
        (&["dump", "-c", "ocean.nc"], "hyperslab describe --values ocean.nc"),
        (&["dump", "-v", "lat", "ocean.nc"], "hyperslab show ocean.nc:/lat"),
        (&["cat", "ocean.nc"], "hyperslab describe --values ocean.nc"),
        (&["cat", "ocean.nc:/lat"], "hyperslab show ocean.nc:/lat"),
        (&["cat", "ocean.nc:/@title"], "hyperslab show ocean.nc:/@title"),
        (&["head", "ocean.nc"], "hyperslab describe ocean.nc"),
        (&["head", "ocean.nc:/crs"], "hyperslab show ocean.nc:/crs"),
        (&["head", "ocean.nc:/waves/energy"], "hyperslab show ocean.nc:/waves/energy -s :10"),
        (&["get", "ocean.nc", "height"], "hyperslab show ocean.nc:/waves/height"),
        (&["get", "ocean.nc:/lat", "--json"], "hyperslab show ocean.nc:/lat --json"),
        (&["export", "userblock.h5"], "hyperslab convert userblock.h5 userblock.zarr"),
        (&["export", "userblock.h5", "u2.zarr"], "hyperslab convert userblock.h5 u2.zarr"),
        (&["cp", "userblock.h5", "small.h5"], "hyperslab convert userblock.h5 small.h5"),
        (&["cp", "u2.zarr", "again.zarr"], "hyperslab convert u2.zarr again.zarr"),
        (&["cp", "u2.zarr", "anew"], "hyperslab convert u2.zarr anew --format zarr3"),
        (&["validate", "ocean.nc"], "hyperslab check ocean.nc"),
        (&["compare", "ocean.nc", "it's an ocean.nc"], "hyperslab diff ocean.nc 'it'\\''s an ocean.nc'"),
        (&["tree", "ocean.nc"], "hyperslab ls -r ocean.nc"),
        (&["ncdump", "ocean.nc"], "hyperslab describe --as cdl --values ocean.nc"),
        (&["ncdump", "-h", "ocean.nc"], "hyperslab describe --as cdl ocean.nc"),
        (&["plot", "ocean.nc:/lat"], "hyperslab show --plot ocean.nc:/lat"),
        (&["subset", "ocean.nc", "-s", "lat=0", "s.nc"], "hyperslab convert ocean.nc -s lat=0 s.nc"),
        (&["merge", "ocean.nc"], "hyperslab concat --help"),
        (&["version"], "hyperslab --version"),
        (&["info"], "hyperslab describe --help"),
        (&["help", "ls"], "hyperslab ls --help"),
        (&["help"], "hyperslab --help"),
        (&["descirbe", "ocean.nc"], "hyperslab describe ocean.nc"),
    ] {
        let wrong = run(place.path(), args);
        assert_eq!((wrong.code, wrong.answer.as_str()), (2, ""), "{args:?}");
        assert_eq!(line(&wrong.messages), expected, "{args:?}: {}", wrong.messages);
        let right = in_shell(place.path(), expected);
        assert_eq!(right.code, 0, "{expected}: {}", right.messages);
    }
    // A file with such a name is a location.
    fs::copy(place.path().join("userblock.h5"), place.path().join("info")).unwrap();
    assert_eq!(run(place.path(), &["info"]).code, 0);
}

#[test]
fn variables_as_words_of_their_own_lead_to_locations() {
    let place = place();
    for (args, expected) in [
        (&["show", "ocean.nc", "lat"][..], "hyperslab show ocean.nc:/lat"),
        (&["show", "ocean.nc", "height", "-s", "time=0"], "hyperslab show ocean.nc:/waves/height -s time=0"),
        (&["show", "-v", "lat", "ocean.nc"], "hyperslab show ocean.nc:/lat"),
        (&["show", "-vlat", "ocean.nc"], "hyperslab show ocean.nc:/lat"),
        (&["ls", "-v", "lat", "ocean.nc"], "hyperslab ls ocean.nc:/lat"),
        (&["-v", "lat", "ocean.nc"], "hyperslab describe ocean.nc:/lat"),
        (&["ocean.nc", "-v", "lat"], "hyperslab describe ocean.nc:/lat"),
        (&["ocean.nc", "lat"], "hyperslab ocean.nc:/lat"),
        (&["convert", "-q", "-v", "lat", "ocean.nc", "l.zarr"], "hyperslab convert -q ocean.nc:/lat l.zarr"),
    ] {
        leads_to(place.path(), args, expected);
    }
    let two = ["winter.nc", "spring.nc"];
    for (name, part) in two.into_iter().zip(["time=:2", "time=2:"]) {
        assert_eq!(run(place.path(), &["convert", "ocean.nc", name, "-s", part, "-q"]).code, 0);
    }
    for (args, expected) in [
        // Both sides of a comparison and all stores that are joined get the variable, but never the target.
        (
            &["diff", "-v", "lat", "winter.nc", "spring.nc"][..],
            "hyperslab diff winter.nc:/lat spring.nc:/lat",
        ),
        (
            &["concat", "-v", "salinity", "winter.nc", "spring.nc", "year.nc", "-q"],
            "hyperslab concat winter.nc:/salinity spring.nc:/salinity year.nc -q",
        ),
        (
            &["convert", "ocean.nc", "l.zarr", "-v", "lon", "--overwrite", "-q"],
            "hyperslab convert ocean.nc:/lon l.zarr --overwrite -q",
        ),
    ] {
        leads_to(place.path(), args, expected);
    }
    let unknown = run(place.path(), &["show", "-v", "nothing_like_it", "ocean.nc"]);
    assert!(unknown.messages.contains("show has no option -v"), "{}", unknown.messages);
}

#[test]
fn no_selection_by_coordinate_is_suggested_where_there_are_no_coordinates() {
    let place = place();
    let text = "ndarrays:\n  name: {shape: [2], type: string, value: [oslo, bergen]}\n  \
        t: {shape: [station], type: float32, value: [1, 2]}\ndimcoords:\n  station: {size: 2}\n";
    fs::write(place.path().join("s.yaml"), text).unwrap();
    for selection in ["name=oslo", "station=oslo", "station=0.5"] {
        let refused = run(place.path(), &["show", "s.yaml:/t", "-s", selection]);
        assert_eq!(refused.code, 2);
        assert!(refused.messages.contains("is not a position, expected a whole number"), "{refused:?}");
        assert!(!refused.messages.contains("hyperslab"), "{}", refused.messages);
    }
}

#[test]
fn verbs_that_take_no_parts_lead_to_the_whole() {
    let place = place();
    for (args, expected) in [
        (&["check", "ocean.nc:/lat"][..], "hyperslab check ocean.nc"),
        (&["files", "ocean.nc:/lat@units"], "hyperslab files ocean.nc"),
        (&["stat", "ocean.nc:/lat@units"], "hyperslab ls ocean.nc:/lat@units"),
        (
            &["convert", "-q", "userblock.h5:/x@units", "u.zarr"],
            "hyperslab convert -q userblock.h5:/x u.zarr",
        ),
    ] {
        leads_to(place.path(), args, expected);
    }
    assert_eq!(run(place.path(), &["files", "ocean.nc:/lat"]).answer, "");
}

#[test]
fn stores_that_are_given_already_or_are_not_similar_are_not_suggested() {
    let place = place();
    fs::create_dir(place.path().join("v")).unwrap();
    fs::copy(place.path().join("ocean.nc"), place.path().join("model.nc")).unwrap();
    for args in [
        &["concat", "ocean.nc", "ocear.nc", "y.nc"][..],
        &["describe", "nope.nc"],
        &["diff", "ocean.nc", "ocea.nc"],
    ] {
        let wrong = run(place.path(), args);
        assert_eq!(wrong.code, 2, "{args:?}");
        assert_eq!(line(&wrong.messages), "hyperslab ls .", "{args:?}: {}", wrong.messages);
    }
    for args in [&["concat", "day*.nc", "y.nc"][..], &["ls", "day*.nc"], &["convert", "day*.nc", "y.nc"]] {
        let wrong = run(place.path(), args);
        let expected =
            "error: day*.nc: nothing matches the pattern\n  help: `hyperslab ls .` lists the stores there\n";
        assert_eq!((wrong.code, wrong.messages.as_str()), (2, expected), "{args:?}");
    }
    let wrong = run(place.path(), &["convert", "userblock.h5", "v/u.zip"]);
    assert_eq!(line(&wrong.messages), "hyperslab convert userblock.h5 v/u.zarr");
}
