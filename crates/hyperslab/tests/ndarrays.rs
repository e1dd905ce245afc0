//! Reading into arrays of the crate `ndarray` and writing such arrays.

use crate::path;
use hyperslab::select::Select;
use hyperslab::{File, StoreBuilder};
use ndarray::{Array2, Array4, ArrayD, Axis, Slice, arr0, arr2};

#[test]
fn reads_the_same_elements_to_views_of_any_layout_and_to_vectors() {
    let array = File::open(path("ocean.nc")).unwrap().array("/salinity").unwrap();
    let flat = array.read::<f32>(&Select::all()).unwrap();
    let whole: ArrayD<f32> = array.read_ndarray(&Select::all()).unwrap();
    assert_eq!(whole.shape(), [9, 5, 3, 8]);
    let same = |values: Vec<f32>| values.iter().zip(&flat).all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same(whole.iter().copied().collect()));

    let mut standard = Array4::<f32>::zeros([9, 5, 3, 8]);
    array.read_into_ndarray(&Select::all(), standard.view_mut()).unwrap();
    assert!(same(standard.iter().copied().collect()));
    // Every second element of a larger array, with reversed dimensions.
    let mut large = Array4::<f32>::from_elem([16, 3, 5, 9], -1.0);
    let (even, odd) = (Slice::new(0, None, 2), Slice::new(1, None, 2));
    let view = large.slice_axis_mut(Axis(0), even).reversed_axes();
    array.read_into_ndarray(&Select::all(), view).unwrap();
    assert!(same(large.slice_axis(Axis(0), even).reversed_axes().iter().copied().collect()));
    assert!(large.slice_axis(Axis(0), odd).iter().all(|gap| gap.to_bits() == (-1.0_f32).to_bits()));

    let one = Select::all().dim("time", 0).dim("depth", 0);
    assert_eq!(array.read_ndarray::<f32>(&one).unwrap().shape(), [3, 8]);
    let wrong = array.read_into_ndarray(&one, Array2::<f32>::zeros([8, 3]).view_mut()).unwrap_err();
    assert!(wrong.to_string().contains("a view of shape [8, 3], expected [3, 8]"), "{wrong}");
    let wrong = array.read_ndarray::<f64>(&one).unwrap_err();
    assert!(wrong.to_string().contains("elements of type float32, read as float64"), "{wrong}");
}

#[test]
fn writes_stores_from_views() {
    let mut store = StoreBuilder::new();
    store.dimension("/y", 2).unwrap();
    store.dimension("/x", 3).unwrap();
    let numbers = arr2(&[[1_i16, 2], [3, 4], [5, 6]]);
    store.ndarray("/t", &["/y", "/x"], numbers.t()).unwrap();
    store.ndarray_without_names("/u", numbers.slice_axis(Axis(0), Slice::from(1..))).unwrap();
    store.ndarray_without_names("/scalar", arr0(7_u8).view()).unwrap();
    let wrong = store.ndarray("/v", &["/y", "/x"], numbers.view()).unwrap_err();
    assert_eq!(wrong.to_string(), "/v: a view of shape [3, 2], expected [2, 3]");

    let file = File::from(store.build());
    let read = |path: &str| file.array(path).unwrap().read_ndarray::<i16>(&Select::all()).unwrap();
    assert_eq!(read("/t"), numbers.t().into_dyn());
    assert_eq!(read("/u"), arr2(&[[3_i16, 4], [5, 6]]).into_dyn());
    let scalar = file.array("/scalar").unwrap().read_ndarray::<u8>(&Select::all()).unwrap();
    assert_eq!(scalar, arr0(7_u8).into_dyn());
}
