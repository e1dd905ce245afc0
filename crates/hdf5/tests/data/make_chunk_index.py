#!/usr/bin/env python3
"""Writes chunk_index/NAME.h5, files of one chunked dataset, and chunk_index/NAME.txt: how its chunks are indexed,
as the data layout message says, and where HDF5 finds each of them.

Run it in this folder with a Python that has h5py 3.16 over HDF5 2.0; other versions may choose other indexes.
"""

import itertools
import os
import zlib
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

HERE = Path(__file__).parent / "chunk_index"
UNLIMITED = 2**64 - 1
VERSIONS = {"earliest": h5f.LIBVER_EARLIEST, "v110": h5f.LIBVER_V110, "v200": h5f.LIBVER_V200}
INDEXES = ["btree_v1", "single_chunk", "implicit", "fixed_array", "extensible_array", "btree_v2"]


def write(
    name, dims, max_dims, chunk_dims, chunks, libver="v110", filters=(), early=False, sizes=(8, 8), **more
):
    """A dataset of four-byte integers of which `chunks` (positions, or all) are written."""
    create = h5p.create(h5p.FILE_CREATE)
    create.set_sizes(*sizes)
    create.set_userblock(more.get("userblock", 0))
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(VERSIONS[libver], h5f.LIBVER_V200)
    path = HERE / f"{name}.h5"
    file = h5f.create(str(path).encode(), h5f.ACC_TRUNC, fcpl=create, fapl=access)
    layout = h5p.create(h5p.DATASET_CREATE)
    layout.set_chunk(chunk_dims)
    layout.set_fill_time(h5d.FILL_TIME_NEVER)
    if early:
        layout.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if "deflate" in filters:
        layout.set_deflate(1)
    if "fletcher32" in filters:
        layout.set_fletcher32()
    limits = tuple(h5s.UNLIMITED if limit is None else limit for limit in max_dims)
    space = h5s.create_simple(dims, limits)
    dataset = h5d.create(file, b"d", h5t.STD_U32LE, space, layout)
    # Every element is its own number, so a stored chunk says where it belongs.
    numbers = np.arange(np.prod(dims), dtype="<u4").reshape(dims)
    h5 = h5py.Dataset(dataset)
    grid = itertools.product(*(range(-(-dim // chunk)) for dim, chunk in zip(dims, chunk_dims)))
    for at in grid if chunks == "all" else chunks:
        where = tuple(slice(a * c, (a + 1) * c) for a, c in zip(at, chunk_dims))
        h5[where] = numbers[where]
        if at == more.get("skip"):
            chunk = np.zeros(chunk_dims, "<u4")
            chunk[tuple(slice(0, n) for n in numbers[where].shape)] = numbers[where]
            offset = tuple(a * c for a, c in zip(at, chunk_dims))
            dataset.write_direct_chunk(offset, chunk.tobytes(), filter_mask=1)
    written = dims
    if "resize" in more:
        dataset.set_extent(more["resize"])
        dims = more["resize"]
    header = h5py.h5o.get_info(dataset).addr
    h5f.flush(file)
    # Positions are not asked for: HDF5 2.0 gets them wrong where the unlimited dimension is not the first.
    infos = [dataset.get_chunk_info(i) for i in range(dataset.get_num_chunks())]
    del h5, dataset
    file.close()
    assert path.stat().st_size <= 20480, (name, path.stat().st_size)
    data = path.read_bytes()
    found = []
    for info in infos:
        stored = data[info.byte_offset : info.byte_offset + info.size]
        if "deflate" in filters and not info.filter_mask & 1:
            # The checksum of Fletcher-32 behind it does not matter to zlib.
            stored = zlib.decompressobj().decompress(stored)
        first = np.unravel_index(int.from_bytes(stored[:4], "little"), written)
        at = tuple(int(i) // chunk for i, chunk in zip(first, chunk_dims))
        found.append((at, info.byte_offset, info.size, info.filter_mask))
    found.sort()
    assert len(set(at for at, *_ in found)) == len(found), name
    data = data[more.get("userblock", 0) :]
    kind, address, single = index(data, header, *sizes)
    assert name.startswith(kind), (name, kind)
    about = [
        f"sizes {sizes[0]} {sizes[1]}",
        f"base {more.get('userblock', 0)}",
        f"index {kind}",
        f"address {address}",
        "dims " + " ".join(map(str, dims)),
        "max_dims " + " ".join(str(UNLIMITED if limit is None else limit) for limit in max_dims),
        "chunk_dims " + " ".join(map(str, chunk_dims)),
        f"filtered {int(bool(filters))}",
        *([f"single {single[0]} {single[1]}"] if single else []),
    ]
    chunks = [f"chunk {' '.join(map(str, at))} at {offset} {size} {mask}" for at, offset, size, mask in found]
    (HERE / f"{name}.txt").write_text("\n".join(about + chunks) + "\n")


def index(data, header, offsets, lengths):
    """Kind and address of the index, and size and mask of a single chunk, from the data layout message."""

    def uint(at, width):
        return int.from_bytes(data[at : at + width], "little")

    def messages():
        if data[header : header + 4] == b"OHDR":
            flags = data[header + 5]
            at = header + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
            blocks = [(at + (1 << (flags & 3)), uint(at, 1 << (flags & 3)))]
            prefix, skip = (6 if flags & 4 else 4), 4
        else:
            blocks, prefix, skip = [(header + 16, uint(header + 8, 4))], 8, 0
        for start, length in blocks:
            at = start
            while at + prefix <= start + length:
                kind, size = (data[at], uint(at + 1, 2)) if skip else (uint(at, 2), uint(at + 2, 2))
                at += prefix
                if kind == 0x10:
                    blocks.append((uint(at, offsets) + skip, uint(at + offsets, lengths) - 2 * skip))
                yield kind, at
                at += size

    at = next(at for kind, at in messages() if kind == 8)
    version, kind = data[at], data[at + 1]
    assert kind == 2
    if version == 3:
        return INDEXES[0], uint(at + 3, offsets), None
    flags, rank, width = data[at + 2 : at + 5]
    at += 5 + rank * width
    kind, single = data[at], None
    at += 1
    if kind == 1 and flags & 2:
        single = uint(at, lengths), uint(at + lengths, 4)
        at += lengths + 4
    at += {1: 0, 2: 0, 3: 1, 4: 5, 5: 6}[kind]
    return INDEXES[kind], uint(at, offsets), single


def main():
    os.makedirs(HERE, exist_ok=True)
    deflate = ("deflate",)
    sparse = [(0, 0), (3, 1), (1, 4), (8, 8)]

    write("btree_v1", (9, 9), (9, None), (1, 1), "all", "earliest")
    write("btree_v1_sparse", (40, 50), (40, 50), (4, 6), sparse, "earliest", userblock=512)
    write(
        "btree_v1_filtered",
        (10, 20),
        (None, 20),
        (4, 6),
        "all",
        "earliest",
        ("deflate", "fletcher32"),
        skip=(1, 2),
    )
    write("btree_v1_shrunk", (9, 9), (None, None), (2, 2), "all", "earliest", deflate, resize=(5, 3))
    write("btree_v1_narrow", (6, 6, 2), (6, 6, 2), (2, 3, 2), "all", "earliest", sizes=(4, 4))
    write("btree_v1_empty", (9, 9), (9, 9), (2, 2), [], "earliest")

    write("single_chunk", (7, 5), (7, 5), (7, 5), "all")
    write("single_chunk_filtered", (7, 50), (7, 50), (7, 50), "all", filters=deflate)
    write("single_chunk_filtered_v5", (7, 50), (7, 50), (7, 50), "all", "v200", deflate)

    write("implicit", (5, 7), (5, 7), (2, 3), "all", early=True)
    write("implicit_room_to_grow", (5, 4, 7), (5, 9, 12), (2, 3, 3), "all", early=True)

    write("fixed_array", (5, 7), (5, 7), (2, 3), "all")
    write("fixed_array_room_to_grow", (5, 4, 7), (9, 9, 12), (2, 3, 3), [(0, 0, 0), (1, 1, 2), (2, 0, 1)])
    write("fixed_array_shrunk", (9, 9), (9, 9), (2, 2), "all", resize=(5, 3))
    write("fixed_array_filtered", (9, 30), (9, 30), (4, 7), "all", filters=deflate, skip=(1, 2))
    write("fixed_array_filtered_v5", (9, 30), (9, 30), (4, 7), "all", "v200", deflate)
    write("fixed_array_narrow", (9, 30), (9, 30), (4, 7), "all", filters=deflate, sizes=(4, 4))
    write("fixed_array_paged", (41, 50), (41, 50), (1, 1), [(0, 0), (0, 49), (40, 49)], sizes=(4, 8))
    write(
        "fixed_array_paged_filtered",
        (60, 20),
        (60, 20),
        (1, 1),
        [(1, 2), (51, 4)],
        filters=deflate,
        sizes=(4, 4),
    )

    write("extensible_array", (9, 5), (None, 5), (1, 2), "all")
    write("extensible_array_second_dim", (5, 9), (7, None), (2, 1), "all")
    write("extensible_array_last_dim", (5, 6, 9), (8, 6, None), (2, 2, 1), "all")
    write(
        "extensible_array_middle_dim",
        (5, 9, 6),
        (8, None, 6),
        (2, 1, 4),
        "all",
        filters=deflate,
        skip=(1, 2, 1),
    )
    write("extensible_array_filtered_v5", (5, 30), (7, None), (2, 1), "all", "v200", deflate)
    write("extensible_array_shrunk", (5, 9), (7, None), (2, 1), "all", resize=(3, 4))
    write(
        "extensible_array_secondary",
        (2, 300),
        (2, None),
        (1, 1),
        [(0, 0), (1, 1), (0, 3), (1, 122), (0, 140), (1, 299)],
    )
    write(
        "extensible_array_paged",
        (133120,),
        (None,),
        (1,),
        [(0,), (131063,), (131060 + 2048 - 1,)],
        sizes=(4, 8),
    )
    # In page 1 of data block 5 of its secondary block.
    late = 4 + 16 * (2**13 - 1) + 5 * 2048 + 1024 + 3
    write(
        "extensible_array_paged_last_dim",
        (2, 80000),
        (2, None),
        (1, 1),
        [(late % 2, late // 2)],
        sizes=(4, 8),
    )

    write("btree_v2", (11, 9), (None, None), (1, 1), "all")
    write(
        "btree_v2_sparse",
        (40, 50, 3),
        (None, 50, None),
        (4, 6, 2),
        [(0, 0, 0), (3, 1, 1), (1, 4, 0)],
        userblock=512,
    )
    write("btree_v2_filtered", (10, 20), (None, None), (4, 6), "all", filters=deflate, skip=(1, 2))
    write("btree_v2_filtered_v5", (10, 20), (None, None), (4, 6), "all", "v200", deflate)
    write("btree_v2_shrunk", (9, 9), (None, None), (2, 2), "all", resize=(5, 3))


main()
