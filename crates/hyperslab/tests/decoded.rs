//! Values decoded as their attributes specify, tables of them, and abbreviations of large arrays.

use crate::{open, targets};
use hyperslab::model::{Datatype, Element, Elements, Float, Text, Values};
use hyperslab::show::{Abbreviation, Encoded, ShowOptions, Shown, View};
use hyperslab::tabular::{BatchColumn, Tabular};
use hyperslab::{Source, StoreBuilder, ndl};
use std::sync::Arc;

fn view(source: &dyn Source, path: &str, options: &ShowOptions) -> View {
    View::new(source, &targets(source, path).unwrap()[0], options).unwrap()
}

fn decoded(source: &dyn Source, path: &str, select: &str) -> Shown {
    let select = (!select.is_empty()).then(|| select.parse().unwrap()).into_iter().collect();
    view(source, path, &ShowOptions { select, decode: true, ..ShowOptions::default() }).read().unwrap()
}

fn elements(shown: &Shown) -> Vec<String> {
    shown.elements().map(ndl::plain).collect()
}

#[test]
fn packed_numbers_are_unpacked_and_missing_ones_are_null() {
    let source = open("ocean.nc");
    let shown = decoded(&*source, "/temperature", "time=0,depth=4,lat=0");
    assert_eq!(shown.datatype.non_null(), &Datatype::Float(Float::Single));
    assert_eq!(elements(&shown)[..3], ["null", "7.11", "7.02"]);
    assert!(matches!(shown.elements().next().unwrap().get(), Element::Null));
    let times: Vec<String> = shown.fixed[0].labels().collect();
    assert_eq!(times, ["2024-03-01T00:00:00"]);
    // When values are shown as stored, the view still reports how they are encoded.
    let stored = view(&*source, "/temperature", &ShowOptions::default());
    let expected = [("/time".to_owned(), Encoded::Time), ("/temperature".to_owned(), Encoded::Packed)];
    assert_eq!(stored.encoded, expected);
}

/// A store with one array of the given numbers, and string attributes.
fn with_attributes(numbers: &[f64], attributes: &[(&str, &str)]) -> Arc<dyn Source> {
    let mut store = StoreBuilder::new();
    let mut array = store.array_of_shape("/x", &[numbers.len() as u64], numbers).unwrap();
    for (name, text) in attributes {
        array = array.attribute(name, text);
    }
    store.build()
}

#[test]
fn times_are_datetimes_where_other_programs_agree_on_their_dates() {
    let of = |numbers: &[f64], units: &str, calendar: &str| {
        let source = with_attributes(numbers, &[("units", units), ("calendar", calendar)]);
        let shown = decoded(&*source, "/x", "");
        let unit = match shown.datatype.non_null() {
            Datatype::Datetime(unit) => unit.unit.clone(),
            Datatype::String(Text::Variable) => "text".to_owned(),
            other => other.to_string(),
        };
        (unit, elements(&shown).join(" "))
    };
    let text = |unit: &str, dates: &str| (unit.to_owned(), dates.to_owned());
    assert_eq!(
        of(&[0.0, 1.5], "days since 2000-01-01", "standard"),
        text("s", "2000-01-01T00:00:00 2000-01-02T12:00:00")
    );
    assert_eq!(
        of(&[0.25], "seconds since 2000-01-01", "proleptic_gregorian"),
        text("ms", "2000-01-01T00:00:00.250")
    );
    // 30 February exists only in this calendar.
    assert_eq!(of(&[59.0], "days since 2000-01-01", "360_day"), text("text", "2000-02-30T00:00:00"));
    // Before the Gregorian reform, the standard calendar is the Julian calendar.
    assert_eq!(of(&[0.0], "days since 1582-10-04", "standard"), text("text", "1582-10-04T00:00:00"));
    assert_eq!(of(&[f64::NAN], "days since 2000-01-01", "standard"), text("s", "null"));
    // Months have no fixed length, so the numbers are kept.
    assert_eq!(of(&[1.0], "months since 2000-01-01", "standard"), text("float64", "1.0"));
}

