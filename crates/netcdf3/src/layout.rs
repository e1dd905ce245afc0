//! Where the elements of variables lie.
//!
//! Spec: NetCDF Classic Format Specification, "Note on vsize", "Note on padding", "Notes on Computing File Offsets"

use crate::header::{Header, Variable, padding};
use hyperslab_core::{Error, Result};

/// Where the elements of one variable lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The length of each dimension, including the record dimension.
    pub shape: Vec<u64>,
    /// The size of an element in bytes.
    pub element: usize,
    /// The offset of the first element in the file.
    pub begin: u64,
    /// The distance between records; `None` if the elements are one block.
    pub record: Option<u64>,
    /// The size of the elements in bytes, without padding; for a record variable, that of the elements in one record.
    pub block: u64,
}

impl Layout {
    /// The offset after the last element; `None` if it is 2^64 or more.
    pub fn end(&self) -> Option<u64> {
        let last = match (self.record, self.shape.first()) {
            (Some(_), Some(0)) => return Some(self.begin),
            (Some(distance), Some(count)) => distance.checked_mul(count - 1)?,
            _ => 0,
        };
        self.begin.checked_add(last)?.checked_add(self.block)
    }

    /// Whether elements of other variables lie between the records.
    pub(crate) fn is_interleaved(&self) -> bool {
        self.record.is_some_and(|distance| distance != self.block)
    }

    /// The number of padding bytes after the elements, or after those of each record. A single record variable has
    /// none.
    pub(crate) fn padding(&self) -> u64 {
        if self.record.is_some() && !self.is_interleaved() { 0 } else { padding(self.block) }
    }
}

/// What all record variables of a file have in common.
#[derive(Clone, Debug)]
pub struct Records {
    /// The number of records.
    pub count: u64,
    /// The distance between records in bytes; `None` if it is 2^64 or more.
    pub size: Option<u64>,
}

impl Records {
    /// The records of a file of `len` bytes with this header.
    pub fn of(header: &Header, len: u64) -> Records {
        let mut variables = header.variables.iter().filter(|variable| is_record(header, variable));
        let blocks = variables.clone().map(|variable| block(header, variable));
        let single = variables.next().is_some() && variables.next().is_none();
        let size = blocks.into_iter().try_fold(0_u64, |sum, block| {
            let block = block.ok()?;
            // A single record variable has no padding between its records.
            let padding = if single { 0 } else { padding(block) };
            sum.checked_add(block)?.checked_add(padding)
        });
        let count = header.records.unwrap_or_else(|| {
            let begins = header.variables.iter().filter(|variable| is_record(header, variable));
            let begin = begins.map(|variable| variable.begin).min().unwrap_or(len);
            len.saturating_sub(begin).checked_div(size.unwrap_or(0)).unwrap_or(0)
        });
        Records { count, size }
    }

    /// Where the elements of a variable lie.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the variable refers to a dimension that does
    /// not exist, has the record dimension anywhere but first, or takes 2^64 bytes or more.
    pub fn layout(&self, header: &Header, variable: &Variable) -> Result<Layout> {
        let block = block(header, variable)?;
        let is_record = is_record(header, variable);
        let lengths = lengths(header, variable)?;
        let mut shape = Vec::with_capacity(variable.dimensions.len());
        shape.extend(lengths.map(|length| if length == 0 { self.count } else { length }));
        let record = match (is_record, self.size) {
            (false, _) => None,
            (true, Some(size)) => Some(size),
            (true, None) => return Err(Error::malformed("a record would take 2^64 bytes or more")),
        };
        let layout =
            Layout { shape, element: variable.data_type.size(), begin: variable.begin, record, block };
        match layout.end() {
            Some(_) => Ok(layout),
            None => Err(Error::malformed("its elements would end after 2^64 bytes")),
        }
    }
}

/// Whether a variable has records, which means that its first dimension is the record dimension.
pub(crate) fn is_record(header: &Header, variable: &Variable) -> bool {
    let first = variable.dimensions.first().and_then(|id| header.dimensions.get(usize::try_from(*id).ok()?));
    first.is_some_and(|dimension| dimension.length == 0)
}

/// The lengths of a variable's dimensions, 0 for the record dimension.
fn lengths<'a>(header: &'a Header, variable: &'a Variable) -> Result<impl Iterator<Item = u64> + Clone + 'a> {
    let of = |id: &u64| usize::try_from(*id).ok().and_then(|id| header.dimensions.get(id));
    if let Some(id) = variable.dimensions.iter().find(|id| of(id).is_none()) {
        let count = header.dimensions.len();
        return Err(Error::malformed(format!("dimension {id} of {count} dimensions")));
    }
    Ok(variable.dimensions.iter().filter_map(of).map(|dimension| dimension.length))
}

/// The size in bytes of the elements of a variable, or of those in one record.
pub(crate) fn block(header: &Header, variable: &Variable) -> Result<u64> {
    let mut inner = lengths(header, variable)?.skip(usize::from(is_record(header, variable)));
    if inner.clone().any(|length| length == 0) {
        return Err(Error::malformed("records along another than the first dimension"));
    }
    let bytes = inner.clone().try_fold(variable.data_type.size() as u64, u64::checked_mul);
    bytes.ok_or_else(|| {
        let inner: Vec<u64> = inner.by_ref().collect();
        Error::malformed(format!("{inner:?} elements take 2^64 bytes or more"))
    })
}
