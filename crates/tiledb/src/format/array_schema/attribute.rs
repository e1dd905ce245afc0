//! Attribute.
//!
//! Spec: TileDB format_spec, array_schema.md "Attribute", which does not mention the enumeration name

use crate::format::data_type::{CellValNum, DataType};
use crate::format::filter_pipeline::FilterPipeline;
use crate::format::layout::DataOrder;
use crate::format::{Structure, field, version};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// An attribute of an array: one of the values that each cell has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name; empty if it has none.
    pub name: Vec<u8>,
    /// The datatype of values.
    pub data_type: DataType,
    /// The number of values of a cell.
    pub cell_val_num: CellValNum,
    /// The filters of values.
    pub filters: FilterPipeline,
    /// The bytes of a cell that was never written. `None` before version 6: [`DataType::default_fill_value`] applies,
    /// repeated for each value of a cell.
    pub fill_value: Option<Vec<u8>>,
    /// Whether cells can be null. New in version 7.
    pub nullable: bool,
    /// The validity of a cell that was never written: 0 if it is null. New in version 7.
    pub fill_value_validity: u8,
    /// The order of the values. New in version 17.
    pub order: DataOrder,
    /// The name of the enumeration whose values the attribute refers to by index, from 0. New in version 20.
    pub enumeration: Option<Vec<u8>>,
}

impl Attribute {
    /// The size of a cell in bytes; `None` if cells differ in their number of values.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for cells that do not fit in memory.
    pub fn cell_size(&self) -> Result<Option<usize>> {
        let CellValNum::Fixed(values) = self.cell_val_num else { return Ok(None) };
        let size = usize::try_from(values).ok().and_then(|values| values.checked_mul(self.data_type.size()));
        size.map(Some).ok_or_else(|| Error::malformed(format!("{values} values a cell")))
    }

    /// The bytes of a cell that was never written: the fill value, repeated for each value of a cell if it is a single
    /// value.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for a fill value of another size.
    pub fn fill_cell(&self) -> Result<Vec<u8>> {
        let value = self.fill_value.as_deref().unwrap_or_else(|| self.data_type.default_fill_value());
        match self.cell_size()? {
            None => Ok(value.to_vec()),
            Some(size) if value.len() == size => Ok(value.to_vec()),
            Some(size) if value.len() == self.data_type.size() => Ok(value.repeat(size / value.len().max(1))),
            Some(size) => {
                let len = value.len();
                Err(Error::malformed(format!("a fill value of {len} bytes for cells of {size}")))
            }
        }
    }
}

impl Structure for Attribute {
    /// The format version.
    type Context = u32;
    const NAME: &'static str = "Attribute";

    fn decode(d: &mut Decoder<'_>, version: &u32) -> Result<Self> {
        let name = field::bytes32(d)?;
        let data_type = DataType::decode(d, &())?;
        let cell_val_num = CellValNum::decode(d, &())?;
        let filters = FilterPipeline::decode(d, version)?;
        let fill_value = match *version >= 6 {
            true => Some(fill_value(d)?),
            false => None,
        };
        let (nullable, fill_value_validity) = match *version >= 7 {
            true => (field::boolean(d, "nullable")?, d.u8()?),
            false => (false, 0),
        };
        let order = match *version >= 17 {
            true => DataOrder::decode(d, &())?,
            false => DataOrder::Unordered,
        };
        let enumeration = match *version >= 20 {
            true => Some(field::bytes32(d)?).filter(|name| !name.is_empty()),
            false => None,
        };
        Ok(Attribute {
            name,
            data_type,
            cell_val_num,
            filters,
            fill_value,
            nullable,
            fill_value_validity,
            order,
            enumeration,
        })
    }

