//! Keys of `[...]` as selections.

use hyperslab::select::{Pick, Select};
use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyString, PyTuple};

/// The meaning of a key.
pub(crate) struct Key {
    pub(crate) select: Select,
    /// For each dimension of the result, whether it is new. `None` if there are no new ones.
    new: Option<Vec<bool>>,
    /// Whether the result stays an array if it has no dimensions.
    pub(crate) has_ellipsis: bool,
    /// The requested members of compounds.
    pub(crate) fields: Vec<String>,
}

impl Key {
    /// Interprets a key for an array of this shape.
    pub(crate) fn parse(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Key> {
        let items: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => vec![key.clone()],
        };
        let is_new = |item: &Bound<'_, PyAny>| item.is_none();
        let (fields, items): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| item.is_instance_of::<PyString>());
        let fields = fields.iter().map(|name| name.extract()).collect::<PyResult<_>>()?;
        if let [mask] = items.as_slice()
            && let Some(select) = whole_mask(mask, shape)?
        {
            return Ok(Key { select, new: None, has_ellipsis: false, fields });
        }
        let is_between = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let along = items.iter().filter(|item| !is_new(item) && !is_between(item)).count();
        let Some(between) = shape.len().checked_sub(along) else {
            let rank = shape.len();
            return Err(PyIndexError::new_err(format!("too many indices: {along}, expected at most {rank}")));
        };
        if items.iter().filter(|item| is_between(item)).count() > 1 {
            return Err(PyIndexError::new_err("an index can only have a single ellipsis ('...')"));
        }
        let (mut select, mut new, mut at) = (Select::all(), Vec::new(), 0_usize);
        let has_new = items.iter().any(is_new);
        let has_ellipsis = items.iter().any(is_between);
        for item in &items {
            if is_new(item) {
                new.push(true);
                continue;
            }
            if is_between(item) {
                select = select.rest();
                new.extend(vec![false; between]);
                at += between;
                continue;
            }
            let extent = shape.get(at).copied().unwrap_or_default();
            let (pick, is_kept) = pick(item, at, extent)?;
            select = select.next(pick);
            new.extend(is_kept.then_some(false));
            at += 1;
        }
        new.extend(vec![false; shape.len().saturating_sub(at)]);
        Ok(Key { select, new: has_new.then_some(new), has_ellipsis, fields })
    }

    /// The shape of the result, including new dimensions.
    pub(crate) fn shape(&self, selected: Vec<u64>) -> Vec<u64> {
        let Some(new) = &self.new else { return selected };
        let mut selected = selected.into_iter();
        let own = new.iter().map(|is_new| if *is_new { Some(1) } else { selected.next() });
        let mut shape: Vec<u64> = own.flatten().collect();
        shape.extend(selected);
        shape
    }
}

