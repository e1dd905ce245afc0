//! Checks schemas: names, domains, fill values, enumerations and dimension labels.

use super::findings::Place;
use super::{Checker, Kind, rule};
use crate::array::Array;
use crate::directory::{ArrayDirectory, ENUMERATIONS, SCHEMAS, is_array};
use crate::format::array_schema::{ArraySchema, Attribute, Dimension, DimensionLabel, EnumerationFile};
use crate::format::data_type::{CellValNum, DataType};
use crate::format::enumeration::Enumeration;
use crate::format::generic_tile::Encryption;
use crate::format::layout::{ArrayType, Layout};
use crate::format::{Structure, decode_all, uri_lines};
use crate::group::relative_key;
use crate::read::DenseDomain;
use crate::read::compare::compare;
use hyperslab_core::check::Rule;
use hyperslab_core::store::Key;
use hyperslab_core::{Decoder, Result};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// A schema that was decoded.
pub(super) struct Known {
    pub(super) key: Key,
    /// Whether it is the only schema of an array before version 10.
    pub(super) is_old: bool,
    pub(super) schema: Arc<ArraySchema>,
    pub(super) is_encrypted: bool,
    /// The number of values of each enumeration that was decoded.
    pub(super) enumerations: BTreeMap<Vec<u8>, u64>,
}

