//! Every structure in a folder of arrays and groups, decoded and encoded to the same bytes.
//!
//! `HYPERSLAB_TILEDB_CORPUS` names the folder: the unpacked corpus, or any other.

use hyperslab_codec::{Deflate, Scratch, decode_within};
use hyperslab_core::store::{DirectoryStore, Key, Store};
use hyperslab_core::{Decoder, Encoder, Error, Limits, Result};
use hyperslab_tiledb::directory::{ArrayDirectory, is_array};
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::consolidated_commits::ConsolidatedCommits;
use hyperslab_tiledb::format::consolidated_fragment_metadata::ConsolidatedFragmentMetadata;
use hyperslab_tiledb::format::data_file_name::DataFile;
use hyperslab_tiledb::format::delete_condition::DeleteCondition;
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::fragment_metadata::FragmentContext;
use hyperslab_tiledb::format::fragment_metadata::footer::Footer;
use hyperslab_tiledb::format::fragment_metadata::fragment_summary::FragmentSummary;
use hyperslab_tiledb::format::fragment_metadata::processed_conditions::ProcessedConditions;
use hyperslab_tiledb::format::fragment_metadata::r_tree::{RTree, RTreeContext};
use hyperslab_tiledb::format::fragment_metadata::tile_min_max::TileMinMax;
use hyperslab_tiledb::format::fragment_metadata::tile_offsets::TileOffsets;
use hyperslab_tiledb::format::fragment_metadata::tile_sums::TileSums;
use hyperslab_tiledb::format::fragment_metadata::version_1::LegacyFragmentMetadata;
use hyperslab_tiledb::format::generic_tile::{Encryption, GenericTileHeader};
use hyperslab_tiledb::format::group::GroupDetails;
use hyperslab_tiledb::format::ignore_file::IgnoreFile;
use hyperslab_tiledb::format::metadata::Metadata;
use hyperslab_tiledb::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use hyperslab_tiledb::format::vacuum_file::VacuumFile;
use hyperslab_tiledb::format::{Structure, decode_all, encode_all, tile, uri_lines};
use hyperslab_tiledb::group_directory::{GroupDirectory, is_group, members};
use hyperslab_tiledb::opened::Moment;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What the corpus contains besides sound arrays of a released library: a file from before version 1, one of a
/// development version, and what is encrypted.
const REFUSED: [&str; 3] = ["dense_array_v1_3_0", "experimental_array_vUINT32_MAX", "dense_encrypted"];

#[test]
fn structures_of_a_corpus_encode_to_the_bytes_they_were_decoded_from() {
    let Some(root) = std::env::var_os("HYPERSLAB_TILEDB_CORPUS") else {
        println!("skipped: HYPERSLAB_TILEDB_CORPUS names no folder of TileDB arrays");
        return;
    };
    let mut trial = Trial::default();
    trial.folder(Path::new(&root));
    for (what, count) in &trial.counts {
        println!("{count:6} {what}");
    }
    for refused in &trial.refused {
        println!("refused {refused}");
    }
    for failure in &trial.failures {
        println!("FAILED {failure}");
    }
    assert!(trial.failures.is_empty(), "{} failures", trial.failures.len());
}

#[derive(Default)]
struct Trial {
    counts: BTreeMap<String, usize>,
    refused: Vec<String>,
    failures: Vec<String>,
}

