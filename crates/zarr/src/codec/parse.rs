//! Parses the lists of codecs in metadata.

use super::elements::{Elements, Memory};
use super::numcodecs::numbers::{is_of_elements, made, number_of, order_of, taken};
use super::numcodecs::{Passing, SHUFFLE_ELEMENT, makes_bytes};
use super::sharding_indexed::Sharding;
use super::variable::Variable;
use super::{Chain, Step, ToBytes, transpose};
use crate::data_type::{ByteOrder, DataType, Dtype, Layout};
use crate::json::Spot;
use crate::metadata::Extension;
use crate::metadata::v2::{CodecConfiguration, Order};
use hyperslab_codec::Codec;
use hyperslab_core::{ErrorKind, Limit, Result};

impl Chain {
    /// The codecs of version 3 for chunks of `rank` dimensions. `order` is the byte order if the codec `bytes` does not
    /// state it.
    pub(crate) fn parse(
        codecs: &[Extension],
        data_type: &DataType,
        order: Option<ByteOrder>,
        rank: usize,
        at: &Spot<'_>,
    ) -> Result<Chain> {
        check_count(codecs.len(), at)?;
        let mut steps: Vec<Step> = Vec::new();
        let mut to_bytes = None;
        let mut after: Vec<Codec> = Vec::new();
        let mut memory = Memory { data_type: data_type.clone(), order: ByteOrder::Little };
        // Whether a codec of numcodecs determines the byte order of what follows.
        let mut is_ordered = false;
        let mut rank = rank;
        for (index, codec) in codecs.iter().enumerate() {
            let here = at.index(index);
            let name = codec.name.as_str();
            let element = size(&memory.data_type);
            let passing = Passing {
                // In numcodecs, the type of compressed bytes is unknown.
                element: if name == "blosc" { element } else { 1 },
                number: number_of(&memory.data_type, memory.order),
                default_element: element,
            };
            let next = match passing.parse_v3(codec, &here)? {
                Some(codec) if is_of_elements(&codec) => {
                    let declares = made(&codec).is_some();
                    if declares && !is_ordered {
                        // Its output consists of values; it alone knows the byte order to which it decodes.
                        memory.order = taken(&codec).map_or(memory.order, |number| order_of(&number));
                    }
                    is_ordered |= declares;
                    let (step, after) = Elements::new(codec, &memory, &here.name("configuration"))?;
                    if to_bytes.is_none() {
                        memory = after;
                        rank = step.rank(rank);
                    }
                    Next::Step(Step::Elements(Box::new(step)))
                }
                Some(codec) if makes_bytes(name) && to_bytes.is_none() => {
                    // Its input is numbers in memory; the codec handles their byte order.
                    after.push(codec);
                    Next::ToBytes(ToBytes::Bytes(layout(&memory.data_type, Some(memory.order), &here)?))
                }
                Some(codec) => Next::Codec(codec),
                None => match name {
                    "transpose" => Next::Step(Step::Transpose(transpose::parse(codec, rank, &here)?)),
                    "bytes" => {
                        let stated = codec.endian(&here)?.or(order);
                        // zarr-python passes the stored bytes to codecs of numcodecs, regardless of the byte order that
                        // `bytes` states.
                        let order = if is_ordered { Some(memory.order) } else { stated };
                        Next::ToBytes(ToBytes::Bytes(layout(&memory.data_type, order, &here)?))
                    }
                    "vlen-utf8" | "vlen-bytes" => Next::ToBytes(variable(name, &memory.data_type, &here)?),
                    "sharding_indexed" => {
                        // The fill values of missing inner chunks would also have to pass through the codec.
                        if steps.iter().any(|step| matches!(step, Step::Elements(_))) {
                            return Err(
                                here.unsupported("sharding_indexed after a codec that changes elements")
                            );
                        }
                        let sharding = Sharding::parse(codec, data_type, order, rank, &here)?;
                        Next::ToBytes(ToBytes::Sharding(Box::new(sharding)))
                    }
                    _ if codec.may_be_ignored() => continue,
                    _ => return Err(here.unsupported(format!("codec {name:?}"))),
                },
            };
            match (next, to_bytes.is_some()) {
                (Next::Step(step), false) => push_step(&mut steps, step),
                (Next::ToBytes(codec), false) => to_bytes = Some(codec),
                (Next::Codec(codec), true) => after.push(codec),
                (Next::Codec(_), false) => {
                    return Err(here
                        .malformed(format!("{name:?} before the array-to-bytes codec, expected after it")));
                }
                (_, true) => {
                    return Err(here
                        .malformed(format!("{name:?} after the array-to-bytes codec, expected before it")));
                }
            }
        }
        let to_bytes = to_bytes.ok_or_else(|| at.malformed("no array-to-bytes codec"))?;
        Ok(Chain { steps, to_bytes, codecs: after, row: row_size(data_type) })
    }

