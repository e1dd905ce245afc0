//! Windows: the pieces of data that bit width reduction and positive delta process one by one.

/// The size in bytes of all windows but the last: the largest multiple of the size of a value that does not exceed the
/// maximum, but at least one value.
pub(crate) fn size(max: u32, value: usize) -> usize {
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    (max / value * value).max(value)
}