impl Trial {
    fn folder(&mut self, folder: &Path) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let tried = self.entry(&path);
            if let Err(e) = tried {
                let text = format!("{}: {e}", path.display());
                match REFUSED.iter().any(|name| text.contains(name)) {
                    true => self.refused.push(text),
                    false => self.failures.push(text),
                }
            }
            if path.is_dir() {
                self.listed(&path).unwrap();
                self.folder(&path);
            }
        }
    }

    /// Lists a folder that is an array or a group, and checks that everything that counts exists.
    fn listed(&mut self, folder: &Path) -> Result<()> {
        let (store, root, limits) = (DirectoryStore::open(folder)?, Key::root(), Limits::default());
        if is_array(&store, &root)? {
            let directory = ArrayDirectory::read(&store, &root, &limits)?;
            for fragment in &directory.fragments {
                assert!(store.size(&fragment.key.join(METADATA_FILE)?)?.is_some(), "{}", fragment.key);
                self.count("complete fragment");
            }
            self.count("array");
        }
        if is_group(&store, &root)? {
            let directory = GroupDirectory::read(&store, &root, &limits)?;
            assert!(directory.ignored.is_empty(), "{:?}", directory.ignored);
            let mut details = Vec::new();
            for file in directory.opened(Moment::ALL).details {
                let bytes = store.read(&file.key, limits.allocation)?.unwrap();
                let body = unfiltered(&bytes, 0)?;
                details.push(decode_all(Decoder::new("Group", 0, &body), &())?);
            }
            members(details).iter().for_each(|_| self.count("member of a group"));
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path) -> Result<()> {
        let name = path.file_name().and_then(OsStr::to_str).unwrap();
        let parent = path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
        if path.is_dir() {
            return match path.join(METADATA_FILE).is_file() {
                true => self.fragment(path, name),
                false => Ok(()),
            };
        }
        match (parent, name) {
            (_, "__array_schema.tdb") => self.schema(path).map(drop),
            ("__schema", _) => {
                self.name(name)?;
                self.schema(path).map(drop)
            }
            ("__enumerations", _) => self.body::<Enumeration>("enumeration", path),
            ("__group", _) => {
                self.name(name)?;
                self.body::<GroupDetails>("group", path)
            }
            ("__meta", _) if !name.contains('.') => {
                self.name(name)?;
                self.body::<Metadata>("metadata", path)
            }
            _ => self.commit(path, name),
        }
    }

    fn commit(&mut self, path: &Path, name: &str) -> Result<()> {
        let Some(commit) = CommitName::parse(name)? else { return Ok(()) };
        assert_eq!(commit.to_string(), name);
        let bytes = fs::read(path)?;
        match commit.kind {
            CommitKind::Ok | CommitKind::Write => {
                assert!(bytes.is_empty(), "{name}");
                self.count("empty commit");
                Ok(())
            }
            CommitKind::Delete => self.body::<DeleteCondition>("delete condition", path),
            CommitKind::Update => Ok(()),
            CommitKind::Vacuum => {
                let vacuum: VacuumFile = self.exact("vacuum file", &bytes, &())?;
                vacuum.uris.iter().try_for_each(|uri| self.name(text(uri_lines::last_name(uri))))
            }
            CommitKind::Ignore => self.exact::<IgnoreFile>("ignore file", &bytes, &()).map(drop),
            CommitKind::Consolidated => {
                let commits: ConsolidatedCommits = self.exact("consolidated commits", &bytes, &())?;
                for commit in commits.commits {
                    assert!(CommitName::parse(text(uri_lines::last_name(&commit.uri)))?.is_some());
                    if let Some(file) = commit.delete {
                        self.exact::<DeleteCondition>("delete condition", &unfiltered(&file, 0)?, &())?;
                    }
                }
                Ok(())
            }
            CommitKind::FragmentMetadata => {
                let consolidated: ConsolidatedFragmentMetadata =
                    self.exact("consolidated footers", &unfiltered(&bytes, 0)?, &())?;
                for fragment in consolidated.fragments {
                    self.name(text(uri_lines::last_name(&fragment.uri)))?;
                    Footer::beginning(&mut Decoder::new("Footer", 0, &fragment.footer))?;
                }
                Ok(())
            }
        }
    }

    fn fragment(&mut self, folder: &Path, name: &str) -> Result<()> {
        let version = TimestampedName::parse(name)?.fragment_version();
        self.name(name)?;
        let above = folder.parent().unwrap();
        let array = if above.ends_with("__fragments") { above.parent().unwrap() } else { above };
        let bytes = fs::read(folder.join(METADATA_FILE))?;
        if version < 3 {
            let schema = self.schema(&array.join("__array_schema.tdb"))?;
            let context = context(&schema);
            let body = unfiltered(&bytes, 0)?;
            return self
                .exact::<LegacyFragmentMetadata>("fragment of version 1 or 2", &body, &context)
                .map(drop);
        }
        let footer = match version < 10 {
            true => {
                let schema = self.schema(&array.join("__array_schema.tdb"))?;
                match Footer::known_len(version, &context(&schema)) {
                    Some(len) => &bytes[bytes.len() - usize::try_from(len).unwrap()..],
                    None => footer_before_its_length(&bytes),
                }
            }
            false => footer_before_its_length(&bytes),
        };
        let (_, schema_name) = Footer::beginning(&mut Decoder::new("Footer", 0, footer))?;
        let schema_name = schema_name.unwrap_or_else(|| b"__array_schema.tdb".to_vec());
        let places = [array.join("__schema").join(text(&schema_name)), array.join(text(&schema_name))];
        let schema = self.schema(places.iter().find(|place| place.is_file()).unwrap())?;
        let context = context(&schema);
        let footer: Footer = self.exact(&format!("footer of version {version}"), footer, &context)?;
        self.pieces(&bytes, &footer, &context)?;
        files(folder, &schema, &footer)
    }

    fn pieces(&mut self, bytes: &[u8], footer: &Footer, context: &FragmentContext) -> Result<()> {
        let tiles = &footer.generic_tiles;
        let trees = RTreeContext { version: footer.version, coordinates: context.coordinates.clone() };
        let tree: RTree = self.exact("R-tree", &unfiltered(bytes, tiles.r_tree)?, &trees)?;
        if !footer.dense {
            assert_eq!(tree.leaves().map_or(0, |leaves| leaves.len() as u64), footer.sparse_tile_num);
        }
        let numbers = [
            &tiles.tile_offsets,
            &tiles.tile_var_offsets,
            &tiles.tile_var_sizes,
            &tiles.tile_validity_offsets,
            &tiles.tile_null_counts,
        ];
        for offset in numbers.into_iter().flatten() {
            self.exact::<TileOffsets>(
                "tile offsets, sizes or null counts",
                &unfiltered(bytes, *offset)?,
                &(),
            )?;
        }
        for offset in tiles.tile_mins.iter().chain(&tiles.tile_maxes) {
            self.exact::<TileMinMax>("tile mins or maxes", &unfiltered(bytes, *offset)?, &())?;
        }
        for offset in &tiles.tile_sums {
            self.exact::<TileSums>("tile sums", &unfiltered(bytes, *offset)?, &())?;
        }
        if let Some(offset) = tiles.fragment_summary {
            let slots = usize::try_from(footer.slots(context).count()).unwrap();
            self.exact::<FragmentSummary>("fragment summary", &unfiltered(bytes, offset)?, &slots)?;
        }
        if let Some(offset) = tiles.processed_conditions {
            self.exact::<ProcessedConditions>("processed conditions", &unfiltered(bytes, offset)?, &())?;
        }
        Ok(())
    }

    fn schema(&mut self, path: &Path) -> Result<ArraySchema> {
        let body = unfiltered(&fs::read(path)?, 0)?;
        let version = body.first().copied().unwrap_or_default();
        self.exact(&format!("schema of version {version}"), &body, &())
    }

    fn body<S: Structure<Context = ()>>(&mut self, what: &str, path: &Path) -> Result<()> {
        let body = unfiltered(&fs::read(path)?, 0)?;
        self.exact::<S>(what, &body, &()).map(drop)
    }

    fn exact<S: Structure>(&mut self, what: &str, bytes: &[u8], context: &S::Context) -> Result<S> {
        let value: S = decode_all(Decoder::new(S::NAME, 0, bytes), context)?;
        if encode_all(&value, context)? != bytes {
            return Err(Error::malformed(format!("{what} encodes to other bytes")));
        }
        self.count(what);
        Ok(value)
    }

    fn name(&mut self, name: &str) -> Result<()> {
        assert_eq!(TimestampedName::parse(name)?.to_string(), name);
        self.count("timestamped name");
        Ok(())
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }
}

