//! Fill values: the value of elements that no chunk contains.
//!
//! A fill value is a row, or the content of a variable-length string or byte sequence.
//!
//! Spec: Zarr v3 "Permitted fill values", zarr-extensions/data-types, Zarr v2 "Fill value encoding"

use super::{ByteOrder, DataType, Float, Layout, TypeForm, base64};
use crate::json::{Json, Number, Object, Spot};
use hyperslab_core::{Error, Result};

/// The forms of fill values that are accepted, and the meaning of bytes in base64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillRules {
    /// Version 2: accepts elements in base64, and `0` for all types, as some writers produce it.
    pub(crate) version_2: bool,
    /// The form of struct types, which determines the form of their values.
    pub(crate) form: TypeForm,
    /// The byte order in base64.
    pub(crate) order: Option<ByteOrder>,
}

impl DataType {
    pub(crate) fn parse_fill(&self, json: &Json, rules: FillRules, at: &Spot<'_>) -> Result<Vec<u8>> {
        let mut row = Vec::new();
        self.append_fill(json, rules, at, &mut row)?;
        Ok(row)
    }

    /// A fill value in the form of version 3.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if `row` is not an element of
    /// this type.
    pub fn emit_fill(&self, row: &[u8]) -> Result<Json> {
        let listed = self.listed_bytes();
        if listed > MAX_LISTED {
            let detail = format!(
                "elements with {listed} raw bytes: a fill value lists each of them, at most {MAX_LISTED} are written"
            );
            return Err(Error::unsupported(detail).with_hint("version 2 has fill values in base64"));
        }
        self.emit_fill_of_few(row)
    }

    /// The row of a number in which every NaN has the usual bits: version 2 has only the word `NaN`. `None` if the row
    /// does not change.
    pub fn with_usual_nan(&self, row: &[u8]) -> Option<Vec<u8>> {
        let (DataType::Float(part) | DataType::Complex(part)) = self else { return None };
        let mut usual = Vec::with_capacity(row.len());
        for bits in row.chunks_exact(usize::from(part.bytes())) {
            let bits = unsigned(bits)?;
            let nan = part.nan().filter(|_| part.value(bits).is_nan());
            push(nan.unwrap_or(bits), part.bytes(), &mut usual);
        }
        (usual != row).then_some(usual)
    }

