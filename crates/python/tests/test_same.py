"""The package says what the command says."""

import json
import os
import pathlib
import pickle
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import coalescope
from captures import Captures, command, said

FEATURES = "Features for eth0:\nrx-checksumming: on\ngeneric-receive-offload: on\nlarge-receive-offload: on\n"


class Same(Captures):
    def arguments(self):
        return [f"{name}={path}" for name, path in self.points.items()]

    def test_trace_prints_what_the_command_prints(self):
        for arguments in [self.arguments(), self.arguments()[:1], list(self.points.values())]:
            report = coalescope.trace(*arguments)
            self.assertEqual(report.json(), said("trace", *arguments))
            self.assertEqual(report.to_dict(), json.loads(report.json()))
            self.assertEqual(report.verdict, report.to_dict()["verdict"]["text"])
        text = command("trace", *arguments, env={**os.environ, "COLUMNS": "100"}).stdout
        self.assertEqual(report.text(), text)
        self.assertTrue(report.has_findings)
        self.assertIn("<html", report.html("a test"))

    def test_two_transfers_are_compared(self):
        arguments = self.arguments()
        self.assertEqual(coalescope.trace(*arguments, compare=True).json(), said("trace", "--compare", *arguments))

    def test_check_prints_what_the_command_prints(self):
        saved = self.at("features")
        with open(saved, "w", encoding="utf-8") as file:
            file.write(FEATURES)
        self.assertEqual(coalescope.check(saved).json(), said("check", "--from", saved))

    def test_errors_have_the_words_of_the_command(self):
        nothing, empty = self.at("nothing.pcap"), self.at("empty.pcap")
        open(empty, "w").close()
        for arguments in [(nothing,), (empty, nothing), ("A=",), (self.folder,), ("-", "B=-")]:
            with self.assertRaises(coalescope.Error) as raised:
                coalescope.trace(*arguments)
            self.assertEqual(f"error: {raised.exception}\n", command("trace", *arguments).stderr)
        with self.assertRaises(coalescope.Error) as raised:
            coalescope.check(nothing)
        self.assertEqual(f"error: {raised.exception}\n", command("check", "--from", nothing).stderr)

    def test_steps_of_an_archive_are_one_trace(self):
        name, path = next(iter(self.points.items()))
        rows, files = {}, None
        digest = coalescope.digest(path, point_name=name, shards=4)
        for batch in digest:
            rows.setdefault(batch["shard"][0].as_py(), []).append(batch)
        files = digest.files
        facts = []
        for shard in range(4):
            table = pa.Table.from_batches(rows.get(shard, []), coalescope.digest(path, point_name=name).reader().schema)
            facts.append(coalescope.facts(table, files, shard=shard))
        report = coalescope.judge(facts, files)
        self.assertEqual(report.json(), said("trace", f"{name}={path}"))

    def test_facts_that_were_kept_can_be_read_and_sent(self):
        name, path = next(iter(self.points.items()))
        digest = coalescope.digest(path, point_name=name, shards=1)
        rows, files = digest.reader().read_all(), digest.files
        facts = coalescope.facts(rows, files)
        tables = [facts.points, facts.connections, facts.hops, facts.datagram_hops]
        for number, table in enumerate(tables):
            pq.write_table(table, self.at(f"kept-{number}"))
        kept = coalescope.Facts(*(pq.read_table(self.at(f"kept-{number}")) for number in range(len(tables))))
        self.assertEqual(kept.connections.to_pylist(), facts.connections.to_pylist())
        sent = pickle.loads(pickle.dumps(kept))
        self.assertEqual(coalescope.judge([sent], files).json(), said("trace", f"{name}={path}"))

    def test_rows_of_all_points_are_followed_together(self):
        rows, files = [], []
        for number, (name, path) in enumerate(self.points.items()):
            with open(path, "rb") as file:
                digest = coalescope.digest(file, point_name=name, name=path, point=number, points=2, shards=3)
                rows.append(digest.reader().read_all())
            files.append(digest.files)
        rows, files = pa.concat_tables(rows), pa.concat_tables(files)
        with self.assertRaises(coalescope.Together):
            coalescope.facts(rows, files, shard=0)
        facts = coalescope.facts(rows, files)
        self.assertEqual(coalescope.judge([facts], files).json(), said("trace", *self.arguments()))
        self.assertEqual(facts.hops.num_rows, 2)

    def test_a_reader_that_fails_is_heard(self):
        class Fails:
            def __init__(self, path):
                self.file = open(path, "rb")

            def read(self, size):
                if self.file.tell() > 1 << 20:
                    raise ConnectionError("the store does not answer")
                return self.file.read(size)

        path = max(self.points.values(), key=os.path.getsize)
        fails = Fails(path)
        self.addCleanup(fails.file.close)
        with self.assertRaisesRegex(ConnectionError, "does not answer"):
            list(coalescope.digest(fails, point_name="A"))

    def test_a_path_is_any_path(self):
        path = next(iter(self.points.values()))
        self.assertEqual(coalescope.trace(pathlib.Path(path)).json(), said("trace", path))

    def test_numbers_that_the_command_refuses_are_refused(self):
        path = next(iter(self.points.values()))
        for number in ["threads", "max_connections"]:
            with self.assertRaisesRegex(coalescope.Error, "0 is not in 1"):
                coalescope.trace(path, **{number: 0})
        for numbers in [{"shards": 0}, {"shards": 1025}, {"points": 0}, {"point": 2, "points": 2}]:
            with self.assertRaisesRegex(coalescope.Error, "is not in 1"):
                coalescope.digest(path, point_name="A", **numbers)

    def test_facts_are_of_the_files_that_are_judged(self):
        digests = [coalescope.digest(path, point_name=name, name=path) for name, path in self.points.items()]
        rows = [digest.reader().read_all() for digest in digests]
        facts = coalescope.facts(rows[0], digests[0].files)
        for others in [[], [facts, facts]]:
            with self.assertRaisesRegex(coalescope.Error, "facts are missing"):
                coalescope.judge(others, digests[0].files)
        with self.assertRaisesRegex(coalescope.Error, "rows of 0"):
            coalescope.judge([facts], digests[1].files)
        for shard in [None, 0]:
            with self.assertRaisesRegex(coalescope.Error, "table of files"):
                coalescope.facts(rows[0], shard=shard)

    def test_an_archive_that_cannot_be_written_is_no_capture_that_cannot_be_read(self):
        path = next(iter(self.points.values()))
        with open(self.at("file"), "w", encoding="utf-8"):
            pass
        with self.assertRaises(coalescope.Unwritten):
            coalescope.Archive(self.at("file/archive"))
        archive = coalescope.Archive(self.at("archive"), shards=1)
        os.rmdir(self.at("archive/rows/shard=0"))
        with self.assertRaises(coalescope.Unwritten):
            archive.add(path, point_name="A")

    def test_a_table_of_something_else_is_refused(self):
        with self.assertRaisesRegex(coalescope.Error, "no column"):
            coalescope.facts(pa.table({"a": [1]}), pa.table({"b": [1]}))


if __name__ == "__main__":
    unittest.main()
