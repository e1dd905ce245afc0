//! How HDF5 stores a dataset, in the model's words.

use super::array::read_with;
use super::{Hdf5Source, text};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_hdf5::Dataset;
use hyperslab_hdf5::filter::{self, canonical_name};
use hyperslab_hdf5::format::message::data_layout::LayoutClass;
use hyperslab_hdf5::format::message::fill_value::WriteTime;
use hyperslab_hdf5::format::message::filter_pipeline::Filter as Hdf5Filter;
use hyperslab_model::{Directive, ElementStorage, Fill, FillTime, Filter, Layout, Storage, Values};

impl Hdf5Source {
    pub(super) fn storage(&self, dataset: &Dataset, element: ElementStorage) -> Result<Storage> {
        let layout = match dataset.layout() {
            _ if dataset.has_external_files() => Layout::External,
            LayoutClass::Compact { .. } => Layout::Compact,
            LayoutClass::Contiguous { .. } => Layout::Contiguous,
            LayoutClass::Chunked(_) => Layout::Chunked,
            LayoutClass::Virtual { .. } => Layout::Virtual,
        };
        let fill = dataset.fill(&self.file)?;
        let element_size = match dataset.layout() {
            LayoutClass::Chunked(chunked) => Some(u64::from(chunked.element_size)),
            _ => None,
        };
        Ok(Storage {
            chunk: dataset.chunk().map(<[u64]>::to_vec),
            filters: dataset.filters().iter().map(|one| filter(one, element_size)).collect(),
            element,
            fill: self.fill(dataset, &fill)?,
            // What the library does unasked is no directive.
            fill_time: fill.message.as_ref().and_then(|message| match message.write_time {
                WriteTime::IfSet => None,
                WriteTime::OnAllocation => Some(FillTime::Alloc),
                WriteTime::Never => Some(FillTime::Never),
            }),
            layout: Some(layout),
            ..Storage::default()
        })
    }

    fn fill(&self, dataset: &Dataset, stored: &hyperslab_hdf5::Fill) -> Result<Fill> {
        if stored.undefined {
            return Ok(Fill::Undefined);
        }
        if stored.value.is_none() {
            return Ok(Fill::Default);
        }
        let mut heap = Heap::default();
        let row = read_with(self, &mut heap, |heap| dataset.fill_row(&self.file, heap))?;
        Ok(Fill::Value(Values { rows: row.into(), heap }))
    }
}

/// A filter under NDL's name, or, where NDL has none, as the message states it. Elements have `element` bytes.
fn filter(from: &Hdf5Filter, element: Option<u64>) -> Filter {
    let Some(name) = canonical_name(from.id).filter(|_| !TESTING.contains(&from.id)) else {
        return raw(from);
    };
    let mut parameters = Parameters { data: &from.client_data, list: Vec::new() };
    let mut main = true;
    match from.id {
        filter::DEFLATE | filter::BZIP2 => parameters.int("level", 0, None),
        filter::SHUFFLE => parameters.bytes(0, element),
        filter::FLETCHER32 | filter::NBIT | filter::LZF | filter::SNAPPY => {}
        filter::SZIP => {
            // Bit 5 of the options mask means nearest neighbour coding, bit 2 entropy coding.
            let entropy = parameters.value(0).is_some_and(|mask| mask & 4 != 0);
            parameters.text("coding", if entropy { "ec" } else { "nn" });
            parameters.int("pixels", 1, None);
        }
        filter::SCALEOFFSET => match parameters.value(0) {
            Some(2) => parameters.int("bits", 1, None),
            _ => parameters.int("digits", 1, None),
        },
        filter::BLOSC | filter::BLOSC2 => parameters.blosc(from.id == filter::BLOSC2, element),
        filter::LZ4 => {
            main = false;
            parameters.int("block", 0, Some(0));
        }
        filter::BITSHUFFLE => {
            if let Some(codec) = parameters.value(4) {
                parameters.word("codec", &[(0, "none"), (2, "lz4"), (3, "zstd")], codec);
            }
            if parameters.value(4) == Some(3) {
                parameters.signed("level", 5);
            }
            parameters.int("block", 3, Some(0));
            parameters.bytes(2, element);
        }
        filter::ZSTD => parameters.signed("level", 0),
        filter::BITGROOM | filter::GRANULAR_BITROUND => parameters.int("digits", 0, None),
        filter::ZFP => return raw(from),
        _ if from.client_data.is_empty() => {}
        _ => {
            let values = from.client_data.iter().map(|value| Directive::Int((*value).into())).collect();
            parameters.list.push(("values".into(), Directive::List(values)));
            main = false;
        }
    }
    // Said only where it is not what libraries set themselves: everything but fletcher32 is optional there.
    if from.optional == (from.id == filter::FLETCHER32) {
        parameters.list.push(("optional".into(), Directive::Bool(from.optional)));
    }
    let main = main && parameters.list.first().is_some_and(|(name, _)| name != "optional" && name != "bytes");
    let main = main
        || from.id == filter::SHUFFLE && parameters.list.first().is_some_and(|(name, _)| name == "bytes");
    Filter { name: name.into(), parameters: parameters.list, main }
}

