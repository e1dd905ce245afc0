//! Selections give the right positions.

use crate::{open, targets};
use hyperslab::select::doubts;
use hyperslab::show::{Shown, show};
use hyperslab::{ErrorKind, OpenOptions, Remedy, Result, Source, ndl};
use proptest::prelude::*;
use std::sync::Arc;

/// A document with one dimension `x`, which has coordinates, and an array `/at` whose values are the positions.
fn line(coordinates: &str, count: usize) -> Arc<dyn Source> {
    let positions: Vec<String> = (0..count).map(|at| at.to_string()).collect();
    let list = positions.join(", ");
    document(&format!(
        "dimcoords:\n  x: {{size: {count}, {coordinates}}}\n\
         ndarrays:\n  at: {{shape: [x], type: int32, value: [{list}]}}\n"
    ))
}

fn document(text: &str) -> Arc<dyn Source> {
    let options = OpenOptions { format: Some("ndl".into()), ..OpenOptions::default() };
    let text = format!("# NDL 0.6.1\n{text}");
    hyperslab::open_storage(Box::new(bytes::Bytes::from(text)), &options).unwrap()
}

fn shown(source: &dyn Source, path: &str, selections: &[&str]) -> Result<Shown> {
    let selections = selections.iter().map(|text| text.parse()).collect::<Result<Vec<_>>>()?;
    show(source, &targets(source, path)?[0], &selections)
}

/// The selected values of `/at`, followed by a dot if the selection drops the dimension.
fn at(source: &dyn Source, selection: &str) -> String {
    let shown = shown(source, "/at", &[selection]).unwrap_or_else(|e| panic!("{selection}: {e}"));
    let dot = if shown.axes.is_empty() { "." } else { "" };
    shown.elements().map(ndl::plain).collect::<Vec<_>>().join(" ") + dot
}

fn refusal(source: &dyn Source, path: &str, selection: &str) -> String {
    match shown(source, path, &[selection]) {
        Ok(shown) => panic!("{selection}: {:?}", shown.extents()),
        Err(error) => error.to_string(),
    }
}

fn extents(source: &dyn Source, path: &str, selections: &[&str]) -> Vec<usize> {
    shown(source, path, selections).unwrap().extents()
}

#[test]
fn positions_count_as_in_numpy() {
    let ocean = &*open("ocean.nc");
    let of = |selection| extents(ocean, "/temperature", &[selection]);
    assert_eq!(of("1"), [5, 3, 8]);
    assert_eq!(of(":,1:9:3"), [9, 2, 3, 8]);
    assert_eq!(of("...,-2:"), [9, 5, 3, 2]);
    assert_eq!(of("-1,...,0"), [5, 3]);
    assert_eq!(of("lon=[0,-1],time=3"), [5, 3, 2]);
    assert_eq!(of(":99"), [9, 5, 3, 8]);
    assert_eq!(of("3:1"), [0, 5, 3, 8]);
    assert_eq!(extents(ocean, "/temperature", &["time=1:3", "/time=2:3,lat=0"]), [1, 5, 8]);
}

#[test]
fn values_select_by_coordinates() {
    let x = &*line("type: float64, value: [-20.0, -10.0, 0.0, 10.0, 20.0]", 5);
    assert_eq!(at(x, "x=-10..10"), "1 2 3");
    assert_eq!(at(x, "x=..0"), "0 1 2");
    assert_eq!(at(x, "x=0.5.."), "3 4");
    assert_eq!(at(x, "x=.."), "0 1 2 3 4");
    assert_eq!(at(x, "1..1.5"), "");
    let message = refusal(x, "/at", "x=10..-10");
    assert!(message.contains("dimension x: 10..-10 is empty: ranges go from the lower"), "{message}");
    assert!(message.contains("help: did you mean x=-10..10?"), "{message}");
    let falling = &*line("type: float64, value: [20.0, 10.0, 0.0]", 3);
    assert!(refusal(falling, "/at", "20..0.5").contains("did you mean :,x=0.5..20?"));
    assert_eq!(at(falling, "x=0.5..20"), "0 1");
    assert_eq!(at(x, "x==-10"), "1.");
    assert_eq!(at(x, "x~=14.9"), "3.");
    // If two coordinates are equally close, the first one is selected.
    assert_eq!(at(x, "x~=5"), "2.");
    assert_eq!(at(x, "x~=-1e9"), "0.");
}

