#!/usr/bin/env python3
"""Writes message_*.hex and object_header_*.hex: bytes that HDF5 wrote, through h5py.

Each file is made in memory, its object headers are walked here, and the bodies of the wanted messages are
cut out. Run it in this folder with a Python that has h5py 3.16 over HDF5 2.0; others may choose other
versions of messages.
"""

import ctypes
import struct
import tempfile
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5o, h5p, h5s, h5t, h5z

HERE = Path(__file__).parent


class File:
    """A file made by `make`, and its bytes."""

    def __init__(self, make, libver="earliest", sizes=(8, 8), fcpl=None, **options):
        access = h5p.create(h5p.FILE_ACCESS)
        bounds = {
            "earliest": (h5f.LIBVER_EARLIEST, h5f.LIBVER_V18),
            "v18": (h5f.LIBVER_V18, h5f.LIBVER_V18),
            "v110": (h5f.LIBVER_V110, h5f.LIBVER_V110),
            "v112": (h5f.LIBVER_V112, h5f.LIBVER_V112),
            "latest": (h5f.LIBVER_LATEST, h5f.LIBVER_LATEST),
        }
        access.set_libver_bounds(*bounds[libver])
        access.set_fapl_core(1 << 16, False)
        create = fcpl or h5p.create(h5p.FILE_CREATE)
        create.set_sizes(*sizes)
        if options.get("sohm"):
            call("H5Pset_shared_mesg_nindexes", create.id, 1)
            call("H5Pset_shared_mesg_index", create.id, 0, 0x1F, 1)
        fid = h5f.create(b"golden", h5f.ACC_TRUNC, fcpl=create, fapl=access)
        self.offsets, self.lengths = sizes
        with h5py.File(fid) as f:
            self.addresses = {}
            make(f)
            f.flush()
            for name in ["/"] + [name for name in all_names(f)]:
                self.addresses[name] = h5o.get_info(h5o.open(f.id, name.encode())).addr
            self.bytes = fid.get_file_image()

    @classmethod
    def of(cls, data):
        """A file that was written otherwise."""
        f = cls.__new__(cls)
        f.bytes, f.offsets, f.lengths, f.addresses = data, 8, 8, {}
        return f

    def uint(self, at, width):
        return int.from_bytes(self.bytes[at : at + width], "little")

    def header(self, name):
        """(prefix, chunks, form): chunks are (start, end, [(type, flags, prefix start, body start, size)])."""
        at = self.addresses.get(name, name) if isinstance(name, str) else name
        chunks = []
        if self.bytes[at : at + 4] == b"OHDR":
            flags = self.bytes[at + 5]
            p = at + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
            width = 1 << (flags & 3)
            size = self.uint(p, width)
            p += width
            envelope = 6 if flags & 4 else 4
            chunks.append((at, p + size + 4, self.messages(p, p + size, envelope)))
        else:
            p, envelope = at + 16, 8
            size = self.uint(at + 8, 4)
            chunks.append((at, p + size, self.messages(p, p + size, envelope)))
        for start, end, messages in chunks:
            for kind, _, _, body, _ in messages:
                if kind == 0x10:
                    block = self.uint(body, self.offsets)
                    length = self.uint(body + self.offsets, self.lengths)
                    a, b = (block, block + length) if envelope == 8 else (block + 4, block + length - 4)
                    chunks.append((block, block + length, self.messages(a, b, envelope)))
        return p, chunks, envelope

    def messages(self, p, end, envelope):
        found = []
        while p + envelope <= end:
            if envelope == 8:
                kind, size, flags = struct.unpack_from("<HHB", self.bytes, p)
            else:
                kind, size, flags = struct.unpack_from("<BHB", self.bytes, p)
            found.append((kind, flags, p, p + envelope, size))
            p += envelope + size
        return found

    def body(self, name, kind, nth=0, shared=False):
        found = [
            self.bytes[body : body + size]
            for _, _, messages in self.header(name)[1]
            for k, flags, _, body, size in messages
            if k == kind and bool(flags & 2) == shared
        ]
        return found[nth]


# What h5py has no call for is called in the library inside its wheel.
HDF5 = ctypes.CDLL(str(next((Path(h5py.__file__).parent.parent / "h5py.libs").glob("libhdf5-*.so*"))))


