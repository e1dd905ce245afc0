//! The global order of cells that are sorted in parts.

use super::written::{attribute, dimension, schema};
use hyperslab_core::Result;
use hyperslab_tiledb::format::array_schema::{ArraySchema, Dimension};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::write::order::CellSorter;
use hyperslab_tiledb::write::sparse::Column;
use proptest::prelude::*;

fn of(dimensions: Vec<Dimension>, order: Layout, allows_dups: bool) -> ArraySchema {
    let own = schema(ArrayType::Sparse, dimensions, vec![attribute("a", DataType::Int32)]);
    let tile_order = if order == Layout::Hilbert { Layout::RowMajor } else { order };
    ArraySchema { allows_dups, cell_order: order, tile_order, ..own }
}

fn numbers(coordinates: impl Iterator<Item = i64>) -> Column {
    Column { values: coordinates.flat_map(i64::to_le_bytes).collect(), ..Column::default() }
}

fn texts(coordinates: &[&str]) -> Column {
    let ends = coordinates.iter().scan(0, |end, text| {
        let start = *end;
        *end += text.len() as u64;
        Some(start)
    });
    Column { values: coordinates.concat().into_bytes(), offsets: ends.collect(), validity: Vec::new() }
}

fn text_dimension(name: &str) -> Dimension {
    Dimension {
        data_type: DataType::StringAscii,
        cell_val_num: CellValNum::Var,
        domain: Vec::new(),
        tile_extent: None,
        ..dimension(name, (0, 0), 1)
    }
}

fn sorted(schema: &ArraySchema, columns: &[Column], count: usize, parts: usize) -> Result<Vec<u32>> {
    let sorter = CellSorter::new(schema, columns, count)?;
    let parts =
        sorter.parts(parts).into_iter().map(|part| sorter.sorted(part)).collect::<Result<Vec<_>>>()?;
    sorter.merged(&parts)
}

proptest! {
    /// Narrow domains have short keys, wide ones long keys.
    #[test]
    fn numbers_are_in_the_order_of_their_tiles_and_then_of_themselves(
        cells in prop::collection::vec((-300..300_i64, -7..9_i64, 0..4_i64), 1..60),
        is_wide in any::<bool>(),
        is_column_major in any::<bool>(),
        parts in 1..5_usize,
    ) {
        let extents = [37, 5, 3];
        let domains = match is_wide {
            true => [(-300, i64::MAX - 1000); 3],
            false => [(-300, 300), (-7, 9), (0, 4)],
        };
        let dimensions = domains.iter().zip(extents).map(|(domain, extent)| dimension("d", *domain, extent));
        let order = if is_column_major { Layout::ColMajor } else { Layout::RowMajor };
        let schema = of(dimensions.collect(), order, true);
        let columns = [
            numbers(cells.iter().map(|cell| cell.0)),
            numbers(cells.iter().map(|cell| cell.1)),
            numbers(cells.iter().map(|cell| cell.2)),
        ];
        let key = |cell: &u32| {
            let (x, y, z) = cells[*cell as usize];
            let own = [x, y, z];
            let tile = |at: usize| (own[at] - domains[at].0) / extents[at];
            let mut tiles = [tile(0), tile(1), tile(2)];
            let mut coordinates = own;
            if is_column_major {
                tiles.reverse();
                coordinates.reverse();
            }
            (tiles, coordinates, *cell)
        };
        let mut expected: Vec<u32> = (0..).take(cells.len()).collect();
        expected.sort_by_key(key);
        prop_assert_eq!(sorted(&schema, &columns, cells.len(), parts).unwrap(), expected);
    }

    #[test]
    fn parts_do_not_matter(
        cells in prop::collection::vec((0..1000_i64, 0..1000_i64, "[ab]{0,3}"), 1..40),
        parts in 2..6_usize,
    ) {
        let (x, y) = (numbers(cells.iter().map(|cell| cell.0)), numbers(cells.iter().map(|cell| cell.1)));
        let names: Vec<&str> = cells.iter().map(|cell| cell.2.as_str()).collect();
        let two = || [dimension("x", (0, 999), 10), dimension("y", (0, 999), 10)];
        let curve = of(two().into(), Layout::Hilbert, true);
        let columns = [x.clone(), y];
        prop_assert_eq!(
            sorted(&curve, &columns, cells.len(), parts).unwrap(),
            sorted(&curve, &columns, cells.len(), 1).unwrap()
        );
        let named = of(vec![text_dimension("name"), dimension("x", (0, 999), 1000)], Layout::RowMajor, true);
        let mut expected: Vec<u32> = (0..).take(cells.len()).collect();
        expected.sort_by_key(|cell| (names[*cell as usize], cells[*cell as usize].0));
        prop_assert_eq!(sorted(&named, &[texts(&names), x], cells.len(), parts).unwrap(), expected);
    }
}

