//! Dimensions and their identifiers, which are known once all objects are planned.

use super::flavour::Flavour;
use super::lowerings::{EMPTY_GROWS, OUT_OF_SCOPE, UNNAMED};
use super::name::of_names;
use super::user_types::is_in_scope;
use crate::target::{Losses, OrderedMember};
use hyperslab_model::{Extent, NodePath};
use rustc_hash::{FxHashMap, FxHashSet};

/// The dimensions and variables of a source, in planning order. All paths are stored paths.
#[derive(Debug, Default)]
pub(in crate::format) struct Declared {
    dimensions: Vec<(NodePath, Extent)>,
    places: FxHashMap<NodePath, usize>,
    /// The identifiers of dimensions in the source, which determine their order within a group.
    order: FxHashMap<NodePath, u64>,
    /// Dimensions that move to a group above, with their new paths, and the new paths by the old ones.
    moved: Vec<(NodePath, Extent)>,
    new_paths: FxHashMap<NodePath, NodePath>,
    variables: Vec<Variable>,
}

/// A variable and the names of its dimensions in the source.
#[derive(Debug)]
struct Variable {
    /// The path in the source, used in messages, and the stored path.
    place: NodePath,
    path: NodePath,
    along: Vec<Along>,
    /// Whether it is itself the scale of its first dimension.
    is_scale: bool,
}

/// A dimension of a variable.
#[derive(Clone, Debug)]
pub(in crate::format) struct Along {
    pub(in crate::format) extent: Extent,
    /// The stored path of a dimension that it shares with other variables.
    pub(in crate::format) dimension: Option<NodePath>,
    /// Whether it counts the characters of a string.
    pub(in crate::format) is_characters: bool,
}

/// The dimensions of a file.
#[derive(Debug, Default)]
pub(in crate::format) struct Dimensions {
    /// The identifier of each dimension.
    ids: FxHashMap<NodePath, i32>,
    /// The length of each dimension that keeps its place from the source. A dimension that can grow is as long as the
    /// longest variable along it.
    extents: FxHashMap<NodePath, Extent>,
    /// The dimensions that do not exist in the source, by group.
    made: FxHashMap<NodePath, Vec<(NodePath, Extent)>>,
    /// The dimensions of each variable that has any.
    of_variables: FxHashMap<NodePath, Vec<NodePath>>,
}

impl Declared {
    /// Adds a dimension. If a path occurs more than once, only its first dimension counts.
    pub(in crate::format) fn dimension(&mut self, path: NodePath, extent: Extent) {
        if !self.places.contains_key(&path) {
            self.places.insert(path.clone(), self.dimensions.len());
            self.dimensions.push((path, extent));
        }
    }

    /// Notes dimensions of length 0: even in NetCDF-4 files, readers take them for unlimited ones.
    pub(in crate::format) fn note_empty(&self, losses: &mut dyn Losses) {
        for (path, _) in self.dimensions.iter().filter(|(_, extent)| matches!(extent, Extent::Fixed(0))) {
            losses.note(&EMPTY_GROWS, path.to_string(), None);
        }
    }

