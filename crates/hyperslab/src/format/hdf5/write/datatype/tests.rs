use super::super::super::datatype as reading;
use super::super::filters::tests::{bound, bytes_of, for_each_object};
use super::*;
use hyperslab_hdf5::ObjectKind;
use hyperslab_model::TimeUnit;
use proptest::prelude::*;

const NONE: &dyn Fn(&NodePath) -> Option<Committed> = &|_| None;

fn types(low: LibraryVersion, high: LibraryVersion) -> Types<'static> {
    Types { sizes: Sizes::DEFAULT, low, high, has_complex: true, committed: NONE }
}

fn latest() -> Types<'static> {
    types(LibraryVersion::V1_8, LibraryVersion::V2_0)
}

fn encoded(datatype: &Hdf5Datatype) -> Vec<u8> {
    let mut e = Encoder::new();
    datatype.encode(&mut e, &Sizes::DEFAULT).unwrap();
    e.as_slice().to_vec()
}

fn plain_written(datatype: &Datatype) -> Written {
    Types { has_complex: false, ..latest() }.written(datatype, &ElementStorage::default()).unwrap()
}

/// The type that a reader sees, and what was stored in another form.
fn shown(datatype: &Datatype) -> (String, Vec<&'static str>) {
    let own = plain_written(datatype);
    let read = reading::datatype(&own.datatype).unwrap().0;
    assert_eq!(read.row_size(), datatype.row_size(), "{datatype}");
    (read.to_string(), own.lowered.iter().map(|row| row.what).collect())
}

#[test]
fn messages_are_those_that_libhdf5_writes() {
    let golden = include_str!("../../../../../../hdf5/tests/golden/datatype_bounds.txt");
    let lines = || golden.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    for line in lines() {
        let [name, low, expected] = line[..] else { panic!("{line:?}") };
        let oldest = lines().find(|other| other[0] == name).unwrap()[2];
        let from: Hdf5Datatype = decode_prefix(0, &bytes_of(oldest), &Sizes::DEFAULT).unwrap();
        let (datatype, storage) = reading::datatype(&from).unwrap();
        let low = bound(low);
        let high = if low == LibraryVersion::Earliest { LibraryVersion::V2_0 } else { low };
        match types(low, high).written(&datatype, &storage) {
            Ok(own) => {
                assert_eq!(encoded(&own.datatype), bytes_of(expected), "{name} {low}");
                assert_eq!(reading::datatype(&own.datatype).unwrap(), (datatype, storage), "{name}");
                assert!(own.lowered.is_empty() && own.committed.is_none(), "{name}");
            }
            Err(error) => assert_eq!(expected, "refused", "{name} {low}: {error}"),
        }
    }
}

#[test]
fn elements_of_variable_length_and_references_have_the_width_of_addresses() {
    for (offsets, vlen, object, region, reference) in
        [(2, 10, 2, 6, 12), (4, 12, 4, 8, 14), (8, 16, 8, 12, 18)]
    {
        let own = Types { sizes: Sizes { offsets, lengths: offsets }, ..latest() };
        let size = |of: &Datatype| own.written(of, &ElementStorage::default()).unwrap().datatype.size;
        assert_eq!(size(&Datatype::String(Text::Variable)), vlen);
        assert_eq!(size(&Datatype::Vlen(Box::new(Datatype::int(8, true)))), vlen);
        assert_eq!(size(&Datatype::ObjRef), object);
        assert_eq!(size(&Datatype::RegRef), region);
        assert_eq!(size(&Datatype::Reference), reference);
    }
}

