//! Schema evolution: attributes are added and dropped, enumerations and the current domain grow.
//!
//! Spec: TileDB format_spec, array_schema.md "Array Schema File" and array_file_hierarchy.md
//!
//! An evolved schema is a new file with a later time, and no fragment is rewritten. Each fragment is read with the
//! schema that it was written with: cells that are older than an attribute have its fill value.

use super::array::ArrayWriter;
use super::r_tree::widen;
use super::schema;
use crate::array::Array;
use crate::check::most_values;
use crate::format::array_schema::{ArraySchema, Attribute, CurrentDomain, Dimension, EnumerationFile};
use crate::format::data_type::CellValNum;
use crate::format::enumeration::Enumeration;
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::version::RELEASED;
use crate::history::value_text;
use crate::read::compare::compare;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// The next schema of an array. Nothing is written before [`ArrayWriter::evolve`].
pub struct Evolution<'a> {
    array: &'a Array,
    before: Arc<ArraySchema>,
    schema: ArraySchema,
    /// Enumerations that need files of their own.
    enumerations: Vec<Enumeration>,
}

impl<'a> Evolution<'a> {
    /// The schema of an array, without changes so far. The array must see everything that was ever written.
    pub fn of(array: &'a Array) -> Evolution<'a> {
        let before = array.shared_schema();
        let mut schema = (*before).clone();
        // Before that, arrays have one schema file. The library also writes the newest version.
        if schema.version < SCHEMA_FOLDER {
            schema.version = RELEASED;
        }
        Evolution { array, before, schema, enumerations: Vec::new() }
    }

    /// The schema with the changes so far.
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        let ArraySchema { attributes, enumerations, current_domain, .. } = &self.schema;
        *attributes == self.before.attributes
            && *enumerations == self.before.enumerations
            && *current_domain == self.before.current_domain
            && self.enumerations.is_empty()
    }

    /// Adds an attribute after all others. Existing cells have its fill value. `enumeration` has the values that the
    /// attribute refers to, if they are new to the array.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if an attribute, dimension or label has the
    /// name, or if cells of another datatype, which belonged to a dropped attribute, are stored under it; for an
    /// enumeration with a name that the array already has.
    pub fn add_attribute(&mut self, attribute: Attribute, enumeration: Option<Enumeration>) -> Result<()> {
        let name = lossy(&attribute.name);
        if let Some(what) = self.of_name(&attribute.name) {
            return Err(Error::invalid(format!("attribute {name:?}, which is the name of {what}")));
        }
        if name.starts_with(RESERVED) {
            return Err(Error::invalid(format!(
                "attribute {name:?}, names that begin with \"{RESERVED}\" are reserved"
            )));
        }
        for fragment in self.array.fragments()? {
            let known = fragment.schema.attributes.iter().find(|known| known.name == attribute.name);
            let type_of = |of: &Attribute| (of.data_type, of.cell_val_num, of.nullable);
            if known.is_some_and(|known| type_of(known) != type_of(&attribute)) {
                return Err(Error::invalid(format!(
                    "attribute {name:?}, which has stored cells of another datatype, from before it was dropped"
                ))
                .with_hint("choose another name"));
            }
        }
        if let Some(enumeration) = enumeration {
            let of = lossy(&enumeration.name);
            if attribute.enumeration.as_ref() != Some(&enumeration.name) {
                return Err(Error::invalid(format!(
                    "enumeration {of:?}, which attribute {name:?} does not name"
                )));
            }
            if self.schema.enumerations.iter().any(|file| file.name == enumeration.name) {
                return Err(Error::invalid(format!("enumeration {of:?}, which the array has already")));
            }
            check_values(&enumeration)?;
            self.check_count(&enumeration, std::slice::from_ref(&attribute))?;
            let file = EnumerationFile { name: enumeration.name.clone(), file_name: Vec::new() };
            self.schema.enumerations.push(file);
            self.enumerations.push(enumeration);
        }
        self.schema.attributes.push(attribute);
        Ok(())
    }

