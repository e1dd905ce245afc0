//! Flags: integers that represent words.
//!
//! Spec: CF 1.13, 3.5 Flags

use super::{Found, Scope};
use crate::dataset::{Attribute, Number, Variable, words};
use crate::rules::files_and_components::is_of_type;
use hyperslab_model::Datatype;
use std::collections::BTreeSet;

pub(in crate::rules) fn flag_values(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("flag_values") {
        let place = variable.place("flag_values");
        check_type(scope, variable, "flag_values", found);
        if !variable.has("flag_meanings") {
            found.add(&place, "flag_values without flag_meanings, expected both", "add flag_meanings");
        }
        // With masks, several words may apply to a value.
        let values = variable.numbers("flag_values").unwrap_or_default();
        let masks = variable.numbers("flag_masks").unwrap_or_default();
        let mut met = BTreeSet::new();
        for (at, value) in values.iter().enumerate() {
            let mask = masks.get(at).and_then(|mask| mask.as_int());
            if !met.insert((value.to_string(), mask)) {
                let message = format!("flag_values has {value} twice, expected different values");
                found.add(&place, message, "give each meaning its own value");
            }
        }
    }
}

pub(in crate::rules) fn flag_masks(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("flag_masks") {
        let place = variable.place("flag_masks");
        if !variable.is_integer() && !variable.is_char() {
            let own = variable.type_name();
            let message = format!("flag_masks of a variable of {own}, expected one of integers");
            found.add(&place, message, "store the variable as integers");
        }
        check_type(scope, variable, "flag_masks", found);
        let masks = variable.numbers("flag_masks").unwrap_or_default();
        if masks.iter().any(|mask| mask.as_int() == Some(0)) {
            found.add(&place, "flag_masks has a 0, expected masks that are not zero", "leave out this mask");
        }
        if let Some(values) = variable.numbers("flag_values") {
            for (mask, value) in masks.iter().zip(values) {
                if let (Some(mask), Some(value)) = (mask.as_int(), value.as_int())
                    && mask & value != value
                {
                    let message = format!("flag value {value} has bits that its mask {mask} does not have");
                    found.advise(&place, message, "make the mask select all bits of its value");
                }
            }
        }
    }
}

fn check_type(scope: &Scope<'_>, variable: &Variable, name: &str, found: &mut Found) {
    let Some(attribute) = variable.attributes.get(name) else { return };
    // Flags of packed and `_Unsigned` variables have the type of the stored values.
    if !is_of_type(scope.dataset, attribute, variable) {
        let expected = variable.type_name();
        let message = format!("{name} are {}, expected {expected} as the variable", type_of(attribute));
        found.add(variable.place(name), message, format!("write {name} as {expected}"));
    }
}

fn type_of(attribute: &Attribute) -> String {
    match &attribute.datatype {
        Some(Datatype::String(_)) | None => attribute.type_name(),
        Some(datatype) => datatype.to_string(),
    }
}

pub(in crate::rules) fn flag_meanings(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        let Some(attribute) = variable.attributes.get("flag_meanings") else {
            if variable.has("flag_masks") && !variable.has("flag_values") {
                let message = "flag_masks without flag_meanings, expected both";
                found.add(variable.place("flag_masks"), message, "add flag_meanings");
            }
            continue;
        };
        let place = variable.place("flag_meanings");
        let Some(text) = attribute.text() else {
            let message = format!("flag_meanings are {}, expected a single string", attribute.type_name());
            found.add(place, message, "separate the words by blanks");
            continue;
        };
        let count = words(text).count();
        for name in ["flag_values", "flag_masks"] {
            let own = variable.attributes.get(name).map(|attribute| match attribute.text() {
                // A variable of characters has a string of single characters.
                Some(text) => text.chars().filter(|letter| !letter.is_whitespace()).count(),
                None => attribute.numbers().map_or(0, <[Number]>::len),
            });
            if let Some(own) = own.filter(|own| *own != count) {
                let message = format!("{count} flag_meanings and {own} {name}, expected as many");
                found.add(&place, message, "give each value one word, with underscores for blanks");
            }
        }
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.+@".contains(letter);
        if let Some(word) = words(text).find(|word| !word.chars().all(is_allowed)) {
            let message = format!("flag meaning {word:?}, expected letters, digits and _ - . + @");
            found.add(&place, message, "write it with these characters");
        }
    }
}