#[test]
fn types_that_hdf5_lacks_become_others_with_the_same_rows() {
    let time = |duration| Datatype::Datetime(TimeUnit { unit: "ns".into(), duration });
    let nullable = Datatype::Nullable(Box::new(Datatype::int(16, true)));
    let truth = "enum(int8;FALSE=0;TRUE=1)";
    for (datatype, expected, lowered) in [
        (Datatype::Bool, truth.to_owned(), vec!["booleans"]),
        (
            time(false),
            "int64".to_owned(),
            vec!["datetimes or durations in units that CF does not have, or within others"],
        ),
        (
            time(true),
            "int64".to_owned(),
            vec!["datetimes or durations in units that CF does not have, or within others"],
        ),
        (
            Datatype::Complex(Float::Single),
            "compound(r:float32;i:float32)".to_owned(),
            vec!["complex numbers"],
        ),
        (nullable, format!("compound(valid:{truth};value:int16)"), vec!["values that can be null"]),
        (
            Datatype::Nullable(Box::new(Datatype::Bool)),
            format!("compound(valid:{truth};value:{truth})"),
            vec!["values that can be null", "booleans"],
        ),
        (
            Datatype::Array { base: Box::new(time(false)), shape: vec![2] },
            "array(int64;2)".to_owned(),
            vec!["datetimes or durations in units that CF does not have, or within others"],
        ),
    ] {
        assert_eq!(shown(&datatype), (expected, lowered), "{datatype}");
    }
    let storage = ElementStorage { charset: Some(CharacterSet::Utf32), ..ElementStorage::default() };
    let text = Datatype::String(Text::Fixed { len: 12, pad: Pad::Nul });
    let own = latest().written(&text, &storage).unwrap();
    assert_eq!(encoded(&own.datatype), bytes_of("131100000c000000"));
    assert_eq!(own.lowered.iter().map(|row| row.what).collect::<Vec<_>>(), ["UTF-32 strings"]);
}

#[test]
fn complex_numbers_have_their_class_only_where_it_is_asked_for() {
    let complex = Datatype::Complex(Float::Double);
    let none = ElementStorage::default();
    let class = |of: &Types<'_>| of.written(&complex, &none).map(|own| own.datatype.version);
    assert_eq!(class(&latest()).unwrap(), Version::V5);
    assert_eq!(class(&Types { has_complex: false, ..latest() }).unwrap(), Version::V3);
    let error = class(&types(LibraryVersion::V1_8, LibraryVersion::V1_14)).unwrap_err();
    assert_eq!(error.detail(), "a datatype introduced in HDF5 v2.0, in a file for libraries up to v1.14");
}

#[test]
fn arrays_of_a_committed_datatype_refer_to_it() {
    let path = NodePath::new("/types/pair").unwrap();
    let committed = latest().written(
        &Datatype::int(16, true),
        &ElementStorage { endian: Some(ByteOrder::Big), ..ElementStorage::default() },
    );
    let datatype = Arc::new(committed.unwrap().datatype);
    let known = |of: &NodePath| {
        (*of == path).then(|| Committed { address: Address(800), datatype: Arc::clone(&datatype) })
    };
    let own = Types { committed: &known, ..latest() };
    let named = Datatype::Named(path.clone(), Arc::new(Datatype::int(16, true)));
    let none = ElementStorage::default();
    let written = own.written(&named, &none).unwrap();
    assert_eq!((written.committed, &written.datatype), (Some(Address(800)), &*datatype));
    assert!(written.lowered.is_empty());
    // Within another type, the type itself is written instead of the reference to it.
    let sequence = own.written(&Datatype::Vlen(Box::new(named.clone())), &none).unwrap();
    let DatatypeClass::VariableLength(of) = &sequence.datatype.class else { panic!("{sequence:?}") };
    assert_eq!(*of.base, *datatype);
    assert_eq!(
        sequence.lowered.iter().map(|row| row.what).collect::<Vec<_>>(),
        ["committed datatype in a type"]
    );
    let lost = latest().written(&named, &none).unwrap();
    assert_eq!((lost.committed, lost.lowered.len()), (None, 1));
}

