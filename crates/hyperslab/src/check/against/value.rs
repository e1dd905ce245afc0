//! Values that a contract says.

use super::{Holding, rule};
use crate::engine;
use crate::source::Handle;
use hyperslab_core::Result;
use hyperslab_core::nd::Region;
use hyperslab_model::{Cells, Datatype, ElementRef, Elements, NodePath, Values};

impl Holding<'_> {
    /// Holds the elements of an array, of the same type and shape, against those that the contract has for it.
    pub(super) fn values(&mut self, path: &NodePath, found: &Handle, said: &Handle) -> Result<()> {
        let wanted = self.contract.array(said).map_err(|error| error.in_object(path))?;
        // What a text has no values of takes no bytes in it.
        if wanted.stored()? == 0 {
            return Ok(());
        }
        let Some(extents) = wanted.extents() else { return Ok(()) };
        let region = Region::all(extents);
        let values = wanted.values(&region).map_err(|error| error.in_object(path))?;
        let mut wanted = Elements::new(wanted.datatype(), &values);
        let (mut at, mut first, mut count) = (0_u64, None, 0_u64);
        let held = self.data.array(found).and_then(|array| {
            if array.extents() != Some(extents) {
                return Ok(());
            }
            engine::stream(&*array, &region, &mut |_, values| {
                let is = Elements::new(array.datatype(), values);
                let len = is.len();
                for (is, wanted) in is.zip(wanted.split(len)) {
                    if !is_same(is, wanted) {
                        count += 1;
                        first.get_or_insert_with(|| (at, short(is), short(wanted)));
                    }
                    at += 1;
                }
                Ok(())
            })
        });
        if let Err(error) = held {
            return self.unreadable(path, None, error.detail());
        }
        if let Some((at, is, wanted)) = first {
            let more = match count {
                1 => String::new(),
                count => format!("; {count} of {} differ", values_len(extents)),
            };
            let place = place(at, extents);
            let message = format!("{place}{is}, the contract says {wanted}{more}");
            self.find(&rule::VALUE, path, None, message);
        }
        Ok(())
    }

    /// The same for those cells of a sparse array that are there.
    pub(super) fn cells(&mut self, path: &NodePath, is: Option<&Cells>, wanted: Option<&Cells>) {
        let (Some(is), Some(wanted)) = (is, wanted) else { return };
        for wanted in &wanted.columns {
            let column = is.columns.iter().find(|is| is.name == wanted.name);
            let is_same = |is: &&hyperslab_model::Column| {
                same(&is.datatype, &is.values, &wanted.datatype, &wanted.values)
            };
            if column.filter(is_same).is_none() {
                let message = "cells, the contract says others".to_owned();
                self.find(&rule::VALUE, &path.child(&wanted.name), None, message);
            }
        }
    }
}

/// Whether elements are the same.
pub(super) fn same(is: &Datatype, values: &Values, wanted: &Datatype, others: &Values) -> bool {
    let (is, wanted) = (Elements::new(is, values), Elements::new(wanted, others));
    is.len() == wanted.len() && is.zip(wanted).all(|(is, wanted)| is_same(is, wanted))
}

/// Of regions there are several ways to say the same one, of which a text has one.
fn is_same(is: ElementRef<'_>, wanted: ElementRef<'_>) -> bool {
    let text = hyperslab_ndl::json;
    is.same(wanted) || is.datatype().has_slots() && text(is) == text(wanted)
}

/// A value in a word or a few: a single one as it is, several in brackets.
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

/// An element on a line, cut where it is long.
fn short(element: ElementRef<'_>) -> String {
    let text = hyperslab_ndl::json(element);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Where an element is, in front of it; nothing for a scalar.
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

/// Elements of an attribute that are shown.
const MAX_SHOWN: usize = 8;
/// Characters of an element that are shown.
const LONGEST: usize = 60;
