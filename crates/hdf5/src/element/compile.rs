//! Compiles datatypes to programs that convert elements.

use super::float_kind::FloatKind;
use super::number::{Bits, Integer};
use super::program::{Member, Op, Program};
use super::reference::ReferenceForm;
use super::variable_length::Variable;
use crate::format::Sizes;
use crate::format::message::datatype::{
    BitField, ByteOrder, Compound, Datatype, DatatypeClass, FixedPoint, FloatByteOrder, FloatingPoint,
    Reference, ReferenceType, VariableLength, VariableLengthKind,
};
use hyperslab_core::rows::{Slot, int_row};
use hyperslab_core::{Error, ErrorKind, Result};

impl Program {
    /// The program for converting elements of `datatype`.
    pub(super) fn compile(datatype: &Datatype, sizes: &Sizes) -> Result<Program> {
        compile(datatype, sizes, 1)
    }
}

fn compile(datatype: &Datatype, sizes: &Sizes, nesting: u32) -> Result<Program> {
    if nesting > MAX_NESTING {
        let detail = format!("datatypes nested more than {MAX_NESTING} levels deep");
        return Err(Error::new(ErrorKind::LimitExceeded, detail));
    }
    let size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
    if size == 0 {
        return Err(Error::malformed("element size 0, expected 1 or more"));
    }
    let nested = |base: &Datatype| compile(base, sizes, nesting + 1);
    match &datatype.class {
        DatatypeClass::FixedPoint(class) => fixed_point(size, class),
        DatatypeClass::Time(class) => {
            let class = FixedPoint {
                byte_order: class.byte_order,
                low_padding: false,
                high_padding: false,
                signed: true,
                bit_offset: 0,
                bit_precision: class.bit_precision,
            };
            fixed_point(size, &class)
        }
        DatatypeClass::FloatingPoint(class) => {
            floating_point(size, class, FloatKind::of(class, datatype.size))
        }
        DatatypeClass::String(_) | DatatypeClass::Opaque(_) => Ok(Program::copy(size)),
        DatatypeClass::BitField(class) => Ok(bit_field(size, class)),
        DatatypeClass::Compound(class) => compound(size, class, nested),
        DatatypeClass::Reference(class) => reference(size, class, sizes),
        DatatypeClass::Enumeration(class) => nested(&class.base)?.repeated(size),
        DatatypeClass::VariableLength(class) => variable_length(size, class, sizes, nested),
        DatatypeClass::Array(class) => nested(&class.base)?.repeated(size),
        DatatypeClass::Complex(class) => nested(&class.base)?.repeated(size),
    }
}

impl Program {
    fn copy(size: usize) -> Program {
        Program { stored: size, row: size, op: Op::Copy }
    }

    /// Repeats this program for all items in `size` bytes.
    fn repeated(self, size: usize) -> Result<Program> {
        let count = size.checked_div(self.stored).unwrap_or(0);
        if count == 0 || count.checked_mul(self.stored) != Some(size) {
            return Err(Error::malformed(format!(
                "{size} bytes, expected a multiple of the item size {}",
                self.stored
            )));
        }
        let row =
            count.checked_mul(self.row).ok_or_else(|| Error::malformed("row size overflows 2^64 bytes"))?;
        Ok(Program { stored: size, row, op: self.op })
    }
}

fn fixed_point(size: usize, class: &FixedPoint) -> Result<Program> {
    if size > 16 {
        return Err(Error::unsupported(format!("integer of {size} bytes, expected at most 16")));
    }
    check_bits(size, class.bit_offset, class.bit_precision)?;
    let row = int_row(size);
    if row == size && usize::from(class.bit_precision) == 8 * size {
        return Ok(native(size, class.byte_order));
    }
    let integer = Integer {
        stored: size,
        row,
        byte_order: class.byte_order,
        signed: class.signed,
        offset: class.bit_offset.into(),
        precision: class.bit_precision.into(),
        padding: (class.low_padding, class.high_padding),
    };
    Ok(Program { stored: size, row, op: Op::Widen(integer) })
}

fn bit_field(size: usize, class: &BitField) -> Program {
    if usize::from(class.bit_precision) == 8 * size {
        return little_endian(size, class.byte_order);
    }
    let bits = Bits {
        size,
        byte_order: class.byte_order,
        offset: class.bit_offset.into(),
        precision: class.bit_precision.into(),
    };
    Program { stored: size, row: size, op: Op::ExtractBits(bits) }
}

