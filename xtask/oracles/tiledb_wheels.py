"""Reads arrays in older versions of the TileDB format, written by the tiledb-py of their time.

    tiledb_wheels.py HYPERSLAB CACHE

Each wheel is installed once below CACHE, for a Python that it supports, and `tiledb_old.py` writes arrays with it. `digest` must
find what the current tiledb-py finds in them. If there is no such Python, the version is skipped.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

import tiledb

import tiledb_content as content
from tally import Tally

# The version of the format, the last wheel that writes it, and a Python that has this wheel.
WHEELS = [(6, "0.7.7", "3.7"), (7, "0.8.0", "3.7"), (11, "0.13.3", "3.7"), (14, "0.16.5", "3.7"), (17, "0.20.0", "3.8"),
          (19, "0.22.3", "3.8"), (21, "0.25.0", "3.8")]
# The minimum number of arrays that each wheel writes.
LEAST = 15
# The start of the skip message of a check that asks a registry, as in xtask/src/missing.rs.
UNREACHABLE = "a registry does not answer"


def interpreter(version):
    """A Python of this version, from pyenv, uv or the system."""
    roots = [os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv")), os.path.expanduser("~/.local/share/uv")]
    places = [os.path.join(roots[0], "versions", f"{version}.*"), os.path.join(roots[1], "python", f"cpython-{version}.*")]
    found = [path for place in places for path in sorted(glob.glob(os.path.join(place, "bin", f"python{version}")))]
    for path in [*found, shutil.which(f"python{version}")]:
        if path and subprocess.run([path, "-c", "import pip"], capture_output=True).returncode == 0:
            return path
    return None


def installed(python, wheel, cache):
    """The folder of a wheel with its dependencies, or the reason why there is none."""
    folder = os.path.join(cache, f"tiledb-{wheel}")
    if os.path.exists(folder):
        return folder, None
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as partial:
        target = os.path.join(partial, "packages")
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries", "2", "--timeout", "20",
                   "--only-binary", ":all:", "--target", target, f"tiledb=={wheel}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1]
        os.rename(target, folder)
    return folder, None


def compare(tally, hyperslab, version, folder):
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        try:
            array = tiledb.open(path)
        except tiledb.TileDBError:
            # An incomplete installation.
            continue
        with array:
            reasons = list(content.differences(content.found_digests(hyperslab, path), content.digests(array)))
        tally.check(not reasons, f"{name} in version {version}", reasons)


def main():
    hyperslab, cache = sys.argv[1:]
    tally = Tally()
    here = os.path.dirname(os.path.abspath(__file__))
    for version, wheel, needed in WHEELS:
        python = interpreter(needed)
        if python is None:
            tally.skip(f"no Python {needed} for tiledb {wheel}, which writes version {version}")
            continue
        packages, missing = installed(python, wheel, cache)
        if packages is None:
            tally.skip(f"{UNREACHABLE}: tiledb {wheel}: {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [python, "-W", "ignore", os.path.join(here, "tiledb_old.py"), packages, folder]
            done = subprocess.run(command, capture_output=True, text=True)
            written = [line for line in done.stdout.splitlines() if " - " not in line]
            reasons = [line for line in done.stdout.splitlines() if " - " in line] + done.stderr.splitlines()[-3:]
            tally.check(len(written) >= LEAST, f"tiledb {wheel} writes {len(written)} arrays", reasons)
            # Fragment names end in their version.
            versions = {name.rpartition("_")[2] for _, folders, _ in os.walk(folder) for name in folders if name.count("_") >= 5}
            tally.check(versions == {str(version)}, f"tiledb {wheel} writes version {version}", [str(versions)])
            compare(tally, hyperslab, version, folder)
    tally.close()


if __name__ == "__main__":
    main()
