//! The most recently opened objects. A walk lists objects, loads them and opens their elements: each header is decoded
//! only once for all three.

use super::Hdf5Source;
use crate::source::Item;
use hyperslab_core::Result;
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::data_layout::LayoutClass;
use hyperslab_hdf5::{Dataset, Object};
use hyperslab_model::{Datatype, ElementStorage};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, PoisonError};

/// An object and what is known of it: as a dataset, and as an item of a listing.
pub(super) struct Opened {
    pub(super) object: Object,
    dataset: OnceLock<Arc<OpenedDataset>>,
    item: OnceLock<Item>,
}

/// A dataset with the type of its elements in the model.
pub(super) struct OpenedDataset {
    pub(super) dataset: Dataset,
    pub(super) datatype: Arc<Datatype>,
    pub(super) element: ElementStorage,
}

/// The most recent objects, by address.
#[derive(Default)]
pub(super) struct Recent {
    objects: FxHashMap<Address, Arc<Opened>>,
    /// Their addresses, in the order in which they were opened.
    order: VecDeque<Address>,
}

impl Recent {
    fn insert(&mut self, address: Address, opened: Arc<Opened>) {
        if self.objects.insert(address, opened).is_some() {
            return;
        }
        if self.order.len() >= MAX_OBJECTS
            && let Some(first) = self.order.pop_front()
        {
            self.objects.remove(&first);
        }
        self.order.push_back(address);
    }
}

impl Opened {
    fn new(object: Object) -> Opened {
        Opened { object, dataset: OnceLock::new(), item: OnceLock::new() }
    }

    /// Its item in a listing, if one was made.
    pub(super) fn listed(&self) -> Option<&Item> {
        self.item.get()
    }
}

impl Hdf5Source {
    /// The object at `address`.
    pub(super) fn open(&self, address: Address) -> Result<Arc<Opened>> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = recent().objects.get(&address) {
            return Ok(Arc::clone(known));
        }
        let opened = Arc::new(Opened::new(self.file.object(address)?));
        if is_light(&opened.object) {
            recent().insert(address, Arc::clone(&opened));
        }
        Ok(opened)
    }

    /// The kind and properties of an object in a listing.
    pub(super) fn item(&self, opened: &Opened) -> Result<Item> {
        if let Some(known) = opened.listed() {
            return Ok(known.clone());
        }
        let found = self.find_item(opened)?;
        Ok(opened.item.get_or_init(|| found).clone())
    }

    /// An object as a dataset.
    pub(super) fn dataset(&self, opened: &Opened) -> Result<Arc<OpenedDataset>> {
        if let Some(known) = opened.dataset.get() {
            return Ok(Arc::clone(known));
        }
        let dataset = opened.object.dataset(&self.file)?;
        let (datatype, element) = self.datatype(dataset.datatype(), dataset.committed())?;
        let made = Arc::new(OpenedDataset { dataset, datatype, element });
        // Mappings may take any amount of memory and are not in the header.
        if !matches!(made.dataset.layout(), LayoutClass::Virtual { .. }) {
            // Another thread may have been faster.
            let _ = opened.dataset.set(Arc::clone(&made));
        }
        Ok(made)
    }
}

/// Whether keeping an object takes little memory, regardless of what its header refers to.
fn is_light(object: &Object) -> bool {
    let messages = object.header().messages();
    let bytes: usize = messages.iter().map(|message| message.body.len()).sum();
    bytes <= MAX_HEADER && !messages.iter().any(|message| message.flags.is_shared())
}

/// The number of objects that are kept.
const MAX_OBJECTS: usize = 1024;

/// The maximum size of a header that is kept, in bytes.
const MAX_HEADER: usize = 2048;
