//! Array schemas of TileDB from documents, the inverse of describing an array.
//!
//! Anything that a document leaves out has the default value of libraries, which descriptions leave out as well.

pub(super) mod attribute;
mod dimension;
mod label;

use super::directives::{Directives, expected};
use super::storage::{
    COORDS_FILTER, ENUMERATION_FILES, OFFSETS_FILTER, USUAL_CAPACITY, VALIDITY_FILTER, array_type, layout,
    max_chunk_of, usual_filters,
};
use super::{TILEDB, current_domain, filter};
use crate::source::Source;
use crate::strings::name_bytes;
use hyperslab_core::{Error, Result};
use hyperslab_model::{DimCoord, Directive, Extent, Group, Ndarray, Node, NodePath};
use hyperslab_tiledb::format::array_schema::{ArraySchema, DimensionLabel, Domain, EnumerationFile};
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::layout::{ArrayType, Layout};
use hyperslab_tiledb::format::version::RELEASED;

/// The array schema of the TileDB array that a group describes, in a document or in a store.
///
/// ```
/// use hyperslab::{NodePath, OpenOptions, open, tiledb_schema};
///
/// let source = open("../../examples/survey.tdb".as_ref(), &OpenOptions::default())?;
/// let schema = tiledb_schema(&*source, &NodePath::new("/temperature")?)?;
/// let names: Vec<&[u8]> = schema.attributes.iter().map(|attribute| &*attribute.name).collect();
/// assert_eq!((schema.domain.dimensions.len(), names), (2, vec![&b"celsius"[..], b"quality"]));
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If there is no such group, or it cannot be read; with the path of the object, if it is not an array or has a
/// property that TileDB cannot represent.
pub fn tiledb_schema(source: &dyn Source, array: &NodePath) -> Result<ArraySchema> {
    let members = Members::read(source, array)?;
    let asked = Asked { array_type: None, version: None, most: source.limits().allocation };
    members.schema(&asked).map_err(|error| error.in_object(array))
}

/// An array as a document describes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) group: Group,
    pub(super) dimensions: Vec<(NodePath, DimCoord)>,
    pub(super) attributes: Vec<(NodePath, Ndarray)>,
    pub(super) labels: Vec<(NodePath, Ndarray)>,
}

/// The properties of a schema that do not follow from the document.
pub(super) struct Asked {
    /// The type of an array that does not state one.
    pub(super) array_type: Option<ArrayType>,
    /// The format version, regardless of the document.
    pub(super) version: Option<u32>,
    /// The maximum size of a cell in bytes.
    pub(super) most: u64,
}

impl Members {
    fn read(source: &dyn Source, array: &NodePath) -> Result<Members> {
        let handle = source.find(array)?.handle;
        let Node::Group(group) = source.load(&handle)? else {
            return Err(Error::invalid("is not a group, expected the group of an array").in_object(array));
        };
        let (dimensions, attributes, labels) = (Vec::new(), Vec::new(), Vec::new());
        let mut members = Members { group, dimensions, attributes, labels };
        for entry in source.members(&handle)? {
            members.add(entry.handle.path.clone(), source.load(&entry.handle)?)?;
        }
        Ok(members)
    }

    /// Adds a member.
    ///
    /// # Errors
    /// If a TileDB array cannot have such a member.
    pub(super) fn add(&mut self, path: NodePath, node: Node) -> Result<()> {
        let what = match node {
            Node::DimCoord(dimension) => {
                self.dimensions.push((path, dimension));
                self.order_dimensions();
                return Ok(());
            }
            Node::Ndarray(array) => {
                let to =
                    if super::is_label(&array.storage) { &mut self.labels } else { &mut self.attributes };
                to.push((path, array));
                self.order_dimensions();
                return Ok(());
            }
            // It is contained in the arrays of that type.
            Node::Datatype(_) => return Ok(()),
            Node::Unreadable(unreadable) => {
                return Err(Error::new(unreadable.kind, unreadable.reason).in_object(path));
            }
            Node::Group(_) => "a group",
            Node::Link(_) => "a link",
        };
        let detail = format!("is {what} in a TileDB array, expected a dimension or an attribute");
        Err(Error::unsupported(detail).in_object(path))
    }

    /// Puts the dimensions in the order of the first array that lies along all of them: the order of the members of a
    /// group may be different.
    fn order_dimensions(&mut self) {
        let place = |attribute: &Ndarray, of: &NodePath| {
            attribute.shape.dims().iter().position(|dimension| dimension.coordinate.as_ref() == Some(of))
        };
        let is_along_all = |(_, attribute): &&(NodePath, Ndarray)| {
            self.dimensions.iter().all(|(path, _)| place(attribute, path).is_some())
        };
        if let Some((_, attribute)) = self.attributes.iter().find(is_along_all) {
            self.dimensions.sort_by_key(|(path, _)| place(attribute, path));
        }
    }

