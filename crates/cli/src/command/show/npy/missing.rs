//! Missing elements in the form that NumPy supports: NaN and NaT.

use hyperslab::model::{Datatype, Element, Elements, Float, Values};
use hyperslab::show::Shown;
use hyperslab::{Error, Result};

/// Decoded elements without their validity bytes. Missing elements become NaN or NaT; integers become floating-point
/// numbers if some of them are missing.
///
/// # Errors
/// [`Unsupported`](hyperslab::ErrorKind::Unsupported) if elements are missing whose type has no such value in NumPy,
/// and for nulls that are shown as stored.
pub(super) fn filled(shown: Shown, is_decoded: bool) -> Result<Shown> {
    let Datatype::Nullable(base) = shown.datatype.resolved() else { return Ok(shown) };
    if !is_decoded {
        // In a stored array, a null and a NaN are two different values.
        return Err(Error::unsupported("NumPy has no nulls")
            .with_hint("use --decode, which makes them NaN or NaT, or --as json"));
    }
    let size = base.row_size().unwrap_or(0);
    let marked = shown.values.rows.chunks_exact(size.saturating_add(1)).filter_map(<[u8]>::split_first);
    let rows = marked.map(|(mark, row)| (*mark != 0).then_some(row));
    let (datatype, rows) = match (rows.clone().any(|row| row.is_none()), base.non_null()) {
        (true, Datatype::Int { .. }) => numbers(size, Elements::new(&shown.datatype, &shown.values))?,
        (is_missing, _) => {
            let absent = if is_missing { absent(base)? } else { Vec::new() };
            let mut filled = Vec::with_capacity(shown.values.rows.len());
            rows.for_each(|row| filled.extend_from_slice(row.unwrap_or(&absent)));
            ((**base).clone(), filled)
        }
    };
    let values = Values { rows: rows.into(), heap: shown.values.heap.clone() };
    Ok(Shown { datatype: datatype.into(), values, ..shown })
}

/// The row of a missing element.
fn absent(datatype: &Datatype) -> Result<Vec<u8>> {
    Ok(match datatype.non_null() {
        Datatype::Float(Float::Half) => HALF_NAN.to_ne_bytes().to_vec(),
        Datatype::Float(Float::Single) => f32::NAN.to_ne_bytes().to_vec(),
        Datatype::Float(Float::Double) => f64::NAN.to_ne_bytes().to_vec(),
        Datatype::Datetime(_) => i64::MIN.to_ne_bytes().to_vec(),
        other => {
            let what = match other {
                Datatype::String(_) => "string".to_owned(),
                other => other.to_string(),
            };
            return Err(Error::unsupported(format!("NumPy cannot represent a missing {what}"))
                .with_hint("use --as csv or --as json"));
        }
    })
}

/// Integers as floating-point numbers, of 32 bits if these can represent all integers of that size.
fn numbers(size: usize, integers: Elements<'_>) -> Result<(Datatype, Vec<u8>)> {
    let float = if size <= 2 { Float::Single } else { Float::Double };
    let mut floats = Vec::new();
    for element in integers {
        let value = match element.get() {
            Element::Int(value) if value.unsigned_abs() > EXACT => {
                let detail = format!(
                    "NumPy cannot represent a missing integer, and float64 cannot represent {value} exactly"
                );
                return Err(Error::unsupported(detail).with_hint("use --as csv or --as json"));
            }
            Element::Int(value) => value as f64,
            _ => f64::NAN,
        };
        match float {
            #[expect(clippy::cast_possible_truncation, reason = "integers of 16 bits are exact")]
            Float::Single => floats.extend((value as f32).to_ne_bytes()),
            _ => floats.extend(value.to_ne_bytes()),
        }
    }
    Ok((Datatype::Float(float), floats))
}

/// Integers up to here are exact as 64-bit floating-point numbers.
const EXACT: u128 = 1 << 53;

/// NaN as a 16-bit floating-point number.
const HALF_NAN: u16 = 0x7e00;
