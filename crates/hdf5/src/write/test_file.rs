//! Whole files, for tests: with one group whose header is tested, and with any objects.

use super::dense_storage::CreationOrder;
use super::image::Image;
use super::symbol_table::root_entry;
use super::{FileOptions, FileWriter, GroupAddress, Ranks, Sink, put};
use crate::check::{Options, check};
use crate::format::message::group_info::GroupInfo;
use crate::format::message::link::{self, LinkTarget};
use crate::format::message::link_info::LinkInfo;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::message::{HeaderMessage, Message, MessageType};
use crate::format::metadata::superblock::{ObjectHeaderRoot, Superblock, SymbolTableRoot, Version};
use crate::format::object_header::prefix_v2::PrefixV2;
use crate::format::object_header::{Chunk0, MessageFlags, OwnedMessage, Prefix, PrefixV1};
use crate::format::{Address, Sizes, Structure};
use crate::space::SpaceKind;
use crate::{Attribute, File, Link, Object};
use bytes::Bytes;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{WritableMemory, WriteAt};
use hyperslab_core::{Encoder, Limits, Result, Severity};
use std::sync::Arc;

/// The version of superblock and object headers: 0 and 1, or 2 and 2, with what is known of the order of attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    V1,
    V2(CreationOrder),
}

/// A dataset: its name and the messages of its header.
pub(crate) type Named = (&'static str, Vec<Message>);
/// Builds what is under test.
type Build<'b, T> = dyn FnMut(&mut dyn Sink) -> Result<T> + 'b;

/// A file whose root group is under test.
pub(crate) struct TestFile {
    bytes: Bytes,
    file: File,
    root: Object,
}

impl TestFile {
    /// Writes a file. `build` gives the messages of its root group.
    pub(crate) fn write(sizes: Sizes, form: Form, build: &mut Build<'_, Vec<Message>>) -> Result<TestFile> {
        TestFile::write_extended(sizes, form, &mut |sink| Ok((build(sink)?, Address::UNDEFINED)))
    }

    /// As [`TestFile::write`], with the address of a superblock extension.
    pub(crate) fn write_extended(
        sizes: Sizes,
        form: Form,
        build: &mut Build<'_, (Vec<Message>, Address)>,
    ) -> Result<TestFile> {
        let root = Header { address: Address(0), table: None, extension: Address::UNDEFINED };
        let len = encoded_superblock(sizes, form, &root, 0)?.len();
        let (image, root) = Image::write_behind(sizes, len, &mut |sink| {
            let (messages, extension) = build(sink)?;
            let table = messages.iter().find_map(|message| match message {
                Message::SymbolTable(table) => Some(*table),
                _ => None,
            });
            Ok(Header { address: put_header(sink, form, &messages)?, table, extension })
        })?;
        TestFile::of(image, form, &root)
    }

    /// A file of the form that libhdf5 1.10 writes, with one group of these datasets. Parts of them may stay unwritten.
    pub(crate) fn write_datasets(build: &mut dyn FnMut(&mut dyn Sink) -> Result<Vec<Named>>) -> TestFile {
        let form = Form::V2(CreationOrder::Untracked);
        let (image, root) = Image::write_sparse(Sizes::DEFAULT, 48, &mut |sink| {
            let mut messages = empty_group_messages().to_vec();
            for (name, dataset) in build(sink)? {
                let target = LinkTarget::Hard(put_header(sink, form, &dataset)?);
                let name = name.as_bytes().to_vec();
                let link = link::Link { name, character_set: None, creation_order: None, target };
                messages.push(Message::Link(link));
            }
            let address = put_header(sink, form, &messages)?;
            Ok(Header { address, table: None, extension: Address::UNDEFINED })
        })
        .unwrap();
        TestFile::of(image, form, &root).unwrap()
    }

    /// Writes a file with all its objects, in two passes. `build` gives the root group.
    pub(crate) fn write_objects(
        options: &FileOptions,
        build: &mut dyn FnMut(&mut FileWriter) -> Result<GroupAddress>,
    ) -> Result<TestFile> {
        let storage = Arc::new(WritableMemory::new([]));
        let mut writer = FileWriter::new(options.clone())?;
        build(&mut writer)?;
        let written = Arc::clone(&storage) as Arc<dyn WriteAt>;
        let mut writer = writer.measured()?.begin(written, Ranks::default())?;
        let root = build(&mut writer)?;
        writer.finish(root)?;
        TestFile::open(storage.to_vec().into())
    }

    fn open(bytes: Bytes) -> Result<TestFile> {
        let file = File::open(Box::new(bytes.clone()), Limits::default())?;
        let root = file.root()?;
        Ok(TestFile { bytes, file, root })
    }

    fn of(image: Image, form: Form, root: &Header) -> Result<TestFile> {
        let sizes = image.sizes();
        let mut bytes = image.into_bytes();
        let superblock = encoded_superblock(sizes, form, root, bytes.len() as u64)?;
        bytes[..superblock.len()].copy_from_slice(&superblock);
        TestFile::open(bytes.into())
    }

    /// Asserts that the check finds nothing, and that all bytes are accounted for.
    pub(crate) fn check(&self) {
        if let Some(folder) = std::env::var_os("WRITTEN_FILES") {
            let thread = std::thread::current();
            let name = format!("{} {}.h5", thread.name().unwrap().replace("::", "."), self.bytes.len());
            std::fs::write(std::path::Path::new(&folder).join(name), &self.bytes).unwrap();
        }
        let mut found = Vec::new();
        let storage = Box::new(self.bytes.clone());
        let options = Options { values: true, ..Options::default() };
        let summary = check(storage, Limits::default(), &options, &mut |finding| {
            // Targets of soft and external links do not concern storage.
            if finding.severity != Severity::Note {
                found.push(finding);
            }
        })
        .unwrap();
        assert_eq!(found, []);
        assert_eq!(summary.unaccounted, Some(0));
    }

    /// All bytes of the file.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The object that a link of the root group leads to.
    pub(crate) fn object(&self, name: &str) -> Object {
        let address = self.link(name.as_bytes()).and_then(|link| link.address()).unwrap();
        Object::open(&self.file, address).unwrap()
    }

    /// A message of an object.
    pub(crate) fn message<M: HeaderMessage>(&self, object: &Object) -> Option<M> {
        object.header().message(self.file.reader()).unwrap()
    }

    /// All elements of the dataset that a link of the root group leads to.
    pub(crate) fn elements(&self, name: &str) -> Vec<u8> {
        let dataset = self.object(name).dataset(&self.file).unwrap();
        let array = dataset.array(&self.file).unwrap();
        let extents = dataset.extents().unwrap();
        let region = Region::new(vec![0; extents.len()], extents.to_vec());
        let mut rows = vec![0xaa; region.bytes(array.row_size()).unwrap()];
        array.read(&self.file, &region, &mut rows, &mut Heap::default()).unwrap();
        rows
    }

    pub(crate) fn links(&self) -> Vec<Link> {
        let links = self.root.all_links(&self.file).unwrap();
        assert!(links.unreadable.is_empty(), "{:?}", links.unreadable);
        links.links
    }

    pub(crate) fn link(&self, name: &[u8]) -> Option<Link> {
        self.root.link(&self.file, name).unwrap()
    }

    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        let attributes = self.root.attributes(&self.file).unwrap();
        attributes.into_iter().map(|(_, attribute)| attribute.unwrap()).collect()
    }

    pub(crate) fn attribute(&self, name: &[u8]) -> Option<Attribute> {
        self.root.attribute(&self.file, name).unwrap()
    }

    /// Whether a structure with this signature is anywhere.
    pub(crate) fn has(&self, signature: &[u8]) -> bool {
        self.bytes.windows(signature.len()).any(|bytes| bytes == signature)
    }
}

