//! Writes arrays of every data type, codec, grid and version, for other readers to read:
//! `cargo run -p hyperslab-zarr --example matrix -- DIRECTORY [all]`
//!
//! Each array is the node `data` of a separate store. `cells.jsonl` describes each array, `*.bin` has its elements in
//! row-major order and little endian. Without `all`, each pair of type, codec and grid occurs at least once.

use bytes::Bytes;
use hyperslab_codec::{
    Blosc, BloscCodec, BloscShuffle, Bzip2, Checksum, ChecksumAlgorithm, Deflate, Fletcher32, Gzip,
    Lz4Numcodecs, Pcodec, PcodecSettings, Scratch, Shuffle, Zstd,
};
use hyperslab_core::nd::{Region, element_count, gather};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::store::{DirectoryWriter, Durability, Key, WritableStore, ZipWriter};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_zarr::data_type::{ByteOrder, DataType, Float, Struct, TimeUnit, TypeForm};
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::{Edges, Separator};
use hyperslab_zarr::write::{ArrayDefinition, ArrayWriter, HierarchyWriter, Version, WrittenCodec};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Type {
    name: &'static str,
    data_type: DataType,
    form: TypeForm,
    /// The name of the type in NumPy. Types without a name in NumPy are bytes.
    numpy: &'static str,
}

struct Grid {
    name: &'static str,
    shape: &'static [u64],
    set: fn(ArrayDefinition) -> ArrayDefinition,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or_else(|| Error::invalid("no directory"))?);
    let all = args.next().as_deref() == Some("all");
    fs::create_dir_all(&folder)?;
    let (types, grids) = (types()?, grids());
    let mut cells = String::new();
    let mut number = 0_u32;
    for kind in &types {
        let codecs = codecs(&kind.data_type);
        for grid in &grids {
            for (codec, list) in &codecs {
                let usual_type = matches!(kind.name, "int16" | "float32");
                let usual = [usual_type, *codec == "default", grid.name == "chunks"];
                if !all && !usual.contains(&true) {
                    continue;
                }
                for version in [Version::V2, Version::V3] {
                    // In version 2, pcodec receives big-endian numbers, which it cannot encode.
                    if version == Version::V2 && *codec == "pcodec" && grid.name == "big-endian" {
                        continue;
                    }
                    let ending = if grid.name == ZIP { "zip" } else { "zarr" };
                    let store = format!("{number:05}.{ending}");
                    let cell = Cell { kind, grid, codec, list, version };
                    let told = match cell.write(&folder.join(&store)) {
                        Ok(()) => String::new(),
                        Err(e) if e.kind() == ErrorKind::Unsupported => e.detail().to_owned(),
                        Err(e) => return Err(e.in_file(format!("{} {codec} {}", kind.name, grid.name))),
                    };
                    let _ = writeln!(cells, "{}", cell.describe(&store, told).emit_compact());
                    number += 1;
                }
            }
            let values = elements(kind, grid.shape);
            fs::write(folder.join(format!("{}-{}.bin", kind.name, grid.name)), values.told)?;
        }
    }
    fs::write(folder.join("cells.jsonl"), cells)?;
    println!("{number} cells");
    Ok(())
}

struct Cell<'a> {
    kind: &'a Type,
    grid: &'a Grid,
    codec: &'static str,
    list: &'a Option<Vec<WrittenCodec>>,
    version: Version,
}

impl Cell<'_> {
    fn write(&self, path: &Path) -> Result<()> {
        let fill = match &self.kind.data_type {
            DataType::String => "fill".as_bytes().to_vec(),
            DataType::Bytes => vec![7, 0, 9],
            _ => elements(self.kind, &[1]).rows,
        };
        let mut array = ArrayDefinition::new(self.grid.shape.to_vec(), self.kind.data_type.clone())
            .type_form(self.kind.form)
            .fill(fill)
            .dimension_names((0..self.grid.shape.len()).map(|at| Some(format!("d{at}"))).collect());
        if let Some(list) = self.list {
            array = array.codecs(list.clone());
        }
        array = (self.grid.set)(array);
        // A rejected array must leave no files.
        array.documents(self.version)?;
        let store: Arc<dyn WritableStore> = match self.grid.name {
            ZIP => Arc::new(ZipWriter::create(path, Durability::Process)?),
            _ => Arc::new(DirectoryWriter::create(path, Durability::Process)?),
        };
        let hierarchy = HierarchyWriter::new(store, self.version)?;
        let array = hierarchy.array(&Key::root(), "data", array)?;
        write_chunks(&array, &elements(self.kind, self.grid.shape))?;
        array.finish()?;
        hierarchy.finish(true)
    }

    fn describe(&self, store: &str, refused: String) -> Json {
        let mut cell = Object::new();
        cell.insert("store", store.into());
        cell.insert("version", Json::from(if self.version == Version::V2 { 2 } else { 3 }));
        cell.insert("type", self.kind.name.into());
        cell.insert("codec", self.codec.into());
        cell.insert("grid", self.grid.name.into());
        cell.insert("numpy", self.kind.numpy.into());
        cell.insert("shape", self.grid.shape.into());
        cell.insert("values", format!("{}-{}.bin", self.kind.name, self.grid.name).as_str().into());
        cell.insert("refused", refused.as_str().into());
        Json::Object(cell)
    }
}

