use super::*;
use crate::format::data_type::{CellValNum, DataType};
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::layout::DataOrder;
use crate::format::structure_tests::{hex, structure_tests};
use hyperslab_core::ErrorKind;

const DENSE: &str = include_str!("../../../tests/golden/schema_dense.hex");
const SPARSE: &str = include_str!("../../../tests/golden/schema_sparse.hex");
const STRINGS: &str = include_str!("../../../tests/golden/schema_strings.hex");
const LABELS: &str = include_str!("../../../tests/golden/schema_labels.hex");

/// A schema with everything that a version can express.
fn rich(version: u32) -> ArraySchema {
    let dimensions = match version < 5 {
        true => vec![dimension::tests::whole_numbers("x"), dimension::tests::whole_numbers("y")],
        false => vec![dimension::tests::whole_numbers("x"), dimension::tests::text("name")],
    };
    let label = DimensionLabel {
        dimension: 0,
        name: b"metres".to_vec(),
        relative: true,
        uri: b"__labels/l0".to_vec(),
        attribute: b"label".to_vec(),
        order: DataOrder::Increasing,
        data_type: DataType::Float64,
        cell_val_num: CellValNum::ONE,
        is_external: false,
    };
    let file = EnumerationFile { name: b"colours".to_vec(), file_name: b"__0123_0".to_vec() };
    let rectangle = Mbr {
        ranges: vec![
            Range { min: vec![1, 0, 0, 0], max: vec![9, 0, 0, 0] },
            Range { min: vec![], max: b"z".to_vec() },
        ],
    };
    ArraySchema {
        version,
        allows_dups: version >= 5,
        array_type: ArrayType::Sparse,
        tile_order: Layout::RowMajor,
        cell_order: Layout::Hilbert,
        capacity: 10_000,
        coords_filters: FilterPipeline::default(),
        offsets_filters: FilterPipeline::default(),
        validity_filters: FilterPipeline::default(),
        domain: Domain { dimensions },
        attributes: vec![attribute::tests::numbers(version)],
        dimension_labels: if version >= 18 { vec![label] } else { vec![] },
        enumerations: if version >= 20 { vec![file] } else { vec![] },
        current_domain: (version >= 22).then_some(CurrentDomain { version: 0, rectangle: Some(rectangle) }),
    }
}

structure_tests!(ArraySchema, context: (),
    golden: [DENSE, SPARSE, STRINGS, LABELS],
    values: [rich(1), rich(4), rich(5), rich(6), rich(7), rich(17), rich(18), rich(20), rich(22), rich(23)]);

mod older {
    use super::*;
    structure_tests!(ArraySchema, context: (),
        golden: [
            include_str!("../../../tests/golden/schema_version_7.hex"),
            include_str!("../../../tests/golden/schema_version_9.hex"),
            include_str!("../../../tests/golden/schema_version_10.hex"),
            include_str!("../../../tests/golden/schema_version_11.hex"),
            include_str!("../../../tests/golden/schema_version_14.hex"),
            include_str!("../../../tests/golden/schema_version_17.hex"),
            include_str!("../../../tests/golden/schema_version_19.hex"),
        ],
        values: []);
}

mod file {
    use super::*;
    structure_tests!(EnumerationFile, context: (), golden: [], values: [EnumerationFile {
        name: b"colours".to_vec(),
        file_name: vec![],
    }]);
}

fn decode(golden: &str) -> ArraySchema {
    let bytes = hex(golden);
    crate::format::decode_all(Decoder::new("Array Schema", 0, &bytes), &()).unwrap()
}

#[test]
fn every_version_round_trips() {
    for version in 1..=version::NEWEST {
        let schema = rich(version);
        let bytes = crate::format::encode_all(&schema, &()).unwrap();
        let decoded: ArraySchema = crate::format::decode_all(Decoder::new("t", 0, &bytes), &()).unwrap();
        assert_eq!(decoded, schema, "version {version}");
    }
}

#[test]
fn dense_schemas_say_what_was_declared() {
    let schema = decode(DENSE);
    assert_eq!(
        (schema.version, schema.array_type, schema.cell_order),
        (22, ArrayType::Dense, Layout::ColMajor)
    );
    let [rows, columns] = schema.domain.dimensions.as_slice() else { panic!("two dimensions") };
    assert_eq!((rows.name.as_slice(), rows.data_type), (&b"rows"[..], DataType::Int32));
    assert_eq!(rows.domain, [1_i32, 100].map(i32::to_le_bytes).as_flattened());
    assert_eq!(rows.tile_extent.as_deref(), Some(&10_i32.to_le_bytes()[..]));
    assert_eq!((rows.filters.filters.len(), columns.filters.filters.len()), (1, 0));
    let [a, colour, pair, text] = schema.attributes.as_slice() else { panic!("four attributes") };
    assert!(a.nullable);
    assert_eq!((a.fill_value.as_deref(), a.filters.filters.len()), (Some(&[7, 0, 0, 0][..]), 2));
    assert_eq!(colour.enumeration.as_deref(), Some(&b"colours"[..]));
    assert_eq!((pair.data_type, pair.cell_val_num), (DataType::Float32, CellValNum::Fixed(2)));
    assert_eq!((text.data_type, text.cell_val_num), (DataType::StringUtf8, CellValNum::Var));
    assert_eq!(schema.enumerations.len(), 1);
    let current = schema.current_domain.unwrap();
    assert_eq!((current.version, current.rectangle.unwrap().ranges[0].max[0]), (0, 20));
}

#[test]
fn strings_have_no_domain_and_no_extent() {
    let schema = decode(STRINGS);
    assert_eq!((schema.array_type, schema.cell_order), (ArrayType::Sparse, Layout::Hilbert));
    let name = &schema.domain.dimensions[0];
    assert_eq!(
        (name.cell_val_num, name.domain.len(), name.tile_extent.as_deref()),
        (CellValNum::Var, 0, None)
    );
    assert!(decode(SPARSE).allows_dups);
    assert_eq!(decode(LABELS).dimension_labels[0].uri, b"__labels/l0");
}

#[test]
fn refuses_what_the_version_cannot_say() {
    for (since, version) in [(22, 21), (20, 19), (18, 17), (7, 6), (5, 4)] {
        let schema = ArraySchema { version, ..rich(since) };
        let e = crate::format::encode_all(&schema, &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument, "version {since} as {version}");
    }
    let schema = ArraySchema { version: 24, ..rich(22) };
    assert!(crate::format::encode_all(&schema, &()).is_err());
}

#[test]
fn versions_of_the_future_are_refused_by_name() {
    for version in [0, 24, u32::MAX] {
        let e = ArraySchema::decode(&mut Decoder::new("Array Schema", 0, &version.to_le_bytes()), &())
            .unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert_eq!(e.detail(), format!("version {version}, expected 1 to 23"));
    }
}

#[test]
fn rejects_more_attributes_than_fit_before_it_allocates() {
    let mut bytes = crate::format::encode_all(&ArraySchema { attributes: vec![], ..rich(4) }, &()).unwrap();
    let at = bytes.len() - 4;
    bytes[at..].fill(0xff);
    let e = ArraySchema::decode(&mut Decoder::new("t", 0, &bytes), &()).unwrap_err();
    assert_eq!(e.detail(), "4294967295 items do not fit in 0 bytes");
}
