//! NetCDF classic files (CDF-1, CDF-2, CDF-5) as a [`Source`], with the same content as in NetCDF-4.

mod array;
mod check;
pub(super) mod datatype;
mod objects;
pub(crate) mod write;

use super::{Format, Location, OpenOptions, Probe, Recognition};
use crate::pool::Pool;
use crate::report::{CheckOptions, Report};
use crate::source::{ArraySource, Declared, Dialect, Entry, Handle, Item, Source, Stored, Unshown};
use array::Netcdf3Array;
use hyperslab_core::check::Rule;
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{
    DimCoord, Dimension, Extent, Group, Ndarray, Node, NodeKind, NodePath, Shape, Storage, Unreadable,
};
use hyperslab_netcdf3::{File, Version};
use objects::{Object, Objects};
use std::sync::Arc;

/// The NetCDF classic formats.
pub(crate) struct Netcdf3;

impl Format for Netcdf3 {
    fn name(&self) -> &'static str {
        "netcdf3"
    }

    fn titles(&self) -> &'static [&'static str] {
        &["NetCDF-3"]
    }

    fn dialects(&self) -> &'static [&'static Dialect] {
        DIALECTS
    }

    fn recognizes(&self, probe: &Probe<'_>) -> Recognition {
        match probe {
            Probe::Object(head) if File::is_recognized(&head.first) => Recognition::Certain,
            _ => Recognition::No,
        }
    }

    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let file = File::open(location.into_object(self.name())?, &options.limits)?;
        let objects = Objects::of(&file, !options.raw);
        let (limits, pool) = (options.limits, options.pool.clone());
        Ok(Arc::new(Netcdf3Source { file: Arc::new(file), objects, limits, pool }))
    }

    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        check::check(location.into_object(self.name())?, open, options)
    }

    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        RULES
    }
}

static RULES: &[&[&Rule]] = &[hyperslab_netcdf3::check::RULES];

static DIALECTS: &[&Dialect] = &[&CLASSIC, &OFFSET_64, &DATA_64];

/// CDF-1. The titles use the words of `nc_inq_format`: `NC_FORMAT_CLASSIC`, `NC_FORMAT_64BIT_OFFSET`,
/// `NC_FORMAT_64BIT_DATA`.
static CLASSIC: Dialect = dialect(CLASSIC_TITLE);

/// CDF-2.
static OFFSET_64: Dialect = dialect(OFFSET_64_TITLE);

/// CDF-5.
static DATA_64: Dialect = dialect(DATA_64_TITLE);

const fn dialect(title: &'static str) -> Dialect {
    Dialect {
        ends_texts: true,
        missing: super::netcdf::missing,
        texts_are_characters: true,
        escapes_names: true,
        keeps_order: true,
        ..Dialect::new(title, Some(&["netcdf"]))
    }
}

const CLASSIC_TITLE: &str = "NetCDF-3 classic";
const OFFSET_64_TITLE: &str = "NetCDF-3 64-bit offset";
const DATA_64_TITLE: &str = "NetCDF-3 64-bit data";

struct Netcdf3Source {
    file: Arc<File>,
    objects: Objects,
    limits: Limits,
    pool: Pool,
}

impl Source for Netcdf3Source {
    fn dialect(&self) -> &'static Dialect {
        match self.file.header().version {
            Version::Classic => &CLASSIC,
            Version::Offset64 => &OFFSET_64,
            Version::Data64 => &DATA_64,
        }
    }

    fn size(&self) -> Result<u64> {
        Ok(self.file.len())
    }

    fn warnings(&self) -> Vec<String> {
        self.objects.warnings.clone()
    }

    fn unshown(&self) -> Vec<Unshown> {
        let unshown = |what: &String| Unshown { what: what.clone(), instead: "nothing" };
        self.objects.warnings.iter().map(unshown).collect()
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        if path.is_root() {
            return Ok(Entry { handle: Handle { path: path.clone(), id: ROOT }, item: Item::Group });
        }
        let found = self.objects.find(path).ok_or_else(|| missing(path))?;
        Ok(self.entry(path, found))
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        match group.path.is_root() {
            true => Ok(self.objects.all().map(|(path, object)| self.entry(path, object)).collect()),
            false => Err(Error::invalid("is not a group").in_object(&group.path)),
        }
    }

    fn declared(&self, _group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        let declared = |entry: &Entry| {
            let object = self.objects.find(&entry.handle.path);
            let variable = object.and_then(Object::variable);
            let beside = variable.and_then(|variable| self.objects.beside(variable));
            let dimension = object.and_then(Object::dimension).or(beside);
            Declared {
                place: variable.map_or(u64::MAX, |of| of as u64),
                dimension: dimension.map(|of| of as u64),
            }
        };
        Ok(members.iter().map(declared).collect())
    }

    fn is_classic_model(&self) -> bool {
        true
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        if path.is_root() {
            let attributes = self.objects.attributes(&self.file.header().attributes);
            return Ok(Node::Group(Group { attributes, ..Group::default() }));
        }
        let found = self.objects.find(path).ok_or_else(|| missing(path))?;
        self.node(found).or_else(|error| {
            let unreadable = Unreadable::new(Some(NodeKind::Ndarray), &error);
            let attributes =
                self.variable(found).map(|variable| self.objects.attributes(&variable.attributes));
            Ok(Node::Unreadable(Unreadable { attributes: attributes.unwrap_or_default(), ..unreadable }))
        })
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let path = &object.path;
        let number = self.objects.find(path).ok_or_else(|| missing(path))?.variable();
        let number = number.ok_or_else(|| Error::invalid("a dimension without values").in_object(path))?;
        let array = Netcdf3Array::open(Arc::clone(&self.file), self.pool.clone(), number);
        Ok(Arc::new(array.map_err(|error| error.in_object(path))?))
    }
}

