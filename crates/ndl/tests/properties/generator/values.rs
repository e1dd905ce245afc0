//! Random values of every type, with extreme values more often.

use super::*;
use hyperslab_core::nd::Selection;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{Reference, ReferencedPart};

impl Random {
    /// A random integer in the range of an integer type.
    pub(super) fn integer(&mut self, bits: u16, signed: bool) -> i128 {
        let bits = u32::from(bits);
        // The model holds integers as i128, so uint128 is limited to its maximum.
        let (low, high) = match (signed, bits) {
            (true, 128) => (i128::MIN, i128::MAX),
            (false, 128) => (0, i128::MAX),
            (true, bits) => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            (false, bits) => (0, (1_i128 << bits) - 1),
        };
        match self.below(8) {
            0 => low,
            1 => high,
            2 => 0,
            3 => i128::from(self.below(100)),
            4 => i128::from(i32::MAX) + i128::from(self.below(3)),
            5 => i128::from(i64::MAX) + i128::from(self.below(3)),
            _ => i128::from(self.next() as i64) >> (self.below(64)),
        }
        .clamp(low, high)
    }

    fn double(&mut self) -> f64 {
        match self.below(14) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            3 => -0.0,
            4 => 0.0,
            5 => *self.pick(&[f64::MIN_POSITIVE, f64::MAX, f64::MIN, f64::EPSILON, 5e-324]),
            6 => *self.pick(&[0.1, 1e15, 1e16, 1e17, 1e-4, 1e-5, 9007199254740993.0, 1e22, 1e23]),
            7..=9 => f64::from_bits(self.next()),
            10 => f64::from(self.next() as i32),
            _ => f64::from(self.next() as i16) / 100.0,
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        match self.below(6) {
            0 => vec![0; count],
            1 => vec![0xff; count],
            _ => (0..count).map(|_| self.next() as u8).collect(),
        }
    }

    /// A reference whose target may not exist.
    fn reference(&mut self, objects: bool, regions: bool) -> Reference {
        match self.below(10) {
            0 => Reference::Null,
            1 => Reference::Dangling(self.next() >> self.below(64)),
            2 => Reference::External {
                file: self.text(),
                address: self.next() >> self.below(64),
                part: match self.below(3) {
                    0 => ReferencedPart::Region(Arc::new(Selection::All)),
                    1 => ReferencedPart::Attribute(self.text()),
                    _ => ReferencedPart::Object,
                },
            },
            3 if objects && regions => Reference::Attribute(self.path(), self.text()),
            _ if objects && (!regions || self.one_in(2)) => Reference::Object(self.path()),
            _ => Reference::Region(self.path(), Arc::new(Selection::All)),
        }
    }
}

/// Values under construction: everything of variable length is in one buffer.
pub(super) struct Builder<'r> {
    random: &'r mut Random,
    buffer: Vec<u8>,
    heap: Heap<Reference>,
}

impl<'r> Builder<'r> {
    pub(super) fn new(random: &'r mut Random) -> Self {
        Builder { random, buffer: Vec::new(), heap: Heap::default() }
    }

    pub(super) fn all(mut self, datatype: &Datatype, count: u64) -> Values {
        let mut rows = Vec::new();
        for _ in 0..count {
            self.element(datatype, &mut rows);
        }
        let Builder { buffer, mut heap, .. } = self;
        heap.push(buffer.into()).expect("the only buffer");
        Values { rows: Bytes::from(rows), heap }
    }

