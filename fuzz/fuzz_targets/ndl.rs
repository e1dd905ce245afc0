//! Reads bytes as an NDL document, in each of the ways it can be read.
#![no_main]

use hyperslab_ndl::{ParseOptions, Source, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (strict, lenient, pure) = (false, false, false);
    for options in [
        ParseOptions { strict, lenient, pure },
        ParseOptions { strict, lenient: true, pure },
        ParseOptions { strict: true, lenient, pure: true },
    ] {
        let parsed = parse(bytes, &options);
        let source = Source::new("fuzz", bytes);
        for diagnostic in parsed.diagnostics.iter().chain(&parsed.refusals) {
            assert!(diagnostic.line > 0 && diagnostic.column < diagnostic.end_column, "{diagnostic:?}");
            source.render(diagnostic, true);
        }
    }
});
