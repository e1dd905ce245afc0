//! Elements that are stored in one piece.

use hyperslab_core::nd::{Region, runs};
use hyperslab_core::{Error, Result};

/// Reads the runs of a region straight into place. Runs that lie close together are read as one piece, as
/// each read costs more than the bytes between.
pub(super) fn read(
    bytes: &dyn Fn(u64, &mut [u8]) -> Result<()>,
    dims: &[u64],
    region: &Region,
    size: usize,
    out: &mut [u8],
) -> Result<()> {
    let mut rest = out;
    let mut pending: Vec<(u64, usize)> = Vec::new();
    let mut scratch = Vec::new();
    let (mut begin, mut end) = (0_u64, 0_u64);
    let mut flush =
        |pending: &mut Vec<(u64, usize)>, begin: u64, end: u64, rest: &mut &mut [u8]| -> Result<()> {
            let total: usize = pending.iter().map(|(_, len)| len).sum();
            let (now, later) = std::mem::take(rest)
                .split_at_mut_checked(total)
                .ok_or_else(|| Error::invalid("too few bytes for a region"))?;
            *rest = later;
            if pending.len() == 1 {
                pending.clear();
                return bytes(begin, now);
            }
            scratch.resize(usize::try_from(end - begin).unwrap_or(0), 0);
            bytes(begin, &mut scratch)?;
            let mut now = now;
            for (offset, len) in pending.drain(..) {
                let from = usize::try_from(offset - begin).unwrap_or(usize::MAX);
                let piece = from.checked_add(len).and_then(|to| scratch.get(from..to));
                let (to, later) = now.split_at_mut_checked(len).unwrap_or_default();
                if let Some(piece) = piece {
                    to.copy_from_slice(piece);
                }
                now = later;
            }
            Ok(())
        };
    for run in runs(region, dims)? {
        let from = run.start.saturating_mul(size as u64);
        let to = run.end.saturating_mul(size as u64);
        let len = usize::try_from(to - from).map_err(|_| Error::invalid("a region too large"))?;
        let near = from.saturating_sub(end) <= NEAR && to.saturating_sub(begin) <= PIECE && from >= end;
        if !pending.is_empty() && !near {
            flush(&mut pending, begin, end, &mut rest)?;
        }
        if pending.is_empty() {
            begin = from;
        }
        pending.push((from, len));
        end = to;
    }
    if pending.is_empty() {
        return Ok(());
    }
    flush(&mut pending, begin, end, &mut rest)
}

/// Bytes between two runs that are cheaper read than skipped.
const NEAR: u64 = 4096;
/// The longest piece in which runs are read together.
const PIECE: u64 = 1 << 20;
