#!/usr/bin/env python3
"""Writes symbol_table.h5: a group of 150 links and two soft ones, stored as a symbol table of two levels.

Run it in this folder with a Python that has h5py 3.16.
"""

import h5py

create = h5py.h5p.create(h5py.h5p.FILE_CREATE)
create.set_sizes(4, 8)
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V110)
with h5py.File(h5py.h5f.create(b"symbol_table.h5", h5py.h5f.ACC_TRUNC, fcpl=create, fapl=access)) as file:
    group = file.create_group("g")
    for i in range(150):
        group[f"{i:03}"] = file["/"]
    group["soft"] = h5py.SoftLink("/g/007")
    group["a longer name"] = h5py.SoftLink("nowhere")
