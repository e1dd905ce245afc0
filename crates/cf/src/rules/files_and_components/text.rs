//! Strings in Unicode.
//!
//! Spec: CF 1.13, 2.2 Data Types

use super::{Found, Scope};
use crate::dataset::{Attribute, Value, Variable};
use crate::rules::values::{Fold, Texts};
use crate::tables::attributes::AttributeType;
use crate::tables::{attributes, grid_mappings};
use hyperslab_model::Elements;
use unicode_normalization::is_nfc;

pub(in crate::rules) fn text_utf8(scope: &Scope<'_>, found: &mut Found) {
    for group in scope.groups() {
        for (name, attribute) in &group.attributes {
            text_of(scope, &format!("{}@{name}", group.path), name, attribute, found);
        }
    }
    for variable in scope.variables() {
        for (name, attribute) in &variable.attributes {
            text_of(scope, &variable.place(name), name, attribute, found);
        }
    }
}

fn text_of(scope: &Scope<'_>, place: &str, name: &str, attribute: &Attribute, found: &mut Found) {
    let of_cf = attributes::get(name).map(|of| of.data_type);
    let data_type = of_cf.or_else(|| grid_mappings::attribute(name).map(|of| of.data_type));
    if data_type != Some(AttributeType::Text) {
        return;
    }
    match &attribute.value {
        // The encoding was specified in version 1.12.
        Value::NotUtf8(text) if scope.is_since(12) => {
            found.add(place, format!("{text:?} is not UTF-8, expected it to be"), "write the text as UTF-8");
        }
        Value::Text(text) if scope.is_since(12) && !is_nfc(text) => {
            found.add(place, not_composed(text), "compose its letters and accents");
        }
        Value::Texts(texts) if texts.len() > 1 => {
            let message = format!("an array of {} strings, expected a single one", texts.len());
            found.add(place, message, "join them to one string");
        }
        _ => {}
    }
}

fn not_composed(text: &str) -> String {
    format!("{text:?} is not in Unicode Normalization Form C, expected it to be")
}

/// The same for the values of variables.
pub(in crate::rules) fn label_utf8<'a>(
    scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    let texts = Texts::of(variable).filter(|_| scope.is_since(12))?;
    Some(Box::new(Labels { variable, texts, wrong: None }))
}

struct Labels<'a> {
    variable: &'a Variable,
    texts: Texts,
    /// The error in the first invalid string.
    wrong: Option<String>,
}

impl Fold for Labels<'_> {
    fn take(&mut self, values: Elements<'_>) {
        let wrong = &mut self.wrong;
        self.texts.take(values, &mut |bytes| {
            if wrong.is_none() && !bytes.is_ascii() {
                *wrong = match std::str::from_utf8(bytes) {
                    Ok(text) => (!is_nfc(text)).then(|| not_composed(text)),
                    Err(_) => {
                        Some(format!("{:?} is not UTF-8, expected it to be", String::from_utf8_lossy(bytes)))
                    }
                };
            }
        });
    }

    fn is_done(&self) -> bool {
        self.wrong.is_some()
    }

    fn finish(self: Box<Self>, found: &mut Found) {
        if let Some(message) = self.wrong {
            found.add(&self.variable.path, message, "write strings as UTF-8 in Unicode NFC");
        }
    }
}
