//! Packed numbers, shown as the numbers that they represent.

use crate::node_path;
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::model::{Attribute, Datatype, Element, Elements, Fill, Node};
use hyperslab::publish::Fingerprint;
use hyperslab::select::Select;
use hyperslab::{
    Along, Error, File, JoinOptions, Joined, Number, OpenOptions, Region, Source, StoreBuilder, Unpacked,
    open, repack, target_format_of,
};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

fn numbers(source: &Arc<dyn Source>, select: &Select) -> Vec<f64> {
    File::from(Arc::clone(source)).array("/t").unwrap().read(select).unwrap()
}

fn packed<T: Number>(values: &[T], scale: f64, offset: f64, missing: Option<T>) -> Arc<dyn Source> {
    let mut store = StoreBuilder::new();
    store.dimension("/x", values.len() as u64).unwrap();
    let mut array = store.array("/t", &["/x"], values).unwrap();
    array = array.numbers("scale_factor", &[scale]).numbers("add_offset", &[offset]);
    if let Some(missing) = missing {
        array.numbers("_FillValue", &[missing]);
    }
    store.build()
}

/// Reads a selection of packed numbers, in which missing numbers are `None`.
fn unpacked<T: Number>(values: &[T], missing: Option<T>, select: &Select) -> Vec<Option<f64>> {
    let source = Unpacked::shared(packed(values, 0.5, 3.0, missing));
    numbers(&source, select).into_iter().map(|number| (!number.is_nan()).then_some(number)).collect()
}

/// The unpacked numbers according to the formula.
fn wanted<T: Copy + PartialEq + Into<f64>>(values: &[T], missing: T) -> Vec<Option<f64>> {
    values.iter().map(|value| (*value != missing).then_some((*value).into() * 0.5 + 3.0)).collect()
}

macro_rules! types {
    ($($name:ident: $type:ty;)*) => {
        proptest! {$(
            #[test]
            fn $name(values in prop::collection::vec(any::<$type>(), 1..40), missing in any::<prop::sample::Index>(), start in 0..40_usize) {
                let missing = values[missing.index(values.len())];
                let start = start.min(values.len());
                let part = Select::all().dim("x", i64::try_from(start).unwrap()..);
                prop_assert_eq!(unpacked(&values, Some(missing), &part), wanted(&values[start..], missing));
            }
        )*}
    };
}

types! {
    signed_bytes_are_unpacked: i8;
    unsigned_bytes_are_unpacked: u8;
    signed_16_bit_numbers_are_unpacked: i16;
    unsigned_16_bit_numbers_are_unpacked: u16;
    signed_32_bit_numbers_are_unpacked: i32;
    unsigned_32_bit_numbers_are_unpacked: u32;
}

#[test]
fn a_64_bit_number_beside_the_missing_one_is_not_missing() {
    let big = 1_i64 << 53;
    assert_eq!(
        unpacked(&[big, big + 1], Some(big + 1), &Select::all()),
        [Some(big as f64 * 0.5 + 3.0), None]
    );
}

#[test]
fn numbers_have_the_precision_of_both_attributes() {
    let datatype = |scale_of_single: bool| {
        let mut store = StoreBuilder::new();
        store.dimension("/x", 2).unwrap();
        let array = store.array("/t", &["/x"], &[10_i16, -10]).unwrap();
        match scale_of_single {
            true => array.numbers("scale_factor", &[0.1_f32]),
            false => array.numbers("scale_factor", &[0.1]),
        };
        let source = Unpacked::shared(store.build());
        let handle = source.find(&node_path("/t")).unwrap().handle;
        let array = source.array(&handle).unwrap();
        (array.datatype().to_string(), array.values(&Region::all(&[2])).unwrap().rows.to_vec())
    };
    let rows = [1.0_f32, -1.0].map(f32::to_ne_bytes).concat();
    assert_eq!(datatype(true), ("float32".to_owned(), rows));
    let rows = [1.0_f64, -1.0].map(f64::to_ne_bytes).concat();
    assert_eq!(datatype(false), ("float64".to_owned(), rows));
}

fn loaded(source: &dyn Source, path: &str) -> Node {
    source.load(&source.find(&node_path(path)).unwrap().handle).unwrap()
}

