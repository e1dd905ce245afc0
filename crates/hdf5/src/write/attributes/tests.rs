//! Attributes that are read back.

use super::*;
use crate::format::Sizes;
use crate::format::message::attribute::Version;
use crate::format::message::character_set::CharacterSet;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::format::message::shared::MaybeShared;
use crate::write::links::{LinkOptions, write_links};
use crate::write::test_file::{Form, TestFile};

fn name(number: usize) -> String {
    format!("attribute {} {number}", "y".repeat(number * 3 % 17))
}

/// An attribute of `len` bytes.
fn attribute(number: usize, len: usize) -> AttributeToStore {
    let datatype = Datatype::decode(&mut hyperslab_core::Decoder::new("t", 0, &U8), &Sizes::DEFAULT);
    let mut dataspace = vec![2, 1, 0, 1];
    dataspace.extend((len as u64).to_le_bytes());
    let dataspace = Dataspace::decode(&mut hyperslab_core::Decoder::new("t", 0, &dataspace), &Sizes::DEFAULT);
    let attribute = Attribute {
        version: Version::V3 { character_set: CharacterSet::Ascii },
        name: name(number).into_bytes(),
        datatype: MaybeShared::Here(datatype.unwrap()),
        dataspace: MaybeShared::Here(dataspace.unwrap()),
        data: vec![u8::try_from(number % 256).unwrap(); len],
    };
    attribute.into()
}

/// An unsigned byte.
const U8: [u8; 12] = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];

fn options(creation_order: CreationOrder) -> AttributeOptions {
    AttributeOptions::HeaderV2 { creation_order, phase_change: AttributePhaseChange::default() }
}

/// Writes a group with attributes of these lengths, and finds them all again.
fn round_trip(sizes: Sizes, creation_order: CreationOrder, lengths: &[usize]) -> TestFile {
    let file = TestFile::write(sizes, Form::V2(creation_order), &mut |sink| {
        let attributes = lengths.iter().enumerate().map(|(number, len)| attribute(number, *len)).collect();
        let stored = write_attributes(sink, attributes, options(creation_order))?;
        let mut messages = write_links(sink, Vec::new(), &LinkOptions::default())?;
        messages.extend(stored.into_messages());
        Ok(messages)
    })
    .unwrap();
    let mut expected: Vec<String> = (0..lengths.len()).map(name).collect();
    if !creation_order.is_tracked() {
        expected.sort_unstable();
    }
    let found = file.attributes();
    let names: Vec<&[u8]> = found.iter().map(crate::Attribute::name).collect();
    assert_eq!(names, expected.iter().map(String::as_bytes).collect::<Vec<_>>());
    for (number, len) in lengths.iter().enumerate().step_by(1 + lengths.len() / 50) {
        let found = file.attribute(name(number).as_bytes()).unwrap();
        assert_eq!(found.extents(), Some(&[*len as u64][..]));
        let rows = found.read(file.file()).unwrap().rows;
        assert_eq!(rows, vec![u8::try_from(number % 256).unwrap(); *len]);
    }
    assert!(file.attribute(b"nothing").is_none());
    file
}

const ORDERS: [CreationOrder; 3] = [CreationOrder::Untracked, CreationOrder::Tracked, CreationOrder::Indexed];

#[test]
fn attributes_are_found_around_every_boundary() {
    for order in ORDERS {
        for count in [0, 1, 2, 7, 8, 9, 10, 29, 30, 31, 500, 3000] {
            let lengths: Vec<usize> = (0..count).map(|number| number % 30).collect();
            let file = round_trip(Sizes::DEFAULT, order, &lengths);
            file.check();
            assert_eq!(file.has(b"FRHP"), count > 8);
        }
    }
}

#[test]
fn a_large_attribute_makes_all_dense() {
    for lengths in [&[65_400][..], &[65_500], &[100_000], &[3, 200_000, 5, 4050, 4040], &[4000; 300]] {
        for order in ORDERS {
            round_trip(Sizes::DEFAULT, order, lengths).check();
        }
    }
}

#[test]
fn attributes_of_narrow_addresses_are_found() {
    for offsets in [2, 4] {
        let sizes = Sizes { offsets, lengths: 8 };
        round_trip(sizes, CreationOrder::Indexed, &[10, 6000, 7000, 4000, 30]).check();
    }
}

#[test]
fn sixty_five_thousand_attributes_are_found() {
    round_trip(Sizes::DEFAULT, CreationOrder::Indexed, &vec![5; 65_535]).check();
    let more = (0..65_536).map(|number| attribute(number, 1)).collect::<Vec<_>>();
    let error = TestFile::write(Sizes::DEFAULT, Form::V2(CreationOrder::Tracked), &mut |sink| {
        Ok(write_attributes(sink, more.clone(), options(CreationOrder::Tracked))?.into_messages())
    });
    let expected = "65536 attributes of an object that tracks their order, expected at most 65535";
    assert_eq!(error.err().unwrap().detail(), expected);
}

#[test]
fn old_headers_refuse_large_attributes_and_name_the_remedy() {
    for (len, fits) in [(10, true), (65_400, true), (65_490, false), (70_000, false)] {
        let written = TestFile::write(Sizes::DEFAULT, Form::V1, &mut |sink| {
            let stored = write_attributes(sink, vec![attribute(0, len)], AttributeOptions::HeaderV1)?;
            assert!(stored.info.is_none());
            let mut messages = write_links(sink, Vec::new(), &LinkOptions::default())?;
            messages.extend(stored.into_messages());
            Ok(messages)
        });
        assert_eq!(written.is_ok(), fits, "{len}");
        if let Err(error) = written {
            assert!(error.detail().starts_with("the attribute \"attribute  0\" of "), "{error}");
            assert!(error.detail().ends_with("write with -O hdf5.libver=v1.8 or later"), "{error}");
        }
    }
}

#[test]
fn equal_names_are_refused() {
    for (count, options) in [
        (2, AttributeOptions::HeaderV1),
        (2, options(CreationOrder::Untracked)),
        (12, options(CreationOrder::Untracked)),
    ] {
        let error = TestFile::write(Sizes::DEFAULT, Form::V2(CreationOrder::Untracked), &mut |sink| {
            let attributes =
                (0..count).map(|number| attribute(usize::saturating_sub(number, 1), 1)).collect();
            Ok(write_attributes(sink, attributes, options)?.into_messages())
        });
        let error = error.err().unwrap();
        assert_eq!(error.detail(), "two attributes of an object have the name \"attribute  0\"");
    }
}
