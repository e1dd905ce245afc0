//! Parses bytes as a Zarr document whose kind the first of them chooses. The emitted document must be equivalent.
#![no_main]

use hyperslab_core::Limits;
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::{v2, v3};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { allocation: 16 << 20, nesting: 32, rank: 64, filters: 32 };

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else { return };
    let Ok(json) = Json::parse("document", text, &LIMITS) else { return };
    let again = Json::parse("document", json.emit().as_bytes(), &LIMITS).expect("what was emitted parses");
    assert_eq!(again, json);
    match kind % 5 {
        0 | 1 => {
            let Ok(node) = v3::NodeMetadata::parse(&json, &LIMITS) else { return };
            let again = v3::NodeMetadata::parse(&node.emit(), &LIMITS).expect("what was emitted parses");
            // Unknown members are written last, and are compared in that order.
            assert_eq!(again.emit(), node.emit());
        }
        2 => {
            let Ok(array) = v2::ArrayMetadata::parse(&json, &LIMITS) else { return };
            let again = v2::ArrayMetadata::parse(&array.emit(), &LIMITS).expect("what was emitted parses");
            assert_eq!(again.emit(), array.emit());
        }
        3 => {
            let Ok(group) = v2::GroupMetadata::parse(&json, &LIMITS) else { return };
            assert_eq!(v2::GroupMetadata::parse(&group.emit(), &LIMITS).expect("it parses"), group);
        }
        _ => {
            let Ok(copies) = v2::ConsolidatedMetadata::parse(&json, &LIMITS) else { return };
            assert_eq!(v2::ConsolidatedMetadata::parse(&copies.emit(), &LIMITS).expect("it parses"), copies);
        }
    }
});
