//! Checks bytes as an HDF5 file: for any input the check ends, and every finding has a place and a reason.
#![no_main]

use hyperslab_core::Limits;
use hyperslab_hdf5::check::{Options, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let limits = Limits { allocation: 64 << 20, ..Limits::default() };
    let options = Options { values: true, ..Options::default() };
    let storage = Box::new(bytes::Bytes::copy_from_slice(input));
    let summary = check(storage, limits, &options, &mut |finding| {
        assert!(!finding.message.trim().is_empty(), "a finding without a reason");
        assert!(finding.byte.is_some(), "a finding without a place");
    });
    // A file that is split over several files is rejected.
    if let Ok(summary) = summary
        && let Some(unaccounted) = summary.unaccounted
    {
        assert!(unaccounted <= u64::try_from(input.len()).unwrap_or(u64::MAX));
    }
});
