"""Prints the SHA-256 sums of files as `sha256sum` does, for `sha256sum --check` in their folder.

    sums.py FILE…
"""

import hashlib
import sys
from pathlib import Path

for file in map(Path, sys.argv[1:]):
    print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
