//! Memory for output.

use memmap2::{Advice, MmapMut};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::hint::black_box;
use std::io;

/// Untouched memory, in huge pages if the system provides them.
pub fn huge(len: usize) -> io::Result<MmapMut> {
    let memory = MmapMut::map_anon(len)?;
    // If huge pages are disabled, small pages are used.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

/// Memory as from [`huge`], but touched, so that writing causes no page faults.
pub fn touched(len: usize) -> io::Result<MmapMut> {
    let mut memory = huge(len)?;
    memory.fill(1);
    Ok(memory)
}

/// Allocates, touches and frees memory of this size. The host of a virtual machine reclaims memory seconds after it is
/// freed, and getting it back takes longer than reading. Reading into new memory right after this call does not have
/// this cost. The pages are huge, as NumPy's for the other sides: freed small pages do not become huge ones soon.
pub fn touch_and_free(len: usize) -> io::Result<()> {
    if len > 0 {
        black_box(&mut touched(len)?);
    }
    Ok(())
}

/// Limits the private memory of this process to `bytes`.
pub fn allow(bytes: u64) -> io::Result<()> {
    Ok(setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?)
}
