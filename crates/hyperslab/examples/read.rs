//! Reads a part of an array and tells its mean: `cargo run -p hyperslab --example read`.

use hyperslab::select::{Pick, Select};
use hyperslab::{File, Result};

/// Runs the example.
///
/// # Errors
/// What reading says.
pub(crate) fn main() -> Result<()> {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ocean.nc"))?;
    let salinity = file.array("/salinity")?;
    println!("{} {} {:?}", salinity.path(), salinity.datatype(), salinity.shape());

    // The uppermost layer, newest time first.
    let select = Select::all().dim("time", Pick::range(None, None, -1)).dim("depth", 0);
    let shape = salinity.selected_shape(&select)?;
    let values = salinity.read::<f32>(&select)?;
    let present: Vec<f32> = values.into_iter().filter(|value| value.is_finite()).collect();
    let mean = present.iter().sum::<f32>() / present.len() as f32;
    println!("{shape:?}: mean {mean}");
    Ok(())
}
