"""Sides that start a program which writes a new file or folder in each run."""

import os
import shutil
import subprocess
import sys
import tempfile

from bench_side import Cannot, Work


class Written(Work):
    """What is written again in each run. `content` are the words of the script that reads it."""

    def __init__(self, into, content):
        self.into, self.content = into, content

    def prepare(self):
        os.makedirs(os.path.dirname(self.into), exist_ok=True)
        self.release()

    def stored_bytes(self):
        if os.path.isfile(self.into):
            return os.path.getsize(self.into)
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(self.into) for name in names)

    def total(self):
        done = subprocess.run([sys.executable, *self.content], capture_output=True, text=True)
        if done.returncode:
            raise Cannot(f"what is written cannot be read: {last_line(done.stderr)}")
        return done.stdout.strip()

    def release(self):
        if os.path.isdir(self.into):
            shutil.rmtree(self.into)
        elif os.path.exists(self.into):
            os.remove(self.into)


class Program(Written):
    """A program that is started in each run."""

    def __init__(self, words, into, content, env={}):
        super().__init__(into, content)
        self.words, self.env = words, os.environ | env
        if not shutil.which(words[0]):
            raise Cannot(f"{words[0]} is not installed")

    def run(self):
        with tempfile.TemporaryFile("w+") as said:
            child = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=self.env)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                said.seek(0)
                raise Cannot(last_line(said.read()) or f"ends with {child.returncode}")
        self.taken = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def of_another(self):
        return self.taken


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
