//! Converts filters of the model to those of a filter pipeline, the inverse of reading them.
//!
//! Spec: HDF5 IV.A.2.l

mod replaced;

use super::lowerings::{ASKED_PLUGIN, PRECISION};
use crate::filter::{self as words, Elements};
use crate::target::{Filters as Origin, Lowered};
use hyperslab_codec::{
    Blosc, Blosc2, Codec, Deflate, Fidelity, Gzip, Number, NumberKind, ScaleOffsetNumber, ZfpMode,
};
use hyperslab_core::filter::OPTIONAL;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_hdf5::element::FloatKind;
use hyperslab_hdf5::filter::{self, Chunks, Kept, client_data};
use hyperslab_hdf5::format::message::datatype::{
    ByteOrder, Datatype as Hdf5Datatype, DatatypeClass, FloatByteOrder,
};
use hyperslab_hdf5::format::message::filter_pipeline::Filter as Hdf5Filter;
use hyperslab_model::{Directive, Fill, Filter};

/// The filters of a dataset and a description of its chunks.
#[derive(Clone, Copy)]
pub(super) struct Filters<'a> {
    /// The filters in the order in which they are applied on writing.
    pub(super) filters: &'a [Filter],
    /// Where the filters come from.
    pub(super) origin: Origin,
    /// Whether the filters change or reject some elements.
    pub(super) change: bool,
    /// The stored datatype and the shape of chunks.
    pub(super) chunks: Chunks<'a>,
    /// The fill value as the little-endian bytes of an element; `None` if it is undefined. Only for numbers of up to
    /// eight bytes; see [`fill_bits`].
    pub(super) fill: Option<u64>,
}

/// Filters of a file.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) filters: Vec<Hdf5Filter>,
    /// The replacements of filters that HDF5 does not have, each with a description.
    pub(super) lowered: Vec<(&'static Lowered, String)>,
}

impl Pipeline {
    /// The codecs that encode chunks.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a filter that is only passed on.
    pub(super) fn codecs(&self, element_size: usize) -> Result<Vec<Codec>> {
        let codecs = self.filters.iter().map(|of| filter::codec(of, element_size));
        codecs.filter_map(Result::transpose).collect()
    }
}

