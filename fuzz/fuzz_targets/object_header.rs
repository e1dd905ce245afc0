//! Decodes the messages of an object header, each according to its type, whether or not the checksum is right.
#![no_main]

use hyperslab_core::{Decoder, Encoder};
use hyperslab_hdf5::format::message::{
    HeaderMessage, attribute, attribute_info, btree_k_values, comment, continuation, data_layout, dataspace,
    datatype, driver_info, external_files, file_space_info, fill_value, fill_value_old, filter_pipeline,
    group_info, link, link_info, metadata_cache_image, modification_time, modification_time_old,
    reference_count, shared, shared_message_table, symbol_table,
};
use hyperslab_hdf5::format::object_header::{Envelope, Envelopes, MessageFlags, Prefix};
use hyperslab_hdf5::format::{Sizes, Structure};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

fuzz_target!(|bytes: &[u8]| {
    let mut d = Decoder::new("Object Header", 0, bytes);
    let Ok(prefix) = Prefix::decode(&mut d, &()) else { return };
    for envelope in Envelopes::new(d, prefix.message_form()).flatten() {
        if envelope.prefix.flags.any(MessageFlags::SHARED) {
            let mut body = Decoder::new("Shared Message", envelope.offset, envelope.body);
            let _ = shared::SharedMessage::decode(&mut body, &Sizes::DEFAULT);
        } else {
            every_message(&envelope);
        }
    }
});

fn every_message(envelope: &Envelope<'_>) {
    returns::<attribute::Attribute>(envelope);
    returns::<attribute_info::AttributeInfo>(envelope);
    returns::<btree_k_values::BtreeKValues>(envelope);
    returns::<comment::Comment>(envelope);
    returns::<continuation::Continuation>(envelope);
    returns::<data_layout::DataLayout>(envelope);
    returns::<dataspace::Dataspace>(envelope);
    returns::<datatype::Datatype>(envelope);
    returns::<driver_info::DriverInfo>(envelope);
    returns::<external_files::ExternalFiles>(envelope);
    returns::<file_space_info::FileSpaceInfo>(envelope);
    returns::<fill_value::FillValue>(envelope);
    returns::<fill_value_old::FillValueOld>(envelope);
    returns::<filter_pipeline::FilterPipeline>(envelope);
    returns::<group_info::GroupInfo>(envelope);
    returns::<link::Link>(envelope);
    returns::<link_info::LinkInfo>(envelope);
    returns::<metadata_cache_image::MetadataCacheImage>(envelope);
    returns::<modification_time::ModificationTime>(envelope);
    returns::<modification_time_old::ModificationTimeOld>(envelope);
    returns::<reference_count::ReferenceCount>(envelope);
    returns::<shared_message_table::SharedMessageTable>(envelope);
    returns::<symbol_table::SymbolTable>(envelope);
}

fn returns<M: HeaderMessage + PartialEq + Debug>(envelope: &Envelope<'_>) {
    if envelope.prefix.message_type != M::TYPE {
        return;
    }
    let sizes = Sizes::DEFAULT;
    let Ok(value) = M::decode(&mut Decoder::new(M::NAME, envelope.offset, envelope.body), &sizes) else {
        return;
    };
    let _ = value.check_unchecksummed();
    let mut e = Encoder::new();
    if value.encode(&mut e, &sizes).is_err() {
        return;
    }
    let written = e.into_bytes();
    match M::decode(&mut Decoder::new(M::NAME, 0, &written), &sizes) {
        Ok(again) => assert_eq!(value, again, "{} changed on its way", M::NAME),
        Err(error) => panic!("{} cannot read what it wrote: {error}\n{value:?}", M::NAME),
    }
}
