//! Arrays of the crate `ndarray` in stores.

use super::{ObjectBuilder, StoreBuilder};
use crate::file::Number;
use hyperslab_core::{Error, Result};
use hyperslab_model::Shape;
use ndarray::{ArrayView, Dimension};

impl StoreBuilder {
    /// Adds an array along existing dimensions, given by their paths. The view may have any layout; its elements are
    /// copied.
    ///
    /// With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`StoreBuilder::array`]; if the view does not have the shape of the dimensions.
    pub fn ndarray<T: Number, D: Dimension>(
        &mut self,
        path: &str,
        dimensions: &[&str],
        elements: ArrayView<'_, T, D>,
    ) -> Result<ObjectBuilder<'_>> {
        let along = self.along(dimensions).map_err(|e| e.in_object(path))?;
        let (found, expected) = (shape(&elements), along.current().unwrap_or_default());
        if found != expected {
            let detail = format!("a view of shape {found:?}, expected {expected:?}");
            return Err(Error::invalid(detail).in_object(path));
        }
        self.view(path, along, elements)
    }

    /// Adds an array with the shape of the view, whose dimensions have no names.
    ///
    /// With the feature `ndarray`.
    ///
    /// # Errors
    /// As [`StoreBuilder::array_of_shape`].
    pub fn ndarray_without_names<T: Number, D: Dimension>(
        &mut self,
        path: &str,
        elements: ArrayView<'_, T, D>,
    ) -> Result<ObjectBuilder<'_>> {
        let shape = Shape::fixed(&shape(&elements));
        self.view(path, shape, elements)
    }

    fn view<T: Number, D: Dimension>(
        &mut self,
        path: &str,
        shape: Shape,
        elements: ArrayView<'_, T, D>,
    ) -> Result<ObjectBuilder<'_>> {
        let row_major = elements.as_standard_layout();
        let elements = row_major.as_slice().unwrap_or_default();
        self.elements(path, shape, T::datatype(), elements.len(), super::numbers(elements))
    }
}

fn shape<T, D: Dimension>(view: &ArrayView<'_, T, D>) -> Vec<u64> {
    view.shape().iter().map(|extent| *extent as u64).collect()
}
