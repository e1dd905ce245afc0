//! Transforms of stored bytes, named as their registries name them: [`deflate`](Codec::Deflate),
//! [`shuffle`](Codec::Shuffle), [`fletcher32`](Codec::Fletcher32).
//!
//! A chunk is written through a list of codecs, first to last, and read back through the same list. Nothing
//! here knows a file format or an offset: callers add the place to errors.
//!
//! ```
//! use hyperslab_codec::{Codec, Scratch, decode, encode};
//!
//! let codecs = [Codec::Shuffle { element: 4 }, Codec::Deflate { level: 4 }, Codec::Fletcher32];
//! let raw: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
//! let mut scratch = Scratch::new();
//! let stored = encode(&codecs, &raw, &mut scratch)?;
//!
//! let mut out = vec![0; raw.len()];
//! decode(&codecs, &stored, &mut out, &mut scratch)?;
//! assert_eq!(out, raw);
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod deflate;
mod fletcher32;
mod pipeline;
mod shuffle;

pub use fletcher32::fletcher32;
pub use pipeline::{Codec, Scratch, decode, encode, plausible};
