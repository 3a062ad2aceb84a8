"""The questions of docs/archive.md are answered by DuckDB."""

import contextlib
import os
import re
import subprocess
import sys
import unittest

from captures import Captures

try:
    import duckdb
except ImportError:
    duckdb = None

DOCS = os.path.join(os.path.dirname(__file__), "../../../docs/archive.md")


@unittest.skipIf(duckdb is None, "no duckdb")
class Questions(Captures):
    def archive(self, points):
        plan = self.plan(points, shards=4)
        words = [sys.executable, "-m", "coalescope.archive", plan, "--out", self.at("archive")]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertLessEqual(done.returncode, 1, done.stderr)

    def answers(self):
        """By how each question begins, its rows."""
        with open(DOCS, encoding="utf-8") as file:
            questions = re.findall(r"([^\n.]*:)\n\n```sql\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreaterEqual(len(questions), 12)
        with contextlib.chdir(self.folder) if hasattr(contextlib, "chdir") else _chdir(self.folder):
            return {title: duckdb.sql(sql).fetchall() for title, sql in questions}

    def test_of_two_points(self):
        self.archive({name: f"kept/{name}.pcap" for name in self.points})
        answers = self.answers()
        lost = next(rows for title, rows in answers.items() if "loses merged frames" in title)
        self.assertGreater(lost[0][3], 0)
        self.assertEqual(len(lost[0]), 5)
        self.assertTrue(next(rows for title, rows in answers.items() if title.startswith("Segment sizes")))

    def test_of_shards(self):
        name = next(iter(self.points))
        self.archive({name: f"kept/{name}.pcap"})
        answers = self.answers()
        self.assertTrue(next(rows for title, rows in answers.items() if title.startswith("Segments in a frame")))


@contextlib.contextmanager
def _chdir(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    unittest.main()
