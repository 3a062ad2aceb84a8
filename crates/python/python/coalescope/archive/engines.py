"""Engines: each does tasks wherever it has room, tries again what failed, and says what came of each as soon as it is done."""

from __future__ import annotations

import importlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, Optional

from . import work

# A task that fails this often fails the run.
TRIES = 4
# Workers get this much of a machine: a digest holds 70 MB, a shard what its connections need.
_LOOK_S = 1.0

Results = Iterator[dict[str, Any]]


class EngineError(Exception):
    """What an engine says, or that it is not there."""


def local(tasks: list[work.Task], workers: Optional[int]) -> Results:
    """On this machine: Rust works beside Python's lock."""
    pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        futures: list[Future[str]] = [pool.submit(_again, work.packed(task)) for task in tasks]
        for future in as_completed(futures):
            yield json.loads(future.result())
    finally:
        pool.shutdown(cancel_futures=True)


def _again(task: str) -> str:
    for _ in range(TRIES - 1):
        try:
            return work.do(task)
        except OSError:
            time.sleep(_LOOK_S)
    return work.do(task)


def ray(tasks: list[work.Task], workers: Optional[int]) -> Results:
    """On Ray: the cluster that RAY_ADDRESS names, or one on this machine. What a lost node did is done by another."""
    try:
        engine: Any = importlib.import_module("ray")
    except ImportError as error:
        raise EngineError("ray is not installed: pip install ray") from error
    if not engine.is_initialized():
        engine.init(num_cpus=None if os.environ.get("RAY_ADDRESS") else workers, log_to_driver=False)
    remote = engine.remote(max_retries=TRIES, retry_exceptions=[OSError])(work.do)
    waiting = [remote.remote(work.packed(task)) for task in tasks]
    while waiting:
        done, waiting = engine.wait(waiting, num_returns=1)
        for result in _got(engine, done):
            yield json.loads(result)


def _got(engine: Any, done: list[Any]) -> list[str]:
    """Results of Ray, whose own words about a failed task are where in Python it failed."""
    try:
        return list(engine.get(done))
    except engine.exceptions.RayTaskError as error:
        raise EngineError(str(error.cause)) from error
    except engine.exceptions.RayError as error:
        raise EngineError(f"ray: {error}") from error


def spark(tasks: list[work.Task], workers: Optional[int]) -> Results:
    """On Spark: the session that is there, or one as `spark-submit` and its settings say. A group is a task."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError("pyspark is not installed: pip install pyspark") from error
    builder = SparkSession.builder.appName("coalescope.archive")
    if workers and "SPARK_MASTER" not in os.environ:
        builder = builder.master(f"local[{workers}]")
    elif "SPARK_MASTER" in os.environ:
        builder = builder.master(os.environ["SPARK_MASTER"])
    session = builder.config("spark.task.maxFailures", TRIES).getOrCreate()
    rows = [(number, work.packed(task)) for number, task in enumerate(tasks)]
    table = session.createDataFrame(rows, "number long, task string")
    # As many partitions as tasks, so that one that fails takes no other with it.
    groups = table.repartition(len(rows), "number").groupBy("number")
    results = groups.applyInArrow(_group, "number long, result string")
    yield from _collected(results, tasks)


def _group(table: Any) -> Any:
    """A group of Spark: one task."""
    import pyarrow as pa

    results = [work.do(task) for task in table.column("task").to_pylist()]
    return pa.table({"number": table.column("number"), "result": pa.array(results, pa.string())})


def _collected(results: Any, tasks: list[work.Task]) -> Results:
    """Spark says what came of tasks when all are done; which ones are done, their files say."""
    said: list[Any] = []
    failed: list[BaseException] = []

    def collect() -> None:
        try:
            said.extend(results.collect())
        except BaseException as error:  # noqa: BLE001 (raised below, in the thread that asked)
            failed.append(error)

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    told: set[int] = set()
    while collecting.is_alive():
        collecting.join(_LOOK_S)
        for number, task in enumerate(tasks):
            if number not in told and os.path.exists(task.done_at()):
                told.add(number)
                yield {"weight": task.weight(), "failed": None}
    if failed:
        raise EngineError(_last_words(failed[0])) from failed[0]
    for row in said:
        result = json.loads(row.result)
        if row.number not in told or result["failed"]:
            yield {**result, "is_told": row.number in told}


def _last_words(error: BaseException) -> str:
    """What a task said in the end: the last line of its trace in Python, which Spark repeats behind one of Java."""
    found = re.findall(r"^[ \t]*(?:\w+\.)*\w*(?:Error|Exception): (.*)$", str(error).partition("JVM stacktrace")[0], re.M)
    return str(found[-1]) if found else f"spark: {error}"


ENGINES: dict[str, Callable[[list[work.Task], Optional[int]], Results]] = {
    "local": local,
    "ray": ray,
    "spark": spark,
}
