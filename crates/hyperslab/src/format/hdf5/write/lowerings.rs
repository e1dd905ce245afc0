//! Content that HDF5 loses or stores in another form, and what replaces it.

use crate::target::{Fate, Loss, Losses, content, lowerings};
use hyperslab_model::{
    Attributes, DimCoord, Directive, Extent, Layout, Ndarray, Node, NodePath, Order, Reference, Storage,
    Values,
};

lowerings! {
    BOOLEAN: "booleans" => "an enumeration of FALSE and TRUE, as in h5py", Fate::Changed;
    COMPLEX: "complex numbers" => "a compound of r and i, as in h5py", Fate::Changed;
    DATETIME: "datetimes or durations" => "64-bit integers with CF attributes", Fate::Changed;
    DATETIME_PART: "datetimes or durations in units that CF does not have, or within others" => "64-bit integers",
        Fate::Lost(Loss::Types);
    NULLABLE: "values that can be null" => "a compound of valid and value", Fate::Changed;
    UTF_32: "UTF-32 strings" => "UTF-8 strings of the same size", Fate::Changed;
    LABELS: "enumeration that HDF5 cannot hold" => "integers", Fate::Lost(Loss::Labels);
    NAMED_TYPE: "committed datatype that is not converted" => "the type itself", Fate::Changed;
    INNER_NAMED_TYPE: "committed datatype in a type" => "the type itself", Fate::Changed;
    NAME: "name that HDF5 forbids" => "an encoded name", Fate::Lost(Loss::Names);
    BESIDE: "dimension with the name of an array that is not its coordinates" => "arrays without dimension scales",
        Fate::Lost(Loss::Names);
    DOMAIN: "domain of a dimension" => "its coordinates", Fate::Changed;
    NATIVE: "content that only the format of the source has" => "nothing", Fate::Lost(Loss::Attributes);
    ATTRIBUTE_NATIVE: "attribute that only the format of the source has" => "its value", Fate::Changed;
    SHARDS: "shards" => "their inner chunks", Fate::Changed;
    UNUSED_BITS: "unused bits that are ones" => "zeros", Fate::Changed;
    LINK_FILTERS: "filters of links that cannot be applied" => "no filter", Fate::Changed;
    FILE_SPACE: "file space information that HDF5 1.10 replaced" => "that of HDF5 1.10", Fate::Changed;
    ORDER: "column-major storage" => "row-major chunks", Fate::Changed;
    SIMILAR: "filters that HDF5 does not have" => "filters of the same algorithm", Fate::Changed;
    CHECKSUM: "checksums that HDF5 does not have" => "Fletcher-32", Fate::Changed;
    DEFLATE: "filters that HDF5 does not have" => "shuffle and Deflate, which every reader has", Fate::Changed;
    PLUGIN: "filters for which readers of HDF5 need a plugin" => "shuffle and Deflate, which every reader has",
        Fate::Changed;
    ASKED_PLUGIN: "requested filters" => "filters for which readers of HDF5 need a plugin", Fate::Changed;
    UNFILTERED: "filters that HDF5 does not have" => "no filter", Fate::Changed;
    UNSETTLED: "filters that would change elements a second time" => "shuffle and Deflate", Fate::Changed;
    SOURCES: "elements in other datasets or external files" => "copies of the elements", Fate::Changed;
    REFERENCES: "references that lead nowhere" => "null references", Fate::Lost(Loss::References);
    PRECISION: "elements that the requested filters change" => "rounded elements", Fate::Lost(Loss::Precision);
    SPARSE: "sparse array" => "a table: an array for each column of its cells", Fate::Restored;
    UNCOUNTED: "dimension without a length" => "a dimension of length 0", Fate::Lost(Loss::Names);
    REFUSED_ATTRIBUTE: "attribute that HDF5 cannot hold" => "nothing", Fate::Lost(Loss::Attributes);
    UNREADABLE_ATTRIBUTE: "attribute that cannot be read" => "nothing", Fate::Lost(Loss::Unreadable);
}