#[test]
fn storage_that_is_impossible_is_refused() {
    let int = Datatype::int(32, true);
    let refused = |datatype: &Datatype, storage: ElementStorage| {
        latest().written(datatype, &storage).unwrap_err().detail().to_owned()
    };
    let none = ElementStorage::default;
    assert_eq!(
        refused(&int, ElementStorage { precision: Some(20), offset: Some(16), ..none() }),
        "a datatype with bit precision 20 at bit offset 16 exceeds the element of 4 bytes"
    );
    assert_eq!(
        refused(&int, ElementStorage { endian: Some(ByteOrder::Vax), ..none() }),
        "VAX byte order of other than floating-point numbers"
    );
    let member = |name: &str| Member { name: name.into(), datatype: int.clone() };
    let pair = Datatype::Compound(vec![member("a"), member("b")]);
    assert_eq!(
        refused(&pair, ElementStorage { offsets: Some(vec![0, 2]), ..none() }),
        "a datatype with members a and b overlap"
    );
    assert_eq!(
        refused(&pair, ElementStorage { offsets: Some(vec![0]), ..none() }),
        "1 offsets of 2 members, expected one for each"
    );
    assert_eq!(
        refused(&pair, ElementStorage { itemsize: Some(7), ..none() }),
        "itemsize 7 of members that need 8 bytes"
    );
    let text = Datatype::String(Text::Fixed { len: 0, pad: Pad::Nul });
    assert_eq!(refused(&text, none()), "a datatype with element size 0, expected 1 or more");
    let huge = Datatype::Array { base: Box::new(int.clone()), shape: vec![1 << 20, 1 << 12] };
    assert_eq!(refused(&huge, none()), "an array of [1048576, 4096] elements of 4 GiB or more");
    let wide = Datatype::Compound((0..3000).map(|n| member(&format!("member number {n}"))).collect());
    assert!(refused(&wide, none()).ends_with("expected at most 65528, which a message can hold"));
}

#[test]
fn values_of_enumerations_are_elements_of_their_base() {
    let of = |base: Datatype, values: &[i128], storage: &ElementStorage| {
        let members = values.iter().map(|value| (format!("v{value}"), *value)).collect();
        let datatype = Datatype::Enum { base: Box::new(base), members };
        latest()
            .written(&datatype, storage)
            .map(|own| (reading::datatype(&own.datatype).unwrap().0 == datatype, own))
    };
    let none = ElementStorage::default();
    for (bits, signed, values) in [
        (8, true, vec![-128, -1, 0, 127]),
        (8, false, vec![0, 255]),
        (16, true, vec![-32_768, 32_767]),
        (64, true, vec![i64::MIN.into(), i64::MAX.into()]),
        (64, false, vec![0, u64::MAX.into()]),
    ] {
        for endian in [ByteOrder::Little, ByteOrder::Big] {
            let storage = ElementStorage { endian: Some(endian), ..none.clone() };
            assert!(of(Datatype::int(bits, signed), &values, &storage).unwrap().0, "{bits} {values:?}");
        }
        for outside in [values[0] - 1, values[values.len() - 1] + 1] {
            assert!(of(Datatype::int(bits, signed), &[outside], &none).is_err(), "{bits} {outside}");
        }
    }
    let narrow = ElementStorage { precision: Some(5), offset: Some(3), ..none.clone() };
    assert!(of(Datatype::int(16, true), &[-16, 15], &narrow).unwrap().0);
    assert_eq!(
        of(Datatype::int(16, true), &[16], &narrow).unwrap_err().detail(),
        "value 16 of \"v16\", which an integer of 5 bits cannot hold"
    );
    let many: Vec<i128> = (0..10_000).collect();
    let (_, own) = of(Datatype::int(16, true), &many, &none).unwrap();
    assert_eq!(own.lowered.iter().map(|row| row.becomes).collect::<Vec<_>>(), ["integers"]);
    assert!(matches!(own.datatype.class, DatatypeClass::FixedPoint(_)));
}

/// Members without their own byte order have that of the compound.
#[test]
fn members_have_the_byte_order_of_the_whole() {
    let member = |name: &str| Member { name: name.into(), datatype: Datatype::int(16, true) };
    let pair = Datatype::Compound(vec![member("a"), member("b")]);
    let little = ElementStorage { endian: Some(ByteOrder::Little), ..ElementStorage::default() };
    let storage = ElementStorage {
        endian: Some(ByteOrder::Big),
        members: vec![("b".into(), little)],
        ..ElementStorage::default()
    };
    let own = latest().written(&pair, &storage).unwrap();
    let orders: Vec<_> = own.datatype.parts().map(|part| encoded(part)[1] & 1).collect();
    assert_eq!(orders, [1, 0]);
}