/// Checks that the files of a fragment have the names that follow from its version, and the bytes that its metadata
/// states. Files of some vector searches have twice as many, because they were written twice; only the first half
/// counts.
fn files(folder: &Path, schema: &ArraySchema, footer: &Footer) -> Result<()> {
    let version = footer.version;
    let slots = footer.slots(&context(schema));
    let attributes = schema.attributes.iter().enumerate();
    let mut all: Vec<(DataFile<'_>, u64, bool)> = attributes
        .map(|(position, attribute)| {
            let file = DataFile::Attribute { position, name: &attribute.name };
            (file, position as u64, attribute.cell_val_num.is_var())
        })
        .collect();
    for (position, dimension) in schema.domain.dimensions.iter().enumerate().filter(|_| !footer.dense) {
        if let Some(slot) = slots.dimension(position) {
            let file = DataFile::Dimension { position, name: &dimension.name };
            all.push((file, slot, dimension.cell_val_num.is_var()));
        }
    }
    if version < 5 && !footer.dense {
        all.push((DataFile::Coordinates, slots.coordinates(), false));
    }
    all.extend(slots.timestamps().map(|slot| (DataFile::Timestamps, slot, false)));
    all.extend(slots.delete_timestamps().map(|slot| (DataFile::DeleteTimestamps, slot, false)));
    all.extend(slots.delete_timestamps().map(|slot| (DataFile::DeleteConditions, slot + 1, false)));
    for (file, slot, is_var) in all {
        let slot = usize::try_from(slot).unwrap();
        let sizes = [(file.fixed(version), footer.file_sizes[slot])];
        let var = is_var.then(|| (file.var(version), footer.file_var_sizes[slot]));
        for (name, size) in sizes.into_iter().chain(var) {
            let found = fs::metadata(folder.join(text(&name))).map_or(0, |found| found.len());
            if found < size {
                return Err(Error::malformed(format!(
                    "{} of {found} bytes, the footer says {size}",
                    text(&name)
                )));
            }
        }
    }
    Ok(())
}

fn context(schema: &ArraySchema) -> FragmentContext {
    FragmentContext { attributes: schema.attributes.len(), coordinates: schema.domain.coordinate_sizes() }
}

fn footer_before_its_length(bytes: &[u8]) -> &[u8] {
    let (rest, len) = bytes.split_at(bytes.len() - 8);
    let len = usize::try_from(u64::from_le_bytes(len.try_into().unwrap())).unwrap();
    &rest[rest.len() - len..]
}

/// The body of the generic tile at an offset in a file, if it has the filters that TileDB writes.
fn unfiltered(bytes: &[u8], at: u64) -> Result<Vec<u8>> {
    let start = usize::try_from(at).unwrap();
    let mut d = Decoder::new(GenericTileHeader::NAME, at, &bytes[start..]);
    let header = GenericTileHeader::decode(&mut d, &())?;
    let end = start + encode_all(&header, &())?.len();
    assert_eq!(encode_all(&header, &())?, bytes[start..end]);
    if header.encryption != Encryption::None {
        return Err(Error::unsupported("encrypted"));
    }
    let ids = filters(&encode_all(&header.filters, &header.version)?)?;
    let len = d.len_of(header.persisted_size)?;
    let mut d = d.sub("Tile", len)?;
    let chunks = tile::decode(&mut d)?;
    d.finish()?;
    let mut e = Encoder::new();
    tile::encode(&chunks, &mut e)?;
    assert_eq!(e.as_slice(), &bytes[end..end + len]);
    let mut body = Vec::new();
    for chunk in chunks {
        match ids.as_slice() {
            [] => body.extend_from_slice(chunk.data),
            [1] => inflate(&chunk, &mut body)?,
            other => return Err(Error::unsupported(format!("filters {other:?}"))),
        }
    }
    assert_eq!(body.len() as u64, header.tile_size);
    Ok(body)
}

/// The types of the filters of a pipeline.
fn filters(pipeline: &[u8]) -> Result<Vec<u8>> {
    let mut d = Decoder::new("Filter Pipeline", 0, pipeline);
    d.reserved(4)?;
    let count = d.u32()?;
    let filter = |_| {
        let id = d.u8()?;
        let len = d.u32()?;
        let len = d.len_of(len.into())?;
        d.take(len).map(|_| id)
    };
    (0..count).map(filter).collect()
}

fn inflate(chunk: &tile::Chunk<'_>, body: &mut Vec<u8>) -> Result<()> {
    let mut metadata = Decoder::new("Compression Filter", 0, chunk.metadata);
    assert_eq!(metadata.u32()?, 0);
    let parts = metadata.u32()?;
    let mut data = Decoder::new("Compression Filter", 0, chunk.data);
    for _ in 0..parts {
        let (original, compressed) = (metadata.u32()?, metadata.u32()?);
        let compressed = data.len_of(compressed.into())?;
        let most = usize::try_from(original).unwrap();
        let part =
            decode_within(&[Deflate { level: 1 }.into()], data.take(compressed)?, most, &mut Scratch::new())?;
        assert_eq!(part.len(), most);
        body.extend(part);
    }
    data.finish()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const METADATA_FILE: &str = "__fragment_metadata.tdb";