/// Parameters that are found in client data.
struct Parameters<'a> {
    data: &'a [u32],
    list: Vec<(String, Directive)>,
}

impl Parameters<'_> {
    fn value(&self, at: usize) -> Option<u32> {
        self.data.get(at).copied()
    }

    fn text(&mut self, name: &str, text: &str) {
        self.list.push((name.into(), Directive::Text(text.into())));
    }

    /// A value that is stated and not the default.
    fn int(&mut self, name: &str, at: usize, default: Option<u32>) {
        if let Some(value) = self.value(at).filter(|value| Some(*value) != default) {
            self.list.push((name.into(), Directive::Int(value.into())));
        }
    }

    fn signed(&mut self, name: &str, at: usize) {
        if let Some(value) = self.value(at) {
            self.list.push((name.into(), Directive::Int(value.cast_signed().into())));
        }
    }

    /// What a value stands for, or the value itself if it stands for nothing known.
    fn word(&mut self, name: &str, words: &[(u32, &str)], value: u32) {
        match words.iter().find(|(known, _)| *known == value) {
            Some((_, word)) => self.text(name, word),
            None => self.list.push((name.into(), Directive::Int(value.into()))),
        }
    }

    /// The bytes of an element, where they are not those of the type.
    fn bytes(&mut self, at: usize, element: Option<u64>) {
        if let Some(value) = self.value(at).filter(|value| *value != 0 && element != Some((*value).into())) {
            self.list.push(("bytes".into(), Directive::Int(value.into())));
        }
    }

    /// Version, version of the format or in Blosc 2 the bytes of a block, bytes of an element and of a chunk, level,
    /// shuffle, codec.
    fn blosc(&mut self, second: bool, element: Option<u64>) {
        let codecs = [(0, "blosclz"), (1, "lz4"), (2, "lz4hc"), (3, "snappy"), (4, "zlib"), (5, "zstd")];
        self.word("codec", &codecs, self.value(6).unwrap_or(0));
        self.int("level", 4, Some(5));
        if let Some(shuffle) = self.value(5).filter(|shuffle| *shuffle != 1) {
            self.word("shuffle", &[(0, "none"), (2, "bit")], shuffle);
        }
        if second {
            self.int("block", 1, Some(0));
        }
        self.bytes(2, element);
    }
}

/// A filter as HDF5 states it: number, name and client data.
fn raw(from: &Hdf5Filter) -> Filter {
    let mut parameters = vec![("id".to_owned(), Directive::Int(from.id.into()))];
    let name = text(from.name.split(|byte| *byte == 0).next().unwrap_or_default());
    if !name.is_empty() {
        parameters.push(("name".into(), Directive::Text(name)));
    }
    if from.optional {
        parameters.push(("optional".into(), Directive::Bool(true)));
    }
    let values = from.client_data.iter().map(|value| Directive::Int((*value).into())).collect();
    parameters.push(("values".into(), Directive::List(values)));
    Filter { name: "hdf5".into(), parameters, main: false }
}

/// Numbers that anyone may use for testing; what is registered there need not be it.
const TESTING: std::ops::Range<u16> = 256..300;