    /// Drops an attribute, with its enumeration if no other attribute refers to its values. Its cells stay stored until
    /// they are consolidated and vacuumed, and are visible at earlier moments.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such attribute, it has no name,
    /// or it is the only one.
    pub fn drop_attribute(&mut self, name: &[u8]) -> Result<()> {
        let Some(at) = self.schema.attributes.iter().position(|of| of.name == name && !name.is_empty())
        else {
            let detail = match self.of_name(name) {
                _ if name.is_empty() => "an attribute without a name, which TileDB cannot drop".to_owned(),
                Some(what) => format!("{:?} is the name of {what}, expected an attribute", lossy(name)),
                None => format!("no attribute {:?}", lossy(name)),
            };
            return Err(Error::invalid(detail));
        };
        if self.schema.attributes.len() == 1 {
            let detail = format!("attribute {:?} is the only one of the array", lossy(name));
            return Err(Error::invalid(detail).with_hint("add another attribute first"));
        }
        let dropped = self.schema.attributes.remove(at);
        if let Some(enumeration) = dropped.enumeration
            && self.schema.attributes.iter().all(|of| of.enumeration.as_ref() != Some(&enumeration))
        {
            self.schema.enumerations.retain(|file| file.name != enumeration);
            self.enumerations.retain(|of| of.name != enumeration);
        }
        Ok(())
    }

    /// Renames an attribute of an array to which nothing was written.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the array has fragments: they find cells by the
    /// previous name of the attribute. [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no
    /// such attribute, or the new name is taken.
    pub fn rename_attribute(&mut self, name: &[u8], to: &[u8]) -> Result<()> {
        let (from, new) = (lossy(name), lossy(to));
        if let Some(what) = self.of_name(to) {
            return Err(Error::invalid(format!("attribute {new:?}, which is the name of {what}")));
        }
        let is_empty = self.array.fragments()?.is_empty();
        let Some(attribute) = self.schema.attributes.iter_mut().find(|of| of.name == name) else {
            return Err(Error::invalid(format!("no attribute {from:?}")));
        };
        if !is_empty {
            let detail = format!("renaming attribute {from:?}: fragments find its cells by this name");
            return Err(Error::unsupported(detail)
                .with_hint("add an attribute of the new name, write its cells, and drop the old one"));
        }
        attribute.name = to.to_vec();
        Ok(())
    }

    /// Appends values to an enumeration, each with the bytes of its cell. Existing values keep their positions.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the array has no such enumeration, if it
    /// already has a value, or attributes cannot refer to this many; if its file cannot be read.
    pub fn extend_enumeration(&mut self, name: &[u8], values: &[Vec<u8>]) -> Result<()> {
        if self.schema.enumerations.iter().all(|file| file.name != name) {
            let known: Vec<String> =
                self.schema.enumerations.iter().map(|file| format!("{:?}", lossy(&file.name))).collect();
            let error = Error::invalid(format!("no enumeration {:?}", lossy(name)));
            return Err(match known.is_empty() {
                true => error,
                false => error.with_hint(format_args!("the array has {}", known.join(", "))),
            });
        }
        let pending = self.enumerations.iter().position(|of| of.name == name);
        let mut extended = self.enumeration(name)?;
        for value in values {
            if let Some(offsets) = &mut extended.offsets {
                offsets.push(extended.data.len() as u64);
            }
            extended.data.extend_from_slice(value);
        }
        let size = extended.data_type.size();
        let is_whole = |value: &Vec<u8>| match extended.cell_val_num {
            CellValNum::Fixed(count) => {
                usize::try_from(count).ok().and_then(|count| count.checked_mul(size)) == Some(value.len())
            }
            CellValNum::Var => value.len().is_multiple_of(size),
        };
        if let Some(value) = values.iter().find(|value| !is_whole(value)) {
            let (found, of) = (value.len(), extended.data_type.name());
            return Err(Error::invalid(format!("a value of {found} bytes for an enumeration of {of}")));
        }
        check_values(&extended)?;
        self.check_count(&extended, &self.schema.attributes)?;
        match pending.and_then(|at| self.enumerations.get_mut(at)) {
            Some(pending) => *pending = extended,
            None if values.is_empty() => {}
            None => self.enumerations.push(extended),
        }
        Ok(())
    }

