"""What a plan says: points in path order, and the files of each by patterns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from . import places


class PlanError(Exception):
    """What is wrong with a plan, a line each."""

    def __init__(self, wrong: list[str]) -> None:
        super().__init__("\nerror: ".join(wrong))
        self.wrong = wrong


@dataclass
class File:
    """A file of a point."""

    path: str
    size_bytes: int
    # A ring writes files of the same name and size anew.
    begins_ns: Optional[int] = None


@dataclass
class Point:
    """A point, and its files by name."""

    name: str
    patterns: list[str]
    files: list[File] = field(default_factory=list)


@dataclass
class Plan:
    """A plan whose patterns are files."""

    points: list[Point]
    shards: int

    @staticmethod
    def read(path: str) -> Plan:
        """Reads a plan, and looks which files there are."""
        plan = _plan(path, _loaded(path))
        # Workers may be elsewhere.
        plan._find(os.path.dirname(os.path.abspath(path)))
        return plan

    def _find(self, folder: str) -> None:
        wrong = []
        for point in self.points:
            for pattern in point.patterns:
                found = places.matching(pattern, folder)
                if not found:
                    wrong.append(f"point {point.name}: no file matches {pattern}{_as_they_are(pattern)}")
                point.files.extend(File(*one) for one in found)
            if not point.patterns:
                wrong.append(f"point {point.name} has no files")
        wrong.extend(self._twice())
        if wrong:
            raise PlanError(wrong)

    def _twice(self) -> Iterator[str]:
        """Files that are there twice, under whatever name, at one point or at two."""
        seen: dict[Any, str] = {}
        for point in self.points:
            for file in point.files:
                identity = places.identity(file.path)
                if identity in seen:
                    other = seen[identity]
                    same = "" if other == file.path else f" (it is {other})"
                    yield f"point {point.name}: {file.path} matches two patterns{same}"
                seen[identity] = file.path


def _as_they_are(pattern: str) -> str:
    """What a shell does with a pattern besides."""
    return ": braces and variables are taken as they are" if re.search("[{$]", pattern) else ""


def _loaded(path: str) -> Any:
    """What the text says. A key that is there twice would hide files."""
    try:
        import yaml
    except ImportError as error:
        raise PlanError(["plans are read with PyYAML: pip install 'coalescope[archive]'"]) from error
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        _check_keys(yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise PlanError([f"{path}: {error}"]) from error


def _check_keys(node: Any) -> None:
    """Looks for keys in all that is below a node of YAML. An anchor may stand in itself."""
    waiting, known = [node], set()
    while waiting:
        node = waiting.pop()
        below = getattr(node, "value", None)
        if id(node) in known or not isinstance(below, list):
            continue
        known.add(id(node))
        pairs = [one for one in below if isinstance(one, tuple)]
        keys = [key.value for key, _ in pairs if isinstance(key.value, str)]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"{key} is there twice, {str(node.start_mark).strip()}")
        waiting.extend(one for pair in pairs for one in pair)
        waiting.extend(one for one in below if not isinstance(one, tuple))


def _plan(path: str, said: Any) -> Plan:
    if not isinstance(said, dict) or not isinstance(said.get("points"), list) or not said["points"]:
        raise PlanError([f"{path}: a plan has `points`, a list of `name` and `files` (docs/archive.md)"])
    unknown = set(said) - {"points", "shards"}
    wrong = [f"{path}: {name} is nothing that a plan says: it has points and shards" for name in sorted(map(str, unknown))]
    shards = said.get("shards", 64)
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= 1024:
        wrong.append(f"{path}: shards is a number from 1 to 1024")
    points = [_point(path, number, one, wrong) for number, one in enumerate(said["points"])]
    names = [point.name for point in points]
    wrong.extend(f"{path}: two points are called {name}" for name in sorted({n for n in names if names.count(n) > 1}))
    if wrong:
        raise PlanError(wrong)
    return Plan(points, shards)


def _point(path: str, number: int, said: Any, wrong: list[str]) -> Point:
    name = said.get("name") if isinstance(said, dict) else None
    if not isinstance(name, str) or not name:
        why = "has no name" if name in (None, "") else f"has the name {name}, which is no text: put it in quotes"
        wrong.append(f"{path}: point {number + 1} {why}")
        return Point(f"{number + 1}", [])
    files = said.get("files", [])
    patterns = [files] if isinstance(files, str) else files
    if not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
        wrong.append(f"{path}: files of point {name} are patterns: a text, or a list of them")
        patterns = []
    for key in sorted(map(str, set(said) - {"name", "files"})):
        wrong.append(f"{path}: {key} is nothing that a point has: it has a name and files")
    return Point(name, patterns)
