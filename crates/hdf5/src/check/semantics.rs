//! Rules of datatypes that their encoding does not enforce.

use super::Checker;
use super::objects::shown;
use super::reading::Pointer;
use super::rule;
use crate::format::message::datatype::{Datatype, DatatypeClass, Enumeration, ReferenceType};
use rustc_hash::FxHashSet;

impl Checker<'_> {
    /// Checks a datatype and the datatypes within it.
    pub(super) fn check_datatype(&mut self, datatype: &Datatype, from: Pointer) {
        // The decoder limits the nesting of datatypes.
        let mut stack = vec![datatype];
        while let Some(datatype) = stack.pop() {
            self.check_one_datatype(datatype, from);
            for part in datatype.parts() {
                if part.version > datatype.version {
                    let message = format!(
                        "version {} of a part of a datatype of version {}",
                        part.version as u8, datatype.version as u8
                    );
                    self.report(&rule::DATATYPE, from.structure, from.byte, message);
                }
                stack.push(part);
            }
        }
    }

    fn check_one_datatype(&mut self, datatype: &Datatype, from: Pointer) {
        let offsets = u32::from(self.sizes().offsets);
        let min = match &datatype.class {
            DatatypeClass::VariableLength(_) => 8 + offsets,
            DatatypeClass::Reference(class) => match class.reference_type {
                ReferenceType::Object1 => offsets,
                ReferenceType::DatasetRegion1 => 4 + offsets,
                _ => 1,
            },
            DatatypeClass::Array(array) if array.is_empty() => {
                self.report(&rule::DATATYPE, from.structure, from.byte, "an array with a dimension of 0");
                return;
            }
            DatatypeClass::Enumeration(enumeration) => return self.check_enumeration(enumeration, from),
            DatatypeClass::Compound(compound) => {
                if let Some(member) = compound.members.iter().find(|member| member.name.is_empty()) {
                    let message = format!("the member at offset {} has an empty name", member.byte_offset);
                    self.report(&rule::DATATYPE, from.structure, from.byte, message);
                }
                return;
            }
            _ => return,
        };
        if datatype.size < min {
            let message = format!("elements of {} bytes, at least {min} are needed", datatype.size);
            self.report(&rule::DATATYPE, from.structure, from.byte, message);
        }
    }

    fn check_enumeration(&mut self, enumeration: &Enumeration, from: Pointer) {
        let (mut names, mut values) = (FxHashSet::default(), FxHashSet::default());
        for (name, value) in enumeration.members() {
            if !names.insert(name) {
                let message = format!("two values of the name {}", shown(name));
                self.report(&rule::DATATYPE, from.structure, from.byte, message);
            } else if !values.insert(value) {
                let message = format!("{} has the value of another name", shown(name));
                self.report(&rule::DATATYPE, from.structure, from.byte, message);
            }
        }
    }
}
