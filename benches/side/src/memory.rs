//! Memory for output.

use memmap2::{Advice, MmapMut};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::hint::black_box;
use std::io;

/// Memory of huge pages where the system gives them, untouched.
pub fn huge(len: usize) -> io::Result<MmapMut> {
    let memory = MmapMut::map_anon(len)?;
    // Where huge pages are switched off, small ones have to do.
    let _ = memory.advise(Advice::HugePage);
    Ok(memory)
}

/// The same, touched, so that writing to it meets no fault.
pub fn touched(len: usize) -> io::Result<MmapMut> {
    let mut memory = huge(len)?;
    memory.fill(1);
    Ok(memory)
}

/// Takes, touches and gives back so much memory. The host of a virtual machine takes back what was freed
/// seconds ago, and having it again costs more than all reading; who reads into fresh memory right after this
/// does not pay for that. It is of huge pages, as NumPy has them for the other sides: small ones that were freed are
/// no huge ones soon.
pub fn touch_and_free(len: usize) -> io::Result<()> {
    if len > 0 {
        black_box(&mut touched(len)?);
    }
    Ok(())
}

/// Refuses this process more than so many bytes of memory of its own.
pub fn allow(bytes: u64) -> io::Result<()> {
    Ok(setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?)
}
