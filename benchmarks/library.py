"""The library itself: what it weighs, and what it costs to build."""
import os
import resource
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def stripped_size(build):
    """Of the shared library: what a program loads. An archive holds each inline function once for every file."""
    library = (build / "shared/src/libmcphttp.so").resolve()
    stripped = build / "libmcphttp.stripped.so"
    subprocess.run(["strip", "-o", stripped, library], check=True)
    return stripped.stat().st_size


def clean_build_seconds(build):
    """User and system time of a build of the static library from nothing, without a compiler cache."""
    folder = build / "clean"
    shutil.rmtree(folder, ignore_errors=True)
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "-S", HERE.parent, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DMCPHTTP_CCACHE=OFF", "-DMCPHTTP_BUILD_TESTS=OFF", "-DMCPHTTP_BUILD_EXAMPLES=OFF"], **quiet)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["cmake", "--build", folder, "--target", "mcphttp", "--parallel", str(os.cpu_count())], **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(build, short):
    found = {"stripped_bytes": stripped_size(build)}
    if not short:
        found["clean_build_s"] = clean_build_seconds(build)
    return found
