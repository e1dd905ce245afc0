//! The report names content that a conversion cannot keep even though the source is read without an error.

use super::{converted, open, same};
use crate::{description, path, targets};
use hyperslab::convert::{ConvertOptions, convert, plan, verify};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::model::Node;
use hyperslab::publish::Fingerprint;
use hyperslab::select::Narrowed;
use hyperslab::show::show;
use hyperslab::target::{Fate, Loss};
use hyperslab::{Followed, NodePath, OpenOptions, Source, StoreBuilder, ndl, target_format};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The rows of a report with a given fate: the places, what is there, and what it becomes.
fn rows(source: &dyn Source, fate: Fate) -> Vec<(String, String, String)> {
    let planned = plan(source, &ConvertOptions::new(target_format("zarr3").unwrap())).unwrap();
    let rows = planned.report.rows().filter(|row| row.fate == fate);
    rows.map(|row| (row.places.join(" "), row.what.clone(), row.becomes.clone())).collect()
}

fn lost(name: &str, loss: Loss) -> Vec<(String, String, String)> {
    rows(&*open(&path(name)), Fate::Lost(loss))
}

fn row(places: &str, what: &str, becomes: &str) -> (String, String, String) {
    (places.to_owned(), what.to_owned(), becomes.to_owned())
}

fn values(store: &Path, path: &str) -> String {
    let source = open(store);
    let shown = show(&*source, &targets(&*source, path).unwrap()[0], &[]).unwrap();
    shown.elements().map(ndl::plain).collect::<Vec<_>>().join(" ")
}

#[test]
fn bytes_that_a_source_of_a_virtual_dataset_lacks_are_lost() {
    assert_eq!(values(&path("own/lost/outer.h5"), "/raw"), "0 1 2 3 0 0 0 0");
    let what = "1 missing source (short.raw, which has 8 of 16 bytes)";
    assert_eq!(lost("own/lost/outer.h5", Loss::Unreadable), [row("/raw", what, "zeros")]);
}

#[test]
fn each_mapping_of_numbered_sources_has_its_own_missing_ones() {
    assert_eq!(values(&path("own/lost/blocks.h5"), "/x"), "1 1 1 1 2 2 2 2 1 2 0 0 0 0 0 0");
    let names: Vec<String> = (2..7).map(|number| format!("part-{number}.h5:/x")).collect();
    let what = format!("6 missing sources ({}, …)", names.join(", "));
    assert_eq!(lost("own/lost/blocks.h5", Loss::Unreadable), [row("/x", &what, "the fill value")]);
}

#[test]
fn references_to_what_no_followed_link_leads_to_are_lost() {
    let source = Followed::new(open(&path("own/lost/linked.h5")));
    let (what, becomes) = ("references to objects that are not converted", "dangling references");
    let expected = [row("/linked/both /linked/x@out", what, becomes)];
    assert_eq!(rows(&source, Fate::Lost(Loss::References)), expected);
    // If links are not followed, and in the linked file itself, the objects of all references exist.
    for name in ["linked", "target"] {
        assert_eq!(lost(&format!("own/lost/{name}.h5"), Loss::References), []);
    }
}

