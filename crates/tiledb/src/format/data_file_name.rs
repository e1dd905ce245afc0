//! Names of data files in a fragment.
//!
//! Spec: TileDB format_spec, fragment.md "Main Structure"; array_format_history.md, versions 8 and 9

/// What the values of a data file belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFile<'a> {
    /// An attribute.
    Attribute {
        /// Its position in the schema.
        position: usize,
        /// Its name.
        name: &'a [u8],
    },
    /// A dimension. Has files of its own since version 5.
    Dimension {
        /// Its position in the domain.
        position: usize,
        /// Its name.
        name: &'a [u8],
    },
    /// The coordinates of all dimensions, before version 5.
    Coordinates,
    /// The timestamps of cells. Since version 14.
    Timestamps,
    /// The deletion times of cells. Since version 15.
    DeleteTimestamps,
    /// The positions of the conditions that deleted cells. Since version 15. The specification calls the file `dcmh`.
    DeleteConditions,
}

impl DataFile<'_> {
    /// The name of the file with values of fixed size, or with the offsets of values of variable size.
    pub fn fixed(&self, version: u32) -> Vec<u8> {
        [&self.stem(version), &b".tdb"[..]].concat()
    }

    /// The name of the file with values of variable size.
    pub fn var(&self, version: u32) -> Vec<u8> {
        [&self.stem(version), &b"_var.tdb"[..]].concat()
    }

    /// The name of the file with validities. Since version 7.
    pub fn validity(&self, version: u32) -> Vec<u8> {
        [&self.stem(version), &b"_validity.tdb"[..]].concat()
    }

    fn stem(&self, version: u32) -> Vec<u8> {
        match self {
            DataFile::Attribute { position, .. } if version >= 9 => format!("a{position}").into_bytes(),
            DataFile::Dimension { position, .. } if version >= 9 => format!("d{position}").into_bytes(),
            DataFile::Attribute { name, .. } | DataFile::Dimension { name, .. } if version == 8 => {
                name.iter().fold(Vec::new(), percent_encode)
            }
            DataFile::Attribute { name, .. } | DataFile::Dimension { name, .. } => name.to_vec(),
            DataFile::Coordinates => b"__coords".to_vec(),
            DataFile::Timestamps => b"t".to_vec(),
            DataFile::DeleteTimestamps => b"dt".to_vec(),
            DataFile::DeleteConditions => b"dci".to_vec(),
        }
    }
}

/// Like version 8, which confuses decimal and hexadecimal codes of the characters that Windows forbids.
fn percent_encode(mut encoded: Vec<u8>, byte: &u8) -> Vec<u8> {
    let code = match byte {
        b'!' | b'#'..=b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' | b'[' | b']' | b'"' => *byte,
        b'<' => 0x20,
        b'>' => 0x2d,
        b'\\' => 0x30,
        b'|' => 0x3c,
        _ => {
            encoded.push(*byte);
            return encoded;
        }
    };
    encoded.extend(format!("%{code:02X}").bytes());
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_version() {
        let attribute = DataFile::Attribute { position: 3, name: b"a b/c" };
        for (version, name) in
            [(9, &b"a3.tdb"[..]), (22, b"a3.tdb"), (8, b"a b%2Fc.tdb"), (7, b"a b/c.tdb"), (4, b"a b/c.tdb")]
        {
            assert_eq!(attribute.fixed(version), name, "version {version}");
        }
        let dimension = DataFile::Dimension { position: 0, name: b"" };
        assert_eq!(dimension.var(22), b"d0_var.tdb");
        assert_eq!(dimension.fixed(5), b".tdb");
        assert_eq!(attribute.validity(22), b"a3_validity.tdb");
        assert_eq!(DataFile::Coordinates.fixed(4), b"__coords.tdb");
        assert_eq!(DataFile::DeleteConditions.fixed(15), b"dci.tdb");
    }

    #[test]
    fn version_8_encodes_with_the_table_of_its_library() {
        let all = br##"!"#$%&'()*+,-./0:;<=>?@A[\]^_`a{|}~"##;
        let name = DataFile::Attribute { position: 0, name: all }.fixed(8);
        assert_eq!(
            String::from_utf8(name).unwrap(),
            "%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F0%3A%3B%20%3D%2D%3F%40A%5B%30%5D^_`a{%3C}~.tdb"
        );
    }
}
