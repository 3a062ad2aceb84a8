"""What a plan says: points in path order, and the files of each by patterns."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

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
        try:
            import yaml
        except ImportError as error:
            raise PlanError(["plans are read with PyYAML: pip install 'coalescope[archive]'"]) from error
        try:
            with open(path, encoding="utf-8") as text:
                said = yaml.safe_load(text)
        except (OSError, yaml.YAMLError) as error:
            raise PlanError([f"{path}: {error}"]) from error
        plan = _plan(path, said)
        # Workers may be elsewhere.
        plan._find(os.path.dirname(os.path.abspath(path)))
        return plan

    def _find(self, folder: str) -> None:
        wrong = []
        for point in self.points:
            for pattern in point.patterns:
                found = places.matching(pattern, folder)
                if not found:
                    wrong.append(f"point {point.name}: no file matches {pattern}")
                point.files.extend(File(*one) for one in found)
            wrong.extend(_twice(point))
            if not point.patterns:
                wrong.append(f"point {point.name} has no files")
        if wrong:
            raise PlanError(wrong)


def _twice(point: Point) -> list[str]:
    seen: set[str] = set()
    wrong = []
    for file in point.files:
        if file.path in seen:
            wrong.append(f"point {point.name}: {file.path} matches two patterns")
        seen.add(file.path)
    return wrong


def _plan(path: str, said: Any) -> Plan:
    if not isinstance(said, dict) or not isinstance(said.get("points"), list) or not said["points"]:
        raise PlanError([f"{path}: a plan has `points`, a list of `name` and `files` (docs/archive.md)"])
    unknown = set(said) - {"points", "shards"}
    wrong = [f"{path}: {name} is nothing that a plan says: it has points and shards" for name in sorted(unknown)]
    shards = said.get("shards", 64)
    if not isinstance(shards, int) or not 1 <= shards <= 1024:
        wrong.append(f"{path}: shards is a number from 1 to 1024")
    points = [_point(path, number, one, wrong) for number, one in enumerate(said["points"])]
    names = [point.name for point in points]
    wrong.extend(f"{path}: two points are called {name}" for name in sorted({n for n in names if names.count(n) > 1}))
    if wrong:
        raise PlanError(wrong)
    return Plan(points, shards)


def _point(path: str, number: int, said: Any, wrong: list[str]) -> Point:
    if not isinstance(said, dict) or not isinstance(said.get("name"), str):
        wrong.append(f"{path}: point {number + 1} has no name")
        return Point(f"{number + 1}", [])
    files = said.get("files", [])
    patterns = [files] if isinstance(files, str) else files
    if not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
        wrong.append(f"{path}: files of point {said['name']} are patterns: a text, or a list of them")
        patterns = []
    for name in sorted(set(said) - {"name", "files"}):
        wrong.append(f"{path}: {name} is nothing that a point has: it has a name and files")
    return Point(said["name"], patterns)
