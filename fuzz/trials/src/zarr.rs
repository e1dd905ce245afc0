//! Reads everything in untrusted Zarr stores.

use crate::Outcome;
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::store::{Key, Store, ZipStore};
use hyperslab_core::{Error, ErrorKind, Limits, Severity};
use hyperslab_zarr::Array;
use hyperslab_zarr::check::{Finding, Options, Summary, check, check_zip};
use hyperslab_zarr::hierarchy::{Hierarchy, Node};
use std::sync::Arc;

/// The limits on what a store may cause to be allocated.
const LIMITS: Limits = Limits { allocation: 16 << 20, nesting: 32, rank: 64, filters: 32 };

/// Larger arrays are not read, because a document may legitimately claim any size.
const BYTES: u64 = 1 << 20;

/// The maximum number of nodes that are read, because links and consolidated metadata can name many.
const NODES: usize = 1000;

/// Checks a store, and reads everything in it.
///
/// # Panics
/// If an error or a finding has no text, or if something that the check finds valid cannot be read.
pub fn everything(store: Arc<dyn Store>) -> Outcome {
    let mut verdict = Verdict::default();
    let options = Options { values: true, ..Options::default() };
    let summary = check(&*store, LIMITS, &options, &mut |finding| verdict.hear(&finding));
    verdict.close(&summary);
    match read(&store) {
        Ok(nodes) => {
            assert!(!verdict.is_sound || summary.nodes >= nodes, "{nodes} nodes, {summary:?}");
            Outcome::Described
        }
        Err(e) => {
            assert!(!e.reason().to_string().trim().is_empty(), "an error without a reason");
            assert!(
                !verdict.is_sound || e.kind() == ErrorKind::LimitExceeded,
                "a check finds no fault in {e}"
            );
            Outcome::Refused
        }
    }
}

/// As [`everything`], for bytes that may be a zip file, which are also described.
///
/// # Panics
/// As [`everything`].
pub fn zip(bytes: Vec<u8>) -> Outcome {
    let bytes = Bytes::from(bytes);
    match ZipStore::open(Box::new(bytes.clone()), &LIMITS) {
        Ok(store) => {
            crate::everything(bytes.to_vec());
            everything(Arc::new(store))
        }
        Err(e) => {
            assert!(!e.reason().to_string().trim().is_empty(), "an error without a reason");
            let mut verdict = Verdict::default();
            let summary = check_zip(Box::new(bytes), LIMITS, &Options::default(), &mut |finding| {
                verdict.hear(&finding);
            });
            let summary = summary.expect("memory can be read");
            assert_eq!(summary.nodes, 0, "what cannot be opened has no nodes");
            assert!(!verdict.is_sound, "what cannot be opened is not sound");
            Outcome::Refused
        }
    }
}

/// Reads all arrays. Returns the number of nodes, or the first error.
fn read(store: &Arc<dyn Store>) -> Result<u64, Error> {
    let mut first = None;
    let mut count = 0;
    let hierarchy = Hierarchy::open(store.clone(), LIMITS).unwrap_or_else(|e| {
        first = Some(e);
        Hierarchy::unconsolidated(store.clone(), LIMITS)
    });
    for (_, node) in hierarchy.walk(&Key::root()).take(NODES) {
        count += 1;
        if let Err(e) = node.and_then(|node| read_node(&**store, &node)) {
            first.get_or_insert(e);
        }
    }
    first.map_or(Ok(count), Err)
}

fn read_node(store: &dyn Store, node: &Node) -> Result<(), Error> {
    if !node.is_array() {
        return Ok(());
    }
    let array = Array::new(node, &LIMITS)?;
    let bytes = element_count(array.shape()).and_then(|count| count.checked_mul(array.row_size() as u64));
    let Some(len) = bytes.filter(|bytes| *bytes <= BYTES).and_then(|bytes| usize::try_from(bytes).ok())
    else {
        return Ok(());
    };
    let mut rows = vec![0; len];
    let region = Region::all(array.shape());
    array.read(store, &region, &mut rows, &mut Heap::<()>::default(), &mut Scratch::new())
}

/// The overall result of a check.
struct Verdict {
    is_sound: bool,
}

impl Default for Verdict {
    fn default() -> Self {
        Verdict { is_sound: true }
    }
}

impl Verdict {
    fn hear(&mut self, finding: &Finding) {
        assert!(!finding.message.trim().is_empty(), "a finding without a reason");
        let is_open = matches!(
            finding.rule,
            "zarr/limit" | "zarr/unknown-extension" | "zarr/must-understand" | "zarr/implicit-group"
        );
        self.is_sound &= finding.severity != Severity::Error && !is_open;
    }

    fn close(&self, summary: &Summary) {
        let has_errors = summary.count(Severity::Error) > 0;
        assert!(!(self.is_sound && has_errors), "errors that were not given");
    }
}
