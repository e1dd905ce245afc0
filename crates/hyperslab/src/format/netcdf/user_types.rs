//! User-defined types. In NetCDF each has a name, and variables can only use types of their own group or of groups
//! above.

use super::name::with_end;
use super::record::Names;
use hyperslab_model::{Datatype, ElementStorage, NodePath};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The user-defined types of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::format) struct UserTypes {
    known: Vec<UserType>,
    /// The names of the members of the root group.
    taken: FxHashSet<String>,
}

/// A user-defined type.
#[derive(Clone, Debug)]
pub(in crate::format) struct UserType {
    /// Its path in the file.
    pub(in crate::format) path: NodePath,
    pub(in crate::format) datatype: Arc<Datatype>,
    pub(in crate::format) storage: ElementStorage,
    /// The original names of members of compounds and enumerations.
    pub(in crate::format) fields: Names,
    /// Whether it was created because the source does not have it.
    pub(in crate::format) is_made: bool,
}

impl UserTypes {
    /// Notes the names of the members of the root group, which created types must not take.
    pub(in crate::format) fn take_names<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.taken.extend(names.map(str::to_owned));
    }

    /// Adds a type of the source.
    pub(in crate::format) fn declare(
        &mut self,
        path: NodePath,
        datatype: Arc<Datatype>,
        storage: ElementStorage,
        fields: Names,
    ) {
        self.known.push(UserType { path, datatype, storage, fields, is_made: false });
    }

    /// The path of a type that objects of `group` can use, and whether it was created for this purpose. A created type
    /// has a name derived from `hint`.
    pub(in crate::format) fn path_of(
        &mut self,
        (datatype, storage, fields): (&Datatype, &ElementStorage, &Names),
        group: &NodePath,
        hint: &str,
    ) -> (NodePath, bool) {
        let is_this = |known: &&UserType| {
            *known.datatype == *datatype
                && known.storage == *storage
                && known.fields == *fields
                && is_in_scope(&known.path, group)
        };
        if let Some(known) = self.known.iter().find(is_this) {
            return (known.path.clone(), known.is_made);
        }
        let mut name = with_end(hint, "_t");
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = with_end(hint, &format!("_t{number}"));
        }
        let path = NodePath::root().child(&name);
        let datatype = Arc::new(datatype.clone());
        let (storage, fields) = (storage.clone(), fields.clone());
        self.known.push(UserType { path: path.clone(), datatype, storage, fields, is_made: true });
        (path, true)
    }

    /// The created types, each after the types that it contains.
    pub(in crate::format) fn made(&self) -> impl Iterator<Item = &UserType> {
        self.known.iter().filter(|known| known.is_made)
    }

    /// The number of types.
    pub(in crate::format) fn len(&self) -> usize {
        self.known.len()
    }

    /// The types starting at this number.
    pub(in crate::format) fn since(&self, number: usize) -> &[UserType] {
        self.known.get(number..).unwrap_or_default()
    }
}

/// Whether an object of `group` can refer to the object at `path`, which requires that it is in this group or a group
/// above.
pub(in crate::format) fn is_in_scope(path: &NodePath, group: &NodePath) -> bool {
    path.parent().is_none_or(|parent| group.is_within(&parent))
}
