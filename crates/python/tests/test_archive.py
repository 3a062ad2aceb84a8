"""python -m coalescope.archive: one trace of all files, however they are cut, whoever works, wherever it was stopped."""

import glob
import gzip
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
        # Another program that wrote at the same time, and began a little earlier.
        with open(paths[1], "rb") as file:
            data = bytearray(file.read())
        data[28] ^= 1
        with open(self.at(f"rotated/{name}_x.pcap"), "wb") as file:
            file.write(data)
        done = self.run_plan(self.plan({name: f"rotated/{name}_*.pcap"}))
        self.assertIn("they overlap", done.stderr)

    def test_copies_are_refused_by_name(self):
        name, path = next(iter(self.points.items()))
        os.mkdir(self.at("more"))
        shutil.copy(path, self.at("more/copy.pcap"))
        with open(path, "rb") as file, gzip.open(self.at("more/packed.pcap.gz"), "wb") as packed:
            packed.write(file.read())
        for other in ["more/copy.pcap", "more/packed.pcap.gz"]:
            done = self.run_plan(self.plan({name: [path, other]}), "--dry-run", code=2)
            self.assertIn(f"have the same frames: {path} and {self.at(other)}", done.stderr)
        os.symlink(path, self.at("more/symbolic.pcap"))
        os.link(path, self.at("more/hard.pcap"))
        for other in ["more/symbolic.pcap", "more/hard.pcap", os.path.join("kept", ".", os.path.basename(path)), path]:
            for points in [{name: [path, other]}, {name: path, "other": other}]:
                done = self.run_plan(self.plan(points), "--dry-run", code=2)
                self.assertIn("matches two patterns", done.stderr)

    def test_what_was_written_is_kept_or_the_run_fails(self):
        """A place without room blames no capture: the same command goes on when there is room."""
        points, _ = self.patterns(2)
        plan = self.plan(points, shards=2)
        whole = self.run_plan(plan, "--format", "json", code=1).stdout
        for path in ["files.parquet", "facts", "ends"]:
            path = self.at(f"out/{path}")
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        for folder in glob.glob(self.at("out/rows/*")):
            shutil.rmtree(folder)
            # Nobody can make a file there, root neither.
            os.symlink("/proc", folder)
        done = self.run_plan(plan, code=2)
        self.assertRegex(done.stderr, "error: .*out/rows/shard=")
        self.assertNotIn("left out", done.stderr)
        for folder in glob.glob(self.at("out/rows/*")):
            os.remove(folder)
            os.mkdir(folder)
        again = self.run_plan(plan, "--format", "json", code=1)
        self.assertEqual(again.stdout, whole)

    def test_files_that_were_written_anew_are_others(self):
        """A ring that goes round keeps the names of its files, and often their sizes."""
        files, _ = self.rotated(2)
        name, paths = next(iter(files.items()))
        plan = self.plan({name: f"rotated/{name}_*.pcap"})
        self.run_plan(plan)
        with open(paths[1], "r+b") as file:
            file.seek(27)
            file.write(b"\x70")
        self.assertIn("was begun with other files", self.run_plan(plan, code=2).stderr)

    def test_what_killed_tasks_left_is_gone_in_the_end(self):
        points, _ = self.patterns(2)
        plan = self.plan(points)
        self.run_plan(plan, code=1)
        left = [self.at(f"out/{path}.part") for path in ["rows/shard=3/half", "ends/half", "facts/half"]]
        for path in left:
            open(path, "w").close()
        self.run_plan(plan, code=1)
        self.assertEqual([path for path in left if os.path.exists(path)], [])

    def test_a_plan_is_taken_by_its_words(self):
        name, path = next(iter(self.points.items()))
        for text, said_of in [
            (f"points:\n- name: A\n  files: {path}\n  files: {path}\n", "files is there twice"),
            (f"points:\n- name: A\n  files: {path}\npoints:\n- name: B\n", "points is there twice"),
            (f"points:\n- name: A\n  files: {path}\n  1: x\n  b: y\n2: x\nb: y\n", "1 is nothing that a point has"),
            (f"points:\n- name: 2026-11-24\n  files: {path}\n", "put it in quotes"),
            (f"points:\n- name: ''\n  files: {path}\n", "point 1 has no name"),
            (f"shards: true\npoints:\n- name: A\n  files: {path}\n", "shards is a number"),
            ("points:\n- name: A\n  files: '{a,b}.pcap'\n", "no file matches {a,b}.pcap: braces"),
            ("points:\n- name: \udcff\n", "can't decode"),
            ("[" * 5000, "plan.yaml"),
        ]:
            with open(self.at("plan.yaml"), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            done = self.run_plan(self.at("plan.yaml"), "--dry-run", code=2)
            self.assertIn(said_of, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        home = {"HOME": os.path.dirname(path)}
        self.run_plan(self.plan({name: "~/" + os.path.basename(path)}), "--dry-run", code=0, env=home)

    def test_failures_are_no_findings(self):
        """Exit code 1 means findings: whatever fails has 2, and words."""
        points, _ = self.patterns(1)
        plan = self.plan(points)
        with open(self.at("file"), "w", encoding="utf-8"):
            pass
        for words in [["--out", self.at("file/out")], ["--report", self.at("none/page.html")], ["--workers", "0"]]:
            done = self.run_plan(plan, *words, code=2)
            self.assertIn("error: ", done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        self.run_plan(plan, code=1)
        shutil.rmtree(self.at("out/facts"))
        rows = glob.glob(self.at("out/rows/*/*.parquet"))[0]
        os.truncate(rows, 100)
        done = self.run_plan(plan, code=2)
        self.assertIn("Corrupt footer", done.stderr)


if __name__ == "__main__":
    unittest.main()
