//! An encoder that tests whether filters change elements: it encodes and decodes each chunk without storing it.

use super::array::stored_form;
use super::filters::is_tried;
use super::objects::Made;
use super::planner::Hdf5Planner;
use crate::source::StoredForm;
use crate::target::{Encoded, Encoder, Facts, Filters, Silent};
use hyperslab_codec::{Codec, Scratch, decode, encode_to};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::filter;
use hyperslab_hdf5::write::{ElementEncoder, EncodedPiece};
use hyperslab_model::{Node, NodePath, Values};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

struct Trial {
    elements: ElementEncoder,
    codecs: Vec<Codec>,
    form: Option<StoredForm>,
    is_asked: bool,
    has_changed: AtomicBool,
}

impl Hdf5Planner {
    /// The encoder of an array, if only a trial can determine whether its filters change elements.
    pub(super) fn trial_of(
        &self,
        path: &NodePath,
        node: &Node,
        facts: Facts,
    ) -> Result<Option<Box<dyn Encoder>>> {
        let rounds = |name: &str| ROUNDING.contains(&name);
        let filters = node.storage().map_or(&[][..], |storage| &storage.filters);
        if !node.has_elements() || !filters.iter().any(|filter| rounds(&filter.name)) {
            return Ok(None);
        }
        let (made, sizes) = self.with_objects(|objects, options| {
            Ok((objects.made(path, node, facts, &mut Silent)?, options.file.sizes))
        })?;
        let Made::Dataset(dataset) = made else { return Ok(None) };
        let elements = ElementEncoder::before_filters(&dataset.new, &sizes)?;
        let size = elements.converter().stored_size();
        let codecs =
            dataset.new.filters.iter().map(|of| filter::codec(of, size)).filter_map(Result::transpose);
        let codecs: Vec<_> = codecs.collect::<Result<_>>()?;
        if !is_tried(facts.filters, &codecs) {
            return Ok(None);
        }
        let form = stored_form(&dataset.new, &elements);
        let is_asked = facts.filters == Filters::Asked;
        Ok(Some(Box::new(Trial { elements, codecs, form, is_asked, has_changed: AtomicBool::new(false) })))
    }
}

impl Encoder for Trial {
    fn chunk(&self) -> &[u64] {
        self.elements.piece()
    }

    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let piece = self.elements.encode(index, &values.rows, &Heap::default(), Vec::new(), scratch)?;
        let EncodedPiece::Bytes(raw, _) = piece else { return Ok(Encoded::Absent) };
        let (mut stored, mut back) = (out, mem::take(&mut scratch.buffers.wanted));
        encode_to(&self.codecs, &raw, &mut stored, scratch)?;
        back.resize(raw.len(), 0);
        decode(&self.codecs, &stored, &mut back, scratch)?;
        let is_same = back == raw;
        scratch.buffers.wanted = back;
        if is_same {
            return Ok(Encoded::Absent);
        }
        self.has_changed.store(true, Ordering::Relaxed);
        Err(Error::invalid("elements that the filters change"))
    }

    fn can_copy_raw(&self, form: &StoredForm) -> bool {
        self.form.as_ref().is_some_and(|own| own.can_take(form, self.is_asked))
    }

    fn has_changed(&self) -> bool {
        self.has_changed.load(Ordering::Relaxed)
    }
}

/// The filters that may round elements, and the name for a filter specified in its stored form.
const ROUNDING: [&str; 3] = ["scaleoffset", "zfp", "hdf5"];
