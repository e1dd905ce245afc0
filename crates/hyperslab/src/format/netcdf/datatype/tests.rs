//! User-defined datatypes as NetCDF-4 represents them.

use super::*;
use crate::format::netcdf::lowerings::NAME;

/// A datatype in the root group of a NetCDF-4 file, and the types created for it.
fn declared(datatype: &Datatype, storage: &ElementStorage) -> Result<(LoweredType, UserTypes)> {
    let (mut user, group) = (UserTypes::default(), NodePath::root());
    let mut types = Types {
        user: &mut user,
        group: &group,
        hint: "v",
        flavour: Flavour::Enhanced,
        longest: 0,
        is_small: false,
        is_unicode: true,
        is_explained: true,
    };
    let lowered = types.declared(datatype, storage)?.unwrap();
    Ok((lowered, user))
}

fn enumeration(bits: u16, names: &[&str]) -> Datatype {
    let members = names.iter().zip(1..).map(|(name, value)| ((*name).to_owned(), value)).collect();
    Datatype::Enum { base: Box::new(Datatype::int(bits, true)), members }
}

fn of_order(endian: Option<ByteOrder>) -> ElementStorage {
    ElementStorage { endian, ..ElementStorage::default() }
}

fn whats(lowered: &LoweredType) -> Vec<&str> {
    lowered.notes.iter().map(|note| note.what).collect()
}

#[test]
fn enumerations_are_little_endian() {
    let of = enumeration(32, &["a", "b"]);
    let (lowered, _) = declared(&of, &of_order(Some(ByteOrder::Big))).unwrap();
    assert_eq!((&*lowered.datatype, &lowered.storage), (&of, &ElementStorage::default()));
    assert_eq!(whats(&lowered), [ENUMERATION_ORDER.what]);
    for little in [None, Some(ByteOrder::Little)] {
        let (lowered, _) = declared(&of, &of_order(little)).unwrap();
        assert!(lowered.storage.is_empty() && lowered.notes.is_empty());
    }
    // A byte has no byte order.
    let (lowered, _) = declared(&enumeration(8, &["a"]), &of_order(Some(ByteOrder::Big))).unwrap();
    assert!(lowered.notes.is_empty());
    let sequences = Datatype::Vlen(Box::new(of));
    let (lowered, _) = declared(&sequences, &of_order(Some(ByteOrder::Big))).unwrap();
    assert!(lowered.storage.is_empty());
}

#[test]
fn enumerations_in_compounds_are_little_endian_and_the_other_members_stay() {
    let member = |name: &str, datatype| Member { name: name.to_owned(), datatype };
    let inner =
        Datatype::Compound(vec![member("e", enumeration(16, &["a"])), member("n", Datatype::int(16, true))]);
    let array = Datatype::Array { base: Box::new(enumeration(16, &["a"])), shape: vec![2] };
    let of = Datatype::Compound(vec![
        member("e", enumeration(16, &["a"])),
        member("n", Datatype::int(32, true)),
        member("inner", inner),
        member("array", array),
    ]);
    let little = || of_order(Some(ByteOrder::Little));
    let inner_storage =
        ElementStorage { members: vec![("e".to_owned(), little())], ..of_order(Some(ByteOrder::Big)) };
    let expected = |members| ElementStorage { members, ..of_order(Some(ByteOrder::Big)) };
    let members = || {
        [("e", little()), ("inner", inner_storage.clone()), ("array", little())]
            .map(|(name, storage)| (name.to_owned(), storage))
            .to_vec()
    };
    let (lowered, user) = declared(&of, &of_order(Some(ByteOrder::Big))).unwrap();
    assert_eq!(lowered.storage, expected(members()));
    assert!(whats(&lowered).contains(&ENUMERATION_ORDER.what));
    // The type that the library searches for by its content.
    let made: Vec<_> = user.made().filter(|made| matches!(*made.datatype, Datatype::Enum { .. })).collect();
    assert!(made.len() == 1 && made.iter().all(|made| made.storage.is_empty()), "{made:?}");
    // A compound without a byte order whose members state theirs.
    let big = || of_order(Some(ByteOrder::Big));
    let said = ElementStorage {
        members: vec![("e".to_owned(), big()), ("n".to_owned(), big())],
        ..ElementStorage::default()
    };
    let (lowered, _) = declared(&of, &said).unwrap();
    assert_eq!(lowered.storage.members, [("n".to_owned(), big())]);
}

#[test]
fn members_of_enumerations_have_names_that_the_library_reads() {
    let long = "n".repeat(257);
    let of = enumeration(32, &["plain", " a", "a/b", &long]);
    let (lowered, _) = declared(&of, &ElementStorage::default()).unwrap();
    assert_eq!(*lowered.datatype, enumeration(32, &["plain", "_20a", "a_2fb", &long[..255]]));
    assert_eq!(whats(&lowered), [NAME.what; 3]);
    let originals = [("_20a", " a"), ("a_2fb", "a/b"), (&long[..255], &*long)];
    let originals = originals.map(|(name, original)| (name.to_owned(), original.to_owned()));
    assert_eq!(lowered.fields, Names::from(originals.clone()));
    // The path to a member contains the names of the compound.
    let outer =
        Datatype::Compound(vec![Member { name: "@e".to_owned(), datatype: enumeration(32, &[" a"]) }]);
    let (lowered, _) = declared(&outer, &ElementStorage::default()).unwrap();
    let fields = [("_40e", "@e"), ("_40e/_20a", " a")];
    let fields = fields.map(|(name, original)| (name.to_owned(), original.to_owned()));
    assert_eq!(lowered.fields, Names::from(fields));
    let same = enumeration(32, &["_20a", " a"]);
    let e = declared(&same, &ElementStorage::default()).unwrap_err();
    assert_eq!(e.detail(), "an enumeration in which another name also becomes \"_20a\"");
}
