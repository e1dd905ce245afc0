//! Reading files through the typed interface.

use crate::path;
use hyperslab::select::{Pick, Select};
use hyperslab::{Array, ErrorKind, File, Utf8};

fn array(file: &str, at: &str) -> Array {
    File::open(path(file)).unwrap().array(at).unwrap()
}

#[test]
fn selections_read_the_same_elements_as_numpy() {
    let array = array("ocean.nc", "/salinity");
    let shape: Vec<usize> = array.shape().iter().map(|n| usize::try_from(*n).unwrap()).collect();
    let whole = array.read::<f32>(&Select::all()).unwrap();
    let at = |index: [usize; 4]| {
        whole[((index[0] * shape[1] + index[1]) * shape[2] + index[2]) * shape[3] + index[3]]
    };
    let (lat, lon) = (shape[2], shape[3]);

    // Descending ranges with different steps in the outermost, a middle and the innermost dimension.
    let select = Select::all().next(Pick::range(None, None, -4)).next(1).rest().next(Pick::range(
        Some(-2),
        Some(0),
        -3,
    ));
    let mut expected = Vec::new();
    for t in (0..shape[0]).rev().step_by(4) {
        for y in 0..lat {
            for x in (1..lon - 1).rev().step_by(3) {
                expected.push(at([t, 1, y, x]));
            }
        }
    }
    assert_eq!(bits(&array.read::<f32>(&select).unwrap()), bits(&expected));
    let counts = array.selected_shape(&select).unwrap();
    assert_eq!(counts, [shape[0].div_ceil(4) as u64, lat as u64, (lon - 2).div_ceil(3) as u64]);

    // Lists select the outer product. A mask of one dimension selects like a list.
    let mask: Vec<bool> = (0..lon).map(|x| x % 3 == 1).collect();
    let select = Select::all().dim("time", [5, 0, 5]).dim("depth", 0).dim("lat", -1).dim("lon", mask);
    let expected: Vec<f32> =
        [5, 0, 5].iter().flat_map(|t| (1..lon).step_by(3).map(|x| at([*t, 0, lat - 1, x]))).collect();
    assert_eq!(bits(&array.read::<f32>(&select).unwrap()), bits(&expected));

    // Points and masks of the whole array select single elements.
    let points = Select::points(4, [1, 2, 0, 3, -1, -1, -1, -1, 1, 2, 0, 3]);
    let last = at([shape[0] - 1, shape[1] - 1, lat - 1, lon - 1]);
    let expected = [at([1, 2, 0, 3]), last, at([1, 2, 0, 3])];
    assert_eq!(bits(&array.read::<f32>(&points).unwrap()), bits(&expected));
    let mask: Vec<bool> = (0..whole.len()).map(|n| n % 7 == 3).collect();
    let expected: Vec<f32> = whole.iter().skip(3).step_by(7).copied().collect();
    let found = array.read::<f32>(&Select::mask(array.shape(), mask)).unwrap();
    assert_eq!(bits(&found), bits(&expected));

    // Reading into the caller's memory gives the same elements.
    let select = Select::all().dim("lon", Pick::range(None, None, -1)).dim("time", 0);
    let mut out =
        vec![0_f32; usize::try_from(array.selected_shape(&select).unwrap().iter().product::<u64>()).unwrap()];
    array.read_into(&select, &mut out).unwrap();
    assert_eq!(bits(&out), bits(&array.read::<f32>(&select).unwrap()));
    let short = array.read_into(&select, &mut out[1..]).unwrap_err();
    assert!(short.to_string().contains("/salinity: memory of "), "{short}");
}

/// The bits of numbers. Missing values are NaN, which is not equal to itself.
fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

#[test]
fn another_type_is_an_error_that_names_both_types_unless_a_cast_is_requested() {
    let array = array("ocean.nc", "/salinity");
    let error = array.read::<f64>(&Select::all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let text = error.to_string();
    assert!(text.contains("elements of type float32, read as float64"), "{text}");
    let (exact, cast) =
        (array.read::<f32>(&Select::all()).unwrap(), array.cast::<f64>(&Select::all()).unwrap());
    assert!(exact.iter().zip(&cast).all(|(a, b)| f64::from(*a).to_bits() == b.to_bits() || a.is_nan()));
    let refused = array.cast::<u8>(&Select::all()).unwrap_err().to_string();
    assert!(refused.contains("(float32), which uint8 does not hold"), "{refused}");
}

#[test]
fn rejects_invalid_selections_with_the_reason() {
    let array = array("ocean.nc", "/salinity");
    for (select, part) in [
        (Select::all().next(9), "position 9 is out of range, expected -9 to 8"),
        (Select::all().next(Pick::range(None, None, 0)), "a step of 0"),
        (Select::all().next(vec![true; 3]), "a mask of 3 positions, it has 9"),
        (Select::points(2, [0, 0]), "the array has 4 dimensions"),
        (Select::points(4, [0, 0, 0, 8]), "position 8 is out of range"),
        (Select::mask([2, 2], [true; 4]), "a mask of [2, 2]"),
        (Select::all().dim("tiem", 0), "did you mean time=0?"),
    ] {
        let error = array.read::<f32>(&select).unwrap_err().to_string();
        assert!(error.contains(part), "{select}: {error}");
    }
}

#[test]
fn groups_arrays_attributes_and_texts_are_found_by_name() {
    let file = File::open(path("ocean.nc")).unwrap();
    let names: Vec<_> = file.root().unwrap().arrays().unwrap().into_iter().map(|a| a.unwrap()).collect();
    assert!(names.iter().any(|array| array.path().as_str() == "/salinity"));
    assert_eq!(file.array("/salinity").unwrap().dimensions()[0], Some("time"));
    assert_eq!(file.array("/nothing").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(file.array("/").unwrap_err().to_string(), "/: is a group, expected an array");
    assert_eq!(File::open("no such file").unwrap_err().kind(), ErrorKind::FileNotFound);
    let texts = array("strings.nc", "/string").strings(&Select::all().next([3, 1]), Utf8::Strict).unwrap();
    assert_eq!(texts.iter().collect::<Vec<_>>(), ["line\nbreak", "~"]);
}
