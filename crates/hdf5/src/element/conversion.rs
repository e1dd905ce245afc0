//! Converts rows of one datatype to rows of another, by the rules of libhdf5 when it reads.

use super::float_kind::FloatKind;
use super::plan_row_size;
use crate::format::Sizes;
use crate::format::message::datatype::{
    Datatype, DatatypeClass, FloatingPoint, Normalization, StringPadding, VariableLengthKind,
};
use crate::reference::Reference;
use hyperslab_core::rows::{Heap, Slot, int_row};
use hyperslab_core::{Error, Result};

/// Converts rows of one datatype to rows of another.
#[derive(Debug)]
pub(crate) struct Conversion {
    from: usize,
    to: usize,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// Both rows have the same bytes.
    Copy,
    Number(Number, Number),
    /// Enumeration values, matched by name. A value without a name becomes all bits set.
    Names {
        from: Number,
        to: Number,
        values: Vec<(i128, i128)>,
    },
    Text {
        from: StringPadding,
        to: StringPadding,
    },
    /// Compound members, matched by name: the offset in both rows.
    Members(Vec<(usize, usize, Conversion)>),
    Items(Box<Conversion>),
    Sequence(Box<Conversion>),
}

/// The layout of a number in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer { size: usize, signed: bool, precision: u32 },
    Float(Float),
}

/// The layout of a floating-point number with an implied leading mantissa bit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Float {
    size: usize,
    little_endian: bool,
    sign: u32,
    exponent: (u32, u32),
    mantissa: (u32, u32),
    bias: i64,
}

impl Conversion {
    /// A conversion from rows of `from` to rows of `to`, each with the sizes of its file.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if libhdf5 has no such conversion.
    pub(crate) fn between(from: (&Datatype, &Sizes), to: (&Datatype, &Sizes)) -> Result<Conversion> {
        let sizes = (plan_row_size(from.0, from.1)?, plan_row_size(to.0, to.1)?);
        let step = step(from, to)?;
        Ok(Conversion { from: sizes.0, to: sizes.1, step })
    }

    /// The size of a source row in bytes.
    pub(crate) fn row_size(&self) -> usize {
        self.from
    }

    /// Whether the conversion changes nothing.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.step, Step::Copy)
    }

    /// Converts whole rows. Compound members that `from` lacks keep their bytes in `to`.
    ///
    /// # Errors
    /// If a slot points outside of the heap.
    pub(crate) fn convert(&self, from: &[u8], to: &mut [u8], heap: &mut Heap<Reference>) -> Result<()> {
        let rows = from.chunks_exact(self.from.max(1)).zip(to.chunks_exact_mut(self.to.max(1)));
        match &self.step {
            Step::Copy => rows.for_each(|(from, to)| to.copy_from_slice(from)),
            Step::Number(own, other) => rows.for_each(|(from, to)| other.write(own.read(from), to)),
            Step::Names { from: own, to: other, values } => {
                for (from, to) in rows {
                    match own.read(from) {
                        Value::Integer(value) => match values.binary_search_by_key(&value, |(from, _)| *from)
                        {
                            Ok(place) => {
                                let value = values.get(place).map_or(0, |(_, to)| *to);
                                other.write(Value::Integer(value), to);
                            }
                            Err(_) => to.fill(0xff),
                        },
                        Value::Float(_) => to.fill(0xff),
                    }
                }
            }
            Step::Text { from: own, to: other } => rows.for_each(|(from, to)| text(*own, *other, from, to)),
            Step::Members(members) => {
                for (from, to) in rows {
                    for (at, other, member) in members {
                        let from = from.get(*at..at.saturating_add(member.from)).unwrap_or_default();
                        let to = to.get_mut(*other..other.saturating_add(member.to)).unwrap_or_default();
                        member.convert(from, to, heap)?;
                    }
                }
            }
            Step::Items(item) => rows.into_iter().try_for_each(|(from, to)| item.convert(from, to, heap))?,
            Step::Sequence(item) => {
                for (from, to) in rows {
                    let slot = item.sequence(Slot::get(from).unwrap_or_default(), heap)?;
                    to.copy_from_slice(&slot.to_bytes());
                }
            }
        }
        Ok(())
    }

    fn sequence(&self, slot: Slot, heap: &mut Heap<Reference>) -> Result<Slot> {
        let count = usize::try_from(slot.count).unwrap_or(usize::MAX);
        let lost = || Error::malformed("slot of a sequence points outside of the heap");
        let len = count.checked_mul(self.from).ok_or_else(lost)?;
        let items = heap.bytes(slot, len).ok_or_else(lost)?.to_vec();
        let mut rows = vec![0; count.checked_mul(self.to).ok_or_else(lost)?];
        self.convert(&items, &mut rows, heap)?;
        if rows.is_empty() {
            return Ok(Slot::default());
        }
        heap.push_items(rows.into(), slot.count)
    }
}

