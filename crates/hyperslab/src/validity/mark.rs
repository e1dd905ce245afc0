//! What a group records about its originally nullable arrays.

use crate::cell_table::text_of_attribute;
use hyperslab_core::{Error, Result};
use hyperslab_model::Attributes;
use serde_json::{Map, Value, json};

/// The name of the attribute of the group.
const NAME: &str = "hyperslab_valid";

/// The originally nullable arrays of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) arrays: Vec<Marked>,
}

/// One of these arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The name of the array of values.
    pub(crate) name: String,
    /// The name of the array that states which values are valid.
    pub(crate) valid: String,
    /// The names of attributes that were added to the array of values.
    pub(crate) added: Vec<String>,
}

impl Mark {
    /// The name of the attribute.
    pub(crate) const NAME: &str = NAME;

    /// The text of the attribute: a JSON object, with a member for each array.
    pub(crate) fn to_json(&self) -> String {
        let one = |of: &Marked| (of.name.clone(), json!({"valid": of.valid, "added": of.added}));
        Value::Object(self.arrays.iter().map(one).collect::<Map<_, _>>()).to_string()
    }

    /// The mark among the attributes of a group, if there is one.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for an invalid mark.
    pub(crate) fn of(attributes: &Attributes) -> Result<Option<Mark>> {
        let Some(text) = text_of_attribute(attributes, NAME) else { return Ok(None) };
        Mark::parse(text).map(Some).map_err(|e| Error::malformed(format!("attribute {NAME}: {}", e.reason())))
    }

    fn parse(text: &[u8]) -> Result<Mark> {
        let mark: Map<String, Value> =
            serde_json::from_slice(text).map_err(|e| Error::malformed(e.to_string()))?;
        let one = |(name, of): (String, Value)| {
            let missing =
                |member: &str| Error::malformed(format!("array {name:?} has no valid member {member:?}"));
            let text = |of: &Value| of.as_str().map(str::to_owned);
            let valid = of.get("valid").and_then(text).ok_or_else(|| missing("valid"))?;
            let added = of.get("added").and_then(Value::as_array).ok_or_else(|| missing("added"))?;
            let added = added.iter().map(text).collect::<Option<_>>().ok_or_else(|| missing("added"))?;
            Ok(Marked { name, valid, added })
        };
        Ok(Mark { arrays: mark.into_iter().map(one).collect::<Result<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell_table::text_attribute;

    #[test]
    fn a_mark_is_read_back_as_written() {
        let marked = |name: &str| Marked {
            name: name.to_owned(),
            valid: format!("{name}_valid"),
            added: vec!["ancillary_variables".to_owned()],
        };
        let mark = Mark { arrays: vec![marked("quality"), marked("a \"b\"")] };
        let attribute = text_attribute(&mark.to_json()).unwrap();
        let mut attributes = Attributes::new();
        attributes.insert(NAME.to_owned(), Ok(attribute));
        assert_eq!(Mark::of(&attributes).unwrap(), Some(mark));
        assert_eq!(Mark::of(&Attributes::new()).unwrap(), None);
    }

    #[test]
    fn invalid_marks_say_what_is_wrong() {
        for (text, expected) in [
            ("7", "invalid type"),
            ("{", "EOF"),
            ("{\"a\": 1}", "array \"a\" has no valid member \"valid\""),
            ("{\"a\": {\"valid\": \"b\", \"added\": [1]}}", "array \"a\" has no valid member \"added\""),
        ] {
            let error = Mark::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
