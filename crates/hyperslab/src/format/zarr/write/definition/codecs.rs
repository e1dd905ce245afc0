//! The codecs of an array: its filters, its byte order and the order of its dimensions.

use super::super::lowerings::{
    BIG_ENDIAN, BYTE_ORDER, CHECKSUM, CODEC_ORDER, ORDER, PRECISION, REFUSED, SNAPPY, UNREGISTERED, UNSETTLED,
};
use super::Described;
use super::registered::{Registered, is_snappy};
use crate::format::zarr::filter;
use crate::format::zarr::keep::lowering::Lowering;
use crate::target::{Filters, Losses, Lowered};
use hyperslab_codec::{Codec, Fidelity, Shuffle};
use hyperslab_core::nd::element_count;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{ByteOrder, Directive, ElementStorage, Fill, Filter, Order};
use hyperslab_zarr::Array;
use hyperslab_zarr::codec::elements;
use hyperslab_zarr::data_type::{self as zarr, DataType, TypeForm};
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
        let order = self.byte_order(lowering, losses);
        let codecs = match self.facts.fits_filters {
            true => self.or_registered(self.codecs(&lowering.data_type, order), lowering, order, losses)?,
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

    /// Replaces filters that would change elements or that do not fit the array. Because of this check, an array that
    /// cannot be written is detected before anything is written.
    pub(super) fn settled(
        &self,
        definition: ArrayDefinition,
        lowering: &Lowering,
        is_short: bool,
        losses: &mut dyn Losses,
    ) -> Result<ArrayDefinition> {
        let metadata = definition.documents(self.version)?.metadata;
        let have_passed = self.facts.filters.have_passed();
        match Array::new(&zarr_node(metadata), &Limits::of_any_size()).map(|array| array.fidelity()) {
            Ok(Fidelity::Exact) => {}
            // The fill values beyond the end of a shorter array would change its last elements.
            Ok(Fidelity::Idempotent) if have_passed && !is_short && self.is_idempotent() => {}
            Ok(_) if have_passed => {
                losses.note(&UNSETTLED, self.place(), Some(self.filter_names()));
                return Ok(definition.codecs(vec![default_codec()]));
            }
            Ok(_) => losses.note(&PRECISION, self.place(), Some(self.filter_names())),
            Err(error) => {
                let (refused, order) = (Err((self.filter_names(), error)), self.order(lowering).0);
                return Ok(definition.codecs(self.or_registered(refused, lowering, order, losses)?));
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

    fn byte_order(&self, lowering: &Lowering, losses: &mut dyn Losses) -> zarr::ByteOrder {
        let (order, changed) = self.order(lowering);
        if let Some(changed) = changed {
            losses.note(changed, self.place(), None);
        }
        order
    }

    /// The byte order of the stored elements, and what changes compared with the order of the source.
    fn order(&self, lowering: &Lowering) -> (zarr::ByteOrder, Option<&'static Lowered>) {
        let mut orders = Vec::new();
        push_orders(&self.storage.element, &mut orders);
        match (orders.contains(&ByteOrder::Big), orders.iter().any(|order| *order != ByteOrder::Big)) {
            (true, false) if self.is_misread(lowering) => (zarr::ByteOrder::Little, Some(&BIG_ENDIAN)),
            (true, false) => (zarr::ByteOrder::Big, None),
            (big, _) => {
                let is_changed = big || orders.contains(&ByteOrder::Vax);
                (zarr::ByteOrder::Little, is_changed.then_some(&BYTE_ORDER))
            }
        }
    }

    /// Whether zarr-python misinterprets big-endian elements as little-endian ones. In version 3, this affects elements
    /// of compounds in their old form, and elements that are passed to a number filter.
    fn is_misread(&self, lowering: &Lowering) -> bool {
        let is_old = matches!(lowering.data_type, DataType::Struct(_)) && self.type_form == TypeForm::Legacy;
        // Otherwise registered codecs replace these filters.
        let is_kept = matches!(self.facts.filters, Filters::Asked | Filters::Kept);
        let codecs = || self.codecs(&lowering.data_type, zarr::ByteOrder::Little).unwrap_or_default();
        self.version == Version::V3 && (is_old || is_kept && codecs().iter().any(WrittenCodec::is_of_arrays))
    }

    /// The codecs for the filters of the array. The error names the first filter that Zarr does not have, and the
    /// reason.
    fn codecs(&self, data_type: &DataType, order: zarr::ByteOrder) -> Codecs {
        let mut codecs = Vec::with_capacity(self.storage.filters.len());
        for of in &self.storage.filters {
            // `None` for a filter that leaves these elements unchanged or only transposes dimensions.
            let codec = filter::written(of, data_type, order);
            codecs.extend(codec.map_err(|error| (format!("filter {}", filter_name(of)), error))?);
        }
        Ok(codecs)
    }

    /// The codecs. Codecs that version 3 registers replace others, unless the user requested those.
    ///
    /// # Errors
    /// If the user requested a filter that Zarr does not have.
    fn or_registered(
        &self,
        codecs: Codecs,
        lowering: &Lowering,
        order: zarr::ByteOrder,
        losses: &mut dyn Losses,
    ) -> Result<Vec<WrittenCodec>> {
        match codecs {
            Ok(codecs) if matches!(self.facts.filters, Filters::Asked | Filters::Kept) => {
                if self.version == Version::V3 && !codecs.iter().all(WrittenCodec::is_registered) {
                    losses.note(&UNREGISTERED, self.place(), Some(self.filter_names()));
                }
                if codecs.iter().any(is_snappy) {
                    losses.note(&SNAPPY, self.place(), None);
                }
                return Ok(codecs);
            }
            Ok(codecs) if self.version == Version::V2 && !codecs.iter().any(is_snappy) => {
                return Ok(self.in_readable_order(codecs, losses));
            }
            Ok(codecs) if codecs.iter().all(|codec| codec.is_registered() && !is_snappy(codec)) => {
                return Ok(codecs);
            }
            Err((of, error)) if self.facts.filters == Filters::Asked => {
                return Err(Error::invalid(format!("{of}: {}", error.detail())));
            }
            _ => {}
        }
        let elements = elements(&lowering.data_type, order);
        let Registered { codecs, lowered, checksum } =
            Registered::new(&self.storage.filters, &elements, self.chunk_bytes(lowering));
        losses.note(lowered, self.place(), Some(self.filter_names()));
        if let Some(checksum) = checksum {
            losses.note(&CHECKSUM, self.place(), Some(format!("checksum {checksum}")));
        }
        Ok(codecs)
    }

    /// The codecs with checksums moved after shuffles. The four bytes of a checksum are not a whole element of eight
    /// bytes, and numcodecs cannot undo the shuffle of such a chunk.
    fn in_readable_order(&self, codecs: Vec<WrittenCodec>, losses: &mut dyn Losses) -> Vec<WrittenCodec> {
        let is_checksum =
            |of: &WrittenCodec| matches!(of, WrittenCodec::Codec(Codec::Fletcher32(_) | Codec::Checksum(_)));
        let shuffles = |of: &WrittenCodec| match of {
            WrittenCodec::Codec(Codec::Shuffle(Shuffle { element })) => {
                4_usize.checked_rem(*element) != Some(0)
            }
            _ => false,
        };
        let Some(end) = codecs.iter().rposition(shuffles) else { return codecs };
        let (head, tail) = codecs.split_at(end + 1);
        if !head.iter().any(is_checksum) {
            return codecs;
        }
        losses.note(&CODEC_ORDER, self.place(), Some(self.filter_names()));
        let (sums, rest): (Vec<_>, Vec<_>) = head.iter().cloned().partition(is_checksum);
        [rest, sums, tail.to_vec()].concat()
    }

    /// The size of a decoded chunk in bytes.
    fn chunk_bytes(&self, lowering: &Lowering) -> u64 {
        let shape = self.storage.chunk.clone().or_else(|| self.shape.current()).unwrap_or_default();
        let row =
            lowering.trailing.iter().fold(lowering.data_type.row_size(), |row, n| row.saturating_mul(*n));
        element_count(&shape).map_or(u64::MAX, |count| count.saturating_mul(row))
    }

    /// Whether encoding leaves all elements unchanged because they have all been encoded by the same filters before.
    /// The fill value of unwritten elements has not, but filters do not change zeros.
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

/// Codecs, or the name of a filter that has no codec, with the reason.
type Codecs = Result<Vec<WrittenCodec>, (String, Error)>;

/// The name of a filter in NDL, or in Zarr if NDL has none.
fn filter_name(filter: &Filter) -> &str {
    match filter.parameters.first() {
        Some((key, Directive::Text(name))) if filter.name == "zarr" && key == "name" => name,
        _ => &filter.name,
    }
}

pub(super) fn zarr_node(metadata: Metadata) -> zarr_hierarchy::Node {
    zarr_hierarchy::Node { path: Key::root(), metadata }
}

/// The codec that replaces filters that Zarr does not have.
fn default_codec() -> WrittenCodec {
    hyperslab_codec::Zstd { level: 3, checksum: false }.into()
}

/// The NDL name of the filter that transposes dimensions.
const TRANSPOSE: &str = "transpose";

fn push_orders(of: &ElementStorage, orders: &mut Vec<ByteOrder>) {
    orders.extend(of.endian);
    for (_, member) in &of.members {
        push_orders(member, orders);
    }
}