#[test]
fn datetimes_are_as_fine_as_they_must_be_and_texts_where_64_bits_end() {
    let of = |numbers: &[f64], units: &str| {
        let source = with_attributes(numbers, &[("units", units)]);
        let shown = decoded(&*source, "/x", "");
        (shown.datatype.non_null().to_string(), elements(&shown).join(" "))
    };
    let expected = |datatype: &str, dates: &str| (datatype.to_owned(), dates.to_owned());
    assert_eq!(of(&[0.5], "ms since 2000-01-01"), expected("datetime(us)", "2000-01-01T00:00:00.000500"));
    assert_eq!(
        of(&[1.0, 2e11], "ns since 2000-01-01"),
        expected("datetime(ns)", "2000-01-01T00:00:00.000000001 2000-01-01T00:03:20.000000000")
    );
    // 64-bit nanoseconds since 1970 end in the year 2262.
    assert_eq!(
        of(&[0.000_000_5, 1e10], "seconds since 2000-01-01"),
        expected("string", "2000-01-01T00:00:00.0000005 2316-11-20T17:46:40")
    );
}

#[test]
fn bounds_without_units_have_those_of_their_times() {
    let mut store = StoreBuilder::new();
    store.dimension("/bnds", 2).unwrap();
    let time = store.coordinate("/time", &[1_i32, 2]).unwrap();
    time.attribute("units", "days since 2000-01-01").attribute("bounds", "time_bnds");
    let height = store.array("/height", &["/time"], &[1_i32, 2]).unwrap();
    height.attribute("units", "m").attribute("bounds", "height_bnds");
    for name in ["/time_bnds", "/height_bnds"] {
        store.array(name, &["/time", "/bnds"], &[0.5, 1.5, 1.5, 2.5]).unwrap();
    }
    let source = store.build();
    let dates = elements(&decoded(&*source, "/time_bnds", "time=0"));
    assert_eq!(dates, ["2000-01-01T12:00:00", "2000-01-02T12:00:00"]);
    assert_eq!(elements(&decoded(&*source, "/height_bnds", "time=0")), ["0.5", "1.5"]);
}

#[test]
fn fill_values_of_xarray_in_zarr_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    std::fs::create_dir_all(path.join("c")).unwrap();
    // xarray 2026.7 writes _FillValue = -999.0 like this, as a base64-encoded double.
    let metadata = r#"{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "float32", "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"_FillValue": "AAAAAAA4j8A="}}"#;
    std::fs::write(path.join("zarr.json"), metadata).unwrap();
    std::fs::write(path.join("c/0"), [1.5_f32, -999.0].map(f32::to_le_bytes).concat()).unwrap();
    let source = hyperslab::open(&path, &hyperslab::OpenOptions::default()).unwrap();
    assert_eq!(elements(&decoded(&*source, "/", "")), ["1.5", "null"]);
}

/// The names of the columns of a table, and its rows as text.
fn rows(view: &View) -> (Vec<String>, Vec<String>) {
    let tabular = Tabular::of_array(view);
    let mut rows = Vec::new();
    let done = tabular.batches(&mut |batch| {
        for row in 0..batch.len {
            let cell = |(about, column): (&hyperslab::tabular::TabularColumn, &BatchColumn<'_>)| {
                let of = |datatype: &Datatype, values: &Values| {
                    let mut elements = Elements::new(datatype, values);
                    elements.split(column.index(row));
                    elements.next().map(ndl::plain).unwrap()
                };
                match column {
                    BatchColumn::Values(values) => of(&about.datatype, values),
                    BatchColumn::Coordinates { axis, .. } => axis.label(column.index(row)).unwrap(),
                }
            };
            let cells = tabular.columns().iter().zip(&batch.columns).map(cell);
            rows.push(cells.collect::<Vec<_>>().join(" "));
        }
        Ok(())
    });
    done.unwrap();
    (tabular.columns().iter().map(|column| column.name.clone()).collect(), rows)
}

