//! The versions of datatype messages.
//!
//! Spec: HDF5 IV.A.2.d

use super::LibraryVersion;
use crate::format::message::datatype::{Datatype, DatatypeClass, FloatByteOrder, FloatingPoint, Version};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Encoder, Error, Result};
use std::sync::Arc;

impl Datatype {
    /// The bytes that describe the datatype in every file; `None` if elements contain addresses, which depend on their
    /// file. If two types have the same description, their elements have the same bytes.
    pub fn portable_bytes(&self) -> Option<Arc<[u8]>> {
        if !self.is_portable() {
            return None;
        }
        let datatype = self.clone().between(LibraryVersion::Earliest, LibraryVersion::V2_0).ok()?;
        let mut e = Encoder::new();
        datatype.encode(&mut e, &Sizes::DEFAULT).ok()?;
        Some(e.into_bytes().into())
    }

    /// Whether no element contains an address.
    fn is_portable(&self) -> bool {
        match &self.class {
            DatatypeClass::Reference(_) | DatatypeClass::VariableLength(_) => false,
            DatatypeClass::Compound(class) => {
                class.members.iter().all(|member| member.datatype.is_portable())
            }
            DatatypeClass::Array(class) => class.base.is_portable(),
            _ => true,
        }
    }

    /// The datatype in the versions that libhdf5 chooses between these bounds: the oldest version that can represent
    /// it, or the packed form that the library of the low bound uses.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if it needs a newer version than the library of the high
    /// bound reads.
    pub fn between(mut self, low: LibraryVersion, high: LibraryVersion) -> Result<Datatype> {
        self.set_oldest();
        if self.version < newest(low) {
            self.raise(newest(low));
        }
        match self.greatest() {
            needed if needed <= newest(high) => Ok(self),
            needed => {
                let of = LibraryVersion::ALL.into_iter().find(|version| newest(*version) >= needed);
                let of = of.unwrap_or(LibraryVersion::V2_0);
                Err(Error::unsupported(format!(
                    "a datatype introduced in HDF5 {of}, in a file for libraries up to {high}"
                )))
            }
        }
    }

    /// Sets the oldest version that can represent each part. As in libhdf5, the members of a compound get the version
    /// that one of the following members needs.
    fn set_oldest(&mut self) {
        self.version = match &mut self.class {
            DatatypeClass::FloatingPoint(FloatingPoint { byte_order: FloatByteOrder::Vax, .. }) => {
                Version::V3
            }
            DatatypeClass::Reference(class) if class.is_revised() => Version::V4,
            DatatypeClass::Enumeration(class) => {
                class.base.set_oldest();
                Version::V1
            }
            DatatypeClass::VariableLength(class) => {
                class.base.set_oldest();
                class.base.version
            }
            DatatypeClass::Array(class) => {
                class.base.set_oldest();
                class.base.version.max(Version::V2)
            }
            DatatypeClass::Complex(class) => {
                class.base.set_oldest();
                Version::V5
            }
            DatatypeClass::Compound(class) => {
                let mut oldest = Version::V1;
                for end in 1..=class.members.len() {
                    let inserted = class.members.get_mut(..end).unwrap_or_default();
                    let Some(last) = inserted.last_mut() else { continue };
                    last.datatype.set_oldest();
                    let needed = last.datatype.version;
                    if needed > oldest {
                        oldest = needed;
                        inserted.iter_mut().for_each(|member| member.datatype.raise(needed));
                    }
                }
                oldest
            }
            _ => Version::V1,
        };
    }

    /// Raises the version of those classes that a newer version stores in fewer bytes.
    fn raise(&mut self, to: Version) {
        match &mut self.class {
            DatatypeClass::Compound(class) => {
                class.members.iter_mut().for_each(|member| member.datatype.raise(to));
                self.version = self.version.max(to);
            }
            DatatypeClass::Array(class) => {
                class.base.raise(to);
                self.version = self.version.max(to);
            }
            DatatypeClass::Enumeration(_) => self.version = self.version.max(to),
            DatatypeClass::VariableLength(class) => {
                class.base.raise(to);
                self.version = self.version.max(class.base.version);
            }
            _ => {}
        }
    }

    fn greatest(&self) -> Version {
        self.parts().fold(self.version, |greatest, part| greatest.max(part.greatest()))
    }
}

/// The newest version that a library supports.
fn newest(library: LibraryVersion) -> Version {
    match library {
        LibraryVersion::Earliest => Version::V1,
        LibraryVersion::V1_8 | LibraryVersion::V1_10 => Version::V3,
        LibraryVersion::V1_12 | LibraryVersion::V1_14 => Version::V4,
        LibraryVersion::V2_0 => Version::V5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Sizes, Structure};
    use hyperslab_core::{Decoder, Encoder};

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    #[test]
    fn versions_are_those_that_libhdf5_chooses() {
        let golden = include_str!("../../tests/golden/datatype_bounds.txt");
        let lines = || golden.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        for line in lines() {
            let [name, bound, expected] = line[..] else { panic!("{line:?}") };
            // The oldest file holds every datatype, since its high bound is the latest library.
            let oldest = lines().find(|other| other[0] == name).unwrap()[2];
            let low = LibraryVersion::ALL.into_iter().find(|version| version.name() == bound).unwrap();
            let high = if low == LibraryVersion::Earliest { LibraryVersion::V2_0 } else { low };
            let oldest = bytes(oldest);
            let datatype = Datatype::decode(&mut Decoder::new("t", 0, &oldest), &Sizes::DEFAULT).unwrap();
            match datatype.between(low, high) {
                Ok(between) => {
                    let mut e = Encoder::new();
                    between.encode(&mut e, &Sizes::DEFAULT).unwrap();
                    assert_eq!(e.as_slice(), bytes(expected), "{name} {bound}");
                }
                Err(error) => {
                    assert_eq!(expected, "refused", "{name} {bound}");
                    let since = if name == "reference" { "v1.12" } else { "v2.0" };
                    let detail = format!(
                        "a datatype introduced in HDF5 {since}, in a file for libraries up to {high}"
                    );
                    assert_eq!(error.detail(), detail);
                }
            }
        }
    }
}
