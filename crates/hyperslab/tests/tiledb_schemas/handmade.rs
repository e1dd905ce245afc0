//! Schemas that the TileDB library wrote, and schemas with every feature of the specification.

use super::{array, check_returns, decoded, text};
use hyperslab::NodePath;
use hyperslab::ndl::StorageDetail;
use hyperslab_tiledb::format::array_schema::{
    ArraySchema, Attribute, CurrentDomain, Dimension, DimensionLabel, Domain, EnumerationFile,
};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline, ScaleFloat, Webp, WebpFormat};
use hyperslab_tiledb::format::fragment_metadata::mbr::{Mbr, Range};
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use hyperslab_tiledb::format::version::NEWEST;
use std::fs;
use std::path::Path;

/// The bytes of a golden file of the TileDB crate.
pub(super) fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tiledb/tests/golden");
    let text = fs::read_to_string(folder.join(format!("{name}.hex"))).unwrap();
    let digits = text.lines().flat_map(|line| line.split('#').next().unwrap().split_whitespace());
    let digits: String = digits.collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn usual(filter: Filter) -> FilterPipeline {
    FilterPipeline { max_chunk_size: 65_536, filters: vec![filter] }
}

fn no_filters(version: u32) -> FilterPipeline {
    FilterPipeline { max_chunk_size: if version < 5 { 0 } else { 65_536 }, filters: Vec::new() }
}

/// An integer dimension.
fn rows(version: u32) -> Dimension {
    Dimension {
        name: b"rows".to_vec(),
        data_type: DataType::Int32,
        cell_val_num: CellValNum::ONE,
        filters: no_filters(version),
        domain: [1_i32, 100].map(i32::to_le_bytes).as_flattened().to_vec(),
        tile_extent: Some(10_i32.to_le_bytes().to_vec()),
    }
}

fn words() -> Dimension {
    Dimension {
        name: b"word".to_vec(),
        data_type: DataType::StringAscii,
        cell_val_num: CellValNum::Var,
        filters: usual(Filter::Dictionary { level: -1 }),
        domain: Vec::new(),
        tile_extent: None,
    }
}

fn attribute(version: u32) -> Attribute {
    Attribute {
        name: b"a".to_vec(),
        data_type: DataType::Int16,
        cell_val_num: CellValNum::ONE,
        filters: FilterPipeline { max_chunk_size: 65_536, filters: Vec::new() },
        fill_value: (version >= 6).then(|| vec![0, 0x80]),
        nullable: false,
        fill_value_validity: 0,
        order: DataOrder::Unordered,
        enumeration: None,
    }
}

/// A schema with the defaults of the libraries.
fn plain(version: u32, array_type: ArrayType) -> ArraySchema {
    let validity = if version < 7 { FilterPipeline::default() } else { usual(Filter::Rle { level: -1 }) };
    ArraySchema {
        version,
        allows_dups: false,
        array_type,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: 10_000,
        coords_filters: usual(Filter::Zstd { level: -1 }),
        offsets_filters: usual(Filter::Zstd { level: -1 }),
        validity_filters: validity,
        domain: Domain { dimensions: vec![rows(version)] },
        attributes: vec![attribute(version)],
        dimension_labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: (version >= 22).then(|| CurrentDomain::EMPTY.clone()),
    }
}

fn dense() -> ArraySchema {
    plain(22, ArrayType::Dense)
}

fn sparse() -> ArraySchema {
    plain(22, ArrayType::Sparse)
}

fn with_attributes(attributes: Vec<Attribute>) -> ArraySchema {
    ArraySchema { attributes, ..dense() }
}

fn with_dimensions(schema: ArraySchema, dimensions: Vec<Dimension>) -> ArraySchema {
    ArraySchema { domain: Domain { dimensions }, ..schema }
}