fn step(from: (&Datatype, &Sizes), to: (&Datatype, &Sizes)) -> Result<Step> {
    use DatatypeClass as Class;
    let nested = |own: &Datatype, other: &Datatype| Conversion::between((own, from.1), (other, to.1));
    let refused = || {
        Err(Error::unsupported(format!(
            "cannot convert elements of the source dataset ({}) to those of the virtual dataset ({})",
            class_name(&from.0.class),
            class_name(&to.0.class)
        )))
    };
    if let (Some(own), Some(other)) = (Number::of(from.0), Number::of(to.0)) {
        return Ok(if own == other { Step::Copy } else { Step::Number(own, other) });
    }
    let same = from.0.size == to.0.size;
    match (&from.0.class, &to.0.class) {
        (Class::String(own), Class::String(other)) if own.character_set == other.character_set => {
            Ok(match same && own.padding == other.padding {
                true => Step::Copy,
                false => Step::Text { from: own.padding, to: other.padding },
            })
        }
        (Class::FloatingPoint(own), Class::FloatingPoint(other)) if same && layout(own) == layout(other) => {
            Ok(Step::Copy)
        }
        (Class::Opaque(own), Class::Opaque(other)) if same && own.tag == other.tag => Ok(Step::Copy),
        (Class::BitField(own), Class::BitField(other))
            if same && own.bit_precision == other.bit_precision =>
        {
            Ok(Step::Copy)
        }
        (Class::Time(_), Class::Time(_)) if same => Ok(Step::Copy),
        (Class::Reference(own), Class::Reference(other)) if own == other => Ok(Step::Copy),
        (Class::Enumeration(own), Class::Enumeration(other)) => {
            let (Some(base), Some(other_base)) = (Number::of(&own.base), Number::of(&other.base)) else {
                return refused();
            };
            let number = |base: Number, stored: &Datatype, value: &[u8]| stored_integer(base, stored, value);
            let others: Vec<(&[u8], i128)> = other
                .members()
                .filter_map(|(name, value)| Some((name, number(other_base, &other.base, value)?)))
                .collect();
            let mut values: Vec<(i128, i128)> = own
                .members()
                .filter_map(|(name, value)| {
                    let to = others.iter().find(|(other, _)| *other == name)?.1;
                    Some((number(base, &own.base, value)?, to))
                })
                .collect();
            values.sort_unstable();
            values.dedup_by_key(|(from, _)| *from);
            let all = values.len() == own.names.len() && values.iter().all(|(from, to)| from == to);
            Ok(match all {
                true if base == other_base => Step::Copy,
                _ => Step::Names { from: base, to: other_base, values },
            })
        }
        (Class::Enumeration(own), Class::FixedPoint(_) | Class::FloatingPoint(_)) => {
            match (Number::of(&own.base), Number::of(to.0)) {
                (Some(own), Some(other)) => Ok(Step::Number(own, other)),
                _ => refused(),
            }
        }
        (Class::Compound(own), Class::Compound(other)) => {
            let starts = |members: &[crate::format::message::datatype::Member], sizes: &Sizes| {
                let mut at = 0_usize;
                members
                    .iter()
                    .map(|member| {
                        let start = at;
                        at = at.saturating_add(plan_row_size(&member.datatype, sizes)?);
                        Ok(start)
                    })
                    .collect::<Result<Vec<usize>>>()
            };
            let (own_starts, other_starts) = (starts(&own.members, from.1)?, starts(&other.members, to.1)?);
            let mut members = Vec::new();
            for (member, at) in other.members.iter().zip(other_starts) {
                let found = own.members.iter().zip(&own_starts).find(|(own, _)| own.name == member.name);
                if let Some((found, from)) = found {
                    members.push((*from, at, nested(&found.datatype, &member.datatype)?));
                }
            }
            let copies = members.len() == own.members.len()
                && members.len() == other.members.len()
                && members.iter().all(|(from, to, member)| from == to && member.is_identity());
            Ok(if copies { Step::Copy } else { Step::Members(members) })
        }
        (Class::Array(own), Class::Array(other)) if own.dimensions == other.dimensions => {
            items(nested(&own.base, &other.base)?)
        }
        (Class::Complex(own), Class::Complex(other)) => items(nested(&own.base, &other.base)?),
        (Class::VariableLength(own), Class::VariableLength(other)) => match (own.kind, other.kind) {
            (VariableLengthKind::String { .. }, VariableLengthKind::String { .. }) => Ok(Step::Copy),
            (VariableLengthKind::Sequence, VariableLengthKind::Sequence) => {
                let item = nested(&own.base, &other.base)?;
                Ok(if item.is_identity() { Step::Copy } else { Step::Sequence(Box::new(item)) })
            }
            _ => refused(),
        },
        _ => refused(),
    }
}

