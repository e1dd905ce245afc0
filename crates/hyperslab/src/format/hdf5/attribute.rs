//! HDF5 attributes.

use super::super::netcdf::empty_text;
use super::Hdf5Source;
use super::array::{check_rows, read_with};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::{Attribute, Datatype, Text, Values};

impl Hdf5Source {
    pub(super) fn attribute(&self, from: &hyperslab_hdf5::Attribute) -> Result<Attribute> {
        let (datatype, storage) = self.datatype(from.datatype(), from.committed())?;
        // The NetCDF library writes an attribute without elements with a null dataspace.
        if self.netcdf && from.extents().is_none() {
            return Ok(match datatype.resolved() {
                Datatype::String(Text::Fixed { .. }) => empty_text(),
                _ => Attribute {
                    shape: Some(vec![0]),
                    datatype,
                    value: Values::default(),
                    storage,
                    native: Vec::new(),
                },
            });
        }
        let mut heap = Heap::default();
        let rows = read_with(self, &mut heap, |heap| from.read_into(&self.file, heap))?;
        check_rows(&datatype, from.row_size(&self.file)?)?;
        let mut shape = from.extents().map(<[u64]>::to_vec);
        if self.netcdf && shape.as_deref() == Some(&[1]) {
            // NetCDF does not distinguish a scalar attribute from a list of one element.
            shape = Some(Vec::new());
        }
        Ok(Attribute { shape, datatype, value: Values { rows, heap }, storage, native: Vec::new() })
    }
}
