//! Values of variables in CDL.

use super::Cdl;
use super::element::{is_fill, push_character, push_value};
use super::library::Variable;
use super::line::Lines;
use super::name::escaped;
use super::types::{Type, Types};
use crate::source::engine::stream;
use hyperslab_core::Result;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, ElementRef, Elements, Float, Text, Values};
use std::sync::Arc;

impl Cdl<'_> {
    /// Writes the values of a variable, unless it has none.
    pub(super) fn values_of(&mut self, variable: &Variable) -> Result<()> {
        let dimensions: Vec<(u64, bool)> = (variable.dimensions.iter())
            .filter_map(|number| self.library.dimensions.get(*number))
            .map(|dimension| (dimension.len, dimension.is_unlimited))
            .collect();
        let extents: Vec<u64> = dimensions.iter().map(|(len, _)| *len).collect();
        if extents.contains(&0) {
            return Ok(());
        }
        let most = self.values.unwrap_or_default();
        match element_count(&extents) {
            Some(count) if count <= most => {}
            count => {
                let count = count.map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string());
                return self.lines.left_out(&format!("{count} values of {}", variable.name));
            }
        }
        match self.read_values(variable, &dimensions, &extents) {
            Err(error) if error.kind() != hyperslab_core::ErrorKind::Io => {
                // A failed read can end in the middle of a line.
                self.lines.put("\n")?;
                self.lines.comment(&format!("values of {}: {error}", variable.name))?;
                self.done.errors.push(error.in_object(&variable.handle.path));
                Ok(())
            }
            done => done,
        }
    }

    fn read_values(
        &mut self,
        variable: &Variable,
        dimensions: &[(u64, bool)],
        extents: &[u64],
    ) -> Result<()> {
        let array = self.source.array(&variable.handle)?;
        if array.extents().is_none() {
            return self.lines.comment(&format!("{}, which has no elements and no shape", variable.name));
        }
        let fill = self.fill_of(variable, array.datatype())?;
        let rank = extents.len();
        let lines = &mut self.lines;
        lines.put("\n")?;
        lines.begin()?;
        lines.put(" ")?;
        lines.put(escaped(&variable.name))?;
        // The length of the stored name: ncdump counts it before escaping.
        let stored = crate::strings::name_bytes(&variable.name).len();
        match rank {
            0 | 1 => {
                lines.put(" = ")?;
                lines.set_column(stored.saturating_add(4));
            }
            _ => {
                lines.put(" =\n  ")?;
                lines.set_column(2);
            }
        }
        let datatype = Arc::clone(array.datatype());
        let mut rows = RowWriter {
            lines,
            types: &self.library.types,
            of: variable.of,
            fill,
            dimensions,
            at: vec![0; rank],
            nuls: 0,
            text: Vec::new(),
        };
        let region = Region::all(array.extents().unwrap_or_default());
        stream(&*array, &region, &mut |_, values| {
            Elements::new(&datatype, values).try_for_each(|element| rows.element(element))
        })
    }

    /// The value that is shown as `_`: that of the attribute, otherwise the default of the type.
    fn fill_of(
        &mut self,
        variable: &Variable,
        datatype: &Arc<Datatype>,
    ) -> Result<Option<(Arc<Datatype>, Values)>> {
        let attributes = self.load_attributes(&variable.handle)?;
        if let Some(Ok(attribute)) = attributes.get(FILL_VALUE) {
            let of = match self.type_of_attribute(attribute) {
                // Variables of fixed-length strings have the type `string`.
                Ok(Type::Char) if variable.of == Type::String => None,
                of => of.ok(),
            };
            let count = Elements::new(&attribute.datatype, &attribute.value).len();
            if of == Some(variable.of) && count == 1 {
                return Ok(Some((Arc::clone(&attribute.datatype), attribute.value.clone())));
            }
        }
        let rows = match variable.of {
            Type::Short => (-32_767_i16).to_ne_bytes().to_vec(),
            Type::Int => (-2_147_483_647_i32).to_ne_bytes().to_vec(),
            Type::UShort => u16::MAX.to_ne_bytes().to_vec(),
            Type::UInt => u32::MAX.to_ne_bytes().to_vec(),
            Type::Int64 => (-9_223_372_036_854_775_806_i64).to_ne_bytes().to_vec(),
            Type::UInt64 => (u64::MAX - 1).to_ne_bytes().to_vec(),
            Type::Float | Type::Double => FLOAT_FILL.to_ne_bytes().to_vec(),
            Type::String => {
                let empty = Datatype::String(Text::Fixed { len: 1, pad: hyperslab_model::Pad::Nul });
                let values = Values { rows: vec![0].into(), heap: Heap::default() };
                return Ok(Some((Arc::new(empty), values)));
            }
            // Any byte can be data, so none is treated as a default fill value.
            Type::Byte | Type::UByte | Type::Char | Type::User(_) => return Ok(None),
        };
        let of = match variable.of {
            Type::Float | Type::Double => Arc::new(Datatype::Float(Float::Double)),
            _ => Arc::clone(datatype),
        };
        Ok(Some((of, Values { rows: rows.into(), heap: Heap::default() })))
    }
}

