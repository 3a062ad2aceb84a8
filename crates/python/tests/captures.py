"""Captures for tests: made by the command, cut as tcpdump -G would cut them."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

COALESCOPE = os.environ["COALESCOPE"]


def missing(*names):
    """The first module that is not there."""
    return next((name for name in names if importlib.util.find_spec(name) is None), None)


def command(*words, **options):
    """Runs the command; its output, errors and exit code."""
    return subprocess.run([COALESCOPE, *map(str, words)], capture_output=True, text=True, **options)


def said(*words):
    """What the command prints as JSON."""
    done = command(*words, "--format", "json")
    # 4: what was given is not enough to judge all of it.
    if done.returncode not in (0, 1, 4):
        raise AssertionError(done.stderr)
    return done.stdout


def cut(path, pieces, folder, name):
    """Cuts a pcap file into pieces, each a file."""
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, records = 24, []
    while at < len(data):
        size = struct.unpack(order + "I", data[at + 8 : at + 12])[0] + 16
        records.append(data[at : at + size])
        at += size
    paths = []
    each = -(-len(records) // pieces)
    for number in range(pieces):
        some = records[number * each : (number + 1) * each]
        paths.append(os.path.join(folder, f"{name}_{number:05}.pcap"))
        with open(paths[-1], "wb") as file:
            file.write(data[:24] + b"".join(some))
    return paths


class Captures(unittest.TestCase):
    """Captures of an incident at two points, in a folder that is gone in the end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        kept = os.path.join(self.folder, "kept")
        done = command("demo", "hyperv-rsc-jumbo", "--keep", kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The hop that loses merged frames: what is captured in front of both says nothing more.
        names = sorted(os.listdir(kept))[-2:]
        self.points = {name.removesuffix(".pcap"): os.path.join(kept, name) for name in names}
        self.assertEqual(len(self.points), 2, self.points)

    def at(self, name):
        """A path in the folder."""
        return os.path.join(self.folder, name)

    def plan(self, points, **more):
        """A plan of points and patterns."""
        said = {"points": [{"name": name, "files": files} for name, files in points.items()], **more}
        with open(self.at("plan.yaml"), "w", encoding="utf-8") as file:
            # JSON is YAML.
            json.dump(said, file)
        return self.at("plan.yaml")

    def rotated(self, pieces):
        """The captures of all points in pieces: by point their files, and as arguments of the command."""
        folder = self.at("rotated")
        os.makedirs(folder, exist_ok=True)
        files = {name: cut(path, pieces, folder, name) for name, path in self.points.items()}
        return files, [f"{name}={file}" for name, paths in files.items() for file in paths]

    def patterns(self, pieces):
        """The same as patterns of a plan, and as arguments of the command."""
        files, arguments = self.rotated(pieces)
        return {name: f"rotated/{name}_*.pcap" for name in files}, arguments

    def words(self, plan, *words):
        """The command that runs a plan."""
        return [sys.executable, "-m", "coalescope.archive", plan, "--out", self.at("out"), *words]

    def run_plan(self, plan, *words, code=None, env=None):
        """Runs a plan to its end."""
        env = {**os.environ, **(env or {})}
        done = subprocess.run(self.words(plan, *words), capture_output=True, text=True, env=env)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr)
        return done
