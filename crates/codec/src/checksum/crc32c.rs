//! CRC-32C: the cyclic redundancy check with Castagnoli's polynomial.
//!
//! Spec: RFC 3720 section 12.1

/// The CRC-32C of `bytes`.
///
/// ```
/// assert_eq!(hyperslab_codec::crc32c(b"123456789"), 0xe306_9283);
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    // Eight bytes at a time, each with its own table.
    let (groups, rest) = bytes.as_chunks::<8>();
    let mut sum = !0_u32;
    for group in groups {
        let [a, b, c, d, e, f, g, h] = (u64::from_le_bytes(*group) ^ u64::from(sum)).to_le_bytes();
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
        sum = at(t7, a) ^ at(t6, b) ^ at(t5, c) ^ at(t4, d) ^ at(t3, e) ^ at(t2, f) ^ at(t1, g) ^ at(t0, h);
    }
    let [table, ..] = &TABLES;
    for byte in rest {
        let [low, ..] = sum.to_le_bytes();
        sum = at(table, low ^ byte) ^ (sum >> 8);
    }
    !sum
}

fn at(table: &[u32; 256], byte: u8) -> u32 {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Table `n` has the checksums of a byte followed by `n` zeros.
static TABLES: [[u32; 256]; 8] = tables();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where an index out of range is an error"
)]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut sum = byte;
        let mut table = 0;
        while table < 8 {
            let mut bit = 0;
            while bit < 8 {
                sum = (sum >> 1) ^ (if sum & 1 == 1 { 0x82f6_3b78 } else { 0 });
                bit += 1;
            }
            tables[table][byte as usize] = sum;
            table += 1;
        }
        byte += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_examples_of_the_standard() {
        assert_eq!(crc32c(b""), 0);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
    }
}