fn write_chunks(array: &ArrayWriter, elements: &Elements) -> Result<()> {
    let all = Region::all(array.shape());
    let mut scratch = Scratch::new();
    let row = array.row_size();
    for chunk in array.grid().chunks_in(&all)? {
        let ends = chunk.start.iter().zip(&chunk.shape).zip(array.shape());
        let within: Vec<u64> = ends.map(|((start, size), len)| (*size).min(len - start)).collect();
        let len = element_count(&within).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let mut part = vec![0; len * row];
        gather(&elements.rows, &all, &mut part, &chunk.start, &within, row)?;
        array.write_chunk(&chunk.index, &part, &elements.heap, &mut scratch)?;
    }
    Ok(())
}

struct Elements {
    rows: Vec<u8>,
    heap: Heap<()>,
    /// The bytes of the rows, for other readers.
    told: Vec<u8>,
}

/// Elements that depend only on the type and the shape. The first half repeats the first element, so that whole chunks
/// are constant.
fn elements(kind: &Type, shape: &[u64]) -> Elements {
    let count = element_count(shape).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    let mut heap = Heap::default();
    let (mut rows, mut told) = (Vec::new(), Vec::new());
    for at in 0..count {
        let mut random = Random(if at < count / 2 { 0 } else { at as u64 });
        match &kind.data_type {
            DataType::String | DataType::Bytes => {
                let texts = ["fill", "", "a", "ßü深", "longer than the others\0 "];
                let bytes: [&[u8]; 5] = [&[7, 0, 9], &[], &[0], &[255; 4], b"longer than the others\0 "];
                let choice = usize::try_from(random.0 % 5).unwrap_or_default();
                let content = match kind.data_type {
                    DataType::String => texts.get(choice).map(|text| text.as_bytes()),
                    _ => bytes.get(choice).copied(),
                };
                let content = content.unwrap_or_default();
                let len = u32::try_from(content.len()).unwrap_or_default();
                told.extend(len.to_le_bytes());
                told.extend(content);
                let buffer = heap.push(Bytes::copy_from_slice(content)).unwrap_or_default();
                rows.extend(Slot { buffer, count: len, offset: 0 }.to_bytes());
            }
            data_type => append(data_type, &mut random, &mut rows),
        }
    }
    if told.is_empty() {
        told.clone_from(&rows);
    }
    Elements { rows, heap, told }
}

fn append(data_type: &DataType, random: &mut Random, rows: &mut Vec<u8>) {
    match data_type {
        DataType::Bool => rows.push(random.byte() & 1),
        DataType::Integer { signed, bits: bits @ 0..8 } => {
            let unused = 8 - bits;
            let high = random.byte() << unused;
            rows.push(if *signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused });
        }
        // Without NaN, because some readers change its bits.
        DataType::Float(Float::Float16) => rows.extend([random.byte(), random.byte() & 0xbb]),
        DataType::Float(Float::Float64) => random.float64(rows),
        DataType::Float(Float::Float32 | Float::Bfloat16) | DataType::Complex(Float::Float32) => {
            for _ in 0..data_type.row_size().div_ceil(4) {
                let value = (f32::from(random.byte()) - 128.5) / 4.0 * f32::from(random.byte());
                let bytes = value.to_le_bytes();
                let skip = if data_type.row_size() == 2 { 2 } else { 0 };
                rows.extend(bytes.get(skip..).unwrap_or_default());
            }
        }
        DataType::Float(_) => rows.push(random.byte() & 0x37),
        DataType::Complex(_) => (0..2).for_each(|_| random.float64(rows)),
        DataType::FixedLengthUtf32 { length } => {
            let letters = random.0 % (length + 1);
            for at in 0..*length {
                let c = if at < letters { char::from(b'a' + random.byte() % 26) } else { '\0' };
                rows.extend(u32::from(c).to_le_bytes());
            }
        }
        DataType::NullTerminatedBytes { length } => {
            let letters = random.0 % (length + 1);
            rows.extend((0..*length).map(|at| if at < letters { b'a' + random.byte() % 26 } else { 0 }));
        }
        DataType::Struct(structure) => {
            structure.fields().iter().for_each(|field| append(&field.data_type, random, rows));
        }
        other => rows.extend((0..other.row_size()).map(|_| random.byte())),
    }
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let [.., byte, _] = self.0.to_le_bytes();
        byte
    }

    fn float64(&mut self, rows: &mut Vec<u8>) {
        let value = (f64::from(self.byte()) - 128.5) / 4.0 * f64::from(self.byte());
        rows.extend(value.to_le_bytes());
    }
}