    /// The number of bytes of an element that version 3 writes as a list of numbers, which take far more memory.
    fn listed_bytes(&self) -> u64 {
        match self {
            DataType::Raw { length } => *length,
            DataType::Struct(structure) => {
                let fields = structure.fields().iter().map(|field| field.data_type.listed_bytes());
                fields.fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }

    fn emit_fill_of_few(&self, row: &[u8]) -> Result<Json> {
        let wrong = || Error::invalid(format!("{} bytes, expected an element of {self:?}", row.len()));
        let varies = matches!(self, DataType::String | DataType::Bytes);
        if !varies && row.len() as u64 != self.row_size() {
            return Err(wrong());
        }
        Ok(match self {
            DataType::Bool => Json::Bool(row != [0]),
            DataType::Integer { signed: true, .. } => {
                Json::Number(Number::integer(signed(row).ok_or_else(wrong)?))
            }
            DataType::Integer { signed: false, .. } => {
                Json::Number(Number::integer(unsigned(row).ok_or_else(wrong)?))
            }
            DataType::Float(float) => float.emit(unsigned(row).ok_or_else(wrong)?),
            DataType::Complex(part) => {
                let parts = row.chunks_exact(usize::from(part.bytes()));
                Json::Array(parts.filter_map(unsigned).map(|bits| part.emit(bits)).collect())
            }
            DataType::Raw { .. } => Json::Array(row.iter().map(|byte| u64::from(*byte).into()).collect()),
            DataType::NullTerminatedBytes { .. } | DataType::Bytes => base64::encode(row).as_str().into(),
            DataType::FixedLengthUtf32 { .. } => {
                let mut text = String::new();
                for unit in row.as_chunks::<4>().0 {
                    text.push(char::from_u32(u32::from_ne_bytes(*unit)).ok_or_else(wrong)?);
                }
                text.trim_end_matches('\0').into()
            }
            DataType::String => std::str::from_utf8(row).map_err(|_| wrong())?.into(),
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => match signed(row) {
                Some(value) if value == i64::MIN => "NaT".into(),
                Some(value) => Json::Number(Number::integer(value)),
                None => return Err(wrong()),
            },
            DataType::Struct(structure) => {
                let mut members = Vec::with_capacity(structure.fields().len());
                let mut rest = row;
                for field in structure.fields() {
                    let size = usize::try_from(field.data_type.row_size()).map_err(|_| wrong())?;
                    let (head, tail) = rest.split_at_checked(size).ok_or_else(wrong)?;
                    members.push((field.name.clone(), field.data_type.emit_fill_of_few(head)?));
                    rest = tail;
                }
                Json::Object(Object::from_iter(members))
            }
            DataType::Array { .. } => {
                return Err(Error::unsupported("a fill value of an array inside an element"));
            }
        })
    }

    fn append_fill(&self, json: &Json, rules: FillRules, at: &Spot<'_>, row: &mut Vec<u8>) -> Result<()> {
        let is_zero = matches!(json, Json::Number(number) if number.as_f64() == 0.0);
        match self {
            DataType::Bool => match json {
                Json::Bool(value) => row.push(u8::from(*value)),
                Json::Number(number) if matches!(number.as_str(), "0" | "1") => {
                    if !rules.version_2 {
                        at.deviates(format!("{}, expected true or false", number.as_str()));
                    }
                    row.push(u8::from(number.as_str() == "1"));
                }
                other => return Err(other.is_not("true or false", at)),
            },
            DataType::Integer { signed, bits } => integer(*signed, *bits, json, rules, at, row)?,
            DataType::Float(float) => push(float.parse(json, at)?, float.bytes(), row),
            DataType::Complex(part) => complex(*part, json, rules, at, row)?,
            DataType::Raw { length } => match json {
                Json::Array(items) if !rules.version_2 => {
                    let bytes = byte_array(items, at)?;
                    check_length(bytes.len(), *length, at)?;
                    row.extend(bytes);
                }
                json => fixed_bytes(json, *length, false, rules, at, row)?,
            },
            DataType::NullTerminatedBytes { length } => fixed_bytes(json, *length, true, rules, at, row)?,
            DataType::FixedLengthUtf32 { length } => {
                let text = if rules.version_2 && is_zero { "" } else { json.text(at)? };
                let count = text.chars().count() as u64;
                if count > *length {
                    return Err(at.malformed(format!("{count} characters, expected at most {length}")));
                }
                for c in text.chars() {
                    row.extend(u32::from(c).to_ne_bytes());
                }
                pad(row, length.saturating_sub(count).saturating_mul(4));
            }
            DataType::String if rules.version_2 && is_zero => {}
            DataType::String => row.extend(json.text(at)?.bytes()),
            DataType::Bytes if rules.version_2 && is_zero => {}
            DataType::Bytes => match json {
                Json::Array(items) => row.extend(byte_array(items, at)?),
                json => row.extend(from_base64(json, at)?),
            },
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => match json {
                Json::String(text) if text == "NaT" => row.extend(i64::MIN.to_ne_bytes()),
                json => integer(true, 64, json, rules, at, row)?,
            },
            DataType::Struct(_) | DataType::Array { .. } if rules.version_2 => match is_zero {
                true => pad(row, self.row_size()),
                false => self.append_stored(json, rules, at, row)?,
            },
            DataType::Struct(structure) => match json {
                Json::Object(values) => {
                    for (name, _) in values.iter() {
                        if !structure.fields().iter().any(|field| field.name == name) {
                            return Err(
                                at.malformed(format!("a value of {name:?} that is not the name of a field"))
                            );
                        }
                    }
                    for field in structure.fields() {
                        let value = values.required(&field.name, at)?;
                        field.data_type.append_fill(value, rules, &at.name(&field.name), row)?;
                    }
                }
                Json::Array(values) if rules.form == TypeForm::Seed => {
                    let fields = structure.fields();
                    if values.len() != fields.len() {
                        let found = values.len();
                        return Err(
                            at.malformed(format!("{found} values, expected {}, one per field", fields.len()))
                        );
                    }
                    for (index, (field, value)) in fields.iter().zip(values).enumerate() {
                        field.data_type.append_fill(value, rules, &at.index(index), row)?;
                    }
                }
                Json::String(_) => {
                    if rules.form == TypeForm::Registered {
                        at.deviates("a struct in base64, expected an object");
                    }
                    self.append_stored(json, rules, at, row)?;
                }
                other => return Err(other.is_not("an object with a value for each field", at)),
            },
            DataType::Array { element, shape } => match json {
                Json::String(_) => self.append_stored(json, rules, at, row)?,
                json => nested(element, shape, json, rules, at, row)?,
            },
        }
        Ok(())
    }

    /// Appends an element from its stored bytes in base64.
    fn append_stored(&self, json: &Json, rules: FillRules, at: &Spot<'_>, row: &mut Vec<u8>) -> Result<()> {
        let stored = from_base64(json, at)?;
        check_length(stored.len(), self.stored_size().unwrap_or_default(), at)?;
        // Errors that concern chunks are reported where chunks are parsed.
        let layout = Layout::new(self, rules.order.or(Some(ByteOrder::Little)))?;
        let mut decoded = vec![0; layout.row_size()];
        layout.decode(&stored, &mut decoded)?;
        row.extend(decoded);
        Ok(())
    }
}

/// A reader needs about a hundred bytes of memory for each number.
const MAX_LISTED: u64 = 1 << 20;

fn integer(
    signed: bool,
    bits: u8,
    json: &Json,
    rules: FillRules,
    at: &Spot<'_>,
    row: &mut Vec<u8>,
) -> Result<()> {
    let Json::Number(number) = json else { return Err(json.is_not("an integer", at)) };
    // Some writers of version 2 write integers as floats, such as 0.0.
    let whole = || {
        let value = number.as_f64();
        let small = rules.version_2 && value.fract() == 0.0 && value.abs() < 9e15;
        small.then(|| format!("{value:.0}").parse::<i128>().ok()).flatten()
    };
    let Some(value) = number.as_integer().or_else(whole) else {
        return Err(at.malformed(format!("{number}, expected an integer without fraction and exponent")));
    };
    let (least, beyond) = match signed {
        true => (-(1_i128 << (bits - 1)), 1_i128 << (bits - 1)),
        false => (0, 1_i128 << bits),
    };
    if !(least..beyond).contains(&value) {
        return Err(at.malformed(format!("{value}, expected {least} to {}", beyond - 1)));
    }
    let native = value.to_ne_bytes();
    let bytes = usize::from(bits.div_ceil(8));
    let part = match cfg!(target_endian = "little") {
        true => native.get(..bytes),
        false => native.get(native.len() - bytes..),
    };
    row.extend(part.unwrap_or_default());
    Ok(())
}

fn complex(part: Float, json: &Json, rules: FillRules, at: &Spot<'_>, row: &mut Vec<u8>) -> Result<()> {
    match json {
        Json::Array(parts) => {
            let [real, imaginary] = parts.as_slice() else {
                return Err(at.malformed(format!("{} numbers, expected 2", parts.len())));
            };
            push(part.parse(real, &at.index(0))?, part.bytes(), row);
            push(part.parse(imaginary, &at.index(1))?, part.bytes(), row);
        }
        // zarr-python 2 writes a real number if the imaginary part is zero.
        json @ (Json::Number(_) | Json::String(_)) if rules.version_2 => {
            push(part.parse(json, at)?, part.bytes(), row);
            push(0, part.bytes(), row);
        }
        other => return Err(other.is_not("real and imaginary part", at)),
    }
    Ok(())
}

fn nested(
    element: &DataType,
    shape: &[u64],
    json: &Json,
    rules: FillRules,
    at: &Spot<'_>,
    row: &mut Vec<u8>,
) -> Result<()> {
    let Some((first, rest)) = shape.split_first() else { return element.append_fill(json, rules, at, row) };
    let items = json.array(at)?;
    if items.len() as u64 != *first {
        return Err(at.malformed(format!("{} items, expected {first}", items.len())));
    }
    items
        .iter()
        .enumerate()
        .try_for_each(|(index, item)| nested(element, rest, item, rules, &at.index(index), row))
}

/// Bytes in base64. `may_be_short` allows missing zeros at the end, which zarr-python leaves out.
fn fixed_bytes(
    json: &Json,
    length: u64,
    may_be_short: bool,
    rules: FillRules,
    at: &Spot<'_>,
    row: &mut Vec<u8>,
) -> Result<()> {
    let bytes = match json {
        Json::Number(number) if rules.version_2 && number.as_f64() == 0.0 => Vec::new(),
        json => from_base64(json, at)?,
    };
    let found = bytes.len() as u64;
    if found > length || found < length && !(may_be_short || rules.version_2) {
        return Err(at.malformed(format!("{found} bytes, expected {length}")));
    }
    row.extend(bytes);
    pad(row, length.saturating_sub(found));
    Ok(())
}

fn byte_array(items: &[Json], at: &Spot<'_>) -> Result<Vec<u8>> {
    let byte = |(index, item): (usize, &Json)| {
        let here = at.index(index);
        let value = item.unsigned(&here)?;
        u8::try_from(value).map_err(|_| here.malformed(format!("{value}, expected 0 to 255")))
    };
    items.iter().enumerate().map(byte).collect()
}

fn from_base64(json: &Json, at: &Spot<'_>) -> Result<Vec<u8>> {
    base64::decode(json.text(at)?).ok_or_else(|| at.malformed("text that is not base64"))
}

fn check_length(found: usize, expected: u64, at: &Spot<'_>) -> Result<()> {
    match found as u64 == expected {
        true => Ok(()),
        false => Err(at.malformed(format!("{found} bytes, expected {expected}"))),
    }
}

/// Appends the low bytes of a number, in native order.
fn push(bits: u64, bytes: u8, row: &mut Vec<u8>) {
    let native = bits.to_ne_bytes();
    let bytes = usize::from(bytes);
    let part = match cfg!(target_endian = "little") {
        true => native.get(..bytes),
        false => native.get(native.len().saturating_sub(bytes)..),
    };
    row.extend(part.unwrap_or_default());
}

fn pad(row: &mut Vec<u8>, bytes: u64) {
    // The size of elements is limited, so the conversion cannot fail.
    let bytes = usize::try_from(bytes).unwrap_or_default();
    row.resize(row.len().saturating_add(bytes), 0);
}

fn unsigned(row: &[u8]) -> Option<u64> {
    Some(match row.len() {
        1 => u64::from(*row.first()?),
        2 => u64::from(u16::from_ne_bytes(row.try_into().ok()?)),
        4 => u64::from(u32::from_ne_bytes(row.try_into().ok()?)),
        8 => u64::from_ne_bytes(row.try_into().ok()?),
        _ => return None,
    })
}

fn signed(row: &[u8]) -> Option<i64> {
    Some(match row.len() {
        1 => i64::from(row.first()?.cast_signed()),
        2 => i64::from(i16::from_ne_bytes(row.try_into().ok()?)),
        4 => i64::from(i32::from_ne_bytes(row.try_into().ok()?)),
        8 => i64::from_ne_bytes(row.try_into().ok()?),
        _ => return None,
    })
}
