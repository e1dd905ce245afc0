//! Makes a Zarr store of values in memory, and reads it back: `cargo run -p hyperslab --example create`.

use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::publish::{Fingerprint, PublishOptions};
use hyperslab::select::Select;
use hyperslab::{File, Result, StoreBuilder, target_format_of};

/// Runs the example.
///
/// # Errors
/// What writing and reading say.
pub(crate) fn main() -> Result<()> {
    let mut store = StoreBuilder::new();
    store.group("/")?.attribute("title", "heights along a line");
    store.coordinate("/x", &[0.0_f64, 0.5, 1.0, 1.5])?.attribute("units", "m");
    store.array("/height", &["/x"], &[3_i16, 5, 4, 4])?.attribute("units", "cm").chunk(&[2]);
    store.texts("/name", &["/x"], &["a", "b", "c", "d"])?;
    let source = store.build();

    let path = std::env::temp_dir().join(format!("hyperslab-example-{}.zarr", std::process::id()));
    let mut options = ConvertOptions::new(target_format_of(&path)?);
    options.publish = PublishOptions { overwrite: true, ..PublishOptions::default() };
    let plan = plan(&*source, &options)?;
    convert(&*source, &Fingerprint::of_sources(&[], String::new())?, &path, &plan, &options)?;

    let height = File::open(&path)?.array("/height")?;
    println!("{}: {:?}", path.display(), height.read::<i16>(&Select::all())?);
    std::fs::remove_dir_all(&path)?;
    Ok(())
}