fn items(item: Conversion) -> Result<Step> {
    Ok(if item.is_identity() { Step::Copy } else { Step::Items(Box::new(item)) })
}

fn class_name(class: &DatatypeClass) -> &'static str {
    match class {
        DatatypeClass::FixedPoint(_) => "integers",
        DatatypeClass::FloatingPoint(_) => "floating-point numbers",
        DatatypeClass::Time(_) => "times",
        DatatypeClass::String(_) => "strings of fixed length",
        DatatypeClass::BitField(_) => "bit fields",
        DatatypeClass::Opaque(_) => "opaque bytes",
        DatatypeClass::Compound(_) => "compounds",
        DatatypeClass::Reference(_) => "references",
        DatatypeClass::Enumeration(_) => "enumerations",
        DatatypeClass::VariableLength(_) => "elements of variable length",
        DatatypeClass::Array(_) => "arrays",
        DatatypeClass::Complex(_) => "complex numbers",
    }
}

/// The layout of a floating-point number without its byte order.
fn layout(class: &FloatingPoint) -> FloatingPoint {
    FloatingPoint { byte_order: crate::format::message::datatype::FloatByteOrder::LittleEndian, ..*class }
}

/// An integer as an enumeration stores it.
fn stored_integer(number: Number, base: &Datatype, value: &[u8]) -> Option<i128> {
    let program = super::program::Program::compile(base, &Sizes::DEFAULT).ok()?;
    let mut row = vec![0; program.row];
    program.run_numbers(value, &mut row);
    match number.read(&row) {
        Value::Integer(value) => Some(value),
        Value::Float(_) => None,
    }
}