    /// Extends the current domain to a rectangle.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the whole domain may already be written, or
    /// the rectangle does not contain the whole current domain, or extends outside of the domain.
    pub fn grow(&mut self, to: &Mbr) -> Result<()> {
        let current = self.schema.current_domain.as_ref().and_then(|current| current.rectangle.as_ref());
        let Some(current) = current else {
            let error = Error::invalid("the array has no current domain that could grow");
            return Err(error.with_hint("cells can be written anywhere in its domain"));
        };
        let dimensions = &self.schema.domain.dimensions;
        let (found, expected) = (to.ranges.len(), dimensions.len());
        if found != expected {
            return Err(Error::invalid(format!("ranges of {found} dimensions, the array has {expected}")));
        }
        for ((dimension, before), after) in dimensions.iter().zip(&current.ranges).zip(&to.ranges) {
            check_growth(dimension, before, after)?;
        }
        let version = self.schema.current_domain.as_ref().map_or(0, |current| current.version);
        self.schema.current_domain = Some(CurrentDomain { version, rectangle: Some(to.clone()) });
        Ok(())
    }

    /// Extends the current domain to include a rectangle, unless it already does. Nothing changes if the whole domain
    /// may be written. Returns whether it grew.
    ///
    /// # Errors
    /// As [`grow`](Self::grow), for a rectangle that exceeds the domain.
    pub fn grow_around(&mut self, rectangle: &Mbr) -> Result<bool> {
        let current = self.schema.current_domain.as_ref().and_then(|current| current.rectangle.as_ref());
        let Some(current) = current else { return Ok(false) };
        let mut to = current.clone();
        let dimensions = self.schema.domain.dimensions.iter();
        for (dimension, (range, own)) in dimensions.zip(to.ranges.iter_mut().zip(&rectangle.ranges)) {
            if !is_any(dimension, range) {
                widen(range, dimension.data_type, &own.min, &own.max);
            }
        }
        let grows = to != *current;
        self.grow(&to)?;
        Ok(grows)
    }

    /// An enumeration with the values that it will have.
    ///
    /// # Errors
    /// If there is no enumeration with this name, or it cannot be read.
    pub fn enumeration(&self, name: &[u8]) -> Result<Enumeration> {
        match self.enumerations.iter().find(|of| of.name == name) {
            Some(pending) => Ok(pending.clone()),
            None => Ok((*self.array.enumeration(name)?).clone()),
        }
    }

    /// The kind of object that has a name: an attribute, a dimension or a label.
    fn of_name(&self, name: &[u8]) -> Option<&'static str> {
        let schema = &self.schema;
        if schema.attributes.iter().any(|of| of.name == name) {
            return Some("an attribute");
        }
        if schema.domain.dimensions.iter().any(|of| of.name == name) {
            return Some("a dimension");
        }
        schema.dimension_labels.iter().any(|of| of.name == name).then_some("a dimension label")
    }

    /// Checks that attributes can refer to all values of an enumeration.
    fn check_count(&self, enumeration: &Enumeration, attributes: &[Attribute]) -> Result<()> {
        let count = enumeration.values().map_or(0, Iterator::count) as u64;
        for attribute in attributes.iter().filter(|of| of.enumeration.as_ref() == Some(&enumeration.name)) {
            let (name, of) = (lossy(&attribute.name), attribute.data_type.name());
            let Some(most) = most_values(attribute) else {
                return Err(Error::invalid(format!(
                    "attribute {name:?} of {of} counts values of an enumeration"
                )));
            };
            if count > most {
                let detail = format!("{count} values, attribute {name:?} of {of} counts at most {most}");
                return Err(Error::invalid(detail));
            }
        }
        Ok(())
    }
}

