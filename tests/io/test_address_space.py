"""Tables under an address-space limit that grows in steps: read, or refused with a MemoryError's words."""

import gzip
import subprocess
import sys

import pytest
from tests.cli.support import environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as on Linux")

STEPS = """
import os, resource, sys
from pathlib import Path
import pyarrow, pyarrow.csv, pyarrow.parquet
from perceptron_rs.io import files, formats, reading
from perceptron_rs.io.tables import layout, tables

for extra in map(int, sys.argv[2:]):
    child = os.fork()
    if child == 0:
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + extra, now + extra))
        try:
            files.ExampleFiles([sys.argv[1]], reading.Reading()).whole()
            text = "ok"
        except MemoryError as error:
            text = str(error)
        os.write(1, (text + chr(10)).encode())
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print("status", os.waitstatus_to_exitcode(status), flush=True)
"""


def under_limits(path, limits):
    argv = [sys.executable, "-c", STEPS, path, *map(str, limits)]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_no_limit_ends_the_process(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n" + "1.5,2,0\n" * 100_000)
    lines = under_limits(path, range(0, 1500 << 20, 125 << 20))
    assert len(lines) == 12
    assert all(line == "ok" or "a.csv: reading a file of 800006 bytes" in line for line in lines), lines
    assert lines[0] != "ok"


def test_room_for_what_a_file_unpacks_to(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,y\n" + b"1.5,2,0\n" * 8_000_000, 1, mtime=0))
    lines = under_limits(path, [850 << 20])
    assert len(lines) == 1
    assert "a.csv.gz: reading a file of 64000006 bytes" in lines[0]
