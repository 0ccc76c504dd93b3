"""Runs all contests round by round, and compares: run.py BUILD PACKAGES [--short] [--instructions]; see run.sh."""
import argparse
import json
import os
import platform
import shutil
import sys
import time
from pathlib import Path

import library
import report
from rows import CONTESTS, GOALS
from sides import Bed, NotRun, figures_of, instructions_of

ROUNDS = {True: 7, False: 11}  # by --short


def attempt(measure, *arguments):
    """The figures, or in their place why there are none."""
    try:
        return measure(*arguments)
    except NotRun as reason:
        return str(reason)


def run_round(bed):
    figures = {}
    for contest in CONTESTS:
        figures[contest.name] = {side: attempt(figures_of, bed, what) for side, what in contest.sides.items()}
        events = {side["events"] for side in figures[contest.name].values() if "events" in side}
        if len(events) > 1:
            sys.exit(f"{contest.name}: the sides do not find the same events: {events}")
    return figures


def run_rounds(bed):
    rounds = []
    for number in range(ROUNDS[bed.short]):
        print(f"round {number + 1} of {ROUNDS[bed.short]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        rounds.append(run_round(bed))
    return {contest.name: [figures[contest.name] for figures in rounds] for contest in CONTESTS}


def count_instructions(bed):
    print("counting instructions", file=sys.stderr)
    return {contest.name: {side: attempt(instructions_of, bed, what) for side, what in contest.sides.items()}
            for contest in CONTESTS}


def machine():
    model = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name"))
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.platform()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=Path)
    arguments.add_argument("packages", type=Path)
    arguments.add_argument("--short", action="store_true")
    arguments.add_argument("--instructions", action="store_true", help="count them too, where valgrind is present")
    arguments = arguments.parse_args()

    begin = time.monotonic()
    about = {**machine(), "load_before": os.getloadavg()}
    goals = [goal for goal in GOALS if not (goal.full_only and arguments.short)]
    with Bed(arguments.build, arguments.packages, arguments.short) as bed:
        rounds = run_rounds(bed)
        counted = {}
        if arguments.instructions and shutil.which("valgrind"):
            counted = count_instructions(bed)
    rounds["library"] = [{"ours": library.figures(arguments.build, arguments.short)}]
    about.update(load_after=os.getloadavg(), seconds=round(time.monotonic() - begin))

    rows = [report.judge(goal, rounds[goal.contest], counted.get(goal.contest, {})) for goal in goals]
    text = report.table(rows)
    (arguments.build / "results.md").write_text(text + "\n\n" + report.summary(rows) + "\n")
    (arguments.build / "results.json").write_text(
        json.dumps(report.as_data(goals, rows, rounds, counted, about), indent=1))
    print(text)
    print(f"{about['seconds']} s, load {about['load_before'][0]:.1f} to {about['load_after'][0]:.1f}; "
          f"also in {arguments.build}/results.md and results.json")
    print(report.summary(rows))


if __name__ == "__main__":
    main()