/// What a superblock states about the root group.
struct Header {
    address: Address,
    table: Option<SymbolTable>,
    extension: Address,
}

fn encoded_superblock(sizes: Sizes, form: Form, root: &Header, end: u64) -> Result<Vec<u8>> {
    let version = match form {
        Form::V1 => {
            let undefined = SymbolTable { btree: Address::UNDEFINED, heap: Address::UNDEFINED };
            let entry = root_entry(root.address, root.table.unwrap_or(undefined));
            Version::V0(SymbolTableRoot {
                group_leaf_k: 4,
                group_internal_k: 16,
                free_space: Address::UNDEFINED,
                driver_info: Address::UNDEFINED,
                entry,
            })
        }
        Form::V2(_) => {
            Version::V2(ObjectHeaderRoot { extension: root.extension, object_header: root.address })
        }
    };
    let superblock = Superblock {
        sizes,
        base_address: Address(0),
        end_of_file: Address(end),
        consistency_flags: 0,
        version,
    };
    let mut e = Encoder::new();
    superblock.encode(&mut e, &())?;
    Ok(e.into_bytes())
}

/// Writes an object header with these messages.
pub(crate) fn put_header(sink: &mut dyn Sink, form: Form, messages: &[Message]) -> Result<Address> {
    let messages = messages.iter().map(|message| plain(sink, message)).collect::<Result<Vec<_>>>()?;
    put_messages(sink, form, messages)
}