/// Truncates or pads strings by the rules of libhdf5.
fn text(own: StringPadding, other: StringPadding, from: &[u8], to: &mut [u8]) {
    let len = match own {
        StringPadding::NullTerminate | StringPadding::NullPad => {
            from.iter().position(|byte| *byte == 0).unwrap_or(from.len())
        }
        StringPadding::SpacePad => from.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1),
    };
    let room = match other {
        StringPadding::NullTerminate => to.len().saturating_sub(1),
        StringPadding::NullPad | StringPadding::SpacePad => to.len(),
    };
    let len = len.min(room);
    let (head, tail) = to.split_at_mut_checked(len).unwrap_or_default();
    head.copy_from_slice(from.get(..len).unwrap_or_default());
    tail.fill(if other == StringPadding::SpacePad { b' ' } else { 0 });
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn of(datatype: &Datatype) -> Option<Number> {
        match &datatype.class {
            DatatypeClass::FixedPoint(class) => {
                let size = usize::try_from(datatype.size).ok().filter(|size| *size <= 16)?;
                let precision = class.bit_precision.into();
                let fits = precision < 128;
                fits.then_some(Number::Integer { size: int_row(size), signed: class.signed, precision })
            }
            DatatypeClass::FloatingPoint(class) => Float::of(class, datatype.size).map(Number::Float),
            _ => None,
        }
    }

    fn read(&self, row: &[u8]) -> Value {
        match self {
            Number::Integer { signed, .. } => Value::Integer(integer(row, *signed)),
            Number::Float(float) => Value::Float(float.read(row)),
        }
    }

    /// Writes a value. A value out of range becomes the nearest one in range.
    fn write(&self, value: Value, row: &mut [u8]) {
        match self {
            Number::Integer { signed, precision, .. } => {
                let max = (1_i128 << (precision - u32::from(*signed))) - 1;
                let min = if *signed { -max - 1 } else { 0 };
                let value = match value {
                    Value::Integer(value) => value,
                    Value::Float(value) => whole(value),
                };
                put_integer(value.clamp(min, max), row);
            }
            Number::Float(float) => float.write(value, row),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "truncates and saturates, as libhdf5 does")]
fn whole(value: f64) -> i128 {
    value as i128
}

/// An integer in the byte order of this machine.
fn integer(row: &[u8], signed: bool) -> i128 {
    let mut bytes = [0; 16];
    let ordered: &mut dyn Iterator<Item = &u8> =
        if cfg!(target_endian = "little") { &mut row.iter() } else { &mut row.iter().rev() };
    ordered.zip(&mut bytes).for_each(|(from, to)| *to = *from);
    let unused = 128_u32.saturating_sub(u32::try_from(row.len()).unwrap_or(16).saturating_mul(8));
    let top = u128::from_le_bytes(bytes).unbounded_shl(unused);
    match signed {
        true => top.cast_signed().unbounded_shr(unused),
        false => top.unbounded_shr(unused).cast_signed(),
    }
}

fn put_integer(value: i128, row: &mut [u8]) {
    let bytes = value.to_le_bytes();
    match cfg!(target_endian = "little") {
        true => row.iter_mut().zip(bytes).for_each(|(to, from)| *to = from),
        false => row.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = from),
    }
}

impl Float {
    /// The layout, if a double holds all numbers of the type exactly.
    fn of(class: &FloatingPoint, size: u32) -> Option<Float> {
        let kind = FloatKind::of(class, size);
        let size = usize::try_from(size).ok().filter(|size| *size <= 8)?;
        let exact = class.normalization == Normalization::MostSignificantBitImplied
            && (2..=11).contains(&class.exponent_size)
            && class.mantissa_size <= 52
            && class.bit_offset == 0;
        let native =
            matches!(kind, FloatKind::Half | FloatKind::Single | FloatKind::Double | FloatKind::BFloat);
        exact.then_some(Float {
            size,
            little_endian: !native || cfg!(target_endian = "little"),
            sign: class.sign_location.into(),
            exponent: (class.exponent_location.into(), class.exponent_size.into()),
            mantissa: (class.mantissa_location.into(), class.mantissa_size.into()),
            bias: class.exponent_bias.into(),
        })
    }