    /// The schema.
    ///
    /// # Errors
    /// If TileDB cannot represent what the document states.
    pub(super) fn schema(&self, asked: &Asked) -> Result<ArraySchema> {
        let mut said = Directives::of(&self.group.storage);
        let types = [ArrayType::Dense, ArrayType::Sparse];
        let array_type = said.word("array", types, array_type)?.or(asked.array_type);
        let array_type = array_type.ok_or_else(|| said.missing("array"))?;
        let version = said.int("version")?.unwrap_or(RELEASED);
        let version = asked.version.unwrap_or(version);
        let most = asked.most;
        let dimensions = self.dimensions(array_type, version)?;
        let attribute = |(path, own): &(NodePath, Ndarray)| {
            attribute::parse(path.name(), own, version, most).map_err(|error| error.in_object(path))
        };
        let schema = ArraySchema {
            version,
            allows_dups: said.boolean("allows_dups")?.unwrap_or(false),
            array_type,
            tile_order: order(&mut said, "tile_order")?,
            cell_order: order(&mut said, "cell_order")?,
            capacity: said.int("capacity")?.unwrap_or(USUAL_CAPACITY),
            coords_filters: shared_filters(&mut said, COORDS_FILTER, version)?,
            offsets_filters: shared_filters(&mut said, OFFSETS_FILTER, version)?,
            validity_filters: shared_filters(&mut said, VALIDITY_FILTER, version)?,
            attributes: self.attributes.iter().map(attribute).collect::<Result<_>>()?,
            dimension_labels: self.labels()?,
            enumerations: self.enumerations(&mut said)?,
            current_domain: {
                let extents: Vec<Extent> = self.dimensions.iter().map(|(_, own)| own.size).collect();
                let current = current_domain::parse(&mut said, array_type, &dimensions, &extents)?;
                (version >= CURRENT_DOMAINS).then_some(current)
            },
            domain: Domain { dimensions },
        };
        said.finish()?;
        Ok(schema)
    }

    /// The dimension labels.
    ///
    /// # Errors
    /// If TileDB cannot represent what the document states about them.
    pub(super) fn labels(&self) -> Result<Vec<DimensionLabel>> {
        let labels = self.labels.iter().enumerate();
        labels.map(|(position, (path, own))| self.label(position, path, own)).collect()
    }

    /// The dimension label at a position, which need not be among the members.
    ///
    /// # Errors
    /// If TileDB cannot represent what the document states about it.
    pub(super) fn label(&self, position: usize, path: &NodePath, own: &Ndarray) -> Result<DimensionLabel> {
        label::parse(path.name(), own, position, &self.dimensions).map_err(|error| error.in_object(path))
    }
}

fn order(said: &mut Directives<'_>, key: &str) -> Result<Layout> {
    Ok(said.word(key, LAYOUTS, layout)?.unwrap_or(Layout::RowMajor))
}

/// The filters of coordinates, offsets or validities.
fn shared_filters(said: &mut Directives<'_>, key: &str, version: u32) -> Result<FilterPipeline> {
    let max_chunk = said.int(&max_chunk_of(key))?;
    match said.take(key) {
        Some(filters) => filter::pipeline(&filter::of_directive(key, filters)?, max_chunk),
        None => {
            let usual = usual_filters(key, version);
            Ok(FilterPipeline { max_chunk_size: max_chunk.unwrap_or(usual.max_chunk_size), ..usual })
        }
    }
}

impl Members {
    /// The enumerations with their files. A file that is not stated has no name yet: it gets one when it is written.
    fn enumerations(&self, said: &mut Directives<'_>) -> Result<Vec<EnumerationFile>> {
        let files = said.map(ENUMERATION_FILES)?.unwrap_or_default();
        let known = said.map("enumerations")?.unwrap_or_default();
        if let Some((name, _)) = files.iter().find(|(name, _)| !known.iter().any(|(own, _)| own == name)) {
            return Err(Error::invalid(format!(
                "a file of the enumeration {name}, which the array does not have"
            )));
        }
        let one = |(name, _): &(String, Directive)| {
            let file_name = match files.iter().find(|(own, _)| own == name) {
                Some((_, Directive::Text(file))) => name_bytes(file),
                Some((_, other)) => {
                    return Err(expected(
                        &format!("storage.{TILEDB}.{ENUMERATION_FILES}"),
                        other,
                        "the name of a file",
                    ));
                }
                None => Vec::new(),
            };
            Ok(EnumerationFile { name: name_bytes(name), file_name })
        };
        let mut found: Vec<EnumerationFile> = known.iter().map(one).collect::<Result<_>>()?;
        // Enumerations that are stated only by the datatypes of attributes.
        for (path, own) in &self.attributes {
            if let Some(name) = attribute::enumeration(path.name(), own)?
                && !found.iter().any(|of| of.name == name)
            {
                found.push(EnumerationFile { name, file_name: Vec::new() });
            }
        }
        Ok(found)
    }
}

/// The name of a member in the schema: empty, the one stated by a directive, or the name in the document.
fn name(said: &mut Directives<'_>, key: &str, shown: &str) -> Result<Vec<u8>> {
    let other = said.text(key)?;
    Ok(match said.boolean("anonymous")? {
        Some(true) => Vec::new(),
        _ => name_bytes(other.unwrap_or(shown)),
    })
}

const LAYOUTS: [Layout; 5] =
    [Layout::RowMajor, Layout::ColMajor, Layout::GlobalOrder, Layout::Unordered, Layout::Hilbert];

/// The first version in which arrays have a current domain.
const CURRENT_DOMAINS: u32 = 22;