#[test]
fn cells_with_equal_coordinates_are_found_in_other_parts_too() {
    let columns = [numbers([4, 9, 2, 4].into_iter())];
    let once = of(vec![dimension("x", (0, 9), 3)], Layout::RowMajor, false);
    for parts in 1..5 {
        let e = sorted(&once, &columns, 4, parts).unwrap_err();
        assert_eq!(e.detail(), "two cells at (4), but the array allows no duplicates");
    }
    let twice = ArraySchema { allows_dups: true, ..once };
    assert_eq!(sorted(&twice, &columns, 4, 3).unwrap(), [2, 0, 3, 1]);
}

#[test]
fn cells_at_both_zeros_are_two() {
    let number = |number: f64| number.to_le_bytes();
    let axis = |name| Dimension {
        data_type: DataType::Float64,
        domain: [number(-9.0), number(9.0)].concat(),
        tile_extent: None,
        ..dimension(name, (0, 0), 1)
    };
    let column = |numbers: &[f64]| Column {
        values: numbers.iter().copied().flat_map(number).collect(),
        ..Column::default()
    };
    // Keys of one dimension are short, keys of two are not.
    let short = of(vec![axis("x")], Layout::RowMajor, false);
    let long = of(vec![axis("x"), axis("y")], Layout::RowMajor, false);
    for parts in 1..4 {
        let both = [-0.0, 1.0, 0.0];
        assert_eq!(sorted(&short, &[column(&both)], 3, parts).unwrap(), [0, 2, 1]);
        assert_eq!(sorted(&long, &[column(&both), column(&[3.0; 3])], 3, parts).unwrap(), [0, 2, 1]);
        let again = [-0.0, 0.0, -0.0];
        let e = sorted(&short, &[column(&again)], 3, parts).unwrap_err();
        assert_eq!(e.detail(), "two cells at (-0), but the array allows no duplicates");
        assert!(sorted(&long, &[column(&again), column(&[3.0; 3])], 3, parts).is_err());
    }
}

#[test]
fn coordinates_outside_of_the_domain_are_refused() {
    let schema = of(vec![dimension("x", (0, 9), 3), text_dimension("name")], Layout::RowMajor, false);
    let columns = [numbers([4, -3, 10].into_iter()), texts(&["a", "b", "c"])];
    let e = sorted(&schema, &columns, 3, 1).unwrap_err();
    assert_eq!(e.detail(), "coordinate -3 of dimension \"x\", the domain is from 0 to 9");
    let e = sorted(&schema, &columns, 4, 1).unwrap_err();
    assert_eq!(e.detail(), "a column with fewer cells than others");
}

#[test]
fn some_cells_of_a_column_are_gathered_in_any_order() {
    let column = |size: u8| Column {
        values: (0..5).flat_map(|cell| (0..size).map(move |byte| 10 * cell + byte)).collect(),
        validity: vec![1, 0, 1, 0, 1],
        ..Column::default()
    };
    let mut found = Column::default();
    for size in 1..=9 {
        for cells in [&[3, 1, 1][..], &[1, 2, 3], &[]] {
            column(size).gather(usize::from(size), cells, &mut found).unwrap();
            let values =
                cells.iter().flat_map(|cell| (0..size).map(|byte| 10 * u8::try_from(*cell).unwrap() + byte));
            assert_eq!(found.values, values.collect::<Vec<_>>());
            assert_eq!(found.validity, cells.iter().map(|cell| u8::from(*cell % 2 == 0)).collect::<Vec<_>>());
        }
        assert!(column(size).gather(usize::from(size), &[2, 5], &mut found).is_err());
    }
    texts(&["one", "", "two"]).gather(0, &[2, 0, 1, 2], &mut found).unwrap();
    assert_eq!((found.values, found.offsets), (b"twoonetwo".to_vec(), vec![0, 3, 6, 6]));
}