/// The positions of a tuple of integers, one for each dimension; `None` for other keys.
pub(crate) fn position(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Option<Vec<u64>>> {
    let one = |item: &Bound<'_, PyAny>, extent: u64, at: usize| -> PyResult<Option<u64>> {
        if item.is_exact_instance_of::<pyo3::types::PyInt>() {
            return item
                .extract()
                .map_err(|_| outside(item, extent, at))
                .and_then(|index| within(index, extent, at))
                .map(Some);
        }
        Ok(None)
    };
    if let Ok(tuple) = key.cast::<PyTuple>() {
        if tuple.len() != shape.len() {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(shape.len());
        for (at, (item, extent)) in tuple.iter().zip(shape).enumerate() {
            match one(&item, *extent, at)? {
                Some(index) => all.push(index),
                None => return Ok(None),
            }
        }
        return Ok(Some(all));
    }
    match shape {
        [extent] => Ok(one(key, *extent, 0)?.map(|index| vec![index])),
        _ => Ok(None),
    }
}

/// The selection for a mask with the shape of the array; `None` for other keys.
fn whole_mask(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Option<Select>> {
    let Ok(mask) = key.extract::<PyReadonlyArrayDyn<'_, bool>>() else { return Ok(None) };
    let mask = mask.as_array();
    if mask.ndim() < 2 {
        return Ok(None);
    }
    let own: Vec<u64> = mask.shape().iter().map(|extent| *extent as u64).collect();
    if own != shape {
        return Err(PyIndexError::new_err(format!("a mask of shape {own:?}, expected {shape:?}")));
    }
    Ok(Some(Select::mask(own, mask.iter().copied().collect::<Vec<_>>())))
}

/// The positions along a dimension, and whether the result keeps the dimension.
fn pick(item: &Bound<'_, PyAny>, at: usize, extent: u64) -> PyResult<(Pick, bool)> {
    let py = item.py();
    if let Ok(slice) = item.cast::<PySlice>() {
        let bound = |name| -> PyResult<Option<i64>> {
            let value = slice.getattr(name)?;
            if value.is_none() {
                return Ok(None);
            }
            if !value.hasattr(intern!(py, "__index__"))? {
                let kind = value.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "slice indices must be integers or None, not {kind}"
                )));
            }
            // Bounds beyond 64 bits are clipped to the ends.
            let number = value.call_method0(intern!(py, "__index__"))?;
            let clipped = || match number.lt(0) {
                Ok(true) => i64::MIN,
                _ => i64::MAX,
            };
            Ok(Some(number.extract().unwrap_or_else(|_| clipped())))
        };
        let step = bound(intern!(py, "step"))?.unwrap_or(1);
        if step == 0 {
            return Err(pyo3::exceptions::PyValueError::new_err("slice step cannot be zero"));
        }
        return Ok((Pick::range(bound(intern!(py, "start"))?, bound(intern!(py, "stop"))?, step), true));
    }
    if !item.is_instance_of::<PyBool>() && item.hasattr(intern!(py, "__index__"))? && !is_array(item)? {
        let number = item.call_method0(intern!(py, "__index__"))?;
        let index = number.extract().map_err(|_| outside(item, extent, at))?;
        return Ok((Pick::Position(i64::try_from(within(index, extent, at)?).unwrap_or(i64::MAX)), false));
    }
    let array = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (item,))?;
    if let Ok(mask) = array.extract::<PyReadonlyArrayDyn<'_, bool>>()
        && mask.as_array().ndim() == 1
    {
        let mask: Vec<bool> = mask.as_array().iter().copied().collect();
        if mask.len() as u64 != extent {
            let len = mask.len();
            return Err(PyIndexError::new_err(format!(
                "a mask of length {len} for dimension {at}, expected length {extent}"
            )));
        }
        return Ok((Pick::Mask(mask), true));
    }
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty = array.getattr("size")?.extract::<usize>()? == 0;
    if !matches!(kind.as_str(), "i" | "u") && !is_empty {
        return Err(PyIndexError::new_err(format!(
            "{} is not an index, expected an integer, a slice, ..., None, or a one-dimensional list or mask",
            item.repr()?
        )));
    }
    let numbers = array.call_method1("astype", ("i8",))?;
    let list = numbers.extract::<PyReadonlyArrayDyn<'_, i64>>()?;
    match list.as_array().ndim() {
        0 => {
            let index = list.as_array().iter().copied().next().unwrap_or_default();
            Ok((Pick::Position(i64::try_from(within(index, extent, at)?).unwrap_or(i64::MAX)), false))
        }
        1 => {
            let list: Vec<i64> = list.as_array().iter().copied().collect();
            list.iter().try_for_each(|index| within(*index, extent, at).map(drop))?;
            Ok((Pick::List(list), true))
        }
        rank => Err(PyIndexError::new_err(format!(
            "a list with {rank} dimensions, expected one dimension; see vindex"
        ))),
    }
}

fn is_array(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = item.py();
    let of = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "ndarray"))?;
    item.is_instance(&of)
}

fn within(index: i64, extent: u64, at: usize) -> PyResult<u64> {
    let from_start = if index < 0 { i128::from(index) + i128::from(extent) } else { i128::from(index) };
    u64::try_from(from_start).ok().filter(|found| *found < extent).ok_or_else(|| {
        PyIndexError::new_err(format!("index {index} is out of bounds for dimension {at} with size {extent}"))
    })
}

fn outside(item: &Bound<'_, PyAny>, extent: u64, at: usize) -> PyErr {
    PyIndexError::new_err(format!("index {item} is out of bounds for dimension {at} with size {extent}"))
}