/// Rows that concern the elements of arrays and their storage.
pub(in crate::format) static OF_STORAGE: &[&crate::target::Lowered] = &[
    &DOMAIN,
    &SHARDS,
    &ORDER,
    &SIMILAR,
    &CHECKSUM,
    &DEFLATE,
    &PLUGIN,
    &ASKED_PLUGIN,
    &UNFILTERED,
    &UNSETTLED,
    &SOURCES,
    &REFERENCES,
    &PRECISION,
    &SPARSE,
    &UNCOUNTED,
    &REFUSED_ATTRIBUTE,
    &UNREADABLE_ATTRIBUTE,
    &ATTRIBUTE_NATIVE,
];

/// Notes what is lost or changed of an object, apart from its type, its filters and its name.
pub(super) fn note_object(path: &NodePath, node: &Node, losses: &mut dyn Losses) {
    let place = || path.to_string();
    match node {
        Node::DimCoord(DimCoord { size: Extent::Uncounted, .. }) => losses.note(&UNCOUNTED, place(), None),
        // In HDF5, a dimension and another dataset cannot have the same name.
        Node::Ndarray(Ndarray { dimension: Some(_), .. }) => losses.note(&BESIDE, place(), None),
        _ => {}
    }
    if let Some(storage) = node.storage() {
        note_storage(path, storage, losses);
    }
    if let Some(attributes) = node.attributes() {
        note_attributes(path, attributes, losses);
    }
}

/// Notes that a sparse array is stored as a table of cells.
pub(in crate::format) fn note_cells(path: &NodePath, losses: &mut dyn Losses) {
    losses.note(&SPARSE, path.to_string(), None);
}

fn note_storage(path: &NodePath, storage: &Storage, losses: &mut dyn Losses) {
    let place = || path.to_string();
    if storage.domain.is_some() || storage.tile.is_some() {
        losses.note(&DOMAIN, place(), None);
    }
    if storage.shard.is_some() {
        losses.note(&SHARDS, place(), None);
    }
    if storage.order == Some(Order::ColumnMajor) {
        losses.note(&ORDER, place(), None);
    }
    if directive(storage, "bit_padding").is_some() {
        losses.note(&UNUSED_BITS, place(), None);
    }
    if content(storage).any(|(format, _, _)| format != HDF5) {
        losses.note(&NATIVE, place(), None);
    }
}

fn note_attributes(path: &NodePath, attributes: &Attributes, losses: &mut dyn Losses) {
    for (name, attribute) in attributes {
        let place = || format!("{path}@{name}");
        match attribute {
            Ok(attribute) => {
                if leads_nowhere(&attribute.value) {
                    losses.note(&REFERENCES, place(), None);
                }
                if attribute.native.iter().any(|(format, _)| *format != HDF5) {
                    losses.note(&ATTRIBUTE_NATIVE, place(), None);
                }
            }
            Err(unreadable) => losses.note(&UNREADABLE_ATTRIBUTE, place(), Some(unreadable.reason.clone())),
        }
    }
}

/// Whether a reference leads to an address where no object was found.
pub(super) fn leads_nowhere(values: &Values) -> bool {
    values.heap.references.iter().any(|reference| matches!(reference, Reference::Dangling(_)))
}

/// An HDF5 directive of an object.
pub(in crate::format) fn directive<'a>(storage: &'a Storage, key: &str) -> Option<&'a Directive> {
    let own = storage.native.iter().filter(|(format, _)| *format == HDF5);
    own.flat_map(|(_, directives)| directives).find(|(own, _)| own == key).map(|(_, value)| value)
}

