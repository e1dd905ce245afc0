#!/usr/bin/env python3
"""Writes the superblock_*, driver_info_*, symbol_table_*, local_heap*, global_heap_*, btree_*, fixed_array_*
and extensible_array_*.hex files: bytes that HDF5 wrote, through h5py.

Each file is made in a scratch folder and the wanted structures are cut out of it. Run it in this folder with a
Python that has h5py 3.16 over HDF5 2.0.
"""

import ctypes
import os
import struct
import tempfile
from pathlib import Path

import h5py
import numpy as np
from h5py import h5p

HERE = Path(__file__).parent


def emit(name, what, data):
    lines = [data[at : at + 16].hex(" ") for at in range(0, len(data), 16)]
    (HERE / f"{name}.hex").write_text("\n".join([f"# {what}", *lines]) + "\n")


def written(make, suffix=".h5", sizes=None, **options):
    """The bytes of a file that `make` fills, and of what else `make` returns."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "golden" + suffix)
        if sizes or "plist" in options:
            plist = options.pop("plist", None) or h5p.create(h5p.FILE_CREATE)
            if sizes:
                plist.set_sizes(*sizes)
            low = h5py.h5f.LIBVER_LATEST if options.pop("libver", None) else h5py.h5f.LIBVER_EARLIEST
            access = h5p.create(h5p.FILE_ACCESS)
            access.set_libver_bounds(low, h5py.h5f.LIBVER_LATEST)
            file = h5py.File(h5py.h5f.create(path.encode(), fcpl=plist, fapl=access))
        else:
            file = h5py.File(path, "w", **options)
        with file:
            make(file)
        names = sorted(os.listdir(folder))
        return Path(folder, names[0]).read_bytes()


class Bytes:
    """The bytes of a file with addresses and lengths of given widths."""

    def __init__(self, data, offsets=8, lengths=8):
        self.data, self.offsets, self.lengths = data, offsets, lengths

    def uint(self, at, width):
        return int.from_bytes(self.data[at : at + width], "little")

    def address(self, at):
        return self.uint(at, self.offsets)

    def length(self, at):
        return self.uint(at, self.lengths)

    def all(self, signature):
        at = self.data.find(signature)
        while at >= 0:
            yield at
            at = self.data.find(signature, at + 1)

    def only(self, signature):
        found = list(self.all(signature))
        assert len(found) == 1, (signature, found)
        return found[0]

    def superblock(self, at=0):
        version = self.data[at + 8]
        offsets = self.data[at + 13] if version < 2 else self.data[at + 9]
        head = {0: 24, 1: 28, 2: 12, 3: 12}[version]
        tail = 2 * offsets + 24 if version < 2 else 4
        return self.data[at : at + head + 4 * offsets + tail]

    def btree_v1(self, at, key):
        used = self.uint(at + 6, 2)
        keys = used + 1 if used else 0
        return self.data[at : at + 8 + 2 * self.offsets + used * self.offsets + keys * key]


def empty(file):
    pass


def metadata():
    emit("superblock_v0", "superblock, version 0", Bytes(written(empty, libver="earliest")).superblock())
    emit(
        "superblock_v0_user_block",
        "superblock, version 0, behind a user block of 1024 bytes",
        Bytes(written(empty, libver="earliest", userblock_size=1024)).superblock(1024),
    )
    emit(
        "superblock_v0_narrow",
        "superblock, version 0, sizes 4 and 4",
        Bytes(written(empty, sizes=(4, 4))).superblock(),
    )
    emit(
        "superblock_v2", "superblock, version 2", Bytes(written(empty, libver=("v108", "v108"))).superblock()
    )
    emit(
        "superblock_v3", "superblock, version 3", Bytes(written(empty, libver=("v110", "v110"))).superblock()
    )
    extended = written(empty, libver=("v110", "v110"), fs_strategy="page", fs_persist=True)
    emit("superblock_v3_extension", "superblock, version 3, with an extension", Bytes(extended).superblock())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "swmr.h5")
        with h5py.File(path, "w", libver="latest") as file:
            file.swmr_mode = True
            file.flush()
            data = Path(path).read_bytes()
    emit(
        "superblock_v3_open",
        "superblock, version 3, while a SWMR writer has the file open",
        Bytes(data).superblock(),
    )

    def dataset(file):
        file["d"] = np.arange(10)

    split = Bytes(written(dataset, driver="split", libver=("earliest", "v108")))
    emit(
        "superblock_v0_driver_info",
        "superblock, version 0, with a driver information block",
        split.superblock(),
    )
    for name, at, data in [
        ("split", split.address(48), split),
        (
            "family",
            None,
            Bytes(written(dataset, suffix="%d.h5", driver="family", libver=("earliest", "v108"))),
        ),
    ]:
        at = at or data.address(48)
        emit(
            f"driver_info_{name}",
            f"driver information block of a {name} file",
            data.data[at : at + 16 + data.uint(at + 4, 4)],
        )


def groups():
    def make(file):
        file.create_group("group")
        file["dataset"] = 1.0
        file["soft"] = h5py.SoftLink("/group")

    for suffix, sizes in [("", (8, 8)), ("_narrow", (4, 4))]:
        f = Bytes(written(make, sizes=sizes), *sizes)
        width = 2 * f.offsets + 24
        heaps = list(f.all(b"HEAP"))
        root = next(at for at in f.all(b"SNOD") if f.uint(at + 6, 2) == 3)
        entries = [f.data[root + 8 + i * width :][:width] for i in range(3)]
        head = 8 + 2 * f.lengths + f.offsets
        heap = next(at for at in heaps if b"dataset\0" in f.data[f.address(at + 8 + 2 * f.lengths) :][:64])
        segment = f.address(heap + 8 + 2 * f.lengths)
        nodes = {f.uint(at + 6, 2): f.btree_v1(at, f.lengths) for at in f.all(b"TREE")}
        if suffix:
            emit(
                "symbol_table_entry_group_narrow", "symbol table entry of a group, sizes 4 and 4", entries[1]
            )
            emit("local_heap_narrow", "local heap, sizes 4 and 4", f.data[heap : heap + head])
            emit("btree_v1_group_narrow", "version 1 B-tree node of a group, sizes 4 and 4", nodes[1])
            continue
        for name, entry in zip(["dataset", "group", "soft_link"], entries):
            emit(f"symbol_table_entry_{name}", f"symbol table entry of a {name.replace('_', ' ')}", entry)
        emit("symbol_table_node", "symbol table node of three links", f.data[root : root + 8 + 3 * width])
        emit("local_heap", "local heap", f.data[heap : heap + head])
        free = segment + f.length(heap + 8 + f.lengths)
        emit("local_heap_free_block", "free block of a local heap", f.data[free : free + 2 * f.lengths])
        emit("btree_v1_group_leaf", "version 1 B-tree node of a group, one child", nodes[1])
        emit("btree_v1_group_empty", "version 1 B-tree node of a group, no children", nodes[0])

    def fill(file):
        file.create_group("x" * 79)

    f = Bytes(written(fill, libver="earliest"))
    full = next(at for at in f.all(b"HEAP") if f.length(at + 16) == 1)
    emit("local_heap_full", "local heap without a free block", f.data[full : full + 32])


def global_heap():
    def make(file):
        file.create_dataset(
            "v",
            dtype=h5py.vlen_dtype("u1"),
            data=np.array([np.frombuffer(b"variable", "u1"), np.frombuffer(b"len", "u1")], dtype=object),
        )

    for suffix, sizes in [("", (8, 8)), ("_narrow", (4, 4))]:
        f = Bytes(written(make, sizes=sizes), *sizes)
        at = f.only(b"GCOL")
        emit(
            f"global_heap_collection{suffix}",
            f"global heap collection, sizes {sizes[0]} and {sizes[1]}",
            f.data[at : at + f.length(at + 8)],
        )
        if not suffix:
            identifier = struct.pack("<IQI", 3, at, 2)
            stored = f.only(identifier)
            emit("global_heap_id", "global heap ID", f.data[stored + 4 : stored + 16])


def btrees_v1():
    def make(file):
        file.create_dataset("few", data=np.ones((2, 6), "u1"), chunks=(1, 2))
        file.create_dataset("many", data=np.ones((9, 9), "u1"), chunks=(1, 1))

    f = Bytes(written(make, libver="earliest"))
    chunk_nodes = [at for at in f.all(b"TREE") if f.data[at + 4] == 1]
    few = next(at for at in chunk_nodes if f.uint(at + 6, 2) == 6)
    many = next(at for at in chunk_nodes if f.data[at + 5] == 1)
    emit("btree_v1_chunk_leaf", "version 1 B-tree leaf of six chunks", f.btree_v1(few, 32))
    emit("btree_v1_chunk_root", "version 1 B-tree root above leaves of chunks", f.btree_v1(many, 32))


def record_of(f, kind, size):
    """The first record of the first leaf of a type."""
    at = next(at for at in f.all(b"BTLF") if f.data[at + 5] == kind)
    return f.data[at + 6 : at + 6 + size]


def btrees_v2():
    def make(file):
        options = {"dtype": "u1", "maxshape": (None, None), "chunks": (1, 1)}
        file.create_dataset("few", data=np.ones((1, 3), "u1"), **options)
        file.create_dataset("many", data=np.ones((9, 11), "u1"), **options)
        file.create_dataset("filtered", data=np.ones((1, 1), "u1"), compression=1, **options)

    f = Bytes(written(make, libver=("v110", "v110")))
    headers = list(f.all(b"BTHD"))
    few = next(at for at in headers if f.uint(at + 24, 2) == 3)
    emit("btree_v2_header", "version 2 B-tree header", f.data[few : few + 38])
    leaf = f.address(few + 16)
    emit("btree_v2_leaf", "version 2 B-tree leaf of three chunks", f.data[leaf : leaf + 10 + 3 * 24])
    many = next(at for at in headers if f.uint(at + 12, 2) == 1)
    root = f.address(many + 16)
    assert f.uint(many + 24, 2) == 1
    emit("btree_v2_internal", "version 2 B-tree root of one record", f.data[root : root + 10 + 24 + 2 * 9])
    emit("btree_v2_record_chunk", "version 2 B-tree record, type 10", record_of(f, 10, 24))
    emit(
        "btree_v2_record_filtered_chunk",
        "version 2 B-tree record, type 11, layout version 4",
        record_of(f, 11, 30),
    )
    f = Bytes(written(make, libver=("v200", "v200")))
    emit(
        "btree_v2_record_filtered_chunk_v5",
        "version 2 B-tree record, type 11, layout version 5",
        record_of(f, 11, 36),
    )

    def dense(file):
        group = file.create_group("g", track_order=True)
        for i in range(20):
            group[f"link {i}"] = h5py.SoftLink("/")
        group["x" * 5000] = h5py.SoftLink("/")
        for i in range(20):
            group.attrs[f"attribute {i}"] = i

    f = Bytes(written(dense, libver="latest"))
    for kind, size, name in [
        (1, 24, "huge_object"),
        (5, 11, "link_name"),
        (6, 15, "link_order"),
        (8, 17, "attribute_name"),
        (9, 13, "attribute_order"),
    ]:
        emit(f"btree_v2_record_{name}", f"version 2 B-tree record, type {kind}", record_of(f, kind, size))

    # h5py has no call for shared message indexes.
    library = ctypes.CDLL(
        next(
            line.split()[-1] for line in open("/proc/self/maps") if "libhdf5-" in line or "libhdf5.so" in line
        )
    )
    plist = h5p.create(h5p.FILE_CREATE)
    assert library.H5Pset_shared_mesg_nindexes(ctypes.c_int64(plist.id), 1) >= 0
    assert library.H5Pset_shared_mesg_index(ctypes.c_int64(plist.id), 0, 0x1F, 1) >= 0
    assert library.H5Pset_shared_mesg_phase_change(ctypes.c_int64(plist.id), 0, 0) >= 0

    def shared(file):
        for i in range(2):
            file.create_dataset(f"d{i}", (3,), "f4").attrs["a"] = 1
        file.create_dataset("other", (5,), "f8").attrs["b"] = 2

    f = Bytes(written(shared, plist=plist, libver="latest"))
    leaf = next(at for at in f.all(b"BTLF") if f.data[at + 5] == 7)
    header = next(at for at in f.all(b"BTHD") if f.data[at + 5] == 7)
    records = [f.data[leaf + 6 + 17 * i :][:17] for i in range(f.uint(header + 24, 2))]
    for location, name in [(0, "in_heap"), (1, "in_header")]:
        record = next((record for record in records if record[0] == location), None)
        assert record, (name, records)
        emit(
            f"btree_v2_record_shared_message_{name}",
            f"version 2 B-tree record, type 7, location {location}",
            record,
        )


def arrays():
    """Fixed and extensible arrays with and without filters, and of more elements than a page holds."""

    def fixed(file):
        file.create_dataset("plain", data=np.ones(3, "u1"), chunks=(1,))

    def fixed_filtered(file):
        file.create_dataset("filtered", data=np.ones(3, "u1"), chunks=(1,), fletcher32=True)

    def fixed_paged(file):
        file.create_dataset("paged", (2050,), "u1", chunks=(1,))[2049] = 1

    for suffix, make, libver, size in [
        ("", fixed, "v110", 8),
        ("_filtered", fixed_filtered, "v110", 14),
        ("_filtered_v5", fixed_filtered, "v200", 20),
        ("_paged", fixed_paged, "v110", 8),
    ]:
        f = Bytes(written(make, libver=(libver, libver)))
        at = f.only(b"FAHD")
        what = f"fixed array{suffix.replace('_', ' ')}"
        emit(f"fixed_array_header{suffix}", f"{what}, header", f.data[at : at + 28])
        if suffix == "_filtered_v5":
            continue
        block = f.address(at + 16)
        content = 1 if suffix == "_paged" else 3 * size
        emit(f"fixed_array_data_block{suffix}", f"{what}, data block", f.data[block : block + 18 + content])
        if suffix == "_paged":
            page = block + 19 + 2 * (1024 * 8 + 4)
            emit("fixed_array_page", "fixed array, last page", f.data[page : page + 2 * 8 + 4])

    def extensible(filters, *positions):
        def make(file):
            d = file.create_dataset("d", (200000,), "u1", maxshape=(None,), chunks=(1,), fletcher32=filters)
            for position in positions:
                d[position] = 1

        return make

    for suffix, make, libver, size in [
        ("", extensible(False, 0, 5, 250), "v110", 8),
        ("_filtered", extensible(True, 0, 5), "v110", 14),
        ("_filtered_v5", extensible(True, 0), "v200", 20),
        ("_paged", extensible(False, 133000), "v110", 8),
    ]:
        f = Bytes(written(make, libver=(libver, libver)))
        at = f.only(b"EAHD")
        what = f"extensible array{suffix.replace('_', ' ')}"
        if suffix != "_paged":
            emit(f"extensible_array_header{suffix}", f"{what}, header", f.data[at : at + 72])
        if suffix == "_filtered_v5":
            continue
        index = f.only(b"EAIB")
        if suffix != "_paged":
            emit(
                f"extensible_array_index_block{suffix}",
                f"{what}, index block",
                f.data[index : index + 18 + 4 * size + 31 * 8],
            )
        block = next(f.all(b"EADB"))
        content = 0 if suffix == "_paged" else 16 * size
        emit(
            f"extensible_array_data_block{suffix}",
            f"{what}, data block",
            f.data[block : block + 22 + content],
        )
        if suffix != "_filtered":
            secondary = f.only(b"EASB")
            content = 64 + 64 * 8 if suffix == "_paged" else 4 * 8
            emit(
                f"extensible_array_secondary_block{suffix}",
                f"{what}, secondary block",
                f.data[secondary : secondary + 22 + content],
            )


if __name__ == "__main__":
    metadata()
    groups()
    global_heap()
    btrees_v1()
    btrees_v2()
    arrays()
