//! Small datasets from text similar to CDL: one declaration per line, attributes below their owner, values after `=`.
//!
//! ```text
//! :Conventions = "CF-1.8"
//! dim time 2
//! float temp(time)
//!   :units = "K"
//!   = 1 2
//! group /g
//! ```

use hyperslab_cf::Finding;
use hyperslab_cf::dataset::Dataset;
use hyperslab_cf::rules::{Checked, ValueReader, check};
use hyperslab_cf::tables::{StandardNames, Version};
use hyperslab_core::nd::Region;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Attributes, Datatype, DimCoord, Dimension, ElementStorage, Elements, Extent, Float, Group,
    Member, Ndarray, Node, NodePath, Nodes, Pad, Shape, Text, TimeUnit, Values,
};
use std::sync::Arc;

/// The objects of a dataset with their values.
pub(crate) struct Cdl {
    pub(crate) nodes: Nodes,
}

impl Cdl {
    /// Reads a text.
    pub(crate) fn new(text: &str) -> Cdl {
        let mut nodes = Nodes::default();
        let (mut group, mut owner) = (NodePath::root(), NodePath::root());
        nodes.insert(NodePath::root(), Node::Group(Group::default()));
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(rest) = line.strip_prefix(':') {
                let (name, value) = rest.split_once('=').expect("= in an attribute");
                let of = nodes.get_mut(&owner).unwrap().attributes_mut().unwrap();
                of.insert(name.trim().to_owned(), Ok(attribute(value.trim())));
            } else if let Some(rest) = line.strip_prefix('=') {
                let node = nodes.get_mut(&owner).unwrap();
                let datatype = Arc::clone(node.datatype().unwrap());
                let values = values(&datatype, rest.trim());
                match node {
                    Node::Ndarray(array) => array.value = Some(values),
                    Node::DimCoord(coordinate) => coordinate.value = Some(values),
                    _ => unreachable!(),
                }
            } else if let Some(path) = line.strip_prefix("group ") {
                group = NodePath::new(path.trim()).unwrap();
                owner = group.clone();
                nodes.insert(group.clone(), Node::Group(Group::default()));
            } else if let Some(rest) = line.strip_prefix("dim ") {
                let (name, length) = rest.split_once(' ').unwrap();
                let extent = Extent::Fixed(length.trim().parse().unwrap());
                nodes.insert(group.child(name), Node::DimCoord(DimCoord::without_coordinates(extent)));
            } else {
                owner = variable(&mut nodes, &group, line);
            }
        }
        Cdl { nodes }
    }

    /// The dataset.
    pub(crate) fn dataset(&self) -> Dataset {
        Dataset::new(self.nodes.iter(), true)
    }

    /// All findings when checked against version 1.`minor`, including the values.
    pub(crate) fn findings(&self, minor: u16) -> Vec<Finding> {
        let dataset = self.dataset();
        let checked = Checked {
            dataset: &dataset,
            names: StandardNames::embedded(),
            values: Some(self),
            wants: &|_| true,
        };
        let versions = vec![Some(Version { major: 1, minor }); dataset.groups.len()];
        check(&checked, &versions).unwrap()
    }

    /// The findings of one rule when checked against version 1.`minor`, as `OBJECT: MESSAGE`.
    pub(crate) fn of_rule(&self, rule: &str, minor: u16) -> Vec<String> {
        let findings = self.findings(minor).into_iter().filter(|finding| finding.rule.name == rule);
        findings.map(|finding| format!("{}: {}", finding.object, finding.message)).collect()
    }
}

impl ValueReader for Cdl {
    fn stream(
        &self,
        variable: &NodePath,
        take: &mut dyn FnMut(&Datatype, &Values) -> Result<()>,
    ) -> Result<()> {
        // A test may leave out the values of a variable.
        match self.parts(variable)? {
            (datatype, Some(values), _) => take(datatype, values),
            _ => Ok(()),
        }
    }