def call(function, identifier, *arguments):
    """Calls a function whose first argument is an identifier."""
    called = getattr(HDF5, function)
    called.restype = ctypes.c_int64 if function == "H5Tcopy" else ctypes.c_int
    result = called(ctypes.c_int64(identifier), *arguments)
    assert result >= 0, function
    return result


def predefined(name):
    return ctypes.c_int64.in_dll(HDF5, name + "_g").value


def all_names(f):
    names = []
    f.visit(lambda name: names.append("/" + name) and None)
    return names


def write(name, data, about):
    text = f"# {about}\n"
    for at in range(0, len(data), 16):
        text += data[at : at + 16].hex(" ") + "\n"
    (HERE / f"{name}.hex").write_text(text)


def nothing(f):
    pass


# Object headers -------------------------------------------------------------------------------------------


def headers():
    def small(f):
        f.create_dataset("x", data=np.arange(3, dtype="<i2"))

    old = File(small)
    at = old.addresses["/x"]
    messages, chunks, _ = old.header("/x")
    write("object_header_prefix_v1", old.bytes[at:messages], "16 bytes before the messages of a dataset")
    write("object_header_v1", old.bytes[at : chunks[0][1]], "chunk 0 of a dataset")
    start = chunks[0][2][0][2]
    write("object_header_message_v1", old.bytes[start : start + 8], "envelope of its first message")

    new = File(small, "latest")
    at = new.addresses["/x"]
    messages, chunks, _ = new.header("/x")
    write("object_header_prefix_v2_times", new.bytes[at:messages], "a dataset, which tracks times")
    write("object_header_v2", new.bytes[at : chunks[0][1]], "chunk 0 of a dataset")
    start = chunks[0][2][0][2]
    write("object_header_message_v2", new.bytes[start : start + 4], "envelope of its first message")

    def group(f):
        plain = h5p.create(h5p.GROUP_CREATE)
        plain.set_obj_track_times(False)
        h5g.create(f.id, b"plain", gcpl=plain)
        tracked = h5p.create(h5p.GROUP_CREATE)
        tracked.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
        tracked.set_attr_phase_change(20, 10)
        g = h5py.Group(h5g.create(f.id, b"tracked", gcpl=tracked))
        u = h5py.Group(h5g.create(f.id, b"untracked", gcpl=plain))
        # Objects in between keep headers from growing in place.
        for i in range(5):
            g.attrs[f"a{i}"] = np.arange(i, dtype="<i4")
            u.attrs[f"a{i}"] = np.arange(i, dtype="<i4")

    f = File(group, "latest")
    at = f.addresses["/plain"]
    write("object_header_prefix_v2_group", f.bytes[at : f.header("/plain")[0]], "a group without times")
    at = f.addresses["/tracked"]
    messages, chunks, _ = f.header("/tracked")
    write("object_header_prefix_v2_phase_change", f.bytes[at:messages], "attribute creation order, 20 and 10")
    start = chunks[0][2][0][2]
    write("object_header_message_v2_tracked", f.bytes[start : start + 6], "envelope with creation index")
    write("object_header_continuation_block_v2_tracked", f.bytes[chunks[1][0] : chunks[1][1]], "OCHK")
    chunks = f.header("/untracked")[1]
    write("object_header_continuation_block_v2", f.bytes[chunks[1][0] : chunks[1][1]], "OCHK of attributes")
    write("message_continuation", f.body("/untracked", 0x10), "to a block of attributes")

    def with_gap(length):
        def make(f):
            f.attrs["a"] = np.bytes_("x" * length)

        f = File(make, "latest")
        start, end, messages = f.header("/")[1][0]
        return f.bytes[start:end] if 0 < end - 4 - (messages[-1][3] + messages[-1][4]) < 4 else None

    gap = next(found for found in map(with_gap, range(1, 99)) if found)
    write("object_header_v2_gap", gap, "a group whose attribute does not quite fill the room")

    f = File(group)
    chunks = f.header("/untracked")[1]
    write("object_header_continuation_block_v1", f.bytes[chunks[1][0] : chunks[1][1]], "of attributes")


