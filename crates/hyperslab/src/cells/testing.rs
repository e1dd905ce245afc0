//! Random columns for tests.

use hyperslab_core::rows::Heap;
use hyperslab_model::{Column, Datatype, Float, Member, Pad, Reference, Text, TimeUnit, Values};
use std::sync::Arc;

/// A source of random numbers that are the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Appends an element. Few values are possible, so that many are equal.
    fn push(&mut self, datatype: &Datatype, rows: &mut Vec<u8>, heap: &mut Heap<Reference>) {
        match datatype {
            Datatype::Int { .. } | Datatype::Datetime(_) | Datatype::Enum { .. } => {
                let number = [-70_000_i128, -300, -2, -1, 0, 1, 2, 255, 256, 65_536, 1 << 40]
                    [usize::try_from(self.below(11)).unwrap()];
                let (bits, signed) = match datatype {
                    Datatype::Int { bits, signed } => (*bits, *signed),
                    Datatype::Enum { .. } => (8, true),
                    _ => (64, true),
                };
                let shift = 128 - u32::from(bits);
                let number = match signed {
                    true => (number << shift) >> shift,
                    false => {
                        i128::try_from((u128::from_ne_bytes(number.to_ne_bytes()) << shift) >> shift).unwrap()
                    }
                };
                let size = datatype.row_size().unwrap();
                rows.extend_from_slice(&number.to_le_bytes()[..size]);
            }
            Datatype::Float(Float::Single) => {
                let number = [-1.5_f32, -0.0, 0.0, 1e-40, 2.5, f32::INFINITY, f32::NAN, -f32::NAN];
                rows.extend_from_slice(&number[usize::try_from(self.below(8)).unwrap()].to_le_bytes());
            }
            Datatype::Float(_) => {
                let number = [-1e300_f64, -0.0, 0.0, 1e-310, 2.5, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
                rows.extend_from_slice(&number[usize::try_from(self.below(8)).unwrap()].to_le_bytes());
            }
            Datatype::Bool => rows.push(u8::from(self.below(2) > 0)),
            Datatype::String(Text::Variable) => {
                let text =
                    ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "b", "a much longer text than the others"];
                let text = text[usize::try_from(self.below(9)).unwrap()];
                let slot = heap.push_bytes(bytes::Bytes::from_static(text.as_bytes())).unwrap();
                rows.extend(slot.to_bytes());
            }
            Datatype::String(Text::Fixed { pad, .. }) => {
                let fill = if *pad == Pad::Space { b' ' } else { 0 };
                let text = [[fill; 3], [b'a', fill, fill], [b'a', b'b', fill], *b"abc"];
                rows.extend(text[usize::try_from(self.below(4)).unwrap()]);
            }
            Datatype::Opaque { .. } => rows.extend([0, u8::try_from(self.below(3)).unwrap()]),
            Datatype::Vlen(base) => {
                let count = u32::try_from(self.below(4)).unwrap();
                let mut elements = Vec::new();
                (0..count).for_each(|_| self.push(base, &mut elements, heap));
                let slot = heap.push_items(elements.into(), count).unwrap();
                rows.extend(slot.to_bytes());
            }
            Datatype::Array { base, shape } => {
                (0..shape.iter().product()).for_each(|_| self.push(base, rows, heap));
            }
            Datatype::Compound(members) => {
                members.iter().for_each(|member| self.push(&member.datatype, rows, heap));
            }
            Datatype::Nullable(of) => match self.below(3) {
                0 => rows.resize(rows.len() + datatype.row_size().unwrap(), 0),
                _ => {
                    rows.push(1);
                    self.push(of, rows, heap);
                }
            },
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn column(&mut self, name: usize, datatype: &Datatype, count: usize) -> Column {
        let (mut rows, mut heap) = (Vec::new(), Heap::default());
        (0..count).for_each(|_| self.push(datatype, &mut rows, &mut heap));
        let values = Values { rows: rows.into(), heap };
        Column { name: name.to_string(), datatype: Arc::new(datatype.clone()), values }
    }
}

/// The types that are tested. The first eight can be types of dimensions.
pub(super) fn datatypes() -> Vec<Datatype> {
    let text = Datatype::String(Text::Variable);
    let fixed = |pad| Datatype::String(Text::Fixed { len: 3, pad });
    let of = Box::new;
    let seconds = TimeUnit { unit: "s".into(), duration: false };
    vec![
        Datatype::int(64, true),
        Datatype::int(8, false),
        Datatype::int(24, true),
        Datatype::Datetime(seconds),
        Datatype::Float(Float::Double),
        Datatype::Float(Float::Single),
        text.clone(),
        fixed(Pad::Space),
        fixed(Pad::Nul),
        Datatype::Enum { base: of(Datatype::int(8, true)), members: vec![("one".into(), 1)] },
        Datatype::int(16, false),
        Datatype::Bool,
        Datatype::Opaque { size: 2, tag: String::new() },
        Datatype::Nullable(of(Datatype::Float(Float::Double))),
        Datatype::Nullable(of(text.clone())),
        Datatype::Array { base: of(Datatype::int(32, true)), shape: vec![2] },
        Datatype::Vlen(of(Datatype::Nullable(of(text.clone())))),
        Datatype::Compound(vec![
            Member { name: "n".into(), datatype: Datatype::int(24, true) },
            Member { name: "v".into(), datatype: Datatype::Vlen(of(Datatype::int(16, true))) },
        ]),
    ]
}
