//! Headers of datasets, for tests of what they point to.

use crate::format::message::Message;
use crate::format::message::dataspace::{Dataspace, Extent, Version as DataspaceVersion};
use crate::format::message::datatype::{
    ByteOrder, Datatype, DatatypeClass, FixedPoint, Version as DatatypeVersion,
};
use crate::format::message::fill_value::{
    AllocationTime, Fill, FillValue, Version as FillVersion, WriteTime,
};

/// The type of unsigned integers.
pub(crate) fn integer(size: u32) -> Datatype {
    let class = DatatypeClass::FixedPoint(FixedPoint {
        byte_order: ByteOrder::LittleEndian,
        low_padding: false,
        high_padding: false,
        signed: false,
        bit_offset: 0,
        bit_precision: u16::try_from(8 * size).unwrap(),
    });
    Datatype { version: DatatypeVersion::V3, size, class }
}

/// The messages of a dataset of integers.
pub(crate) fn integers(dims: &[u64], max_dims: &[u64], element_size: u32, layout: Message) -> Vec<Message> {
    let extent =
        Extent::Simple { dimensions: dims.to_vec(), maximum: Some(max_dims.to_vec()), permutation: None };
    vec![
        Message::Dataspace(Dataspace { version: DataspaceVersion::V2, extent }),
        Message::Datatype(integer(element_size)),
        Message::FillValue(FillValue {
            version: FillVersion::V3,
            allocation_time: AllocationTime::Incremental,
            write_time: WriteTime::IfSet,
            value: Fill::Default,
        }),
        layout,
    ]
}
