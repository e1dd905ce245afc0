//! Attributes in CDL.

use super::Cdl;
use super::element::{push_attribute_number, push_enum_name, push_escaped, push_value, text};
use super::library::Variable;
use super::name::{is_keyword, push_name};
use super::types::{Class, Type};
use crate::formats::RESERVED_ATTRIBUTES;
use hyperslab_core::Result;
use hyperslab_model::{Attribute, Attributes, Datatype, ElementRef, Elements, Length, Text, Unreadable};

impl Cdl<'_> {
    /// Writes the attributes of a variable.
    pub(super) fn attributes_of(&mut self, group: usize, variable: &Variable) -> Result<()> {
        let attributes = self.load_attributes(&variable.handle)?;
        self.attributes(group, &variable.name, &attributes)
    }

    /// Writes attributes of an object: a variable, or with an empty name a group.
    pub(super) fn attributes(&mut self, group: usize, owner: &str, attributes: &Attributes) -> Result<()> {
        for (name, attribute) in attributes {
            let place = format!("{owner}:{name}");
            if RESERVED_ATTRIBUTES.contains(&name.as_str()) {
                self.lines.comment(&format!("{place}, whose name is reserved"))?;
                continue;
            }
            match attribute {
                Ok(attribute) => self.attribute(group, (owner, name), attribute)?,
                Err(unreadable) => {
                    let error = hyperslab_core::Error::new(unreadable.kind, unreadable.reason.clone());
                    self.lines.comment(&format!("{place}: {error}"))?;
                    self.done.errors.push(error.in_object(place));
                }
            }
        }
        Ok(())
    }

    /// Whether CDL can express an attribute of this name and type.
    pub(super) fn says_attribute(
        &self,
        name: &str,
        attribute: &std::result::Result<Attribute, Unreadable>,
    ) -> bool {
        let has_type = |attribute| self.type_of_attribute(attribute).is_ok();
        !RESERVED_ATTRIBUTES.contains(&name) && attribute.as_ref().is_ok_and(has_type)
    }

    fn attribute(&mut self, group: usize, (owner, name): (&str, &str), attribute: &Attribute) -> Result<()> {
        let of = match self.type_of_attribute(attribute) {
            Ok(of) => of,
            Err(why) => return self.lines.comment(&format!("{owner}:{name}: {why}")),
        };
        if let Some(loss) = of.loss(&attribute.datatype) {
            self.lines.comment(&format!("{owner}:{name}: {loss}"))?;
        }
        self.lines.begin()?;
        self.lines.put("\t\t")?;
        if matches!(of, Type::User(_) | Type::String) {
            self.type_name(group, of)?;
            self.lines.put(" ")?;
        }
        let mut head = Vec::new();
        push_name(&mut head, owner);
        if is_keyword(owner) {
            head.push(b' ');
        }
        head.push(b':');
        push_name(&mut head, name);
        head.extend_from_slice(b" = ");
        self.lines.put(head)?;
        self.attribute_values(of, Elements::new(&attribute.datatype, &attribute.value))?;
        self.lines.put(" ;\n")
    }

    fn attribute_values(&mut self, of: Type, elements: Elements<'_>) -> Result<()> {
        let mut out = Vec::new();
        let class = match of {
            Type::User(number) => self.library.types.get(number).map(|of| &of.class),
            _ => None,
        };
        let last = elements.len().saturating_sub(1);
        if elements.len() == 0 {
            return self.lines.put("\"\"");
        }
        for (number, element) in elements.enumerate() {
            out.clear();
            match (of, class) {
                (Type::Char, _) => self.push_text(characters(element), &mut out),
                (Type::String, _) => self.push_text(text(&element), &mut out),
                (_, Some(Class::Enum { .. })) => push_enum_name(element, &mut out)?,
                (_, Some(_)) => push_value(&self.library.types, of, element, &mut out)?,
                _ => push_attribute_number(of, element, &mut out)?,
            }
            if number < last {
                out.extend_from_slice(b", ");
            }
            match class {
                Some(Class::Compound(_) | Class::Vlen(_)) => self.lines.unbroken(&out)?,
                _ => self.lines.put(&out)?,
            }
        }
        Ok(())
    }

    /// Adds a string. In the classic model, where an attribute has one string, each of its lines is written on a line
    /// of its own.
    fn push_text(&self, text: &[u8], out: &mut Vec<u8>) {
        out.push(b'"');
        for byte in text {
            match byte {
                b'\n' if self.is_classic => out.extend_from_slice(b"\\n\",\n\t\t\t\""),
                byte => push_escaped(*byte, out),
            }
        }
        out.push(b'"');
    }

    /// The type of an attribute: a single fixed-length string has the type `char`.
    pub(super) fn type_of_attribute(&self, attribute: &Attribute) -> std::result::Result<Type, String> {
        let is_single = attribute.shape.as_ref().is_none_or(Vec::is_empty);
        match attribute.datatype.resolved() {
            Datatype::String(Text::Fixed { .. }) if !is_single => Ok(Type::String),
            Datatype::String(Text::Variable)
                if is_single && attribute.storage.length != Some(Length::Variable) =>
            {
                // It is not stated how the string is stored, as in a document.
                Ok(if self.texts_are_characters { Type::Char } else { Type::String })
            }
            Datatype::String(_) => self.library.types.of(&attribute.datatype),
            _ => self.library.types.of_variable(&attribute.datatype, attribute.storage.precision),
        }
    }
}

/// The characters of a string without trailing NULs.
fn characters(element: ElementRef<'_>) -> &[u8] {
    let row = match element.datatype().resolved() {
        Datatype::String(Text::Variable) => text(&element),
        _ => element.row(),
    };
    let len = row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    row.get(..len).unwrap_or_default()
}
