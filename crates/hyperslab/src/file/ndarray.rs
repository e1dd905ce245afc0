//! Elements as arrays of the crate `ndarray`.

use super::{Array, Number};
use crate::select::Select;
use hyperslab_core::{Error, ErrorKind, Result};
use ndarray::{ArrayD, ArrayViewMut, Dimension, IxDyn};

impl Array {
    /// The selected elements, of exactly this type. The shape is that of [`Array::selected_shape`].
    ///
    /// With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read_ndarray<T: Number>(&self, select: &Select) -> Result<ArrayD<T>> {
        let shape = self.ndarray_shape(select)?;
        ArrayD::from_shape_vec(IxDyn(&shape), self.read(select)?)
            .map_err(|e| self.named(Error::invalid(format!("{shape:?}: {e}"))))
    }

    /// Reads the selected elements into a view of the caller's array, which has the shape of [`Array::selected_shape`].
    /// A view in standard layout is filled in place. Any other view, with gaps or with its dimensions in another order,
    /// needs memory for a second copy of the elements.
    ///
    /// With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`Array::read`]; if the view has another shape. Its elements are then unspecified.
    pub fn read_into_ndarray<T: Number, D: Dimension>(
        &self,
        select: &Select,
        mut out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        let shape = self.ndarray_shape(select)?;
        if out.shape() != shape {
            let found = out.shape();
            return Err(self.named(Error::invalid(format!("a view of shape {found:?}, expected {shape:?}"))));
        }
        match out.as_slice_mut() {
            Some(elements) => self.read_into(select, elements),
            None => {
                let elements = self.read(select)?;
                out.iter_mut().zip(elements).for_each(|(to, from)| *to = from);
                Ok(())
            }
        }
    }

    fn ndarray_shape(&self, select: &Select) -> Result<Vec<usize>> {
        let narrow = |extent: &u64| usize::try_from(*extent).ok();
        let shape: Option<Vec<usize>> = self.selected_shape(select)?.iter().map(narrow).collect();
        let too_large = || Error::new(ErrorKind::LimitExceeded, "more elements than memory holds");
        shape.ok_or_else(|| self.named(too_large()))
    }
}
