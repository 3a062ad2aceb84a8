"""The command: python -m coalescope.archive."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

import coalescope

from .engines import ENGINES
from .plan import PlanError
from .steps import Asked, run

_EPILOG = """exit codes: 0 nothing wrong found; 1 findings; 2 usage or input error. A run that was stopped goes on where it was when
the same command is given again."""


def main() -> int:
    """Reads arguments, and runs."""
    args = _parser().parse_args()
    asked = Asked(args.plan, args.out, args.engine, args.workers, args.dry_run)
    try:
        report = run(asked)
    except (PlanError, coalescope.Error) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if report is None:
        return 0
    if args.report:
        _write_page(report, args.report, os.path.abspath(args.out))
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(report.json() if args.format == "json" else report.text(), end="")
    return 1 if report.has_findings else 0


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
    parser.add_argument("--workers", type=int, metavar="N", help="tasks at the same time, of an engine on this machine")
    parser.add_argument("--dry-run", action="store_true", help="look at the plan and at how its files begin, and do nothing")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="how to print [default: text]")
    parser.add_argument("--report", metavar="FILE.html", help="write a page as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
