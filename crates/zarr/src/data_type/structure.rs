//! `struct`: named fields, and their forms in metadata.
//!
//! Spec: zarr-extensions/data-types/{struct,structured}, NumPy "Structured datatypes" (`descr`)

use super::{ByteOrder, DataType, Dtype, MAX_ELEMENT, parse};
use crate::json::{Json, Object, Spot};
use hyperslab_core::{Error, Result};
use std::collections::HashSet;

/// Named fields, stored one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    fields: Vec<Field>,
    stored_size: u64,
}

/// One field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, unique in the struct.
    pub name: String,
    /// NumPy's second name of the field.
    pub title: Option<String>,
    /// The byte offset in the stored struct. There may be padding between fields.
    pub offset: u64,
    /// The data type.
    pub data_type: DataType,
    /// The byte order, if the type states it and not the codec `bytes`.
    pub byte_order: Option<ByteOrder>,
}

/// The forms of structs and of raw bytes in metadata of version 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeForm {
    /// `struct` as registered: fields are objects. Raw bytes are `r*`, as in the core specification.
    #[default]
    Registered,
    /// The list of NumPy's `descr`, as in the draft of 2022.
    Seed,
    /// The forms of zarr-python: `structured` with pairs, which is deprecated, and `raw_bytes`.
    Legacy,
}

impl TypeForm {
    /// The form of a `data_type`, without checking its content.
    pub(crate) fn of(data_type: &Json) -> TypeForm {
        match data_type {
            Json::Array(_) => TypeForm::Seed,
            Json::Object(object) => match object.get("name").and_then(Json::as_str) {
                Some("structured" | "raw_bytes") => TypeForm::Legacy,
                _ => TypeForm::Registered,
            },
            _ => TypeForm::Registered,
        }
    }
}

impl Struct {
    /// Fields without padding.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for no fields, fields of equal
    /// or empty names, and types of variable size.
    pub fn new(fields: impl IntoIterator<Item = (String, DataType)>) -> Result<Struct> {
        let mut builder = Builder::default();
        for (name, data_type) in fields {
            builder.add(name, None, data_type, None).map_err(Error::invalid)?;
        }
        builder.finish().map_err(Error::invalid)
    }

    /// The fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The size of one stored element in bytes, including padding.
    pub fn stored_size(&self) -> u64 {
        self.stored_size
    }

    /// The same fields without padding and without their own byte orders, as required in version 3.
    #[must_use]
    pub fn packed(&self) -> Struct {
        let mut offset = 0;
        let mut fields = self.fields.clone();
        for field in &mut fields {
            field.data_type = packed(&field.data_type);
            field.byte_order = None;
            field.offset = offset;
            offset = offset.saturating_add(field.data_type.stored_size().unwrap_or_default());
        }
        Struct { fields, stored_size: offset }
    }

    /// The configuration of `struct` and `structured`.
    pub(super) fn parse_configured(
        members: &Object,
        legacy: bool,
        depth: u32,
        at: &Spot<'_>,
    ) -> Result<Struct> {
        let there = at.name("fields");
        let mut builder = Builder::default();
        for (index, field) in members.required("fields", at)?.array(&there)?.iter().enumerate() {
            let here = there.index(index);
            let (name, data_type) = match field {
                Json::Object(object) => {
                    for (other, _) in object.others(&["name", "data_type"]).iter() {
                        here.deviates(format!("a member {other:?}, which is ignored"));
                    }
                    let name = object.required("name", &here)?.text(&here.name("name"))?;
                    (name, parse(object.required("data_type", &here)?, depth + 1, &here.name("data_type"))?)
                }
                Json::Array(pair) => {
                    let [name, data_type] = pair.as_slice() else {
                        return Err(here.malformed(format!("{} items, expected name and type", pair.len())));
                    };
                    if !legacy {
                        here.deviates("a field as a pair, expected an object");
                    }
                    (name.text(&here.index(0))?, parse(data_type, depth + 1, &here.index(1))?)
                }
                other => return Err(other.is_not("an object", &here)),
            };
            builder.add(name.to_owned(), None, data_type, None).map_err(|e| here.malformed(e))?;
        }
        builder.finish().map_err(|e| there.malformed(e))
    }

    /// The list of the draft of 2022: names with types of version 3, or with those of NumPy.
    pub(super) fn parse_bare(json: &Json, depth: u32, at: &Spot<'_>) -> Result<Struct> {
        Struct::parse_tuples(json, depth, at, &|leaf, depth, at| match leaf {
            Json::String(text) if text.starts_with(['<', '>', '|', '=']) => Dtype::parse_text(text, at),
            leaf => parse(leaf, depth, at).map(|data_type| Dtype { data_type, byte_order: None }),
        })
    }

