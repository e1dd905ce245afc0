//! The content of an extension point: a name and an optional configuration.
//!
//! Spec: Zarr v3 "Extension definition"

use crate::data_type::ByteOrder;
use crate::json::{Context, Json, Object, Spot};
use hyperslab_core::{Error, Limits, Result};

/// A codec, storage transformer, chunk grid or key encoding by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Extension {
    /// The name, which defines the meaning of the configuration.
    pub name: String,
    /// The parameters.
    pub configuration: Option<Object>,
    /// Whether a reader must fail if it does not know the extension. True if the document does not state it.
    pub must_understand: Option<bool>,
    /// Whether the document has only the name, without an object.
    pub short_hand: bool,
    /// Members that the specification does not know.
    pub unknown: Object,
}

impl Extension {
    /// An extension that must be understood.
    pub fn new(name: impl Into<String>, configuration: Option<Object>) -> Extension {
        Extension {
            name: name.into(),
            configuration,
            must_understand: None,
            short_hand: false,
            unknown: Object::new(),
        }
    }

    /// Whether a reader may ignore an extension that it does not know.
    pub fn may_be_ignored(&self) -> bool {
        self.must_understand == Some(false)
    }

    /// An extension in the configuration of another one. `None` if the value is not an extension.
    pub fn of_json(json: &Json) -> Option<Extension> {
        let context = Context::new(&Limits::default());
        Extension::parse(json.clone(), &context.document("configuration")).ok()
    }

    fn parse(mut json: Json, at: &Spot<'_>) -> Result<Extension> {
        let ExtensionRef { name, must_understand, unknown, .. } = ExtensionRef::parse(&json, at)?;
        let name = name.to_owned();
        let (configuration, short_hand) = match &mut json {
            Json::Object(object) => (object.take("configuration"), false),
            _ => (None, true),
        };
        let configuration =
            configuration.map(|json| json.into_object(&at.name("configuration"))).transpose()?;
        Ok(Extension { name, configuration, must_understand, short_hand, unknown })
    }

    pub(crate) fn parse_list(json: Json, at: &Spot<'_>) -> Result<Vec<Extension>> {
        match json {
            Json::Array(items) => {
                let items = items.into_iter().enumerate();
                items.map(|(index, item)| Extension::parse(item, &at.index(index))).collect()
            }
            other => Err(other.is_not("an array", at)),
        }
    }

    /// The extension in the form of the document.
    pub fn emit(&self) -> Json {
        if self.short_hand && self.configuration.is_none() && self.must_understand.is_none() {
            return self.name.as_str().into();
        }
        let mut object = Object::new();
        object.insert("name", self.name.as_str().into());
        if let Some(configuration) = &self.configuration {
            object.insert("configuration", Json::Object(configuration.clone()));
        }
        if let Some(must_understand) = self.must_understand {
            object.insert("must_understand", Json::Bool(must_understand));
        }
        for (name, value) in self.unknown.iter() {
            object.insert(name, value.clone());
        }
        Json::Object(object)
    }

    /// The configuration, which is required here.
    pub(crate) fn configured(&self, at: &Spot<'_>) -> Result<&Object> {
        self.configuration.as_ref().ok_or_else(|| unconfigured(&self.name, at))
    }

    /// The byte order in the configuration of the codec `bytes`.
    pub(crate) fn endian(&self, at: &Spot<'_>) -> Result<Option<ByteOrder>> {
        let inner = at.name("configuration");
        let here = inner.name("endian");
        let Some(json) = self.configuration.as_ref().and_then(|members| members.get("endian")) else {
            return Ok(None);
        };
        match json.text(&here)? {
            "little" => Ok(Some(ByteOrder::Little)),
            "big" => Ok(Some(ByteOrder::Big)),
            other => Err(here.malformed(format!("{other:?}, expected \"little\" or \"big\""))),
        }
    }
}

/// An extension that borrows from the document.
pub(super) struct ExtensionRef<'a> {
    pub(super) name: &'a str,
    pub(super) configuration: Option<&'a Object>,
    must_understand: Option<bool>,
    unknown: Object,
}

impl<'a> ExtensionRef<'a> {
    pub(super) fn parse(json: &'a Json, at: &Spot<'_>) -> Result<ExtensionRef<'a>> {
        let object = match json {
            Json::String(name) => {
                return Ok(ExtensionRef {
                    name,
                    configuration: None,
                    must_understand: None,
                    unknown: Object::new(),
                });
            }
            Json::Object(object) => object,
            other => return Err(other.is_not("a name or an object", at)),
        };
        let name = object.required("name", at)?.text(&at.name("name"))?;
        let configuration =
            object.get("configuration").map(|json| json.object(&at.name("configuration"))).transpose()?;
        let must_understand = object
            .get("must_understand")
            .map(|json| json.boolean(&at.name("must_understand")))
            .transpose()?;
        let unknown = object.others(&["name", "configuration", "must_understand"]);
        for (name, _) in unknown.iter() {
            at.deviates(format!("a member {name:?}, which is ignored"));
        }
        Ok(ExtensionRef { name, configuration, must_understand, unknown })
    }

    /// The configuration, which is required here.
    pub(super) fn configured(&self, at: &Spot<'_>) -> Result<&'a Object> {
        self.configuration.ok_or_else(|| unconfigured(self.name, at))
    }

    /// Rejects `must_understand` false, where the specification does not allow it.
    pub(super) fn check_understood(&self, at: &Spot<'_>) -> Result<()> {
        match self.must_understand {
            Some(false) => Err(at.malformed("must_understand false, which is not allowed here")),
            _ => Ok(()),
        }
    }
}

#[cold]
fn unconfigured(name: &str, at: &Spot<'_>) -> Error {
    at.malformed(format!("{name:?} without a configuration"))
}
