//! `zfpy`: zfp streams with a header, for numbers of four types.
//!
//! Spec: numcodecs

use super::{Members, Passing};
use crate::json::{Json, Number, Object, Spot};
use hyperslab_codec::{Codec, NumberKind, ZfpMode, ZfpNumber, ZfpStream};
use hyperslab_core::Result;

pub(super) const MEMBERS: &[&str] = &["mode", "tolerance", "rate", "precision"];

pub(super) fn read(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let number = match passing.number.map(|number| number.kind) {
        Some(NumberKind::Signed { bytes: 4 }) => ZfpNumber::Int32,
        Some(NumberKind::Signed { bytes: 8 }) => ZfpNumber::Int64,
        Some(NumberKind::Float32) => ZfpNumber::Float32,
        Some(NumberKind::Float64) => ZfpNumber::Float64,
        _ => return Err(at.malformed("zfp of a data type other than int32, int64, float32 and float64")),
    };
    let real = |name: &str| match parameters.get(name) {
        Some(Json::Number(number)) => Some(number.as_f64()).filter(|number| *number >= 0.0),
        _ => None,
    };
    let mode = parameters.get("mode").map_or(Ok(FIXED_ACCURACY), |json| json.unsigned(&at.name("mode")))?;
    // An absent or negative parameter selects the reversible mode.
    let mode = match mode {
        FIXED_RATE => real("rate").map(ZfpMode::Rate),
        FIXED_PRECISION => {
            let json = parameters.get("precision").filter(|_| real("precision").is_some());
            let bits = json.map(|json| json.unsigned(&at.name("precision"))).transpose()?;
            bits.map(|bits| ZfpMode::Precision(u32::try_from(bits).unwrap_or(u32::MAX)))
        }
        FIXED_ACCURACY => real("tolerance").map(ZfpMode::Accuracy),
        _ => None,
    };
    let big_endian = passing.number.is_some_and(|number| number.big_endian);
    let zfp = ZfpStream::new(number, mode.unwrap_or(ZfpMode::Reversible), big_endian);
    zfp.map(Codec::from).map_err(|e| at.malformed(e.detail()))
}

pub(super) fn write(codec: &Codec) -> Option<Members> {
    let Codec::ZfpStream(zfp) = codec else { return None };
    let none = || Json::Number(Number::integer(-1));
    let (mut tolerance, mut rate, mut precision) = (none(), none(), none());
    let mode = match zfp.mode() {
        ZfpMode::Rate(bits) => {
            rate = Json::Number(Number::float(bits)?);
            FIXED_RATE
        }
        ZfpMode::Precision(bits) => {
            precision = u64::from(bits).into();
            FIXED_PRECISION
        }
        ZfpMode::Accuracy(error) => {
            tolerance = Json::Number(Number::float(error)?);
            FIXED_ACCURACY
        }
        ZfpMode::Reversible => FIXED_ACCURACY,
        ZfpMode::Expert { .. } => return None,
    };
    Some(vec![("mode", mode.into()), ("tolerance", tolerance), ("rate", rate), ("precision", precision)])
}

/// The modes of zfp, by their numbers in zfpy.
const FIXED_RATE: u64 = 2;
const FIXED_PRECISION: u64 = 3;
const FIXED_ACCURACY: u64 = 4;