    fn encode(&self, e: &mut Encoder, version: &u32) -> Result<()> {
        version::requires(6, *version, self.fill_value.is_some(), "fill values")?;
        version::requires(7, *version, self.nullable, "nullable attributes")?;
        version::requires(7, *version, self.fill_value_validity != 0, "validities of fill values")?;
        version::requires(17, *version, self.order != DataOrder::Unordered, "ordered attributes")?;
        version::requires(20, *version, self.enumeration.is_some(), "enumerations")?;
        field::put_bytes32(e, &self.name)?;
        self.data_type.encode(e, &())?;
        self.cell_val_num.encode(e, &())?;
        self.filters.encode(e, version)?;
        if *version >= 6 {
            match self.fill_value.as_deref() {
                None | Some([]) => {
                    return Err(Error::invalid("an attribute without a fill value since version 6"));
                }
                Some(value) => field::put_bytes64(e, value),
            }
        }
        if *version >= 7 {
            field::put_boolean(e, self.nullable);
            e.u8(self.fill_value_validity);
        }
        if *version >= 17 {
            self.order.encode(e, &())?;
        }
        if *version >= 20 {
            let name = self.enumeration.as_deref();
            if name == Some(&[]) {
                return Err(Error::invalid("an enumeration without a name"));
            }
            field::put_bytes32(e, name.unwrap_or_default())?;
        }
        Ok(())
    }
}

fn fill_value(d: &mut Decoder<'_>) -> Result<Vec<u8>> {
    let at = d.clone();
    let value = field::bytes64(d)?;
    match value.is_empty() {
        true => Err(at.malformed("a fill value of 0 bytes")),
        false => Ok(value),
    }
}

/// The length of the name, the datatype, the number of values and a pipeline without filters: the minimum of version 1.
pub(super) const MIN_LEN: usize = 4 + 1 + 4 + 8;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    pub(crate) fn numbers(version: u32) -> Attribute {
        Attribute {
            name: b"a".to_vec(),
            data_type: DataType::Int16,
            cell_val_num: CellValNum::Fixed(2),
            filters: FilterPipeline::default(),
            fill_value: (version >= 6).then(|| vec![0, 0x80, 0, 0x80]),
            nullable: version >= 7,
            fill_value_validity: u8::from(version >= 7),
            order: if version >= 17 { DataOrder::Decreasing } else { DataOrder::Unordered },
            enumeration: (version >= 20).then(|| b"colours".to_vec()),
        }
    }

    structure_tests!(Attribute, context: 22,
        golden: [
            include_str!("../../../tests/golden/attribute_nullable.hex"),
            include_str!("../../../tests/golden/attribute_enumeration.hex"),
        ],
        values: [numbers(22), Attribute { cell_val_num: CellValNum::Var, enumeration: None, ..numbers(22) }]);

    macro_rules! versions {
        ($($name:ident $version:literal),*) => {$(
            mod $name {
                use super::*;
                structure_tests!(Attribute, context: $version, golden: [], values: [numbers($version)]);
            }
        )*};
    }
    versions!(version_1 1, version_5 5, version_6 6, version_7 7, version_16 16, version_17 17, version_19 19, version_20 20);

    #[test]
    fn refuses_what_the_version_cannot_say() {
        for (has, cannot) in [(20, 19), (17, 16), (7, 6), (6, 5), (5, 6)] {
            let e = numbers(has).encode(&mut Encoder::new(), &cannot);
            assert!(e.is_err(), "an attribute of version {has} in version {cannot}");
        }
        let e = numbers(7).encode(&mut Encoder::new(), &6).unwrap_err();
        assert_eq!(e.detail(), "nullable attributes in version 6, which exist since version 7");
    }

    #[test]
    fn rejects_fill_values_without_bytes() {
        let attribute = Attribute { fill_value: Some(Vec::new()), ..numbers(6) };
        assert!(attribute.encode(&mut Encoder::new(), &6).is_err());
        let bytes = [&[0; 4][..], &[0], &[1, 0, 0, 0], &[0; 8], &[0; 8]].concat();
        let e = Attribute::decode(&mut Decoder::new("Attribute", 0, &bytes), &6).unwrap_err();
        assert_eq!(e.to_string(), "malformed Attribute at byte 0x11: a fill value of 0 bytes");
    }
}
