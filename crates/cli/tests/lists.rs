//! `ls`: attributes, patterns, several files, and the width of a terminal.

use crate::command::{examples, hyperslab, prepared, ran};

#[test]
fn attributes_are_listed_on_request_with_their_values() {
    let ran = hyperslab(["ls", "--attrs", "ocean.nc:/waves"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    for line in [
        "@summary       string   []",
        "@scale_factor  float64  []                                              = 0.01",
        "@operator      string   [2]                                             = [\"Coast Guard\", \"Harbour of Invented\"]",
    ] {
        assert!(ran.answer.contains(line), "{line}: {}", ran.answer);
    }
    assert!(!hyperslab(["ls", "ocean.nc:/waves"]).answer.contains("@operator"));
    let paths = hyperslab(["ls", "-r1", "--attrs", "ocean.nc:/waves"]).answer;
    assert!(paths.contains("\n/waves/height\n/waves/height@_FillValue\n"), "{paths}");
    let json = hyperslab(["ls", "--json", "--attrs", "ocean.nc:/waves"]).answer;
    let line = r#"{"file":"ocean.nc","path":"/waves/height@scale_factor","kind":"attribute","type":"float64","shape":[],"value":0.01}"#;
    assert!(json.lines().any(|found| found == line), "{json}");
}

#[test]
fn numbers_that_are_not_finite_are_no_texts() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# NDL 0.6.1\nattributes:\n  nan: .nan\n  \
                ends: {shape: [3], type: float32, value: [-.inf, .inf, 1]}\n  text: NaN\n";
    std::fs::write(folder.path().join("a.yaml"), text).unwrap();
    let run = |args: &[&str]| ran(prepared(args).current_dir(folder.path()).output().unwrap()).answer;
    let listed = run(&["ls", "--attrs", "a.yaml"]);
    for end in ["= NaN\n", "= [-inf, inf, 1.0]\n", "= \"NaN\"\n"] {
        assert!(listed.contains(end), "{end}: {listed}");
    }
    let json = run(&["ls", "--attrs", "--json", "a.yaml"]);
    assert!(json.contains(r#""value":["-Infinity","Infinity",1.0]"#), "{json}");
}

#[test]
fn values_of_scalars_units_and_classes_say_what_objects_are_about() {
    let ran = hyperslab(["ls", "ocean.nc"]);
    let about = |name: &str| {
        let line = ran.answer.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit("  ").next().unwrap().to_owned()
    };
    assert_eq!(about("crs "), "= 0");
    assert_eq!(about("depth "), "m");
    assert_eq!(about("temperature_flag "), "quality of the temperature");
    let json = hyperslab(["ls", "--json", "ocean.nc:/crs"]).answer;
    assert!(json.contains(r#""value":0"#), "{json}");
}

#[test]
fn a_group_with_attributes_is_not_nothing() {
    let ran = hyperslab(["ls", "datatypes.h5:/attributes/many"]);
    assert_eq!(ran.code, 0);
    let first = ran.answer.lines().next().unwrap();
    assert!(
        first.starts_with("datatypes.h5:/attributes/many: HDF5, ") && first.ends_with(" attributes"),
        "{first}"
    );
    assert!(hyperslab(["ls", "datatypes.h5:/empty"]).answer.contains("nothing"));
}

#[test]
fn a_pattern_makes_one_table() {
    let ran = hyperslab(["ls", "ocean.nc:/**/t*"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    let lines: Vec<&str> = ran.answer.lines().collect();
    assert_eq!(lines[0], "ocean.nc:/**/t*: NetCDF-4, 5 arrays");
    assert_eq!(lines.iter().filter(|line| line.starts_with("NAME")).count(), 1);
    assert!(lines[2].starts_with("/time "), "{}", ran.answer);
    let ran = hyperslab(["ls", "ocean.nc:/**/*@units"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    assert!(ran.answer.starts_with("ocean.nc:/**/*@units: NetCDF-4, 9 attributes\n"), "{}", ran.answer);
    assert!(
        ran.answer.contains("/waves/height@units     string  []             = \"m\"\n"),
        "{}",
        ran.answer
    );
    let none = hyperslab(["ls", "ocean.nc:/**/*@absent"]);
    assert_eq!(none.code, 2);
    assert!(none.messages.contains("no attribute matches"), "{}", none.messages);
    // Other verbs also leave out the objects without the attribute.
    let digests = hyperslab(["digest", "ocean.nc:/**/*@units"]);
    assert_eq!((digests.code, digests.answer.lines().count()), (0, 9), "{}", digests.messages);
}

#[test]
fn lists_of_several_files_name_the_files() {
    let ran = hyperslab(["ls", "-1", "ocean.nc:/waves", "userblock.h5"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    for location in ran.answer.lines() {
        assert_eq!(hyperslab(["describe", location]).code, 0, "{location}");
    }
    assert!(ran.answer.contains("ocean.nc:/waves/height\n"), "{}", ran.answer);
    assert!(hyperslab(["ls", "-1", "ocean.nc:/waves"]).answer.contains("\n/waves/height\n"));
    let json = hyperslab(["ls", "--json", "ocean.nc", "userblock.h5"]).answer;
    assert!(json.lines().all(|line| line.starts_with("{\"file\":\"")), "{json}");
}

#[cfg(target_os = "linux")]
#[test]
fn lists_are_as_wide_as_the_terminal_and_whole_in_files() {
    use crate::terminal::on_terminal_of;
    for (args, width) in [
        (&["ls", "-r", "ocean.nc"][..], 100),
        (&["ls", "-r", "ocean.nc"], 90),
        (&["ls", "-r", "tides.zarr"], 60),
        (&["ls", "-r", "tides.zarr"], 200),
        (&["ls", "-r", "--attrs", "tides.zarr"], 80),
    ] {
        let shown = on_terminal_of(&examples(), args, false, Some(width));
        let widest = shown.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} of {width}: {shown}");
        let piped = hyperslab(args).answer;
        assert!(!piped.contains('…'), "{piped}");
        assert_eq!(shown.contains('…'), width < 150, "{shown}");
        assert_eq!(shown.lines().count(), piped.lines().count());
    }
    // A compound is listed with its members where there is room.
    let whole = on_terminal_of(&examples(), &["ls", "tides.zarr:/harmonics"], false, Some(200));
    assert!(whole.contains("compound(name:string;speed:float64;order:uint8)"), "{whole}");
    let narrow = on_terminal_of(&examples(), &["ls", "tides.zarr:/harmonics"], false, Some(60));
    assert!(narrow.contains("compound(na…"), "{narrow}");
}
