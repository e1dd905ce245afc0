//! Types of variables.
//!
//! Until 1.8, a list of types is "all acceptable", and all integers are signed; since 1.9, data variables "must be" of
//! one of the types. No version lists other types that coordinates could have.
//!
//! Spec: CF 1.13, 2.2 Data Types; CF 1.6 to 1.9

use super::{Found, Scope};
use crate::dataset::{Role, Variable};
use hyperslab_model::{Datatype, Float, Text};

pub(in crate::rules) fn datatypes(scope: &Scope<'_>, found: &mut Found) {
    let expected = match (scope.is_since(8), scope.is_since(9)) {
        (_, true) => "string, char, an integer of 8, 16, 32 or 64 bits, float or double",
        (true, _) => "string, char, byte, short, int, float or double",
        _ => "char, byte, short, int, float or double",
    };
    for variable in scope.variables().filter(|variable| !is_container(variable)) {
        let Some(datatype) = &variable.datatype else { continue };
        let own = variable.type_name();
        match since(datatype) {
            Some(minor) if scope.is_since(minor) => {}
            Some(minor) => {
                let message =
                    format!("a variable of {own}, which came with CF-1.{minor}, expected {expected}");
                let hint = format!("store it as another type, or follow CF-1.{minor} or later");
                found.add(&variable.path, message, hint);
            }
            None => {
                let message = format!("a variable of {own}, expected {expected}");
                found.add(
                    &variable.path,
                    message,
                    "store it as numbers or strings, in several variables if need be",
                );
            }
        }
    }
}

/// The first minor version that has a type.
fn since(datatype: &Datatype) -> Option<u16> {
    match datatype {
        Datatype::Int { bits: 8 | 16 | 32, signed: true }
        | Datatype::Float(Float::Single | Float::Double) => Some(6),
        Datatype::String(Text::Fixed { len: 1, .. }) => Some(6),
        Datatype::String(_) => Some(8),
        // Points in time of Zarr and TileDB are stored as integers, and have no other type in NetCDF.
        Datatype::Int { bits: 8 | 16 | 32 | 64, .. } | Datatype::Datetime(_) => Some(9),
        _ => None,
    }
}

/// Whether a variable only holds attributes, or belongs to a mesh. Such variables may have any type.
fn is_container(variable: &Variable) -> bool {
    let containers = [
        Role::GridMapping,
        Role::Geometry,
        Role::Domain,
        Role::Interpolation,
        Role::Quantization,
        Role::Mesh,
    ];
    containers.iter().any(|role| variable.is(*role))
}
