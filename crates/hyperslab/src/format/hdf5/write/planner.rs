//! Finds what HDF5 cannot store unchanged, and collects what must be known of all objects before the first is declared.

use super::datatype::Committed;
use super::dimensions::Scales;
use super::lowerings::{FILE_SPACE, LINK_FILTERS, NAMED_TYPE, note_cells, note_object};
use super::name;
use super::objects::{Made, Objects};
use super::options::Options;
use super::pass::{Measured, Pass};
use super::references::SOMEWHERE;
use super::uses::Uses;
use crate::cells::CellColumn;
use crate::target::{Encoder, Facts, Losses, Lowered, OrderedMember, Outcome, Planner, TargetOptions};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::message::datatype::Datatype as Hdf5Datatype;
use hyperslab_hdf5::write::LibraryVersion;
use hyperslab_model::{Datatype, Layout, Link, Node, NodePath};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The results of planning that the target needs.
pub(in crate::format) struct Found {
    /// The options, together with the settings that the source states for the whole file.
    pub(super) options: Options,
    pub(super) uses: Uses,
    pub(super) scales: Scales,
    /// The committed datatypes of the file.
    pub(super) committed: FxHashMap<NodePath, Arc<Hdf5Datatype>>,
    /// Whether elements or attributes are revised references, which need the ranks of datasets.
    pub(super) has_references: bool,
    /// The measured file, if every object was measured in its final form.
    pub(super) measured: Option<Measured>,
}

/// Plans the objects below one root.
pub(in crate::format) struct Hdf5Planner {
    /// An error if the options cannot be combined; the first object reports it.
    options: Result<Options>,
    uses: Uses,
    scales: Scales,
    committed: FxHashMap<NodePath, Arc<Hdf5Datatype>>,
    /// Elements and attributes with committed datatypes that may not be converted.
    named: Vec<(String, NodePath)>,
    has_references: bool,
    /// Whether objects are planned in the form in which they are declared, so that they can be measured.
    measures: bool,
    /// The first pass; `None` before the root, and from the first object that cannot be measured yet.
    pass: Option<Pass>,
}

impl Hdf5Planner {
    pub(super) fn new(options: &TargetOptions) -> Hdf5Planner {
        Hdf5Planner {
            options: Options::of(options),
            uses: Uses::default(),
            scales: Scales::default(),
            committed: FxHashMap::default(),
            named: Vec::new(),
            has_references: false,
            measures: true,
            pass: None,
        }
    }

    /// A planner for the files that the NetCDF library writes, which HDF5 1.8 can read. What that library adds to
    /// objects is known only when all of them are planned.
    pub(in crate::format) fn for_netcdf() -> Hdf5Planner {
        let mut planner = Hdf5Planner { measures: false, ..Hdf5Planner::new(&TargetOptions::default()) };
        if let Ok(options) = &mut planner.options {
            options.file.high = LibraryVersion::V1_8;
        }
        planner
    }

    /// Attaches scales to the dimensions of an array that was planned without them.
    pub(in crate::format) fn attach(&mut self, array: NodePath, scales: &[NodePath]) {
        self.scales.attach(array, scales.iter().map(|scale| vec![scale.clone()]).collect());
    }

    fn options(&self) -> Result<&Options> {
        self.options.as_ref().map_err(|e| Error::new(e.kind(), e.detail().to_owned()))
    }

    /// Runs `work` with the context of objects, as far as it is known.
    pub(super) fn with_objects<T>(
        &self,
        work: impl FnOnce(&Objects<'_>, &Options) -> Result<T>,
    ) -> Result<T> {
        let (options, known) = (self.options()?, &self.committed);
        let committed = |of: &NodePath| {
            let datatype = Arc::clone(known.get(of)?);
            Some(Committed { address: SOMEWHERE, datatype })
        };
        let objects = Objects {
            options,
            uses: &self.uses,
            scales: &Scales::default(),
            committed: &committed,
            address: &|_| Some(SOMEWHERE),
        };
        work(&objects, options)
    }

    fn note(&mut self, path: &NodePath, node: &Node) {
        if let Some(datatype) = node.datatype() {
            self.note_type(datatype, &|| path.to_string());
        }
        for (name, attribute) in node.attributes().into_iter().flatten() {
            if let Ok(attribute) = attribute {
                self.note_type(&attribute.datatype, &|| format!("{path}@{name}"));
            }
        }
        self.uses.add(node);
        self.scales.declare(path, node);
    }

    fn note_type(&mut self, datatype: &Datatype, place: &dyn Fn() -> String) {
        if let Datatype::Named(name, _) = datatype
            && !self.committed.contains_key(name)
        {
            self.named.push((place(), name.clone()));
        }
        self.has_references |= datatype.any(&|of| matches!(of, Datatype::Reference));
    }
}

impl Planner for Hdf5Planner {
    fn keeps_sources(&self, node: &Node) -> bool {
        let layout = node.storage().and_then(|storage| storage.layout.as_ref());
        self.options.as_ref().is_ok_and(|options| options.keeps_sources)
            && matches!(layout, Some(Layout::Virtual | Layout::External))
    }

