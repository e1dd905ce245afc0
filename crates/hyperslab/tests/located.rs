//! Locations of objects as users type them.

use crate::{description, find, located, node_path, open, targets};
use bytes::Bytes;
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::publish::Fingerprint;
use hyperslab::{Entry, Error, ErrorKind, Item, OpenOptions, Source, follow, target_format_of};

fn missing(source: &dyn Source, path: &str) -> String {
    let error = targets(source, path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{path}: {error}");
    error.to_string()
}

#[test]
fn names_locate_objects_and_attributes() {
    let source = open("ocean.nc");
    assert_eq!(located(&*source, "/"), ["/"]);
    assert_eq!(located(&*source, "/waves/"), ["/waves"]);
    let found = targets(&*source, "/temperature@units").unwrap();
    assert_eq!(found[0].attribute.as_deref(), Some("units"));
    assert_eq!(found[0].entry.handle.path, node_path("/temperature"));
    let found = targets(&*source, "/temperature@a@b").unwrap();
    assert_eq!(found[0].attribute.as_deref(), Some("a@b"));
    assert!(missing(&*source, "/temprature@a@b").contains("no object /temprature@a"));
    let found = targets(&*source, "/@title").unwrap();
    assert_eq!((found[0].attribute.as_deref(), found[0].entry.handle.path.is_root()), (Some("title"), true));
}

#[test]
fn patterns_locate_all_matches_in_document_order() {
    let source = open("ocean.nc");
    assert_eq!(located(&*source, "/l*"), ["/lat", "/lon"]);
    assert_eq!(located(&*source, "/**/h*"), ["/waves/height"]);
    assert_eq!(located(&*source, "/waves/[a-e]*"), ["/waves/direction", "/waves/energy", "/waves/buoys"]);
    assert_eq!(located(&*source, "/**/wm?"), ["/waves/buoys/wmo"]);
    assert!(missing(&*source, "/**/absent*").contains("no object matches"));
}

#[test]
fn all_names_of_a_list_are_located() {
    let source = open("ocean.nc");
    assert_eq!(located(&*source, "/{salinity,lat}"), ["/lat", "/salinity"]);
    assert_eq!(
        located(&*source, "/{temp*,waves/height}"),
        ["/temperature", "/temperature_flag", "/waves/height"]
    );
    assert_eq!(located(&*source, "/{lat,lon}@units"), ["/lat", "/lon"]);
    let missing = targets(&*source, "/{lat,salinty}").unwrap_err();
    assert!(missing.to_string().contains("no object /salinty"), "{missing}");
    assert!(missing.remedies().iter().any(|remedy| remedy.to_string().contains("/salinity")), "{missing:?}");
    assert!(self::missing(&*source, "/{lat,x*}").contains("no object matches /x*"));
}

#[test]
fn near_names_are_suggested() {
    let source = open("ocean.nc");
    assert!(missing(&*source, "/temprature").contains("did you mean /temperature?"));
    assert!(missing(&*source, "/waves/energi").contains("did you mean /waves/energy?"));
    assert!(!missing(&*source, "/waves/quite_else").contains("did you mean"));
    assert!(!missing(&*source, "/absent/x").contains("did you mean"));
    assert!(missing(&*source, "/temperature/x").contains("no object /temperature/x"));
    assert!(missing(&*source, "/a//b").contains("has the component"));
}

#[test]
fn an_object_with_an_at_in_its_name_wins_over_an_attribute() {
    let source = open("datatypes.h5");
    let found = targets(&*source, "/attributes@name/with/slash");
    assert_eq!(found.unwrap()[0].attribute.as_deref(), Some("name/with/slash"));
}

#[test]
fn soft_links_within_a_path_are_followed_but_not_at_its_end() {
    let source = open("hdf5/links.h5");
    for path in
        ["/z/group/data", "/one/group/data", "/two/data", "/two/up/group/data", "/two_up/data", "/far/data"]
    {
        let entry = find(&*source, path);
        assert!(matches!(entry.item, Item::Array { .. }), "{path}: {:?}", entry.item);
        assert_eq!(entry.handle.path.as_str(), path);
        assert_eq!(entry.handle.id, find(&*source, "/z/name").handle.id);
    }
    assert!(matches!(find(&*source, "/one").item, Item::Link(_)));
    let source = open("datatypes.h5");
    assert!(matches!(find(&*source, "/links/relative").item, Item::Link(_)));
    assert!(matches!(find(&*source, "/links/up/links/up/layouts").item, Item::Group));
}

#[test]
fn cycles_of_soft_links_end() {
    let source = open("hdf5/links.h5");
    for path in ["/a/q", "/b/q", "/self/q", "/itself/q"] {
        assert!(missing(&*source, path).contains("is in a cycle of links"), "{path}");
    }
    assert!(missing(&*source, "/z/group/back/q").contains("no object"));
}

#[test]
fn objects_behind_links_to_other_files_are_not_found() {
    let source = open("datatypes.h5");
    for path in ["/links/external/x", "/links/user/x"] {
        assert!(missing(&*source, path).contains("leads out of the file"), "{path}");
    }
    assert!(missing(&*source, "/links/dangling/x").contains("no object /links/dangling/x"));
}

#[test]
fn chains_of_links_have_the_same_limit_in_every_format() {
    let hdf5 = open("hdf5/chain.h5");
    let (text, errors) = description(&*hdf5, "/", &DescribeOptions::default());
    assert!(errors.is_empty(), "{errors:?}");
    let ndl = hyperslab::open_storage(Box::new(Bytes::from(text)), &OpenOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.zarr");
    let options = ConvertOptions::new(target_format_of(&path).unwrap());
    let planned = plan(&*hdf5, &options).unwrap();
    convert(&*hdf5, &Fingerprint::default(), &path, &planned, &options).unwrap();
    let zarr = hyperslab::open(&path, &OpenOptions::default()).unwrap();
    for source in [hdf5, ndl, zarr] {
        let format = source.format();
        for path in ["/a00/d", "/b01/d"] {
            assert!(matches!(find(&*source, path).item, Item::Array { .. }), "{format}: {path}");
            assert!(matches!(followed(&*source, &path[..4]).unwrap().item, Item::Group), "{format}: {path}");
        }
        for path in ["/b00/d", "/c0/d", "/c1/d"] {
            assert!(missing(&*source, path).contains("is in a cycle of links"), "{format}: {path}");
            let end = path.strip_suffix("/d").unwrap();
            assert_eq!(followed(&*source, end).unwrap_err().kind(), ErrorKind::NotFound, "{format}: {end}");
        }
    }
}

fn followed(source: &dyn Source, path: &str) -> Result<Entry, Error> {
    follow(source, find(source, path))
}