fn types() -> Result<Vec<Type>> {
    let integer = |signed, bits| DataType::Integer { signed, bits };
    let unit = |name, scale| TimeUnit::new(name, scale).ok_or_else(|| Error::invalid("no such unit"));
    let fields = [
        ("name".to_owned(), DataType::FixedLengthUtf32 { length: 4 }),
        ("age".to_owned(), integer(true, 32)),
        ("weight".to_owned(), DataType::Float(Float::Float32)),
    ];
    let flat = DataType::Struct(Struct::new([
        ("id".to_owned(), integer(true, 32)),
        ("flag".to_owned(), integer(false, 8)),
        ("value".to_owned(), DataType::Float(Float::Float64)),
    ])?);
    let nested = DataType::Struct(Struct::new([
        ("inner".to_owned(), flat.clone()),
        ("last".to_owned(), integer(false, 16)),
    ])?);
    let dogs = DataType::Struct(Struct::new(fields)?);
    let flat_numpy = "[('id','<i4'),('flag','u1'),('value','<f8')]";
    let nested_numpy = "[('inner',[('id','<i4'),('flag','u1'),('value','<f8')]),('last','<u2')]";
    let dogs_numpy = "[('name','<U4'),('age','<i4'),('weight','<f4')]";
    let mut types: Vec<Type> = [
        ("bool", DataType::Bool, "?"),
        ("int8", integer(true, 8), "i1"),
        ("int16", integer(true, 16), "<i2"),
        ("int32", integer(true, 32), "<i4"),
        ("int64", integer(true, 64), "<i8"),
        ("uint8", integer(false, 8), "u1"),
        ("uint16", integer(false, 16), "<u2"),
        ("uint32", integer(false, 32), "<u4"),
        ("uint64", integer(false, 64), "<u8"),
        ("float16", DataType::Float(Float::Float16), "<f2"),
        ("float32", DataType::Float(Float::Float32), "<f4"),
        ("float64", DataType::Float(Float::Float64), "<f8"),
        ("bfloat16", DataType::Float(Float::Bfloat16), "bfloat16"),
        ("float8_e4m3fnuz", DataType::Float(Float::Float8E4m3fnuz), "float8_e4m3fnuz"),
        ("float8_e5m2", DataType::Float(Float::Float8E5m2), "float8_e5m2"),
        ("int4", integer(true, 4), "int4"),
        ("complex64", DataType::Complex(Float::Float32), "<c8"),
        ("complex128", DataType::Complex(Float::Float64), "<c16"),
        ("raw", DataType::Raw { length: 3 }, "V3"),
        ("null_terminated_bytes", DataType::NullTerminatedBytes { length: 5 }, "S5"),
        ("fixed_length_utf32", DataType::FixedLengthUtf32 { length: 4 }, "<U4"),
        ("string", DataType::String, "string"),
        ("bytes", DataType::Bytes, "bytes"),
        ("datetime64", DataType::DateTime64(unit("us", 10)?), "<M8[10us]"),
        ("timedelta64", DataType::TimeDelta64(unit("s", 1)?), "<m8[s]"),
        ("struct", flat.clone(), flat_numpy),
        ("struct-nested", nested, nested_numpy),
        ("struct-utf32", dogs, dogs_numpy),
    ]
    .into_iter()
    .map(|(name, data_type, numpy)| Type { name, data_type, form: TypeForm::Registered, numpy })
    .collect();
    types.push(Type {
        name: "struct-seed",
        data_type: flat.clone(),
        form: TypeForm::Seed,
        numpy: flat_numpy,
    });
    types.push(Type { name: "struct-legacy", data_type: flat, form: TypeForm::Legacy, numpy: flat_numpy });
    Ok(types)
}

