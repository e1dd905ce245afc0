//! Dimension.
//!
//! Spec: TileDB format_spec, array_schema.md "Dimension"

use crate::format::data_type::{CellValNum, DataType};
use crate::format::filter_pipeline::FilterPipeline;
use crate::format::fragment_metadata::mbr::CoordinateSize;
use crate::format::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The name; empty if it has none.
    pub name: Vec<u8>,
    /// The datatype of coordinates. Before version 5, it is that of the domain.
    pub data_type: DataType,
    /// One value per coordinate, or a string. New in version 5.
    pub cell_val_num: CellValNum,
    /// The filters of coordinates. If there are none, those of the schema apply. New in version 5.
    pub filters: FilterPipeline,
    /// The smallest and the largest coordinate, one after the other. Empty for strings, which have no bounds.
    pub domain: Vec<u8>,
    /// The length of a space tile, as a value of the datatype.
    pub tile_extent: Option<Vec<u8>>,
}

/// What the bytes of a dimension do not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimensionContext {
    /// The format version.
    pub version: u32,
    /// The datatype of the domain, in versions before 5.
    pub domain_type: Option<DataType>,
}

impl Dimension {
    /// How coordinates are stored in ranges.
    pub fn coordinate_size(&self) -> CoordinateSize {
        match self.cell_val_num {
            CellValNum::Var => CoordinateSize::Var,
            CellValNum::Fixed(_) => CoordinateSize::Fixed(self.data_type.size()),
        }
    }
}

impl Structure for Dimension {
    type Context = DimensionContext;
    const NAME: &'static str = "Dimension";

    fn decode(d: &mut Decoder<'_>, context: &DimensionContext) -> Result<Self> {
        let name = field::bytes32(d)?;
        let (data_type, cell_val_num, filters, domain_size) = match context.domain_type {
            Some(data_type) => {
                (data_type, CellValNum::ONE, FilterPipeline::default(), 2 * data_type.size() as u64)
            }
            None => {
                let data_type = DataType::decode(d, &())?;
                let cell_val_num = CellValNum::decode(d, &())?;
                let filters = FilterPipeline::decode(d, &context.version)?;
                (data_type, cell_val_num, filters, d.u64()?)
            }
        };
        let domain = field::bytes(d, domain_size)?;
        let tile_extent = match field::boolean(d, "null tile extent")? {
            true => None,
            false => Some(d.take(data_type.size())?.to_vec()),
        };
        Ok(Dimension { name, data_type, cell_val_num, filters, domain, tile_extent })
    }

    fn encode(&self, e: &mut Encoder, context: &DimensionContext) -> Result<()> {
        field::put_bytes32(e, &self.name)?;
        match context.domain_type {
            Some(data_type) => self.check_before_version_5(data_type)?,
            None => {
                self.data_type.encode(e, &())?;
                self.cell_val_num.encode(e, &())?;
                self.filters.encode(e, &context.version)?;
                e.u64(self.domain.len() as u64);
            }
        }
        e.bytes(&self.domain);
        field::put_boolean(e, self.tile_extent.is_none());
        let Some(extent) = &self.tile_extent else { return Ok(()) };
        let size = self.data_type.size();
        if extent.len() != size {
            return Err(Error::invalid(format!("a tile extent of {} bytes, expected {size}", extent.len())));
        }
        e.bytes(extent);
        Ok(())
    }
}

impl Dimension {
    fn check_before_version_5(&self, data_type: DataType) -> Result<()> {
        let has_new = self.cell_val_num != CellValNum::ONE || self.filters != FilterPipeline::default();
        if self.data_type != data_type || has_new {
            return Err(Error::invalid("a dimension with its own datatype or filters before version 5"));
        }
        let (len, size) = (self.domain.len(), 2 * data_type.size());
        match len == size {
            true => Ok(()),
            false => Err(Error::invalid(format!("a domain of {len} bytes, expected {size}"))),
        }
    }
}

/// The length of the name, two coordinates of one byte, and the null tile extent: the minimum of version 1.
pub(super) const MIN_LEN: usize = 4 + 2 + 1;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    pub(crate) fn whole_numbers(name: &str) -> Dimension {
        Dimension {
            name: name.into(),
            data_type: DataType::Int32,
            cell_val_num: CellValNum::ONE,
            filters: FilterPipeline::default(),
            domain: [1_i32, 100].map(i32::to_le_bytes).as_flattened().to_vec(),
            tile_extent: Some(10_i32.to_le_bytes().to_vec()),
        }
    }

    pub(crate) fn text(name: &str) -> Dimension {
        Dimension {
            name: name.into(),
            data_type: DataType::StringAscii,
            cell_val_num: CellValNum::Var,
            filters: FilterPipeline::default(),
            domain: Vec::new(),
            tile_extent: None,
        }
    }

    structure_tests!(Dimension, context: DimensionContext { version: 22, domain_type: None },
        golden: [
            include_str!("../../../tests/golden/dimension.hex"),
            include_str!("../../../tests/golden/dimension_string.hex"),
        ],
        values: [whole_numbers("x"), text("name"), whole_numbers("")]);

    mod version_4 {
        use super::*;
        structure_tests!(Dimension, context: DimensionContext { version: 4, domain_type: Some(DataType::Int32) },
            golden: ["01000000 78 01000000 64000000 00 0a000000"],
            values: [whole_numbers("rows")]);

        #[test]
        fn refuses_what_only_later_versions_can_say() {
            let context = DimensionContext { version: 4, domain_type: Some(DataType::Int32) };
            for dimension in [text("x"), Dimension { domain: vec![0; 4], ..whole_numbers("x") }] {
                assert!(dimension.encode(&mut Encoder::new(), &context).is_err(), "{dimension:?}");
            }
        }
    }

    #[test]
    fn refuses_tile_extents_of_another_size() {
        let dimension = Dimension { tile_extent: Some(vec![1; 8]), ..whole_numbers("x") };
        let context = DimensionContext { version: 22, domain_type: None };
        let e = dimension.encode(&mut Encoder::new(), &context).unwrap_err();
        assert_eq!(e.detail(), "a tile extent of 8 bytes, expected 4");
    }
}
