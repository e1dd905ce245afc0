//! The digest of cells of sparse arrays: each column as an array, sorted.

use super::element::{Hashing, head};
use super::{Line, LineContent, failure};
use crate::cells::{CellColumn, CellQuery, CellSource};
use crate::source::{Handle, Source};
use crate::strings::with_slashes;
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;

/// Adds the lines of the cells of a sparse array, or of its column `only`. Returns the paths of the members that are
/// columns, whose elements are not hashed separately. `None` if the group is not a sparse array.
pub(super) fn lines(
    source: &dyn Source,
    group: &Handle,
    only: Option<&str>,
    hashed: &mut dyn FnMut(&NodePath, u64),
    lines: &mut Vec<Line>,
) -> Vec<NodePath> {
    let cells = match source.cells(group) {
        Ok(Some(cells)) => cells,
        Ok(None) => return Vec::new(),
        Err(reason) => {
            lines.push(Line::new(group.path.to_string(), failure("array", &reason)));
            return Vec::new();
        }
    };
    let wanted = cells.columns().iter().enumerate();
    let wanted = wanted.filter(|(_, column)| only.is_none_or(|only| column.name == only));
    let (indexes, columns): (Vec<usize>, Vec<&CellColumn>) = wanted.unzip();
    let hashes = hash(source, &*cells, indexes, &columns, &mut |bytes| hashed(&group.path, bytes));
    let path = |column: &CellColumn| match column.is_dimension {
        true => group.path.child(DIMENSIONS).child(&column.name),
        false => group.path.child(&column.name),
    };
    match hashes {
        Ok(hashes) => lines.extend(columns.iter().zip(hashes).map(|(column, (count, digest))| {
            let (datatype, shape) = (column.datatype.to_string(), Some(vec![count]));
            let content = LineContent::Hashed { kind: "array", datatype, shape, digest };
            Line::new(with_slashes(path(column).as_str()), content)
        })),
        Err(reason) => lines.extend(
            columns
                .iter()
                .map(|column| Line::new(with_slashes(path(column).as_str()), failure("array", &reason))),
        ),
    }
    columns.iter().map(|column| group.path.child(&column.name)).collect()
}

/// The number of cells, and the hash of each of these columns.
fn hash(
    source: &dyn Source,
    cells: &dyn CellSource,
    indexes: Vec<usize>,
    columns: &[&CellColumn],
    hashed: &mut dyn FnMut(u64),
) -> Result<Vec<(u64, blake3::Hash)>> {
    let query = CellQuery { columns: Some(indexes), ..CellQuery::default() };
    let count = cells.count(&query)?;
    let hasher = |column: &&CellColumn| head(&column.datatype.to_string(), Some(&[count]));
    let mut hashers: Vec<_> = columns.iter().map(hasher).collect();
    let hashings: Vec<_> = columns.iter().map(|column| Hashing::new(&column.datatype)).collect();
    let mut found = 0_u64;
    for batch in cells.batches(&query)? {
        let batch = batch?;
        let len = batch.len() as u64;
        for ((column, hashing), hasher) in batch.columns.iter().zip(&hashings).zip(&mut hashers) {
            hashing.hash(source, &column.values, Some(len), hasher)?;
            hashed(column.values.rows.len() as u64);
        }
        found = found.saturating_add(len);
    }
    if found != count {
        return Err(Error::malformed(format!("{found} cells, expected {count}")));
    }
    Ok(hashers.iter().map(|hasher| (count, hasher.finalize())).collect())
}

/// The group that holds the dimensions of a sparse array in a digest.
const DIMENSIONS: &str = "__dim";
