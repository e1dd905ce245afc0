//! The codecs of an array: its filters, its byte order and the order of its dimensions.

use super::super::{BYTE_ORDER, FILTERS, ORDER, PRECISION, REFUSED, UNSETTLED};
use super::Described;
use crate::format::zarr::filter;
use crate::format::zarr::keep::lowering::Lowering;
use crate::target::{Filters, Losses};
use hyperslab_codec::Fidelity;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{ByteOrder, Directive, ElementStorage, Fill, Filter, Order};
use hyperslab_zarr::Array;
use hyperslab_zarr::data_type::{self as zarr, DataType};
use hyperslab_zarr::hierarchy::{self as zarr_hierarchy, Metadata};
use hyperslab_zarr::write::{ArrayDefinition, Version, WrittenCodec};

impl Described<'_> {
    /// Adds the codecs to the definition, as far as Zarr has them.
    pub(super) fn encoded(
        &self,
        definition: ArrayDefinition,
        lowering: &Lowering,
        losses: &mut dyn Losses,
    ) -> Result<ArrayDefinition> {
        let order = self.byte_order(losses);
        let codecs = match self.facts.fits_filters {
            true => self.or_default(self.codecs(&lowering.data_type, order), losses)?,
            false => {
                let detail = format!("{}, which cannot encode all elements", self.filter_names());
                losses.note(&REFUSED, self.place(), Some(detail));
                vec![default_codec()]
            }
        };
        let definition = definition.byte_order(order).codecs(codecs);
        let Some(order) = self.transpose() else { return Ok(definition) };
        let last = order.len()..order.len() + lowering.trailing.len();
        let order: Vec<usize> = order.into_iter().chain(last).collect();
        if self.version == Version::V3 || order.iter().rev().is_sorted() {
            return Ok(definition.transpose(order));
        }
        losses.note(&ORDER, self.place(), None);
        Ok(definition)
    }

    /// Replaces filters that would change elements, or that do not fit the array. Checking here means that an array
    /// that cannot be written is known before anything is written.
    pub(super) fn settled(
        &self,
        definition: ArrayDefinition,
        is_short: bool,
        losses: &mut dyn Losses,
    ) -> Result<ArrayDefinition> {
        let metadata = definition.documents(self.version)?.metadata;
        let have_passed = self.facts.filters == Filters::Passed;
        match Array::new(&zarr_node(metadata), &Limits::of_any_size()).map(|array| array.fidelity()) {
            Ok(Fidelity::Exact) => {}
            // The fill behind a shorter array would change its last elements.
            Ok(Fidelity::Idempotent) if have_passed && !is_short && self.is_idempotent() => {}
            Ok(_) if have_passed => {
                losses.note(&UNSETTLED, self.place(), Some(self.filter_names()));
                return Ok(definition.codecs(vec![default_codec()]));
            }
            Ok(_) => losses.note(&PRECISION, self.place(), Some(self.filter_names())),
            Err(error) => {
                let refused = Err((self.filter_names(), error));
                return Ok(definition.codecs(self.or_default(refused, losses)?));
            }
        }
        Ok(definition)
    }

    /// The order of dimensions in which chunks are stored; `None` for row-major order.
    fn transpose(&self) -> Option<Vec<usize>> {
        let rank = self.shape.dims().len();
        if self.storage.order == Some(Order::ColumnMajor) {
            return Some((0..rank).rev().collect());
        }
        let filter = self.storage.filters.iter().find(|filter| filter.name == TRANSPOSE)?;
        let (_, Directive::List(order)) = filter.parameters.first()? else { return None };
        let place = |place: &Directive| match place {
            Directive::Int(place) => usize::try_from(*place).ok(),
            _ => None,
        };
        order.iter().map(place).collect::<Option<Vec<_>>>().filter(|order| order.len() == rank)
    }

    fn byte_order(&self, losses: &mut dyn Losses) -> zarr::ByteOrder {
        let mut orders = Vec::new();
        push_orders(&self.storage.element, &mut orders);
        match (orders.contains(&ByteOrder::Big), orders.iter().any(|order| *order != ByteOrder::Big)) {
            (true, false) => zarr::ByteOrder::Big,
            (big, _) => {
                if big || orders.contains(&ByteOrder::Vax) {
                    losses.note(&BYTE_ORDER, self.place(), None);
                }
                zarr::ByteOrder::Little
            }
        }
    }

    /// The codecs for the filters of the array. The error names the first filter that Zarr does not have, with the
    /// reason.
    fn codecs(&self, data_type: &DataType, order: zarr::ByteOrder) -> Codecs {
        let mut codecs = Vec::with_capacity(self.storage.filters.len());
        for of in &self.storage.filters {
            // None for a filter that leaves these elements unchanged or only transposes dimensions.
            let codec = filter::written(of, data_type, order);
            codecs.extend(codec.map_err(|error| (format!("filter {}", filter_name(of)), error))?);
        }
        Ok(codecs)
    }

    /// The codecs, or the default codec if Zarr does not have a filter.
    ///
    /// # Errors
    /// If the user requested the filter.
    fn or_default(&self, codecs: Codecs, losses: &mut dyn Losses) -> Result<Vec<WrittenCodec>> {
        match codecs {
            Ok(codecs) => Ok(codecs),
            Err((of, error)) if self.facts.filters == Filters::Asked => {
                Err(Error::invalid(format!("{of}: {}", error.detail())))
            }
            Err((of, _)) => {
                losses.note(&FILTERS, self.place(), Some(of));
                Ok(vec![default_codec()])
            }
        }
    }

    /// Whether encoding changes no element, because all elements were encoded by the same filters before. The fill
    /// value of unwritten elements was not, but filters do not change zeros.
    fn is_idempotent(&self) -> bool {
        let is_zero = match &self.storage.fill {
            Fill::Value(value) => value.rows.iter().all(|byte| *byte == 0),
            Fill::Default | Fill::Undefined => true,
        };
        self.facts.is_whole || is_zero
    }

    fn filter_names(&self) -> String {
        let names: Vec<_> = self.storage.filters.iter().map(filter_name).collect();
        let s = if names.len() == 1 { "" } else { "s" };
        format!("filter{s} {}", names.join(", "))
    }
}

/// Codecs, or the name of a filter that has none, with the reason.
type Codecs = Result<Vec<WrittenCodec>, (String, Error)>;

/// The name of a filter in NDL, or in Zarr if NDL has none.
fn filter_name(filter: &Filter) -> &str {
    match filter.parameters.first() {
        Some((key, Directive::Text(name))) if filter.name == "zarr" && key == "name" => name,
        _ => &filter.name,
    }
}

fn zarr_node(metadata: Metadata) -> zarr_hierarchy::Node {
    zarr_hierarchy::Node { path: Key::root(), metadata }
}

/// The codec in place of filters that Zarr does not have.
fn default_codec() -> WrittenCodec {
    hyperslab_codec::Zstd { level: 3, checksum: false }.into()
}

/// The name in NDL of the filter that transposes dimensions.
const TRANSPOSE: &str = "transpose";

fn push_orders(of: &ElementStorage, orders: &mut Vec<ByteOrder>) {
    orders.extend(of.endian);
    for (_, member) in &of.members {
        push_orders(member, orders);
    }
}
