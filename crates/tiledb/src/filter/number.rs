//! Integers of every size, for filters that compute with them.

use crate::format::data_type::DataType;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

/// Calls a function that is generic over a [`Number`] and its size with the type that `$integer` stands for.
macro_rules! with_integer {
    ($integer:expr, $function:ident, $($argument:expr),*) => {
        match $integer {
            Integer::I8 => $function::<i8, 1>($($argument),*),
            Integer::U8 => $function::<u8, 1>($($argument),*),
            Integer::I16 => $function::<i16, 2>($($argument),*),
            Integer::U16 => $function::<u16, 2>($($argument),*),
            Integer::I32 => $function::<i32, 4>($($argument),*),
            Integer::U32 => $function::<u32, 4>($($argument),*),
            Integer::I64 => $function::<i64, 8>($($argument),*),
            Integer::U64 => $function::<u64, 8>($($argument),*),
        }
    };
}
pub(crate) use with_integer;

impl Integer {
    /// The integer type of a datatype that counts or measures: numbers, dates and times.
    pub(crate) fn of_number(data_type: DataType) -> Option<Integer> {
        match data_type {
            DataType::Int8 => Some(Integer::I8),
            DataType::UInt8 => Some(Integer::U8),
            DataType::Int16 => Some(Integer::I16),
            DataType::UInt16 => Some(Integer::U16),
            DataType::Int32 => Some(Integer::I32),
            DataType::UInt32 => Some(Integer::U32),
            DataType::Int64 => Some(Integer::I64),
            DataType::UInt64 => Some(Integer::U64),
            _ if data_type.is_datetime() || data_type.is_time() => Some(Integer::I64),
            _ => None,
        }
    }

    /// The signed integer of `size` bytes.
    pub(crate) fn signed(size: u64) -> Option<Integer> {
        match size {
            1 => Some(Integer::I8),
            2 => Some(Integer::I16),
            4 => Some(Integer::I32),
            8 => Some(Integer::I64),
            _ => None,
        }
    }

    /// The size in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Integer::I8 | Integer::U8 => 1,
            Integer::I16 | Integer::U16 => 2,
            Integer::I32 | Integer::U32 => 4,
            Integer::I64 | Integer::U64 => 8,
        }
    }
}

/// An integer of `N` bytes, which are little-endian in files. Arithmetic wraps around.
pub(crate) trait Number<const N: usize>: Copy + Ord {
    const SIGNED: bool;
    const BITS: u32;
    const ZERO: Self;
    fn of(bytes: [u8; N]) -> Self;
    fn bytes(self) -> [u8; N];
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The same 64 bits that C++ produces when it converts the value to a signed integer of 64 bits.
    fn wide(self) -> i64;

    /// The amount by which the value exceeds another one. `None` if that exceeds 64 bits.
    fn above(self, other: Self) -> Option<i64>;

    /// The lowest bits of a wide integer.
    #[inline(always)]
    fn narrow(wide: i64) -> Self {
        wide.to_le_bytes().first_chunk().map_or(Self::ZERO, |low| Self::of(*low))
    }

    /// The value of an integer of `M` bytes with the same signedness.
    #[inline(always)]
    fn extended<const M: usize>(low: [u8; M]) -> Self {
        let is_negative = Self::SIGNED && low.last().is_some_and(|high| *high >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 8];
        if let Some(place) = wide.first_chunk_mut() {
            *place = low;
        }
        Self::narrow(i64::from_le_bytes(wide))
    }
}

macro_rules! numbers {
    ($($type:ident, $size:literal, $signed:literal, $wide:expr, $above:expr;)*) => {$(
        impl Number<$size> for $type {
            const SIGNED: bool = $signed;
            const BITS: u32 = $type::BITS;
            const ZERO: Self = 0;

            #[inline(always)]
            fn of(bytes: [u8; $size]) -> Self {
                $type::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn bytes(self) -> [u8; $size] {
                self.to_le_bytes()
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn wide(self) -> i64 {
                $wide(self)
            }

            #[inline(always)]
            fn above(self, other: Self) -> Option<i64> {
                $above(self, other)
            }
        }
    )*};
}

fn narrow_above<T: Into<i64>>(value: T, other: T) -> Option<i64> {
    Some(value.into() - other.into())
}

numbers! {
    i8, 1, true, i64::from, narrow_above;
    u8, 1, false, i64::from, narrow_above;
    i16, 2, true, i64::from, narrow_above;
    u16, 2, false, i64::from, narrow_above;
    i32, 4, true, i64::from, narrow_above;
    u32, 4, false, i64::from, narrow_above;
    i64, 8, true, i64::from, i64::checked_sub;
    u64, 8, false, u64::cast_signed, u64::checked_signed_diff;
}