impl Netcdf3Source {
    fn entry(&self, path: &NodePath, object: Object) -> Entry {
        let item = self.item(object);
        let item =
            item.unwrap_or_else(|error| Item::Unreadable(Unreadable::new(Some(NodeKind::Ndarray), &error)));
        Entry { handle: Handle { path: path.clone(), id: object.id() }, item }
    }

    fn variable(&self, object: Object) -> Option<&hyperslab_netcdf3::Variable> {
        self.file.header().variables.get(object.variable()?)
    }

    fn item(&self, object: Object) -> Result<Item> {
        let Some(variable) = self.variable(object) else {
            let shape = Shape::Dims(vec![Dimension { extent: self.extent(object), coordinate: None }]);
            return Ok(Item::Array {
                kind: NodeKind::DimCoord,
                datatype: None,
                shape,
                stored: Stored::Nothing,
            });
        };
        let layout = self.file.layout(object.variable().unwrap_or_default())?;
        let datatype = Some(Arc::new(datatype::datatype(variable.data_type).0));
        let (kind, shape) = match object {
            Object::Coordinates { .. } => {
                let extent = self.extent(object);
                (NodeKind::DimCoord, Shape::Dims(vec![Dimension { extent, coordinate: None }]))
            }
            _ => (NodeKind::Ndarray, self.shape(variable)),
        };
        let stored = Stored::Bytes(array::stored_bytes(&layout)?);
        Ok(Item::Array { kind, datatype, shape, stored })
    }

    fn node(&self, object: Object) -> Result<Node> {
        let Some(variable) = self.variable(object) else {
            return Ok(Node::DimCoord(DimCoord::without_coordinates(self.extent(object))));
        };
        self.file.layout(object.variable().unwrap_or_default())?;
        let (datatype, element) = datatype::datatype(variable.data_type);
        let datatype = Some(Arc::new(datatype));
        let attributes = self.objects.attributes(&variable.attributes);
        let storage = Storage { element, ..Storage::default() };
        Ok(match object {
            Object::Coordinates { .. } => {
                let size = self.extent(object);
                Node::DimCoord(DimCoord { size, datatype, attributes, storage: storage.into(), value: None })
            }
            _ => {
                let shape = self.shape(variable);
                let beside = object.variable().and_then(|variable| self.objects.beside(variable));
                let dimension = beside.map(|dimension| self.length(dimension));
                Node::Ndarray(Ndarray {
                    shape,
                    dimension,
                    datatype,
                    attributes,
                    storage: storage.into(),
                    value: None,
                })
            }
        })
    }

    /// The length of the dimension that an object represents.
    fn extent(&self, object: Object) -> Extent {
        match object.dimension() {
            Some(dimension) => self.length(dimension),
            None => Extent::Fixed(0),
        }
    }

    fn length(&self, dimension: usize) -> Extent {
        match self.file.header().dimensions.get(dimension).map_or(0, |dimension| dimension.length) {
            0 => Extent::Unlimited { current: self.file.records().count },
            length => Extent::Fixed(length),
        }
    }

    fn shape(&self, variable: &hyperslab_netcdf3::Variable) -> Shape {
        let dims = variable.dimensions.iter().filter_map(|id| usize::try_from(*id).ok());
        let mut shape = Vec::with_capacity(variable.dimensions.len());
        shape.extend(dims.map(|dimension| Dimension {
            extent: self.length(dimension),
            coordinate: self.objects.dimension(dimension).cloned(),
        }));
        Shape::Dims(shape)
    }
}

fn missing(path: &NodePath) -> Error {
    Error::not_found(format!("no object {path}"))
}

/// The handle ID of the root, which no other object has.
const ROOT: u64 = u64::MAX;
