//! Array schema: the body of the generic tile in a schema file.
//!
//! Spec: TileDB format_spec, array_schema.md "Array Schema File"

pub mod attribute;
pub mod current_domain;
pub mod dimension;
pub mod dimension_label;
pub mod domain;

pub use attribute::Attribute;
pub use current_domain::CurrentDomain;
pub use dimension::Dimension;
pub use dimension_label::DimensionLabel;
pub use domain::Domain;

use super::filter_pipeline::FilterPipeline;
use super::layout::{ArrayType, Layout};
use super::{Structure, field, version};
use hyperslab_core::{Decoder, Encoder, Result};

/// The structure of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySchema {
    /// The format version. Fragments state their own.
    pub version: u32,
    /// Whether cells of a sparse array may have the same coordinates. New in version 5.
    pub allows_dups: bool,
    /// Dense or sparse.
    pub array_type: ArrayType,
    /// The order of space tiles.
    pub tile_order: Layout,
    /// The order of cells within a tile.
    pub cell_order: Layout,
    /// The number of cells in a data tile of a sparse fragment.
    pub capacity: u64,
    /// The filters of coordinates, for dimensions without filters of their own.
    pub coords_filters: FilterPipeline,
    /// The filters of offsets of cells of variable size.
    pub offsets_filters: FilterPipeline,
    /// The filters of validities. New in version 7.
    pub validity_filters: FilterPipeline,
    /// The dimensions.
    pub domain: Domain,
    /// The attributes. Sparse arrays may have none.
    pub attributes: Vec<Attribute>,
    /// The dimension labels. New in version 18.
    pub dimension_labels: Vec<DimensionLabel>,
    /// The enumerations. New in version 20.
    pub enumerations: Vec<EnumerationFile>,
    /// The part of the domain that may be written, in versions that have one. New in version 22.
    pub current_domain: Option<CurrentDomain>,
}

/// The location of an enumeration. New in version 20.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerationFile {
    /// The name of the enumeration.
    pub name: Vec<u8>,
    /// The name of the file in the folder `__enumerations` next to the schema.
    pub file_name: Vec<u8>,
}

impl Structure for ArraySchema {
    type Context = ();
    const NAME: &'static str = "Array Schema";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let version = version::decode(d)?;
        let allows_dups = version >= 5 && field::boolean(d, "allows dups")?;
        let array_type = ArrayType::decode(d, &())?;
        let tile_order = Layout::decode(d, &())?;
        let cell_order = Layout::decode(d, &())?;
        let capacity = d.u64()?;
        let coords_filters = FilterPipeline::decode(d, &version)?;
        let offsets_filters = FilterPipeline::decode(d, &version)?;
        let validity_filters = match version >= 7 {
            true => FilterPipeline::decode(d, &version)?,
            false => FilterPipeline::default(),
        };
        let domain = Domain::decode(d, &version)?;
        let attributes = list(d, attribute::MIN_LEN, |d| Attribute::decode(d, &version))?;
        let dimension_labels = match version >= 18 {
            true => list(d, dimension_label::MIN_LEN, |d| DimensionLabel::decode(d, &()))?,
            false => Vec::new(),
        };
        let enumerations = match version >= 20 {
            true => list(d, 8, |d| EnumerationFile::decode(d, &()))?,
            false => Vec::new(),
        };
        let current_domain = match version >= 22 {
            true => Some(CurrentDomain::decode(d, &domain.coordinate_sizes())?),
            false => None,
        };
        Ok(ArraySchema {
            version,
            allows_dups,
            array_type,
            tile_order,
            cell_order,
            capacity,
            coords_filters,
            offsets_filters,
            validity_filters,
            domain,
            attributes,
            dimension_labels,
            enumerations,
            current_domain,
        })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        let version = self.version;
        version::check(version)?;
        version::requires(5, version, self.allows_dups, "duplicates")?;
        let has_validity_filters = self.validity_filters != FilterPipeline::default();
        version::requires(7, version, has_validity_filters, "validity filters")?;
        version::requires(18, version, !self.dimension_labels.is_empty(), "dimension labels")?;
        version::requires(20, version, !self.enumerations.is_empty(), "enumerations")?;
        version::requires(22, version, self.current_domain.is_some(), "current domains")?;
        e.u32(version);
        if version >= 5 {
            field::put_boolean(e, self.allows_dups);
        }
        self.array_type.encode(e, &())?;
        self.tile_order.encode(e, &())?;
        self.cell_order.encode(e, &())?;
        e.u64(self.capacity);
        self.coords_filters.encode(e, &version)?;
        self.offsets_filters.encode(e, &version)?;
        if version >= 7 {
            self.validity_filters.encode(e, &version)?;
        }
        self.domain.encode(e, &version)?;
        put_list(e, &self.attributes, &version)?;
        if version >= 18 {
            put_list(e, &self.dimension_labels, &())?;
        }
        if version >= 20 {
            put_list(e, &self.enumerations, &())?;
        }
        if version >= 22 {
            let current = self.current_domain.as_ref().unwrap_or(CurrentDomain::EMPTY);
            current.encode(e, &self.domain.coordinate_sizes())?;
        }
        Ok(())
    }
}

impl Structure for EnumerationFile {
    type Context = ();
    const NAME: &'static str = "Enumeration File";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let name = field::bytes32(d)?;
        let file_name = field::bytes32(d)?;
        Ok(EnumerationFile { name, file_name })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        field::put_bytes32(e, &self.name)?;
        field::put_bytes32(e, &self.file_name)
    }
}

/// Items of at least `min_len` bytes, preceded by their number.
fn list<T>(
    d: &mut Decoder<'_>,
    min_len: usize,
    mut item: impl FnMut(&mut Decoder<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let count = u64::from(d.u32()?);
    let count = d.count(count, min_len)?;
    (0..count).map(|_| item(d)).collect()
}

fn put_list<S: Structure>(e: &mut Encoder, items: &[S], context: &S::Context) -> Result<()> {
    e.len_as(4, items.len())?;
    items.iter().try_for_each(|item| item.encode(e, context))
}

#[cfg(test)]
mod tests;