    fn region(
        &self,
        variable: &NodePath,
        region: &Region,
        take: &mut dyn FnMut(Elements<'_>) -> Result<()>,
    ) -> Result<()> {
        let (datatype, Some(values), shape) = self.parts(variable)? else { return Ok(()) };
        region.check(&shape)?;
        let mut rows = Vec::new();
        let size = datatype.row_size().unwrap();
        let mut at = vec![0_u64; shape.len()];
        for row in values.rows.chunks(size) {
            let inside =
                at.iter().enumerate().all(|(dimension, at)| region.span(dimension).unwrap().contains(at));
            rows.extend_from_slice(if inside { row } else { &[] });
            for (at, extent) in at.iter_mut().zip(&shape).rev() {
                *at += 1;
                if *at < *extent {
                    break;
                }
                *at = 0;
            }
        }
        take(Elements::of(datatype, &rows, &values.heap))
    }
}

impl Cdl {
    fn parts(&self, path: &NodePath) -> Result<(&Datatype, Option<&Values>, Vec<u64>)> {
        let node = self.nodes.get(path).ok_or_else(|| Error::invalid("no such variable"))?;
        let value = match node {
            Node::Ndarray(array) => array.value.as_ref(),
            Node::DimCoord(coordinate) => coordinate.value.as_ref(),
            _ => None,
        };
        let shape = node.shape(path).unwrap().current().unwrap();
        Ok((node.datatype().unwrap(), value, shape))
    }
}

/// Reads a variable such as `float temp(time, lat)`.
fn variable(nodes: &mut Nodes, group: &NodePath, line: &str) -> NodePath {
    let (kind, rest) = line.split_once(' ').expect("a type and a name");
    let (name, dims) = rest.trim_end_matches(')').split_once('(').unwrap_or((rest, ""));
    let path = group.child(name.trim());
    let datatype = Arc::new(datatype(kind));
    let dims: Vec<Dimension> = dims
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let mut from = Some(group.clone());
            while let Some(group) = from {
                let path = group.child(name);
                if let Some(
                    Node::DimCoord(DimCoord { size, .. })
                    | Node::Ndarray(Ndarray { dimension: Some(size), .. }),
                ) = nodes.get(&path)
                {
                    return Dimension { extent: *size, coordinate: Some(path) };
                }
                from = group.parent();
            }
            panic!("no dimension {name}")
        })
        .collect();
    let node = match &*dims {
        [own] if own.coordinate.as_ref() == Some(&path) => {
            Node::DimCoord(DimCoord { datatype: Some(datatype), ..DimCoord::without_coordinates(own.extent) })
        }
        _ => {
            let dimension = match nodes.get(&path) {
                Some(Node::DimCoord(dimension)) => Some(dimension.size),
                _ => None,
            };
            Node::Ndarray(Ndarray {
                shape: Shape::Dims(dims),
                dimension,
                datatype: Some(datatype),
                attributes: Attributes::new(),
                storage: Default::default(),
                value: None,
            })
        }
    };
    nodes.insert(path.clone(), node);
    path
}

fn datatype(kind: &str) -> Datatype {
    match kind {
        "byte" => Datatype::int(8, true),
        "ubyte" => Datatype::int(8, false),
        "short" => Datatype::int(16, true),
        "ushort" => Datatype::int(16, false),
        "int" => Datatype::int(32, true),
        "uint" => Datatype::int(32, false),
        "int64" => Datatype::int(64, true),
        "uint64" => Datatype::int(64, false),
        "half" => Datatype::Float(Float::Half),
        "float" => Datatype::Float(Float::Single),
        "double" => Datatype::Float(Float::Double),
        "char" => Datatype::String(Text::Fixed { len: 1, pad: Pad::Nul }),
        "string" => Datatype::String(Text::Variable),
        "bool" => Datatype::Bool,
        "opaque" => Datatype::Opaque { size: 2, tag: String::new() },
        "ints" => Datatype::Vlen(Box::new(Datatype::int(32, true))),
        "enum" => {
            let members = vec![("no".to_owned(), 0), ("yes".to_owned(), 1)];
            Datatype::Enum { base: Box::new(Datatype::int(8, true)), members }
        }
        "pair" => {
            let member = |name: &str| Member { name: name.to_owned(), datatype: Datatype::int(32, true) };
            Datatype::Compound(vec![member("a"), member("b")])
        }
        "datetime" => Datatype::Datetime(TimeUnit { unit: "s".to_owned(), duration: false }),
        other => panic!("no type {other}"),
    }
}