#[test]
fn elements_of_dimensions_that_no_reader_shows_are_named() {
    let source = open(&path("own/lost/pure.h5"));
    for path in ["/late", "/damaged", "/filled", "/zeros", "/commented"] {
        let node = source.load(&source.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap();
        assert!(
            matches!(&node, Node::DimCoord(dimension) if dimension.datatype.is_none()),
            "{path}: {node:?}"
        );
    }
    let expected = row("/damaged /filled /late", "elements that NetCDF-4 does not show", "nothing");
    assert_eq!(rows(&*source, Fate::Changed), [expected]);
    assert_eq!(lost("own/lost/pure.h5", Loss::Unreadable), []);
}

#[test]
fn comments_of_dimensions_without_variables_are_kept() {
    let source = path("own/lost/pure.h5");
    let directive = row("/commented", "hdf5 directive comment", "a record");
    assert!(rows(&*open(&source), Fate::Restored).contains(&directive));
    let folder = TempDir::new().unwrap();
    for format in ["zarr2", "zarr3"] {
        let target = folder.path().join(format);
        converted(&source, target_format(format).unwrap(), &target).unwrap();
        let (text, _) = description(&*open(&target), "/", &DescribeOptions::default());
        assert!(text.contains("named, not measured"), "{text}");
    }
}

/// Names that are not UTF-8, next to names that equal the text shown in their place.
#[test]
fn names_that_would_be_shown_alike_stay_different() {
    let source = path("own/lost/alike.h5");
    let folder = TempDir::new().unwrap();
    let shown = |byte: &str| format!("\u{fffd}{byte}");
    let genuine = format!("{}{}{}e9", shown("ef"), shown("bf"), shown("bd"));
    let latin = shown("e9");
    let sizes = |store: &Path| {
        let from = open(store);
        let extents = |path: String| {
            from.array(&from.find(&NodePath::new(&path).unwrap()).unwrap().handle).unwrap().extents().unwrap()
                [0]
        };
        (extents(format!("/{latin}")), extents(format!("/{genuine}")))
    };
    assert_eq!(sizes(&source), (1, 2));
    let attributes = [&latin, &genuine].map(|name| format!("/{genuine}@{name}"));
    for format in ["zarr2", "zarr3"] {
        let target = folder.path().join(format);
        let lost = converted(&source, target_format(format).unwrap(), &target).unwrap();
        assert!(lost.is_empty(), "{lost:?}");
        same(&source, &target, &lost).unwrap();
        assert_eq!(sizes(&target), (1, 2));
        let lines = lines(&*open(&target), &NodePath::root()).unwrap();
        for attribute in &attributes {
            assert!(lines.iter().any(|line| line.path == *attribute && !line.is_error()), "{lines:?}");
        }
    }
    let renamed = |store: &Path| {
        let mut changed = rows(&*open(store), Fate::Changed);
        changed.retain(|(_, what, _)| what == "name that is not UTF-8, or has a slash");
        changed
    };
    let [(places, _, becomes)] = renamed(&source).try_into().unwrap();
    assert_eq!(becomes, "U+FFFD and two digits for each such byte");
    let mut places: Vec<&str> = places.split(' ').collect();
    places.sort_unstable();
    let mut expected =
        vec!["/compound".to_owned(), format!("/{latin}"), format!("/{genuine}"), attributes[0].clone()];
    expected.push(attributes[1].clone());
    expected.sort_unstable();
    assert_eq!(places, expected);
    // In other formats, the name consists of these same characters.
    assert_eq!(renamed(&folder.path().join("zarr3")), []);
    // HDF5 stores names as bytes.
    let source = open(&source);
    let options = ConvertOptions::new(target_format("hdf5").unwrap());
    let planned = plan(&*source, &options).unwrap();
    let of_names = planned.report.rows().filter(|row| row.what.starts_with("name that is not UTF-8"));
    assert_eq!(of_names.count(), 0);
}

#[test]
fn a_user_block_that_is_too_large_to_keep_is_lost_and_not_restored() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("block.h5");
    let stored = std::fs::read(path("own/lost/alike.h5")).unwrap();
    std::fs::write(&file, [vec![0; 1 << 17], stored].concat()).unwrap();
    let source = open(&file);
    let expected = [row("/", "user block of 131072 bytes", "nothing")];
    assert_eq!(rows(&*source, Fate::Lost(Loss::Unreadable)), expected);
    assert!(rows(&*source, Fate::Restored).iter().all(|(_, what, _)| !what.contains("user_block")));
}

#[test]
fn objects_in_a_group_that_is_left_out_are_counted_with_it() {
    let [(places, what, becomes)] = lost("own/short/deep.h5", Loss::Unreadable).try_into().unwrap();
    assert!(what.starts_with("cannot be read: "), "{what}");
    assert_eq!((places.as_str(), becomes.as_str()), ("/g /g/sub /g/sub/x", "nothing"));
    let others = rows(&*open(&path("own/short/deep.h5")), Fate::Restored);
    assert!(others.iter().all(|(places, ..)| !places.contains("/g")), "{others:?}");
}

