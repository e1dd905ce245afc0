//! Client data of scaleoffset: the scale type, the scale factor, the datatype, and twelve values for the fill value.

use hyperslab_codec::{Codec, ScaleOffset, ScaleOffsetNumber};
use hyperslab_core::{Error, Result};

/// The codec that client data describe; `None` if integers keep all bits.
pub(super) fn decode(client_data: &[u32]) -> Result<Option<Codec>> {
    let [scaling, factor, elements, class, size, sign, order, filled, fill @ ..] = client_data else {
        return Err(unexpected_count(client_data));
    };
    let [low, high, _, _, _, _, _, _, _, _, _, _] = fill else {
        return Err(unexpected_count(client_data));
    };
    let number = match (class, scaling) {
        (0, 2) => {
            // A negative number of bits is read as 0: then each chunk stores its own number of bits.
            let bits = if factor.cast_signed() < 0 { 0 } else { *factor };
            let all = size.checked_mul(8);
            if all == Some(bits) {
                return Ok(None);
            }
            if all.is_none_or(|all| bits > all) {
                return Err(Error::malformed(format!(
                    "minimum bits {bits} for integers of {size} bytes, expected no more than their bits"
                )));
            }
            ScaleOffsetNumber::Integer { size: length(*size)?, signed: *sign != 0, bits }
        }
        (1, 0) if *size == 4 => ScaleOffsetNumber::Float32 { digits: factor.cast_signed() },
        (1, 0) if *size == 8 => ScaleOffsetNumber::Float64 { digits: factor.cast_signed() },
        (1, 0) => {
            return Err(Error::unsupported(format!(
                "floating-point numbers of {size} bytes, expected 4 or 8"
            )));
        }
        (1, 1) => {
            return Err(Error::unsupported("scale type 1 (powers of two), which no library implements"));
        }
        _ => return Err(Error::malformed(format!("scale type {scaling} for datatype class {class}"))),
    };
    let fill = (*filled != 0).then_some(u64::from(*high) << 32 | u64::from(*low));
    Ok(Some(ScaleOffset::new(length(*elements)?, number, *order != 0, fill)?.into()))
}

/// The client data of a codec.
///
/// # Errors
/// If the number of elements exceeds 32 bits.
pub(super) fn encode(codec: &ScaleOffset) -> Result<Vec<u32>> {
    client_data(codec.elements(), codec.number(), codec.big_endian(), codec.fill())
}

/// The client data for chunks of `elements` such numbers. The fill value is given as the bytes of an element,
/// little-endian.
///
/// # Errors
/// If the number of elements exceeds 32 bits.
pub(super) fn client_data(
    elements: usize,
    number: ScaleOffsetNumber,
    big_endian: bool,
    fill: Option<u64>,
) -> Result<Vec<u32>> {
    let (scaling, factor, class, sign) = match number {
        ScaleOffsetNumber::Integer { signed, bits, .. } => (2, bits, 0, u32::from(signed)),
        ScaleOffsetNumber::Float32 { digits } | ScaleOffsetNumber::Float64 { digits } => {
            (0, digits.cast_unsigned(), 1, 0)
        }
    };
    let value = |size: usize| {
        u32::try_from(size)
            .map_err(|_| Error::invalid(format!("scaleoffset size {size}, expected less than 2^32")))
    };
    let [a, b, c, d, e, f, g, h] = fill.unwrap_or(0).to_le_bytes();
    let mut client_data = vec![
        scaling,
        factor,
        value(elements)?,
        class,
        value(number.size())?,
        sign,
        big_endian.into(),
        fill.is_some().into(),
        u32::from_le_bytes([a, b, c, d]),
        u32::from_le_bytes([e, f, g, h]),
    ];
    client_data.resize(COUNT, 0);
    Ok(client_data)
}

fn unexpected_count(client_data: &[u32]) -> Error {
    Error::malformed(format!("{} values, expected {COUNT}", client_data.len()))
}

fn length(value: u32) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::malformed(format!("size {value} exceeds the address space")))
}

const COUNT: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(values: &[u32]) -> Vec<u32> {
        let mut client_data = values.to_vec();
        client_data.resize(COUNT, 0);
        client_data
    }

    /// The client data of libhdf5 2.0 for: big-endian int16 with fill value -2; little-endian float64 with 3 digits
    /// and fill value 1; uint8 without fill value, in 5 bits.
    #[test]
    fn round_trips_client_data_of_libhdf5() {
        for values in [
            vec![2, 0, 4, 0, 2, 1, 1, 1, 0xfffe],
            vec![0, 3, 4, 1, 8, 0, 0, 1, 0, 0x3ff0_0000],
            vec![0, 0xffff_fffd, 4, 1, 4, 0, 1, 0],
            vec![2, 5, 4, 0, 1, 0, 0, 0],
        ] {
            let Some(Codec::ScaleOffset(codec)) = decode(&padded(&values)).unwrap() else {
                panic!("{values:?}: expected scaleoffset");
            };
            assert_eq!(encode(&codec).unwrap(), padded(&values));
        }
    }

    #[test]
    fn integers_with_all_bits_need_no_codec() {
        assert_eq!(decode(&padded(&[2, 16, 4, 0, 2])).unwrap(), None);
    }

    #[test]
    fn a_negative_number_of_bits_means_bits_of_each_chunk() {
        let Some(Codec::ScaleOffset(codec)) = decode(&padded(&[2, 0xffff_ffff, 4, 0, 2])).unwrap() else {
            panic!("expected scaleoffset");
        };
        assert_eq!(codec.number(), ScaleOffsetNumber::Integer { size: 2, signed: false, bits: 0 });
    }

    #[test]
    fn rejects_client_data_that_no_library_writes() {
        let refused = |values: &[u32]| decode(&padded(values)).unwrap_err().to_string();
        assert_eq!(
            refused(&[2, 17, 4, 0, 2]),
            "minimum bits 17 for integers of 2 bytes, expected no more than their bits"
        );
        assert_eq!(
            refused(&[2, 1, 4, 0, u32::MAX]),
            format!("minimum bits 1 for integers of {} bytes, expected no more than their bits", u32::MAX)
        );
        assert_eq!(refused(&[1, 1, 4, 1, 4]), "scale type 1 (powers of two), which no library implements");
        assert_eq!(refused(&[0, 1, 4, 1, 2]), "floating-point numbers of 2 bytes, expected 4 or 8");
        assert_eq!(refused(&[0, 1, 4, 0, 2]), "scale type 0 for datatype class 0");
        for len in (0..COUNT).chain([21]) {
            let e = decode(&vec![0; len]).unwrap_err();
            assert_eq!(e.to_string(), format!("{len} values, expected 20"));
        }
    }
}
