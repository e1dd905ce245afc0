//! Encryption: AES-256-GCM of metadata and data, each part with its own initialization vector and tag.
//!
//! Spec: TileDB format_spec, filters/encryption_aes256gcm.md

use super::part::{Filtered, Output, Part, Transform, Work, all_taken, len32, resized, take_room};
use aes_gcm::aead::{AeadInOut, Generate};
use aes_gcm::{Aes256Gcm, KeyInit, Nonce, Tag};
use hyperslab_core::{Decoder, Error, ErrorKind, Remedy, Result};
use std::fmt;

/// The key of an encrypted array.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; Key::LEN]);

impl Key {
    /// The size of a key in bytes.
    pub const LEN: usize = 32;

    /// A key with these bytes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if there are not exactly 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Key> {
        match bytes.try_into() {
            Ok(bytes) => Ok(Key(bytes)),
            Err(_) => Err(Error::invalid(format!("a key of {} bytes, expected 32", bytes.len()))),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The filter, with the cipher of the key if one is given.
#[derive(Default)]
pub(crate) struct Encryption {
    cipher: Option<Box<Aes256Gcm>>,
}

impl Encryption {
    pub(crate) fn set_key(&mut self, key: &Key) {
        self.cipher = Some(Box::new(Aes256Gcm::new((&key.0).into())));
    }

    fn cipher(&self) -> Result<&Aes256Gcm> {
        let none = || {
            let what = "the array is encrypted with AES-256-GCM, and no key is given";
            Error::invalid(what).with_remedy(Remedy::GiveKey)
        };
        self.cipher.as_deref().ok_or_else(none)
    }
}

impl Transform for Encryption {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let cipher = self.cipher()?;
        let mut d = from.decoder(STRUCTURE);
        let counts = [d.u32()?, d.u32()?].map(u64::from);
        d.count(counts.iter().sum(), PART)?;
        let [of_metadata, of_data] = counts;
        let (mut sizes, mut lens) = (d.clone(), [0_usize; 2]);
        for (len, count) in lens.iter_mut().zip(counts) {
            for _ in 0..count {
                *len = len.saturating_add(Header::decode(&mut sizes)?.len);
            }
        }
        let [metadata_len, data_len] = lens;
        if metadata_len.saturating_add(data_len) != from.data.len() {
            return Err(d.malformed(format!(
                "{metadata_len} and {data_len} encrypted bytes, found {}",
                from.data.len()
            )));
        }
        let mut left = from.data;
        let mut metadata = resized(rest, metadata_len, work)?;
        for _ in 0..of_metadata {
            decrypt(cipher, &mut d, &mut left, &mut metadata)?;
        }
        let mut data = out.room(data_len, work)?;
        for _ in 0..of_data {
            decrypt(cipher, &mut d, &mut left, &mut data)?;
        }
        all_taken(&d, left)?;
        d.finish()
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, _: &mut Work) -> Result<()> {
        let cipher = self.cipher()?;
        let has_metadata = !from.metadata.is_empty();
        to.metadata.clear();
        to.data.clear();
        to.metadata.extend_from_slice(&u32::from(has_metadata).to_le_bytes());
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        for part in [from.metadata, from.data].into_iter().skip(usize::from(!has_metadata)) {
            let no_number = |e| Error::new(ErrorKind::Io, format!("the system gives no random numbers: {e}"));
            let nonce = Nonce::try_generate().map_err(no_number)?;
            let at = to.data.len();
            to.data.extend_from_slice(part);
            let encrypted = to.data.get_mut(at..).unwrap_or_default();
            let tag = cipher.encrypt_inout_detached(&nonce, &[], encrypted.into());
            let tag = tag.map_err(|_| Error::invalid(format!("{} bytes to encrypt at once", part.len())))?;
            to.metadata.extend_from_slice(&len32(part.len())?);
            to.metadata.extend_from_slice(&len32(part.len())?);
            to.metadata.extend_from_slice(&nonce);
            to.metadata.extend_from_slice(&tag);
        }
        Ok(())
    }
}

/// The header of each part, before its data.
struct Header {
    len: usize,
    nonce: [u8; 12],
    tag: [u8; 16],
}

impl Header {
    fn decode(d: &mut Decoder<'_>) -> Result<Header> {
        let at = d.clone();
        let (plain, encrypted) = (d.u32()?, d.u32()?);
        if plain != encrypted {
            return Err(at.malformed(format!("{encrypted} encrypted bytes of {plain}, expected as many")));
        }
        let len = usize::try_from(plain).unwrap_or(usize::MAX);
        Ok(Header { len, nonce: d.array()?, tag: d.array()? })
    }
}

/// Takes the next part from `left` and decrypts it into the front of `out`.
fn decrypt(cipher: &Aes256Gcm, d: &mut Decoder<'_>, left: &mut &[u8], out: &mut &mut [u8]) -> Result<()> {
    let at = d.clone();
    let Header { len, nonce, tag } = Header::decode(d)?;
    let Some((part, rest)) = left.split_at_checked(len) else {
        return Err(at.malformed(format!("{len} encrypted bytes, {} remain", left.len())));
    };
    *left = rest;
    let to = take_room(out, len)?;
    to.copy_from_slice(part);
    let nonce: &Nonce<_> = (&nonce).into();
    let tag: &Tag = (&tag).into();
    cipher.decrypt_inout_detached(nonce, &[], to.into(), tag).map_err(|_| {
        at.error(ErrorKind::Checksum, "not encrypted with the given key, or changed since it was written")
    })
}

/// The error in the first decrypted bytes of an array or a group: a wrong key is more likely than damage.
pub(crate) fn with_another_key(error: Error) -> Error {
    let is_not_decrypted = error.place().is_some_and(|place| place.structure == STRUCTURE);
    match error.kind() == ErrorKind::Checksum && is_not_decrypted {
        true => {
            let other = Error::invalid("the given key is not the one that it was encrypted with");
            let other = other.with_remedy(Remedy::GiveKey);
            match error.object() {
                Some(object) => other.in_object(object),
                None => other,
            }
        }
        false => error,
    }
}

const STRUCTURE: &str = "AES-256-GCM Filter";

/// The size of the header of each part.
const PART: usize = 36;