    fn read(&self, row: &[u8]) -> f64 {
        let mut bytes = [0; 8];
        match self.little_endian {
            true => row.iter().zip(&mut bytes).for_each(|(from, to)| *to = *from),
            false => row.iter().rev().zip(&mut bytes).for_each(|(from, to)| *to = *from),
        }
        let bits = u64::from_le_bytes(bytes);
        let part = |(at, len): (u32, u32)| bits.unbounded_shr(at) & low_bits(len);
        let (exponent, mantissa) = (part(self.exponent), part(self.mantissa));
        let size = i32::try_from(self.mantissa.1).unwrap_or(0);
        let bias = i32::try_from(self.bias).unwrap_or(i32::MAX);
        let scale = |power: i32| 2_f64.powi(power.clamp(-1074, 1023));
        let value = if exponent == low_bits(self.exponent.1) {
            if mantissa == 0 { f64::INFINITY } else { f64::NAN }
        } else if exponent == 0 {
            // In two steps, since the scale of the smallest doubles is itself subnormal.
            double(mantissa) * scale(1_i32.saturating_sub(bias)) * scale(-size)
        } else {
            let power = i32::try_from(exponent).unwrap_or(i32::MAX).saturating_sub(bias);
            (1.0 + double(mantissa) * scale(-size)) * scale(power)
        };
        if part((self.sign, 1)) == 1 { -value } else { value }
    }

    fn write(&self, value: Value, row: &mut [u8]) {
        let bits = match (value, self.size, self.mantissa.1) {
            // Rounded once, as the processor does.
            (Value::Integer(value), 4, 23) => u64::from(single_of(value).to_bits()),
            (Value::Float(value), 4, 23) => u64::from(single(value).to_bits()),
            (Value::Integer(value), 8, 52) => double_of(value).to_bits(),
            (Value::Float(value), 8, 52) => value.to_bits(),
            (Value::Integer(value), ..) => self.rounded(double_of(value)),
            (Value::Float(value), ..) => self.rounded(value),
        };
        match self.little_endian {
            true => row.iter_mut().zip(bits.to_le_bytes()).for_each(|(to, from)| *to = from),
            false => row.iter_mut().rev().zip(bits.to_le_bytes()).for_each(|(to, from)| *to = from),
        }
    }

    /// The bits of the nearest number, ties to even.
    fn rounded(&self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()).unbounded_shl(self.sign);
        let ones = low_bits(self.exponent.1);
        let put = |exponent: u64, mantissa: u64| {
            sign | exponent.unbounded_shl(self.exponent.0) | mantissa.unbounded_shl(self.mantissa.0)
        };
        if value.is_nan() {
            return put(ones, 1_u64.unbounded_shl(self.mantissa.1.saturating_sub(1)).max(1));
        }
        let bits = value.abs().to_bits();
        let own = i64::try_from(bits >> 52).unwrap_or(0);
        if own == 0x7ff {
            return put(ones, 0);
        }
        let significand = bits & low_bits(52) | u64::from(own != 0) << 52;
        let power = own.max(1) - 1023;
        let exponent = power.saturating_add(self.bias);
        // The number of the 53 mantissa bits that are lost: more if the result is subnormal.
        let lost = i64::from(52 - self.mantissa.1) + (1 - exponent).max(0);
        let lost = u32::try_from(lost.min(64)).unwrap_or(64);
        let kept = significand.unbounded_shr(lost);
        let rest = significand & low_bits(lost.min(63));
        let half = 1_u64.unbounded_shl(lost.saturating_sub(1));
        let up = lost > 0 && lost < 64 && (rest > half || rest == half && kept & 1 == 1);
        // A carry out of the mantissa increments the exponent, which is correct.
        let biased = u64::try_from(exponent.max(1) - 1).unwrap_or(0);
        let joined = biased.unbounded_shl(self.mantissa.1).saturating_add(kept + u64::from(up));
        let (exponent, mantissa) =
            (joined.unbounded_shr(self.mantissa.1), joined & low_bits(self.mantissa.1));
        if exponent >= ones { put(ones, 0) } else { put(exponent, mantissa) }
    }
}

const fn low_bits(count: u32) -> u64 {
    match 1_u64.checked_shl(count) {
        Some(bit) => bit - 1,
        None => u64::MAX,
    }
}

fn double(value: u64) -> f64 {
    value as f64
}

fn double_of(value: i128) -> f64 {
    value as f64
}

fn single_of(value: i128) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest")]
fn single(value: f64) -> f32 {
    value as f32
}
