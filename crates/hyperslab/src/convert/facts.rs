//! Facts about elements that a format needs before they are copied.

use crate::source::engine::stream;
use crate::source::{ArraySource, Handle, Source};
use crate::target::{Coordinates, Facts, Needs};
use hyperslab_core::Result;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_model::{Datatype, Element, Elements, Fill, Node, Pad, Text};

/// Finds the facts about elements that a format needs. Type and layout of the array are checked in any case.
pub(super) fn facts(source: &dyn Source, handle: &Handle, node: &Node, needs: Needs) -> Result<Facts> {
    let mut facts = Facts::default();
    let Some(datatype) = node.datatype() else { return Ok(facts) };
    // Strings inside elements are not checked one by one.
    facts.can_pad = !(needs.padding && has_spaces_within(datatype.resolved()));
    let reads_all = match datatype.resolved() {
        Datatype::String(Text::Variable) => needs.unicode || needs.nul || needs.longest,
        Datatype::String(Text::Fixed { pad: Pad::Space, .. }) => needs.padding,
        Datatype::String(_) => false,
        _ => needs.small,
    };
    // The fill value can be shown as an element, or appear in the last chunk.
    let is_text = matches!(datatype.resolved(), Datatype::String(_));
    if reads_all
        && is_text
        && let Some(Fill::Value(fill)) = node.storage().map(|storage| &storage.fill)
    {
        Elements::new(datatype, fill).for_each(|text| note(&mut facts, datatype, &text.get()));
    }
    let array = source.array(handle)?;
    array.check_layout()?;
    facts.fill_is_missing = array.fill_is_missing();
    if needs == Needs::default() {
        return Ok(facts);
    }
    let Some(extents) = array.extents().filter(|extents| !extents.contains(&0)) else { return Ok(facts) };
    let row = datatype.row_size().unwrap_or(1) as u64;
    let is_little = |count: Option<u64>| {
        count.and_then(|count| count.checked_mul(row)).is_some_and(|bytes| bytes <= MAX_FILLED)
    };
    if needs.coordinates {
        let domain = node.storage().and_then(|storage| storage.domain.as_ref());
        if domain.is_none() || !array.is_told_elsewhere() {
            facts.coordinates = coordinates(&*array, datatype, extents)?;
        }
        return Ok(facts);
    }
    if array.is_unwritten()? {
        if needs.small
            && let Some(fill) = array.fill()?
        {
            Elements::new(datatype, &fill).for_each(|own| note(&mut facts, datatype, &own.get()));
        }
        return Ok(Facts { is_whole: false, can_fill: is_little(element_count(extents)), ..facts });
    }
    if needs.written
        && let Some(chunks) = array.chunks()?
    {
        let missing = chunks.outer.of.saturating_sub(chunks.outer.written);
        facts.is_whole = missing == 0 || !array.absent_is_unwritten();
        let elements = element_count(&chunks.outer.shape).and_then(|count| count.checked_mul(missing));
        facts.can_fill = is_little(elements);
    }
    if reads_all {
        stream(&*array, &Region::all(extents), &mut |_, values| {
            Elements::new(datatype, values).for_each(|text| note(&mut facts, datatype, &text.get()));
            Ok(())
        })?;
        return Ok(facts);
    }
    if !needs.readable {
        return Ok(facts);
    }
    let mut first = None;
    array.written(&mut |start| {
        first.get_or_insert_with(|| start.to_vec());
        Ok(())
    })?;
    let first = first.unwrap_or_else(|| vec![0; extents.len()]);
    array.values(&Region::new(first, vec![1; extents.len()]))?;
    Ok(facts)
}

/// Whether coordinates increase by one. Only written coordinates of integer or time types are examined.
fn coordinates(array: &dyn ArraySource, datatype: &Datatype, extents: &[u64]) -> Result<Coordinates> {
    if !matches!(datatype.resolved(), Datatype::Int { .. } | Datatype::Datetime(_)) || array.is_unwritten()? {
        return Ok(Coordinates::Told);
    }
    let (mut found, mut before, mut position) = (Coordinates::Told, None, 0_u64);
    stream(array, &Region::all(extents), &mut |_, values| {
        for element in Elements::new(datatype, values) {
            let Element::Int(number) = element.get() else { continue };
            let step = before.map(|before| number.saturating_sub(before));
            match (found, step) {
                (Coordinates::Told, _) => found = Coordinates::From(number),
                (Coordinates::From(_), Some(step)) if step != 1 => {
                    found = Coordinates::Uneven { position, step };
                }
                _ => {}
            }
            before = Some(number);
            position = position.saturating_add(1);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Whether elements contain strings that are padded with spaces.
fn has_spaces_within(of: &Datatype) -> bool {
    let is_padded = |part: &Datatype| {
        let part = part.resolved();
        matches!(part, Datatype::String(Text::Fixed { pad: Pad::Space, .. })) || has_spaces_within(part)
    };
    match of {
        Datatype::Compound(members) => members.iter().any(|member| is_padded(&member.datatype)),
        Datatype::Array { base, .. } => is_padded(base),
        _ => false,
    }
}

/// Adds the facts of one element.
fn note(facts: &mut Facts, of: &Datatype, element: &Element<'_>) {
    match (of.resolved(), element) {
        (Datatype::String(Text::Variable), Element::Text(text)) => {
            facts.is_unicode &= std::str::from_utf8(text).is_ok();
            facts.has_nul |= text.contains(&0);
            facts.longest = facts.longest.max(text.len() as u64);
        }
        (Datatype::String(Text::Fixed { pad: Pad::Space, .. }), Element::Text(text)) => {
            facts.can_pad &= text.last() != Some(&0);
        }
        (Datatype::String(_), _) => {}
        (_, Element::Int(number) | Element::Enum(number, _)) => {
            facts.is_small &= i32::try_from(*number).is_ok();
        }
        (_, Element::Array(elements, _)) => {
            elements.clone().for_each(|own| note(facts, of, &own.get()));
        }
        _ => facts.is_small = false,
    }
}

/// The maximum size in bytes of fill values that are written where the source has no elements.
const MAX_FILLED: u64 = 1 << 30;