impl Checker<'_> {
    pub(super) fn schemas(&mut self, at: &Key, directory: &ArrayDirectory) -> Result<Vec<Known>> {
        let mut known = Vec::new();
        for file in &directory.schemas {
            let place = Place::of(at).file(&file.key);
            let body = self.generic_tiles().body(&file.key, 0);
            let Some((header, body)) = self.findings.valid(body, &rule::STRUCTURE, place)? else { continue };
            let schema = decode_all::<ArraySchema>(Decoder::new(ArraySchema::NAME, 0, &body), &());
            let Some(schema) = self.findings.valid(schema, &rule::STRUCTURE, place)? else { continue };
            self.schema(place, &schema);
            let enumerations = self.enumerations(at, &file.key, &schema)?;
            known.push(Known {
                key: file.key.clone(),
                is_old: file.name.is_none(),
                schema: Arc::new(schema),
                is_encrypted: header.encryption != Encryption::None,
                enumerations,
            });
        }
        Ok(known)
    }

    /// The array at a key with its newest schema. `None` if no schema was decoded.
    pub(super) fn opened(&self, at: &Key, directory: ArrayDirectory, schemas: &[Known]) -> Option<Array> {
        let newest = schemas.last()?;
        let (schema, is_encrypted) = (Arc::clone(&newest.schema), newest.is_encrypted);
        Some(Array::of(
            Arc::clone(self.store),
            at.clone(),
            self.open.clone(),
            is_encrypted,
            directory,
            schema,
        ))
    }

    fn schema(&mut self, place: Place<'_>, schema: &ArraySchema) {
        for (rule, message) in faults(schema) {
            self.findings.add(rule, place, message);
        }
    }

    fn enumerations(
        &mut self,
        at: &Key,
        schema_key: &Key,
        schema: &ArraySchema,
    ) -> Result<BTreeMap<Vec<u8>, u64>> {
        let place = Place::of(at).file(schema_key);
        let mut counts = BTreeMap::new();
        let used: BTreeSet<&Vec<u8>> =
            schema.attributes.iter().filter_map(|attribute| attribute.enumeration.as_ref()).collect();
        for name in &used {
            if schema.enumerations.iter().all(|of| of.name != **name) {
                let message = format!("{:?}, which the schema does not list", String::from_utf8_lossy(name));
                self.findings.add(&rule::ENUMERATION_MISSING, place, message);
            }
        }
        for of in &schema.enumerations {
            if !used.contains(&of.name) {
                let message = format!("{:?}", String::from_utf8_lossy(&of.name));
                self.findings.add(&rule::ENUMERATION_UNUSED, place, message);
            }
            if let Some(count) = self.enumeration(at, place, schema, of)? {
                counts.insert(of.name.clone(), count);
            }
        }
        Ok(counts)
    }

    /// Checks an enumeration. Returns the number of its values, if it was decoded.
    fn enumeration(
        &mut self,
        at: &Key,
        of_schema: Place<'_>,
        schema: &ArraySchema,
        of: &EnumerationFile,
    ) -> Result<Option<u64>> {
        let name = String::from_utf8_lossy(&of.name);
        let file_name = String::from_utf8_lossy(&of.file_name);
        let key = at.join(SCHEMAS)?.join(ENUMERATIONS)?.join(&file_name);
        let key = match key {
            Ok(key) if self.store.size(&key)?.is_some() => key,
            _ => {
                let message = format!("{name:?} in file {file_name:?}, which does not exist");
                self.findings.add(&rule::ENUMERATION_MISSING, of_schema, message);
                return Ok(None);
            }
        };
        let place = Place::of(at).file(&key);
        let read = self.generic_tiles().structure::<Enumeration>(&key, 0, &());
        let Some(found) = self.findings.valid(read, &rule::STRUCTURE, place)? else { return Ok(None) };
        if found.name != of.name {
            let message = format!("{:?}, expected {name:?}", String::from_utf8_lossy(&found.name));
            self.findings.add(&rule::ENUMERATION, place, message);
        }
        let Some(values) = found.values().map(Iterator::collect::<Vec<_>>) else {
            let message = format!("{} bytes, which are not whole values", found.data.len());
            self.findings.add(&rule::ENUMERATION, place, message);
            return Ok(None);
        };
        let count = values.len() as u64;
        let distinct: HashSet<&[u8]> = values.iter().copied().collect();
        if distinct.len() as u64 != count {
            let message = format!("{count} values, of which {} are different", distinct.len());
            self.findings.add(&rule::ENUMERATION, place, message);
        }
        for attribute in
            schema.attributes.iter().filter(|attribute| attribute.enumeration.as_ref() == Some(&of.name))
        {
            let attribute_name = String::from_utf8_lossy(&attribute.name);
            match most_values(attribute) {
                None => {
                    let message = format!(
                        "attribute {attribute_name:?} of type {} cannot index the values",
                        attribute.data_type.name()
                    );
                    self.findings.add(&rule::ENUMERATION, place, message);
                }
                Some(most) if count > most => {
                    let message =
                        format!("{count} values, attribute {attribute_name:?} counts at most {most}");
                    self.findings.add(&rule::ENUMERATION, place, message);
                }
                Some(_) => {}
            }
        }
        Ok(Some(count))
    }

    /// Checks the arrays of the dimension labels.
    pub(super) fn labels(&mut self, at: &Key, array: &Array) -> Result<()> {
        for label in &array.schema().dimension_labels {
            let name = String::from_utf8_lossy(&label.name);
            let key = match label.relative {
                true => relative_key(at, &label.uri),
                false => at.join(LABELS).and_then(|labels| labels.join(&uri_name(&label.uri))).ok(),
            };
            let Some(key) = key.filter(|_| !label.is_external) else {
                let message = format!("label {name:?} in {:?}", String::from_utf8_lossy(&label.uri));
                self.findings.add(&rule::EXTERNAL_MEMBER, Place::of(at), message);
                continue;
            };
            match is_array(&**self.store, &key)? {
                true => {
                    self.label(&key, label)?;
                    if self.object(&key)? != Some(Kind::Array) {
                        self.findings.add(
                            &rule::LABEL_MISSING,
                            Place::of(at),
                            format!("label {name:?}: no array"),
                        );
                    }
                }
                false => {
                    let message = format!("label {name:?} in {key}, where no array is");
                    self.findings.add(&rule::LABEL_MISSING, Place::of(at), message);
                }
            }
        }
        Ok(())
    }

    fn label(&mut self, key: &Key, label: &DimensionLabel) -> Result<()> {
        // Faults in the array are found when it is checked.
        let Some(array) = hyperslab_core::valid(Array::open(Arc::clone(self.store), key, self.open.clone()))?
        else {
            return Ok(());
        };
        let attribute =
            array.attribute(&label.attribute).and_then(|position| array.attributes().get(position));
        let is_right = attribute.is_some_and(|attribute| {
            (attribute.data_type, attribute.cell_val_num) == (label.data_type, label.cell_val_num)
        });
        if !is_right {
            let name = String::from_utf8_lossy(&label.attribute);
            let message =
                format!("no attribute {name:?} of {}, which has the labels", label.data_type.name());
            self.findings.add(&rule::LABEL_MISSING, Place::of(key), message);
        }
        Ok(())
    }
}