/// Elements from missing sources do not excuse any other difference.
#[test]
fn a_verification_compares_the_attributes_of_arrays_with_missing_sources() {
    let folder = TempDir::new().unwrap();
    let (file, target) = (path("own/lost/outer.h5"), folder.path().join("target.zarr"));
    let source = open(&file);
    let mut options = ConvertOptions::new(target_format("zarr3").unwrap());
    options.allow = vec![Loss::Unreadable];
    let planned = plan(&*source, &options).unwrap();
    let made_from = Fingerprint::of_source(&file, "").unwrap();
    let summary = convert(&*source, &made_from, &target, &planned, &options).unwrap();
    let verified = || {
        let found = verify(&*source, &*open(&target), (&planned, &summary, &options), &mut |_, _, _| {});
        let found = found.unwrap();
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
        found.different.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(verified(), [""; 0]);
    // The root contains a copy of the metadata.
    for document in ["raw/zarr.json", "zarr.json"].map(|name| target.join(name)) {
        let text = std::fs::read_to_string(&document).unwrap();
        assert!(text.contains("\"metre\""), "{text}");
        std::fs::write(&document, text.replace("\"metre\"", "\"mile\"")).unwrap();
    }
    assert_eq!(verified(), ["/raw@units: was written with values different from those read"]);
}

#[test]
fn a_verification_says_in_words_what_differs() {
    let source = |members: &str| {
        let text = format!("# NDL 0.6.1\n{members}");
        let options = OpenOptions { format: Some("ndl".into()), ..OpenOptions::default() };
        hyperslab::open_storage(Box::new(bytes::Bytes::from(text)), &options).unwrap()
    };
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("target.zarr");
    let options = ConvertOptions::new(target_format("zarr3").unwrap());
    let written = source(
        "attributes: {a: 1, b: 2.5}\nndarrays:\n  x: {shape: [2], type: int8, value: [1, 2]}\n  \
         y: {shape: [2], type: int8, value: [1, 2]}\n",
    );
    let planned = plan(&*written, &options).unwrap();
    let made_from = Fingerprint::of_sources(&[], String::new()).unwrap();
    let summary = convert(&*written, &made_from, &target, &planned, &options).unwrap();
    let wanted = source(
        "attributes: {a: 2, b: {shape: [2], type: float64, value: [2.5, 1]}, c: text}\nndarrays:\n  \
         x: {shape: [2], type: int16, value: [1, 2]}\n/y: {}\n",
    );
    let found = verify(&*wanted, &*open(&target), (&planned, &summary, &options), &mut |_, _, _| {});
    let found: Vec<String> = found.unwrap().different.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "/@a: was written with values different from those read",
            "/@b: was read with shape [2] and written with shape []",
            "/@c: is missing in what was written",
            "/x: was read with type int16 and written with type int8",
            "/y: was read as a group and written as an array",
        ]
    );
}

/// Coordinates given by a domain have no line in a digest, whereas stored coordinates do.
#[test]
fn a_verification_compares_coordinates_that_only_a_domain_tells() {
    let source = |domain: &str| {
        let x = format!("x: {{size: 3, type: int32, storage: {{domain: {domain}}}}}");
        let text = format!(
            "# NDL 0.6.1\ndimcoords:\n  {x}\nndarrays:\n  a: {{shape: [x], type: int8, value: [1, 2, 3]}}\n"
        );
        let options = OpenOptions { format: Some("ndl".into()), ..OpenOptions::default() };
        hyperslab::open_storage(Box::new(bytes::Bytes::from(text)), &options).unwrap()
    };
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("target.h5");
    let options = ConvertOptions::new(target_format("hdf5").unwrap());
    let written = source("[4, 6]");
    let planned = plan(&*written, &options).unwrap();
    let made_from = Fingerprint::of_sources(&[], String::new()).unwrap();
    let summary = convert(&*written, &made_from, &target, &planned, &options).unwrap();
    let different = |wanted: &dyn Source| {
        let found = verify(wanted, &*open(&target), (&planned, &summary, &options), &mut |_, _, _| {});
        found.unwrap().different.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(different(&*written), [""; 0]);
    assert_eq!(different(&*source("[5, 7]")), ["/x: was written with values different from those read"]);
}

#[test]
fn empty_attributes_are_named_and_verified_where_netcdf_has_them_in_another_form() {
    let text = "# NDL 0.6.1
attributes:
  title: {shape: null, type: string, storage: {length: 1}}
  number: {shape: null, type: float64}
  list: {shape: [0], type: float64, value: []}
";
    let options = OpenOptions { format: Some("ndl".into()), ..OpenOptions::default() };
    let source = hyperslab::open_storage(Box::new(bytes::Bytes::from(text)), &options).unwrap();
    let folder = TempDir::new().unwrap();
    for format in ["netcdf4", "netcdf3"] {
        let target = folder.path().join(format);
        let options = ConvertOptions::new(target_format(format).unwrap());
        let planned = plan(&*source, &options).unwrap();
        let named = planned.report.rows().map(|row| (row.places.join(" "), row.what.clone(), row.fate));
        let expected =
            ("/@title /@number".to_owned(), "attribute without elements".to_owned(), Fate::Changed);
        assert_eq!(named.collect::<Vec<_>>(), [expected], "{format}");
        let made_from = Fingerprint::of_sources(&[], String::new()).unwrap();
        let summary = convert(&*source, &made_from, &target, &planned, &options).unwrap();
        let found = verify(&*source, &*open(&target), (&planned, &summary, &options), &mut |_, _, _| {});
        let found = found.unwrap();
        assert!(found.different.is_empty() && found.changed == 2, "{format}: {found:?}");
    }
}

#[test]
fn texts_that_other_readers_end_at_a_nul_are_named() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = r#"
attributes: {title: "a\0b", plain: text}
ndarrays:
  t: {shape: [2], type: string, value: ["c", "d\0e"]}
  u: {shape: [2], type: string, value: ["c", ""]}
"#;
    fs::write(at("source.yaml"), text).unwrap();
    let rows = |source: &Path, format: &str| {
        let planned = plan(&*open(source), &ConvertOptions::new(target_format(format).unwrap())).unwrap();
        let rows = planned.report.rows().filter(|row| row.what == "strings with NUL");
        rows.map(|row| (row.places.join(" "), row.fate)).collect::<Vec<_>>()
    };
    converted(&at("source.yaml"), target_format("zarr3").unwrap(), &at("source.zarr")).unwrap();
    for source in ["source.yaml", "source.zarr"] {
        for format in ["hdf5", "netcdf4", "netcdf3"] {
            let found = rows(&at(source), format);
            assert_eq!(found, [("/@title /t".to_owned(), Fate::Changed)], "{source} {format}");
        }
        for format in ["zarr3", "tiledb"] {
            assert_eq!(rows(&at(source), format), [], "{source} {format}");
        }
    }
    // Here, the strings already end at the NUL.
    converted(&at("source.zarr"), target_format("hdf5").unwrap(), &at("source.h5")).unwrap();
    same(&at("source.zarr"), &at("source.h5"), &Default::default()).unwrap();
    assert_eq!(rows(&at("source.h5"), "netcdf4"), []);
}

