//! Drawings of arrays on terminals, in pipes and as pictures.

use crate::command::{Ran, examples, hyperslab, prepared, ran};
use crate::golden::holds;
use std::fs;
use tempfile::TempDir;

/// The lines drawn to a file with this width.
fn drawn(width: usize, args: &[&str]) -> Ran {
    let mut command = prepared([&["show", "--plot"], args].concat());
    command.env("COLUMNS", width.to_string());
    ran(command.output().unwrap())
}

#[test]
fn drawings_stay_the_same_at_every_width() {
    for (name, args) in [
        ("map", &["ocean.nc:/temperature", "-s", "time=0,depth=0"][..]),
        ("section", &["ocean.nc:/temperature", "-s", "lat=0,lon=0", "--axes", "depth,time"]),
        ("line", &["ocean.nc:/waves/height"]),
        ("words", &["ocean.nc:/temperature_flag", "-s", "depth=0"]),
    ] {
        for width in [40, 80, 120] {
            let ran = drawn(width, args);
            assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{args:?}");
            let widest = ran.answer.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{widest} columns of {width}: {args:?}");
            holds(&format!("plot_{name}_{width}.txt"), &ran.answer);
        }
    }
}

#[test]
fn dimensions_that_are_not_chosen_are_named() {
    let ran = drawn(80, &["ocean.nc:/temperature"]);
    let note = "  note: drawn at the first position of time, depth; -s time=1 draws the next, --axes another dimension\n";
    assert_eq!((ran.code, ran.messages.as_str()), (0, note));
    let chosen = drawn(80, &["ocean.nc:/temperature", "-s", "time=0,depth=0"]);
    assert_eq!(ran.answer, chosen.answer);
}

#[test]
fn locales_without_utf8_get_ascii_alone() {
    for args in [["ocean.nc:/salinity", "-s", "time=0,depth=0"], ["ocean.nc:/waves/height", "-s", ":"]] {
        let mut command = prepared([&["show", "--plot"], &args[..]].concat());
        let answer = ran(command.env("LC_ALL", "C").output().unwrap()).answer;
        assert!(answer.is_ascii() && answer.lines().count() > 10, "{answer}");
    }
}

#[test]
fn empty_single_and_missing_elements_are_said() {
    let folder = TempDir::new().unwrap();
    let document = folder.path().join("few.yaml");
    let text = "ndarrays:\n  none: {shape: [2, 0], type: int8, value: [[], []]}\n  \
        one: {shape: [1], type: int8, value: [7]}\n  \
        nan: {shape: [2, 2], type: float32, value: [[.nan, .nan], [.nan, .nan]]}\n  \
        inf: {shape: [2, 2], type: float64, value: [[.inf, 1.0], [-.inf, 2.0]]}\n  \
        bool: {shape: [3], type: bool, value: [true, false, true]}\n";
    fs::write(&document, text).unwrap();
    for (name, expected) in [
        ("none", "no elements"),
        ("one", "7 ┤"),
        ("nan", "all 4 elements are missing"),
        ("inf", "2 elements are infinite: drawn in the colour of the nearest"),
        ("bool", "true ┤"),
    ] {
        let ran = drawn(60, &[&format!("{}:/{name}", document.display())]);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{name}");
        assert!(ran.answer.contains(expected), "{name}:\n{}", ran.answer);
    }
}