/// The name of the attribute with the fill value.
const FILL_VALUE: &str = "_FillValue";

/// The default fill value of floating-point numbers, 15 × 2^119.
const FLOAT_FILL: f64 = 9.969_209_968_386_869e36;

/// Writes elements one by one in row-major order.
struct RowWriter<'a, 'o> {
    lines: &'a mut Lines<'o>,
    types: &'a Types,
    of: Type,
    fill: Option<(Arc<Datatype>, Values)>,
    /// The length of each dimension, and whether it is unlimited.
    dimensions: &'a [(u64, bool)],
    /// The index of the next element.
    at: Vec<u64>,
    /// The NULs in the row so far, which other characters may follow.
    nuls: usize,
    text: Vec<u8>,
}

impl RowWriter<'_, '_> {
    fn element(&mut self, element: ElementRef<'_>) -> Result<()> {
        let column = self.at.last().copied().unwrap_or(0);
        let columns = self.dimensions.last().map_or(1, |(len, _)| *len);
        if column == 0 {
            self.begin_row()?;
        }
        let is_last = column.saturating_add(1) >= columns;
        self.text.clear();
        match self.of {
            Type::Char => self.character(element, is_last)?,
            _ => self.value(element)?,
        }
        if is_last {
            self.end_row()?;
        } else if self.of != Type::Char {
            self.text.extend_from_slice(b", ");
            self.lines.unbroken(&self.text)?;
        }
        // The next index; the first dimension never overflows.
        for (at, (len, _)) in self.at.iter_mut().zip(self.dimensions).rev() {
            *at = at.saturating_add(1);
            if *at < *len {
                break;
            }
            *at = 0;
        }
        Ok(())
    }

    fn value(&mut self, element: ElementRef<'_>) -> Result<()> {
        let fill = self.fill.as_ref();
        let fill = fill.and_then(|(datatype, fill)| Elements::new(datatype, fill).next());
        match fill {
            Some(fill) if is_fill(self.of, fill, element) => self.text.push(b'_'),
            _ => push_value(self.types, self.of, element, &mut self.text)?,
        }
        Ok(())
    }

    /// Writes a character. NULs are held back: those at the end of a row are not shown.
    fn character(&mut self, element: ElementRef<'_>, is_last: bool) -> Result<()> {
        match element.row().first().copied().unwrap_or(0) {
            0 => self.nuls = self.nuls.saturating_add(1),
            byte => {
                for _ in 0..std::mem::take(&mut self.nuls) {
                    self.lines.put("\\000")?;
                }
                match byte {
                    b'\n' => self.text.extend_from_slice(b"\\n\",\n    \""),
                    byte => push_character(byte, &mut self.text),
                }
                self.lines.put(&self.text)?;
                self.text.clear();
            }
        }
        if is_last {
            self.nuls = 0;
            self.lines.put("\"")?;
        }
        Ok(())
    }

    /// The unlimited dimensions other than the first one have their records in braces.
    fn begin_row(&mut self) -> Result<()> {
        let inner = self.dimensions.len().saturating_sub(1);
        for (level, (_, is_unlimited)) in self.dimensions.iter().enumerate().skip(1) {
            let starts = self.at.iter().take(inner).skip(level).all(|at| *at == 0);
            if *is_unlimited && starts {
                self.lines.unbroken("{")?;
            }
        }
        if self.of == Type::Char {
            self.lines.put("\"")?;
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        let inner = self.dimensions.len().saturating_sub(1);
        let ends_from = |level: usize| {
            let indexes = self.at.iter().zip(self.dimensions).take(inner).skip(level);
            indexes.into_iter().all(|(at, (len, _))| at.saturating_add(1) >= *len)
        };
        let closed = self.dimensions.iter().enumerate().skip(1);
        let closed = closed.filter(|(level, (_, is_unlimited))| *is_unlimited && ends_from(*level)).count();
        let is_last_row = ends_from(0);
        self.text.extend(std::iter::repeat_n(b'}', closed));
        self.lines.unbroken(&self.text)?;
        if is_last_row {
            self.lines.unbroken(" ;")?;
            self.lines.unbroken("\n")
        } else {
            self.lines.unbroken(",\n")?;
            self.lines.unbroken("  ")
        }
    }
}
