//! Checks whether an attribute is a record and fits its node.

use super::{RECORD, Record, malformed};
use hyperslab_core::Result;
use hyperslab_model::NodeKind;
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::name::NAME;

/// The kinds of nodes whose records may have a member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Arrays,
    Groups,
}

/// All members of records.
const MEMBERS: [(&str, Of); 23] = [
    (NAME, Of::All),
    ("type", Of::Arrays),
    ("named", Of::Arrays),
    ("shape", Of::Arrays),
    ("extents", Of::Arrays),
    ("maximum", Of::Arrays),
    ("dimensions", Of::Arrays),
    ("dimension", Of::Arrays),
    ("kind", Of::Arrays),
    ("domain", Of::Arrays),
    ("fill", Of::Arrays),
    ("missing", Of::Arrays),
    ("tile", Of::Arrays),
    ("padded", Of::Arrays),
    ("attributes", Of::All),
    ("attribute_order", Of::All),
    ("characters", Of::All),
    ("storage", Of::All),
    ("native", Of::All),
    ("datatypes", Of::Groups),
    ("dimcoords", Of::Groups),
    ("links", Of::Groups),
    ("member_order", Of::Groups),
];

/// Whether the attribute used by earlier releases is a record: it has a member that only records have. Other programs
/// may use the same name.
pub(in crate::format) fn is_record(object: &Object) -> bool {
    object.iter().any(|(name, _)| of(name).is_some())
}

/// Rejects unknown members, members of other kinds of nodes, and values of the wrong form.
pub(super) fn check_members(object: &Object, is_array: bool) -> Result<()> {
    for (name, json) in object.iter() {
        let (expected, is_it) = match (name, json) {
            (NAME, Json::String(name)) => ("a name that an object can have", is_name(name)),
            (NAME | "named", json) => ("a string", json.as_str().is_some()),
            ("missing" | "padded", json) => ("true", *json == Json::Bool(true)),
            ("shape", json) => ("null", *json == Json::Null),
            ("kind", json) => ("dimcoord or ndarray", matches!(json.as_str(), Some("dimcoord" | "ndarray"))),
            (
                "extents" | "maximum" | "dimensions" | "dimension" | "domain" | "attribute_order"
                | "characters" | "member_order",
                json,
            ) => ("an array", matches!(json, Json::Array(_))),
            ("type" | "tile" | "fill", _) => ("a value", true),
            (_, json) => ("an object", json.as_object().is_some()),
        };
        let known = of(name).ok_or_else(|| malformed(format!("member {name:?}, which no record has")))?;
        match (known, is_array) {
            (Of::Arrays, false) => {
                return Err(malformed(format!("member {name:?} of a group, which only arrays have")));
            }
            (Of::Groups, true) => {
                return Err(malformed(format!("member {name:?} of an array, which only groups have")));
            }
            _ if !is_it => {
                let found = match json {
                    Json::String(text) if text.len() <= MAX_SHOWN => format!("{text:?}"),
                    other => other.kind().to_owned(),
                };
                return Err(malformed(format!("member {name:?}: {found}, expected {expected}")));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Record {
    /// Rejects values that are impossible for an array with these extents.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed); the message names the member.
    pub(in crate::format) fn check_extents(&self, extents: &[u64]) -> Result<()> {
        let refused = |detail: String| Err(malformed(format!("{RECORD}: {detail}")));
        if self.is_null && *extents != [0] {
            return refused(format!("member \"shape\": null, but the array has the shape {extents:?}"));
        }
        let maximum = Some(self.maximum.len()).filter(|len| *len > 0);
        for (name, len) in [("maximum", maximum), ("dimensions", self.dimensions.as_ref().map(Vec::len))] {
            if let Some(len) = len.filter(|len| *len != extents.len()) {
                let rank = extents.len();
                return refused(format!("member {name:?}: {len} items, but the array has {rank} dimensions"));
            }
        }
        for (maximum, extent) in self.maximum.iter().zip(extents) {
            if let Some(maximum) = maximum.filter(|maximum| maximum < extent) {
                return refused(format!(
                    "member \"maximum\": {maximum}, but the array has the shape {extents:?}"
                ));
            }
        }
        if self.kind == Some(NodeKind::DimCoord) && extents.len() != 1 {
            return refused(format!(
                "member \"kind\": \"dimcoord\", but the array has {} dimensions",
                extents.len()
            ));
        }
        Ok(())
    }
}

fn of(member: &str) -> Option<Of> {
    MEMBERS.iter().find(|(name, _)| *name == member).map(|(_, of)| *of)
}

/// Whether an object can have this name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('/')
}

/// The maximum length of a member's text in an error message.
const MAX_SHOWN: usize = 64;