#[test]
fn numbers_that_lead_to_elements_a_selection_has_cut_are_lost() {
    let mut store = StoreBuilder::new();
    for (name, length) in
        [("obs", 5), ("station", 2), ("lat", 3), ("lon", 4), ("land", 3), ("node", 4), ("face", 2)]
    {
        store.dimension(&format!("/{name}"), length).unwrap();
    }
    for (name, length) in [("edge", 5), ("corner", 3), ("end", 2), ("instance", 2), ("vertex", 6)] {
        store.dimension(&format!("/{name}"), length).unwrap();
    }
    let mut array = |name: &str, dimensions: &[&str], attributes: &[(&str, &str)]| {
        let paths: Vec<String> = dimensions.iter().map(|name| format!("/{name}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let count = |name: &&str| match *name {
            "obs" | "edge" => 5,
            "lat" | "land" | "corner" => 3,
            "lon" | "node" => 4,
            "vertex" => 6,
            _ => 2,
        };
        let values = vec![1_i32; dimensions.iter().map(count).product()];
        let made = store.array(&format!("/{name}"), &paths, &values).unwrap();
        attributes.iter().fold(made, |made, (name, text)| made.attribute(name, text));
    };
    array("count", &["station"], &[("sample_dimension", "obs")]);
    array("index", &["obs"], &[("instance_dimension", "station")]);
    array("list", &["land"], &[("compress", "lat lon")]);
    array("x", &["node"], &[]);
    array("faces", &["face", "corner"], &[]);
    array("edges", &["edge", "end"], &[]);
    array("across", &["edge", "end"], &[]);
    let mesh = [
        ("cf_role", "mesh_topology"),
        ("node_coordinates", "x"),
        ("face_node_connectivity", "faces"),
        ("edge_node_connectivity", "edges"),
        ("edge_face_connectivity", "across"),
        ("face_dimension", "face"),
    ];
    array("mesh", &[], &mesh);
    array("vertex_x", &["vertex"], &[]);
    array("vertices", &["instance"], &[]);
    let container = [("geometry_type", "line"), ("node_coordinates", "vertex_x"), ("node_count", "vertices")];
    array("container", &[], &container);
    let source = store.build();
    let root = source.find(&NodePath::root()).unwrap();
    for (selection, expected) in [
        ("station=1", "/count /index"),
        ("obs=:3", "/count"),
        ("obs=::-1", "/count"),
        ("station=:,obs=0:5", ""),
        ("lat=0", "/list"),
        ("land=0", ""),
        ("node=1:", "/edges /faces"),
        ("face=1", "/across"),
        ("edge=1", ""),
        ("instance=0", "/vertices"),
        ("vertex=0:3", "/vertices"),
    ] {
        let select = selection.parse().unwrap();
        let narrowed = Narrowed::new(Arc::clone(&source), &[select], std::slice::from_ref(&root)).unwrap();
        let mut lost = rows(&narrowed, Fate::Lost(Loss::References));
        let what = "positions or counts along a partly selected dimension";
        assert!(lost.iter().all(|row| row.1 == what), "{lost:?}");
        let mut places: Vec<String> =
            lost.drain(..).flat_map(|row| row.0.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
        places.sort();
        assert_eq!(places.join(" "), expected, "{selection}");
    }
}
