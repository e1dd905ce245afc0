//! CF attributes that are added in formats that cannot represent the content itself.

use hyperslab_core::Result;
use hyperslab_model::{Attribute, Datatype, Element, ElementStorage, Elements, Fill, TimeUnit};
use std::sync::Arc;

/// The attribute that marks missing values.
pub(crate) use hyperslab_netcdf4::name::FILL_VALUE;

/// The attributes with numbers that mark missing elements.
pub(crate) const MARKS: [&str; 2] = [FILL_VALUE, "missing_value"];

/// The number of an attribute that marks missing elements, in the type of the elements, since a document seldom names
/// the type of an attribute. `None` if it already has this type, or is not a single number.
///
/// # Errors
/// If the type cannot represent the number.
pub(crate) fn mark_in_type(attribute: &Attribute, datatype: &Arc<Datatype>) -> Result<Option<Attribute>> {
    let is_number = matches!(datatype.resolved(), Datatype::Int { .. } | Datatype::Float(_));
    if !is_number || attribute.datatype.resolved() == datatype.resolved() {
        return Ok(None);
    }
    let mut elements = Elements::new(&attribute.datatype, &attribute.value);
    let text = match (elements.next().map(|element| element.get()), elements.next()) {
        (Some(Element::Int(number)), None) => number.to_string(),
        (Some(Element::Float(number)), None) => as_in_documents(number),
        _ => return Ok(None),
    };
    let Fill::Value(value) = hyperslab_ndl::fill_value(&text, datatype)? else { return Ok(None) };
    let storage = ElementStorage::default();
    Ok(Some(Attribute { datatype: Arc::clone(datatype), value, storage, ..attribute.clone() }))
}

/// A number as documents write it.
fn as_in_documents(number: f64) -> String {
    match number {
        number if number.is_nan() => ".nan".to_owned(),
        f64::INFINITY => ".inf".to_owned(),
        f64::NEG_INFINITY => "-.inf".to_owned(),
        number if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        number => format!("{number:?}"),
    }
}

/// Whether a datatype is what h5py and PyTables write for booleans: an enumeration of FALSE and TRUE in one byte.
pub(crate) fn is_boolean(of: &Datatype) -> bool {
    let Datatype::Enum { base, members } = of.resolved() else { return false };
    let named = |name: &str, value: i128| members.iter().any(|(own, of)| own == name && *of == value);
    base.resolved().row_size() == Some(1) && members.len() == 2 && named("FALSE", 0) && named("TRUE", 1)
}

/// The time unit in the tag of opaque elements, as h5py stores times of NumPy: the tag is the dtype, such as
/// `NUMPY:<M8[ns]`. `None` for other elements, and for a byte order other than that of numbers in memory.
pub(crate) fn tagged_time(of: &Datatype) -> Option<TimeUnit> {
    let Datatype::Opaque { size: 8, tag } = of.resolved() else { return None };
    let own = if cfg!(target_endian = "little") { '<' } else { '>' };
    let dtype = tag.strip_prefix("NUMPY:")?;
    let kind = dtype.strip_prefix(own).or_else(|| dtype.strip_prefix('='))?;
    let (duration, unit) = match kind.strip_prefix("M8[") {
        Some(unit) => (false, unit),
        None => (true, kind.strip_prefix("m8[")?),
    };
    Some(TimeUnit { unit: unit.strip_suffix(']')?.to_owned(), duration })
}

/// The attributes of numbers that represent datetimes or durations in this unit. Empty if CF has no such unit.
///
/// xarray decodes durations only in one of its own units, which the attribute `dtype` names.
pub(crate) fn of_datetimes(unit: &TimeUnit) -> Vec<(&'static str, String)> {
    let Some((_, name)) = UNITS.iter().find(|(letters, _)| *letters == unit.unit) else { return Vec::new() };
    match unit.duration {
        true if matches!(unit.unit.as_str(), "s" | "ms" | "us" | "ns") => {
            vec![("units", (*name).to_owned()), ("dtype", format!("timedelta64[{}]", unit.unit))]
        }
        true => vec![("units", (*name).to_owned())],
        false => vec![
            ("units", format!("{name} since 1970-01-01")),
            ("calendar", "proleptic_gregorian".to_owned()),
        ],
    }
}

/// Units of NumPy datetimes, and their names in CF.
const UNITS: [(&str, &str); 7] = [
    ("ns", "nanoseconds"),
    ("us", "microseconds"),
    ("ms", "milliseconds"),
    ("s", "seconds"),
    ("m", "minutes"),
    ("h", "hours"),
    ("D", "days"),
];
