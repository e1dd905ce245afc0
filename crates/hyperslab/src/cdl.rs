//! Writes a store as CDL, the text form of NetCDF that `ncdump` prints.
//!
//! Names, types, dimensions and the order of all items are as the NetCDF library shows them. Content that CDL cannot
//! express is listed in comments that begin with `// not in CDL:`.

mod attribute;
mod data;
mod element;
mod library;
mod line;
mod name;
mod number;
mod types;

use crate::describe::Description;
use crate::formats::FIRST_WORD_OF_CDL;
use crate::select::FullLength;
use crate::source::{Handle, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::Attributes;
use library::{Library, NamedDimension};
use line::Lines;
use name::{escaped, push_name};
use rustc_hash::FxHashMap;
use std::io::Write;
use std::sync::Arc;
use types::{Class, Type};

/// Writes the CDL of a store. `location` is its name for the reader. With `values`, the values of variables of at most
/// this number of elements follow the declarations of their group.
///
/// # Errors
/// If writing fails, or the objects cannot be listed. Unreadable objects are named in comments and are among the errors
/// of the [`Description`].
pub fn cdl(
    source: Arc<dyn Source>,
    location: &str,
    values: Option<u64>,
    out: &mut dyn Write,
) -> Result<Description> {
    let source = FullLength::new(source);
    let is_classic = source.is_classic_model();
    let mut library = Library::of(&source, location)?;
    let mut done = Description { objects: library.objects, ..Description::default() };
    done.errors.append(&mut library.errors);
    let texts_are_characters =
        crate::formats::dialect(source.format()).unwrap_or(source.dialect()).texts_are_characters
            || !source.is_text();
    let mut cdl = Cdl {
        source: &source,
        library,
        lines: Lines::new(out),
        values,
        is_classic,
        texts_are_characters,
        done,
    };
    cdl.lines.put([FIRST_WORD_OF_CDL.as_bytes(), b" ", &escaped(base_name(location)), b" {\n"].concat())?;
    cdl.groups()?;
    cdl.lines.put("}\n")?;
    source.pool().check()?;
    Ok(cdl.done)
}

/// The name of a file without its folder and its extension.
fn base_name(location: &str) -> &str {
    let name = location.trim_end_matches('/').rsplit('/').next().unwrap_or(location);
    name.rsplit_once('.').map_or(name, |(base, _)| base)
}

struct Cdl<'a> {
    source: &'a dyn Source,
    library: Library,
    lines: Lines<'a>,
    /// Write values of variables of at most this number of elements.
    values: Option<u64>,
    /// Whether the store follows the classic model, in which a text attribute has a single string.
    is_classic: bool,
    /// Whether a single string in an attribute consists of characters, unless stated otherwise.
    texts_are_characters: bool,
    done: Description,
}

