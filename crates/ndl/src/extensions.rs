//! Extensions of NDL 0.6.1, by the names that the head of a document lists.

/// The extensions that a document uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions(u64);

/// Declares the extensions in the order of their names.
macro_rules! extensions {
    ($($variant:ident $name:literal,)*) => {
        /// One extension.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Extension { $($variant),* }

        const ALL: &[(Extension, &str)] = &[$((Extension::$variant, $name)),*];
    };
}

extensions! {
    BFloat16 "bfloat16",
    Bitfield "bitfield",
    Bool "bool",
    Cells "cells",
    Complex "complex",
    Complex128 "complex128",
    Complex64 "complex64",
    Datatypes "datatypes",
    Datetime "datetime",
    Dimension "dimension",
    Domain "domain",
    FillTime "fill_time",
    Float "float",
    Float128 "float128",
    Float16 "float16",
    Hdf5 "hdf5",
    Integer "integer",
    Layout "layout",
    Length "length",
    Links "links",
    Members "members",
    NetCdf "netcdf",
    Null "null",
    Nullable "nullable",
    Order "order",
    Pad "pad",
    Precision "precision",
    Reference "reference",
    RegRef "regref",
    Shard "shard",
    TileDb "tiledb",
    Time "time",
    Timedelta "timedelta",
    Zarr "zarr",
}

impl Extensions {
    pub(crate) fn add(&mut self, extension: Extension) {
        self.0 |= 1 << extension as u64;
    }

    /// The names in byte order.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        ALL.iter().filter(move |(extension, _)| self.0 & 1 << *extension as u64 != 0).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_once_and_sorted() {
        let mut extensions = Extensions::default();
        for (extension, _) in ALL.iter().rev().chain(ALL) {
            extensions.add(*extension);
        }
        let names: Vec<_> = extensions.names().collect();
        assert_eq!(names.len(), ALL.len());
        assert!(names.is_sorted());
        assert!(ALL.len() <= 64);
    }
}
