//! Content that NetCDF loses or stores in another form, and what replaces it.

use super::flavour::Flavour;
use crate::format::hdf5::write::lowerings::{
    ATTRIBUTE_NATIVE, DOMAIN, OF_STORAGE, SOURCES, SPARSE, UNCOUNTED, UNREADABLE_ATTRIBUTE,
};
use crate::target::{Fate, Loss, Lowered, lowerings};
use hyperslab_netcdf3::Version;
use std::sync::LazyLock;

lowerings! {
    BOOLEAN: "booleans" => "8-bit integers, with the attribute dtype that xarray reads", Fate::Changed;
    ATTRIBUTE_BOOLEAN: "booleans" => "8-bit integers", Fate::Changed;
    COMPLEX: "complex numbers" => "a compound of r and i", Fate::Changed;
    DATETIME: "datetimes or durations" => "64-bit integers with CF attributes", Fate::Changed;
    DATETIME_UNIT: "datetimes or durations in units that CF does not have" => "64-bit integers", Fate::Lost(Loss::Types);
    WIDER: "numbers of a size that NetCDF does not have" => "larger numbers of the same value", Fate::Changed;
    NEAREST: "floating-point numbers that NetCDF does not have" => "the nearest 64-bit numbers",
        Fate::Lost(Loss::Precision);
    SMALLER: "64-bit integers that fit in 32 bits" => "32-bit integers", Fate::Changed;
    NEAREST_INTEGERS: "64-bit integers" => "the nearest 64-bit floating-point numbers", Fate::Lost(Loss::Precision);
    UNSIGNED: "unsigned integers" => "signed integers of the same bits, with the attribute _Unsigned", Fate::Changed;
    LABELS: "enumeration" => "integers", Fate::Lost(Loss::Labels);
    TIME: "integers of the time class" => "integers", Fate::Changed;
    BITS: "bit fields" => "unsigned integers", Fate::Changed;
    CHARACTERS: "strings of fixed length" => "characters along one more dimension", Fate::Changed;
    SHORT_TEXTS: "strings of variable length" => "characters along one more dimension, as many as the longest has", Fate::Changed;
    TEXTS: "strings of fixed length" => "strings of variable length", Fate::Changed;
    INNER_ARRAY: "arrays within elements" => "more dimensions", Fate::Changed;
    ENUMERATION_ORDER: "big-endian order of enumerations" => "little-endian order", Fate::Changed;
    UNNAMED_TYPE: "datatype without a name" => "a named datatype of the root group", Fate::Changed;
    OUTER_TYPE: "named datatype of a group that is not above" => "a named datatype of the root group", Fate::Changed;
    PLAIN_TYPE: "named datatype of plain numbers or strings" => "the type itself", Fate::Lost(Loss::Names);
    NAME: "name that NetCDF forbids" => "an underscore and two digits for each such byte", Fate::Restored;
    NORMALIZED: "name that is not in Unicode NFC" => "the same name in NFC", Fate::Restored;
    RESERVED: "attribute with a reserved name" => "nothing", Fate::Lost(Loss::Attributes);
    ATTRIBUTE_TYPE: "attribute of a type that NetCDF does not have" => "nothing", Fate::Lost(Loss::Attributes);
    ATTRIBUTE_EMPTY: "attribute without elements" => "an empty text, or a list without elements", Fate::Changed;
    ATTRIBUTE_SHAPE: "attribute of several dimensions" => "a list", Fate::Changed;
    ATTRIBUTE_NUL: "text with a NUL in it" => "the same string, which other programs cut off there", Fate::Changed;
    ATTRIBUTE_OPAQUE: "opaque bytes in an attribute, which keep xarray from opening the file" => "unsigned integers of 8 bits", Fate::Lost(Loss::Types);
    DOCUMENT: "attribute that is a JSON document" => "its text", Fate::Changed;
    UNNAMED: "dimension without a name" => "a dimension with a generated name", Fate::Changed;
    OUT_OF_SCOPE: "dimension of a group that is not above" => "a dimension with a generated name", Fate::Lost(Loss::Names);
    HOISTED: "dimension of variables outside of its group" => "a dimension of a group above", Fate::Changed;
    LIMITED: "dimension that can grow up to a limit" => "an unlimited dimension", Fate::Changed;
    LINK: "link" => "nothing", Fate::Lost(Loss::Links);
    USER_TYPE: "user-defined type" => "nothing", Fate::Lost(Loss::Types);
    UNLIMITED: "unlimited dimension, where another dimension is already unlimited or it is not the first of a variable" => "a dimension of its current length", Fate::Lost(Loss::Unlimited);
    EMPTY_GROWS: "dimension of length 0" => "an unlimited dimension", Fate::Changed;
    EMPTY_DIMENSION: "dimension of length 0 beside an unlimited one" => "nothing", Fate::Lost(Loss::Names);
    EMPTY: "variable along a dimension of length 0 that is not stored" => "nothing", Fate::Lost(Loss::Types);
    SHORTER: "array shorter than its dimensions" => "fill values up to their lengths", Fate::Changed;
    ATTRIBUTE_OF_DIMENSION: "attribute of a dimension without a variable" => "nothing", Fate::Lost(Loss::Attributes);
    FILL_ATTRIBUTE: "attribute _FillValue that the type of its variable does not hold" => "nothing", Fate::Lost(Loss::Attributes);
    CHUNKS: "chunks" => "contiguous elements", Fate::Changed;
    FILTERS: "filters" => "no filter", Fate::Changed;
    ENDIAN: "little-endian order" => "big-endian order", Fate::Changed;
    FILL: "fill value of strings or arrays within elements" => "zeros", Fate::Changed;
    CONTENT: "comments, labels or names of scales" => "nothing", Fate::Lost(Loss::Attributes);
    DIRECTIVES: "content that only the format of the source has" => "nothing", Fate::Lost(Loss::Attributes);
}