def sharing():
    def committed(f):
        f["type"] = np.dtype("<i4")
        f.create_dataset("x", shape=(2,), dtype=f["type"])

    write(
        "message_shared_v2_committed",
        File(committed, "latest").body("/x", 3, shared=True),
        "the datatype of a dataset of committed type",
    )

    def heap(f):
        for name in "ab":
            f.create_dataset(name, data=np.arange(3, dtype="<i4"))

    write(
        "message_shared_v3_heap",
        File(heap, "latest", sohm=True).body("/b", 3, shared=True),
        "a datatype in the shared object header message heap",
    )


# Others ---------------------------------------------------------------------------------------------------


def dataspaces():
    def make(f):
        f["scalar"] = np.int8(1)
        f["simple"] = np.zeros((3, 4), "i1")
        f.create_dataset("unlimited", (2, 3), "i1", maxshape=(None, 5), chunks=(2, 2))
        f["null"] = h5py.Empty("i1")

    old, new = File(make), File(make, "latest")
    for name in ["scalar", "simple", "unlimited"]:
        write(f"message_dataspace_v1_{name}", old.body(f"/{name}", 1), name)
    for name in ["scalar", "unlimited", "null"]:
        write(f"message_dataspace_v2_{name}", new.body(f"/{name}", 1), name)
    narrow = File(make, sizes=(4, 4)).body("/unlimited", 1)
    write("message_dataspace_v1_narrow", narrow, "2 of unlimited, 3 of 5, lengths of 4 bytes")


def groups():
    def make(f):
        f.create_group("empty")
        f.create_group("full").create_group("in").create_group("it")
        g = f.create_group("dense")
        for i in range(9):
            g.create_group(f"g{i}")
        g = f.create_group("indexed", track_order=True)
        for i in range(9):
            g.create_group(f"g{i}")
        creation = h5p.create(h5p.GROUP_CREATE)
        call("H5Pset_link_phase_change", creation.id, 5, 3)
        call("H5Pset_est_link_info", creation.id, 11, 22)
        h5g.create(f.id, b"estimated", gcpl=creation)
        f["again"] = g

    old, new = File(make), File(make, "latest")
    write("message_symbol_table", old.body("/full", 0x11), "a group")
    write("message_symbol_table_narrow", File(make, sizes=(4, 4)).body("/full", 0x11), "offsets of 4 bytes")
    write("message_link_info", new.body("/empty", 2), "no links")
    write("message_link_info_dense", new.body("/dense", 2), "nine links")
    write("message_link_info_indexed", new.body("/again", 2), "nine links, creation order indexed")
    write("message_group_info", new.body("/empty", 10), "defaults")
    write("message_group_info_estimated", new.body("/estimated", 10), "phase change and estimates")
    write("message_reference_count", new.body("/again", 0x16), "two hard links")


def links():
    def make(f):
        g = f.create_group("g")
        f.create_group("héllo", track_order=True).create_group("ü")
        f.create_group("x" * 300)
        f["soft"] = h5py.SoftLink("/no/where")
        f["external"] = h5py.ExternalLink("other.h5", "/in/it")

    f = File(make, "latest")

    def link(owner, name):
        """A link by its name in UTF-8, and its bytes."""
        for _, _, messages in f.header(owner)[1]:
            for kind, _, _, body, size in messages:
                if kind == 6 and name.encode() in f.bytes[body : body + size]:
                    return f.bytes[body : body + size]

    write("message_link_hard", link("/", "g"), "to a group")
    write("message_link_hard_utf8_tracked", link("/héllo", "ü"), "to a group, creation order tracked")
    write("message_link_soft", link("/", "soft"), "to /no/where")
    write("message_link_external", link("/", "external"), "to /in/it of other.h5")
    write("message_link_long_name", link("/", "x" * 300), "a name of 300 bytes")


