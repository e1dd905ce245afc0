//! Domain.
//!
//! Spec: TileDB format_spec, array_schema.md "Domain"

use super::Dimension;
use super::dimension::{self, DimensionContext};
use crate::format::Structure;
use crate::format::data_type::DataType;
use crate::format::fragment_metadata::mbr::CoordinateSize;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The dimensions of an array, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The dimensions. Before version 5, all have the same datatype.
    pub dimensions: Vec<Dimension>,
}

impl Domain {
    /// How coordinates of each dimension are stored.
    pub fn coordinate_sizes(&self) -> Vec<CoordinateSize> {
        self.dimensions.iter().map(Dimension::coordinate_size).collect()
    }

    fn common_data_type(&self) -> Result<DataType> {
        let mut data_types = self.dimensions.iter().map(|dimension| dimension.data_type);
        match data_types.next() {
            Some(first) if data_types.all(|other| other == first) => Ok(first),
            _ => Err(Error::invalid("dimensions of several datatypes before version 5")),
        }
    }
}

impl Structure for Domain {
    /// The format version.
    type Context = u32;
    const NAME: &'static str = "Domain";

    fn decode(d: &mut Decoder<'_>, version: &u32) -> Result<Self> {
        let domain_type = match *version < 5 {
            true => Some(DataType::decode(d, &())?),
            false => None,
        };
        let context = DimensionContext { version: *version, domain_type };
        let at = d.clone();
        let count = u64::from(d.u32()?);
        if count == 0 {
            return Err(at.malformed("0 dimensions, expected at least 1"));
        }
        let count = d.count(count, dimension::MIN_LEN)?;
        let dimensions = (0..count).map(|_| Dimension::decode(d, &context)).collect::<Result<_>>()?;
        Ok(Domain { dimensions })
    }

    fn encode(&self, e: &mut Encoder, version: &u32) -> Result<()> {
        if self.dimensions.is_empty() {
            return Err(Error::invalid("0 dimensions, expected at least 1"));
        }
        let mut context = DimensionContext { version: *version, domain_type: None };
        if *version < 5 {
            let domain_type = self.common_data_type()?;
            domain_type.encode(e, &())?;
            context.domain_type = Some(domain_type);
        }
        e.len_as(4, self.dimensions.len())?;
        self.dimensions.iter().try_for_each(|dimension| dimension.encode(e, &context))
    }
}

#[cfg(test)]
mod tests {
    use super::super::dimension::tests::{text, whole_numbers};
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Domain, context: 22,
        golden: [],
        values: [Domain { dimensions: vec![whole_numbers("x"), text("name")] }]);

    mod version_4 {
        use super::*;
        structure_tests!(Domain, context: 4,
            golden: [],
            values: [Domain { dimensions: vec![whole_numbers("x"), whole_numbers("y")] }]);
    }

    #[test]
    fn versions_before_5_have_one_datatype() {
        let other = Dimension { data_type: DataType::UInt32, ..whole_numbers("y") };
        let domain = Domain { dimensions: vec![whole_numbers("x"), other] };
        assert!(domain.encode(&mut Encoder::new(), &4).is_err());
        domain.encode(&mut Encoder::new(), &5).unwrap();
    }

    #[test]
    fn rejects_domains_without_dimensions() {
        let e = Domain::decode(&mut Decoder::new("Domain", 0, &[0; 4]), &5).unwrap_err();
        assert_eq!(e.detail(), "0 dimensions, expected at least 1");
        assert!(Domain { dimensions: Vec::new() }.encode(&mut Encoder::new(), &5).is_err());
    }
}
