//! Reads everything in Zarr stores that nobody vouches for.

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

/// What a store may make us allocate.
const LIMITS: Limits = Limits { allocation: 16 << 20, nesting: 32, rank: 64, filters: 32 };

/// Arrays of more bytes are not read: a document may rightly claim any size.
const BYTES: u64 = 1 << 20;

/// Nodes that are read: links and consolidated metadata can name many.
const NODES: usize = 1000;

/// Checks a store, and reads all that is in it.
///
/// # Panics
/// If an error or a finding says nothing, or what a check finds sound cannot be read.
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

/// The same for bytes that may be a zip file, which are described as well.
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

/// Reads all arrays; the first thing that cannot be read is the error. The number of nodes otherwise.
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

/// What a check says in all.
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