/// Reads `"a text"`, `{"two", "texts"}`, or numbers with CDL suffixes: `1.f, 2.f`, `1b`, `1s`, `1`, `1L`, `1.0`.
fn attribute(text: &str) -> Attribute {
    let (datatype, shape, value) = if let Some(text) = text.strip_prefix('"') {
        let datatype = Datatype::String(Text::Variable);
        let value = values(&datatype, &format!("\"{text}"));
        (datatype, vec![], value)
    } else if let Some(list) = text.strip_prefix('{') {
        let datatype = Datatype::String(Text::Variable);
        let value = values(&datatype, &list.trim_end_matches('}').replace(',', " "));
        let count = value.rows.len() / Slot::SIZE;
        (datatype, vec![count as u64], value)
    } else {
        let first = text.split([',', ' ']).next().unwrap();
        let is_float = first.contains(['.', 'e', 'N']);
        let kind = match first.chars().last().unwrap() {
            'f' => "float",
            'b' => "byte",
            's' => "short",
            'L' => "int64",
            _ if is_float => "double",
            _ => "int",
        };
        let datatype = datatype(kind);
        let plain: String = text
            .split(',')
            .map(|word| word.trim().trim_end_matches(['f', 'b', 's', 'L']).to_owned() + " ")
            .collect();
        let value = values(&datatype, &plain);
        let count = value.rows.len() / datatype.row_size().unwrap();
        (datatype, vec![count as u64], value)
    };
    Attribute {
        shape: Some(shape),
        datatype: Arc::new(datatype),
        value,
        storage: ElementStorage::default(),
        native: Vec::new(),
    }
}

/// Reads values separated by white space, with strings in quotes.
fn values(datatype: &Datatype, text: &str) -> Values {
    let mut rows = Vec::new();
    let mut heap = Heap::default();
    let words: Vec<&str> = match datatype {
        Datatype::String(_) => text.split('"').skip(1).step_by(2).collect(),
        _ => text.split_whitespace().collect(),
    };
    for word in words {
        match datatype {
            Datatype::Float(Float::Single) => rows.extend(word.parse::<f32>().unwrap().to_ne_bytes()),
            Datatype::Float(_) => rows.extend(word.parse::<f64>().unwrap().to_ne_bytes()),
            Datatype::Int { bits, .. } => {
                let bytes = word.parse::<i128>().unwrap().to_le_bytes();
                rows.extend(&bytes[..usize::from(*bits) / 8]);
            }
            Datatype::String(Text::Variable) => {
                let buffer = heap.push(bytes::Bytes::copy_from_slice(word.as_bytes())).unwrap();
                rows.extend(Slot { buffer, count: u32::try_from(word.len()).unwrap(), offset: 0 }.to_bytes());
            }
            Datatype::String(_) => rows.push(word.bytes().next().unwrap_or(0)),
            other => panic!("no values of {other}"),
        }
    }
    Values { rows: rows.into(), heap }
}

#[test]
fn a_text_becomes_a_dataset() {
    let cdl = Cdl::new(
        "dim time 2
         double time(time)
           :units = \"days since 2000-01-01\"
           = 1 2
         float temp(time)
           :valid_range = 1.f, 2.f
           :coordinates = \"height\"
         float height",
    );
    let dataset = cdl.dataset();
    assert_eq!(dataset.variables.len(), 3);
    let temp = dataset.at(&NodePath::new("/temp").unwrap()).unwrap();
    assert_eq!(temp.numbers("valid_range").unwrap().len(), 2);
    let names: Vec<&str> = dataset.coordinates(temp).map(|of| of.name()).collect();
    assert_eq!(names, ["time", "height"]);
}
