//! Converts the storage of HDF5 datasets to the model.

use super::array::read_with;
use super::{Hdf5Source, text};
use crate::filter::{Elements, filter as of_parameters, of_codec};
use crate::source::StoredFilter;
use hyperslab_core::Result;
use hyperslab_core::filter as vocabulary;
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
            LayoutClass::Chunked(chunked) => Some(chunked.element_size),
            _ => None,
        };
        Ok(Storage {
            chunk: dataset.chunk().map(<[u64]>::to_vec),
            filters: dataset.filters().iter().map(|one| filter(one, element_size)).collect(),
            element,
            fill: self.fill(dataset, &fill)?,
            // The default of the library is omitted.
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

/// One filter of a pipeline, expressed in the terms that all formats share.
pub(super) fn stored_filter(of: &Hdf5Filter, element_size: usize) -> StoredFilter {
    match filter::codec(of, element_size) {
        Ok(Some(codec)) => StoredFilter::Codec(codec),
        Ok(None) => StoredFilter::Applied { number: of.id },
        Err(_) => StoredFilter::Numbered {
            number: of.id,
            name: String::from_utf8_lossy(&of.name).into_owned(),
            client_data: of.client_data.clone(),
        },
    }
}

/// A filter pipeline as a directive, for data other than array elements.
pub(super) fn pipeline(filters: &[Hdf5Filter]) -> Directive {
    let of = |from: &Hdf5Filter| {
        let Filter { name, parameters, .. } = filter(from, None);
        match parameters.is_empty() {
            true => Directive::Text(name),
            false => Directive::Map(vec![(name, Directive::Map(parameters))]),
        }
    };
    Directive::List(filters.iter().map(of).collect())
}

/// A filter with its name in NDL, or as stored if NDL has no name for it. Elements have `element` bytes.
pub(super) fn filter(from: &Hdf5Filter, element: Option<u64>) -> Filter {
    let row =
        canonical_name(from.id).filter(|_| !filter::TESTING.contains(&from.id)).and_then(vocabulary::find);
    let Some(named) = row.and_then(|row| named(from, row, element)) else { return raw(from) };
    let mut parameters = named.parameters;
    // Stated only if it differs from the default of libraries: every filter except fletcher32 is optional.
    if from.optional == (from.id == filter::FLETCHER32) {
        parameters.push((vocabulary::OPTIONAL.into(), Directive::Bool(from.optional)));
    }
    Filter { parameters, ..named }
}

/// A filter with the parameters of its row in the vocabulary; `None` if the parameters are unknown.
fn named(from: &Hdf5Filter, row: &vocabulary::Filter, element: Option<u64>) -> Option<Filter> {
    let size = element.and_then(|element| usize::try_from(element).ok()).unwrap_or(0);
    let stated = |name: &str, value: Option<&u32>| {
        let value = value.map(|value| (name.to_owned(), Directive::Int((*value).into())));
        Some(of_parameters(row.name, value.into_iter().collect()))
    };
    match filter::codec(from, size) {
        Ok(Some(codec)) => of_codec(&codec, &Elements { size: element, number: None }),
        // A filter that does nothing on reading has no codec, but its parameters are of interest.
        Ok(None) if from.id == filter::SCALEOFFSET => stated("bits", from.client_data.get(1)),
        Ok(None) if row.parameter("digits").is_some() => stated("digits", from.client_data.first()),
        Ok(None) => stated("", None),
        Err(_) if row.is_open && from.client_data.is_empty() => stated("", None),
        Err(_) if row.is_open => {
            Some(of_parameters(row.name, vec![("values".to_owned(), values(&from.client_data))]))
        }
        Err(_) => None,
    }
}

fn values(client_data: &[u32]) -> Directive {
    Directive::List(client_data.iter().map(|value| Directive::Int((*value).into())).collect())
}

/// A filter as HDF5 stores it: identifier, name and client data.
fn raw(from: &Hdf5Filter) -> Filter {
    let mut parameters = vec![("id".to_owned(), Directive::Int(from.id.into()))];
    let name = text(from.name.split(|byte| *byte == 0).next().unwrap_or_default());
    if !name.is_empty() {
        parameters.push(("name".into(), Directive::Text(name)));
    }
    if from.optional {
        parameters.push(("optional".into(), Directive::Bool(true)));
    }
    parameters.push(("values".into(), values(&from.client_data)));
    Filter { name: "hdf5".into(), parameters, main: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name and parameters of a filter, with a bar after the main parameter.
    fn described(id: u16, values: &[u32]) -> String {
        optional(id, values, id != filter::FLETCHER32)
    }

    fn optional(id: u16, values: &[u32], optional: bool) -> String {
        let from = Hdf5Filter { id, name: b"own".to_vec(), optional, client_data: values.to_vec() };
        let Filter { name, parameters, main } = filter(&from, Some(4));
        let words = parameters.iter().map(|(name, value)| match value {
            Directive::Int(value) => format!(" {name}={value}"),
            Directive::Text(text) => format!(" {name}={text}"),
            Directive::Bool(value) => format!(" {name}={value}"),
            other => format!(" {name}={other:?}"),
        });
        format!("{name}{}{}", if main { " |" } else { "" }, words.collect::<String>())
    }

    /// The client data of scaleoffset, which always has 20 values.
    fn scaled(values: &[u32]) -> Vec<u32> {
        let mut values = values.to_vec();
        values.resize(20, 0);
        values
    }

    #[test]
    fn parameters_are_named_where_they_say_something() {
        for (id, values, expected) in [
            (1, &[4][..], "deflate | level=4"),
            (1, &[], "deflate | level=6"),
            (2, &[4], "shuffle"),
            (2, &[2], "shuffle | bytes=2"),
            (3, &[], "fletcher32"),
            (4, &[141, 32, 8, 256], "szip | coding=ec pixels=32"),
            (6, &scaled(&[2, 0, 7, 0, 4, 1]), "scaleoffset | bits=0"),
            (6, &scaled(&[2, 32, 7, 0, 4, 1]), "scaleoffset | bits=32"),
            (6, &scaled(&[0, 3, 7, 1, 4]), "scaleoffset | digits=3"),
            (307, &[9], "bzip2 | level=9"),
            (32000, &[4, 261, 80], "lzf"),
            (32001, &[2, 2, 4, 1024, 5, 1, 1], "blosc | codec=lz4 shuffle=byte"),
            (32001, &[2, 2, 8, 1024, 9, 2, 5], "blosc | codec=zstd level=9 shuffle=bit bytes=8"),
            (32001, &[3, 10, 4, 32768, 3, 1], "blosc | codec=blosclz level=3 shuffle=byte"),
            (32003, &[], "snappy"),
            (32004, &[0], "lz4"),
            (32004, &[64], "lz4 block=64"),
            (32008, &[0, 4, 4, 0, 0], "bitshuffle | codec=none"),
            (32008, &[0, 4, 4, 64, 2], "bitshuffle | codec=lz4 block=64"),
            (32008, &[0, 4, 4, 0, 3, 5], "bitshuffle | codec=zstd level=5"),
            (32008, &[0, 4, 4], "bitshuffle | codec=none"),
            (32013, &[0x1010_5111, 0x0570_667a, 0x0000_01d2, 0x01f0_0000], "zfp | mode=rate rate=Float(8.0)"),
            (32015, &[3], "zstd | level=3"),
            (32015, &[u32::MAX], "zstd | level=-1"),
            (32022, &[3, 4, 0, 0, 0], "bitgroom | digits=3"),
            (32026, &[1, 0, 4, 1024, 5, 1, 0, 2, 16, 16], "blosc2 | codec=blosclz shuffle=byte"),
            (32026, &[1, 256, 4, 1024, 5, 0, 1], "blosc2 | codec=lz4 shuffle=none block=256"),
            (32007, &[], "jpegxr"),
            (305, &[1, 23], "lzo values=List([Int(1), Int(23)])"),
        ] {
            assert_eq!(described(id, values), expected, "{id} {values:?}");
        }
    }

    #[test]
    fn filters_without_a_name_are_shown_as_stored() {
        let own = "hdf5 id=40000 name=own optional=true values=List([Int(7)])";
        assert_eq!(described(40_000, &[7]), own);
        // Szip has four values.
        assert_eq!(described(4, &[141]), "hdf5 id=4 name=own optional=true values=List([Int(141)])");
        assert_eq!(described(257, &[]), "hdf5 id=257 name=own optional=true values=List([])");
    }

    #[test]
    fn only_parameters_other_than_defaults_are_shown() {
        assert_eq!(optional(32015, &[3], false), "zstd | level=3 optional=false");
        assert_eq!(optional(3, &[], true), "fletcher32 optional=true");
        assert_eq!(optional(32000, &[], false), "lzf optional=false");
    }
}