    fn plan(&mut self, path: &NodePath, node: &Node, facts: Facts, losses: &mut dyn Losses) -> Result<()> {
        if path.is_root() {
            let storage = node.storage().ok_or_else(|| Error::invalid("a link at the root"))?;
            if !matches!(node, Node::Group(_)) {
                return Err(Error::unsupported("an array at the root, where HDF5 has a group"));
            }
            self.options
                .as_mut()
                .map_err(|e| Error::new(e.kind(), e.detail().to_owned()))?
                .add_root(storage)?;
        }
        if path.is_root() && self.options()?.replaces_file_space {
            losses.note(&FILE_SPACE, path.to_string(), None);
        }
        let mut losses = WithoutNamed(losses);
        let losses: &mut dyn Losses = &mut losses;
        let made = self.with_objects(|objects, options| {
            let made = objects.made(path, node, facts, losses)?;
            made.check(&options.file)?;
            if let Node::Group(group) = node
                && let Err(error) = objects.link_filters(group)
            {
                losses.note(&LINK_FILTERS, path.to_string(), Some(error.detail().to_string()));
            }
            Ok(made)
        })?;
        match node {
            Node::Link(Link::Hard(first)) => self.uses.add_link(first),
            Node::Unreadable(_) => return Ok(()),
            _ => {}
        }
        if let Some(lowered) = name::link(path.name()).1.filter(|_| !path.is_root()) {
            losses.note(lowered, path.to_string(), None);
        }
        note_object(path, node, losses);
        if path.is_root() && self.measures {
            self.pass = Pass::first(&self.options()?.file, false).ok();
        }
        if let Made::Datatype(_, datatype) = &made {
            self.committed.insert(path.clone(), Arc::new(datatype.clone()));
        }
        // An object that cannot be measured causes an error when it is declared.
        self.pass = self.pass.take().and_then(|mut pass| pass.visit(path, made).ok().map(|()| pass));
        self.note(path, node);
        Ok(())
    }

    fn trial(&self, path: &NodePath, node: &Node, facts: Facts) -> Result<Option<Box<dyn Encoder>>> {
        self.trial_of(path, node, facts)
    }

    fn order_members(&mut self, group: &NodePath, members: &[OrderedMember<'_>], _: &mut dyn Losses) {
        if let Some(pass) = &mut self.pass {
            pass.order_members(group, members);
        }
    }

    fn cells(&mut self, path: &NodePath, _: &[CellColumn], losses: &mut dyn Losses) -> Result<bool> {
        note_cells(path, losses);
        Ok(false)
    }

    fn finish(self: Box<Self>, losses: &mut dyn Losses) -> Result<Option<Arc<Outcome>>> {
        let Hdf5Planner { options, uses, mut scales, committed, named, has_references, pass, .. } = *self;
        for (place, of) in named {
            if !committed.contains_key(&of) {
                losses.note(&NAMED_TYPE, place, None);
            }
        }
        // These change object headers that were measured before they were known.
        let is_settled = scales.is_empty() && uses.is_empty() && !has_references;
        let measured = pass.filter(|_| is_settled).and_then(|pass| pass.measured().ok());
        scales.connect();
        Ok(Some(Arc::new(Found { options: options?, uses, scales, committed, has_references, measured })))
    }
}

/// Suppresses losses that are known only at the end of planning.
struct WithoutNamed<'a>(&'a mut dyn Losses);

impl Losses for WithoutNamed<'_> {
    fn note(&mut self, lowered: &'static Lowered, place: String, detail: Option<String>) {
        if !std::ptr::eq(lowered, &raw const NAMED_TYPE) {
            self.0.note(lowered, place, detail);
        }
    }
}