impl ArrayWriter {
    /// Writes an evolved schema that is visible from `time` on, in milliseconds since 1970. The returned writer uses
    /// it. If nothing was changed, nothing is written.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a schema that TileDB refuses, for one that
    /// was derived from another schema than the newest, and for a time that is not later than that of the newest; if
    /// the store cannot be written.
    pub fn evolve(&self, evolution: Evolution<'_>, time: u64) -> Result<ArrayWriter> {
        let Evolution { array, before, schema: mut next, enumerations } = evolution;
        let newest = array.directory().schemas.last();
        let is_newest = newest.is_some_and(|file| file.key.name() == self.schema_name());
        if !is_newest {
            return Err(Error::invalid("a change of another schema than the newest one of the array"));
        }
        let is_same = next.attributes == before.attributes
            && next.enumerations == before.enumerations
            && next.current_domain == before.current_domain;
        if is_same && enumerations.is_empty() {
            return Ok(self.clone());
        }
        if let Some(newest) = newest.and_then(|file| file.name.as_ref()).map(|name| name.end)
            && time <= newest
        {
            let detail =
                format!("a schema of time {time}, expected one later than {newest}, that of the newest");
            return Err(Error::invalid(detail));
        }
        schema::check(&next)?;
        self.with_schema(&mut next, enumerations, time)
    }
}

/// Checks that the values of an enumeration are complete and distinct.
fn check_values(enumeration: &Enumeration) -> Result<()> {
    let name = lossy(&enumeration.name);
    let values = enumeration
        .values()
        .ok_or_else(|| Error::invalid(format!("enumeration {name:?} of values that are cut within one")))?;
    let mut known = HashSet::new();
    for value in values {
        if !known.insert(value) {
            let value = value_text(enumeration.data_type, value);
            return Err(Error::invalid(format!("{value} a second time in enumeration {name:?}")));
        }
    }
    Ok(())
}

/// Checks that a range of the current domain grows, within the domain.
fn check_growth(dimension: &Dimension, before: &Range, after: &Range) -> Result<()> {
    let (data_type, name) = (dimension.data_type, lossy(&dimension.name));
    let text = |value: &[u8]| value_text(data_type, value);
    let is_less = |a: &[u8], b: &[u8]| compare(data_type, a, b) == Some(Ordering::Less);
    // Any string may already be written, or may be from now on.
    if is_any(dimension, after) {
        return Ok(());
    }
    let size = data_type.size();
    if !dimension.cell_val_num.is_var() && (after.min.len() != size || after.max.len() != size) {
        let (min, max) = (after.min.len(), after.max.len());
        return Err(Error::invalid(format!(
            "a range of {min} and {max} bytes of dimension {name:?}, expected {size}"
        )));
    }
    if is_any(dimension, before) || is_less(&before.min, &after.min) || is_less(&after.max, &before.max) {
        let [from, to] = [&before.min, &before.max].map(|value| text(value));
        let [low, high] = [&after.min, &after.max].map(|value| text(value));
        return Err(Error::invalid(format!(
            "{low} to {high} of dimension {name:?} is less than the current domain, {from} to {to}, which cannot shrink"
        )));
    }
    let halves = dimension.domain.split_at_checked(size).filter(|_| !dimension.cell_val_num.is_var());
    if let Some((low, high)) = halves
        && (is_less(&after.min, low) || is_less(high, &after.max))
    {
        let [from, to] = [&after.min, &after.max].map(|value| text(value));
        let (low, high) = (text(low), text(high));
        return Err(Error::invalid(format!(
            "{from} to {to} of dimension {name:?}, the domain is from {low} to {high}"
        )));
    }
    Ok(())
}

/// Whether a range of strings is that of all strings, which has no ends.
fn is_any(dimension: &Dimension, range: &Range) -> bool {
    dimension.cell_val_num.is_var() && range.min.is_empty() && range.max.is_empty()
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The prefix of names that the library itself uses.
const RESERVED: &str = "__";

/// The version since which an array can have several schemas.
const SCHEMA_FOLDER: u32 = 10;