fn floating_point(size: usize, class: &FloatingPoint, kind: FloatKind) -> Result<Program> {
    let (byte_order, vax) = match class.byte_order {
        FloatByteOrder::LittleEndian => (ByteOrder::LittleEndian, false),
        FloatByteOrder::BigEndian => (ByteOrder::BigEndian, false),
        FloatByteOrder::Vax => (ByteOrder::LittleEndian, true),
    };
    let native_layout =
        matches!(kind, FloatKind::Half | FloatKind::Single | FloatKind::Double | FloatKind::BFloat);
    match vax {
        false if native_layout => Ok(native(size, byte_order)),
        false => Ok(little_endian(size, byte_order)),
        true if !size.is_multiple_of(2) => Err(Error::malformed(format!(
            "floating-point number of {size} bytes in VAX order, expected a multiple of 2"
        ))),
        // VAX order: the words are in the right order, but the bytes in each word are swapped.
        true if native_layout && HOST == ByteOrder::BigEndian => {
            Ok(Program { stored: size, row: size, op: Op::Reverse(2) })
        }
        true => Ok(Program { stored: size, row: size, op: Op::ReverseVaxWords(size) }),
    }
}

fn compound(size: usize, class: &Compound, nested: impl Fn(&Datatype) -> Result<Program>) -> Result<Program> {
    let mut members: Vec<Member> = Vec::with_capacity(class.members.len());
    let mut row = 0_usize;
    for member in &class.members {
        let from = usize::try_from(member.byte_offset).unwrap_or(usize::MAX);
        let program = nested(&member.datatype)?;
        if from.checked_add(program.stored).is_none_or(|end| end > size) {
            return Err(Error::malformed(format!(
                "member of {} bytes at byte offset {from} exceeds the compound of {size} bytes",
                program.stored
            )));
        }
        let to = row;
        row =
            row.checked_add(program.row).ok_or_else(|| Error::malformed("row size overflows 2^64 bytes"))?;
        match program.op {
            // The members of a nested compound are added directly.
            Op::Compound { stored, members: inner, .. } if stored == program.stored => {
                let inner = inner.into_iter();
                inner.for_each(|inner| push(&mut members, from + inner.from, to + inner.to, inner.program));
            }
            op => push(&mut members, from, to, Program { op, ..program }),
        }
    }
    match members.as_slice() {
        [] => Err(Error::malformed("compound without members, expected 1 or more")),
        [only] if only.program.stored == size => {
            Ok(Program { stored: size, row, op: only.program.op.clone() })
        }
        _ => Ok(Program { stored: size, row, op: Op::Compound { stored: size, row, members } }),
    }
}

/// Adds a member. Extends the member before if both are copied and adjacent.
fn push(members: &mut Vec<Member>, from: usize, to: usize, program: Program) {
    if let Some(last) = members.last_mut()
        && last.from + last.program.stored == from
        && last.to + last.program.row == to
        && last.program.op == program.op
    {
        last.program.stored += program.stored;
        last.program.row += program.row;
        return;
    }
    members.push(Member { from, to, program });
}

fn variable_length(
    size: usize,
    class: &VariableLength,
    sizes: &Sizes,
    nested: impl Fn(&Datatype) -> Result<Program>,
) -> Result<Program> {
    let min = 8 + usize::from(sizes.offsets);
    if size < min {
        return Err(Error::malformed(format!("variable-length elements of {size} bytes, expected {min}")));
    }
    let items = match class.kind {
        VariableLengthKind::Sequence => Variable::Elements(Box::new(nested(&class.base)?)),
        VariableLengthKind::String { .. } => Variable::Characters(class.base.size),
    };
    Ok(Program { stored: size, row: Slot::SIZE, op: Op::VariableLength(size, items) })
}

fn reference(size: usize, class: &Reference, sizes: &Sizes) -> Result<Program> {
    let offsets = usize::from(sizes.offsets);
    let (form, min) = match class.reference_type {
        ReferenceType::Object1 => (ReferenceForm::Object1, offsets),
        ReferenceType::DatasetRegion1 => (ReferenceForm::Region1, offsets + 4),
        ReferenceType::Object2 | ReferenceType::DatasetRegion2 | ReferenceType::Attribute => {
            (ReferenceForm::Revised, offsets + 10)
        }
    };
    if size < min {
        return Err(Error::malformed(format!("references of {size} bytes, expected {min}")));
    }
    Ok(Program { stored: size, row: Slot::SIZE, op: Op::Reference(size, form) })
}

fn check_bits(size: usize, offset: u16, precision: u16) -> Result<()> {
    if precision == 0 || usize::from(offset) + usize::from(precision) > 8 * size {
        return Err(Error::malformed(format!("{precision} bits at {offset} of {size} bytes")));
    }
    Ok(())
}

/// Numbers whose rows are in the byte order of this machine.
fn native(size: usize, byte_order: ByteOrder) -> Program {
    let op = if byte_order == HOST || size == 1 { Op::Copy } else { Op::Reverse(size) };
    Program { stored: size, row: size, op }
}

/// Numbers whose rows are little-endian on every machine.
fn little_endian(size: usize, byte_order: ByteOrder) -> Program {
    let op = match byte_order {
        ByteOrder::BigEndian if size > 1 => Op::Reverse(size),
        _ => Op::Copy,
    };
    Program { stored: size, row: size, op }
}

const HOST: ByteOrder =
    if cfg!(target_endian = "little") { ByteOrder::LittleEndian } else { ByteOrder::BigEndian };
/// The maximum nesting, as in the decoder of datatypes.
const MAX_NESTING: u32 = 32;