    /// Notes the dimension identifiers that the members of a group have in the source.
    pub(in crate::format) fn order(
        &mut self,
        group: &NodePath,
        members: &[OrderedMember<'_>],
        flavour: Flavour,
    ) {
        for member in members {
            if let Some(id) = member.dimension {
                self.order.insert(of_names(&group.child(member.name), flavour), id);
            }
        }
    }

    /// Adds a dimension that moves from `path` to `new`.
    pub(in crate::format) fn moved(&mut self, path: NodePath, new: NodePath, extent: Extent) {
        if !self.new_paths.contains_key(&path) {
            self.moved.push((new.clone(), extent));
            self.new_paths.insert(path, new);
        }
    }

    /// Adds a variable, unless it has no dimensions.
    pub(in crate::format) fn variable(
        &mut self,
        place: &NodePath,
        path: NodePath,
        along: Vec<Along>,
        is_scale: bool,
    ) {
        if !along.is_empty() {
            self.variables.push(Variable { place: place.clone(), path, along, is_scale });
        }
    }

    /// Finds the dimensions of all variables, creates those that the source does not name, and numbers them. If a
    /// variable differs in length from its dimension, it gets a different one. Created dimensions avoid the paths
    /// `others`, which belong to other objects. Calls `attach` for each variable to which scales are attached, with the
    /// paths of the scales.
    pub(in crate::format) fn resolve(
        self,
        others: impl IntoIterator<Item = NodePath>,
        losses: &mut dyn Losses,
        attach: &mut dyn FnMut(NodePath, &[NodePath]),
    ) -> Dimensions {
        let mut resolved = Dimensions { extents: self.extents(), ..Dimensions::default() };
        let mut others = Some(others);
        let mut taken: Option<FxHashSet<NodePath>> = None;
        for (path, extent) in &self.moved {
            let group = path.parent().unwrap_or_else(NodePath::root);
            resolved.made.entry(group).or_default().push((path.clone(), *extent));
        }
        // The created dimensions of each group that can be used in place of one another.
        let mut alike: FxHashMap<(NodePath, String), Vec<NodePath>> = FxHashMap::default();
        for variable in &self.variables {
            let group = variable.path.parent().unwrap_or_else(NodePath::root);
            let mut dimensions: Vec<NodePath> = Vec::with_capacity(variable.along.len());
            for along in &variable.along {
                if let Some(new) = along.dimension.as_ref().and_then(|of| self.new_paths.get(of)) {
                    dimensions.push(new.clone());
                    continue;
                }
                let shared = along.dimension.as_ref().and_then(|of| Some((of, resolved.extent(of)?)));
                let fits = shared.is_none_or(|(_, extent)| fits(along.extent, extent));
                if let Some((shared, _)) = shared.filter(|(of, _)| fits && is_in_scope(of, &group)) {
                    dimensions.push(shared.clone());
                    continue;
                }
                if !along.is_characters {
                    let (note, detail) = match shared {
                        Some((shared, extent)) if !fits => {
                            let detail =
                                format!("dimension {shared} of another length, {}", extent.current());
                            (&UNNAMED, Some(detail))
                        }
                        Some((shared, _)) => {
                            (&OUT_OF_SCOPE, Some(format!("dimension {shared} of another group")))
                        }
                        None => (&UNNAMED, None),
                    };
                    losses.note(note, variable.place.to_string(), detail);
                }
                let taken = taken.get_or_insert_with(|| {
                    let variables = self.variables.iter().map(|variable| variable.path.clone());
                    let moved = self.moved.iter().map(|(path, _)| path.clone());
                    let others = others.take().into_iter().flatten();
                    self.places.keys().cloned().chain(moved).chain(variables).chain(others).collect()
                });
                let alike = alike.entry((group.clone(), base_name(along))).or_default();
                // No dimension occurs twice in a variable, so that its dimensions can be distinguished.
                let path = match alike.iter().find(|path| !dimensions.contains(*path)) {
                    Some(path) => path.clone(),
                    None => {
                        let path = made_path(&group, along, taken);
                        taken.insert(path.clone());
                        alike.push(path.clone());
                        resolved.made.entry(group.clone()).or_default().push((path.clone(), along.extent));
                        path
                    }
                };
                dimensions.push(path);
            }
            if !variable.is_scale {
                attach(variable.path.clone(), &dimensions);
            }
            resolved.of_variables.insert(variable.path.clone(), dimensions);
        }
        resolved.number(&self.dimensions, &self.order);
        resolved
    }

    /// The lengths of the dimensions.
    fn extents(&self) -> FxHashMap<NodePath, Extent> {
        let mut extents: FxHashMap<NodePath, Extent> = self.dimensions.iter().cloned().collect();
        for along in self.variables.iter().flat_map(|variable| &variable.along) {
            let known = along.dimension.as_ref().and_then(|dimension| extents.get_mut(dimension));
            if let Some(known) = known.filter(|known| can_grow(**known) && !along.extent.is_fixed()) {
                *known = known.resized(known.current().max(along.extent.current()));
            }
        }
        extents
    }
}

/// Whether an array of this extent can lie along a dimension. The length of a dimension that can grow is that of its
/// longest array.
pub(in crate::format) fn fits(along: Extent, dimension: Extent) -> bool {
    along.current() == dimension.current() || can_grow(dimension) && !along.is_fixed()
}

/// Whether a dimension can grow, and may therefore be longer than an array along it.
pub(in crate::format) fn can_grow(dimension: Extent) -> bool {
    matches!(dimension, Extent::Limited { .. } | Extent::Unlimited { .. })
}

impl Dimensions {
    /// Numbers dimensions as the library does: group by group, in the order of their definition. Dimensions without a
    /// number in the source come last.
    fn number(&mut self, declared: &[(NodePath, Extent)], order: &FxHashMap<NodePath, u64>) {
        let group_of = |path: &NodePath| path.parent().unwrap_or_else(NodePath::root);
        let mut groups: Vec<NodePath> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut by_group: FxHashMap<NodePath, Vec<NodePath>> = FxHashMap::default();
        for (path, _) in declared {
            let group = group_of(path);
            if seen.insert(group.clone()) {
                groups.push(group.clone());
            }
            by_group.entry(group).or_default().push(path.clone());
        }
        for paths in by_group.values_mut() {
            paths.sort_by_key(|path| order.get(path).copied().unwrap_or(u64::MAX));
        }
        let mut only_made: Vec<_> =
            self.made.keys().filter(|group| !seen.contains(*group)).cloned().collect();
        only_made.sort_unstable();
        groups.extend(only_made);
        let mut next = 0;
        for group in groups {
            let made = self.made.get(&group).into_iter().flatten().map(|(path, _)| path);
            for path in by_group.get(&group).into_iter().flatten().chain(made) {
                self.ids.insert(path.clone(), next);
                next += 1;
            }
        }
    }

