//! `pcodec`.
//!
//! Spec: numcodecs

use super::{Members, Passing};
use crate::json::{Json, Object, Spot};
use hyperslab_codec::{Codec, Pcodec, PcodecDelta, PcodecMode, PcodecSettings};
use hyperslab_core::Result;

pub(super) const MEMBERS: &[&str] =
    &["level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"];

pub(super) fn read(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let number = |name: &str| match parameters.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(json) => json.unsigned(&at.name(name)).map(Some),
    };
    let small = |name: &str| -> Result<Option<u8>> {
        Ok(number(name)?.map(|number| u8::try_from(number).unwrap_or(u8::MAX)))
    };
    let word = |name: &str, default: &'static str| match parameters.get(name) {
        None | Some(Json::Null) => Ok(default.to_owned()),
        Some(json) => json.text(&at.name(name)).map(str::to_owned),
    };
    let mode = match word("mode_spec", "auto")?.as_str() {
        "auto" => PcodecMode::Auto,
        "classic" => PcodecMode::Classic,
        other => {
            return Err(at.name("mode_spec").unsupported(format!("{other:?}, expected auto or classic")));
        }
    };
    let delta = match (word("delta_spec", "auto")?.as_str(), small("delta_encoding_order")?) {
        // Before `delta_spec` existed, `delta_encoding_order` alone selected differences.
        ("auto" | "try_consecutive", Some(order)) => PcodecDelta::Consecutive(order),
        ("auto", None) => PcodecDelta::Auto,
        ("none", None) => PcodecDelta::None,
        ("try_lookback", None) => PcodecDelta::Lookback,
        (other, _) => return Err(at.name("delta_spec").unsupported(format!("{other:?} with this order"))),
    };
    let paging = word("paging_spec", PAGING)?;
    if paging != PAGING {
        return Err(at.name("paging_spec").unsupported(format!("{paging:?}, expected {PAGING}")));
    }
    let default = PcodecSettings::default();
    let page =
        number("equal_pages_up_to")?.map_or(default.page, |page| u32::try_from(page).unwrap_or(u32::MAX));
    let settings = PcodecSettings { level: small("level")?.unwrap_or(default.level), mode, delta, page };
    let number = passing.number.ok_or_else(|| at.unsupported("pcodec of a data type that is not numeric"))?;
    Pcodec::new(number, settings).map(Codec::from).map_err(|e| at.unsupported(e.detail()))
}

pub(super) fn write(codec: &Codec) -> Option<Members> {
    let Codec::Pcodec(pcodec) = codec else { return None };
    let PcodecSettings { level, mode, delta, page } = pcodec.settings();
    let mode = match mode {
        PcodecMode::Auto => "auto",
        PcodecMode::Classic => "classic",
    };
    let (delta, order) = match delta {
        PcodecDelta::Auto => ("auto", Json::Null),
        PcodecDelta::None => ("none", Json::Null),
        PcodecDelta::Consecutive(order) => ("try_consecutive", u64::from(order).into()),
        PcodecDelta::Lookback => ("try_lookback", Json::Null),
    };
    Some(vec![
        ("level", u64::from(level).into()),
        ("mode_spec", mode.into()),
        ("delta_spec", delta.into()),
        ("paging_spec", PAGING.into()),
        ("delta_encoding_order", order),
        ("equal_pages_up_to", u64::from(page).into()),
    ])
}

const PAGING: &str = "equal_pages_up_to";
