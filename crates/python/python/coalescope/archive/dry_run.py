"""What cannot be right is told before hours are spent: the first frame of each file is read, and nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Union

import coalescope

from . import places
from .plan import File, Plan, Point

# Asked for at the same time: an object store takes its time to answer.
_AT_ONCE = 16

Begun = tuple[File, Optional[tuple[int, int, Optional[int]]]]


@dataclass
class Looked:
    """A plan whose files were looked at: in order of time, without those that cannot be read."""

    plan: Plan
    warnings: list[str] = field(default_factory=list)
    unreadable: int = 0


def look(plan: Plan) -> Looked:
    """Looks at how all files begin, and puts them in order; raises what cannot be right."""
    looked = Looked(plan)
    points = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for point in plan.points:
            begun = _readable(looked, point, list(pool.map(_begin, point.files)))
            begun = _in_order(looked, point, begun)
            point.files = [replace(file, begins_ns=first and first[0]) for file, first in begun]
            points.append((point.name, [(file.path, first) for file, first in begun]))
    coalescope.check_begins(points)
    return looked


def _begin(file: File) -> Union[Begun, tuple[File, Exception]]:
    """A store that does not answer is no capture that cannot be read, and is raised."""
    try:
        with places.opened(file.path) as capture:
            return file, coalescope.how_it_begins(capture, file.path)[1]
    except coalescope.Error as error:
        return file, error


def _readable(looked: Looked, point: Point, begun: list[Any]) -> list[Begun]:
    """Those that can be read; the others are named and counted."""
    for file, first in begun:
        if isinstance(first, Exception):
            looked.unreadable += 1
            looked.warnings.append(f"point {point.name}: {first} (left out)")
    return [one for one in begun if not isinstance(one[1], Exception)]


def _in_order(looked: Looked, point: Point, begun: list[Begun]) -> list[Begun]:
    """By first time stamp. Rings and rotation give names that ascend: where time does not, clocks ran backwards, or the ring
    went round. Files without a frame stay behind the one that their name follows."""
    timed: list[tuple[int, int, Begun]] = []
    latest = 0
    for number, (file, first) in enumerate(begun):
        if first is not None:
            earlier = [one for one in timed if one[0] > first[0]]
            if earlier and first[0] < latest:
                before = earlier[-1][2][0].path
                looked.warnings.append(
                    f"point {point.name}: {file.path} begins {(latest - first[0]) / 1e9:.3f} s before {before}, which its "
                    "name puts in front of it: taken in order of time (a ring that went round, or a clock that was set back)"
                )
            latest = max(latest, first[0])
        timed.append((first[0] if first else latest, number, (file, first)))
    return [one for _, _, one in sorted(timed, key=lambda one: one[:2])]
