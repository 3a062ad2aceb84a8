"""The command: python -m coalescope.archive."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

import pyarrow as pa

import coalescope

from .engines import ENGINES, EngineError
from .plan import PlanError
from .steps import Asked, run

_EPILOG = """exit codes: 0 nothing wrong found; 1 findings; 2 usage or input error. A run that was stopped goes on where it was when
the same command is given again."""


def main() -> int:
    """Reads arguments, and runs."""
    args = _parser().parse_args()
    try:
        return _run(args)
    except KeyboardInterrupt:
        print("error: stopped: the archive is not whole; the same command goes on where it was", file=sys.stderr)
    except (PlanError, EngineError, coalescope.Error, OSError, pa.ArrowException) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


def _run(args: argparse.Namespace) -> int:
    if args.report:
        _check_page(args.report)
    report = run(Asked(args.plan, args.out, args.engine, args.workers, args.dry_run))
    if report is None:
        return 0
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(report.json() if args.format == "json" else report.text(), end="", flush=True)
    # What was found is printed even if the page cannot be written.
    if args.report:
        _write_page(report, args.report, os.path.abspath(args.out))
    return 1 if report.has_findings else 0


def _check_page(path: str) -> None:
    """Raises before hours of work what would be raised after them."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise PlanError([f"cannot write {path}: check the path and that you may write there"])


def _write_page(report: coalescope.Report, path: str, out: str) -> None:
    command = shlex.join(["python", "-m", "coalescope.archive", *sys.argv[1:]])
    page = report.html(command, [(out, "An archive of captures: not hashed.")])
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m coalescope.archive",
        description="Digests, follows and judges captures that a plan names, on an engine (docs/archive.md).",
        epilog=_EPILOG,
    )
    parser.add_argument("plan", metavar="PLAN.yaml", help="points, and patterns of their files")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder that all workers reach: rows, facts, and what is left to say")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="local", help="who works [default: local]")
    parser.add_argument("--workers", type=_workers, metavar="N", help="tasks at the same time, of an engine on this machine")
    parser.add_argument("--dry-run", action="store_true", help="look at the plan and at how its files begin, and do nothing")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="how to print [default: text]")
    parser.add_argument("--report", metavar="FILE.html", help="write a page as well")
    return parser


def _workers(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no number of workers: 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