/// A directive that is a list of `N` numbers.
pub(super) fn numbers<T: TryFrom<i128>, const N: usize>(of: Option<&Directive>) -> Option<[T; N]> {
    let Some(Directive::List(list)) = of else { return None };
    let number = |of: &Directive| match of {
        Directive::Int(number) => T::try_from(*number).ok(),
        _ => None,
    };
    list.iter().map(number).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// The layout of an array: that of its directives, or chunks where it needs them.
pub(in crate::format) fn layout(storage: &Storage, is_extendible: bool) -> Layout {
    match &storage.layout {
        Some(Layout::Chunked) | None
            if storage.chunk.is_some() || is_extendible || !storage.filters.is_empty() =>
        {
            Layout::Chunked
        }
        Some(Layout::Chunked) | None => Layout::Contiguous,
        Some(of) => of.clone(),
    }
}

/// The format whose directives a file keeps.
const HDF5: &str = "hdf5";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Lowered;
    use hyperslab_model::{Attribute, Datatype, Group, Unreadable, Values};
    use std::sync::Arc;

    #[derive(Default)]
    struct Noted(Vec<String>);

    impl Losses for Noted {
        fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
            self.0.push(format!(
                "{place}: {} => {}",
                detail.as_deref().unwrap_or(lowered.what),
                lowered.becomes
            ));
        }
    }

    fn noted(node: &Node) -> Vec<String> {
        let mut noted = Noted::default();
        note_object(&NodePath::root().child("a"), node, &mut noted);
        noted.0
    }

    fn attribute() -> Attribute {
        Attribute::new(Vec::new(), Arc::new(Datatype::ObjRef), Values::default())
    }

    #[test]
    fn losses_of_an_object_are_noted_where_they_are() {
        let mut group = Group::default();
        assert!(noted(&Node::Group(group.clone())).is_empty());
        let mut own = attribute();
        own.value.heap.push_reference(Reference::Dangling(7)).unwrap();
        group.attributes.insert("points".into(), Ok(own));
        let native = vec![("zarr", Directive::Text("json".into()))];
        group.attributes.insert("json".into(), Ok(Attribute { native, ..attribute() }));
        let error = hyperslab_core::Error::malformed("bad heap");
        group.attributes.insert("bad".into(), Err(Unreadable::new(None, &error)));
        group.storage.native_mut("zarr").unwrap().push(("members".into(), Directive::Null));
        group.storage.native_mut(HDF5).unwrap().push(("comment".into(), Directive::Text("kept".into())));
        group.storage.order = Some(Order::ColumnMajor);
        group.storage.shard = Some(vec![4]);
        assert_eq!(
            noted(&Node::Group(group)),
            [
                "/a: shards => their inner chunks",
                "/a: column-major storage => row-major chunks",
                "/a: content that only the format of the source has => nothing",
                "/a@points: references that lead nowhere => null references",
                "/a@json: attribute that only the format of the source has => its value",
                "/a@bad: bad heap => nothing",
            ]
        );
        let cells = DimCoord::without_coordinates(Extent::Uncounted);
        assert_eq!(
            noted(&Node::DimCoord(cells)),
            ["/a: dimension without a length => a dimension of length 0"]
        );
    }

    #[test]
    fn every_row_says_something_else() {
        let mut rows: Vec<_> = LOWERINGS.iter().map(|row| (row.what, row.becomes)).collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), LOWERINGS.len());
    }

    #[test]
    fn chunks_are_made_only_where_they_are_needed() {
        let of = |layout: Option<Layout>, chunk: Option<Vec<u64>>, is_extendible| {
            super::layout(&Storage { layout, chunk, ..Storage::default() }, is_extendible)
        };
        assert_eq!(of(None, None, false), Layout::Contiguous);
        assert_eq!(of(None, Some(vec![2]), false), Layout::Chunked);
        assert_eq!(of(None, None, true), Layout::Chunked);
        assert_eq!(of(Some(Layout::Chunked), None, false), Layout::Contiguous);
        assert_eq!(of(Some(Layout::Compact), None, false), Layout::Compact);
        assert_eq!(of(Some(Layout::External), None, true), Layout::External);
    }
}
