use super::*;
use crate::Scratch;
use hyperslab_core::ErrorKind;
use proptest::prelude::*;

fn stored(codec: ScaleOffset, raw: &[u8]) -> Vec<u8> {
    crate::encode(&[codec.into()], raw, &mut Scratch::new()).unwrap()
}

fn decoded(codec: ScaleOffset, stored: &[u8]) -> Result<Vec<u8>> {
    let mut out = vec![0xee; codec.size()];
    crate::decode(&[codec.into()], stored, &mut out, &mut Scratch::new())?;
    Ok(out)
}

fn raw(codec: ScaleOffset, numbers: &[u64]) -> Vec<u8> {
    let bytes = |number: &u64| {
        let mut bytes = number.to_le_bytes()[..codec.number.size()].to_vec();
        if codec.big_endian {
            bytes.reverse();
        }
        bytes
    };
    numbers.iter().flat_map(bytes).collect()
}

fn integer() -> impl Strategy<Value = ScaleOffsetNumber> {
    (0..4_u32, any::<bool>()).prop_map(|(log, signed)| ScaleOffsetNumber::Integer {
        size: 1 << log,
        signed,
        bits: 0,
    })
}

fn any_number() -> impl Strategy<Value = ScaleOffsetNumber> {
    prop_oneof![
        integer(),
        (-3..5).prop_map(|digits| ScaleOffsetNumber::Float32 { digits }),
        (-3..9).prop_map(|digits| ScaleOffsetNumber::Float64 { digits }),
    ]
}

/// Numbers close together and far apart, some of them the fill value.
fn numbers() -> impl Strategy<Value = (Option<u64>, Vec<u64>)> {
    let numbers = prop_oneof![
        (any::<u64>(), 0..64_u32, prop::collection::vec(any::<u64>(), 0..60)).prop_map(
            |(min, shift, steps)| steps.iter().map(|step| min.wrapping_add(step >> shift)).collect()
        ),
        (any::<u64>(), 0..60_usize).prop_map(|(number, len)| vec![number; len]),
    ];
    (any::<bool>(), any::<bool>(), any::<u64>(), numbers).prop_map(
        |(filled, alike, fill, numbers): (bool, bool, u64, Vec<u64>)| {
            let fill = if alike { numbers.first().copied().unwrap_or(fill) } else { fill };
            (filled.then_some(fill), numbers)
        },
    )
}

proptest! {
    #[test]
    fn integers_return_as_they_were(number in integer(), big in any::<bool>(), (fill, numbers) in numbers()) {
        let codec = ScaleOffset::new(numbers.len(), number, big, fill).unwrap();
        let raw = raw(codec, &numbers);
        let stored = stored(codec, &raw);
        prop_assert!(stored.len() <= codec.max_encoded_size(raw.len()));
        prop_assert_eq!(decoded(codec, &stored).unwrap(), raw);
    }

    #[test]
    fn floats_return_to_half_a_unit_of_their_last_digit(
        numbers in prop::collection::vec(-1e6..1e6_f64, 1..60),
        digits in -2..7_i32,
        fill in prop::option::of(-1e6..1e6_f64),
        at in any::<prop::sample::Index>(),
    ) {
        let mut numbers = numbers;
        if let Some(fill) = fill {
            *at.get_mut(&mut numbers) = fill;
        }
        let number = ScaleOffsetNumber::Float64 { digits };
        let codec = ScaleOffset::new(numbers.len(), number, true, fill.map(f64::to_bits)).unwrap();
        let raw: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let out = decoded(codec, &stored(codec, &raw)).unwrap();
        for (out, number) in out.as_chunks().0.iter().zip(&numbers) {
            let out = f64::from_be_bytes(*out);
            let unit = 10_f64.powi(-digits);
            // Numbers near the fill value become the fill value.
            let within = if Some(out) == fill { unit } else { unit / 2.0 };
            prop_assert!((out - number).abs() <= within * 1.000_001 + 1e-9, "{} {}", out, number);
        }
    }

    #[test]
    fn rejects_every_truncation(number in any_number(), big in any::<bool>(), (fill, numbers) in numbers()) {
        let codec = ScaleOffset::new(numbers.len(), number, big, fill).unwrap();
        let stored = stored(codec, &raw(codec, &numbers));
        let bits = Header::decode(&stored).unwrap().bits;
        let needed = if bits == 0 || numbers.is_empty() { 13 } else {
            HEADER + (numbers.len() * usize::try_from(bits).unwrap()).div_ceil(8)
        };
        for len in 0..stored.len() {
            match decoded(codec, &stored[..len]) {
                Ok(_) => prop_assert!(len >= needed),
                Err(e) => {
                    prop_assert_eq!(e.kind(), ErrorKind::Malformed);
                    prop_assert!(len < needed);
                }
            }
        }
    }

    #[test]
    fn any_bytes_decode_or_are_malformed(
        number in any_number(),
        elements in 0..50_usize,
        fill in prop::option::of(any::<u64>()),
        bits in 0..70_u32,
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let codec = ScaleOffset::new(elements, number, false, fill).unwrap();
        let stored = [&bits.to_le_bytes(), rest.as_slice()].concat();
        if let Err(e) = decoded(codec, &stored) {
            prop_assert_eq!(e.kind(), ErrorKind::Malformed);
        }
    }
}

#[test]
fn nan_keeps_all_numbers_unchanged() {
    for odd in [f32::NAN, f32::INFINITY, -f32::INFINITY, 3e38] {
        let codec = ScaleOffset::new(3, ScaleOffsetNumber::Float32 { digits: 2 }, false, None).unwrap();
        let raw: Vec<u8> = [0.123_456, odd, 2.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(decoded(codec, &stored(codec, &raw)).unwrap(), raw);
    }
}

#[test]
fn encodes_to_a_fixed_number_of_bits() {
    let number = ScaleOffsetNumber::Integer { size: 2, signed: true, bits: 5 };
    let codec = ScaleOffset::new(3, number, false, Some(0xffff)).unwrap();
    let stored = stored(codec, &[0xfe, 0xff, 0xff, 0xff, 0x02, 0x00]);
    // 0, 31 for the fill value, 4.
    let header = [5, 0, 0, 0, 8, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(stored, [&header[..], &[0b0000_0111, 0b1100_1000]].concat());
    assert_eq!(decoded(codec, &stored).unwrap(), [0xfe, 0xff, 0xff, 0xff, 0x02, 0x00]);
}

#[test]
fn rejects_invalid_parameters() {
    let refused = |size, bits| {
        let number = ScaleOffsetNumber::Integer { size, signed: false, bits };
        ScaleOffset::new(1, number, false, None).unwrap_err().to_string()
    };
    assert_eq!(refused(3, 0), "scaleoffset integers of 3 bytes, expected 1, 2, 4 or 8");
    assert_eq!(refused(2, 16), "scaleoffset to 16 bits, expected fewer than 16");
    let number = ScaleOffsetNumber::Float32 { digits: 0 };
    assert!(ScaleOffset::new(usize::MAX, number, false, None).is_err());
    let codec = ScaleOffset::new(1, number, false, None).unwrap();
    assert_eq!(
        decoded(codec, &[33, 0, 0, 0, 0]).unwrap_err().to_string(),
        "scaleoffset data with 33 bits for each number, expected at most 32"
    );
    let short = decoded(codec, &[1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]).unwrap_err().to_string();
    assert_eq!(short, "scaleoffset data of 12 bytes, expected a header of 5");
}
