//! Adds cells to arrays of older versions of the format.

use crate::written::{
    Place, attribute, cells, dimension, key, options, schema, texts, two_by_two, write_dense,
};
use hyperslab_core::Limits;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_tiledb::format::array_schema::{ArraySchema, Attribute, Dimension};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::filter_pipeline::Filter;
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::read::IndexBox;
use hyperslab_tiledb::read::sparse::{SparseField, SparseRequest};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};

fn opened(place: &Place, name: &str) -> ArrayWriter {
    let limits = Limits::default();
    ArrayWriter::open(place.writable(), place.readable(), &key(name), limits, options()).unwrap()
}

#[test]
fn dense_fragments_have_the_version_of_their_array() {
    for version in 7..=22 {
        let (place, name) = (Place::new(), format!("dense_v{version}"));
        let mut own = ArraySchema { version, ..two_by_two(Layout::RowMajor) };
        // A name that not every system allows for a file: versions before 9 encode it.
        own.attributes.push(attribute("per cent%", DataType::Int16));
        ArrayWriter::create(place.writable(), &key(&name), own, Vec::new(), 10, options()).unwrap();
        let of = |attribute: usize, begin: &[u64], count: &[u64]| match attribute {
            2 => {
                let values = (0..count[0] * count[1]).flat_map(|_| [7; 2]).collect();
                Column { values, ..Column::default() }
            }
            attribute => cells(attribute, begin, count),
        };
        write_dense(&opened(&place, &name), 11, IndexBox { first: vec![0, 0], last: vec![9, 9] }, &of);
        write_dense(&opened(&place, &name), 12, IndexBox { first: vec![2, 1], last: vec![5, 7] }, &of);
        place.check(&name);
        let array = place.open(&name);
        assert_eq!(array.fragments().unwrap().len(), 2);
        assert!(array.fragments().unwrap().iter().all(|fragment| fragment.version() == version));
        let (mut read, region) = (vec![0; 400], Region::all(&[10, 10]));
        array.read_dense(0, &region, &mut Planes::whole(&mut read), None).unwrap();
        assert_eq!(read, cells(0, &[0, 0], &[10, 10]).values);
        let mut validity = vec![0; 100];
        array.read_dense_var(1, &region, Some(&mut validity)).unwrap();
        assert_eq!(validity, cells(1, &[0, 0], &[10, 10]).validity);
    }
}

#[test]
fn sparse_fragments_have_the_version_of_their_array() {
    for version in 7..=22 {
        let (place, name) = (Place::new(), format!("sparse_v{version}"));
        let named = Dimension {
            name: b"station".to_vec(),
            data_type: DataType::StringAscii,
            cell_val_num: CellValNum::Var,
            domain: Vec::new(),
            tile_extent: None,
            ..dimension("station", (0, 9), 1)
        };
        let packed = Attribute {
            filters: crate::written::pipeline(vec![Filter::BitWidthReduction { max_window: 256 }]),
            ..attribute("when", DataType::DatetimeSec)
        };
        let repeated = Attribute {
            filters: crate::written::pipeline(vec![Filter::Rle { level: -1 }]),
            ..texts("repeated")
        };
        let attributes = vec![attribute("number", DataType::Float64), texts("text"), packed, repeated];
        let own = ArraySchema {
            version,
            ..schema(ArrayType::Sparse, vec![dimension("x", (-50, 49), 10), named], attributes)
        };
        ArrayWriter::create(place.writable(), &key(&name), own, Vec::new(), 10, options()).unwrap();
        let writer = opened(&place, &name);
        let count = 25_i64;
        let numbers: Vec<i64> = (0..count).map(|n| n * 7 % 25 - 12).collect();
        let values = |of: &dyn Fn(i64) -> Vec<u8>| numbers.iter().flat_map(|n| of(*n)).collect::<Vec<u8>>();
        let text = |of: &dyn Fn(i64) -> String, nullable: bool| {
            let mut column = Column::default();
            for n in &numbers {
                column.offsets.push(column.values.len() as u64);
                column.values.extend(of(*n).bytes());
                if nullable {
                    column.validity.push(u8::from(n % 4 != 0));
                }
            }
            column
        };
        let columns = vec![
            Column { values: values(&|n| n.to_le_bytes().to_vec()), ..Column::default() },
            text(&|n| format!("s{}", n.rem_euclid(3)), false),
            Column { values: values(&|n| (n as f64 / 2.0).to_le_bytes().to_vec()), ..Column::default() },
            text(&|n| "t".repeat(usize::try_from(n.abs()).unwrap()), true),
            Column { values: values(&|n| (n + 1_000_000).to_le_bytes().to_vec()), ..Column::default() },
            text(&|n| "r".repeat(usize::from(n % 2 != 0)), true),
        ];
        let fragment = SparseFragment::of_cells(&writer, 11, &columns, numbers.len()).unwrap();
        writer.commit(&[fragment]).unwrap();
        place.check(&name);
        let array = place.open(&name);
        assert_eq!(array.fragments().unwrap()[0].version(), version);
        let columns = vec![SparseField::Dimension(0), SparseField::Attribute(0), SparseField::Attribute(2)];
        let mut found = Vec::new();
        array
            .read_sparse(&SparseRequest { columns, ..SparseRequest::default() }, &mut |cells| {
                let [x, number, when] =
                    [0, 1, 2].map(|column: usize| cells.columns[column].bytes.as_chunks().0);
                for cell in 0..cells.count {
                    let x = i64::from_le_bytes(x[cell]);
                    assert_eq!(f64::from_le_bytes(number[cell]), x as f64 / 2.0);
                    assert_eq!(i64::from_le_bytes(when[cell]), x + 1_000_000);
                    found.push(x);
                }
                Ok(())
            })
            .unwrap();
        found.sort_unstable();
        assert_eq!(found, (-12..13).collect::<Vec<_>>(), "version {version}");
    }
}
