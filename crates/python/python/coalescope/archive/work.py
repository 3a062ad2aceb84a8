"""Work that can be done anywhere: whatever runs it, it reads a capture or an archive, and writes into the archive's folder.

Each piece leaves a file behind when it is done, so that a run that was stopped goes on where it was, and a piece that is done
twice is done once.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass
from typing import Any, Optional

import pyarrow as pa
import pyarrow.parquet as pq

import coalescope

from . import places

TABLES = ("points", "connections", "hops", "datagram_hops")


@dataclass
class Digest:
    """A capture to be digested."""

    out: str
    shards: int
    points: int
    point: int
    point_name: str
    file: int
    path: str
    size_bytes: int

    def done_at(self) -> str:
        """What is there when it is done: what is left to say of the file."""
        return os.path.join(self.out, "ends", f"{self.point:05}-{self.file:010}.parquet")

    def weight(self) -> int:
        """How long it takes, beside others."""
        return self.size_bytes

    def do(self) -> dict[str, Any]:
        """Digests it. A capture that is none is named; what a store does not answer, or has no room for, is raised, and tried
        again."""
        place: dict[str, Any] = {
            "point_name": self.point_name,
            "name": self.path,
            "point": self.point,
            "file": self.file,
            "points": self.points,
        }
        failed = None
        try:
            archive = coalescope.Archive(self.out, shards=self.shards, go_on=True)
            with places.opened(self.path) as capture:
                files = archive.add(capture, **place)
        except coalescope.Unwritten as error:
            raise OSError(str(error)) from error
        except coalescope.Error as error:
            failed = str(error)
            files = coalescope.unreadable(failed, shards=self.shards, **place)
        write(files, self.done_at())
        return {"name": self.path, "frames": files["frames"][0].as_py(), "failed": failed}


@dataclass
class Follow:
    """A part of an archive whose connections are to be followed: a shard, or all of them."""

    out: str
    shard: Optional[int]
    bytes: int

    def folder(self) -> str:
        """Where its facts are."""
        return os.path.join(self.out, "facts")

    def part(self) -> str:
        """How they are called."""
        return "all" if self.shard is None else f"{self.shard:05}"

    def done_at(self) -> str:
        """What is there when it is done: it is written last."""
        return self.table("points")

    def table(self, table: str) -> str:
        """A table of facts."""
        return os.path.join(self.folder(), f"{table}-{self.part()}.parquet")

    def weight(self) -> int:
        """How long it takes, beside others."""
        return self.bytes

    def do(self) -> dict[str, Any]:
        """Follows it."""
        facts = coalescope.facts(self.out, shard=self.shard)
        for table in reversed(TABLES):
            write(getattr(facts, table), self.table(table))
        return {"name": self.part(), "connections": facts.connections.num_rows, "failed": None}

    def facts(self) -> coalescope.Facts:
        """What was found."""
        return coalescope.Facts(*(pq.read_table(self.table(table)) for table in TABLES))


Task = Any


def write(table: pa.Table, path: str) -> None:
    """Writes a table in one instant."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # The same task may be done elsewhere at the same time, by a process of the same number.
    unfinished = f"{path}.{uuid.uuid4().hex}.part"
    pq.write_table(table, unfinished, compression="zstd")
    os.replace(unfinished, path)


def packed(task: Task) -> str:
    """A task as text, which any engine carries."""
    return json.dumps({"kind": type(task).__name__, **asdict(task)})


def unpacked(text: str) -> Task:
    """The task again."""
    said = json.loads(text)
    kind = {"Digest": Digest, "Follow": Follow}[said.pop("kind")]
    return kind(**said)


def do(text: str) -> str:
    """Does a task that was packed; what came of it, packed as well. What is wrong with an archive is said, so that any engine
    hands on the words, and does not try again."""
    try:
        return json.dumps(unpacked(text).do())
    except coalescope.Error as error:
        return json.dumps({"error": str(error)})
