"""What is written in Rust."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Optional, Protocol, Union

import pyarrow as pa

_Path = Union[str, "os.PathLike[str]"]

class _Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...

class _Stream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

_Capture = Union[_Path, _Reads]

class Error(Exception):
    """What could not be done, where, and what to do about it: in the words of the command."""

class Together(Error):
    """Shards that have to be followed together: several points, fragments, copies of frames, a clock that was set back."""

class Unwritten(Error):
    """An archive that cannot be written: a capture is not to blame, and may be tried again."""

class Report:
    """What `coalescope trace` says of captures."""

    @property
    def verdict(self) -> str:
        """The verdict, in one to three sentences."""
    @property
    def has_findings(self) -> bool:
        """Whether anything was found that network or host does wrong."""
    @property
    def warnings(self) -> list[str]:
        """What was left out or looked odd."""
    def json(self) -> str:
        """The document that `--format json` prints."""
    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
    def csv(self) -> str:
        """The rows that `--format csv` prints."""
    def text(self, width: int = 100) -> str:
        """The text for people."""
    def html(self, made_by: str, sources: Sequence[tuple[str, str]] = ()) -> str:
        """The page that `--report` writes, without pictures of single connections."""

class Check:
    """What `coalescope check` says of hosts."""

    @property
    def has_findings(self) -> bool:
        """Whether anything was found."""
    @property
    def warnings(self) -> list[str]:
        """What was left out or looked odd."""
    def json(self) -> str:
        """The document that `--format json` prints."""
    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
    def text(self, width: int = 100) -> str:
        """The text for people."""
    def html(self, made_by: str, sources: Sequence[tuple[str, str]] = ()) -> str:
        """The page that `--report` writes."""

def trace(
    *captures: _Path,
    compare: bool = False,
    points_by_interface: bool = False,
    max_connections: int = 1_000_000,
    threads: Optional[int] = None,
) -> Report:
    """Judges captures of the same traffic at one or more points (`[NAME=]FILE`, in path order), or an archive of them."""

def check(*saved: _Path, rules: Sequence[_Path] = ()) -> Check:
    """Checks hosts by what their commands printed; without any, this one. `rules`: more rules, or folders of them."""

class Digest(Iterator[pa.RecordBatch]):
    """A capture that is being turned into rows: batches of one shard each. Iterate, or read all by `reader()`."""

    def __iter__(self) -> Digest: ...
    def __next__(self) -> pa.RecordBatch: ...
    def reader(self) -> pa.RecordBatchReader:
        """All rows as they come; the column `shard` tells them apart."""
    @property
    def files(self) -> pa.Table:
        """What is left to say of the file: a table of files with one row, once all rows are read."""

def digest(
    capture: _Capture,
    *,
    point_name: str,
    name: Optional[str] = None,
    point: int = 0,
    file: int = 0,
    points: int = 1,
    shards: int = 16,
) -> Digest:
    """Turns a capture into rows: a path, or an object with `read`. `point` and `file` are its place, counted from 0, in an
    archive of so many points and shards. Nothing of other files is asked for: each may be digested anywhere."""

class Archive:
    """An archive that is being written to a folder; `go_on` if some of it may be there already."""

    def __init__(self, path: _Path, *, shards: int = 16, go_on: bool = False) -> None: ...
    def add(
        self,
        capture: _Capture,
        *,
        point_name: str,
        name: Optional[str] = None,
        point: int = 0,
        file: int = 0,
        points: int = 1,
    ) -> pa.Table:
        """Writes the rows of a capture; gives what is left to say of it, a table of files with one row."""
    def finish(self, files: _Stream) -> None:
        """Writes the table of files, after which the archive is whole."""

def unreadable(
    why: str,
    *,
    point_name: str,
    name: str,
    point: int = 0,
    file: int = 0,
    points: int = 1,
    shards: int = 16,
) -> pa.Table:
    """What is said of a capture that could not be read at all: a table of files with one row, and a warning in it."""

class Facts:
    """Facts of one shard, or of several."""

    def __init__(
        self, points: _Stream, connections: _Stream, hops: _Stream, datagram_hops: _Stream
    ) -> None: ...
    @property
    def points(self) -> pa.Table:
        """A row for each point, or for each shard that was followed by itself."""
    @property
    def connections(self) -> pa.Table:
        """A row for each connection at a point."""
    @property
    def hops(self) -> pa.Table:
        """A row for each hop and direction."""
    @property
    def datagram_hops(self) -> pa.Table:
        """The same of UDP datagrams."""

def parts(archive: _Path) -> list[Optional[int]]:
    """What has to be followed together: each shard of an archive by itself, or `None`, all of them."""

def facts(
    rows: Union[_Path, _Stream],
    files: Optional[Union[_Path, _Stream]] = None,
    *,
    shard: Optional[int] = None,
) -> Facts:
    """The facts of a shard; without one, those of all shards followed together. `rows`: the folder of an archive, or rows in
    any order, beside the table of files that they are of."""

def judge(facts: Sequence[Facts], files: Union[_Path, _Stream]) -> Report:
    """Judges the facts of all shards, once. `files`: the folder of an archive, or its table of files."""

_Begin = tuple[int, int, Optional[int]]

def how_it_begins(
    capture: _Capture, name: Optional[str] = None
) -> tuple[str, Optional[_Begin]]:
    """A capture's name, time of its first frame in nanoseconds since 1970, number of the link type, and a number by which copies
    of a capture are known, if it has enough frames; `None` without frames."""

def check_begins(
    points: Sequence[tuple[str, Sequence[tuple[str, Optional[_Begin]]]]],
) -> None:
    """Raises all that cannot be right in how the captures of points begin, a line each."""