/// What is wrong with a schema as such, independent of everything else.
pub(crate) fn faults(schema: &ArraySchema) -> Vec<(&'static Rule, String)> {
    let mut faults: Vec<(&'static Rule, String)> = Vec::new();
    let mut names = HashSet::new();
    let attributes = schema.attributes.iter().map(|attribute| &attribute.name);
    let dimensions = schema.domain.dimensions.iter().map(|dimension| &dimension.name);
    let labels = schema.dimension_labels.iter().map(|label| &label.name);
    for name in attributes.chain(dimensions).chain(labels) {
        // Several may be without a name.
        if !name.is_empty() && !names.insert(name) {
            faults
                .push((&rule::DUPLICATE_NAME, format!("{:?} a second time", String::from_utf8_lossy(name))));
        }
    }
    let mut add = |message: String| faults.push((&rule::SCHEMA, message));
    let is_dense = schema.array_type == ArrayType::Dense;
    if is_dense && let Err(e) = DenseDomain::of(schema) {
        add(e.detail().to_owned());
    }
    if is_dense && schema.attributes.is_empty() {
        add("a dense array without attributes".to_owned());
    }
    if !is_dense && schema.capacity == 0 {
        add("a capacity of 0 cells, expected at least 1".to_owned());
    }
    for order in [schema.cell_order, schema.tile_order] {
        if matches!(order, Layout::GlobalOrder | Layout::Unordered) {
            add(format!("order {order:?} in a schema, which is only allowed in queries"));
        }
    }
    for dimension in schema.domain.dimensions.iter().filter(|_| !is_dense) {
        if let Some(fault) = fault_of(dimension) {
            let name = String::from_utf8_lossy(&dimension.name);
            add(format!("dimension {name:?}: {fault}"));
        }
    }
    for label in &schema.dimension_labels {
        let count = schema.domain.dimensions.len();
        if usize::try_from(label.dimension).is_ok_and(|dimension| dimension >= count) {
            let name = String::from_utf8_lossy(&label.name);
            add(format!("label {name:?} of dimension {}, the array has {count}", label.dimension));
        }
    }
    faults.extend(schema.attributes.iter().filter_map(|of| Some((&rule::FILL_VALUE, fault_of_fill(of)?))));
    faults
}

/// What is wrong with the size of the fill value of an attribute.
fn fault_of_fill(attribute: &Attribute) -> Option<String> {
    let found = attribute.fill_value.as_ref()?.len() as u64;
    let size = attribute.data_type.size() as u64;
    let is_right = match attribute.cell_val_num {
        CellValNum::Fixed(values) => found == size.saturating_mul(u64::from(values)),
        CellValNum::Var => found > 0 && found.is_multiple_of(size),
    };
    let name = String::from_utf8_lossy(&attribute.name);
    (!is_right)
        .then(|| format!("a fill value of {found} bytes for attribute {name:?}, whose values have {size}"))
}

/// What is wrong with the domain of a dimension of a sparse array.
fn fault_of(dimension: &Dimension) -> Option<String> {
    let Dimension { data_type, cell_val_num, domain, tile_extent, .. } = dimension;
    let size = data_type.size();
    if cell_val_num.is_var() {
        let is_right = domain.is_empty() && tile_extent.is_none();
        return (!is_right).then(|| "a domain or tile extent of strings, which have none".to_owned());
    }
    if *cell_val_num != CellValNum::ONE {
        return Some("coordinates of several values".to_owned());
    }
    let Some((low, high)) = domain.split_at_checked(size).filter(|(_, high)| high.len() == size) else {
        return Some(format!("a domain of {} bytes, expected {}", domain.len(), 2 * size));
    };
    if compare(*data_type, low, high) != Some(Ordering::Less) && low != high {
        return Some("a domain that ends before it begins".to_owned());
    }
    let extent = tile_extent.as_ref()?;
    let zero = vec![0; size];
    let is_positive = match data_type {
        DataType::Float32 | DataType::Float64 => {
            compare(*data_type, extent, &zero) == Some(Ordering::Greater)
        }
        _ => *extent != zero,
    };
    (!is_positive).then(|| "a tile extent that is not above 0".to_owned())
}

/// The maximum number of values to which an attribute can refer, counting from 0. `None` if it does not hold integers.
pub(crate) fn most_values(attribute: &Attribute) -> Option<u64> {
    let most = match attribute.data_type {
        DataType::Int8 => 1 << 7,
        DataType::UInt8 | DataType::Bool => 1 << 8,
        DataType::Int16 => 1 << 15,
        DataType::UInt16 => 1 << 16,
        DataType::Int32 => 1 << 31,
        DataType::UInt32 => 1 << 32,
        DataType::Int64 => 1 << 63,
        DataType::UInt64 => u64::MAX,
        _ => return None,
    };
    (attribute.cell_val_num == CellValNum::ONE).then_some(most)
}

fn uri_name(uri: &[u8]) -> String {
    String::from_utf8_lossy(uri_lines::last_name(uri)).into_owned()
}

const LABELS: &str = "__labels";