    fn element(&mut self, datatype: &Datatype, out: &mut Vec<u8>) {
        match datatype {
            Datatype::Int { bits, signed } => self.integer(*bits, *signed, out),
            Datatype::Time { bits } => self.integer(*bits, false, out),
            Datatype::Datetime(_) => match self.random.below(4) {
                0 => self.integer(64, true, out),
                1 => out.extend(i64::MIN.to_ne_bytes()),
                _ => out.extend((self.random.below(1 << 40) as i64 - (1 << 39)).to_ne_bytes()),
            },
            Datatype::Float(float) => self.float(float, out),
            Datatype::Complex(float) => {
                self.float(float, out);
                self.float(float, out);
            }
            Datatype::Bool => out.push(self.random.below(2) as u8),
            Datatype::Bitfield { size } | Datatype::Opaque { size, .. } => {
                out.extend(self.random.bytes(*size as usize));
            }
            Datatype::String(Text::Fixed { len, pad }) => {
                let text = self.random.ascii();
                let byte = if *pad == Pad::Space { b' ' } else { 0 };
                let rest = std::iter::repeat(byte);
                out.extend(text.bytes().chain(rest).take(*len as usize));
            }
            Datatype::String(Text::Variable) => {
                let mut bytes = self.random.text().into_bytes();
                if self.random.one_in(60) {
                    bytes = self.random.bytes(5);
                }
                self.slot(bytes.len(), &bytes, out);
            }
            Datatype::ObjRef => self.reference(true, false, out),
            Datatype::RegRef => self.reference(false, true, out),
            Datatype::Reference => self.reference(true, true, out),
            Datatype::Enum { base, members } => {
                let Datatype::Int { bits, signed } = **base else { unreachable!("enums are of integers") };
                match members.is_empty() || self.random.one_in(5) {
                    true => self.integer(bits, signed, out),
                    false => push(self.random.pick(members).1, bits, out),
                }
            }
            Datatype::Compound(members) => {
                members.iter().for_each(|member| self.element(&member.datatype, out));
            }
            Datatype::Vlen(base) => {
                let (count, mut rows) = (self.random.index(4), Vec::new());
                for _ in 0..count {
                    self.element(base, &mut rows);
                }
                self.slot(count, &rows, out);
            }
            Datatype::Array { base, shape } => {
                for _ in 0..shape.iter().product() {
                    self.element(base, out);
                }
            }
            Datatype::Nullable(of) => match self.random.one_in(3) {
                true => out.extend(vec![0; 1 + of.row_size().expect("small")]),
                false => {
                    out.push(1);
                    self.element(of, out);
                }
            },
            Datatype::Named(_, of) => self.element(of, out),
        }
    }

    fn slot(&mut self, count: usize, bytes: &[u8], out: &mut Vec<u8>) {
        let slot = Slot { buffer: 0, count: count as u32, offset: self.buffer.len() as u64 };
        self.buffer.extend(bytes);
        out.extend(slot.to_bytes());
    }

    fn reference(&mut self, objects: bool, regions: bool, out: &mut Vec<u8>) {
        let reference = self.random.reference(objects, regions);
        out.extend(self.heap.push_reference(reference).expect("few").to_bytes());
    }

    fn integer(&mut self, bits: u16, signed: bool, out: &mut Vec<u8>) {
        push(self.random.integer(bits, signed), bits, out);
    }

    fn float(&mut self, float: &Float, out: &mut Vec<u8>) {
        let bits = self.random.next();
        let number = self.random.double();
        let any = self.random.one_in(2);
        match float {
            Float::Half if any => out.extend((bits as u16).to_ne_bytes()),
            Float::BFloat if any => out.extend((bits as u16).to_ne_bytes()),
            Float::Single if any => out.extend((bits as u32).to_ne_bytes()),
            Float::Half => out.extend(half::f16::from_f64(number).to_ne_bytes()),
            Float::BFloat => out.extend(half::bf16::from_f64(number).to_ne_bytes()),
            Float::Single => out.extend((number as f32).to_ne_bytes()),
            Float::Double => out.extend(number.to_ne_bytes()),
            Float::Quad | Float::Other(_) => out.extend(self.random.bytes(float.row_size())),
        }
    }
}

fn push(value: i128, bits: u16, out: &mut Vec<u8>) {
    let size = usize::from(bits / 8).next_power_of_two();
    match cfg!(target_endian = "little") {
        true => out.extend(&value.to_le_bytes()[..size]),
        false => out.extend(&value.to_be_bytes()[16 - size..]),
    }
}
