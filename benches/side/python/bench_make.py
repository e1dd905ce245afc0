"""Makes the files of a bench, each once. A stamp beside each file stores the version of its data."""

import os
import shutil
import sys


def main(files, version, needed, spare):
    """`files` has a function of path and scale for each name. `version` changes when
    the data change. All files take `needed` bytes, and `spare` bytes must stay free.

        make.py DIRECTORY SCALE [NAME...]

    SCALE divides the sizes: 1 for the bench, 64 to try the harness. With names, only these files are made.
    """
    directory, scale, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if wanted:
        needed = needed * sum(name in wanted for name in files) // len(files)
        files = {name: make for name, make in files.items() if name in wanted}
    os.makedirs(directory, exist_ok=True)
    stamp = stamp_of(version, scale)
    missing = []
    for name in files:
        path = os.path.join(directory, name)
        if not is_made(path, stamp):
            missing.append((name, path))
    free = shutil.disk_usage(directory).free
    if missing and free < needed // scale + spare:
        sys.exit(f"{free // 10**6} MB are free for files of {needed // scale // 10**6} MB")
    for name, path in missing:
        print(f"making {path}", flush=True)
        part = path + ".part"
        files[name](part, scale)
        if os.path.exists(part + ".places"):
            os.replace(part + ".places", path + ".places")
        os.replace(part, path)
        with open(path + ".stamp", "w") as f:
            f.write(stamp)


def stamp_of(version, scale):
    return f"version {version[0]}, scale {scale}, {version[1]}\n"


def is_made(path, stamp):
    try:
        with open(path + ".stamp") as f:
            return f.read() == stamp and os.path.exists(path)
    except FileNotFoundError:
        return False
