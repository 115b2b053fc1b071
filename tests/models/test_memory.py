"""Under an address-space limit that grows in steps, saving and loading raise MemoryError or succeed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tracemalloc

import pytest

from perceptron_rs.models.container import probe_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as on Linux")

HEAD = """
import os, resource, sys
from pathlib import Path
import numpy as np
from perceptron_rs.models.container import pack, unpack

folder = Path(sys.argv[1])

def steps(call, last, number=12):
    for extra in range(0, last, last // number):
        child = os.fork()
        if child == 0:
            now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (now + extra, now + extra))
            try:
                call()
                text = "ok"
            except BaseException as error:
                text = f"{type(error).__name__} {error}"
            os.write(1, (text + "\\n").encode())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            print("status", os.waitstatus_to_exitcode(status), flush=True)
"""


def run(script, folder):
    code = HEAD + textwrap.dedent(script)
    # What was freed goes back to the system, so that it counts for the limit again.
    thresholds = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", code, folder],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | thresholds,
    )
    assert done.returncode == 0, done.stderr
    assert "panicked" not in done.stderr
    lines = done.stdout.splitlines()
    assert all(line == "ok" or line.startswith("MemoryError ") for line in lines), lines
    assert len(set(lines)) > 1
    assert lines[-1] == "ok"
    return lines


SETUP = """
tensors = {name: np.zeros(1_500_000) for name in ("coef", "coef_u")}
names = {"names": ["x" * 1000] * 7_500}
path = folder / "model"
"""


@pytest.mark.parametrize("content", ["{}, tensors", "names, {}"])
@pytest.mark.parametrize("way", ["pack", "unpack"])
def test_no_limit_ends_the_process(tmp_path, content, way):
    if way == "pack":  # its first call is in the child: what it frees would be there for the next one
        script = f"steps(lambda: pack({content}), 180 << 20)"
    else:  # so another process makes the file
        script = f"""
child = os.fork()
if child == 0:
    path.write_bytes(pack({content}))
    os._exit(0)
os.waitpid(child, 0)
steps(lambda: unpack(path), 180 << 20)
"""
    lines = run(SETUP + script, tmp_path)
    assert any("needs" in line and "bytes of memory" in line for line in lines)


def test_a_probe_asks_for_what_it_is_told_and_little_more():
    for size in (1000, 40 << 20):
        tracemalloc.start()
        probe_memory(size, "a test")
        asked = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert asked[0] < 1 << 20  # given back
        assert size <= asked[1] <= size + (16 << 20)
    with pytest.raises(MemoryError, match=f"a test needs {2**62} bytes of memory, which are not available"):
        probe_memory(2**62, "a test")