/// Writes an object header with these messages, which may be shared.
pub(crate) fn put_messages(
    sink: &mut dyn Sink,
    form: Form,
    mut messages: Vec<OwnedMessage>,
) -> Result<Address> {
    let mut attributes = 0..;
    for message in &mut messages {
        match form {
            Form::V1 => message.body.resize(message.body.len().next_multiple_of(8), 0),
            Form::V2(order) if order.is_tracked() => {
                let is_attribute = message.message_type == MessageType::ATTRIBUTE;
                message.creation_index = is_attribute.then(|| attributes.next()).flatten().or(Some(0));
            }
            Form::V2(_) => {}
        }
    }
    let message_count = u16::try_from(messages.len()).unwrap();
    let mut prefix = match form {
        Form::V1 => Prefix::V1(PrefixV1 { message_count, reference_count: 1, chunk_0_size: 0 }),
        Form::V2(order) => Prefix::V2(PrefixV2 {
            attribute_creation_order_tracked: order.is_tracked(),
            attribute_creation_order_indexed: order == CreationOrder::Indexed,
            times: None,
            attribute_phase_change: None,
            chunk_0_size_width: 4,
            chunk_0_size: 0,
        }),
    };
    let prefix_len = prefix.message_form().prefix_len();
    let len = messages.iter().map(|message| (prefix_len + message.body.len()) as u64).sum();
    match &mut prefix {
        Prefix::V1(prefix) => prefix.chunk_0_size = u32::try_from(len).unwrap(),
        Prefix::V2(prefix) => prefix.chunk_0_size = len,
    }
    put(sink, SpaceKind::Metadata, &Chunk0 { prefix, messages, gap: Vec::new() }, &())
}

/// A message as it is stored in a header.
pub(crate) fn plain(sink: &dyn Sink, message: &Message) -> Result<OwnedMessage> {
    let mut e = Encoder::new();
    message.encode(&mut e, &sink.sizes())?;
    let flags = MessageFlags(0);
    Ok(OwnedMessage {
        message_type: message.message_type(),
        flags,
        creation_index: None,
        body: e.into_bytes(),
    })
}

/// Writes an object to link to: a group without links.
pub(crate) fn empty_group(sink: &mut dyn Sink) -> Result<Address> {
    put_header(sink, Form::V2(CreationOrder::Untracked), &empty_group_messages())
}

fn empty_group_messages() -> [Message; 2] {
    let info = LinkInfo {
        maximum_creation_index: None,
        heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: None,
    };
    [Message::LinkInfo(info), Message::GroupInfo(GroupInfo::default())]
}
