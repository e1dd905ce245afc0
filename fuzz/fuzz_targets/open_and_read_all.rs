//! Opens bytes as a file and reads everything in it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    trials::everything(bytes.to_vec());
});
