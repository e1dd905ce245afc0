//! The attribute `_FillValue` as xarray writes it in version 3: JSON whose meaning depends on the datatype of the
//! array.

use super::attribute;
use super::elements::ElementType;
use super::node::version_3;
use crate::format::zarr::keep::record::{self, Record};
use hyperslab_core::Result;
use hyperslab_model::Attribute;
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::data_type::{DataType, base64};
use hyperslab_zarr::hierarchy::Node as ZarrNode;
use hyperslab_zarr::json::{Json, Number};

/// The `_FillValue` attribute of an array, in the type of its elements. `None` if its JSON already has that type or
/// does not represent an element, or if the record has the attribute from which it was converted.
///
/// # Errors
/// If the record has a datatype that is not stored in this form.
pub(in crate::format::zarr) fn typed(node: &ZarrNode, record: Option<&Record>) -> Result<Option<Attribute>> {
    let Some(of) = version_3(node) else { return Ok(None) };
    let Some(json) = node.attributes().and_then(|attributes| attributes.get(FILL_VALUE)) else {
        return Ok(None);
    };
    if record.is_some_and(|record| record.fill_is_missing || record.attributes.contains_key(FILL_VALUE)) {
        return Ok(None);
    }
    let datatype = ElementType::new(node, record)?.datatype;
    if attribute::attribute(json).is_ok_and(|read| read.datatype.same_content(&datatype)) {
        return Ok(None);
    }
    let value = decoded(of, json).and_then(|item| record::elements(&datatype, &[item]).ok());
    Ok(value.map(|value| Attribute::new(Vec::new(), datatype, value)))
}

/// The JSON of the attribute in the form in which NDL writes the element. Floating-point numbers are the little-endian
/// bytes of a double in base64, and complex numbers are two of them.
pub(in crate::format::zarr) fn decoded(of: &DataType, shown: &Json) -> Option<Json> {
    match (of, shown) {
        (DataType::Integer { .. }, Json::Number(_)) => Some(shown.clone()),
        (DataType::Float(_), Json::String(text)) => double(text).map(number),
        (DataType::Complex(_), Json::Array(parts)) => {
            let [Json::String(re), Json::String(im)] = parts.as_slice() else { return None };
            Some(Json::Array(vec![number(double(re)?), number(double(im)?)]))
        }
        _ => None,
    }
}

/// The double whose bytes a string contains in base64.
pub(in crate::format::zarr) fn double(text: &str) -> Option<f64> {
    Some(f64::from_le_bytes(base64::decode(text)?.try_into().ok()?))
}

fn number(value: f64) -> Json {
    match Number::float(value) {
        Some(number) => Json::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}
