"""From a plan to a verdict."""

from __future__ import annotations

import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Optional

import pyarrow as pa
import pyarrow.parquet as pq

import coalescope

from .dry_run import Looked, look
from .engines import ENGINES
from .plan import Plan, PlanError
from .progress import Progress
from .work import Digest, Follow, Task

# Longer without a frame than this is named, between two files.
_GAP_NS = 60_000_000_000
# A clock that went back further than this is named, as in the analysis.
_BACK_NS = 1_000_000_000


@dataclass
class Asked:
    """What is to be done."""

    plan: str
    out: str
    engine: str = "local"
    workers: Optional[int] = None
    dry_run: bool = False


def run(asked: Asked) -> Optional[coalescope.Report]:
    """Digests, follows and judges what a plan names; after a dry run alone there is no report."""
    asked = replace(asked, out=os.path.abspath(asked.out))
    looked = look(Plan.read(asked.plan))
    _warn(looked.warnings)
    files = sum(len(point.files) for point in looked.plan.points)
    size = sum(file.size_bytes for point in looked.plan.points for file in point.files)
    _say(f"{len(looked.plan.points)} points, {files} files, {size} bytes; {looked.unreadable} files cannot be read")
    if asked.dry_run:
        return None
    _keep_plan(asked.out, looked)
    tasks = list(_digests(asked.out, looked.plan))
    _do(asked, "digest", tasks)
    _finish(asked.out, looked.plan.shards, tasks)
    return _judged(asked)


def _digests(out: str, plan: Plan) -> Iterator[Digest]:
    for number, point in enumerate(plan.points):
        for file_number, file in enumerate(point.files):
            yield Digest(
                out, plan.shards, len(plan.points), number, point.name, file_number, file.path, file.size_bytes
            )


def _do(asked: Asked, step: str, tasks: list[Task]) -> None:
    """Does what is not done yet."""
    left = [task for task in tasks if not os.path.exists(task.done_at())]
    if len(left) < len(tasks):
        _say(f"{step}: {len(tasks) - len(left)} of {len(tasks)} were done before")
    if not left:
        return
    weights = {_name(task): task.weight() for task in left}
    progress = Progress(step, len(left), sum(weights.values()))
    # The longest ones first: the last one to end keeps nobody waiting.
    left.sort(key=lambda task: -task.weight())
    for result in ENGINES[asked.engine](left, asked.workers):
        if "error" in result:
            raise coalescope.Error(result["error"])
        if result["failed"]:
            _warn([f"{result['failed']} (left out)"])
        if not result.get("is_told"):
            progress.add(1, result["weight"] if "weight" in result else weights[result["name"]])


def _name(task: Task) -> str:
    return task.path if isinstance(task, Digest) else task.part()


def _finish(out: str, shards: int, tasks: list[Digest]) -> None:
    """Makes the archive whole, and says what was odd."""
    files = pa.concat_tables(pq.read_table(task.done_at()) for task in tasks)
    coalescope.Archive(out, shards=shards, go_on=True).finish(files)
    _sweep(os.path.join(out, "ends"))
    rows = files.to_pylist()
    _warn(_odd(rows))
    frames, damaged = sum(row["frames"] for row in rows), sum(row["unreadable_bytes"] > 0 for row in rows)
    _say(f"{frames} frames of {len(rows)} files; {damaged} of the files could not be read to their end")


def _odd(rows: list[dict[str, Any]]) -> Iterable[str]:
    """Clocks that went back, overlaps and gaps."""
    before: Optional[dict[str, Any]] = None
    for row in sorted(rows, key=lambda row: (row["point"], row["file"])):
        yield from row["warnings"]
        if row["frames"] == 0:
            continue
        if row["back_ns"] >= _BACK_NS:
            yield f"{row['name']}: its clock goes back by {row['back_ns'] / 1e9:.3f} s"
        if before is not None and before["point"] == row["point"]:
            gap = row["first_ns"] - before["last_ns"]
            if gap < 0:
                yield f"{row['name']} begins {-gap / 1e9:.3f} s before {before['name']} ends: they overlap"
            elif gap > _GAP_NS:
                yield f"{gap / 1e9:.0f} s without a frame between {before['name']} and {row['name']}"
        before = row


def _sweep(folder: str) -> None:
    """Removes what tasks left that were killed."""
    for name in os.listdir(folder):
        if name.endswith(".part"):
            with suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))


def _judged(asked: Asked) -> coalescope.Report:
    """Judges by shards where these tell all, and else by all of them together."""
    report = _judged_parts(asked, coalescope.parts(asked.out))
    if report is None:
        _say("what connections share concerns all shards here: they are followed together, by one worker")
        # Whoever asks the folder would count connections twice.
        shutil.rmtree(os.path.join(asked.out, "facts"))
        report = _judged_parts(asked, [None])
    assert report is not None, "all shards together tell all"
    return report


def _judged_parts(asked: Asked, parts: list[Optional[int]]) -> Optional[coalescope.Report]:
    tasks = [Follow(asked.out, part, _bytes(asked.out, part)) for part in parts]
    _do(asked, "follow", tasks)
    _sweep(os.path.join(asked.out, "facts"))
    facts = [task.facts() for task in tasks]
    try:
        return coalescope.judge(facts, asked.out)
    except coalescope.Together:
        if parts == [None]:
            raise
        return None


def _bytes(out: str, shard: Optional[int]) -> int:
    rows = os.path.join(out, "rows")
    folders = [f"shard={shard}"] if shard is not None else os.listdir(rows)
    sizes = (entry.stat().st_size for folder in folders for entry in os.scandir(os.path.join(rows, folder)))
    return sum(sizes)


def _keep_plan(out: str, looked: Looked) -> None:
    """Remembers what the archive is of: who goes on must go on with the same."""
    kept = os.path.join(out, "plan.json")
    plan = json.dumps(asdict(looked.plan), indent=1)
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as there:
            if there.read() != plan:
                raise PlanError(
                    [f"{out} was begun with other files than the plan has now ({kept}): name another folder"]
                )
        return
    if os.path.isdir(out) and os.listdir(out):
        raise PlanError([f"{out} is there already and not empty: name a folder that is not there yet"])
    os.makedirs(out, exist_ok=True)
    if not _put(kept, plan):
        # Another run began at the same time.
        _keep_plan(out, looked)


def _put(path: str, text: str) -> bool:
    """Writes a file in one instant, unless it is there."""
    unfinished = f"{path}.{uuid.uuid4().hex}.part"
    with open(unfinished, "w", encoding="utf-8") as new:
        new.write(text)
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links.
        os.replace(unfinished, path)
    finally:
        with suppress(FileNotFoundError):
            os.remove(unfinished)
    return True


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        _say(f"warning: {warning}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
