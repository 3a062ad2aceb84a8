"""Engines that others wrote say what one trace says, also where a machine of theirs is killed in the middle."""

import contextlib
import glob
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from captures import Captures, missing, said

# Longer than an engine takes to begin, on a machine that is busy.
PATIENCE_S = 180
# A folder whose name has signs that mean something in a URL.
YEAR = "20%26 é#1 [x]"
# Pieces of each point: many tasks, so that there is a middle.
PIECES = 40
NO_RAY = missing("ray")
NO_SPARK = missing("pyspark", "pandas") or (None if shutil.which("java") else "java")
NO_STORE = missing("moto", "flask", "boto3")


class Engines(Captures):
    def wait_for(self, what, how, running):
        """What `how` gives, as soon as it gives anything; all of `running` must run meanwhile."""
        begun = time.monotonic()
        while not (found := how()):
            for process in running:
                self.assertIsNone(process.poll(), f"ended before {what}")
            self.assertLess(time.monotonic() - begun, PATIENCE_S, f"never: {what}")
            time.sleep(0.01)
        return found

    def digested(self):
        """Files that were digested."""
        return len(glob.glob(self.at("out/ends/*.parquet")))

    def killed_in_the_middle(self, words, env, kill):
        """Runs a plan, kills something of the engine when a quarter is digested, and gives what the plan prints in the end."""
        points, arguments = self.patterns(PIECES)
        tasks = len(arguments)
        plan = self.plan(points, shards=32)
        with open(self.at("said"), "w+") as out, open(self.at("heard"), "w+") as errors:
            words = self.words(plan, "--format", "json", *words)
            run = subprocess.Popen(words, stdout=out, stderr=errors, env={**os.environ, **env})
            self.addCleanup(stop, run)
            self.wait_for("a quarter is digested", lambda: self.digested() >= tasks // 4, [run])
            kill(run)
            self.assertLess(self.digested(), tasks, "all was digested before anything was killed")
            code = run.wait(PATIENCE_S)
            errors.seek(0)
            self.assertEqual(code, 1, errors.read())
            out.seek(0)
            self.assertEqual(out.read(), said("trace", *arguments))


    def damaged(self, *words, env=None):
        """A task that cannot be done is an error in words, and not a finding."""
        points, _ = self.patterns(1)
        plan = self.plan(points)
        self.run_plan(plan, code=1)
        shutil.rmtree(self.at("out/facts"))
        os.truncate(glob.glob(self.at("out/rows/*/*.parquet"))[0], 100)
        heard = [self.run_plan(plan, *more, code=2, env=env).stderr.splitlines()[-1] for more in [[], words]]
        self.assertEqual(heard[0], heard[1])


def stop(process):
    """Ends a process, if it did not end by itself."""
    if process.poll() is None:
        process.kill()
    process.wait()


def kill_group(process):
    """Kills a process and those that it began, as if its machine lost power."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port():
    """A port that nobody listens to."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipIf(NO_RAY, f"no {NO_RAY}")
class Ray(Engines):
    def setUp(self):
        super().setUp()
        # A secret of this cluster alone, which Ray asks of whoever joins.
        self.env = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

    def node(self, *words):
        """A node of one CPU on this machine, in a group of its own."""
        ray = os.path.join(os.path.dirname(sys.executable), "ray")
        words = [ray, "start", "--block", "--num-cpus=1", "--disable-usage-stats", "--object-store-memory=100000000", *words]
        with open(self.at(f"node-{len(words)}"), "w") as log:
            node = subprocess.Popen(words, stdout=log, stderr=log, env=self.env, start_new_session=True)
        self.addCleanup(kill_group, node)
        return node

    def cluster(self):
        """Two nodes, the address of the first one, and the second one."""
        address = f"127.0.0.1:{free_port()}"
        temporary = f"/tmp/ray-{os.getpid()}-{address.rpartition(':')[2]}"
        self.addCleanup(shutil.rmtree, temporary, ignore_errors=True)
        head = ["--head", f"--port={address.rpartition(':')[2]}", "--include-dashboard=false", f"--temp-dir={temporary}"]
        head = self.node(*head)
        self.wait_for("the first node is there", lambda: self.alive(address) == 1, [head])
        second = self.node(f"--address={address}")
        self.wait_for("the second node is there", lambda: self.alive(address) == 2, [head, second])
        return address, second

    def alive(self, address):
        """Nodes that are alive, as another process sees them."""
        words = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); print(sum(n['Alive'] for n in ray.nodes()))"
        done = subprocess.run([sys.executable, "-c", words, address], capture_output=True, text=True, env=self.env)
        return int(done.stdout.split()[-1]) if done.returncode == 0 else 0

    def test_it_says_the_same(self):
        points, arguments = self.patterns(4)
        done = self.run_plan(self.plan(points), "--engine", "ray", "--workers", "2", "--format", "json", code=1)
        self.assertEqual(done.stdout, said("trace", *arguments))

    def test_an_archive_that_is_damaged_is_told_in_the_same_words(self):
        self.damaged("--engine", "ray", "--workers", "2")

    def test_a_node_that_is_killed_costs_nothing_but_time(self):
        address, second = self.cluster()
        env = {**self.env, "RAY_ADDRESS": address}
        self.killed_in_the_middle(["--engine", "ray"], env, lambda _: kill_group(second))
        self.wait_for("the loss is known", lambda: self.alive(address) == 1, [])