fn first_number(attribute: &Attribute) -> f64 {
    match Elements::new(&attribute.datatype, &attribute.value).next().unwrap().get() {
        Element::Float(number) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn attributes_fill_value_and_filters_are_those_of_unpacked_numbers() {
    let text = "
ndarrays:
  t:
    shape: [4]
    type: int16
    attributes:
      units: K
      scale_factor: 0.5
      _FillValue: {type: int16, value: -1}
    storage:
      chunk: [2]
      filter: [{scaleoffset: {bits: 4}}, {shuffle: 2}, {deflate: 4}]
      fillvalue: -1
    value: [1, 2, -1, 4]
  plain:
    shape: [1]
    type: int16
    attributes:
      _FillValue: {type: int16, value: -1}
    value: [7]
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.yaml");
    std::fs::write(&file, text).unwrap();
    let source = open(&file, &OpenOptions { unpack: true, ..OpenOptions::default() }).unwrap();
    let node = loaded(&*source, "/t");
    let attributes = node.attributes().unwrap();
    assert_eq!(attributes.keys().collect::<Vec<_>>(), ["units", "_FillValue"]);
    assert!(first_number(attributes["_FillValue"].as_ref().unwrap()).is_nan());
    let storage = node.storage().unwrap();
    let filters: Vec<_> = storage.filters.iter().map(|filter| filter.name.as_str()).collect();
    assert_eq!(filters, ["shuffle", "deflate"]);
    // The parameter was the two-byte size of the packed numbers.
    assert!(storage.filters[0].parameters.is_empty());
    let Fill::Value(fill) = &storage.fill else { panic!("no fill value") };
    assert_eq!(*fill.rows, f64::NAN.to_ne_bytes());
    assert_eq!(**node.datatype().unwrap(), Datatype::Float(hyperslab::model::Float::Double));
    // Arrays that are not packed are unchanged.
    assert_eq!(loaded(&*source, "/plain").attributes().unwrap().len(), 1);
    assert_eq!(File::from(source).array("/plain").unwrap().read::<i16>(&Select::all()).unwrap(), [7]);
}

#[test]
fn elements_that_were_never_written_are_the_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.zarr");
    write(&*packed(&[1_i16, 2, 3], 0.5, 273.15, None), &path);
    std::fs::remove_file(path.join("t/c/0")).unwrap();
    let source = open(&path, &OpenOptions { unpack: true, ..OpenOptions::default() }).unwrap();
    assert_eq!(numbers(&source, &Select::all()), [273.15; 3]);
    let handle = source.find(&node_path("/t")).unwrap().handle;
    let fill = source.array(&handle).unwrap().fill().unwrap().unwrap();
    assert_eq!(*fill.rows, 273.15_f64.to_ne_bytes());
}

fn write(source: &dyn Source, path: &Path) {
    let options = ConvertOptions::new(target_format_of(path).unwrap());
    let plan = plan(source, &options).unwrap();
    convert(source, &Fingerprint::of_sources(&[], String::new()).unwrap(), path, &plan, &options).unwrap();
}

#[test]
fn stores_of_other_packing_are_joined_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [(0_i32, 0.5, 10_i16), (1, 0.25, 40)].map(|(day, scale, number)| {
        let mut store = StoreBuilder::new();
        store.coordinate("/time", &[day]).unwrap();
        store.array("/t", &["/time"], &[number]).unwrap().numbers("scale_factor", &[scale]);
        let path = folder.path().join(format!("day{day}.zarr"));
        write(&*store.build(), &path);
        path
    });
    let joined = |unpack: bool| {
        let open = OpenOptions { unpack, ..OpenOptions::default() };
        Joined::open(
            &paths,
            &JoinOptions { along: Along::Named("time".into()), open, ..JoinOptions::default() },
        )
    };
    let error: Error = joined(false).err().unwrap();
    assert!(error.to_string().contains("attribute scale_factor is 0.25"), "{error}");
    let source = joined(true).unwrap().shared();
    assert_eq!(numbers(&source, &Select::all()), [5.0, 10.0]);
}

#[test]
fn repacking_does_not_unpack() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.zarr");
    write(&*packed(&[1_i16], 0.5, 0.0, None), &path);
    let error = repack::open(&path, &OpenOptions { unpack: true, ..OpenOptions::default() }).err().unwrap();
    assert!(error.to_string().starts_with("repacking keeps numbers packed"));
}

#[test]
fn the_fill_value_of_unpacked_netcdf_is_said_as_in_netcdf() {
    let folder = tempfile::tempdir().unwrap();
    let (path, unpacked) = (folder.path().join("packed.nc"), folder.path().join("unpacked.nc"));
    write(&*packed(&[10_i16, -999, 20], 0.5, 1.0, Some(-999)), &path);
    let options = OpenOptions { unpack: true, ..OpenOptions::default() };
    let seen = open(&path, &options).unwrap();
    write(&*seen, &unpacked);
    let written = open(&unpacked, &options).unwrap();
    for source in [&seen, &written] {
        assert!(matches!(loaded(&**source, "/t").storage().unwrap().fill, Fill::Default));
    }
}