    /// The filters and the compressor of version 2.
    pub(crate) fn parse_v2(
        filters: &[CodecConfiguration],
        compressor: Option<&CodecConfiguration>,
        dtype: &Dtype,
        (order, rank): (Order, usize),
        at: &Spot<'_>,
    ) -> Result<Chain> {
        let there = at.name("filters");
        check_count(filters.len(), &there)?;
        let order_of_bytes = dtype.byte_order.unwrap_or(ByteOrder::Little);
        let mut passing = Passing {
            element: size(&dtype.data_type),
            number: number_of(&dtype.data_type, order_of_bytes),
            default_element: SHUFFLE_ELEMENT,
        };
        let mut codecs = Vec::new();
        let mut variable = None;
        for (index, filter) in filters.iter().enumerate() {
            let here = there.index(index);
            match filter.id.as_str() {
                name @ ("vlen-utf8" | "vlen-bytes" | "json2") if index == 0 => {
                    variable = Some(self::variable(name, &dtype.data_type, &here)?);
                    (passing.element, passing.number) = (1, None);
                }
                name @ ("vlen-utf8" | "vlen-bytes" | "json2") => {
                    return Err(here
                        .malformed(format!("{name:?} after the array-to-bytes codec, expected before it")));
                }
                id => match passing.parse(id, &filter.parameters, &here)? {
                    Some(codec) => {
                        passing.follow(&codec);
                        codecs.push(codec);
                    }
                    None => return Err(here.unsupported(format!("filter {id:?}"))),
                },
            }
        }
        if let Some(compressor) = compressor {
            let here = at.name("compressor");
            match passing.parse(&compressor.id, &compressor.parameters, &here)? {
                Some(codec) => codecs.push(codec),
                None => return Err(here.unsupported(format!("compressor {:?}", compressor.id))),
            }
        }
        let steps = match order {
            Order::F if rank > 1 => vec![Step::Transpose((0..rank).rev().collect())],
            _ => Vec::new(),
        };
        let to_bytes = match variable {
            Some(variable) => variable,
            None => ToBytes::Bytes(layout(&dtype.data_type, dtype.byte_order, &at.name("dtype"))?),
        };
        Ok(Chain { steps, to_bytes, codecs, row: row_size(&dtype.data_type) })
    }
}

enum Next {
    Step(Step),
    ToBytes(ToBytes),
    Codec(Codec),
}

/// Rejects lists of codecs that no writer makes: each may need as much memory as the chunk, and more time.
fn check_count(codecs: usize, at: &Spot<'_>) -> Result<()> {
    let most = at.limits().filters;
    match u32::try_from(codecs).is_ok_and(|codecs| codecs <= most) {
        true => Ok(()),
        false => Err(at.exceeds(Limit::Filters, format!("{codecs} codecs, expected at most {most}"))),
    }
}

fn push_step(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (Some(Step::Transpose(first)), Step::Transpose(next)) => {
            *first = transpose::then(Some(first), &next);
        }
        (_, step) => steps.push(step),
    }
}

fn variable(name: &str, data_type: &DataType, at: &Spot<'_>) -> Result<ToBytes> {
    match (name, data_type) {
        ("vlen-utf8", DataType::String) => Ok(ToBytes::Variable(Variable::Utf8)),
        ("vlen-bytes", DataType::Bytes) => Ok(ToBytes::Variable(Variable::Bytes)),
        ("json2", DataType::String) => Ok(ToBytes::Variable(Variable::Json)),
        _ => Err(at.malformed(format!("{name:?} for a data type that it does not encode"))),
    }
}

fn layout(data_type: &DataType, order: Option<ByteOrder>, at: &Spot<'_>) -> Result<Layout> {
    Layout::new(data_type, order).map_err(|e| match e.kind() {
        ErrorKind::InvalidArgument => at.malformed("\"bytes\" of elements of variable size"),
        _ => at.malformed(e.detail()),
    })
}

fn size(data_type: &DataType) -> usize {
    data_type.stored_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1)
}

fn row_size(data_type: &DataType) -> usize {
    usize::try_from(data_type.row_size()).unwrap_or(usize::MAX)
}
