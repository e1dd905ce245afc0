//! Makes zip files with names that the writer rejects.
//!
//! Spec: APPNOTE.TXT 4.3

use hyperslab_codec::{Checksum, ChecksumAlgorithm, Scratch, encode};

/// A zip file of uncompressed entries with correct checksums.
///
/// # Panics
/// If the content exceeds the fields of a zip file without ZIP64 (4 GiB).
pub(crate) fn zip<'a>(entries: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let [mut file, mut directory] = [Vec::new(), Vec::new()];
    let mut count = 0;
    for (name, value) in entries {
        let mut shared = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        shared.extend(crc32(value));
        shared.extend([long(value.len()), long(value.len())].concat());
        shared.extend([short(name.len()), short(0)].concat());
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&shared);
        directory.extend([0; 10]);
        directory.extend(long(file.len()));
        directory.extend(name.as_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&shared);
        file.extend(name.as_bytes());
        file.extend(value);
        count += 1;
    }
    let start = file.len();
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([short(count), short(count)].concat());
    file.extend([long(directory.len()), long(start)].concat());
    file.extend(short(0));
    file
}

fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("a small file").to_le_bytes()
}

fn long(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("a small file").to_le_bytes()
}

fn crc32(bytes: &[u8]) -> Vec<u8> {
    let sum = Checksum { algorithm: ChecksumAlgorithm::Crc32, at_start: true };
    let mut stored = encode(&[sum.into()], bytes, &mut Scratch::new()).expect("any bytes have a checksum");
    stored.truncate(4);
    stored
}
