//! Opens bytes as a NetCDF classic file: the header must round-trip, the check must end, and elements are read.
#![no_main]

use bytes::Bytes;
use hyperslab_core::Limits;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_netcdf3::check::{Options, check};
use hyperslab_netcdf3::{Decoded, File, Header};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Decoded::Header(header, len)) = Header::decode(bytes, bytes.len() as u64) {
        let written = header.encode().expect("what was decoded can be encoded");
        assert_eq!(written.len() as u64, len);
        let again = Header::decode(&written, len).expect("what was encoded can be decoded");
        assert_eq!(again, Decoded::Header(header, len));
    }
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    let storage = || Box::new(Bytes::copy_from_slice(bytes));
    check(storage(), &limits, &Options::default(), &mut |_| ()).expect("memory can be read");
    let Ok(file) = File::open(storage(), &limits) else { return };
    for variable in 0..file.header().variables.len() {
        let Ok(layout) = file.layout(variable) else { continue };
        // The first and the last elements.
        for last in [false, true] {
            let count: Vec<u64> = layout.shape.iter().map(|extent| (*extent).min(3)).collect();
            let start =
                layout.shape.iter().zip(&count).map(|(extent, count)| if last { extent - count } else { 0 });
            let region = Region::new(start.collect(), count);
            let Some(size) = region.bytes(layout.element).ok().filter(|size| *size <= 1 << 20) else {
                continue;
            };
            let mut rows = vec![0; size];
            let _ = file.read_part(&layout, &region, &mut Planes::whole(&mut rows));
        }
    }
});
