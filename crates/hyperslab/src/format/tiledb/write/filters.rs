//! Filters of arrays as pipelines.

use super::lowerings::{CHECKSUM, FILTERS, REFUSED};
use crate::format::tiledb::elements::StoredElements;
use crate::format::tiledb::filter;
use crate::target::{Facts, Filters, Losses};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Filter, NodePath, Storage};
use hyperslab_tiledb::filter::{Pipeline, TileType};
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::filter_pipeline::{Filter as StoredFilter, FilterPipeline};

/// The pipeline of an array: its filters, or Zstandard if TileDB does not have one of them.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the user asked for filters that TileDB does not have.
pub(super) fn pipeline(
    path: &NodePath,
    storage: &Storage,
    elements: &StoredElements,
    facts: Facts,
    losses: &mut dyn Losses,
) -> Result<FilterPipeline> {
    let is_asked = facts.filters == Filters::Asked;
    let found = filter::pipeline(&storage.filters, None).or_else(|error| match is_asked {
        true => Err(error),
        false => filter::pipeline(&near(&storage.filters), None),
    });
    let checked = found.and_then(|pipeline| check(&pipeline, elements).map(|()| pipeline));
    let zstd = FilterPipeline {
        max_chunk_size: filter::USUAL_MAX_CHUNK,
        filters: vec![StoredFilter::Zstd { level: -1 }],
    };
    match checked {
        Ok(_) if !facts.fits_filters => {
            losses.note(&REFUSED, path.to_string(), None);
            Ok(zstd)
        }
        Ok(pipeline) => {
            if storage.filters.iter().any(is_checksum) {
                losses.note(&CHECKSUM, path.to_string(), None);
            }
            Ok(pipeline)
        }
        Err(error) if is_asked => Err(Error::invalid(error.detail().to_owned())),
        Err(_) => {
            let names: Vec<&str> = storage.filters.iter().map(|filter| filter.name.as_str()).collect();
            losses.note(&FILTERS, path.to_string(), Some(format!("filters {}", names.join(", "))));
            Ok(zstd)
        }
    }
}

/// Filters of other formats that TileDB has in another form: a checksum becomes MD5, and parameters that describe
/// elements follow from their datatype.
fn near(filters: &[Filter]) -> Vec<Filter> {
    let one = |of: &Filter| match of.name.as_str() {
        _ if is_checksum(of) => Filter { name: "md5".to_owned(), parameters: Vec::new(), ..of.clone() },
        "shuffle" | "bitshuffle" => Filter { parameters: Vec::new(), ..of.clone() },
        _ => of.clone(),
    };
    filters.iter().map(one).collect()
}

fn is_checksum(of: &Filter) -> bool {
    ["fletcher32", "crc32c", "crc32", "adler32", "lookup3"].contains(&of.name.as_str())
}

/// Whether the filters fit the datatype.
fn check(pipeline: &FilterPipeline, elements: &StoredElements) -> Result<()> {
    let version = hyperslab_tiledb::format::version::RELEASED;
    let tile = match elements.cell_val_num {
        CellValNum::Fixed(count) => TileType::fixed(elements.data_type, count, version),
        CellValNum::Var => TileType::variable(elements.data_type, version),
    };
    Pipeline::new(pipeline, &tile).map(|_| ())
}
