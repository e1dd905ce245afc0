//! How HDF5 stores a dataset, in the model's words.

use super::array::read_with;
use super::{Hdf5Source, text};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_hdf5::Dataset;
use hyperslab_hdf5::filter::{self, Codec, ZfpMode, canonical_name};
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
        filter::ZFP => match filter::codec(from, 0) {
            Ok(Some(Codec::Zfp(zfp))) => parameters.zfp(zfp.mode()),
            _ => return raw(from),
        },
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

    fn zfp(&mut self, mode: ZfpMode) {
        let (word, numbers) = match mode {
            ZfpMode::Rate(rate) => ("rate", vec![("rate", Directive::Float(rate))]),
            ZfpMode::Precision(bits) => ("precision", vec![("precision", Directive::Int(bits.into()))]),
            ZfpMode::Accuracy(error) => ("accuracy", vec![("accuracy", Directive::Float(error))]),
            ZfpMode::Reversible => ("reversible", Vec::new()),
            ZfpMode::Expert { least_bits, most_bits, most_precision, least_exponent } => {
                let numbers = vec![
                    ("minbits", Directive::Int(least_bits.into())),
                    ("maxbits", Directive::Int(most_bits.into())),
                    ("maxprec", Directive::Int(most_precision.into())),
                    ("minexp", Directive::Int(least_exponent.into())),
                ];
                ("expert", numbers)
            }
        };
        self.text("mode", word);
        self.list.extend(numbers.into_iter().map(|(name, number)| (name.to_owned(), number)));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Name and parameters, the main one in front of a bar.
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

    #[test]
    fn parameters_are_named_where_they_say_something() {
        for (id, values, expected) in [
            (1, &[4][..], "deflate | level=4"),
            (1, &[], "deflate"),
            (2, &[4], "shuffle"),
            (2, &[2], "shuffle | bytes=2"),
            (3, &[], "fletcher32"),
            (4, &[141, 32, 8, 256], "szip | coding=ec pixels=32"),
            (6, &[2, 0, 7], "scaleoffset | bits=0"),
            (6, &[0, 3, 7], "scaleoffset | digits=3"),
            (307, &[9], "bzip2 | level=9"),
            (32000, &[4, 261, 80], "lzf"),
            (32001, &[2, 2, 4, 1024, 5, 1, 1], "blosc | codec=lz4"),
            (32001, &[2, 2, 8, 1024, 9, 2, 5], "blosc | codec=zstd level=9 shuffle=bit bytes=8"),
            (32001, &[3, 10, 4, 32768, 3, 1], "blosc | codec=blosclz level=3"),
            (32003, &[], "snappy"),
            (32004, &[0], "lz4"),
            (32004, &[64], "lz4 block=64"),
            (32008, &[0, 4, 4, 0, 0], "bitshuffle | codec=none"),
            (32008, &[0, 4, 4, 64, 2], "bitshuffle | codec=lz4 block=64"),
            (32008, &[0, 4, 4, 0, 3, 5], "bitshuffle | codec=zstd level=5"),
            (32008, &[0, 4, 4], "bitshuffle"),
            (32013, &[0x1010_5111, 0x0570_667a, 0x0000_01d2, 0x01f0_0000], "zfp | mode=rate rate=Float(8.0)"),
            (32015, &[3], "zstd | level=3"),
            (32015, &[u32::MAX], "zstd | level=-1"),
            (32022, &[3, 4, 0, 0, 0], "bitgroom | digits=3"),
            (32026, &[1, 0, 4, 1024, 5, 1, 0, 2, 16, 16], "blosc2 | codec=blosclz"),
            (32026, &[1, 256, 4, 1024, 5, 0, 1], "blosc2 | codec=lz4 shuffle=none block=256"),
            (32007, &[], "jpegxr"),
            (305, &[1, 23], "lzo values=List([Int(1), Int(23)])"),
        ] {
            assert_eq!(described(id, values), expected, "{id} {values:?}");
        }
    }

    #[test]
    fn what_has_no_name_is_said_as_stored() {
        let own = "hdf5 id=40000 name=own optional=true values=List([Int(7)])";
        assert_eq!(described(40_000, &[7]), own);
        assert_eq!(described(257, &[]), "hdf5 id=257 name=own optional=true values=List([])");
    }

    #[test]
    fn only_an_unusual_choice_is_said() {
        assert_eq!(optional(32015, &[3], false), "zstd | level=3 optional=false");
        assert_eq!(optional(3, &[], true), "fletcher32 optional=true");
        assert_eq!(optional(32000, &[], false), "lzf optional=false");
    }
}