fn grids() -> Vec<Grid> {
    let grid = |name, shape, set| Grid { name, shape, set };
    vec![
        grid("default", &[7, 5], |array| array),
        grid("scalar", &[], |array| array),
        grid("empty", &[3, 0], |array| array),
        grid("chunks", &[7, 5], |array| array.chunks(vec![3, 2])),
        grid("chunks-3d", &[4, 3, 5], |array| array.chunks(vec![2, 2, 2])),
        grid("big-endian", &[7, 5], |array| array.chunks(vec![3, 2]).byte_order(ByteOrder::Big)),
        grid("reversed", &[4, 3, 5], |array| array.chunks(vec![2, 2, 2]).transpose(vec![2, 1, 0])),
        grid("rotated", &[4, 3, 5], |array| array.chunks(vec![2, 2, 3]).transpose(vec![1, 2, 0])),
        grid("dots", &[7, 5], |array| array.chunks(vec![3, 2]).separator(Separator::Dot)),
        grid("slashes", &[7, 5], |array| array.chunks(vec![3, 2]).separator(Separator::Slash)),
        grid(ZIP, &[7, 5], |array| array.chunks(vec![3, 2])),
        grid("shards", &[7, 5], |array| array.chunks(vec![3, 1]).shards(vec![6, 5])),
        grid("rectilinear", &[7, 5], |array| {
            array.rectilinear(vec![Edges::Runs(vec![(1, 2), (5, 1)]), Edges::Step(2)])
        }),
    ]
}

type Codecs = Vec<(&'static str, Option<Vec<WrittenCodec>>)>;

fn codecs(data_type: &DataType) -> Codecs {
    let element = match data_type {
        DataType::String | DataType::Bytes => 1,
        data_type => usize::try_from(data_type.row_size()).unwrap_or(1),
    };
    let blosc =
        |codec, shuffle| -> WrittenCodec { Blosc { codec, level: 5, shuffle, element, block: 0 }.into() };
    let sum = |algorithm, at_start| -> WrittenCodec { Checksum { algorithm, at_start }.into() };
    let zstd = || -> WrittenCodec { Zstd { level: 3, checksum: false }.into() };
    let mut codecs: Codecs = [
        ("none", vec![]),
        ("zstd", vec![zstd()]),
        ("zstd-checksum", vec![Zstd { level: -3, checksum: true }.into()]),
        ("gzip", vec![Gzip { level: 6 }.into()]),
        ("zlib", vec![Deflate { level: 4 }.into()]),
        ("bz2", vec![Bzip2 { level: 1 }.into()]),
        ("lz4", vec![Lz4Numcodecs { acceleration: 1 }.into()]),
        ("blosc-lz4", vec![blosc(BloscCodec::Lz4, BloscShuffle::Byte)]),
        ("blosc-lz4hc", vec![blosc(BloscCodec::Lz4Hc, BloscShuffle::Bit)]),
        ("blosc-blosclz", vec![blosc(BloscCodec::BloscLz, BloscShuffle::None)]),
        ("blosc-zlib", vec![blosc(BloscCodec::Zlib, BloscShuffle::Byte)]),
        ("blosc-zstd", vec![blosc(BloscCodec::Zstd, BloscShuffle::Bit)]),
        ("shuffle-zlib", vec![Shuffle { element }.into(), Deflate { level: 4 }.into()]),
        ("crc32c", vec![sum(ChecksumAlgorithm::Crc32c, false)]),
        ("zstd-crc32c", vec![zstd(), sum(ChecksumAlgorithm::Crc32c, false)]),
        ("crc32", vec![sum(ChecksumAlgorithm::Crc32, true)]),
        ("adler32", vec![sum(ChecksumAlgorithm::Adler32, true)]),
        ("lookup3", vec![sum(ChecksumAlgorithm::Lookup3 { initial: 0 }, false)]),
        ("fletcher32", vec![zstd(), Fletcher32.into()]),
    ]
    .into_iter()
    .map(|(name, list)| (name, Some(list)))
    .collect();
    codecs.insert(0, ("default", None));
    if let DataType::Integer { signed, bits: bits @ (16 | 32 | 64) } = data_type {
        let dtype = format!("<{}{}", if *signed { 'i' } else { 'u' }, bits / 8);
        let parameters = [("dtype".to_owned(), Json::from(dtype.as_str()))].into_iter().collect();
        let delta = WrittenCodec::Numcodecs { id: "delta".to_owned(), parameters };
        codecs.push(("delta-zstd", Some(vec![delta, zstd()])));
    }
    let is_number = matches!(data_type, DataType::Integer { .. } | DataType::Float(_));
    let number = hyperslab_zarr::codec::elements(data_type, ByteOrder::Little).number.filter(|_| is_number);
    if let Some(pcodec) = number.and_then(|number| Pcodec::new(number, PcodecSettings::default()).ok()) {
        codecs.push(("pcodec", Some(vec![pcodec.into()])));
    }
    codecs
}

/// The grid whose store is a zip file.
const ZIP: &str = "zip";
