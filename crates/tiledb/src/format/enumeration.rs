//! Enumeration: the values that an attribute refers to by index. New in version 20.
//!
//! Spec: TileDB format_spec, enumeration.md, which does not mention the name and the path

use super::data_type::{CellValNum, DataType};
use super::{Structure, field};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The body of the generic tile in a file of the folder `__schema/__enumerations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// The name.
    pub name: Vec<u8>,
    /// The name of the file itself.
    pub path: Vec<u8>,
    /// The datatype of a value.
    pub data_type: DataType,
    /// The number of values of the datatype in each value of the enumeration.
    pub cell_val_num: CellValNum,
    /// Whether the order of the values has a meaning.
    pub ordered: bool,
    /// The values, one after another.
    pub data: Vec<u8>,
    /// The offset of each value in the data, if they have variable size.
    pub offsets: Option<Vec<u64>>,
}

impl Structure for Enumeration {
    type Context = ();
    const NAME: &'static str = "Enumeration";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        let version = d.u32()?;
        if version != VERSION {
            return Err(at.unsupported(format!("enumeration of version {version}, expected {VERSION}")));
        }
        let name = field::bytes32(d)?;
        let path = field::bytes32(d)?;
        let data_type = DataType::decode(d, &())?;
        let cell_val_num = CellValNum::decode(d, &())?;
        let ordered = field::boolean(d, "ordered")?;
        let data = field::bytes64(d)?;
        let offsets = match cell_val_num.is_var() {
            true => Some(field::offsets(d)?),
            false => None,
        };
        Ok(Enumeration { name, path, data_type, cell_val_num, ordered, data, offsets })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        if self.offsets.is_some() != self.cell_val_num.is_var() {
            return Err(Error::invalid(
                "offsets and values of fixed size, or values of variable size without offsets",
            ));
        }
        e.u32(VERSION);
        field::put_bytes32(e, &self.name)?;
        field::put_bytes32(e, &self.path)?;
        self.data_type.encode(e, &())?;
        self.cell_val_num.encode(e, &())?;
        field::put_boolean(e, self.ordered);
        field::put_bytes64(e, &self.data);
        if let Some(offsets) = &self.offsets {
            field::put_offsets(e, offsets);
        }
        Ok(())
    }
}

impl Enumeration {
    /// An enumeration with these values, whose file has no name yet.
    pub fn of_values(
        name: Vec<u8>,
        data_type: DataType,
        cell_val_num: CellValNum,
        ordered: bool,
        values: &[Vec<u8>],
    ) -> Enumeration {
        let starts = values.iter().scan(0_u64, |end, value| {
            let start = *end;
            *end = end.saturating_add(value.len() as u64);
            Some(start)
        });
        let offsets = cell_val_num.is_var().then(|| starts.collect());
        Enumeration {
            name,
            path: Vec::new(),
            data_type,
            cell_val_num,
            ordered,
            offsets,
            data: values.concat(),
        }
    }

    /// The bytes of each value. `None` if they cannot be cut into values: if offsets decrease or exceed the end, or the
    /// last value is cut short.
    pub fn values(&self) -> Option<impl Iterator<Item = &[u8]>> {
        let size = match self.cell_val_num {
            CellValNum::Fixed(values) => usize::try_from(values).ok()?.checked_mul(self.data_type.size())?,
            CellValNum::Var => 0,
        };
        let ends: Vec<usize> = match &self.offsets {
            Some(offsets) => {
                let next = offsets.iter().skip(1).map(|end| usize::try_from(*end).ok());
                let is_first = offsets.first().is_none_or(|first| *first == 0);
                let last = (!offsets.is_empty()).then_some(Some(self.data.len()));
                next.chain(last).collect::<Option<_>>().filter(|_| is_first)?
            }
            None if size == 0 || !self.data.len().is_multiple_of(size) => return None,
            None => (1..=self.data.len() / size).map(|count| count * size).collect(),
        };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let values: Option<Vec<&[u8]>> =
            starts.zip(&ends).map(|(start, end)| self.data.get(start..*end)).collect();
        values.map(Vec::into_iter)
    }
}

const VERSION: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn fixed() -> Enumeration {
        Enumeration {
            name: b"levels".to_vec(),
            path: b"__0_0".to_vec(),
            data_type: DataType::Int16,
            cell_val_num: CellValNum::ONE,
            ordered: true,
            data: vec![1, 0, 5, 0],
            offsets: None,
        }
    }

    structure_tests!(Enumeration, context: (),
        golden: [include_str!("../../tests/golden/enumeration.hex")],
        values: [fixed(), Enumeration { cell_val_num: CellValNum::Var, offsets: Some(vec![0, 2]), ..fixed() }]);

    #[test]
    fn only_values_of_variable_size_have_offsets() {
        let e = Enumeration { offsets: Some(vec![0]), ..fixed() };
        assert!(e.encode(&mut Encoder::new(), &()).is_err());
        let e = Enumeration { cell_val_num: CellValNum::Var, ..fixed() };
        assert!(e.encode(&mut Encoder::new(), &()).is_err());
    }

    #[test]
    fn rejects_parts_of_offsets() {
        let var = Enumeration { cell_val_num: CellValNum::Var, offsets: Some(vec![0]), ..fixed() };
        let mut bytes = crate::format::encode_all(&var, &()).unwrap();
        let at = bytes.len() - 16;
        bytes[at] = 7;
        let e = Enumeration::decode(&mut Decoder::new("Enumeration", 0, &bytes), &()).unwrap_err();
        assert_eq!(e.detail(), "7 bytes of offsets, expected a multiple of 8");
    }
}
