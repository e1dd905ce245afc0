//! Jenkins' hash lookup3, the checksum of all metadata.
//!
//! Spec: HDF5 I.A This Document ("All checksums used in the format")

/// The checksum of `bytes`: lookup3 (`hashlittle`) with an initial value of 0.
pub fn lookup3(bytes: &[u8]) -> u32 {
    lookup3_from(bytes, 0)
}

/// lookup3 (`hashlittle`) with an initial value: the hash of a shared message starts from its type.
pub fn lookup3_from(bytes: &[u8], initial: u32) -> u32 {
    hyperslab_codec::lookup3(bytes, initial)
}

#[cfg(test)]
mod tests {
    use super::lookup3;

    #[test]
    fn agrees_with_the_published_driver() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