impl Filters<'_> {
    /// The filters in their HDF5 form. Filters that HDF5 does not have are replaced, unless the user asked for them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the user asked for filters that HDF5 does not have, and for invalid
    /// parameters.
    pub(super) fn pipeline(&self) -> Result<Pipeline> {
        let stored: Result<Vec<_>, _> =
            self.filters.iter().map(|one| self.stored(one).map_err(|e| (one, e))).collect();
        let mut pipeline = match stored {
            Ok(filters) if self.origin == Origin::Foreign && filters.iter().any(needs_plugin) => {
                self.replaced()?
            }
            Ok(filters) => Pipeline { filters, lowered: Vec::new() },
            Err((of, error)) if self.origin == Origin::Asked => {
                return Err(Error::invalid(format!("filter {}: {}", of.name, error.detail())));
            }
            Err((of, _)) if self.origin == Origin::Described && words::check(of).is_err() => {
                return Err(words::check(of).err().unwrap_or_else(not_in_hdf5));
            }
            Err(_) => self.replaced()?,
        };
        let codecs = pipeline.codecs(self.element_size()).unwrap_or_default();
        if Fidelity::of(&codecs) != Fidelity::Exact && (self.change || !is_tried(self.origin, &codecs)) {
            match self.origin.have_passed() {
                // The source has exactly these elements, not those that the filters would make of them.
                true => pipeline = self.replaced()?,
                false => {
                    let names: Vec<_> = self.filters.iter().map(|of| of.name.as_str()).collect();
                    pipeline.lowered.push((&PRECISION, format!("filters {}", names.join(", "))));
                }
            }
        }
        if self.origin == Origin::Asked && pipeline.filters.iter().any(needs_plugin) {
            let names: Vec<_> = self.filters.iter().map(|of| of.name.as_str()).collect();
            pipeline.lowered.push((&ASKED_PLUGIN, format!("filters {}", names.join(", "))));
        }
        Ok(pipeline)
    }

    /// One filter as HDF5 stores it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if HDF5 does not have it, or not for these elements; [`ErrorKind::InvalidArgument`]
    /// for invalid parameters.
    fn stored(&self, of: &Filter) -> Result<Hdf5Filter> {
        if of.name == RAW {
            return raw(of);
        }
        let (id, client_data) = match of.name.as_str() {
            "szip" => {
                let coding = self.word(of, "coding")?;
                (filter::SZIP, self.chunks.szip(number(of, "pixels")?.unwrap_or(16), coding != "ec")?)
            }
            "nbit" => (filter::NBIT, self.chunks.nbit()?),
            "scaleoffset" => {
                let kept = match (number(of, "bits")?, number(of, "digits")?) {
                    (Some(bits), None) => Kept::Bits(bits),
                    (None, Some(digits)) => Kept::Digits(digits),
                    (None, None) => Kept::Bits(0),
                    (Some(_), Some(_)) => {
                        return Err(Error::invalid("bits and digits, expected one of them"));
                    }
                };
                (filter::SCALEOFFSET, self.chunks.scale_offset(kept, self.fill)?)
            }
            "zfp" => (filter::ZFP, self.chunks.zfp(zfp_mode(of)?)?),
            // Plugins that round elements before they are stored; reading does not need them.
            "bitgroom" | "granularbitround" if self.origin.have_passed() => {
                let id = filter::number(&of.name).ok_or_else(not_in_hdf5)?;
                let size = self.chunks.datatype.size;
                (id, vec![number(of, "digits")?.unwrap_or(0), size, 0, 0, 0])
            }
            name => match words::codec(of, &self.elements()) {
                Ok(codec) => self.client_data(codec)?,
                Err(e) if e.kind() != ErrorKind::Unsupported => return Err(e),
                Err(_) => self.passed_on(name, of)?,
            },
        };
        let name = filter::canonical_name(id).unwrap_or_default().as_bytes().to_vec();
        let optional = match get(of, OPTIONAL) {
            Some(Directive::Bool(optional)) => *optional,
            _ => id != filter::FLETCHER32,
        };
        Ok(Hdf5Filter { id, name, optional, client_data })
    }

    /// The identifier and the client data of a codec.
    fn client_data(&self, codec: Codec) -> Result<(u16, Vec<u32>)> {
        let codec = match codec {
            // The plugin records the shape of chunks with several dimensions.
            Codec::Blosc2(Blosc2 { shape, codec, level, shuffle, element, block }) if shape.is_empty() => {
                let shape = self.chunks.shape.iter().map(|extent| u32::try_from(*extent));
                let shape = shape.collect::<Result<_, _>>().unwrap_or_default();
                Blosc2 { shape, codec, level, shuffle, element, block }.into()
            }
            Codec::Zstd(of) if of.checksum => return Err(not_in_hdf5()),
            Codec::Blosc(Blosc { block: 1.., .. }) => return Err(not_in_hdf5()),
            // h5py users request Deflate by this name, and gzip files contain Deflate.
            Codec::Gzip(Gzip { level }) if self.origin == Origin::Asked => Deflate { level }.into(),
            codec => codec,
        };
        let count = self.chunks.shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
        let bytes = count.and_then(|count| count.checked_mul(self.chunks.datatype.size.into()));
        let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        let bytes =
            bytes.ok_or_else(|| Error::invalid("chunks of 4 GiB or more, which filters do not accept"));
        client_data(&codec, bytes?).map_err(|_| not_in_hdf5())
    }

    /// A registered filter without a codec, with its client data unchanged.
    fn passed_on(&self, name: &str, of: &Filter) -> Result<(u16, Vec<u32>)> {
        let row = hyperslab_core::filter::find(name).filter(|row| row.is_open);
        let id = row.and_then(|row| filter::number(row.name));
        let unknown = of.parameters.iter().any(|(key, _)| key != VALUES && key != OPTIONAL);
        match id {
            Some(id)
                if !unknown
                    && !matches!(self.origin, Origin::Asked | Origin::Restored | Origin::Described) =>
            {
                Ok((id, values(of)?))
            }
            _ => Err(not_in_hdf5()),
        }
    }

    fn elements(&self) -> Elements {
        let datatype = self.chunks.datatype;
        Elements { size: Some(datatype.size.into()), number: number_of(datatype) }
    }

    fn element_size(&self) -> usize {
        usize::try_from(self.chunks.datatype.size).unwrap_or(usize::MAX)
    }

    /// A parameter that is a word, or its default.
    fn word<'a>(&self, of: &'a Filter, name: &str) -> Result<&'a str> {
        let parameter = hyperslab_core::filter::find(&of.name).and_then(|row| row.parameter(name));
        match (get(of, name), parameter) {
            (Some(Directive::Text(word)), Some(parameter)) => {
                parameter.check(&word.as_str().into())?;
                Ok(word)
            }
            (None, _) => Ok(""),
            (Some(other), _) => Err(Error::invalid(format!("{name} {other:?}, expected a word"))),
        }
    }
}

/// Whether only a trial can determine if the codecs change elements. Numbers that are rounded for the first time do
/// change, but if integers are stored in a given number of bits, these may suffice; and values that have passed a
/// filter may pass it again unchanged.
pub(super) fn is_tried(origin: Origin, codecs: &[Codec]) -> bool {
    let is_integer = |of: &Codec| matches!(of, Codec::ScaleOffset(of) if matches!(of.number(), ScaleOffsetNumber::Integer { .. }));
    let mut changing = codecs.iter().filter(|of| of.fidelity() != Fidelity::Exact).peekable();
    changing.peek().is_some() && (origin.have_passed() || changing.all(is_integer))
}

