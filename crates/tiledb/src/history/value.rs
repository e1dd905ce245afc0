//! Values as text.

use crate::format::data_type::DataType;

/// A value of a datatype as text: numbers in decimal, dates and times as numbers of their unit, strings in quotes,
/// other bytes in hexadecimal. Several values are separated by commas.
pub fn value_text(data_type: DataType, bytes: &[u8]) -> String {
    macro_rules! numbers {
        ($type:ty) => {{
            let (values, rest) = bytes.as_chunks();
            let values: Vec<String> =
                values.iter().map(|bytes| <$type>::from_le_bytes(*bytes).to_string()).collect();
            match rest.is_empty() && !values.is_empty() {
                true => values.join(", "),
                false => hexadecimal(bytes),
            }
        }};
    }
    match data_type {
        DataType::Int8 => numbers!(i8),
        DataType::UInt8 | DataType::Bool => numbers!(u8),
        DataType::Int16 => numbers!(i16),
        DataType::UInt16 => numbers!(u16),
        DataType::Int32 => numbers!(i32),
        DataType::UInt32 => numbers!(u32),
        DataType::Int64 => numbers!(i64),
        DataType::UInt64 => numbers!(u64),
        DataType::Float32 => numbers!(f32),
        DataType::Float64 => numbers!(f64),
        DataType::Char | DataType::StringAscii | DataType::StringUtf8 => {
            format!("{:?}", String::from_utf8_lossy(bytes))
        }
        other if other.is_datetime() || other.is_time() => numbers!(i64),
        _ => hexadecimal(bytes),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_by_their_datatype() {
        assert_eq!(value_text(DataType::Int16, &(-2_i16).to_le_bytes()), "-2");
        assert_eq!(value_text(DataType::UInt8, &[1, 2]), "1, 2");
        assert_eq!(value_text(DataType::Float64, &0.5_f64.to_le_bytes()), "0.5");
        assert_eq!(value_text(DataType::StringAscii, b"a\"b"), "\"a\\\"b\"");
        assert_eq!(value_text(DataType::Int32, &[1, 2]), "0x0102");
        assert_eq!(value_text(DataType::DatetimeDay, &7_i64.to_le_bytes()), "7");
    }
}
