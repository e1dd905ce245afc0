//! Checks and reads bytes as a zip file of a Zarr store.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    trials::zarr::zip(bytes.to_vec());
});
