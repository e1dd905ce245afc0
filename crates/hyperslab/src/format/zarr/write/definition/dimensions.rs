//! The extents and dimension names of an array; the record keeps those that Zarr cannot store.

use super::super::lowerings::{
    AMBIGUOUS_NAME, NO_ARRAYS, NULL_SPACE, OUTER_DIMENSION, REPEATED_NAME, SHORT, UNCOUNTED, UNLIMITED,
    UNNAMED,
};
use super::fill::fill_row;
use super::{Described, Destination};
use crate::format::zarr::keep::lowering::Lowering;
use crate::target::{Growing, Losses};
use hyperslab_model::{Dimension, Directive, Extent, Fill, NodePath, Shape};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::write::Version;

/// The dimensions in their stored form.
pub(super) struct Dimensions {
    /// The stored extents, excluding those of an array datatype.
    pub(super) shape: Vec<u64>,
    /// The extents of the array, if it is stored with longer dimensions.
    pub(super) own: Option<Vec<u64>>,
    /// The names of all stored dimensions, with those of an array datatype last; `None` if no dimension has a name.
    pub(super) names: Option<Vec<Option<String>>>,
}

impl Described<'_> {
    /// The stored dimensions. Properties that Zarr cannot store are recorded.
    pub(super) fn dimensions(
        &self,
        lowering: &Lowering,
        destination: &Destination<'_>,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Dimensions {
        let (own, names) = self.record_shape(record, losses);
        let shape = self.record_extents(&own, lowering, destination.growing, record, losses);
        let own = (own != shape).then_some(own);
        let is_v2 = self.version == Version::V2;
        let trailing = lowering.trailing.iter().map(|_| None);
        let names = self.all_named(names.into_iter().chain(trailing).collect(), destination, record, losses);
        // In version 2, xarray fails to open a group if an array does not have the list, so scalars have an empty one.
        Dimensions { shape, own, names: Some(names).filter(|names| is_v2 || !names.is_empty()) }
    }

    /// The current extents, and the names of the dimensions.
    fn record_shape(&self, record: &mut Object, losses: &mut dyn Losses) -> (Vec<u64>, Vec<Option<String>>) {
        let dims = match &self.shape {
            Shape::Null => {
                record.insert("shape", Json::Null);
                losses.note(&NULL_SPACE, self.place(), None);
                return (vec![0], vec![None]);
            }
            shape => shape.dims(),
        };
        if dims.iter().any(|dimension| !dimension.extent.is_fixed()) {
            let maximum = |dimension: &Dimension| match dimension.extent {
                Extent::Fixed(max) | Extent::Limited { max, .. } => max.into(),
                Extent::Unlimited { .. } | Extent::Uncounted => Json::Null,
            };
            record.insert("maximum", Json::Array(dims.iter().map(maximum).collect()));
            let is_uncounted = dims.iter().any(|dimension| dimension.extent == Extent::Uncounted);
            losses.note(if is_uncounted { &UNCOUNTED } else { &UNLIMITED }, self.place(), None);
        }
        let parent = self.path.parent().unwrap_or_else(NodePath::root);
        let is_own = |path: &NodePath| path.parent().as_ref() == Some(&parent);
        let outer =
            dims.iter().filter_map(|dimension| dimension.coordinate.as_ref()).find(|path| !is_own(path));
        if let Some(outer) = outer {
            record.insert("dimensions", self.dimension_paths());
            losses.note(&OUTER_DIMENSION, self.place(), Some(format!("dimension {outer}")));
        }
        let native = self.native_names(dims.len());
        let mut names = Vec::with_capacity(dims.len());
        for (at, dimension) in dims.iter().enumerate() {
            let own = dimension.coordinate.as_ref().map(|path| path.name().to_owned());
            let native = || native.as_ref()?.get(at)?.clone();
            names.push(own.or_else(native));
            if let (None, Some(Some(name))) = (&dimension.coordinate, names.last()) {
                let detail = format!("dimension name {name}, which arrays of the group use differently");
                losses.note(&AMBIGUOUS_NAME, self.place(), Some(detail));
            }
        }
        let is_repeated = |(at, name): (usize, &Option<String>)| {
            name.is_some() && names.iter().take(at).any(|of| of == name)
        };
        if self.version == Version::V3 && names.iter().enumerate().any(is_repeated) {
            losses.note(&REPEATED_NAME, self.place(), None);
        }
        let owns = matches!(names.as_slice(), [Some(name)] if name == self.path.name());
        if owns != self.is_dimcoord && outer.is_none() {
            record.insert("kind", if self.is_dimcoord { "dimcoord" } else { "ndarray" }.into());
        }
        let extents = dims.iter().map(|dimension| dimension.extent.current()).collect();
        (extents, names)
    }

    /// Records the length of the dimension with the name of the array, unless the names of other arrays determine it.
    pub(super) fn record_beside(&self, growing: &Growing, record: &mut Object, losses: &mut dyn Losses) {
        let Some(extent) = self.beside else { return };
        let is_named = growing.has_arrays(self.path);
        if is_named && extent.is_fixed() {
            return;
        }
        let maximum = extent.max().map_or(Json::Null, Json::from);
        record.insert("dimension", Json::Array(vec![extent.current().into(), maximum]));
        if !is_named {
            losses.note(&NO_ARRAYS, self.place(), Some(format!("dimension {} without arrays", self.path)));
        }
        if !extent.is_fixed() {
            losses.note(&UNLIMITED, self.place(), None);
        }
    }

    /// The stored extents, which are the sizes of the dimensions: readers require all arrays along a dimension to have
    /// the same size.
    fn record_extents(
        &self,
        own: &[u64],
        lowering: &Lowering,
        growing: &Growing,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Vec<u64> {
        let dims = self.shape.dims();
        // Readers see the fill value beyond the end of the array, so Zarr must be able to store it.
        let can_fill =
            !matches!(&self.storage.fill, Fill::Value(value) if fill_row(lowering, value).is_err());
        let full = if dims.is_empty() || !can_fill { own.to_vec() } else { growing.full(dims) };
        if full != own {
            record.insert("extents", Json::Array(own.iter().map(|extent| (*extent).into()).collect()));
            losses.note(&SHORT, self.place(), None);
        }
        full
    }

    /// The names, with generated ones for unnamed dimensions, since xarray does not open arrays with unnamed
    /// dimensions. The record states which names are generated.
    fn all_named(
        &self,
        names: Vec<Option<String>>,
        destination: &Destination<'_>,
        record: &mut Object,
        losses: &mut dyn Losses,
    ) -> Vec<Option<String>> {
        let has_native = self.native("dimension_names").is_some();
        if names.iter().all(Option::is_some) || self.version == Version::V3 && has_native {
            return names;
        }
        losses.note(&UNNAMED, self.place(), None);
        if self.shape != Shape::Null {
            record.insert("dimensions", self.dimension_paths());
        }
        let generated = |at: usize| match destination.generated.and_then(|names| names.get(at)) {
            Some(Some(name)) => name.clone(),
            // This is used while the conversion is planned.
            _ => format!("phony_dim_{at}"),
        };
        let name = |(at, name): (usize, Option<String>)| name.or_else(|| Some(generated(at)));
        names.into_iter().enumerate().map(name).collect()
    }

    fn dimension_paths(&self) -> Json {
        let path = |dimension: &Dimension| match &dimension.coordinate {
            Some(path) => path.as_str().into(),
            None => Json::Null,
        };
        Json::Array(self.shape.dims().iter().map(path).collect())
    }

    /// The names of dimensions without dimension coordinates, which only Zarr has.
    fn native_names(&self, rank: usize) -> Option<Vec<Option<String>>> {
        let Directive::List(names) = self.native("dimension_names")? else { return None };
        let name = |name: &Directive| match name {
            Directive::Text(name) => Some(name.clone()),
            _ => None,
        };
        Some(names.iter().map(name).collect::<Vec<_>>()).filter(|names| names.len() == rank)
    }
}
