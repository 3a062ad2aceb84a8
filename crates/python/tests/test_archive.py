"""python -m coalescope.archive: one trace of all files, however they are cut, whoever works, wherever it was stopped."""

import glob
import os
import shutil
import unittest

from captures import Captures, said


class Archive(Captures):
    def test_one_trace_of_all_files(self):
        points, arguments = self.patterns(5)
        plan = self.plan(points, shards=7)
        done = self.run_plan(plan, "--format", "json", "--report", self.at("page.html"), code=1)
        self.assertEqual(done.stdout.replace(self.folder + "/", ""), said("trace", *arguments).replace(self.folder + "/", ""))
        with open(self.at("page.html"), encoding="utf-8") as page:
            self.assertIn("<html", page.read())
        # The command reads what was written, and says the same.
        self.assertEqual(said("trace", self.at("out")), done.stdout)

    def test_shards_of_one_point(self):
        points, arguments = self.patterns(4)
        name = next(iter(points))
        plan = self.plan({name: points[name]}, shards=5)
        done = self.run_plan(plan, "--format", "json")
        wanted = said("trace", *[argument for argument in arguments if argument.startswith(name)])
        self.assertEqual(done.stdout, wanted)
        self.assertEqual(len(glob.glob(self.at("out/facts/points-0*.parquet"))), 5)

    def test_a_run_that_was_stopped_goes_on(self):
        points, _ = self.patterns(4)
        plan = self.plan(points)
        whole = self.run_plan(plan, "--format", "json", code=1).stdout
        for path in ["files.parquet", "facts", "ends/00000-0000000002.parquet"]:
            path = self.at(f"out/{path}")
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        again = self.run_plan(plan, "--format", "json", code=1)
        self.assertIn("digest: 7 of 8 were done before", again.stderr)
        self.assertEqual(again.stdout, whole)

    def test_other_files_are_another_archive(self):
        points, _ = self.patterns(2)
        self.run_plan(self.plan(points), code=1)
        refused = self.run_plan(self.plan(points, shards=3), code=2)
        self.assertIn("was begun with other files", refused.stderr)

    def test_bad_plans_are_refused_before_work(self):
        for said_of, points in [
            ("point A has no files", {"A": []}),
            ("point A: no file matches nothing*.pcap", {"A": "nothing*.pcap"}),
            ("matches two patterns", {"A": ["kept/*.pcap", "kept/*"]}),
        ]:
            done = self.run_plan(self.plan(points), code=2)
            self.assertIn(said_of, done.stderr)
        self.assertIn("is nothing that a plan says", self.run_plan(self.plan({"A": "kept/*"}, engine="ray"), code=2).stderr)
        self.assertFalse(os.path.exists(self.at("out")))

    def test_two_link_types_are_refused_by_name(self):
        first, second = self.points.values()
        with open(second, "r+b") as file:
            file.seek(20)
            file.write(b"\x71")
        done = self.run_plan(self.plan({"A": "kept/*"}), "--dry-run", code=2)
        self.assertIn(f"two link types: {first} of 1, {second} of 113", done.stderr)

    def test_names_against_time_are_told(self):
        files, arguments = self.rotated(3)
        name, paths = next(iter(files.items()))
        os.rename(paths[0], self.at(f"rotated/{name}_00009.pcap"))
        plan = self.plan({name: f"rotated/{name}_*.pcap"})
        done = self.run_plan(plan, "--dry-run", code=0)
        self.assertIn(f"{name}_00009.pcap begins", done.stderr)
        self.assertIn("taken in order of time", done.stderr)
        self.assertFalse(os.path.exists(self.at("out")))

    def test_a_file_that_cannot_be_read_is_named_and_nothing_else_is_lost(self):
        files, arguments = self.rotated(3)
        name = next(iter(files))
        with open(self.at(f"rotated/{name}_zero.pcap"), "w", encoding="utf-8") as file:
            file.write("no capture at all")
        done = self.run_plan(self.plan({name: f"rotated/{name}_*.pcap"}), "--format", "json")
        self.assertIn(f"{name}_zero.pcap is not a capture", done.stderr)
        self.assertIn("1 files cannot be read", done.stderr)
        self.assertEqual(done.stdout, said("trace", *[one for one in arguments if one.startswith(name)]))

    def test_overlaps_and_gaps_are_named(self):
        files, _ = self.rotated(3)
        name, paths = next(iter(files.items()))
        shutil.copy(paths[1], self.at(f"rotated/{name}_x.pcap"))
        done = self.run_plan(self.plan({name: f"rotated/{name}_*.pcap"}))
        self.assertIn("they overlap", done.stderr)


if __name__ == "__main__":
    unittest.main()