#[test]
fn coordinates_may_be_unsorted_and_nan_is_never_selected() {
    let down = &*line("type: int16, value: [500, 300, 300, 100]", 4);
    assert_eq!(at(down, "x=100..300"), "1 2 3");
    assert_eq!(at(down, "x==300"), "1 2");
    assert_eq!(at(down, "x~=390"), "1.");
    let mixed = &*line("type: float32, value: [3.0, .nan, 1.0, 2.0, 1.0, .nan]", 6);
    assert_eq!(at(mixed, "x=1..2"), "2 3 4");
    assert_eq!(at(mixed, "x=2.."), "0 3");
    assert_eq!(at(mixed, "x=.."), "0 2 3 4");
    assert_eq!(at(mixed, "x~=1.5"), "2.");
    assert!(refusal(mixed, "/at", "x==nan").contains("no coordinate is nan"));
    let none = &*line("type: float32, value: [.nan, .nan]", 2);
    assert!(refusal(none, "/at", "x~=0").contains("no coordinate is near 0"));
}

#[test]
fn coordinates_are_read_in_parts_to_their_end() {
    let count = 66_000;
    let values: Vec<String> = (0..count).map(|at| (2 * at).to_string()).collect();
    let long = &*line(&format!("type: int32, value: [{}]", values.join(", ")), count);
    assert_eq!(at(long, "x=131070..131074"), "65535 65536 65537");
    assert_eq!(at(long, "x==131998"), "65999.");
    assert_eq!(at(long, "x~=1e9"), "65999.");
}

#[test]
fn numbers_are_read_in_the_type_of_the_coordinates() {
    let single = &*line("type: float32, value: [0.1, 0.2, 0.3]", 3);
    assert_eq!(at(single, "x==0.1"), "0.");
    assert_eq!(at(single, "x=0.1..0.3"), "0 1 2");
    let half = &*line("type: float16, value: [0.1, 0.2, 0.3]", 3);
    assert_eq!(at(half, "x=0.2..0.3"), "1 2");
    let large = &*line("type: uint64, value: [9007199254740992, 9007199254740993, 18446744073709551615]", 3);
    assert_eq!(at(large, "x==9007199254740993"), "1.");
    assert_eq!(at(large, "x~=18446744073709551614"), "2.");
    let whole = &*line("type: int32, value: [1, 2, 3]", 3);
    assert_eq!(at(whole, "x=1.5..1e3"), "1 2");
    assert_eq!(at(whole, "x~=2.6"), "2.");
    let message = refusal(whole, "/at", "x==2.5");
    assert!(message.contains("dimension x: no coordinate is 2.5"), "{message}");
    assert!(message.contains("help: x==2 selects the nearest coordinate, position 1"), "{message}");
    let message = refusal(whole, "/at", "x=low..3");
    assert!(message.contains("\"low\" is not a number"), "{message}");
}

#[test]
fn texts_are_selected_by_equality_and_range_but_not_by_nearness() {
    let x = &*line("type: string, value: [bergen, oslo, \"Oslo, N\", \"it's\", oslo]", 5);
    assert_eq!(at(x, "x==bergen"), "0.");
    assert_eq!(at(x, "x==oslo"), "1 4");
    assert_eq!(at(x, "x=='Oslo, N'"), "2.");
    assert_eq!(at(x, "'x'=='it''s'"), "3.");
    assert_eq!(at(x, "x=a..c"), "0");
    assert!(refusal(x, "/at", "x==Bergen").contains("x==bergen selects the nearest coordinate, position"));
    assert!(refusal(x, "/at", "x~=oslo").contains("expected numbers or times for the nearest"));
    assert!(refusal(x, "/at", "x=oslo").contains("x==oslo selects the equal coordinate"));
}

#[test]
fn rows_of_characters_are_selected_as_names() {
    let source = document(
        "dimcoords:\n  n: {size: 8}\n  station: {size: 3}\n\
         ndarrays:\n  station: {shape: [station, n], type: string, storage: {charset: ascii, length: 1}, value: [\
         [o, s, l, o, \"\", \"\", \"\", \"\"], [b, e, r, g, e, n, \" \", \" \"], [b, o, d, o, e, \"\", \"\", \"\"]]}\n  \
         at: {shape: [station], type: int32, value: [0, 1, 2]}\n",
    );
    assert_eq!(at(&*source, "station==oslo"), "0.");
    assert_eq!(at(&*source, "station==bergen"), "1.");
    assert_eq!(at(&*source, "station=b..c"), "1 2");
    assert!(refusal(&*source, "/at", "station==osl").contains("station==oslo selects the nearest"));
    assert!(refusal(&*source, "/at", "station~=oslo").contains("expected numbers or times for the nearest"));
}

