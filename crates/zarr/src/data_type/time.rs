//! The unit of `numpy.datetime64` and `numpy.timedelta64`.
//!
//! Spec: zarr-extensions/data-types/numpy.datetime64

use crate::json::{Json, Object, Spot};
use hyperslab_core::Result;

/// The unit of one count: `scale` times `name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    name: &'static str,
    scale: u32,
}

impl TimeUnit {
    /// A unit by its name in NumPy, such as `ms`. `None` if NumPy has no unit with this name or `scale` is not from 1
    /// to 2^31 - 1.
    pub fn new(name: &str, scale: u32) -> Option<TimeUnit> {
        let name = if name == "μs" { "us" } else { name };
        let name = UNITS.iter().find(|unit| **unit == name)?;
        (1..=MAX_SCALE).contains(&scale).then_some(TimeUnit { name, scale })
    }

    /// NumPy's name of the unit; `generic` if it has none.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The number of units in one count.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    pub(super) fn parse(configuration: &Object, at: &Spot<'_>) -> Result<TimeUnit> {
        let here = at.name("unit");
        let name = configuration.required("unit", at)?.text(&here)?;
        let there = at.name("scale_factor");
        let scale = configuration.required("scale_factor", at)?.unsigned(&there)?;
        if TimeUnit::new(name, 1).is_none() {
            return Err(here.malformed(format!("{name:?}, expected a unit of NumPy")));
        }
        u32::try_from(scale)
            .ok()
            .and_then(|scale| TimeUnit::new(name, scale))
            .ok_or_else(|| there.malformed(format!("{scale}, expected 1 to {MAX_SCALE}")))
    }

    pub(super) fn emit(&self) -> Vec<(String, Json)> {
        vec![("unit".to_owned(), self.name.into()), ("scale_factor".to_owned(), u64::from(self.scale).into())]
    }

    /// The text in brackets after `M8`, empty for a generic unit.
    pub(super) fn parse_dtype(text: &str) -> Option<TimeUnit> {
        if text.is_empty() {
            return TimeUnit::new("generic", 1);
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        let (scale, name) = inner.split_at_checked(digits)?;
        TimeUnit::new(name, if scale.is_empty() { 1 } else { scale.parse().ok()? })
    }

    pub(super) fn emit_dtype(&self) -> String {
        match (self.name, self.scale) {
            ("generic", 1) => String::new(),
            (name, 1) => format!("[{name}]"),
            (name, scale) => format!("[{scale}{name}]"),
        }
    }
}

const UNITS: [&str; 14] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];

const MAX_SCALE: u32 = 0x7fff_ffff;
