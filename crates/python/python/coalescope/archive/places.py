"""Where files lie: on this machine, or where pyarrow.fs reaches (`s3://`)."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Union
from urllib.parse import quote

from pyarrow import fs

_URL = re.compile(r"^[a-z][a-z0-9+.-]*://")
_MAGIC = re.compile(r"[*?\[]")


def is_remote(path: str) -> bool:
    """Whether a path is a URL of pyarrow.fs."""
    return _URL.match(path) is not None


def matching(pattern: str, folder: str) -> list[tuple[str, int]]:
    """Files that match a pattern, and their bytes; a pattern without a folder is beside the plan."""
    if is_remote(pattern):
        return sorted(_remote(pattern))
    return sorted(_local(os.path.join(folder, os.path.expanduser(pattern))))


def _local(pattern: str) -> Iterator[tuple[str, int]]:
    for path in glob.glob(pattern, recursive=True):
        # A ring may have removed a file since its folder was read.
        with suppress(FileNotFoundError):
            found = os.stat(path)
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_size


def identity(path: str) -> Any:
    """The same for all names and links of one file."""
    with suppress(FileNotFoundError):
        if not is_remote(path):
            found = os.stat(path)
            return found.st_dev, found.st_ino
    return path


def store_of(url: str) -> tuple[Any, str]:
    """The store that a URL means, and the path there. Names of objects may have any sign; in a URL some mean something."""
    scheme, path = url.split("://", 1)
    store, inner = fs.FileSystem.from_uri(f"{scheme}://{quote(path, safe='/:@')}")
    return store, str(inner)


def _remote(pattern: str) -> Iterator[tuple[str, int]]:
    scheme, rest = pattern.split("://", 1)
    # The store that a URL means is told by its head; a pattern's own signs would not pass as those of a URL.
    found = _MAGIC.search(rest)
    head = rest[: found.start()].rpartition("/")[0] if found else rest
    store, base = store_of(f"{scheme}://{head}")
    if not found:
        info = store.get_file_info(base)
        infos = [info] if info.is_file else []
    else:
        infos = store.get_file_info(fs.FileSelector(base, recursive=True, allow_not_found=True))
    wanted = base + rest[len(head) :]
    for info in infos:
        if info.is_file and _is_match(info.path, wanted):
            yield f"{scheme}://{info.path}", info.size


def _is_match(path: str, pattern: str) -> bool:
    """As in a shell: * stays within a folder, ** does not."""
    parts = pattern.split("**/")
    signs = [fnmatch.translate(part).replace(".*", "[^/]*") for part in parts]
    bodies = [re.sub(r"^\(\?s:(.*)\)\\[Zz]$", r"\1", sign) for sign in signs]
    return re.fullmatch("(?:.*/)?".join(bodies), path, re.DOTALL) is not None


@contextmanager
def opened(path: str) -> Iterator[Union[str, Any]]:
    """A capture as `coalescope.digest` takes it: a path, or what reads from a store."""
    if not is_remote(path):
        yield path
        return
    store, inner = store_of(path)
    with store.open_input_stream(inner, compression=None, buffer_size=1 << 22) as stream:
        yield stream
