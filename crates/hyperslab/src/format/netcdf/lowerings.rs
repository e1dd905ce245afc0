//! Content that NetCDF stores in another form or loses, and what it becomes.

use crate::format::hdf5::write::lowerings::{
    ATTRIBUTE_NATIVE, DOMAIN, OF_STORAGE, SOURCES, SPARSE, UNCOUNTED, UNREADABLE_ATTRIBUTE,
};
use crate::target::{Fate, Loss, Lowered, lowerings};
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
    TIME: "integers of the time class" => "integers", Fate::Changed;
    BITS: "bit fields" => "unsigned integers", Fate::Changed;
    CHARACTERS: "texts of fixed length" => "characters along one more dimension", Fate::Changed;
    SHORT_TEXTS: "texts of variable length" => "characters along one more dimension, as many as the longest has", Fate::Changed;
    TEXTS: "texts of fixed length" => "texts of variable length", Fate::Changed;
    INNER_ARRAY: "arrays within elements" => "more dimensions", Fate::Changed;
    UNNAMED_TYPE: "datatype without a name" => "a named datatype of the root group", Fate::Changed;
    OUTER_TYPE: "named datatype of a group that is not above" => "a named datatype of the root group", Fate::Changed;
    PLAIN_TYPE: "named datatype of plain numbers or texts" => "the type itself", Fate::Lost(Loss::Names);
    NAME: "name that NetCDF forbids" => "an encoded name", Fate::Lost(Loss::Names);
    RESERVED: "attribute with a name that NetCDF reserves" => "nothing", Fate::Lost(Loss::Attributes);
    ATTRIBUTE_TYPE: "attribute of a type that NetCDF does not have" => "nothing", Fate::Lost(Loss::Attributes);
    ATTRIBUTE_SHAPE: "attribute of several dimensions" => "a list", Fate::Changed;
    UNNAMED: "dimension without a name" => "a dimension with a made name", Fate::Changed;
    OUT_OF_SCOPE: "dimension of a group that is not above" => "a dimension with a made name", Fate::Lost(Loss::Names);
    LIMITED: "dimension that can grow up to a limit" => "an unlimited dimension", Fate::Changed;
    LINK: "link" => "nothing", Fate::Lost(Loss::Links);
    USER_TYPE: "datatype of a user" => "nothing", Fate::Lost(Loss::Types);
    UNLIMITED: "dimension that can grow, where another one does or it is not the first of a variable" => "a dimension of its current length", Fate::Lost(Loss::Unlimited);
    EMPTY_GROWS: "dimension of length 0" => "an unlimited dimension", Fate::Changed;
    EMPTY_DIMENSION: "dimension of length 0 beside an unlimited one" => "nothing", Fate::Lost(Loss::Names);
    EMPTY: "variable along a dimension of length 0 that is not stored" => "nothing", Fate::Lost(Loss::Types);
    SHORTER: "array shorter than its dimensions" => "fill values up to their lengths", Fate::Changed;
    ATTRIBUTE_OF_DIMENSION: "attribute of a dimension without a variable" => "nothing", Fate::Lost(Loss::Attributes);
    FILL_ATTRIBUTE: "attribute _FillValue of another type than its variable" => "nothing", Fate::Lost(Loss::Attributes);
    CHUNKS: "chunks" => "elements one behind the other", Fate::Changed;
    FILTERS: "filters" => "no filter", Fate::Changed;
    ENDIAN: "little-endian order" => "big-endian order", Fate::Changed;
    FILL: "fill value of texts or arrays within elements" => "zeros", Fate::Changed;
    CONTENT: "comments, labels or names of scales" => "nothing", Fate::Lost(Loss::Attributes);
    DIRECTIVES: "content that only the format of the source has" => "nothing", Fate::Lost(Loss::Attributes);
}

/// Of these, what only the classic formats lack.
static OF_CLASSIC: &[&Lowered] = &[
    &USER_TYPE,
    &UNLIMITED,
    &EMPTY_GROWS,
    &EMPTY_DIMENSION,
    &EMPTY,
    &SHORTER,
    &ATTRIBUTE_OF_DIMENSION,
    &FILL_ATTRIBUTE,
    &CHUNKS,
    &FILTERS,
    &ENDIAN,
];

/// What only NetCDF-4 has in another form.
static OF_NETCDF4: &[&Lowered] = &[&COMPLEX, &TEXTS, &UNNAMED_TYPE, &OUTER_TYPE, &RESERVED, &OUT_OF_SCOPE];

/// What is lost or changed in NetCDF classic files.
pub(in crate::format) static CLASSIC: LazyLock<Vec<&'static Lowered>> = LazyLock::new(|| {
    let of_storage = [&DOMAIN, &SOURCES, &SPARSE, &UNCOUNTED, &UNREADABLE_ATTRIBUTE, &ATTRIBUTE_NATIVE];
    LOWERINGS.iter().copied().filter(without(OF_NETCDF4)).chain(of_storage).collect()
});

fn without(others: &'static [&'static Lowered]) -> impl Fn(&&'static Lowered) -> bool {
    |row| !others.iter().any(|other| std::ptr::eq(*other, *row))
}

/// These, and those of elements and their storage in HDF5.
pub(in crate::format) static ALL: LazyLock<Vec<&'static Lowered>> = LazyLock::new(|| {
    LOWERINGS.iter().copied().filter(without(OF_CLASSIC)).chain(OF_STORAGE.iter().copied()).collect()
});
