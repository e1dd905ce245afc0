//! `describe --as cdl` prints the text of ncdump.

use crate::command::hyperslab;
use crate::golden::holds;

#[test]
fn cdl_of_the_example_files_stays_the_same() {
    for file in [
        "ocean.nc",
        "nested_groups.nc",
        "strings.nc",
        "unlimited.nc",
        "classic_model.nc",
        "classic.nc",
        "classic_data64.nc",
        "h5netcdf_style.h5",
        "groups_old.h5",
        "scan.nxs",
        "buoys.yaml",
        "tides.zarr",
        "single.zarr.zip",
    ] {
        let (stem, _) = file.split_once('.').unwrap();
        let ran = hyperslab(["describe", "--as", "cdl", "--values=40", file]);
        holds(&format!("cdl/{stem}.cdl"), &ran.answer);
    }
}

#[test]
fn declarations_stand_alone_without_values() {
    let ran = hyperslab(["describe", "--as=cdl", "classic.nc"]);
    assert_eq!((ran.code, ran.messages.as_str()), (0, ""));
    assert!(ran.answer.starts_with("netcdf classic {\ndimensions:\n"), "{}", ran.answer);
    assert!(!ran.answer.contains("data:"), "{}", ran.answer);
    assert!(ran.answer.ends_with("}\n"), "{}", ran.answer);
}

#[test]
fn parts_of_stores_and_options_of_ndl_are_refused() {
    for args in [
        ["describe", "--as=cdl", "--pure", "ocean.nc"],
        ["describe", "--as=cdl", "--depth=1", "ocean.nc"],
        ["describe", "--as=cdl", "--storage=full", "ocean.nc"],
        ["describe", "--as=cdl", "--quiet", "ocean.nc:/lat"],
    ] {
        let ran = hyperslab(args);
        assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{args:?}");
        assert!(ran.messages.contains("--as cdl"), "{args:?}: {}", ran.messages);
    }
}

#[test]
fn what_cdl_cannot_say_stands_in_comments() {
    let ran = hyperslab(["describe", "--as=cdl", "datatypes.h5"]);
    let comments = ran.answer.lines().filter(|line| line.trim_start().starts_with("// not in CDL: "));
    assert!(comments.count() > 5, "{}", ran.answer);
}
