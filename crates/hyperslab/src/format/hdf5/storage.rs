//! How HDF5 stores a dataset, in the model's words.

use super::array::read_with;
use super::{Hdf5Source, text};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_hdf5::Dataset;
use hyperslab_hdf5::filter::{self, registered_name};
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
        Ok(Storage {
            chunk: dataset.chunk().map(<[u64]>::to_vec),
            filters: dataset.filters().iter().map(filter).collect(),
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

/// A filter under NDL's name, or, where NDL has none, as the message states it.
fn filter(from: &Hdf5Filter) -> Filter {
    let value = |index: usize| from.client_data.get(index).copied();
    let int = |name: &str, value: u32| (name.to_owned(), Directive::Int(value.into()));
    let named = |name: &str, parameters: Vec<(String, Directive)>, main: bool| Filter {
        name: name.into(),
        parameters,
        main,
    };
    let mut filter = match (from.id, registered_name(from.id)) {
        (filter::SHUFFLE | filter::FLETCHER32, Some(name)) => named(name, Vec::new(), false),
        (filter::DEFLATE, Some(name)) => match value(0) {
            Some(level) => named(name, vec![int("level", level)], true),
            None => named(name, Vec::new(), false),
        },
        (filter::SZIP, Some(name)) => {
            // Bit 5 of the options mask means nearest neighbour coding, bit 2 entropy coding.
            let coding = match value(0) {
                Some(mask) if mask & 4 != 0 => "ec",
                _ => "nn",
            };
            let coding = ("coding".to_owned(), Directive::Text(coding.into()));
            named(
                name,
                value(1).map_or(vec![coding.clone()], |pixels| vec![coding, int("pixels", pixels)]),
                true,
            )
        }
        (filter::NBIT, Some(name)) => named(name, Vec::new(), false),
        (filter::SCALEOFFSET, Some(name)) => match (value(0), value(1)) {
            (Some(2), Some(bits)) => named(name, vec![int("bits", bits)], true),
            (Some(_), Some(digits)) => named(name, vec![int("digits", digits)], true),
            _ => named(name, Vec::new(), false),
        },
        (307, Some(name)) => {
            named(name, value(0).map(|level| int("level", level)).into_iter().collect(), true)
        }
        (32000, Some(name)) => named(name, Vec::new(), false),
        (32001, Some(name)) => blosc(name, &from.client_data),
        (32004, Some(name)) => {
            named(name, value(0).filter(|n| *n != 0).map(|n| int("block", n)).into_iter().collect(), false)
        }
        (32015, Some(name)) => {
            named(name, value(0).map(|level| int("level", level)).into_iter().collect(), true)
        }
        _ => raw(from),
    };
    // Said only where it is not what the library sets itself: everything but fletcher32 is optional there.
    let usual = !matches!(from.id, filter::FLETCHER32) && from.id <= filter::SCALEOFFSET;
    if from.id <= filter::SCALEOFFSET && from.optional != usual {
        filter.parameters.push(("optional".into(), Directive::Bool(from.optional)));
    }
    filter
}

/// Client data of blosc: version, version of the format, element size, chunk size, level, shuffle, codec.
fn blosc(name: &str, data: &[u32]) -> Filter {
    const CODECS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
    const SHUFFLES: [&str; 3] = ["none", "byte", "bit"];
    let word = |table: &[&str], at: usize, default: &str| {
        let index = data.get(at).and_then(|index| usize::try_from(*index).ok());
        index.and_then(|index| table.get(index)).copied().unwrap_or(default).to_owned()
    };
    let mut parameters = vec![("codec".to_owned(), Directive::Text(word(&CODECS, 6, "blosclz")))];
    if let Some(level) = data.get(4).filter(|level| **level != 5) {
        parameters.push(("level".into(), Directive::Int((*level).into())));
    }
    let shuffle = word(&SHUFFLES, 5, "byte");
    if shuffle != "byte" {
        parameters.push(("shuffle".into(), Directive::Text(shuffle)));
    }
    Filter { name: name.into(), parameters, main: true }
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
