//! Arrays prepared for drawing.

use crate::{open, targets};
use hyperslab::plot::{HeatMap, Plot, PlotOptions};
use hyperslab::{Error, Operation, Pool, Remedy, Result, Source, StoreBuilder};
use std::sync::Arc;

fn plot(source: &dyn Source, path: &str, select: &[&str], axes: &[&str]) -> Result<Plot> {
    let select = select.iter().map(|text| text.parse()).collect::<Result<Vec<_>>>()?;
    let axes = axes.iter().map(|axis| (*axis).to_owned()).collect();
    Plot::new(source, &targets(source, path)?[0], &PlotOptions { select, axes })
}

fn refused(source: &dyn Source, path: &str, select: &[&str], axes: &[&str]) -> Error {
    plot(source, path, select, axes).err().expect("it cannot be drawn")
}

/// A store with one array of 64-bit numbers.
fn with_numbers(shape: &[u64], numbers: &[f64]) -> Arc<dyn Source> {
    let mut store = StoreBuilder::new();
    let names: Vec<String> = (0..shape.len()).map(|number| format!("/d{number}")).collect();
    for (name, extent) in names.iter().zip(shape) {
        store.dimension(name, *extent).unwrap();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    store.array("/x", &names, numbers).unwrap().numbers("missing_value", &[-9.0_f64]);
    store.build()
}

fn pixels(map: &HeatMap, columns: usize, rows: usize) -> Vec<Vec<Option<f64>>> {
    let number = |number: f64| (!number.is_nan()).then_some(number);
    map.pixels(columns, rows).into_iter().map(|row| row.into_iter().map(number).collect()).collect()
}

#[test]
fn cells_are_the_means_of_their_elements_that_are_not_missing() {
    let (rows, columns) = (143_u64, 211_u64);
    let number = |row: u64, column: u64| match (row * 7 + column * 3) % 11 {
        0 => -9.0,
        1 => f64::NAN,
        _ => (row * 1000 + column) as f64 / 8.0,
    };
    let all: Vec<f64> = (0..rows * columns).map(|at| number(at / columns, at % columns)).collect();
    // The result is the same with memory for only a few rows at a time.
    for memory in [Pool::MEMORY, 64 << 10] {
        let source = Operation::new(with_numbers(&[rows, columns], &all), Pool::new(2, memory));
        for (axes, (down, across)) in [(["0", "1"], (rows, columns)), (["1", "0"], (columns, rows))] {
            let plot = plot(&source, "/x", &[], &axes).unwrap();
            let map = plot.heat_map(10, 6).unwrap();
            assert_eq!(map.block, (down.div_ceil(6), across.div_ceil(10)));
            let found = map.pixels(10, 6);
            for (y, x) in (0..6).flat_map(|y| (0..10).map(move |x| (y, x))) {
                let part = |at: u64, of: u64, count: u64| (at * count / of, (at + 1) * count / of);
                let ((top, bottom), (left, right)) = (part(y, 6, down), part(x, 10, across));
                let elements = (top..bottom).flat_map(|row| (left..right).map(move |column| (row, column)));
                let elements = elements.map(|(row, column)| match axes {
                    ["0", _] => number(row, column),
                    _ => number(column, row),
                });
                let there: Vec<f64> = elements.filter(|number| *number != -9.0 && !number.is_nan()).collect();
                let mean = there.iter().sum::<f64>() / there.len() as f64;
                let found = found[usize::try_from(y).unwrap()][usize::try_from(x).unwrap()];
                assert!((found - mean).abs() < 1e-9, "{axes:?} {y} {x}: {found}, expected {mean}");
            }
            let missing = all.iter().filter(|number| **number == -9.0 || number.is_nan()).count() as u64;
            assert_eq!((map.read.count, map.read.missing), (rows * columns, missing));
        }
    }
}

#[test]
fn points_of_a_long_line_keep_the_extremes_of_their_elements() {
    let mut numbers = vec![1.0; 10_000];
    (numbers[4321], numbers[4322]) = (100.0, -100.0);
    let source = with_numbers(&[10_000], &numbers);
    let line = plot(&*source, "/x", &[], &[]).unwrap().line(50).unwrap();
    assert_eq!((line.points.len(), line.block), (50, 200));
    let point = line.points[21];
    assert_eq!((point.low, point.high, point.at), (-100.0, 100.0, 4299.5));
    assert_eq!(line.read.range, Some((-100.0, 100.0)));
    assert!((point.mean - 0.99).abs() < 1e-9);
}

#[test]
fn latitudes_increase_upwards_and_depths_downwards() {
    let source = open("ocean.nc");
    let map = plot(&*source, "/temperature", &["time=0,depth=0"], &[]).unwrap();
    assert_eq!(map.vertical().unwrap().upwards(), (57.625, 58.375));
    let (north, south) = {
        let found = pixels(&map.heat_map(8, 3).unwrap(), 8, 3);
        (found[0][0].unwrap(), found[2][0].unwrap())
    };
    assert!((north - 10.4).abs() < 1e-6 && (south - 10.0).abs() < 1e-6, "{north} {south}");
    let section = plot(&*source, "/temperature", &["lat=0,lon=0"], &["depth", "time"]).unwrap();
    let (bottom, top) = section.vertical().unwrap().upwards();
    assert!(bottom > top, "{bottom} {top}");
    let found = pixels(&section.heat_map(9, 40).unwrap(), 9, 40);
    assert_eq!((found[0][0].is_some(), found[39][0]), (true, None), "the sea has no values below its bottom");
    let ticks = section.horizontal().ticks(section.horizontal().across(), 6);
    assert_eq!(ticks.note.as_deref(), Some("2024"));
}

#[test]
fn rows_without_coordinates_go_down_as_in_a_matrix() {
    let source = with_numbers(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, -9.0]);
    let map = plot(&*source, "/x", &[], &[]).unwrap().heat_map(80, 24).unwrap();
    let row = |numbers: [f64; 3]| numbers.map(|number| (number != -9.0).then_some(number)).to_vec();
    assert_eq!(pixels(&map, 3, 2), [row([1.0, 2.0, 3.0]), row([4.0, 5.0, -9.0])]);
    assert_eq!(map.read.range, Some((1.0, 5.0)));
}

