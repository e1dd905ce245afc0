"""Runs the commands and the Python code of a documentation page, as its readers would.

    page.py HYPERSLAB EXAMPLES PAGE

The blocks run in a copy of the example files, in their order: those marked `console` in a shell, those marked `python` in one
interpreter. Each must succeed and print nothing, because the page shows no output for it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from tally import Tally

warnings.simplefilter("ignore")


def main(hyperslab, examples, page):
    tally = Tally()
    text = Path(page).read_text()
    os.environ["PATH"] = f"{Path(hyperslab).parent}{os.pathsep}{os.environ['PATH']}"
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(examples, Path(folder) / "examples")
        os.chdir(copy)
        for language, block in re.findall(r"^```(console|python)\n(.*?)^```$", text, re.M | re.S):
            first = block.splitlines()[0]
            reasons = shell(block) if language == "console" else python(block, names)
            tally.check(not reasons, f"{Path(page).name}: {first}", reasons)
        os.chdir(examples)
    tally.close()


def shell(block):
    """What is wrong with a block of commands."""
    for line in block.splitlines():
        if not line.startswith("$ "):
            return [f"the page shows output, which is not compared: {line}"]
        done = subprocess.run(line[2:], shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode or done.stdout:
            return [line, f"exit code {done.returncode}", *done.stdout.splitlines()]
    return []


def python(block, names):
    """What is wrong with a block of Python."""
    try:
        exec(compile(block, "block", "exec"), names)
    except Exception:
        return [block, *traceback.format_exc().splitlines()[-3:]]
    return []


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:]))
