//! Time counts: how those of a store are converted to those of the first one, or both to a common form.

use super::ranges::RANGES;
use super::recounted::{NewCounts, Recounted};
use crate::cell_table::text_attribute;
use crate::formats::unpacked::store_as_numbers;
use crate::meaning::{is_packed, meaning_as_stored, text_of};
use crate::source::engine::stream;
use crate::source::{ArraySource, Entry, Handle, Item, Source, SourceView};
use crate::target::conventions::MARKS;
use hyperslab_cf::time::{Counting, Recount};
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Datatype, Elements, Fill, Float, Node, NodePath, Values};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The units of an array, with the calendar if it names one.
pub(super) fn units_of(node: &Node) -> String {
    let units = text_of(node, "units").unwrap_or_default();
    match text_of(node, "calendar") {
        Some(calendar) => format!("{units} ({calendar})"),
        None => units,
    }
}

/// How time counts are converted to those of the first store; `None` unless both are times in calendars that agree.
pub(super) fn between(first: &Node, other: &Node) -> Option<Recount> {
    Recount::between(&counting(other, None)?, &counting(first, None)?)
}

/// How an array counts time, or how it would with other units.
fn counting(node: &Node, units: Option<&str>) -> Option<Counting> {
    // Packed numbers are not counts.
    if is_packed(node) {
        return None;
    }
    let own = text_of(node, "units")?;
    let calendar = text_of(node, "calendar").filter(|calendar| !calendar.is_empty());
    Counting::of_units(units.unwrap_or(&own), calendar.as_deref())?.ok()
}

/// Reads all counts, to detect any that the new form cannot represent before anything is written.
///
/// # Errors
/// If there is one; [`Unsupported`](ErrorKind::Unsupported) if only the type is too small.
pub(super) fn check(source: &dyn Source, entry: &Entry, node: &Node, counts: NewCounts) -> Result<()> {
    let array = source.array(&entry.handle)?;
    let Some(extents) = array.extents().map(<[u64]>::to_vec) else { return Ok(()) };
    let recounted = Recounted::shared(array, (source, node), counts);
    stream(&*recounted, &Region::all(&extents), &mut |_, _| Ok(()))
}

/// Whether an array has an element that either its own attributes or those of the first store mark as missing.
pub(super) fn has_missing(
    (source, entry, node): (&dyn Source, &Entry, &Node),
    (first, in_first): (&dyn Source, &Node),
) -> Result<bool> {
    let array = source.array(&entry.handle)?;
    let Some(extents) = array.extents() else { return Ok(false) };
    let own = meaning_as_stored(source, node, array.datatype()).missing;
    let of_first = in_first.datatype().map(|datatype| meaning_as_stored(first, in_first, datatype).missing);
    let mut found = false;
    stream(&*array, &Region::all(extents), &mut |_, values| {
        found |= Elements::new(array.datatype(), values).any(|element| {
            let element = element.get();
            own.is_missing(&element) || of_first.as_ref().is_some_and(|missing| missing.is_missing(&element))
        });
        Ok(())
    })?;
    Ok(found)
}

/// The smallest type that can represent the numbers of two types, if both are number types used for times.
pub(super) fn wider(a: &Datatype, b: &Datatype) -> Option<Datatype> {
    Some(match (a.resolved(), b.resolved()) {
        (Datatype::Int { bits, signed }, Datatype::Int { bits: other, signed: also }) => match signed == also
        {
            true => Datatype::int((*bits).max(*other), *signed),
            false => Datatype::int(64, true),
        },
        (Datatype::Float(Float::Single), Datatype::Float(Float::Single)) => Datatype::Float(Float::Single),
        (
            Datatype::Int { .. } | Datatype::Float(Float::Single | Float::Double),
            Datatype::Float(Float::Double),
        )
        | (Datatype::Float(Float::Double), Datatype::Int { .. } | Datatype::Float(Float::Single))
        | (Datatype::Int { .. }, Datatype::Float(Float::Single))
        | (Datatype::Float(Float::Single), Datatype::Int { .. }) => Datatype::Float(Float::Double),
        _ => return None,
    })
}

/// An array of times in two stores.
pub(super) struct Pair<'a> {
    pub(super) path: NodePath,
    pub(super) first: (&'a dyn Source, &'a Entry, &'a Node),
    pub(super) other: (&'a dyn Source, &'a Entry, &'a Node),
}

/// New forms of the arrays of times in the first store.
pub(super) type Forms = BTreeMap<NodePath, Form>;

/// The new form of one of these arrays.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The new units; `None` for bounds, which share those of the times.
    units: Option<String>,
    counts: NewCounts,
}

/// The units and types for the first store that represent the times of both stores and their bounds exactly: the
/// longest such unit, and for it the smallest types that are not smaller than those of the stores. The first pair is
/// that of the times.
///
/// # Errors
/// The reason if there are none, and read errors.
pub(super) fn common_form(pairs: &[Pair<'_>]) -> Result<Forms> {
    let Some(times) = pairs.first() else { return Ok(Forms::new()) };
    let (own, other) = (counting(times.first.2, None), counting(times.other.2, None));
    let units = text_of(times.first.2, "units").unwrap_or_default();
    let is_better = |error: &Error, why: Option<&Error>| match why {
        Some(why) => error.kind() == ErrorKind::Unsupported && why.kind() != ErrorKind::Unsupported,
        None => true,
    };
    let mut why = None;
    for units in std::iter::once(units.clone()).chain(finer(&units)) {
        let new = counting(times.first.2, Some(&units));
        let recounts = (own.as_ref().zip(new.as_ref()), other.as_ref().zip(new.as_ref()));
        let (Some((own, new)), Some((other, _))) = recounts else { continue };
        let (Some(of_own), Some(of_other)) = (Recount::between(own, new), Recount::between(other, new))
        else {
            continue;
        };
        match pairs.iter().map(|pair| form(pair, &units, (&of_own, &of_other))).collect() {
            Ok(forms) => return Ok(forms),
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Cancelled) => return Err(error),
            // An error about a type that is too small is more informative than one about a unit that is too long.
            Err(error) if is_better(&error, why.as_ref()) => {
                why = Some(error.map_detail(|detail| format!("counted in {units}: {detail}")));
            }
            Err(_) => {}
        }
    }
    why.map_or_else(|| Ok(Forms::new()), Err)
}