#[test]
fn what_cannot_be_drawn_leads_to_the_line_that_prints_it() {
    for (args, line) in [
        (&["ocean.nc:/remark", "--plot"][..], "`hyperslab show ocean.nc:/remark` prints the values"),
        (
            &["ocean.nc:/temperature", "-s", "0,0,0,0", "--plot", "--axes", "lat"],
            "a single position of lat is selected, so that it cannot be an axis",
        ),
        (
            &["datatypes.h5:/made_of_others/compound", "--plot"],
            "`hyperslab show datatypes.h5:/made_of_others/compound --as csv` prints each in a column",
        ),
    ] {
        let ran = hyperslab([&["show"], args].concat());
        assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{args:?}");
        assert!(ran.messages.contains(line), "{}", ran.messages);
    }
    let unknown = hyperslab(["show", "ocean.nc:/lat", "--plot=lat.nc"]);
    assert!(unknown.code == 2 && unknown.messages.contains(".png or .svg"), "{}", unknown.messages);
    assert!(!examples().join("lat.nc").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn terminals_get_half_blocks_in_colours_that_they_have() {
    let on_terminal = |variables: &[(&str, &str)]| {
        let mut command = prepared(["show", "--plot", "ocean.nc:/temperature", "-s", "time=0,lat=0"]);
        command.env_remove("NO_COLOR").env("TERM", "xterm").env_remove("COLORTERM");
        command.envs(variables.iter().copied());
        crate::terminal::shown_by(command)
    };
    let true_colour = on_terminal(&[("COLORTERM", "truecolor")]);
    // The warmest and coldest cells have the colours of the two ends of the scale, and missing cells have no colour.
    for part in ["38;2;253;231;37", "38;2;68;1;84", "▀", "\u{1b}[2m·", "· missing"] {
        assert!(true_colour.contains(part), "{part}:\n{true_colour}");
    }
    let palette = on_terminal(&[]);
    assert!(palette.contains("38;5;220m") && !palette.contains("38;2;"), "{palette}");
    let none = on_terminal(&[("NO_COLOR", "1")]);
    assert!(!none.contains('\u{1b}') && none.contains('▓'), "{none}");
}

#[cfg(feature = "pictures")]
mod pictures {
    use super::*;
    use std::path::Path;

    /// A picture of an array, made twice.
    fn picture(folder: &Path, extension: &str, args: &[&str]) -> Vec<u8> {
        let twice = ["a", "b"].map(|name| {
            let file = folder.join(format!("{name}.{extension}"));
            let option = format!("--plot={}", file.display());
            let ran = hyperslab([&["show", "-q", option.as_str()], args].concat());
            assert_eq!((ran.code, ran.answer.as_str(), ran.messages.as_str()), (0, "", ""), "{args:?}");
            fs::read(file).unwrap()
        });
        assert!(twice[0] == twice[1], "the same array and options give the same bytes: {args:?}");
        let [first, _] = twice;
        first
    }

    #[test]
    fn pictures_are_whole_and_the_same_in_every_run() {
        let folder = TempDir::new().unwrap();
        for args in [
            &["ocean.nc:/temperature", "--axes", "depth,time"][..],
            &["ocean.nc:/waves/height"],
            &["ocean.nc:/temperature_flag"],
            &["unlimited.nc:/unwritten"],
        ] {
            let png = picture(folder.path(), "png", args);
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xae\x42\x60\x82"));
            let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            assert_eq!((size(16), size(20)), (1600, 1000));
            let svg = String::from_utf8(picture(folder.path(), "svg", args)).unwrap();
            let name = args[0].rsplit(':').next().unwrap();
            assert!(svg.contains(&format!("<title>{name}")), "{svg}");
            assert_well_formed(&svg);
        }
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 4, "nothing hidden stays beside the pictures");
    }

    /// Checks that elements are properly nested and closed, and that no text contains markup.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').expect("a tag ends");
            assert!(!text.contains('>'), "{text}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn a_picture_replaces_no_source_and_appears_whole_or_not_at_all() {
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("ocean.png");
        fs::copy(examples().join("ocean.nc"), &store).unwrap();
        let location = format!("{}:/lat", store.display());
        let option = format!("--plot={}", store.display());
        let ran = hyperslab(["show", location.as_str(), option.as_str()]);
        assert_eq!(ran.code, 2, "{}", ran.messages);
        assert_eq!(fs::read(&store).unwrap(), fs::read(examples().join("ocean.nc")).unwrap());
        let old = folder.path().join("old.svg");
        fs::write(&old, "old").unwrap();
        let option = format!("--plot={}", old.display());
        assert_eq!(hyperslab(["show", "ocean.nc:/remark", option.as_str()]).code, 2);
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        assert_eq!(hyperslab(["show", "ocean.nc:/lat", option.as_str()]).code, 0);
        assert!(fs::read_to_string(&old).unwrap().starts_with("<svg"));
        // As with -o, a data file is replaced only on request.
        fs::copy(examples().join("ocean.nc"), &old).unwrap();
        let kept = hyperslab(["show", "ocean.nc:/lat", option.as_str()]);
        assert!(kept.code == 2 && kept.messages.contains("--overwrite replaces it"), "{}", kept.messages);
        assert_eq!(hyperslab(["show", "ocean.nc:/lat", option.as_str(), "--overwrite"]).code, 0);
        assert!(fs::read_to_string(&old).unwrap().starts_with("<svg"));
        for (option, expected) in [
            ("--plot", "--overwrite without a file, expected --plot=FILE or -o FILE"),
            ("--decode", "show needs --plot[=<FILE>] or --output <FILE>"),
        ] {
            let nothing = hyperslab(["show", "ocean.nc:/lat", "--overwrite", option]);
            assert!(nothing.code == 2 && nothing.messages.contains(expected), "{}", nothing.messages);
        }
        let two = hyperslab(["show", "ocean.nc:/lat", option.as_str(), "-o", "other.png"]);
        assert!(two.code == 2 && two.messages.contains("two files"), "{}", two.messages);
    }

    #[test]
    fn the_extension_of_an_output_is_the_form_of_a_drawing() {
        let folder = TempDir::new().unwrap();
        for (name, begin) in [("a.png", &b"\x89PNG"[..]), ("a.svg", b"<svg"), ("a.txt", b"/lat")] {
            let file = folder.path().join(name);
            let ran = hyperslab(["show", "ocean.nc:/lat", "--plot", "-o", file.to_str().unwrap()]);
            assert_eq!(ran.code, 0, "{}", ran.messages);
            assert!(fs::read(&file).unwrap().starts_with(begin), "{name}");
        }
    }
}
