//! Sets the targets of references and hard links when all objects exist.

use super::*;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{Fill, Reference};

/// The possible targets of references.
struct Targets {
    objects: Vec<NodePath>,
    attributes: Vec<(NodePath, String)>,
    arrays: Vec<(NodePath, Vec<Extent>)>,
}

/// Sets the target of every reference to an existing object, attribute or selection of elements.
pub(super) fn settle(random: &mut Random, nodes: &mut [(NodePath, Node)]) {
    let mut targets = Targets { objects: Vec::new(), attributes: Vec::new(), arrays: Vec::new() };
    for (path, node) in nodes.iter() {
        if !matches!(node, Node::Link(_)) {
            targets.objects.push(path.clone());
        }
        let named = |name: &String| (path.clone(), name.clone());
        targets.attributes.extend(node.attributes().into_iter().flat_map(Attributes::keys).map(named));
        match node {
            Node::Ndarray(Ndarray { shape: Shape::Dims(dims), .. }) => {
                targets.arrays.push((path.clone(), dims.iter().map(|dimension| dimension.extent).collect()));
            }
            Node::DimCoord(dimcoord) => targets.arrays.push((path.clone(), vec![dimcoord.size])),
            _ => {}
        }
    }
    for (_, node) in nodes.iter_mut() {
        targets.node(random, node);
    }
}

impl Targets {
    fn node(&self, random: &mut Random, node: &mut Node) {
        let (attributes, storage, value) = match node {
            Node::Link(Link::Hard(path)) => {
                *path = random.pick(&self.objects).clone();
                return;
            }
            Node::Link(_) => return,
            Node::Group(Group { attributes, storage, cells }) => {
                for column in cells.iter_mut().flat_map(|cells| &mut cells.columns) {
                    self.values(random, &mut column.values);
                }
                (attributes, Some(storage), None)
            }
            Node::DimCoord(DimCoord { attributes, storage, value, .. })
            | Node::Ndarray(Ndarray { attributes, storage, value, .. }) => {
                (attributes, Some(storage), value.as_mut())
            }
            Node::Datatype(NamedDatatype { attributes, storage, .. }) => (attributes, Some(storage), None),
            Node::Unreadable(Unreadable { attributes, .. }) => (attributes, None, None),
        };
        for attribute in attributes.values_mut().flatten() {
            self.values(random, &mut attribute.value);
        }
        if let Some(storage) = storage
            && let Fill::Value(values) = &mut storage.fill
        {
            self.values(random, values);
        }
        if let Some(values) = value {
            self.values(random, values);
        }
    }

    fn values(&self, random: &mut Random, values: &mut Values) {
        for reference in &mut values.heap.references {
            let settled = match &*reference {
                Reference::Object(_) => Some(Reference::Object(random.pick(&self.objects).clone())),
                Reference::Attribute(..) if self.attributes.is_empty() => None,
                Reference::Attribute(..) => {
                    let (path, name) = random.pick(&self.attributes).clone();
                    Some(Reference::Attribute(path, name))
                }
                Reference::Region(..) if self.arrays.is_empty() => None,
                Reference::Region(..) => {
                    let (path, extents) = random.pick(&self.arrays);
                    Some(Reference::Region(path.clone(), Arc::new(selection(random, extents))))
                }
                other => Some(other.clone()),
            };
            *reference = settled.unwrap_or(Reference::Null);
        }
    }
}

/// A selection of elements inside these extents. Unlimited dimensions may be longer.
fn selection(random: &mut Random, extents: &[Extent]) -> Selection {
    let most: Vec<u64> = extents.iter().map(|extent| extent.max().unwrap_or(100)).collect();
    if most.contains(&0) {
        return if random.one_in(2) { Selection::All } else { Selection::None };
    }
    let block = |random: &mut Random| {
        let start: Vec<u64> = most.iter().map(|most| random.below(*most)).collect();
        let count = start.iter().zip(&most).map(|(start, most)| 1 + random.below(most - start)).collect();
        Region::new(start, count)
    };
    match random.below(6) {
        0 => Selection::All,
        1 => Selection::None,
        2 => Selection::Region(block(random)),
        3 => Selection::Blocks((0..random.below(3)).map(|_| block(random)).collect()),
        4 if extents.len() == 1 && extents[0].max().is_none() => {
            // More blocks than are written.
            Selection::Region(Region { start: vec![random.below(9)], count: vec![1 << 17], step: vec![3] })
        }
        _ if most.is_empty() => Selection::Region(block(random)),
        _ => {
            let points = 1 + random.below(3);
            let coordinates = (0..points).flat_map(|_| block(random).start).collect();
            Selection::Points { rank: most.len() as u32, coordinates }
        }
    }
}