#[test]
fn ranges_that_select_nothing_or_reach_too_far_are_doubtful() {
    let source = line("type: float64, value: [-20.0, 0.0, 20.0, 40.0]", 4);
    let doubts = |text: &str| {
        let found = doubts(&*source, &[text.parse().unwrap()]).unwrap();
        found.into_iter().map(|doubt| doubt.text).collect::<Vec<_>>()
    };
    assert_eq!(doubts("x=50..60"), ["x=50..60 selects nothing: x has no coordinate there"]);
    assert_eq!(doubts("x=3:1"), ["x=3:1 selects nothing: x has 4 positions"]);
    assert_eq!(
        doubts("x=-30:30"),
        ["x=-30:30 reaches beyond x, which has 4 positions; 4 of them are selected"]
    );
    let values = &hyperslab::select::doubts(&*source, &["x=-30:30".parse().unwrap()]).unwrap()[0];
    assert!(matches!(&values.remedy, Some(Remedy::Instead { write, .. }) if write == "x=-30..30"));
    for text in ["x=0:4", "x=-4:", "x=::-1", "x=-30..30", "x=1", "x==0"] {
        assert_eq!(doubts(text), [""; 0], "{text}");
    }
}

#[test]
fn enumeration_values_are_selected_by_name() {
    let x = &*line("type: {enum: {base: int8, members: {good: 0, bad: 7}}}, value: [bad, good, bad]", 3);
    assert_eq!(at(x, "x==bad"), "0 2");
    assert_eq!(at(x, "x==0"), "1.");
    assert!(refusal(x, "/at", "x==goood").contains("did you mean good?"));
}

#[test]
fn times_are_selected_by_dates_in_their_units_and_calendar() {
    let time = |units: &str, calendar: &str, kind: &str, values: &str| {
        let count = values.split(',').count();
        let attributes = format!("attributes: {{units: {units}, calendar: {calendar}}}");
        line(&format!("type: {kind}, {attributes}, value: [{values}]"), count)
    };
    let days = &*time("days since 2026-01-01", "standard", "int32", "0, 30, 31, 58, 59, 89, 90");
    assert_eq!(at(days, "x=2026-01..2026-03"), "0 1 2 3 4 5");
    assert_eq!(at(days, "x=2026-02..2026-02"), "2 3");
    assert_eq!(at(days, "x=..2026-01-31"), "0 1");
    assert_eq!(at(days, "x=2026-03-31T00.."), "5 6");
    assert_eq!(at(days, "x=2026-03-31T01.."), "6");
    assert_eq!(at(days, "x==2026-03"), "4 5");
    assert_eq!(at(days, "x=2026-01-31"), "1.");
    assert_eq!(at(days, "x==2026"), "0 1 2 3 4 5 6");
    assert_eq!(at(days, "x~=2026-02-10"), "2.");
    assert_eq!(at(days, "x=2026-02-10..2026-02"), "3");
    let message = refusal(days, "/at", "x=2026-03..2026-02");
    assert!(message.contains("2026-03..2026-02 is empty: ranges go from the earlier"), "{message}");
    assert!(message.contains("help: did you mean x=2026-02..2026-03?"), "{message}");
    assert!(refusal(days, "/at", "x=2026-13").contains("there is no month 13 in 2026-13"));
}

#[test]
fn calendars_and_fractions_of_units_are_respected() {
    let noleap = &*line(
        "type: float64, attributes: {units: hours since 2024-02-28, calendar: noleap}, \
         value: [0.0, 23.5, 24.0, 0.3333333333333333]",
        4,
    );
    assert_eq!(at(noleap, "x=2024-03.."), "2");
    // Selecting a month keeps the dimension, regardless of the number of times in that month.
    assert_eq!(at(noleap, "x=2024-03"), "2");
    assert_eq!(at(noleap, "x=2024-02-28"), "0 1 3");
    assert_eq!(at(noleap, "x==2024-02-28T00:20"), "3.");
    assert!(refusal(noleap, "/at", "x==2024-02-29").contains("there is no 2024-02-29 in calendar noleap"));
    let message = refusal(noleap, "/at", "x==2024-03-02");
    assert!(message.contains("x==2024-03-01 selects the nearest coordinate, position 2"), "{message}");
    assert!(refusal(noleap, "/at", "x=24..48").contains("\"24\" is not a date"));
    let months = &*line("type: int32, attributes: {units: months since 2000-01-01}, value: [0, 1]", 2);
    assert!(refusal(months, "/at", "x=2000..").contains("unit months is not a fixed length"));
    assert_eq!(at(months, "x=1"), "1.");
}

