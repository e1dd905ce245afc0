//! Compares values with those of a contract.

use super::{Holding, rule};
use crate::cells::{CellQuery, CellSource, Cursor};
use crate::source::Handle;
use crate::source::engine;
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_model::{Datatype, ElementRef, Elements, NodePath, Values};

impl Holding<'_> {
    /// Compares the elements of an array with those of the contract, which have the same datatype and shape.
    pub(super) fn values(&mut self, path: &NodePath, found: &Handle, stated: &Handle) -> Result<()> {
        let expected = self.contract.array(stated).map_err(|error| error.in_object(path))?;
        // A document without values stores no bytes for the array.
        if expected.stored()? == 0 {
            return Ok(());
        }
        let Some(extents) = expected.extents() else { return Ok(()) };
        let region = Region::all(extents);
        let values = expected.values(&region).map_err(|error| error.in_object(path))?;
        let mut expected = Elements::new(expected.datatype(), &values);
        let (mut at, mut first, mut count) = (0_u64, None, 0_u64);
        let held = self.data.array(found).and_then(|array| {
            if array.extents() != Some(extents) {
                return Ok(());
            }
            engine::stream(&*array, &region, &mut |_, values| {
                let is = Elements::new(array.datatype(), values);
                let len = is.len();
                for (is, expected) in is.zip(expected.split(len)) {
                    if !is_same(is, expected) {
                        count += 1;
                        first.get_or_insert_with(|| (at, short(is), short(expected)));
                    }
                    at += 1;
                }
                Ok(())
            })
        });
        if let Err(error) = held {
            return self.unreadable(path, None, error.detail());
        }
        if let Some((at, is, expected)) = first {
            let more = match count {
                1 => String::new(),
                count => format!("; {count} of {} differ", values_len(extents)),
            };
            let place = place(at, extents);
            let message = format!("{place}{is}, the contract says {expected}{more}");
            self.find(&rule::VALUE, path, None, message);
        }
        Ok(())
    }

    /// Compares the cells of a sparse array with those of the contract, both in sorted order.
    pub(super) fn cells(&mut self, path: &NodePath, found: &Handle, stated: &Handle) -> Result<()> {
        let expected = self.contract.cells(stated).map_err(|error| error.in_object(path))?;
        let Some(expected) = expected else { return Ok(()) };
        let differing = match self.data.cells(found) {
            Ok(Some(is)) => differing(&*is, &*expected),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        match differing {
            Ok(names) => {
                for name in names {
                    let message = "cells differ from the contract".to_owned();
                    self.find(&rule::VALUE, &path.child(&name), None, message);
                }
                Ok(())
            }
            Err(error) => self.unreadable(path, None, error.detail()),
        }
    }
}

/// The names of the columns of `expected` that `is` does not have, or has with other values.
fn differing(is: &dyn CellSource, expected: &dyn CellSource) -> Result<Vec<String>> {
    let names = expected.columns().iter().map(|column| column.name.clone());
    let places = names.map(|name| (is.columns().iter().position(|column| column.name == name), name));
    let (mut differing, mut columns) = (Vec::new(), (Vec::new(), Vec::new()));
    for (index, (place, name)) in places.enumerate() {
        match place {
            Some(place) => {
                columns.0.push(place);
                columns.1.push((index, name));
            }
            None => differing.push((index, name)),
        }
    }
    let (indexes, mut names): (Vec<usize>, Vec<_>) =
        columns.1.into_iter().map(|(index, name)| (index, Some((index, name)))).unzip();
    let query = |columns| CellQuery { columns: Some(columns), ..CellQuery::default() };
    let (mut x, mut y) = (Cursor::new(is, &query(columns.0))?, Cursor::new(expected, &query(indexes))?);
    loop {
        let len = match (x.rest()?, y.rest()?) {
            (None, None) => break,
            (Some((a, i, left)), Some((b, j, other))) => {
                let len = left.min(other);
                for ((a, b), name) in a.columns.iter().zip(&b.columns).zip(&mut names) {
                    let (mut a, mut b) = (a.elements(), b.elements());
                    a.split(i);
                    b.split(j);
                    if !a.split(len).zip(b.split(len)).all(|(is, expected)| is_same(is, expected)) {
                        differing.extend(name.take());
                    }
                }
                len
            }
            // The numbers of cells differ.
            _ => {
                names.iter_mut().for_each(|name| differing.extend(name.take()));
                break;
            }
        };
        x.skip(len);
        y.skip(len);
    }
    differing.sort_unstable();
    Ok(differing.into_iter().map(|(_, name)| name).collect())
}

/// Whether all elements are equal.
pub(super) fn same(is: &Datatype, values: &Values, expected: &Datatype, others: &Values) -> bool {
    let (is, expected) = (Elements::new(is, values), Elements::new(expected, others));
    is.len() == expected.len() && is.zip(expected).all(|(is, expected)| is_same(is, expected))
}

/// Whether two elements are equal. A region can be encoded in several ways, but has one text form.
fn is_same(is: ElementRef<'_>, expected: ElementRef<'_>) -> bool {
    let text = hyperslab_ndl::json;
    is.same(expected) || is.datatype().has_slots() && text(is) == text(expected)
}

/// Values as a short text: a single value alone, several in brackets.
pub(super) fn shown(datatype: &Datatype, values: &Values) -> String {
    let elements = Elements::new(datatype, values);
    let count = elements.len();
    let texts: Vec<_> = elements.take(MAX_SHOWN).map(short).collect();
    match (texts.as_slice(), count) {
        ([one], 1) => one.clone(),
        (several, count) => {
            let more = if count > several.len() { ", …" } else { "" };
            format!("[{}{more}]", several.join(", "))
        }
    }
}

/// An element as one line, shortened if it is long.
fn short(element: ElementRef<'_>) -> String {
    let text = hyperslab_ndl::json(element);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// The position of an element, as a prefix; empty for a scalar.
fn place(at: u64, extents: &[u64]) -> String {
    if extents.is_empty() {
        return String::new();
    }
    let (mut rest, mut index) = (at, vec![0; extents.len()]);
    for (index, extent) in index.iter_mut().zip(extents).rev() {
        *index = rest.checked_rem(*extent).unwrap_or(0);
        rest = rest.checked_div(*extent).unwrap_or(0);
    }
    format!("{index:?} is ")
}

fn values_len(extents: &[u64]) -> u64 {
    extents.iter().fold(1, |count, extent| count.saturating_mul(*extent))
}

/// The maximum number of elements of an attribute that are shown.
const MAX_SHOWN: usize = 8;
/// The maximum number of characters of an element that are shown.
const LONGEST: usize = 60;
