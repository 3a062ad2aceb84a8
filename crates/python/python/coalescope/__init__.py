"""coalescope for Python: whether merged receive segments (GRO, LRO, RSC) make a network slow, and where.

`trace` and `check` say what the commands of the same names say. `digest`, `facts` and `judge` are the three steps of an
archive, over tables of Arrow; `python -m coalescope.archive` runs them on Ray, on Spark, or here.
"""

from ._coalescope import (
    Archive,
    Check,
    Digest,
    Error,
    Facts,
    Report,
    Together,
    Unwritten,
    check,
    check_begins,
    digest,
    facts,
    how_it_begins,
    judge,
    parts,
    trace,
    unreadable,
)

__all__ = [
    "Archive",
    "Check",
    "Digest",
    "Error",
    "Facts",
    "Report",
    "Together",
    "Unwritten",
    "check",
    "check_begins",
    "digest",
    "facts",
    "how_it_begins",
    "judge",
    "parts",
    "trace",
    "unreadable",
]
