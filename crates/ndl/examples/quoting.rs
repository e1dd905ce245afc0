//! Writes documents full of given texts, for `tests/oracle/quoting.py` to read back.
//!
//! Reads a JSON list of lists of strings from standard input. Writes one document for each inner list, followed by a NUL
//! character.

use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, ElementStorage, Group, Link, Member, Ndarray, Node,
    NodeKind, NodePath, Shape, Text, Unreadable, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options};
use std::io::{Read, Write};
use std::sync::Arc;

const STRING: Datatype = Datatype::String(Text::Variable);

fn main() -> Result<()> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let batches: Vec<Vec<String>> =
        serde_json::from_str(&input).map_err(|e| Error::invalid(e.to_string()))?;
    let mut out = std::io::stdout().lock();
    for texts in &batches {
        document(texts, &mut out)?;
        out.write_all(b"\0")?;
    }
    Ok(())
}

fn document(texts: &[String], out: &mut dyn Write) -> Result<()> {
    let root = NodePath::root();
    let mut unique: Vec<String> = Vec::new();
    for text in texts {
        if !unique.contains(text) {
            unique.push(text.clone());
        }
    }
    let mut emitter = Emitter::new(Format::Yaml, Options::default());
    let mut attributes: Attributes =
        unique.iter().map(|text| (text.clone(), Ok(attribute(&[], std::slice::from_ref(text))))).collect();
    attributes.insert("zz rows".into(), Ok(attribute(&[texts.len() as u64], texts)));
    emitter.node(&root, &Node::Group(Group { attributes, ..Group::default() }))?;

    let array = |datatype: Datatype, shape: &[u64], values: Values| {
        Node::Ndarray(Ndarray {
            shape: Shape::fixed(shape),
            dimension: None,
            datatype: Some(Arc::new(datatype)),
            attributes: Attributes::default(),
            storage: BoxedStorage::default(),
            value: Some(values),
        })
    };
    emitter.node(&root.child("row"), &array(STRING, &[texts.len() as u64], rows(texts)))?;
    let pairs = texts.len() as u64 / 2;
    emitter.node(&root.child("rows"), &array(STRING, &[pairs, 2], rows(texts)))?;
    for (index, text) in texts.iter().enumerate() {
        let scalar = array(STRING, &[], rows(std::slice::from_ref(text)));
        emitter.node(&root.child(&format!("scalar {index}")), &scalar)?;
    }
    for (index, few) in unique.chunks(3).enumerate() {
        let members = few.iter().map(|name| Member { name: name.clone(), datatype: STRING }).collect();
        let compound = array(Datatype::Compound(members), &[], rows(few));
        emitter.node(&root.child(&format!("compound {index}")), &compound)?;
        let members = few.iter().zip(0..).map(|(name, value)| (name.clone(), value)).collect();
        let named = Datatype::Enum { base: Box::new(Datatype::int(8, false)), members };
        let values = Values { rows: vec![0].into(), heap: Heap::default() };
        emitter.node(&root.child(&format!("enum {index}")), &array(named, &[], values))?;
    }
    for text in unique.iter().filter(|text| !text.is_empty() && !text.contains('/')) {
        emitter.node(&root.child(&format!("zz{text}")), &unreadable(NodeKind::Ndarray, text))?;
        emitter.node(&root.child(text), &Node::Link(Link::Soft(text.clone())))?;
    }
    for text in unique.iter().filter(|text| !text.is_empty() && !text.contains('/')) {
        emitter.node(&root.child(text), &unreadable(NodeKind::Group, text))?;
    }
    let head = Head { location: "a", format: "hdf5", title: "HDF5", version: "0" };
    emitter.finish(&head, out)
}

fn attribute(shape: &[u64], texts: &[String]) -> Attribute {
    Attribute {
        shape: Some(shape.to_vec()),
        datatype: Arc::new(STRING),
        value: rows(texts),
        storage: ElementStorage::default(),
        native: Vec::new(),
    }
}

fn unreadable(found: NodeKind, reason: &str) -> Node {
    Node::Unreadable(Unreadable::new(Some(found), &Error::malformed(reason.to_string())))
}

fn rows(texts: &[String]) -> Values {
    let mut heap = Heap::default();
    let mut rows = Vec::new();
    for text in texts {
        let slot = Slot {
            buffer: heap.push(text.clone().into()).unwrap_or_default(),
            count: u32::try_from(text.len()).unwrap_or_default(),
            offset: 0,
        };
        rows.extend(slot.to_bytes());
    }
    Values { rows: rows.into(), heap }
}