/// Whether the library needs a plugin to decode the filter. Most installations have none.
fn needs_plugin(of: &Hdf5Filter) -> bool {
    filter::needs_plugin(of.id)
}

/// The fill value of numbers in the form of [`Filters::fill`].
pub(super) fn fill_bits(fill: &Fill) -> Option<u64> {
    let mut bytes = match fill {
        Fill::Undefined => return None,
        Fill::Default => Vec::new(),
        Fill::Value(value) => value.rows.to_vec(),
    };
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes.resize(8, 0);
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The type of numbers, for filters of other formats that take it as a parameter.
fn number_of(datatype: &Hdf5Datatype) -> Option<Number> {
    let bytes = u8::try_from(datatype.size).ok()?;
    let (kind, big_endian) = match &datatype.class {
        DatatypeClass::FixedPoint(class) => {
            let kind =
                if class.signed { NumberKind::Signed { bytes } } else { NumberKind::Unsigned { bytes } };
            (kind, class.byte_order == ByteOrder::BigEndian)
        }
        DatatypeClass::FloatingPoint(class) => {
            let kind = match FloatKind::of(class, datatype.size) {
                FloatKind::Half => NumberKind::Float16,
                FloatKind::Single => NumberKind::Float32,
                FloatKind::Double => NumberKind::Float64,
                _ => return None,
            };
            (kind, class.byte_order == FloatByteOrder::BigEndian)
        }
        _ => return None,
    };
    matches!(bytes, 1 | 2 | 4 | 8).then_some(Number { kind, big_endian })
}

/// A filter as HDF5 stores it: identifier, name and client data.
fn raw(of: &Filter) -> Result<Hdf5Filter> {
    let id = number(of, "id")?.ok_or_else(|| Error::invalid("no id, which a filter of HDF5 has"))?;
    let name = match get(of, "name") {
        Some(Directive::Text(name)) => super::name::stored(name).0,
        _ => Vec::new(),
    };
    let optional = matches!(get(of, OPTIONAL), Some(Directive::Bool(true)));
    Ok(Hdf5Filter { id, name, optional, client_data: values(of)? })
}

fn values(of: &Filter) -> Result<Vec<u32>> {
    let invalid = || Error::invalid(format!("{VALUES}, expected a list of numbers below 2^32"));
    match get(of, VALUES) {
        None => Ok(Vec::new()),
        Some(Directive::List(items)) => {
            let value = |item: &Directive| match item {
                Directive::Int(value) => u32::try_from(*value).map_err(|_| invalid()),
                _ => Err(invalid()),
            };
            items.iter().map(value).collect()
        }
        Some(_) => Err(invalid()),
    }
}

/// The mode specified by the parameters of a filter, either by its name or by the limits.
fn zfp_mode(of: &Filter) -> Result<ZfpMode> {
    let named = match get(of, "mode") {
        Some(Directive::Text(mode)) => Some(mode.as_str()),
        _ => ["rate", "precision", "accuracy"].into_iter().find(|mode| get(of, mode).is_some()),
    };
    let missing = |name: &str| Error::invalid(format!("no {name}, which the mode has"));
    let real = |name: &str| match get(of, name) {
        Some(Directive::Float(value)) => Ok(*value),
        Some(Directive::Int(value)) => i32::try_from(*value).map(f64::from).map_err(|_| missing(name)),
        _ => Err(missing(name)),
    };
    let whole = |name: &str| number(of, name)?.ok_or_else(|| missing(name));
    Ok(match named {
        Some("rate") => ZfpMode::Rate(real("rate")?),
        Some("precision") => ZfpMode::Precision(whole("precision")?),
        Some("accuracy") => ZfpMode::Accuracy(real("accuracy")?),
        Some("reversible") | None => ZfpMode::Reversible,
        Some(_) => ZfpMode::Expert {
            min_bits: whole("minbits")?,
            max_bits: whole("maxbits")?,
            max_precision: whole("maxprec")?,
            min_exponent: number(of, "minexp")?.ok_or_else(|| missing("minexp"))?,
        },
    })
}

fn get<'a>(of: &'a Filter, name: &str) -> Option<&'a Directive> {
    of.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// A parameter that is an integer.
fn number<T: TryFrom<i128>>(of: &Filter, name: &str) -> Result<Option<T>> {
    match get(of, name) {
        None => Ok(None),
        Some(Directive::Int(value)) => {
            let out_of_range = |_| Error::invalid(format!("{name} {value}, which is out of range"));
            T::try_from(*value).map(Some).map_err(out_of_range)
        }
        Some(other) => Err(Error::invalid(format!("{name} {other:?}, expected a number"))),
    }
}

fn not_in_hdf5() -> Error {
    Error::unsupported("HDF5 has no filter of this name with these parameters")
}

/// The name of a filter that is specified in the form in which HDF5 stores it.
const RAW: &str = "hdf5";
const VALUES: &str = "values";

#[cfg(test)]
pub(super) mod tests;
