//! Run-length encoding: each run of equal cells is stored as the cell and the length of the run; for strings, as the
//! length of the run, the length of the string, and the string. Lengths are big-endian, unlike everything else in
//! TileDB.
//!
//! Spec: TileDB format_spec, filters/rle.md

use super::strings::{Strings, Width};
use hyperslab_core::{Error, Result};

/// Decodes runs of cells of `cell` bytes to all of `out`.
pub(crate) fn decode(cell: usize, stored: &[u8], out: &mut [u8]) -> Result<()> {
    let len = out.len();
    let wrong = || Error::malformed(format!("{} bytes are not runs that decode to {len}", stored.len()));
    let mut left = out;
    for run in runs(cell, stored)? {
        let (cells, times) = run.split_at_checked(cell).ok_or_else(wrong)?;
        let times = times.iter().fold(0_usize, |times, byte| times << 8 | usize::from(*byte));
        let run =
            std::mem::take(&mut left).split_at_mut_checked(times.saturating_mul(cell)).ok_or_else(wrong)?;
        fill(run.0, cells);
        left = run.1;
    }
    match left.is_empty() {
        true => Ok(()),
        false => Err(wrong()),
    }
}

/// Checks that `stored` can decode to `len` bytes.
pub(crate) fn check(cell: usize, stored: &[u8], len: usize) -> Result<()> {
    let max = runs(cell, stored)?.len().saturating_mul(MAX_RUN).saturating_mul(cell);
    match len <= max {
        true => Ok(()),
        false => Err(Error::malformed(format!("{} bytes of runs cannot decode to {len}", stored.len()))),
    }
}

/// Appends runs of cells of `cell` bytes to `out`.
pub(crate) fn encode(cell: usize, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if cell == 0 || !raw.len().is_multiple_of(cell) {
        return Err(Error::invalid(format!("runs in {} bytes, expected cells of {cell}", raw.len())));
    }
    let mut cells = raw.chunks_exact(cell);
    let Some(mut last) = cells.next() else { return Ok(()) };
    let mut times = 1_u16;
    let mut put = |cell: &[u8], times: u16| {
        out.extend_from_slice(cell);
        out.extend_from_slice(&times.to_be_bytes());
    };
    for next in cells {
        if next == last && times < u16::MAX {
            times += 1;
        } else {
            put(last, times);
            (last, times) = (next, 1);
        }
    }
    put(last, times);
    Ok(())
}

/// Decodes runs of strings. The widths are those of the length of a run and of a string.
pub(crate) fn decode_strings(stored: &[u8], widths: [Width; 2], to: &mut Strings<'_>) -> Result<()> {
    let [run, len] = widths;
    let mut left = stored;
    while !left.is_empty() {
        let times = run.take(&mut left)?;
        let string = len.take_bytes(&mut left)?;
        to.push(string, times)?;
    }
    Ok(())
}

/// Appends runs of strings to `out`, and returns the widths of the lengths of runs and strings.
pub(crate) fn encode_strings<'a>(
    strings: impl Iterator<Item = &'a [u8]> + Clone,
    out: &mut Vec<u8>,
) -> [Width; 2] {
    let (mut longest_run, mut longest) = (0, 0);
    for (string, times) in string_runs(strings.clone()) {
        longest_run = times.max(longest_run);
        longest = (string.len() as u64).max(longest);
    }
    let widths = [Width::of(longest_run), Width::of(longest)];
    let [run, len] = widths;
    for (string, times) in string_runs(strings) {
        run.put(times, out);
        len.put(string.len() as u64, out);
        out.extend_from_slice(string);
    }
    widths
}

/// Strings, and how many times each occurs in a row.
fn string_runs<'a>(mut strings: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = (&'a [u8], u64)> {
    let mut next = strings.next();
    std::iter::from_fn(move || {
        let string = next?;
        let mut times = 1;
        loop {
            next = strings.next();
            if next != Some(string) {
                return Some((string, times));
            }
            times += 1;
        }
    })
}

/// The runs of cells of `cell` bytes.
fn runs(cell: usize, stored: &[u8]) -> Result<std::slice::ChunksExact<'_, u8>> {
    let size = cell.saturating_add(2);
    match cell > 0 && stored.len().is_multiple_of(size) {
        true => Ok(stored.chunks_exact(size)),
        false => Err(Error::malformed(format!("runs in {} bytes, expected cells of {cell}", stored.len()))),
    }
}

/// Fills a run with copies of a cell, whose length divides that of the run.
fn fill(run: &mut [u8], cell: &[u8]) {
    match cell {
        [byte] => run.fill(*byte),
        _ => run.chunks_exact_mut(cell.len().max(1)).for_each(|place| place.copy_from_slice(cell)),
    }
}

const MAX_RUN: usize = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    fn again(cell: usize, raw: &[u8]) -> Vec<u8> {
        let mut stored = Vec::new();
        encode(cell, raw, &mut stored).unwrap();
        check(cell, &stored, raw.len()).unwrap();
        let mut out = vec![0xee; raw.len()];
        decode(cell, &stored, &mut out).unwrap();
        assert_eq!(out, raw);
        stored
    }

    #[test]
    fn runs_have_a_length_of_two_bytes_with_the_highest_first() {
        assert_eq!(again(2, &[1, 2, 1, 2, 3, 4]), [1, 2, 0, 2, 3, 4, 0, 1]);
        assert_eq!(again(1, &[7; 70_000]), [7, 0xff, 0xff, 7, 0x11, 0x71]);
        assert_eq!(again(8, &[]), []);
    }

    #[test]
    fn rejects_runs_that_do_not_fill_their_place() {
        for len in [0, 4, 8] {
            assert!(decode(2, &[1, 2, 0, 3], &mut vec![0; len]).is_err(), "{len}");
        }
        assert!(decode(2, &[1, 2, 0], &mut [0; 6]).is_err());
        assert!(check(2, &[1, 2, 0, 3], 131_071).is_err());
        assert!(encode(4, &[0; 6], &mut Vec::new()).is_err());
    }
}