#[test]
fn datatypes_of_all_files_are_read_again_as_they_were() {
    let mut count = 0;
    for_each_object(&mut |file, object, place| {
        let mut found = Vec::new();
        match object.kind() {
            ObjectKind::Dataset => found.extend(object.dataset(file).map(|of| of.datatype().clone())),
            ObjectKind::NamedDatatype => found.extend(object.named_datatype(file)),
            ObjectKind::Group | ObjectKind::Unknown => {}
        }
        let attributes = object.attributes(file).unwrap_or_default();
        found.extend(attributes.into_iter().filter_map(|(_, of)| Some(of.ok()?.datatype().clone())));
        for from in found {
            let Ok((datatype, storage)) = reading::datatype(&from) else { continue };
            for low in LibraryVersion::ALL {
                let own = types(low, LibraryVersion::V2_0).written(&datatype, &storage).unwrap();
                let again = reading::datatype(&own.datatype).unwrap();
                assert_eq!(again, (datatype.clone(), storage.clone()), "{place} {low}");
                assert_eq!(own.datatype.size, from.size, "{place}");
                count += 1;
            }
        }
    });
    assert!(count > 2000, "{count}");
}

fn datatype() -> impl Strategy<Value = Datatype> {
    let bits = prop::sample::select(vec![8_u16, 16, 24, 32, 64, 128]);
    let float =
        prop::sample::select(vec![Float::Half, Float::Single, Float::Double, Float::Quad, Float::BFloat]);
    let pad = prop::sample::select(vec![Pad::NulTerminated, Pad::Nul, Pad::Space]);
    let leaf = prop_oneof![
        (bits, any::<bool>()).prop_map(|(bits, signed)| Datatype::int(bits, signed)),
        float.clone().prop_map(Datatype::Float),
        float.prop_map(Datatype::Complex),
        Just(Datatype::Bool),
        Just(Datatype::Time { bits: 32 }),
        Just(Datatype::Datetime(TimeUnit { unit: "s".into(), duration: false })),
        (1_u32..9).prop_map(|size| Datatype::Bitfield { size }),
        Just(Datatype::String(Text::Variable)),
        (1_u32..9, pad).prop_map(|(len, pad)| Datatype::String(Text::Fixed { len, pad })),
        (1_u32..9, "[a-z\u{e9}]{0,20}").prop_map(|(size, tag)| Datatype::Opaque { size, tag }),
        Just(Datatype::ObjRef),
        Just(Datatype::RegRef),
        Just(Datatype::Reference),
        prop::collection::vec(-128_i128..128, 0..4).prop_map(|values| {
            let members = (0_u8..).zip(values).map(|(n, value)| (format!("m{n}"), value)).collect();
            Datatype::Enum { base: Box::new(Datatype::int(8, true)), members }
        }),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| {
                let member = |(n, datatype)| Member { name: format!("member{n}"), datatype };
                Datatype::Compound((0_u8..).zip(all).map(member).collect())
            }),
            inner.clone().prop_map(|base| Datatype::Vlen(Box::new(base))),
            inner.clone().prop_map(|of| Datatype::Nullable(Box::new(of))),
            (inner, prop::collection::vec(1_u64..4, 1..4))
                .prop_map(|(base, shape)| Datatype::Array { base: Box::new(base), shape }),
        ]
    })
}

proptest! {
    /// Every type is written with the same rows, and is read back as the type itself or as its replacement.
    #[test]
    fn any_datatype_is_written_with_the_same_rows(
        datatype in datatype(),
        endian in prop::sample::select(vec![ByteOrder::Little, ByteOrder::Big]),
        low in prop::sample::select(LibraryVersion::ALL.to_vec()),
        has_complex in any::<bool>(),
    ) {
        let of = Types { has_complex, ..types(low, LibraryVersion::V2_0) };
        let storage = ElementStorage { endian: Some(endian), ..ElementStorage::default() };
        let own = of.written(&datatype, &storage).unwrap();
        let (read, element) = reading::datatype(&own.datatype).unwrap();
        prop_assert_eq!(read.row_size(), datatype.row_size());
        if own.lowered.is_empty() {
            prop_assert_eq!(&read, &datatype);
        }
        let again = of.written(&read, &element).unwrap();
        prop_assert!(again.lowered.is_empty());
        prop_assert_eq!(encoded(&again.datatype), encoded(&own.datatype));
    }
}
