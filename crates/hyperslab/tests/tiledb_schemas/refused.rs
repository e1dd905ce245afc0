//! Documents from which no schema can be made. The messages state what was found and where.

use super::handmade::{colours, golden};
use super::{array, decoded, document, text};
use hyperslab::ndl::StorageDetail;
use hyperslab::{NodePath, open_storage, tiledb_schema};
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::encode_all;

/// The description of a dense array with two dimensions, four attributes and an enumeration.
fn described() -> String {
    let schema: ArraySchema = decoded(&golden("schema_dense"));
    let mut enumeration = colours();
    enumeration.path.clone_from(&schema.enumerations[0].file_name);
    text(&*array(&schema, &[enumeration]), &NodePath::root(), StorageDetail::Full, false)
}

/// The error for this description with one part replaced.
fn refused(from: &str, to: &str) -> String {
    let text = described();
    assert!(text.contains(from), "{from} is not in\n{text}");
    let source = document(text.replacen(from, to, 1)).unwrap_or_else(|error| panic!("{error}"));
    tiledb_schema(&*source, &NodePath::root()).unwrap_err().to_string()
}

#[test]
fn directives_of_the_array_are_refused_with_their_place() {
    for (from, to, message) in [
        ("array: dense", "capacity: 1", "/: storage.tiledb without the key array"),
        ("array: dense", "array: both", "/: storage.tiledb.array: both, expected one of dense, sparse"),
        (
            "cell_order: col-major",
            "cell_order: diagonal",
            "/: storage.tiledb.cell_order: diagonal, expected one of row-major, col-major, global-order, unordered, hilbert",
        ),
        ("version: 22", "version: new", "/: storage.tiledb.version: new, expected an integer of 4 bytes"),
        ("version: 22", "version: -1", "/: storage.tiledb.version: -1, expected an integer of 4 bytes"),
        ("version: 22", "capacty: 5", "/: storage.tiledb: the key capacty, which has no meaning here"),
        ("version: 22", "allows_dups: 1", "/: storage.tiledb.allows_dups: 1, expected true or false"),
        (
            "version: 22",
            "offsets_filter: zstd",
            "/: storage.tiledb.offsets_filter: zstd, expected a list of filters: each a name, or a name with parameters",
        ),
        (
            "version: 22",
            "coords_filter: [{zstd: {depth: 1}}]",
            "/: filter zstd: the key depth, which has no meaning here",
        ),
        (
            "version: 22",
            "current_domain: [[1, 9]]",
            "/: storage.tiledb.current_domain: [[1, 9]], expected for each dimension a list of the least and the greatest coordinate",
        ),
        (
            "enumeration_files: {colours",
            "enumeration_files: {colour",
            "/: a file of the enumeration colour, which the array does not have",
        ),
    ] {
        assert_eq!(refused(from, to), message);
    }
}

#[test]
fn members_are_refused_with_their_path() {
    for (from, to, message) in [
        (
            "[rows, columns]\n    type: {nullable: {base: int32}}\n    storage:\n      shape: [20, 8]",
            "[columns, rows]\n    type: {nullable: {base: int32}}\n    storage:\n      shape: [8, 20]",
            "/colour: shape [rows=20/100, columns=8], expected [columns, rows]",
        ),
        ("chunk: [10, 4]", "chunk: [10, 2]", "/colour: chunks of [10, 4], expected [10, 2] as those of /a"),
        (
            "filter: [shuffle, {deflate: 5}]",
            "filter: [fletcher32]",
            "/a: filter fletcher32, which TileDB does not have, expected one of noop, deflate, zstd, lz4, rle, bzip2, doubledelta, bitwidth, bitshuffle, shuffle, positivedelta, md5, sha256, dictionary, scalefloat, xor, delta",
        ),
        (
            "filter: [shuffle, {deflate: 5}]",
            "filter: [{tiledb: {filter: SNAPPY}}]",
            "/a: filter tiledb.filter: SNAPPY, expected one of NONE, GZIP, ZSTD, LZ4, RLE, BZIP2, DOUBLE_DELTA, BIT_WIDTH_REDUCTION, BITSHUFFLE, BYTESHUFFLE, POSITIVE_DELTA, CHECKSUM_MD5, CHECKSUM_SHA256, DICTIONARY, SCALE_FLOAT, XOR, DELTA, WEBP, AES_256_GCM",
        ),
        (
            "{enumeration: colours}",
            "{enumeration: colours, fill_valid: maybe}",
            "/colour: storage.tiledb.fill_valid: maybe, expected true, false or a number to 255",
        ),
        (
            "{fillvalue: \"0x07000000\"}",
            "{fillvalue: \"0x0\"}",
            "/a: storage.tiledb.fillvalue: 0x0, expected bytes, as 0x and two digits for each",
        ),
        ("{fillvalue: \"0x07000000\"}", "{datatype: CHAR}", "/a: type int32, expected one of CHAR"),
        (
            "type: {nullable: {base: int32}}",
            "type: {bitfield: {size: 1}}",
            "/a: type bitfield(8), which TileDB does not have",
        ),
        (
            "      domain: [1, 8]\n",
            "      domain: [1, 8]\n      tiledb: {tile_extent: 4}\n",
            "/columns: storage.tiledb.tile_extent: 4, expected null, or storage.tile in its place",
        ),
        (
            "{fillvalue: \"0x07000000\"}",
            "{label: increasing}",
            "/a: a dimension label of shape [rows=20/100, columns=8], expected one dimension of the array",
        ),
    ] {
        assert_eq!(refused(from, to), message);
    }
}

#[test]
fn what_the_version_does_not_have_is_refused_when_it_is_encoded() {
    for (version, message) in [
        (21, None),
        (19, Some("enumerations in version 19, which exist since version 20")),
        (6, Some("enumerations in version 6, which exist since version 20")),
        (24, Some("version 24, expected 1 to 23")),
    ] {
        let text = described().replacen("version: 22", &format!("version: {version}"), 1);
        let schema = tiledb_schema(&*document(text).unwrap(), &NodePath::root()).unwrap();
        assert_eq!(encode_all(&schema, &()).err().map(|error| error.to_string()).as_deref(), message);
    }
}

#[test]
fn groups_that_are_no_arrays_are_refused() {
    let source = crate::open("survey.tdb");
    let error = |path: &str| tiledb_schema(&*source, &crate::node_path(path)).unwrap_err().to_string();
    assert_eq!(error("/"), "/sightings: is a group in a TileDB array, expected a dimension or an attribute");
    assert_eq!(error("/temperature/x"), "/temperature/x: is not a group, expected the group of an array");
    assert_eq!(error("/nothing"), "no object /nothing");
}

#[test]
fn fill_values_beyond_the_limit_are_refused_before_they_are_made() {
    let text = "ndarrays: {a: {shape: [x], type: {array: {base: float64, shape: [4000000000]}}, storage: {chunk: [1]}}}\n\
        dimcoords: {x: {size: 2, type: int32, storage: {domain: [0, 1]}}}\nstorage: {tiledb: {array: dense}}\n";
    let options = hyperslab::OpenOptions { format: Some("ndl".to_owned()), ..Default::default() };
    let source = open_storage(Box::new(bytes::Bytes::from(text)), &options).unwrap();
    let error = tiledb_schema(&*source, &NodePath::root()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/a: a fill value of 32000000000 bytes, 1073741824 are allowed (raise the allocation limit)"
    );
}
