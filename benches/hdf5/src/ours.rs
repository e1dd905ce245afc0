//! hyperslab's side.

use crate::content::{Content, FEW, Task, dataset_name, few, group_name};
use bench_side::{Failure, Job, Side, Work, Written};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Region, gather};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::WritableFile;
use hyperslab_hdf5::element::FloatKind;
use hyperslab_hdf5::filter::{DEFLATE, SHUFFLE};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::character_set::CharacterSet;
use hyperslab_hdf5::format::message::dataspace::Extent;
use hyperslab_hdf5::format::message::datatype::{Datatype, DatatypeClass, FloatByteOrder, Version};
use hyperslab_hdf5::format::message::fill_value::{AllocationTime, WriteTime};
use hyperslab_hdf5::format::message::filter_pipeline::Filter;
use hyperslab_hdf5::format::message::link::{Link, LinkTarget};
use hyperslab_hdf5::write::{
    DatasetWriter, EncodedPiece, FileOptions, FileWriter, GroupAddress, NewDataset, NewDatatype, NewFill,
    NewGroup, NewLayout, NewLink, NewObject, Ranks,
};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// The work for a job.
pub(crate) fn work(job: &Job) -> Result<Box<dyn Work>, Failure> {
    Written::boxed(job, Ours(Task::of(job)?))
}

struct Ours(Task);

impl Side for Ours {
    fn write(&mut self, store: &Path, elements: &[u8]) -> Result<(), Failure> {
        let mut writer = FileWriter::new(FileOptions::default())?;
        match &self.0.content {
            Content::Array { shape, chunk, is_deflated } => {
                let dataset = dataset(shape, chunk, *is_deflated)?;
                let link = vec![link("data".to_owned(), writer.measure_dataset(&dataset)?)];
                group(&mut writer, link.clone())?;
                let file = Arc::new(WritableFile::create(store)?);
                let mut writer = writer.measured()?.begin(file, Ranks::default())?;
                let data = writer.begin_dataset(&dataset)?;
                pieces(&data, shape, elements, self.0.threads)?;
                data.finish()?;
                let root = group(&mut writer, link)?;
                writer.finish(root)?;
            }
            Content::Many { groups, members } => {
                let dataset = dataset(&[FEW], &[], false)?;
                let each =
                    |writer: &mut FileWriter, add: &dyn Fn(&mut FileWriter) -> Result<Address, Failure>| {
                        let mut links = Vec::new();
                        for at in 0..*groups {
                            let members =
                                (0..*members).map(|member| Ok(link(dataset_name(member), add(writer)?)));
                            let members = members.collect::<Result<_, Failure>>()?;
                            links.push(link(group_name(at), group(writer, members)?.header));
                        }
                        group(writer, links)
                    };
                each(&mut writer, &|writer| Ok(writer.measure_dataset(&dataset)?))?;
                let file = Arc::new(WritableFile::create(store)?);
                let mut writer = writer.measured()?.begin(file, Ranks::default())?;
                let root = each(&mut writer, &|writer| {
                    let data = writer.begin_dataset(&dataset)?;
                    data.store(&[0], bytemuck::bytes_of(&few()), 0)?;
                    let address = data.address();
                    data.finish()?;
                    Ok(address)
                })?;
                writer.finish(root)?;
            }
        }
        Ok(())
    }

    fn hash(&self, store: &Path) -> Result<String, Failure> {
        self.0.hash(store)
    }
}

fn group(writer: &mut FileWriter, links: Vec<NewLink>) -> Result<GroupAddress, Failure> {
    Ok(writer.group(NewGroup { links, ..NewGroup::default() })?)
}

fn link(name: String, address: Address) -> NewLink {
    let (name, target) = (name.into_bytes(), LinkTarget::Hard(address));
    let link = Link { name, character_set: Some(CharacterSet::Ascii), creation_order: None, target };
    NewLink { link, symbol_table: None }
}

fn dataset(shape: &[u64], chunk: &[u64], is_deflated: bool) -> Result<NewDataset, Failure> {
    let float = FloatKind::Single.class(FloatByteOrder::LittleEndian).ok_or("no float32")?;
    let class = DatatypeClass::FloatingPoint(float.1);
    let datatype = Datatype { version: Version::V1, size: float.0, class };
    let filter = |id, optional, client_data| Filter { id, name: Vec::new(), optional, client_data };
    let filters = match is_deflated {
        true => vec![filter(SHUFFLE, true, vec![datatype.size]), filter(DEFLATE, true, vec![4])],
        false => Vec::new(),
    };
    let (layout, allocation_time) = match chunk {
        [] => (NewLayout::Contiguous, AllocationTime::Late),
        chunk => (
            NewLayout::Chunked { shape: chunk.to_vec(), unfiltered_edges: false },
            AllocationTime::Incremental,
        ),
    };
    Ok(NewDataset {
        object: NewObject::default(),
        datatype: NewDatatype { datatype, committed: None },
        extent: Extent::Simple { dimensions: shape.to_vec(), maximum: None, permutation: None },
        layout,
        filters,
        fill: NewFill::Default,
        allocation_time,
        write_time: WriteTime::IfSet,
    })
}

/// Stores all elements with several threads. Chunks are stored in the order of their indexes.
fn pieces(data: &DatasetWriter, shape: &[u64], elements: &[u8], threads: usize) -> Result<(), Failure> {
    let all = Region::all(shape);
    let encoder = data.encoder();
    let grid = ChunkGrid::regular(encoder.piece())?;
    let indexes: Vec<Vec<u64>> = grid.chunks_in(&all)?.map(|chunk| chunk.index).collect();
    let queue = Mutex::new(indexes.into_iter().enumerate());
    let (turn, next) = (Mutex::new(0), Condvar::new());
    let size = encoder.converter().stored_size();
    let worker = || -> Result<(), Failure> {
        let (mut scratch, heap, mut out, mut rows) =
            (Scratch::new(), Heap::default(), Vec::new(), Vec::new());
        loop {
            let taken = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, index)) = taken else { return Ok(()) };
            let chunk = grid.chunk(&index)?;
            if !data.is_ordered() {
                // The elements follow each other in memory as they do in the file.
                let at = chunk.start.iter().zip(shape).fold(0, |at, (start, extent)| at * extent + start);
                let ends = chunk.start.iter().zip(&chunk.shape).zip(shape);
                let count: u64 = ends.map(|((at, size), extent)| (extent - at).min(*size)).product();
                let at = usize::try_from(at)? * size;
                let part = elements.get(at..at + usize::try_from(count)? * size).ok_or("too few elements")?;
                data.store(&index, part, 0)?;
                continue;
            }
            rows.resize(usize::try_from(chunk.shape.iter().product::<u64>())? * size, 0);
            gather(elements, &all, &mut rows, &chunk.start, &chunk.shape, size)?;
            let values = Bytes::from(std::mem::take(&mut rows));
            let encoded = encoder.encode(&index, &values, &heap, std::mem::take(&mut out), &mut scratch)?;
            let EncodedPiece::Bytes(bytes, mask) = encoded else { return Err("objects of a heap".into()) };
            let mut now = turn.lock().unwrap_or_else(PoisonError::into_inner);
            while *now != number {
                now = next.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
            data.store(&index, &bytes, mask)?;
            *now += 1;
            next.notify_all();
            drop(now);
            out = bytes.try_into_mut().map_or_else(|_| Vec::new(), Vec::from);
            rows = values.try_into_mut().map_or_else(|_| Vec::new(), Vec::from);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}
