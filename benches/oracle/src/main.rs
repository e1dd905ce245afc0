//! `zarrs-elements STORE`: writes all elements of the array `data` to standard output, in row-major order and native byte
//! order. Strings and bytes follow their length in four bytes. Errors are printed on standard error.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;

fn main() -> ExitCode {
    let done = elements().and_then(|bytes| Ok(io::stdout().lock().write_all(&bytes)?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn elements() -> Result<Vec<u8>, Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: zarrs-elements STORE")?;
    let array = Array::open(Arc::new(FilesystemStore::new(path)?), "/data")?;
    let bytes: ArrayBytes<'static> = array.retrieve_array_subset(&array.subset_all())?;
    let (bytes, ends) = match bytes {
        ArrayBytes::Fixed(bytes) => return Ok(bytes.into_owned()),
        ArrayBytes::Variable(bytes) => bytes.into_parts(),
        ArrayBytes::Optional(_) => return Err("elements that may be missing".into()),
    };
    let mut out = Vec::new();
    for (start, end) in ends.iter().zip(ends.iter().skip(1)) {
        let element = bytes.get(*start..*end).ok_or("an element past all bytes")?;
        out.extend_from_slice(&u32::try_from(element.len())?.to_le_bytes());
        out.extend_from_slice(element);
    }
    Ok(out)
}