    /// A list of `[name, type]` and `[name, type, shape]`. `leaf` parses types that are not lists.
    pub(super) fn parse_tuples(json: &Json, depth: u32, at: &Spot<'_>, leaf: &Leaf<'_>) -> Result<Struct> {
        if depth > at.limits().nesting {
            return Err(at.too_large(format!("types nested more than {} levels deep", at.limits().nesting)));
        }
        let mut builder = Builder::default();
        for (index, field) in json.array(at)?.iter().enumerate() {
            let here = at.index(index);
            let (name, data_type, shape) = match field.array(&here)? {
                [name, data_type] => (name, data_type, None),
                [name, data_type, shape] => (name, data_type, Some(shape)),
                other => {
                    let found = other.len();
                    return Err(
                        here.malformed(format!("{found} items, expected name, type and optionally shape"))
                    );
                }
            };
            let (title, name) = match name {
                Json::Array(names) => match names.as_slice() {
                    [title, name] => {
                        let inner = here.index(0);
                        (Some(title.text(&inner.index(0))?.to_owned()), name.text(&inner.index(1))?)
                    }
                    _ => return Err(here.index(0).malformed("expected a title and a name")),
                },
                name => (None, name.text(&here.index(0))?),
            };
            let there = here.index(1);
            let Dtype { mut data_type, byte_order } = match data_type {
                Json::Array(_) => {
                    let inner = Struct::parse_tuples(data_type, depth + 1, &there, leaf)?;
                    Dtype { data_type: DataType::Struct(inner), byte_order: None }
                }
                data_type => leaf(data_type, depth + 1, &there)?,
            };
            if let Some(shape) = shape {
                data_type = sub_array(data_type, shape, &here.index(2))?;
            }
            // NumPy writes padding for alignment in this form.
            match (&data_type, name) {
                (DataType::Raw { length }, "") if title.is_none() => builder.skip(*length),
                _ => builder.add(name.to_owned(), title, data_type, byte_order),
            }
            .map_err(|e| here.malformed(e))?;
        }
        let structure = builder.finish().map_err(|e| at.malformed(e))?;
        match structure.stored_size > MAX_ELEMENT {
            true => Err(at.too_large(format!("elements of {} bytes", structure.stored_size))),
            false => Ok(structure),
        }
    }

    pub(super) fn emit(&self, form: TypeForm, order: ByteOrder) -> Result<Vec<(String, Json)>> {
        if self.stored_size != self.packed().stored_size {
            return Err(Error::unsupported("padding between fields, which version 3 cannot describe"));
        }
        if self.fields.iter().any(|field| field.byte_order.is_some_and(|own| own != order)) {
            return Err(Error::unsupported(
                "fields with different byte orders, which version 3 does not support",
            ));
        }
        let fields = self.fields.iter().map(|field| {
            let data_type = field.data_type.emit(form, order)?;
            Ok(match form {
                TypeForm::Legacy => Json::Array(vec![field.name.as_str().into(), data_type]),
                _ => Json::Object(Object::from_iter([
                    ("name".to_owned(), field.name.as_str().into()),
                    ("data_type".to_owned(), data_type),
                ])),
            })
        });
        Ok(vec![("fields".to_owned(), Json::Array(fields.collect::<Result<_>>()?))])
    }

    /// NumPy's `descr`. Fields without their own byte order have `order`.
    pub(super) fn emit_descr(&self, order: ByteOrder) -> Result<Json> {
        let mut items = Vec::with_capacity(self.fields.len());
        let hole = |bytes: u64| Json::Array(vec!["".into(), format!("|V{bytes}").as_str().into()]);
        let mut end = 0;
        for field in &self.fields {
            if field.offset > end {
                items.push(hole(field.offset - end));
            }
            end = field.offset.saturating_add(field.data_type.stored_size().unwrap_or_default());
            let name = match &field.title {
                Some(title) => Json::Array(vec![title.as_str().into(), field.name.as_str().into()]),
                None => field.name.as_str().into(),
            };
            let order = field.byte_order.unwrap_or(order);
            let mut item = vec![name];
            match &field.data_type {
                DataType::Array { element, shape } => {
                    item.push(Dtype::emit_type(element, order)?);
                    item.push(shape.as_slice().into());
                }
                data_type => item.push(Dtype::emit_type(data_type, order)?),
            }
            items.push(Json::Array(item));
        }
        if self.stored_size > end {
            items.push(hole(self.stored_size - end));
        }
        Ok(Json::Array(items))
    }
}

fn packed(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Struct(inner) => DataType::Struct(inner.packed()),
        DataType::Array { element, shape } => {
            DataType::Array { element: Box::new(packed(element)), shape: shape.clone() }
        }
        other => other.clone(),
    }
}

type Leaf<'a> = dyn Fn(&Json, u32, &Spot<'_>) -> Result<Dtype> + 'a;

fn sub_array(element: DataType, shape: &Json, at: &Spot<'_>) -> Result<DataType> {
    let shape = match shape {
        // NumPy accepts a single number as a shape of one dimension.
        Json::Number(_) => vec![shape.unsigned(at)?],
        shape => shape.unsigned_array(at)?,
    };
    if shape.len() as u64 > u64::from(at.limits().rank) {
        return Err(at.too_large(format!(
            "{} dimensions, expected at most {}",
            shape.len(),
            at.limits().rank
        )));
    }
    let data_type = match shape.is_empty() {
        true => element,
        false => DataType::Array { element: Box::new(element), shape },
    };
    super::check_size(&data_type, at)?;
    Ok(data_type)
}

#[derive(Default)]
struct Builder {
    fields: Vec<Field>,
    names: HashSet<String>,
    end: u64,
}

impl Builder {
    fn add(
        &mut self,
        name: String,
        title: Option<String>,
        data_type: DataType,
        byte_order: Option<ByteOrder>,
    ) -> Result<(), String> {
        if name.is_empty() {
            return Err("a field without a name".to_owned());
        }
        let Some(size) = data_type.stored_size() else {
            return Err(format!("field {name:?} of variable size, expected a fixed one"));
        };
        let end = self.end.checked_add(size).ok_or("a struct of more than 2^64 bytes")?;
        if !self.names.insert(name.clone()) {
            return Err(format!("a second field {name:?}"));
        }
        self.fields.push(Field { name, title, offset: self.end, data_type, byte_order });
        self.end = end;
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        self.end = self.end.checked_add(bytes).ok_or("a struct of more than 2^64 bytes")?;
        Ok(())
    }

    fn finish(self) -> Result<Struct, &'static str> {
        match self.fields.is_empty() {
            true => Err("a struct without fields"),
            false => Ok(Struct { fields: self.fields, stored_size: self.end }),
        }
    }
}