@unittest.skipIf(NO_SPARK, f"no {NO_SPARK}")
class Spark(Engines):
    env = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

    def test_it_says_the_same(self):
        points, arguments = self.patterns(4)
        words = ["--engine", "spark", "--workers", "2", "--format", "json"]
        done = self.run_plan(self.plan(points), *words, code=1, env=self.env)
        self.assertEqual(done.stdout, said("trace", *arguments))

    def test_an_archive_that_is_damaged_is_told_in_the_same_words(self):
        self.damaged("--engine", "spark", "--workers", "2", env=self.env)

    def test_an_executor_that_is_killed_costs_nothing_but_time(self):
        env = {**self.env, "SPARK_MASTER": "local-cluster[2,1,1024]"}
        self.killed_in_the_middle(["--engine", "spark"], env, self.kill_executor)

    def kill_executor(self, run):
        executors = [pid for pid in below(run.pid) if b"CoarseGrainedExecutorBackend" in command_line(pid)]
        self.assertEqual(len(executors), 2)
        os.kill(executors[0], signal.SIGKILL)


def below(pid):
    """All processes that one began, and those that these did."""
    children = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path) as file:
            children.extend(map(int, file.read().split()))
    return children + [one for child in children for one in below(child)]


def command_line(pid):
    """How a process was begun."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


@unittest.skipIf(NO_STORE, f"no {NO_STORE}")
class Store(Engines):
    """An object store on this machine."""

    def setUp(self):
        super().setUp()
        port = free_port()
        server = [sys.executable, "-c", "from moto.server import main; import sys; main(sys.argv[1:])", "-p", str(port)]
        with open(self.at("store"), "w") as log:
            store = subprocess.Popen(server, stdout=log, stderr=log)
        self.addCleanup(stop, store)
        self.wait_for("the store answers", lambda: is_open(port), [store])
        self.env = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def uploaded(self, pieces):
        """Patterns of the pieces in the store, and the arguments of the command."""
        import boto3

        files, arguments = self.rotated(pieces)
        store = boto3.client(
            "s3",
            endpoint_url=self.env["AWS_ENDPOINT_URL"],
            region_name=self.env["AWS_DEFAULT_REGION"],
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        store.create_bucket(Bucket="captures")
        for name, paths in files.items():
            for path in paths:
                store.upload_file(path, "captures", f"{name}/{YEAR}/{os.path.basename(path)}")
        return {name: [f"s3://captures/{name}/**/{name}_*.pcap"] for name in files}, arguments

    def say_the_same(self, *words, env=None):
        points, arguments = self.uploaded(4)
        done = self.run_plan(self.plan(points), "--format", "json", *words, code=1, env={**self.env, **(env or {})})
        wanted = said("trace", *arguments)
        for name in points:
            wanted = wanted.replace(self.at(f"rotated/{name}_"), f"s3://captures/{name}/{YEAR}/{name}_")
        self.assertEqual(done.stdout, wanted)

    def test_captures_in_a_store_say_the_same(self):
        self.say_the_same()

    @unittest.skipIf(NO_RAY, f"no {NO_RAY}")
    def test_on_ray(self):
        self.say_the_same("--engine", "ray", "--workers", "2")

    @unittest.skipIf(NO_SPARK, f"no {NO_SPARK}")
    def test_on_spark(self):
        self.say_the_same("--engine", "spark", "--workers", "2", env=Spark.env)

    def test_a_store_that_does_not_answer_is_an_error(self):
        self.uploaded(1)
        env = {**self.env, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}"}
        done = self.run_plan(self.plan({"A": "s3://captures/**/*.pcap"}), code=2, env=env)
        self.assertRegex(done.stderr, "(?m)^error: ")
        self.assertNotIn("Traceback", done.stderr)

    def test_a_pattern_that_matches_nothing_there_is_refused(self):
        self.uploaded(1)
        done = self.run_plan(self.plan({"A": "s3://captures/nothing/*.pcap"}), code=2, env=self.env)
        self.assertIn("point A: no file matches s3://captures/nothing/*.pcap", done.stderr)


def is_open(port):
    """Whether anybody listens to a port."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    unittest.main()