impl Cdl<'_> {
    /// Writes all groups: the root, and each other one inside the group that contains it.
    fn groups(&mut self) -> Result<()> {
        self.group(0)?;
        let mut open = vec![(0, 0)];
        while let Some((group, next)) = open.pop() {
            match self.library.groups.get(group).and_then(|of| of.groups.get(next)).copied() {
                Some(child) => {
                    let name = self.group_name(child);
                    self.lines.put("\n")?;
                    self.lines.line([b"group: ".as_slice(), &name, b" {"].concat())?;
                    self.lines.deeper();
                    self.group(child)?;
                    open.extend([(group, next + 1), (child, 0)]);
                }
                None if group == 0 => {}
                None => {
                    let name = self.group_name(group);
                    self.lines.line([b"} // group ".as_slice(), &name].concat())?;
                    self.lines.back();
                }
            }
        }
        Ok(())
    }

    fn group_name(&self, group: usize) -> Vec<u8> {
        escaped(self.library.groups.get(group).map_or("", |group| group.name.as_str()))
    }

    /// Writes the declarations and values of one group.
    fn group(&mut self, number: usize) -> Result<()> {
        self.source.pool().check()?;
        let Some(group) = self.library.groups.get_mut(number) else { return Ok(()) };
        let (types, dimensions) = (std::mem::take(&mut group.types), group.dimensions.clone());
        let (variables, handle) = (std::mem::take(&mut group.variables), group.handle.clone());
        let left_out = std::mem::take(&mut group.left_out);
        for what in left_out {
            self.lines.comment(&what)?;
        }
        if !types.is_empty() {
            // Type names are looked up where they are declared.
            self.library.groups.get_mut(number).into_iter().for_each(|of| of.types.clone_from(&types));
            self.lines.line("types:")?;
            self.lines.deeper();
            types.iter().try_for_each(|declared| self.declare_type(number, *declared))?;
            self.lines.back();
        }
        if !dimensions.is_empty() {
            self.lines.line("dimensions:")?;
        }
        for dimension in dimensions.iter().filter_map(|number| self.library.dimensions.get(*number)) {
            let mut line = b"\t".to_vec();
            push_name(&mut line, &dimension.name);
            let len = match dimension.is_unlimited {
                true => format!(" = UNLIMITED ; // ({} currently)", dimension.len),
                false => format!(" = {} ;", dimension.len),
            };
            line.extend_from_slice(len.as_bytes());
            self.lines.line(line)?;
        }
        if !variables.is_empty() {
            self.lines.line("variables:")?;
        }
        for variable in &variables {
            self.lines.begin()?;
            self.lines.put("\t")?;
            self.type_name(number, variable.of)?;
            let mut line = b" ".to_vec();
            push_name(&mut line, &variable.name);
            let dimensions = variable.dimensions.iter().filter_map(|of| self.library.dimensions.get(*of));
            for (place, dimension) in dimensions.enumerate() {
                line.extend_from_slice(if place == 0 { b"(" } else { b", " });
                self.push_dimension(number, dimension, &mut line);
            }
            line.extend_from_slice(if variable.dimensions.is_empty() { b" ;\n" } else { b") ;\n" });
            self.lines.put(line)?;
            self.attributes_of(number, variable)?;
        }
        let attributes = match self.library.is_single_array {
            true => Attributes::default(),
            false => self.load_attributes(&handle)?,
        };
        if attributes.iter().any(|(name, attribute)| self.says_attribute(name, attribute)) {
            self.lines.put("\n")?;
            self.lines.line(if number == 0 { "// global attributes:" } else { "// group attributes:" })?;
        }
        self.attributes(number, "", &attributes)?;
        if self.values.is_some() && !variables.is_empty() {
            self.lines.line("data:")?;
            variables.iter().try_for_each(|variable| self.values_of(variable))?;
        }
        Ok(())
    }

    /// The attributes of an object; none if it cannot be read.
    fn load_attributes(&mut self, handle: &Handle) -> Result<Attributes> {
        match self.source.load(handle) {
            Ok(mut node) => {
                let mut attributes = node.attributes_mut().map(std::mem::take).unwrap_or_default();
                if let Some(order) = self.source.stored_order_of_attributes(handle)? {
                    let places: FxHashMap<&String, usize> = order.iter().zip(0..).collect();
                    let place = |name: &String| places.get(name).copied().unwrap_or(usize::MAX);
                    attributes.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
                }
                Ok(attributes)
            }
            Err(error) => {
                self.lines.comment(&format!("attributes of {}: {error}", handle.path))?;
                self.done.errors.push(error.in_object(&handle.path));
                Ok(Attributes::default())
            }
        }
    }

    /// Adds the name of a dimension, with the path of its group if the name alone would refer to another dimension.
    fn push_dimension(&self, group: usize, dimension: &NamedDimension, out: &mut Vec<u8>) {
        if self.library.hides(group, dimension) {
            push_name(out, &self.library.path_of(dimension.group));
            if dimension.group != 0 {
                out.push(b'/');
            }
        }
        push_name(out, &dimension.name);
    }

    fn declare_type(&mut self, group: usize, number: usize) -> Result<()> {
        let Some(declared) = self.library.types.get(number) else { return Ok(()) };
        let name = escaped(&declared.name);
        match &declared.class {
            Class::Vlen(base) => {
                let base = *base;
                self.lines.begin()?;
                self.type_name(group, base)?;
                self.lines.put([b"(*) ".as_slice(), &name, b" ;\n"].concat())
            }
            Class::Opaque(size) => {
                let head = format!("opaque({size}) ");
                self.lines.line([head.as_bytes(), &name, b" ;"].concat())
            }
            Class::Enum { base, members } => {
                self.lines.begin()?;
                let mut text = base.keyword().unwrap_or_default().as_bytes().to_vec();
                text.extend_from_slice(b" enum ");
                text.extend_from_slice(&name);
                text.extend_from_slice(b" {");
                self.lines.unbroken(&text)?;
                for (place, (name, value)) in members.iter().enumerate() {
                    text.clear();
                    push_name(&mut text, name);
                    let end = if place + 1 == members.len() { "} ;\n" } else { ", " };
                    text.extend_from_slice(format!(" = {value}{end}").as_bytes());
                    self.lines.unbroken(&text)?;
                }
                Ok(())
            }
            Class::Compound(fields) => {
                let fields: Vec<(Type, Vec<u8>)> = fields
                    .iter()
                    .map(|field| {
                        let mut text = escaped(&field.name);
                        if !field.extents.is_empty() {
                            let extents: Vec<String> = field.extents.iter().map(u64::to_string).collect();
                            text.extend_from_slice(format!("({})", extents.join(", ")).as_bytes());
                        }
                        (field.of, text)
                    })
                    .collect();
                self.lines.line([b"compound ".as_slice(), &name, b" {"].concat())?;
                for (of, text) in fields {
                    self.lines.begin()?;
                    self.lines.put("  ")?;
                    self.type_name(group, of)?;
                    self.lines.put([b" ".as_slice(), &text, b" ;\n"].concat())?;
                }
                self.lines.line([b"}; // ".as_slice(), &name].concat())
            }
        }
    }

    /// Writes the name of a type, with its path if it is declared neither in the group nor in one that contains it.
    fn type_name(&mut self, group: usize, of: Type) -> Result<()> {
        let number = match (of.keyword(), of) {
            (Some(keyword), _) => return self.lines.put(keyword),
            (None, Type::User(number)) => number,
            (None, _) => return Err(Error::invalid("a type without a name")),
        };
        let Some(declared) = self.library.types.get(number) else { return Ok(()) };
        let mut text = Vec::new();
        if !self.library.sees_type(group, &declared.name) {
            push_name(&mut text, &self.library.path_of(declared.group));
            text.push(b'/');
        }
        push_name(&mut text, &declared.name);
        self.lines.put(text)
    }
}
