//! Headers with elements, and what must be read from the written file.

use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::storage::{ReadAt, WritableMemory};
use hyperslab_core::{Limits, Result};
use hyperslab_netcdf3::{DataType, Definition, File, Header, Writer, to_native};
use std::sync::Arc;

/// The content that a file is given.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) header: Header,
    /// The elements of each variable in native byte order; `None` for those that are not written.
    pub(crate) elements: Vec<Option<Vec<u8>>>,
}

impl Content {
    /// Elements from a seed, for those variables of a header that `is_written` accepts.
    pub(crate) fn new(header: Header, seed: u64, is_written: impl Fn(usize) -> bool) -> Content {
        let mut state = seed;
        let shapes: Vec<_> = (0..header.variables.len()).map(|number| shape(&header, number)).collect();
        let of = header.variables.iter().zip(shapes).enumerate();
        let elements = of.map(|(number, (variable, shape))| {
            let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
            let rows = (0..count).flat_map(|_| number_of(variable.data_type, next(&mut state)));
            let rows: Vec<u8> = rows.collect();
            is_written(number).then_some(rows)
        });
        Content { elements: elements.collect(), header }
    }

    pub(crate) fn definition(&self) -> Definition {
        Definition::new(self.header.clone(), &default_fill).unwrap()
    }

    /// Writes the file, each variable in one part.
    pub(crate) fn write(&self) -> Vec<u8> {
        self.write_by(|writer, number, rows| {
            let shape = writer.definition().layout(number).unwrap().shape.clone();
            writer.write_part(number, &Region::all(&shape), rows).unwrap();
        })
    }

    /// Writes the file, using `write` for each variable.
    pub(crate) fn write_by(&self, write: impl Fn(&Writer, usize, &[u8])) -> Vec<u8> {
        let storage = Arc::new(WritableMemory::default());
        let writer = self.definition().begin(storage.clone()).unwrap();
        for (number, rows) in self.elements.iter().enumerate() {
            if let Some(rows) = rows {
                write(&writer, number, rows);
            }
        }
        writer.finish().unwrap();
        storage.to_vec()
    }

    /// The elements of a variable in the file: those that were not written have the fill value.
    pub(crate) fn expected(&self, number: usize) -> Vec<u8> {
        let definition = self.definition();
        let layout = definition.layout(number).unwrap();
        let count = usize::try_from(layout.shape.iter().product::<u64>()).unwrap();
        let mut fill = definition.fill(number).unwrap().repeat(count);
        to_native(&mut fill, layout.element);
        self.elements[number].clone().unwrap_or(fill)
    }
}

pub(crate) fn open(storage: impl ReadAt + 'static) -> Result<File> {
    File::open(Box::new(storage), &Limits::default())
}

/// All elements of a variable.
pub(crate) fn read(file: &File, variable: usize) -> Result<Vec<u8>> {
    let layout = file.layout(variable)?;
    read_part(file, variable, &Region::all(&layout.shape))
}

pub(crate) fn read_part(file: &File, variable: usize, region: &Region) -> Result<Vec<u8>> {
    let layout = file.layout(variable)?;
    let mut rows = vec![0; region.bytes(layout.element)?];
    file.read_part(&layout, region, &mut Planes::whole(&mut rows))?;
    Ok(rows)
}

/// The default fill values of NetCDF, `NC_FILL_BYTE` to `NC_FILL_UINT64`.
pub(crate) fn default_fill(data_type: DataType) -> Vec<u8> {
    match data_type {
        DataType::Byte => (-127_i8).to_ne_bytes().to_vec(),
        DataType::Char => vec![0],
        DataType::Short => (-32_767_i16).to_ne_bytes().to_vec(),
        DataType::Int => (-2_147_483_647_i32).to_ne_bytes().to_vec(),
        DataType::Float => 9.969_21e36_f32.to_ne_bytes().to_vec(),
        DataType::Double => 9.969_209_968_386_869e36_f64.to_ne_bytes().to_vec(),
        DataType::UByte => u8::MAX.to_ne_bytes().to_vec(),
        DataType::UShort => u16::MAX.to_ne_bytes().to_vec(),
        DataType::UInt => u32::MAX.to_ne_bytes().to_vec(),
        DataType::Int64 => (-9_223_372_036_854_775_806_i64).to_ne_bytes().to_vec(),
        DataType::UInt64 => (u64::MAX - 1).to_ne_bytes().to_vec(),
    }
}

pub(crate) fn shape(header: &Header, number: usize) -> Vec<u64> {
    let of = |id: &u64| match header.dimensions[usize::try_from(*id).unwrap()].length {
        0 => header.records.unwrap(),
        length => length,
    };
    header.variables[number].dimensions.iter().map(of).collect()
}

/// An element from random bits. Floating-point numbers are finite multiples of 1/8, or NaN.
pub(crate) fn number_of(data_type: DataType, bits: u64) -> Vec<u8> {
    let small = i16::from_ne_bytes(bits.to_ne_bytes()[..2].try_into().unwrap());
    match data_type {
        DataType::Float if bits.is_multiple_of(31) => f32::NAN.to_ne_bytes().to_vec(),
        DataType::Double if bits.is_multiple_of(31) => f64::NAN.to_ne_bytes().to_vec(),
        DataType::Float => (f32::from(small) / 8.0).to_ne_bytes().to_vec(),
        DataType::Double => (f64::from(small) / 8.0).to_ne_bytes().to_vec(),
        // Letters, so that all libraries read them as text.
        DataType::Char => vec![b'a' + u8::try_from(bits % 26).unwrap()],
        other => bits.to_ne_bytes()[..other.size()].to_vec(),
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
