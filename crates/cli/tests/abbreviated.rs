//! Large arrays on a terminal are abbreviated, or shown completely in a pager.

use crate::command::{hyperslab, prepared};
use crate::golden::holds;
use crate::terminal::shown_by;

/// What a terminal shows when the command runs with this pager.
fn on_terminal(pager: &str, args: &[&str]) -> String {
    let mut command = prepared(args);
    command.env("PAGER", pager);
    shown_by(command)
}

#[test]
fn a_terminal_shows_the_ends_of_large_arrays() {
    holds("show_abbreviated.txt", &on_terminal("cat", &["show", "-q", "--decode", "ocean.nc:/salinity"]));
    let noted = on_terminal("cat", &["show", "ocean.nc:/salinity"]);
    assert!(
        noted.contains("note: only the first and last of 1080 elements are shown; --all shows all"),
        "{noted}"
    );
    let line = on_terminal("cat", &["show", "-q", "big_endian.h5:/i4"]);
    assert_eq!(line, hyperslab(["show", "-q", "big_endian.h5:/i4"]).answer, "a small array is whole");
}

#[test]
fn all_elements_go_through_the_pager() {
    let args = ["show", "-q", "--all", "ocean.nc:/salinity"];
    let whole = hyperslab(args).answer;
    assert_eq!(
        whole.lines().filter(|line| line.starts_with('#')).count(),
        45,
        "a table for each time and depth"
    );
    assert_eq!(on_terminal("cat", &args), whole);
    let paged = on_terminal("sed 's/^/| /'", &args);
    assert_eq!(paged, whole.lines().map(|line| format!("| {line}\n")).collect::<String>());
}

#[test]
fn a_pager_that_is_left_early_is_no_error() {
    let paged = on_terminal("head -n 1", &["show", "-q", "--all", "ocean.nc:/salinity"]);
    assert_eq!(paged.lines().count(), 1, "{paged}");
}

#[test]
fn files_and_pipes_get_every_element() {
    let whole = hyperslab(["show", "-q", "ocean.nc:/salinity"]).answer;
    assert_eq!(whole, hyperslab(["show", "-q", "--all", "ocean.nc:/salinity"]).answer);
}