/// Rows that apply only to the classic formats.
static OF_CLASSIC: &[&Lowered] = &[
    &USER_TYPE,
    &UNLIMITED,
    &EMPTY_DIMENSION,
    &EMPTY,
    &SHORTER,
    &ATTRIBUTE_OF_DIMENSION,
    &FILL_ATTRIBUTE,
    &CHUNKS,
    &FILTERS,
    &ENDIAN,
];

/// Rows that apply only to NetCDF-4.
static OF_NETCDF4: &[&Lowered] = &[&COMPLEX, &TEXTS, &UNNAMED_TYPE, &OUTER_TYPE, &OUT_OF_SCOPE, &HOISTED];

/// Rows that apply only to NetCDF-4 with user-defined types.
static OF_USER_TYPES: &[&Lowered] = &[&ENUMERATION_ORDER];

/// Rows that apply where only the types of the classic formats exist, and rows for CDF-1 and CDF-2.
static OF_CLASSIC_TYPES: &[&Lowered] = &[&SHORT_TEXTS, &LABELS];
static OF_FEW_INTEGERS: &[&Lowered] = &[&SMALLER, &NEAREST_INTEGERS, &UNSIGNED];

/// What is lost or changed in a format.
pub(in crate::format) fn of(flavour: Flavour) -> &'static [&'static Lowered] {
    static ENHANCED: LazyLock<Rows> =
        LazyLock::new(|| rows(&[OF_CLASSIC, OF_CLASSIC_TYPES, OF_FEW_INTEGERS], OF_STORAGE));
    static MODEL: LazyLock<Rows> = LazyLock::new(|| rows(&[OF_CLASSIC, OF_USER_TYPES], OF_STORAGE));
    static CLASSIC: LazyLock<Rows> = LazyLock::new(|| rows(&[OF_NETCDF4, OF_USER_TYPES], STORED));
    static DATA_64: LazyLock<Rows> =
        LazyLock::new(|| rows(&[OF_NETCDF4, OF_USER_TYPES, OF_FEW_INTEGERS], STORED));
    match flavour {
        Flavour::Enhanced => &ENHANCED,
        Flavour::ClassicModel => &MODEL,
        Flavour::Classic(Version::Classic | Version::Offset64) => &CLASSIC,
        Flavour::Classic(Version::Data64) => &DATA_64,
    }
}

type Rows = Vec<&'static Lowered>;

/// The rows of HDF5 that also apply to the classic formats.
static STORED: &[&Lowered] =
    &[&DOMAIN, &SOURCES, &SPARSE, &UNCOUNTED, &UNREADABLE_ATTRIBUTE, &ATTRIBUTE_NATIVE];

/// The rows of this table except those in `without`, followed by `then`.
fn rows(without: &[&[&'static Lowered]], then: &[&'static Lowered]) -> Rows {
    let is_other = |row: &&Lowered| without.iter().copied().flatten().any(|other| std::ptr::eq(*other, *row));
    LOWERINGS.iter().filter(|row| !is_other(row)).chain(then).copied().collect()
}