#[test]
fn the_last_two_dimensions_are_drawn_at_the_first_position_of_the_others() {
    let source = open("ocean.nc");
    let of = |select: &[&str], axes: &[&str]| {
        let plot = plot(&*source, "/temperature", select, axes).unwrap();
        let vertical = plot.vertical().map(|axis| axis.name.clone()).unwrap_or_default();
        (vertical, plot.horizontal().name.clone(), plot.first_of, plot.fixed.join(", "))
    };
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (down, across, first_of, fixed) = of(&[], &[]);
    assert_eq!((down.as_str(), across.as_str(), first_of), ("lat", "lon", texts(&["time", "depth"])));
    assert_eq!(fixed, "time 2024-03-01, depth 0");
    let (down, across, first_of, fixed) = of(&["time=3,lat=:1"], &[]);
    assert_eq!((down.as_str(), across.as_str(), first_of), ("depth", "lon", texts(&[])));
    assert_eq!(fixed, "time 2024-03-22, lat 57.75");
    let (down, across, first_of, _) = of(&[], &["time"]);
    assert_eq!((down.as_str(), across.as_str(), first_of), ("", "time", texts(&["depth", "lat", "lon"])));
}

#[test]
fn words_are_a_scale_of_their_own() {
    let source = open("ocean.nc");
    let map = plot(&*source, "/temperature_flag", &["depth=0"], &[]).unwrap().heat_map(80, 40).unwrap();
    assert_eq!(map.read.scale.as_words().unwrap(), ["unchecked", "good", "doubtful", "bad"]);
    assert_eq!(map.read.range, Some((0.0, 3.0)));
    assert_eq!(map.read.scale.label(2.0), "doubtful");
}

#[test]
fn empty_missing_and_infinite_elements_are_counted() {
    let of = |numbers: &[f64]| {
        let source = with_numbers(&[1, numbers.len() as u64], numbers);
        let plot = plot(&*source, "/x", &[], &["0", "1"]).unwrap();
        let read = plot.heat_map(80, 24).unwrap().read;
        (read.count, read.missing, read.infinite, read.range)
    };
    assert_eq!(of(&[]), (0, 0, 0, None));
    assert_eq!(of(&[f64::NAN, -9.0]), (2, 2, 0, None));
    assert_eq!(of(&[f64::INFINITY, 2.0, f64::NEG_INFINITY]), (3, 0, 2, Some((2.0, 2.0))));
    assert_eq!(of(&[f64::MAX, -f64::MAX]), (2, 0, 0, Some((-f64::MAX, f64::MAX))));
    let huge = with_numbers(&[4], &[f64::MAX; 4]);
    let line = plot(&*huge, "/x", &[], &[]).unwrap().line(1).unwrap();
    assert_eq!(line.points[0].mean, f64::MAX);
}

#[test]
fn what_cannot_be_drawn_says_what_to_do() {
    let (ocean, types) = (open("ocean.nc"), open("datatypes.h5"));
    for (source, path, select, remedy) in [
        (&ocean, "/remark", &[][..], Remedy::PrintValues),
        (&ocean, "/crs", &[], Remedy::PrintValues),
        (&ocean, "/lat@units", &[], Remedy::PrintValues),
        (&ocean, "/temperature", &["0,0,0,0"], Remedy::PrintValues),
        (&types, "/made_of_others/compound", &[], Remedy::PrintMembers),
    ] {
        assert_eq!(refused(&**source, path, select, &[]).remedies(), [remedy], "{path}");
    }
    for (axes, detail) in [
        (&["x", "lat"][..], "no dimension x, expected one or two of time, depth, lat, lon"),
        (&["lat", "lat"], "lat is named twice, expected two dimensions"),
        (&["time", "lat"], "a single position of time is selected, so that it cannot be an axis"),
        (&["depth", "lat", "lon"], "3 dimensions, expected one for a line or two for a heat map"),
    ] {
        assert_eq!(refused(&*ocean, "/salinity", &["time=0"], axes).detail(), detail);
    }
}