#[test]
fn tables_have_a_row_for_each_element_with_its_coordinates() {
    let source = open("ocean.nc");
    let select = vec!["time=[0,2],depth=1,lat=0,lon=:2".parse().unwrap()];
    let (names, found) =
        rows(&view(&*source, "/salinity", &ShowOptions { select, decode: true, ..ShowOptions::default() }));
    assert_eq!(names, ["time", "depth", "lat", "lon", "salinity"]);
    let starts = [
        "2024-03-01T00:00:00 10.0 57.75 8.0 ",
        "2024-03-01T00:00:00 10.0 57.75 8.25 ",
        "2024-03-15T00:00:00 10.0 57.75 8.0 ",
        "2024-03-15T00:00:00 10.0 57.75 8.25 ",
    ];
    assert_eq!(found.len(), starts.len());
    assert!(found.iter().zip(starts).all(|(row, start)| row.starts_with(start)), "{found:?}");
    // The coordinates of a dimension make one column, not two.
    let (names, found) = rows(&view(&*source, "/depth", &ShowOptions::default()));
    assert_eq!((names.as_slice(), found[1].as_str()), (["depth".to_owned()].as_slice(), "10.0"));
    // Members of compounds are columns, including those of nested compounds.
    let source = open("datatypes.h5");
    let (names, _) = rows(&view(&*source, "/made_of_others/compound", &ShowOptions::default()));
    assert_eq!(names[0], "dim_0");
    assert!(names.len() > 2 && !names.contains(&"compound".to_owned()), "{names:?}");
}

#[test]
fn characters_are_texts_unless_they_are_asked_for() {
    let source = open("ocean.nc");
    let texts_of = |texts: bool, select: &str| {
        let select = (!select.is_empty()).then(|| select.parse().unwrap()).into_iter().collect();
        let view = view(&*source, "/transect", &ShowOptions { select, texts, ..ShowOptions::default() });
        let extents: Vec<usize> = view.axes.iter().map(|axis| axis.len()).collect();
        (extents, elements(&view.read().unwrap()))
    };
    let (extents, whole) = texts_of(true, "");
    assert_eq!((extents, whole.len()), (vec![3], 3));
    let (extents, characters) = texts_of(false, "");
    assert_eq!((extents, characters.len()), (vec![3, 10], 30));
    assert_eq!(characters.concat(), whole.concat());
    assert_eq!(texts_of(true, "0,:2").1, [whole[0].chars().take(2).collect::<String>()]);
}

#[test]
fn large_arrays_are_abbreviated_before_they_are_read() {
    let source = open("ocean.nc");
    let short = Abbreviation { above: 100, columns: 2, rows: 1, tables: 1 };
    let abbreviated = |path: &str, short| {
        view(&*source, path, &ShowOptions { abbreviate: Some(short), ..ShowOptions::default() })
    };
    let shown = abbreviated("/temperature", short);
    let gaps: Vec<_> =
        shown.axes.iter().map(|axis| (axis.len(), axis.gap().map(|gap| (gap.at, gap.count)))).collect();
    assert_eq!(gaps, [(2, Some((1, 7))), (2, Some((1, 3))), (3, None), (4, Some((2, 4)))]);
    let labels: Vec<String> = shown.axes[3].labels().collect();
    assert_eq!(labels, ["8.0", "8.25", "9.5", "9.75"]);
    let read = elements(&shown.read().unwrap());
    let select = vec!["[0,8],[0,4],:,[0,1,6,7]".parse().unwrap()];
    let picked = view(&*source, "/temperature", &ShowOptions { select, ..ShowOptions::default() });
    assert_eq!(read, elements(&picked.read().unwrap()));
    assert!(abbreviated("/depth", short).axes[0].gap().is_none(), "few elements are all shown");
}