/// Checks that a schema is recovered, and that its description contains some lines.
fn check_says(schema: &ArraySchema, lines: &[&str]) {
    check_returns(schema, &[]);
    let text = text(&*array(schema, &[]), &NodePath::root(), StorageDetail::Full, false);
    for line in lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

pub(super) fn colours() -> Enumeration {
    decoded(&golden("enumeration"))
}

#[test]
fn schemas_of_the_library_return() {
    let names = [
        "schema_dense",
        "schema_sparse",
        "schema_strings",
        "schema_labels",
        "schema_version_7",
        "schema_version_9",
        "schema_version_10",
        "schema_version_11",
        "schema_version_14",
        "schema_version_17",
        "schema_version_19",
    ];
    for name in names {
        let schema: ArraySchema = decoded(&golden(name));
        let mut enumeration = colours();
        if let Some(file) = schema.enumerations.first() {
            enumeration.path.clone_from(&file.file_name);
        }
        check_returns(&schema, &[enumeration]);
    }
}

#[test]
fn plain_schemas_of_every_version_return() {
    for version in 1..=NEWEST {
        for array_type in [ArrayType::Dense, ArrayType::Sparse] {
            check_says(&plain(version, array_type), &[&format!("version: {version}")]);
        }
    }
}

#[test]
fn orders_capacities_and_duplicates_return() {
    let tables = [Layout::RowMajor, Layout::ColMajor];
    for (tile_order, cell_order) in tables.into_iter().flat_map(|tiles| tables.map(|cells| (tiles, cells))) {
        check_returns(&ArraySchema { tile_order, cell_order, ..dense() }, &[]);
    }
    let schema = ArraySchema {
        allows_dups: true,
        tile_order: Layout::ColMajor,
        cell_order: Layout::Hilbert,
        capacity: 17,
        ..sparse()
    };
    let lines = [
        "array: sparse",
        "allows_dups: true",
        "tile_order: col-major",
        "cell_order: hilbert",
        "capacity: 17",
    ];
    check_says(&schema, &lines);
}

/// All filters, including some with options other than the defaults.
fn filters() -> Vec<Filter> {
    let scale = ScaleFloat { scale: 0.01, offset: -273.15, byte_width: 2 };
    let webp = Webp { quality: 75.5, format: WebpFormat::Bgra, lossless: true, y_extent: 16, x_extent: 48 };
    vec![
        Filter::Noop,
        Filter::Gzip { level: -1 },
        Filter::Gzip { level: 9 },
        Filter::Zstd { level: -7 },
        Filter::Zstd { level: 0 },
        Filter::Lz4 { level: 3 },
        Filter::Rle { level: -1 },
        Filter::Rle { level: 2 },
        Filter::Bzip2 { level: 1 },
        Filter::DoubleDelta { level: -1, reinterpret: None },
        Filter::DoubleDelta { level: 4, reinterpret: None },
        Filter::DoubleDelta { level: -1, reinterpret: Some(DataType::Int32) },
        Filter::BitWidthReduction { max_window: 256 },
        Filter::BitWidthReduction { max_window: 8 },
        Filter::Bitshuffle,
        Filter::Byteshuffle,
        Filter::PositiveDelta { max_window: 1024 },
        Filter::PositiveDelta { max_window: 16 },
        Filter::Encryption,
        Filter::ChecksumMd5,
        Filter::ChecksumSha256,
        Filter::Dictionary { level: -1 },
        Filter::Dictionary { level: 5 },
        Filter::ScaleFloat(scale),
        Filter::ScaleFloat(ScaleFloat { scale: 1.0, offset: f64::NEG_INFINITY, byte_width: 8 }),
        Filter::Xor,
        Filter::Webp(webp),
        Filter::Webp(Webp { format: WebpFormat::None, lossless: false, ..webp }),
        Filter::Delta { level: -1, reinterpret: None },
        Filter::Delta { level: 1, reinterpret: Some(DataType::UInt8) },
    ]
}

#[test]
fn every_filter_returns_from_every_place() {
    for filter in filters() {
        let pipeline = FilterPipeline { max_chunk_size: 1024, filters: vec![filter, Filter::Byteshuffle] };
        let attribute = Attribute { filters: pipeline.clone(), ..attribute(22) };
        let dimension = Dimension { filters: pipeline.clone(), ..rows(22) };
        let schema = with_dimensions(with_attributes(vec![attribute]), vec![dimension]);
        check_says(&schema, &["filter:", "max_chunk: 1024"]);
        let shared = ArraySchema {
            coords_filters: pipeline.clone(),
            offsets_filters: pipeline.clone(),
            validity_filters: pipeline,
            ..sparse()
        };
        let names = ["coords_filter", "offsets_filter", "validity_filter"];
        let lines = names.map(|name| [format!("{name}:"), format!("{name}_max_chunk: 1024")]).concat();
        check_says(&shared, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn pipelines_without_filters_return() {
    for max_chunk_size in [0, 1, 65_536, u32::MAX] {
        let none = FilterPipeline { max_chunk_size, filters: Vec::new() };
        let schema = ArraySchema {
            coords_filters: none.clone(),
            offsets_filters: none.clone(),
            validity_filters: none.clone(),
            attributes: vec![Attribute { filters: none.clone(), ..attribute(22) }],
            ..with_dimensions(sparse(), vec![Dimension { filters: none, ..rows(22) }])
        };
        check_says(&schema, &["coords_filter: []", "offsets_filter: []", "validity_filter: []"]);
    }
    let size = FilterPipeline { max_chunk_size: 0, ..usual(Filter::Zstd { level: -1 }) };
    check_returns(&ArraySchema { coords_filters: size, ..sparse() }, &[]);
}

#[test]
fn names_return() {
    let named = |name: &[u8]| Attribute { name: name.to_vec(), ..attribute(22) };
    let names: [&[u8]; 6] = [b"", b"value", b"a/b", b"\xff\xfe", "größe".as_bytes(), b"true"];
    let schema = with_attributes(names.map(named).to_vec());
    let dimensions = names.map(|name| Dimension { name: [b"d", name].concat(), ..rows(22) });
    let anonymous = Dimension { name: Vec::new(), ..rows(22) };
    let dimensions = [dimensions.to_vec(), vec![anonymous]].concat();
    check_says(&with_dimensions(schema, dimensions), &["anonymous: true"]);
    // Before version 5, an attribute may have the name of a dimension.
    let same = Attribute { name: b"rows".to_vec(), ..attribute(4) };
    let dimensions = vec![rows(4), rows(4)];
    let schema = with_dimensions(plain(4, ArrayType::Sparse), dimensions);
    check_says(&ArraySchema { attributes: vec![same], ..schema }, &["name: rows", "attribute: rows"]);
}

#[test]
fn attributes_of_every_datatype_return() {
    for data_type in DataType::ALL {
        let mut attributes = Vec::new();
        for cell_val_num in [CellValNum::ONE, CellValNum::Fixed(3), CellValNum::Var] {
            for nullable in [false, true] {
                let count = if cell_val_num == CellValNum::Fixed(3) { 3 } else { 1 };
                let attribute = Attribute {
                    name: format!("{cell_val_num:?}{nullable}").into_bytes(),
                    data_type,
                    cell_val_num,
                    fill_value: Some(data_type.default_fill_value().repeat(count)),
                    nullable,
                    ..attribute(22)
                };
                attributes.push(attribute);
            }
        }
        check_returns(&ArraySchema { attributes: attributes.clone(), ..sparse() }, &[]);
        check_says(&with_attributes(attributes), &["nullable:", "fillvalue:"]);
    }
}

#[test]
fn fill_values_and_validities_return() {
    let of =
        |data_type: DataType, values: CellValNum, bytes: &[u8], nullable: bool, validity: u8| Attribute {
            name: format!("{data_type:?}{values:?}{nullable}{validity}{bytes:?}").into_bytes(),
            data_type,
            cell_val_num: values,
            fill_value: Some(bytes.to_vec()),
            nullable,
            fill_value_validity: validity,
            ..attribute(22)
        };
    let (one, two, var) = (CellValNum::ONE, CellValNum::Fixed(2), CellValNum::Var);
    let mut attributes = Vec::new();
    for (nullable, validity) in [(false, 0), (false, 1), (false, 7), (true, 0), (true, 1), (true, 255)] {
        attributes.extend([
            of(DataType::Int16, one, &[7, 0], nullable, validity),
            of(DataType::UInt64, one, &[0xfe; 8], nullable, validity),
            // NaN with bits other than the default.
            of(DataType::Float32, one, &[1, 0, 0xc0, 0xff], nullable, validity),
            of(DataType::Float64, two, &[0x55; 16], nullable, validity),
            of(DataType::Bool, one, &[1], nullable, validity),
            of(DataType::Bool, one, &[0xff], nullable, validity),
            of(DataType::Bool, two, &[1, 2], nullable, validity),
            of(DataType::Char, one, b"x", nullable, validity),
            of(DataType::Char, CellValNum::Fixed(4), b"a\0b\0", nullable, validity),
            of(DataType::StringAscii, var, b"missing", nullable, validity),
            of(DataType::StringAscii, var, b"\0", nullable, validity),
            of(DataType::StringAscii, var, b"\0\0", nullable, validity),
            of(DataType::StringUtf8, var, "größe".as_bytes(), nullable, validity),
            of(DataType::StringUtf8, var, b"\xff\xfe", nullable, validity),
            of(DataType::StringUtf16, var, &[1, 2, 3, 4], nullable, validity),
            of(DataType::Int32, var, &[9; 12], nullable, validity),
            of(DataType::Blob, CellValNum::Fixed(3), b"\x01\x02\x03", nullable, validity),
            of(DataType::Blob, var, b"\x01\x02\x03", nullable, validity),
            of(DataType::DatetimeNs, one, &[0, 0, 0, 0, 0, 0, 0, 0x80], nullable, validity),
            of(
                DataType::DatetimeYear,
                one,
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
                nullable,
                validity,
            ),
            of(DataType::TimeAs, one, &[1, 0, 0, 0, 0, 0, 0, 0x80], nullable, validity),
        ]);
    }
    check_says(&with_attributes(attributes), &["fill_valid: true", "fill_valid: 7", "fillvalue: \"0x"]);
}

#[test]
fn enumerations_and_orders_return() {
    let enumeration = colours();
    let file = EnumerationFile { name: enumeration.name.clone(), file_name: enumeration.path.clone() };
    let of = |name: &str, data_type: DataType, order| Attribute {
        name: name.into(),
        data_type,
        fill_value: Some(data_type.default_fill_value().to_vec()),
        order,
        enumeration: Some(enumeration.name.clone()),
        ..attribute(22)
    };
    let nullable = Attribute { nullable: true, ..of("c", DataType::UInt8, DataOrder::Unordered) };
    let attributes = vec![
        of("a", DataType::Int8, DataOrder::Increasing),
        of("b", DataType::UInt64, DataOrder::Decreasing),
        nullable,
    ];
    let schema = ArraySchema { enumerations: vec![file], ..with_attributes(attributes) };
    check_returns(&schema, std::slice::from_ref(&enumeration));
    let source = array(&schema, std::slice::from_ref(&enumeration));
    let full = text(&*source, &NodePath::root(), StorageDetail::Full, false);
    for line in ["enumeration: colours", "order: increasing", "order: decreasing", "enumeration_files:"] {
        assert!(full.contains(line), "{line} is not in\n{full}");
    }
    let brief = text(&*source, &NodePath::root(), StorageDetail::Brief, false);
    assert!(!brief.contains("enumeration_files"), "{brief}");
}

#[test]
fn labels_return() {
    let label = |name: &str, uri: &str, attribute: &str| DimensionLabel {
        dimension: 0,
        name: name.into(),
        relative: true,
        uri: uri.into(),
        attribute: attribute.into(),
        order: DataOrder::Increasing,
        data_type: DataType::Float64,
        cell_val_num: CellValNum::ONE,
        is_external: false,
    };
    let elsewhere = DimensionLabel {
        dimension: 1,
        relative: false,
        is_external: true,
        order: DataOrder::Decreasing,
        data_type: DataType::Char,
        cell_val_num: CellValNum::Var,
        ..label("time", "file:///elsewhere/l0", "t")
    };
    let unordered = DimensionLabel { order: DataOrder::Unordered, ..label("rows", "__labels/l2", "label") };
    let columns = Dimension { name: b"columns".to_vec(), ..rows(22) };
    let schema = ArraySchema {
        dimension_labels: vec![label("metres", "__labels/l0", "label"), elsewhere, unordered],
        ..with_dimensions(dense(), vec![rows(22), columns])
    };
    let lines = [
        "label: increasing",
        "label: decreasing",
        "label: unordered",
        "uri: ",
        "relative: false",
        "external: true",
        "attribute: t",
        "datatype: CHAR",
        "name: rows",
    ];
    check_says(&schema, &lines);
}

fn range(low: i32, high: i32) -> Range {
    Range { min: low.to_le_bytes().to_vec(), max: high.to_le_bytes().to_vec() }
}

#[test]
fn current_domains_return() {
    let with = |schema: ArraySchema, version, ranges: Option<Vec<Range>>| {
        let rectangle = ranges.map(|ranges| Mbr { ranges });
        ArraySchema { current_domain: Some(CurrentDomain { version, rectangle }), ..schema }
    };
    // The sizes of the dimensions express the current domain.
    let told = with(dense(), 0, Some(vec![range(1, 20)]));
    check_says(&told, &["size: 20"]);
    let told = text(&*array(&told, &[]), &NodePath::root(), StorageDetail::Full, false);
    assert!(!told.contains("current_domain"), "{told}");
    // Sizes cannot express a part that does not begin where the domain begins, or the whole domain.
    check_says(&with(dense(), 0, Some(vec![range(5, 20)])), &["current_domain: [[5, 20]]"]);
    check_says(&with(dense(), 0, Some(vec![range(1, 100)])), &["current_domain: [[1, 100]]"]);
    check_says(&with(dense(), 1, None), &["current_domain_version: 1"]);
    let texts = with_dimensions(sparse(), vec![rows(22), words()]);
    let word = Range { min: b"a".to_vec(), max: b"\xff".to_vec() };
    check_says(&with(texts, 1, Some(vec![range(1, 9), word])), &["current_domain:"]);
    let real = Dimension {
        data_type: DataType::Float32,
        domain: [-0.1_f32, 1.5].map(f32::to_le_bytes).as_flattened().to_vec(),
        tile_extent: None,
        ..rows(22)
    };
    for ends in [[0.1_f32, 1.0], [f32::NEG_INFINITY, f32::INFINITY]] {
        let [min, max] = ends.map(|end| end.to_le_bytes().to_vec());
        let schema = with_dimensions(sparse(), vec![real.clone()]);
        check_returns(&with(schema, 0, Some(vec![Range { min, max }])), &[]);
    }
    // With this many cells, only those that were written are shown.
    let wide = Dimension { domain: [0_i32, i32::MAX - 64].map(i32::to_le_bytes).concat(), ..rows(22) };
    check_says(&with(with_dimensions(dense(), vec![wide.clone()]), 0, None), &["size: 0"]);
    let written = with_dimensions(plain(21, ArrayType::Dense), vec![wide]);
    check_returns(&written, &[]);
}

#[test]
fn domains_and_tiles_return() {
    let with = |data_type: DataType, domain: [&[u8]; 2], tile: Option<&[u8]>| Dimension {
        name: format!("{data_type:?}{domain:?}{tile:?}").into_bytes(),
        data_type,
        domain: domain.concat(),
        tile_extent: tile.map(<[u8]>::to_vec),
        ..rows(22)
    };
    let (least, most) = ([0, 0, 0, 0, 0, 0, 0, 0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    let mut dimensions = vec![
        words(),
        with(DataType::UInt8, [&[0], &[0xff]], Some(&[200])),
        with(DataType::Int8, [&[0x80], &[0x7f]], Some(&[100])),
        with(
            DataType::Float64,
            [&(-1e300_f64).to_le_bytes(), &0.1_f64.to_le_bytes()],
            Some(&0.3_f64.to_le_bytes()),
        ),
        with(DataType::Float32, [&(-0.0_f32).to_le_bytes(), &f32::MAX.to_le_bytes()], None),
        with(DataType::UInt64, [&[0; 8], &[0xff; 8]], Some(&[0xff; 8])),
    ];
    let times = DataType::ALL.into_iter().filter(|of| of.is_datetime() || of.is_time());
    for data_type in times.chain([DataType::Int64]) {
        dimensions.push(with(data_type, [&least, &most], Some(&most)));
        dimensions.push(with(data_type, [&[0xf0; 8], &[0x0f; 8]], None));
        dimensions.push(with(
            data_type,
            [&[1, 0, 0, 0, 0, 0, 0, 0x80], &[0; 8]],
            Some(&[7, 0, 0, 0, 0, 0, 0, 0]),
        ));
    }
    for dimension in dimensions {
        check_returns(&with_dimensions(sparse(), vec![dimension]), &[]);
    }
    let day = with(
        DataType::DatetimeDay,
        [&[0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], &[9, 0, 0, 0, 0, 0, 0, 0]],
        None,
    );
    let tile = Some([5, 0, 0, 0, 0, 0, 0, 0].to_vec());
    check_says(
        &with_dimensions(dense(), vec![Dimension { tile_extent: tile, ..day.clone() }]),
        &["chunk: [5]"],
    );
    check_says(&with_dimensions(dense(), vec![day, rows(22)]), &["tile_extent: null", "chunk: [26, 10]"]);
    // A chunk cannot be longer than its array.
    let long = with(DataType::UInt8, [&[0], &[9]], Some(&[200]));
    check_says(&with_dimensions(dense(), vec![long]), &["tile: 200"]);
}