#[test]
fn datetimes_are_selected_by_dates_without_attributes() {
    let seen = &*line(
        "type: {datetime: {unit: m}}, value: [\"2026-02-01T06:00\", NaT, \"2026-02-01T18:30\", \"2026-03-01T00:00\"]",
        4,
    );
    assert_eq!(at(seen, "x=2026-02"), "0 2");
    assert_eq!(at(seen, "x=..2026-02-01T06"), "0");
    assert_eq!(at(seen, "x=.."), "0 2 3");
    assert_eq!(at(seen, "x~=2026-02-10"), "2.");
    // The nearest coordinate is closer to the end of the day than to its start.
    assert_eq!(at(seen, "x~=2026-02-15"), "3.");
    let message = refusal(seen, "/at", "x==2026-02-02");
    assert!(
        message.contains("x=='2026-02-01T18:30' selects the nearest coordinate, position 2"),
        "{message}"
    );
    let months = &*line("type: {datetime: {unit: M}}, value: [\"2025-12\", \"2026-01\", \"2026-02\"]", 3);
    assert_eq!(at(months, "x=2026-01-15.."), "2");
    assert_eq!(at(months, "x=..2026"), "0 1 2");
}

#[test]
fn the_example_is_selected_by_its_coordinates() {
    let ocean = &*open("ocean.nc");
    assert_eq!(extents(ocean, "/salinity", &["time=2024-03-08..2024-03-22,lat=58.."]), [3, 5, 2, 8]);
    assert_eq!(extents(ocean, "/salinity", &["time=2024-04"]), [4, 5, 3, 8]);
    let found = shown(ocean, "/salinity", &["time=2024-03-15,depth~=40,lat==58.25,lon=9..9.5"]).unwrap();
    let fixed: Vec<String> = found.fixed.iter().map(|axis| axis.label(0).unwrap()).collect();
    assert_eq!((found.extents(), fixed.join(" ")), (vec![3], "336.0 25.0 58.25".into()));
    assert_eq!(extents(ocean, "/waves/energy", &["frequency=0.1..0.2"]), [9, 2, 6]);
    // A dimension coordinate is selected by its own values.
    let found = shown(ocean, "/time", &["time=2024-04-20.."]).unwrap();
    assert_eq!(found.elements().map(ndl::plain).collect::<Vec<_>>(), ["1344.0"]);
    let message = refusal(ocean, "/salinity", "time==2024-03-02");
    assert!(message.contains("dimension time: no coordinate is 2024-03-02"), "{message}");
    assert!(
        message.contains("help: time==2024-03-01 selects the nearest coordinate, position 0"),
        "{message}"
    );
    assert_eq!(shown(ocean, "/salinity", &["depth==7"]).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn selections_along_dimensions_of_other_arrays_are_ignored() {
    let ocean = &*open("ocean.nc");
    assert_eq!(extents(ocean, "/waves/height", &["lat=58..,time=1:4"]), [3]);
    assert_eq!(extents(ocean, "/waves/height", &["direction=0"]), [9]);
    for (selection, part) in [
        ("lta=1", "no dimension lta\nhelp: did you mean lat=1?"),
        ("direktion=1", "did you mean direction=1?"),
        ("zzzzzz=1", "no dimension zzzzzz; dimensions: time, depth, lat, lon"),
        ("9", "dimension time: position 9 is out of range, expected -9 to 8"),
        ("lat=-4", "dimension lat: position -4 is out of range, expected -3 to 2"),
        ("1,2,3,4,5", "has 5 dimensions, the array has 4"),
        ("...,...", "has several ..."),
    ] {
        let message = refusal(ocean, "/temperature", selection);
        assert!(message.contains(part), "{selection}: {message}");
    }
    assert!(
        refusal(ocean, "/waves/energy", "direction=1..2").contains("has no coordinates, expected positions")
    );
    // The dimension names of other arrays are of no use here.
    let unnamed = refusal(&*open("h5netcdf_style.h5"), "/bare", "dim_0=1");
    let expected =
        "no dimension dim_0: no dimension here has a name\nhelp: select unnamed dimensions by position";
    assert!(unnamed.contains(expected), "{unnamed}");
    assert!(
        refusal(&*open("h5netcdf_style.h5"), "/bare", "1..2").contains("dimension 0: has no coordinates")
    );
}

/// Coordinates in quarters, which are exact as decimal text; `None` is NaN.
fn coordinates() -> impl Strategy<Value = Vec<Option<i8>>> {
    let any = prop::collection::vec(prop::option::weighted(0.9, -20_i8..20), 1..40);
    let sorted = any.clone().prop_map(|mut values| {
        values.sort();
        values
    });
    let falling = sorted.clone().prop_map(|values| values.into_iter().rev().collect());
    prop_oneof![any, sorted, falling]
}

fn quarters(value: i8) -> f64 {
    f64::from(value) / 4.0
}

fn list(positions: &[usize]) -> String {
    positions.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn selections_equal_a_search_of_all_coordinates(
        values in coordinates(),
        first in prop::option::of(-24_i8..24),
        last in prop::option::of(-24_i8..24),
        single in any::<bool>(),
    ) {
        let kind = if single { "float32" } else { "float64" };
        let texts: Vec<String> = values
            .iter()
            .map(|value| value.map_or(".nan".into(), |value| format!("{:?}", quarters(value))))
            .collect();
        let source = line(&format!("type: {kind}, value: [{}]", texts.join(", ")), values.len());
        let word = |value: Option<i8>| value.map_or(String::new(), |value| quarters(value).to_string());
        let inside = |from: Option<i8>, to: Option<i8>| -> Vec<usize> {
            let holds = |v: i8| from.is_none_or(|from| v >= from) && to.is_none_or(|to| v <= to);
            values.iter().enumerate().filter(|(_, v)| v.is_some_and(holds)).map(|(at, _)| at).collect()
        };
        let range = format!("x={}..{}", word(first), word(last));
        match first.zip(last) {
            Some((first, last)) if first > last => {
                prop_assert!(refusal(&*source, "/at", &range).contains("is empty"));
            }
            _ => prop_assert_eq!(at(&*source, &range), list(&inside(first, last))),
        }
        let Some(wanted) = first else { return Ok(()) };
        let equal = inside(first, first);
        let selection = format!("x=={}", word(first));
        match equal.as_slice() {
            [] => prop_assert!(shown(&*source, "/at", &[&selection]).is_err()),
            [one] => prop_assert_eq!(at(&*source, &selection), format!("{one}.")),
            many => prop_assert_eq!(at(&*source, &selection), list(many)),
        }
        let distance = |v: &i8| (i32::from(*v) - i32::from(wanted)).abs();
        let near = values.iter().enumerate().filter_map(|(at, v)| Some((distance(v.as_ref()?), at))).min();
        if let Some((_, near)) = near {
            prop_assert_eq!(at(&*source, &format!("x~={}", word(first))), format!("{near}."));
        }
    }

    #[test]
    fn lists_of_positions_select_the_outer_product_in_their_order(
        times in prop::collection::vec(0_i64..9, 1..7),
        lons in prop::collection::vec(0_i64..8, 1..7),
    ) {
        let selection = format!("time={times:?},depth=1,lat=::2,lon={lons:?}");
        let found = shown(&*open("ocean.nc"), "/temperature", &[&selection]).unwrap();
        let mut expected = Vec::new();
        for t in &times {
            for y in [0, 2] {
                expected.extend(lons.iter().map(|x| (600 + 45 * t - 70 + 20 * y - 9 * x).to_string()));
            }
        }
        prop_assert_eq!(found.elements().map(ndl::plain).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn any_text_is_a_selection_or_an_error(text in "((time|lat|x)(=|==|~=))?[-+0-9.:T'\\[\\], eZinf=~é]{0,14}") {
        let _ = shown(&*open("ocean.nc"), "/salinity", &[&text]);
    }

    #[test]
    fn any_counts_are_compared_with_any_dates(
        counts in prop::collection::vec(any::<i64>(), 1..4),
        floats in prop::collection::vec(any::<f32>().prop_filter("finite", |f| f.is_finite()), 1..4),
        unit in "ns|s|D|W|M|Y|999999999W",
        year in "-?[0-9]{4,12}",
    ) {
        for mark in ["==", "~=", "=.."] {
            let selection = format!("x{mark}{year}");
            let datetime = line(&format!("type: {{datetime: {{unit: {unit}}}}}, value: {counts:?}"), counts.len());
            let _ = shown(&*datetime, "/at", &[&selection]);
            for (kind, values) in [("int64", format!("{counts:?}")), ("float32", format!("{floats:?}"))] {
                let units = "attributes: {units: weeks since 0001-01-01, calendar: julian}";
                let count = if kind == "int64" { counts.len() } else { floats.len() };
                let source = line(&format!("type: {kind}, {units}, value: {values}"), count);
                let _ = shown(&*source, "/at", &[&selection]);
            }
        }
    }
}
