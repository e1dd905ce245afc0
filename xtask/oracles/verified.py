"""Conversions by the command whose results must equal the source."""

import os
import subprocess
import sys


def convert(tally, source, target, *options):
    """Converts and verifies with these options, which must succeed. Returns the report, as the command prints it."""
    command = [sys.argv[1], "convert", "--verify", *options, source, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    words = [os.path.basename(source), "becomes", os.path.basename(target), *options]
    tally.check(done.returncode == 0, " ".join(words), [done.stdout, done.stderr])
    return done.stdout