/// The form of one array in the first store, with these units.
fn form(pair: &Pair<'_>, units: &str, (own, other): (&Recount, &Recount)) -> Result<(NodePath, Form)> {
    let types = pair.first.2.datatype().zip(pair.other.2.datatype());
    let mut failed = Error::unsupported("times whose counts are not numbers");
    let Some(smallest) = types.and_then(|(a, b)| wider(a, b)) else { return Err(failed) };
    let largest = match smallest {
        Datatype::Int { .. } => Datatype::int(64, true),
        _ => Datatype::Float(Float::Double),
    };
    for datatype in [smallest, largest] {
        let datatype = Arc::new(datatype);
        let counts =
            |recount: &Recount| NewCounts { recount: recount.clone(), datatype: Arc::clone(&datatype) };
        let fits = |(source, entry, node): (&dyn Source, &Entry, &Node), recount| {
            check(source, entry, node, counts(recount))
        };
        match fits(pair.first, own).and_then(|()| fits(pair.other, other)) {
            Ok(()) => {
                let units = text_of(pair.first.2, "units").map(|_| units.to_owned());
                return Ok((pair.path.clone(), Form { units, counts: counts(own) }));
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// The same units with shorter units of time.
fn finer(units: &str) -> impl Iterator<Item = String> {
    let since = units.to_ascii_lowercase().find(" since ");
    let epoch = since.and_then(|at| units.get(at..)).map(str::to_owned);
    let counting = |units: &str| Counting::of_units(units, None)?.ok();
    let own = counting(units);
    SHORTER.iter().filter_map(move |unit| {
        let finer = format!("{unit}{}", epoch.as_ref()?);
        let times = Recount::between(own.as_ref()?, &counting(&finer)?)?.integer(1)?;
        (times > 1).then_some(finer)
    })
}

/// Units of time, the longest first.
static SHORTER: &[&str] = &["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];

/// The first store with times in another form.
pub(super) struct Reformed {
    source: Arc<dyn Source>,
    forms: Forms,
}

impl Reformed {
    pub(super) fn shared(source: Arc<dyn Source>, forms: Forms) -> Arc<dyn Source> {
        Arc::new(Reformed { source, forms })
    }
}

/// Whether attributes of an array give ranges of its counts, which would have to be converted as well.
pub(super) fn has_ranges(node: &Node) -> bool {
    node.attributes().is_some_and(|attributes| RANGES.iter().any(|name| attributes.contains_key(*name)))
}

impl SourceView for Reformed {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        if let Item::Array { datatype, .. } = &mut entry.item
            && let Some(form) = self.forms.get(&entry.handle.path)
        {
            *datatype = Some(Arc::clone(&form.counts.datatype));
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        let (Some(form), Some(stored)) = (self.forms.get(&object.path), node.datatype().cloned()) else {
            return Ok(node);
        };
        let missing = meaning_as_stored(&*self.source, &node, &stored).missing;
        let retyped = |value: &Values| {
            let rows =
                Elements::new(&stored, value).map(|element| form.counts.of(&element.get(), &missing).ok());
            let rows: Vec<u8> = rows.collect::<Option<Vec<_>>>()?.concat();
            Some(Values { rows: rows.into(), ..Values::default() })
        };
        let is_retyped = *stored.resolved() != *form.counts.datatype.resolved();
        let fill = match node.storage().map(|storage| &storage.fill) {
            Some(Fill::Value(value)) => retyped(value).map_or(Fill::Default, Fill::Value),
            Some(other) => other.clone(),
            None => Fill::Default,
        };
        if let Some(attributes) = node.attributes_mut() {
            if let Some(units) = &form.units {
                attributes.insert("units".to_owned(), Ok(text_attribute(units)?));
            }
            // A mark that the new type cannot represent marks no element: all elements were checked to fit the new
            // type.
            for name in MARKS.iter().filter(|_| is_retyped) {
                let Some(Ok(mark)) = attributes.get_mut(*name) else { continue };
                match mark.datatype.same_content(&stored).then(|| retyped(&mark.value)).flatten() {
                    Some(value) => {
                        (mark.datatype, mark.value) = (Arc::clone(&form.counts.datatype), value);
                    }
                    None => drop(attributes.shift_remove(*name)),
                }
            }
        }
        if let Some(storage) = node.storage_mut() {
            match is_retyped {
                true => store_as_numbers(storage, fill),
                false => (storage.fill, storage.domain) = (fill, None),
            }
        }
        let datatype = Some(Arc::clone(&form.counts.datatype));
        match &mut node {
            Node::Ndarray(array) => (array.datatype, array.value) = (datatype, None),
            Node::DimCoord(dimcoord) => (dimcoord.datatype, dimcoord.value) = (datatype, None),
            _ => {}
        }
        Ok(node)
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        let Some(form) = self.forms.get(&object.path) else { return Ok(array) };
        let node = self.source.load(object)?;
        Ok(Recounted::shared(array, (&*self.source, &node), form.counts.clone()))
    }
}