def attributes():
    def make(f):
        f.attrs["a"] = np.arange(3, dtype="<i2")
        f["type"] = np.dtype("<i2")
        f.create_group("committed").attrs.create("c", [1, 2], dtype=f["type"])
        f.create_group("utf8").attrs["ä"] = "ö"
        g = f.create_group("dense")
        for i in range(9):
            g.attrs[f"a{i}"] = i
        g = f.create_group("indexed", track_order=True)
        for i in range(9):
            g.attrs[f"a{i}"] = i

    old, new = File(make), File(make, "latest")
    # The value is 6 bytes; headers of version 1 pad it to 8.
    write("message_attribute_v1", old.body("/", 12)[:-2], "a of three <i2")
    write("message_attribute_v3", new.body("/", 12), "a of three <i2")
    write("message_attribute_v3_committed", new.body("/committed", 12), "c of two of a committed type")
    write("message_attribute_v3_utf8", new.body("/utf8", 12), "ä of one string of variable length")
    write("message_attribute_info", new.body("/utf8", 0x15), "in the header")
    write("message_attribute_info_dense", new.body("/dense", 0x15), "nine attributes")
    write("message_attribute_info_indexed", new.body("/indexed", 0x15), "nine, creation order indexed")


def layouts():
    def layout(name, version, about, body):
        assert body[0] == version, (name, body[0])
        write(f"message_data_layout_v{version}_{name}", body, about)

    def create(f, name, shape, maximum=None, chunks=None, data=True, **properties):
        creation = h5p.create(h5p.DATASET_CREATE)
        if chunks:
            creation.set_chunk(chunks)
        for key, value in properties.items():
            getattr(creation, key)(*value)
        space = h5s.create_simple(shape, maximum or shape)
        d = h5d.create(f.id, name.encode(), h5t.STD_I16LE, space, creation)
        if data:
            d.write(h5s.ALL, h5s.ALL, np.arange(np.prod(shape), dtype="<i2").reshape(shape))

    unlimited = h5s.UNLIMITED

    def make(f):
        create(f, "compact", (3,), set_layout=(h5d.COMPACT,))
        create(f, "contiguous", (3, 4))
        create(f, "contiguous_unallocated", (3,), data=False)
        create(f, "chunked", (6, 7), chunks=(2, 3))
        create(f, "single_chunk", (6, 7), chunks=(6, 7))
        create(f, "single_chunk_filtered", (6, 7), chunks=(6, 7), set_deflate=(6,))
        early = dict(set_alloc_time=(h5d.ALLOC_TIME_EARLY,))
        create(f, "implicit", (6, 7), chunks=(2, 3), **early)
        create(f, "extensible_array", (6, 7), (unlimited, 7), (2, 3))
        create(f, "extensible_array_filtered", (6, 7), (unlimited, 7), (2, 3), set_deflate=(6,))
        create(f, "btree_v2", (6, 7), (unlimited, unlimited), (2, 300), data=False)
        creation = h5p.create(h5p.DATASET_CREATE)
        creation.set_chunk((4, 4))
        creation.set_deflate(6)
        call("H5Pset_chunk_opts", creation.id, 2)
        h5d.create(f.id, b"unfiltered_edges", h5t.STD_I16LE, h5s.create_simple((6, 7)), creation)
        virtual = h5py.VirtualLayout((3, 4), "<i2")
        virtual[...] = h5py.VirtualSource(".", "contiguous", (3, 4))
        f.create_virtual_dataset("virtual", virtual)

    def old(f):
        create(f, "compact", (3,), set_layout=(h5d.COMPACT,))
        create(f, "contiguous", (3, 4))
        create(f, "contiguous_unallocated", (3,), data=False)
        create(f, "chunked", (6, 7), chunks=(2, 3))

    f = File(old, "v18")
    for name in ["compact", "contiguous", "contiguous_unallocated", "chunked"]:
        layout(name, 3, name, f.body(f"/{name}", 8))
    f = File(old, "v18", sizes=(4, 4))
    for name in ["contiguous", "chunked"]:
        layout(name + "_narrow", 3, "offsets and lengths of 4 bytes", f.body(f"/{name}", 8))
    f = File(make, "v110")
    for name in ["single_chunk", "single_chunk_filtered", "implicit", "extensible_array", "btree_v2",
                 "unfiltered_edges", "virtual"]:
        layout(name, 4, name, f.body(f"/{name}", 8))
    layout("fixed_array", 4, "6 by 7 in chunks of 2 by 3", f.body("/chunked", 8))
    f = File(make, "latest")
    layout("single_chunk_filtered", 5, "filtered", f.body("/single_chunk_filtered", 8))
    layout("extensible_array", 5, "filtered", f.body("/extensible_array_filtered", 8))


