#!/usr/bin/env python3
"""Writes message_*.hex and object_header_*.hex: bytes that HDF5 wrote, through h5py.

Each file is made in memory, its object headers are walked here, and the bodies of the wanted messages are
cut out. Run it in this folder with a Python that has h5py 3.16 over HDF5 2.0; others may choose other
versions of messages.
"""

import io
import struct
import sys
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5l, h5o, h5p, h5s, h5t

HERE = Path(__file__).parent
UNDEFINED = 0xFFFFFFFFFFFFFFFF


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
            # h5py has no call for shared message indexes.
            import ctypes
            hdf5 = ctypes.CDLL(hdf5_library())
            assert hdf5.H5Pset_shared_mesg_nindexes(ctypes.c_int64(create.id), 1) >= 0
            assert hdf5.H5Pset_shared_mesg_index(ctypes.c_int64(create.id), 0, 0x1F, 1) >= 0
        fid = h5f.create(b"golden", h5f.ACC_TRUNC, fcpl=create, fapl=access)
        self.offsets, self.lengths = sizes
        with h5py.File(fid) as f:
            self.addresses = {}
            make(f)
            f.flush()
            for name in ["/"] + [name for name in all_names(f)]:
                self.addresses[name] = h5o.get_info(h5o.open(f.id, name.encode())).addr
            self.bytes = fid.get_file_image()

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


def hdf5_library():
    """The shared library inside the h5py wheel."""
    libs = Path(h5py.__file__).parent.parent / "h5py.libs"
    return str(next(libs.glob("libhdf5-*.so*")))


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


def links():
    def two(f):
        g = f.create_group("g")
        f["again"] = g

    write("message_reference_count", File(two, "latest").body("/again", 0x16), "two hard links")


if __name__ == "__main__":
    headers()
    sharing()
    links()
