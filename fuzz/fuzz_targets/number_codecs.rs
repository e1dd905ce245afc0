//! Decodes bytes with a codec for numbers whose parameters are in the first of them. Encoded data must decode.
#![no_main]

use hyperslab_codec::{
    Codec, Nbit, NbitAtomic, NbitType, ScaleOffset, ScaleOffsetNumber, Scratch, Szip, Zfp, ZfpMode,
    ZfpNumber, ZfpStream, decode, encode,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((parameters, data)) = bytes.split_first_chunk::<8>() else { return };
    let Some(codec) = codec(parameters) else { return };
    // Chunks have up to 64 KiB: if a header claims more, it must be rejected.
    let [.., len_low, len_high] = *parameters;
    let len = usize::from(u16::from_le_bytes([len_low, len_high]));
    let exact = matches!(codec, Codec::Szip(_));
    let mut scratch = Scratch::new();
    let codecs = [codec];
    let _ = decode(&codecs, data, &mut vec![0; len], &mut scratch);
    if let Ok(stored) = encode(&codecs, data, &mut scratch) {
        let mut out = vec![0; data.len()];
        decode(&codecs, &stored, &mut out, &mut scratch).expect("what was encoded decodes");
        // Bits above those of a pixel are not kept, and other codecs round or omit padding.
        if exact && matches!(parameters[1] % 10, 8 | 9) {
            assert_eq!(out, data, "{codecs:?}");
        }
    }
});

fn codec(parameters: &[u8; 8]) -> Option<Codec> {
    let [kind, a, b, c, d, e, ..] = *parameters;
    let (flag, other) = (kind & 8 != 0, kind & 16 != 0);
    let elements = usize::from(e);
    match kind & 7 {
        0 | 1 => {
            let bits = match a % 10 {
                8 => 32,
                9 => 64,
                _ => u32::from(a % 25),
            };
            let scanline = u32::from(c) << 4 | u32::from(d);
            Szip::new(bits, b.into(), scanline, flag, other).ok().map(Codec::from)
        }
        2 | 3 => {
            let atomic = NbitType::Atomic(NbitAtomic {
                size: usize::from(a % 20),
                big_endian: flag,
                precision: b.into(),
                offset: c.into(),
            });
            let size = atomic.size() * usize::from(d % 5);
            let element = match kind >> 5 {
                0 => NbitType::Array { size, base: atomic.into() },
                1 => NbitType::Compound { size, members: vec![(usize::from(e % 3), atomic)] },
                2 => NbitType::Compound {
                    size,
                    members: vec![(0, NbitType::Bytes { size: usize::from(e % 4) }), (3, atomic)],
                },
                _ => atomic,
            };
            Nbit::new(elements, element).ok().map(Codec::from)
        }
        4 | 5 => {
            let digits = i32::from(b) - 128;
            let number = match a % 4 {
                0 => ScaleOffsetNumber::Float32 { digits },
                1 => ScaleOffsetNumber::Float64 { digits },
                _ => ScaleOffsetNumber::Integer {
                    size: 1 << (a / 4 % 4),
                    signed: a > 127,
                    bits: (b % 64).into(),
                },
            };
            let fill = other.then(|| u64::from_le_bytes([c, d, c, d, c, d, c, d]));
            ScaleOffset::new(elements, number, flag, fill).ok().map(Codec::from)
        }
        _ => {
            let number = [ZfpNumber::Int32, ZfpNumber::Int64, ZfpNumber::Float32, ZfpNumber::Float64];
            let mode = match a % 5 {
                0 => ZfpMode::Rate(f64::from(b) / 4.0),
                1 => ZfpMode::Precision(b.into()),
                2 => ZfpMode::Accuracy(2_f64.powi(i32::from(b) - 128)),
                3 => ZfpMode::Reversible,
                _ => ZfpMode::Expert {
                    min_bits: u32::from(b) * 2,
                    max_bits: u32::from(c) * 16,
                    max_precision: (d % 65).into(),
                    min_exponent: i32::from(e) * 2 - 300,
                },
            };
            let number = *number.get(usize::from(a) / 5 % 4)?;
            if kind & 7 == 7 {
                return ZfpStream::new(number, mode, flag).ok().map(Codec::from);
            }
            let extents = [c % 9, d % 9, e % 9, b % 9].map(usize::from);
            let rank = usize::from(kind >> 5) % 5;
            Zfp::new(number, extents.get(..rank)?, mode, flag).ok().map(Codec::from)
        }
    }
}