    /// The length of a dimension that keeps its place from the source.
    pub(in crate::format) fn extent(&self, path: &NodePath) -> Option<Extent> {
        self.extents.get(path).copied()
    }

    /// The identifier of a dimension.
    pub(in crate::format) fn id(&self, path: &NodePath) -> Option<i32> {
        self.ids.get(path).copied()
    }

    /// The dimensions of a group that do not exist in the source.
    pub(in crate::format) fn made_in(&self, group: &NodePath) -> &[(NodePath, Extent)] {
        self.made.get(group).map_or(&[], Vec::as_slice)
    }

    /// All dimensions that do not exist in the source.
    pub(in crate::format) fn made(&self) -> impl Iterator<Item = &(NodePath, Extent)> {
        self.made.values().flatten()
    }

    /// The identifiers of the dimensions of a variable.
    pub(in crate::format) fn ids_of(&self, variable: &NodePath) -> Vec<i32> {
        let dimensions = self.of_variables.get(variable).into_iter().flatten();
        dimensions.map(|path| self.id(path).unwrap_or(-1)).collect()
    }
}

/// A name that describes the dimension: `dim_3`, or `string7` as in xarray.
fn base_name(along: &Along) -> String {
    let length = along.extent.current();
    match (along.is_characters, along.extent.is_fixed()) {
        (true, _) => format!("string{length}"),
        (false, true) => format!("dim_{length}"),
        (false, false) => format!("unlimited_{length}"),
    }
}

fn made_path(group: &NodePath, along: &Along, taken: &FxHashSet<NodePath>) -> NodePath {
    let base = base_name(along);
    let first = group.child(&base);
    if !taken.contains(&first) {
        return first;
    }
    let numbered = (2_u64..).map(|number| group.child(&format!("{base}_{number}")));
    numbered.into_iter().find(|path| !taken.contains(path)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Lowered;

    #[derive(Default)]
    struct Noted(Vec<String>);

    impl Losses for Noted {
        fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
            self.0.push(format!("{place}: {}", detail.unwrap_or_else(|| lowered.what.to_owned())));
        }
    }

    fn path(of: &str) -> NodePath {
        NodePath::new(of).unwrap()
    }

    fn along(extent: u64, dimension: Option<&str>) -> Along {
        Along { extent: Extent::Fixed(extent), dimension: dimension.map(path), is_characters: false }
    }

    #[test]
    fn dimensions_are_numbered_by_group_and_made_where_they_are_missing() {
        let mut declared = Declared::default();
        declared.dimension(path("/x"), Extent::Fixed(4));
        declared.variable(
            &path("/a"),
            path("/a"),
            vec![along(4, Some("/x")), along(3, None), along(3, None)],
            false,
        );
        declared.variable(&path("/b"), path("/b"), vec![along(3, None)], false);
        declared.dimension(path("/g/y"), Extent::Fixed(2));
        declared.variable(
            &path("/g/c"),
            path("/g/c"),
            vec![along(4, Some("/x")), along(2, Some("/g/y"))],
            false,
        );
        declared.variable(&path("/h/d"), path("/h/d"), vec![along(2, Some("/g/y"))], false);
        let (mut noted, mut attached) = (Noted::default(), Vec::new());
        let dimensions = declared.resolve([], &mut noted, &mut |variable, along| {
            let along: Vec<_> = along.iter().map(NodePath::as_str).collect();
            attached.push(format!("{variable}({})", along.join(",")));
        });
        assert_eq!(attached, ["/a(/x,/dim_3,/dim_3_2)", "/b(/dim_3)", "/g/c(/x,/g/y)", "/h/d(/h/dim_2)"]);
        let ids = ["/x", "/dim_3", "/dim_3_2", "/g/y", "/h/dim_2"].map(|of| dimensions.id(&path(of)));
        assert_eq!(ids, [0, 1, 2, 3, 4].map(Some));
        assert_eq!(dimensions.ids_of(&path("/g/c")), [0, 3]);
        assert_eq!(
            noted.0,
            [
                "/a: dimension without a name",
                "/a: dimension without a name",
                "/b: dimension without a name",
                "/h/d: dimension /g/y of another group",
            ]
        );
    }

    #[test]
    fn made_dimensions_have_names_of_their_own() {
        let mut declared = Declared::default();
        declared.variable(&path("/a"), path("/a"), vec![along(3, None)], false);
        let mut attached = Vec::new();
        let others = [path("/dim_3"), path("/dim_3_2")];
        declared.resolve(others, &mut Noted::default(), &mut |_, along| attached.extend(along.to_vec()));
        assert_eq!(attached, [path("/dim_3_3")]);
    }

    #[test]
    fn variables_of_another_length_have_another_dimension() {
        let growing = |current| Extent::Unlimited { current };
        let mut declared = Declared::default();
        declared.dimension(path("/x"), Extent::Fixed(2));
        declared.dimension(path("/t"), growing(5));
        declared.variable(&path("/a"), path("/a"), vec![along(3, Some("/x"))], false);
        let record = |extent| Along { extent, dimension: Some(path("/t")), is_characters: false };
        declared.variable(&path("/b"), path("/b"), vec![record(growing(3))], false);
        declared.variable(&path("/c"), path("/c"), vec![record(Extent::Fixed(4))], false);
        // The length is that of the longest.
        declared.dimension(path("/u"), growing(2));
        let along = |extent| Along { extent, dimension: Some(path("/u")), is_characters: false };
        declared.variable(&path("/d"), path("/d"), vec![along(growing(6))], false);
        declared.variable(&path("/e"), path("/e"), vec![along(Extent::Fixed(6))], false);
        let (mut noted, mut attached) = (Noted::default(), Vec::new());
        declared.resolve([], &mut noted, &mut |_, along| attached.extend(along.to_vec()));
        assert_eq!(attached, ["/dim_3", "/t", "/dim_4", "/u", "/u"].map(path));
        assert_eq!(
            noted.0,
            ["/a: dimension /x of another length, 2", "/c: dimension /t of another length, 5"]
        );
    }
}