# Datatype -------------------------------------------------------------------------------------------------


def commit(datatype):
    """Commits a datatype of h5py, numpy, or the library as /type."""

    def make(f):
        if isinstance(datatype, h5t.TypeID):
            datatype.copy().commit(f.id, b"type")
        elif isinstance(datatype, str):
            copy = call("H5Tcopy", predefined(datatype))
            call("H5Tcommit2", f.id.id, b"type", ctypes.c_int64(copy), *[ctypes.c_int64(0)] * 3)
        else:
            f["type"] = datatype

    return make


def datatype(name, what, about, libver="earliest"):
    body = File(commit(what), libver).body("/type", 3)
    versions = {"v1": 1, "v2": 2, "v3": 3, "v4": 4, "v5": 5}
    wanted = next(versions[part] for part in name.split("_") if part in versions)
    assert body[0] >> 4 == wanted, (name, body[0] >> 4)
    # Headers of version 1 pad bodies to 8 bytes; what the type itself takes, H5Tencode tells.
    write(f"message_datatype_{name}", body[: length_of(body)], about)


def length_of(body):
    """The bytes of a datatype, walked."""
    version, kind = body[0] >> 4, body[0] & 15
    count = int.from_bytes(body[1:3], "little")
    size = int.from_bytes(body[4:8], "little")
    p = 8

    def name(p):
        n = body.index(b"\0", p) - p + 1
        return p + (n if version >= 3 else -(-n // 8) * 8)

    if kind in (0, 4):
        return p + 4
    if kind == 1:
        return p + 12
    if kind == 2:
        return p + 2
    if kind in (3, 7):
        return p
    if kind == 5:
        return p + body[1]
    if kind == 6:
        for _ in range(count):
            p = name(p)
            p += 4 if version < 3 else 1 if size < 256 else 2 if size < 65536 else 3
            p += 28 if version == 1 else 0
            p += length_of(body[p:])
        return p
    if kind == 8:
        base = p + length_of(body[p:])
        p = base
        for _ in range(count):
            p = name(p)
        return p + count * size
    if kind == 10:
        rank = body[p]
        p += 4 + 8 * rank if version < 3 else 1 + 4 * rank
    return p + length_of(body[p:])


def datatypes():
    datatype("fixed_point_v1", np.dtype("<i4"), "little-endian signed 4 bytes")
    datatype("fixed_point_v1_big_endian", np.dtype(">u8"), "big-endian unsigned 8 bytes")
    padded = h5t.STD_I32LE.copy()
    padded.set_precision(12)
    padded.set_offset(5)
    padded.set_pad(h5t.PAD_ONE, h5t.PAD_ZERO)
    datatype("fixed_point_v1_padded", padded, "12 bits at 5 of 4 bytes, ones below")
    datatype("bit_field_v1", h5t.STD_B16LE, "2 bytes")
    datatype("time_v1", "H5T_UNIX_D32LE", "4 bytes")
    datatype("string_v1", np.dtype("S7"), "7 bytes, NUL-padded ASCII")
    text = h5t.C_S1.copy()
    text.set_size(9)
    text.set_cset(h5t.CSET_UTF8)
    datatype("string_v1_utf8", text, "9 bytes, NUL-terminated UTF-8")
    opaque = h5t.create(h5t.OPAQUE, 6)
    opaque.set_tag(b"some bytes")
    datatype("opaque_v1", opaque, "6 bytes")
    datatype("reference_v1_object", h5t.STD_REF_OBJ, "to objects")
    datatype("reference_v1_region", h5t.STD_REF_DSETREG, "to regions")
    datatype("reference_v4", "H5T_STD_REF", "revised", "v112")
    datatype("variable_length_v1_string", h5py.string_dtype(), "UTF-8")
    datatype("variable_length_v1_sequence", h5py.vlen_dtype(np.dtype("<f4")), "of floats")
    datatype("array_v2", np.dtype(("<i2", (3, 4))), "3 by 4")
    datatype("array_v3", np.dtype(("<i2", (3, 4))), "3 by 4", "v18")
    colours = h5py.enum_dtype({"red": 0, "green": 1, "a colour of long name": 300}, basetype="<i2")
    datatype("enumeration_v1", colours, "three values of 2 bytes")
    datatype("enumeration_v3", colours, "three values of 2 bytes", "v18")
    datatype("floating_point_v1", np.dtype("<f4"), "IEEE little-endian 4 bytes")
    datatype("floating_point_v1_big_endian", np.dtype(">f8"), "IEEE big-endian 8 bytes")
    datatype("floating_point_v1_half", np.dtype("<f2"), "IEEE little-endian 2 bytes")
    datatype("floating_point_v1_x87", h5t.NATIVE_LDOUBLE, "80 bits of x87 in 16 bytes")
    datatype("floating_point_v3_vax", "H5T_VAX_F64", "8 bytes in VAX order", "v18")
    bfloat16 = h5t.IEEE_F32LE.copy()
    bfloat16.set_fields(15, 7, 8, 0, 7)
    bfloat16.set_precision(16)
    bfloat16.set_size(2)
    bfloat16.set_ebias(127)
    datatype("floating_point_v1_bfloat16", bfloat16, "bfloat16")
    datatype("complex_v5", h5t.COMPLEX_IEEE_F64LE, "two doubles", "latest")
    plain = np.dtype([("a", "<i4"), ("eightbyt", "S5"), ("c", "<f8")], align=True)
    datatype("compound_v1", plain, "three members, one with a name of 8 bytes")
    datatype("compound_v2", np.dtype([("a", "<i4"), ("b", "<i2", (2, 3))]), "a member is an array")
    datatype("compound_v3", plain, "three members, one with a name of 8 bytes", "v18")
    inner = np.dtype([("x", "<u2"), ("y", h5py.string_dtype())])
    nested = np.dtype([("p", inner), ("q", h5py.vlen_dtype(inner)), ("e", colours)])
    datatype("nested_v1", nested, "compounds, sequence and enumeration in a compound")
    for version, libver in [(3, "v18"), (4, "v112"), (5, "latest")]:
        datatype(f"nested_v{version}", nested, "compounds, sequence and enumeration in a compound", libver)


def storage():
    def make(f):
        value = h5p.create(h5p.DATASET_CREATE)
        value.set_fill_value(np.array(0x1234, "<i2"))
        undefined = h5p.create(h5p.DATASET_CREATE)
        call("H5Pset_fill_value", undefined.id, ctypes.c_int64(h5t.STD_I16LE.id), None)
        undefined.set_fill_time(h5d.FILL_TIME_NEVER)
        external = h5p.create(h5p.DATASET_CREATE)
        external.set_external(b"first.raw", 10, 20)
        external.set_external(b"second.raw", 0, h5f.UNLIMITED)
        packed = h5p.create(h5p.DATASET_CREATE)
        packed.set_chunk((4,))
        packed.set_shuffle()
        packed.set_deflate(6)
        packed.set_fletcher32()
        plugin = h5p.create(h5p.DATASET_CREATE)
        plugin.set_chunk((4,))
        plugin.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)
        space = h5s.create_simple((8,))
        for name, creation in [("value", value), ("undefined", undefined), ("external", external),
                               ("packed", packed), ("plugin", plugin), ("default", None)]:
            h5d.create(f.id, name.encode(), h5t.STD_I16LE, space, creation)

    old, new = File(make), File(make, "v18")
    write("message_fill_value_old", old.body("/value", 4)[:6], "0x1234 of 2 bytes")
    # Headers of version 1 pad bodies to 8 bytes.
    write("message_fill_value_v2_value", old.body("/value", 5)[:10], "0x1234 of 2 bytes")
    write("message_fill_value_v2_default", old.body("/default", 5)[:8], "default")
    write("message_fill_value_v2_undefined", old.body("/undefined", 5)[:4], "undefined, never written")
    for name in ["value", "default", "undefined"]:
        write(f"message_fill_value_v3_{name}", new.body(f"/{name}", 5), name)
    external = old.body("/external", 7)
    write("message_external_files", external[: 16 + 24 * 2], "two, the second without end")
    write("message_filter_pipeline_v1", old.body("/packed", 11), "shuffle, deflate, fletcher32")
    write("message_filter_pipeline_v2", new.body("/packed", 11), "shuffle, deflate, fletcher32")
    write("message_filter_pipeline_v1_plugin", old.body("/plugin", 11), "LZF, optional")
    write("message_filter_pipeline_v2_plugin", new.body("/plugin", 11), "LZF, optional")


def remarks():
    def make(f):
        f.create_group("g")
        h5o.set_comment(f["g"].id, b"hello there")
        creation = h5p.create(h5p.DATASET_CREATE)
        creation.set_obj_track_times(True)
        h5d.create(f.id, b"timed", h5t.STD_I16LE, h5s.create_simple((8,)), creation)
        f["timed"].attrs["removed"] = np.arange(5, dtype="<i2")
        del f["timed"].attrs["removed"]

    f = File(make)
    write("message_comment", f.body("/g", 13)[:12], "hello there")
    write("message_modification_time", f.body("/timed", 0x12), "when this was run")
    write("message_nil", f.body("/timed", 0), "of a removed attribute")


def extensions():
    def extension(fcpl=None, libver="v110", **options):
        f = File(nothing, libver, fcpl=fcpl, **options)
        assert f.bytes[8] in (2, 3)
        return f, f.uint(12 + f.offsets, f.offsets)

    def body(kind, *arguments, **options):
        f, at = extension(*arguments, **options)
        return f.body(at, kind)

    write("message_shared_message_table", body(0x0F, sohm=True), "one index")
    creation = h5p.create(h5p.FILE_CREATE)
    call("H5Pset_istore_k", creation.id, 7)
    call("H5Pset_sym_k", creation.id, 5, 3)
    write("message_btree_k_values", body(0x13, creation), "7, 5 and 3")
    for name, strategy, persist, sizes in [
        ("page", h5f.FSPACE_STRATEGY_PAGE, False, (8, 8)),
        ("none", h5f.FSPACE_STRATEGY_NONE, False, (8, 8)),
        ("persist", h5f.FSPACE_STRATEGY_FSM_AGGR, True, (8, 8)),
        ("narrow", h5f.FSPACE_STRATEGY_PAGE, True, (4, 4)),
    ]:
        creation = h5p.create(h5p.FILE_CREATE)
        creation.set_file_space_strategy(strategy, persist, 1)
        about = f"strategy {name}, offsets of {sizes[0]} bytes"
        write(f"message_file_space_info_v1_{name}", body(0x17, creation, sizes=sizes), about)

    with tempfile.TemporaryDirectory() as folder:
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
        call("H5Pset_fapl_family", access.id, ctypes.c_uint64(1 << 20), ctypes.c_int64(0))
        h5f.create(f"{folder}/%d.h5".encode(), h5f.ACC_TRUNC, fapl=access).close()
        f = File.of(Path(f"{folder}/0.h5").read_bytes())
        write("message_driver_info", f.body(f.uint(20, 8), 0x14), "the family driver, 1 MiB a member")

        class ImageConfig(ctypes.Structure):
            _fields_ = [("version", ctypes.c_int), ("generate_image", ctypes.c_bool),
                        ("save_resize_status", ctypes.c_bool), ("entry_ageout", ctypes.c_int)]

        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
        call("H5Pset_mdc_image_config", access.id, ctypes.byref(ImageConfig(1, True, False, -1)))
        path = f"{folder}/image.h5"
        h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=access).close()
        f = File.of(Path(path).read_bytes())
        write("message_metadata_cache_image", f.body(f.uint(20, 8), 0x18), "of a file that is closed")

        path = f"{folder}/groups.h5"
        made = h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=access)
        h5g.create(made, b"group")
        made.close()
        data = Path(path).read_bytes()
        write("metadata_cache_image", data[data.index(b"MDCI") :], "of a root group with one group")


if __name__ == "__main__":
    headers()
    sharing()
    datatypes()
    dataspaces()
    groups()
    links()
    attributes()
    layouts()
    storage()
    remarks()
    extensions()
