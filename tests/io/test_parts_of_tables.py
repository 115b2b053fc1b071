"""Tables are read part by part, whatever their row groups and batches are; Arrow's settings stay."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.cli.support import environment

from perceptron_rs import Perceptron
from perceptron_rs.io import open_arrow, open_parquet

PEAK = """
import re, sys
from pathlib import Path
from perceptron_rs import Perceptron
from perceptron_rs.cli import main
path, how = sys.argv[1:]
if how == "fit_stream":
    from perceptron_rs.io import open_parquet
    source = open_parquet(path, target="y")
    Perceptron(max_iter=1, tol=None).fit_stream(source, classes=[0, 1], block_size=4096)
else:
    options = ["--stream", "--epochs", "1", "--tol", "none", "--quiet", "--model", path + ".m"]
    main(["train", "perceptron", path, "--target", "y", *options])
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def written(path, rows, group):
    columns = {f"c{j}": np.random.default_rng(j).normal(size=rows) for j in range(20)}
    table = pa.table({**columns, "y": np.arange(rows) % 2})
    pa.parquet.write_table(table, path, compression="none", use_dictionary=False, row_group_size=group)
    return table


def peak(path, how):
    argv = [sys.executable, "-c", PEAK, str(path), how]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=True)
    return int(done.stdout.splitlines()[-1]) >> 10


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["fit_stream", "train"])
@pytest.mark.parametrize("group", [50_000, 800_000])
def test_the_peak_of_a_stream_does_not_grow_with_the_file(tmp_path, group, how):
    """128 MB against 32 MB; if one was held, the peaks would be 96 MB apart."""
    peaks = []
    for rows in (200_000, 800_000):
        written(tmp_path / "x.parquet", rows, min(group, rows))
        peaks.append(peak(tmp_path / "x.parquet", how))
    assert peaks[1] - peaks[0] < 40, peaks


def test_large_batches_are_cut_without_a_copy(tmp_path):
    table = written(tmp_path / "x.parquet", 100_000, 100_000).combine_chunks()
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as out:
        out.write_table(table)
    for source in (
        open_parquet(tmp_path / "x.parquet", target="y"),
        open_arrow(tmp_path / "x.arrow", target="y"),
        open_arrow(table, target="y"),
    ):
        sizes = [batch.X.nbytes for batch in source.batches()]
        assert sum(sizes) == 100_000 * 20 * 8
        assert max(sizes) <= 1 << 23


def test_wide_tables_have_small_buffers(tmp_path):
    columns = {f"c{j}": [1.0, -1.0] for j in range(3000)}
    pa.parquet.write_table(pa.table({**columns, "y": [0, 1]}), tmp_path / "x.parquet")
    source = open_parquet(tmp_path / "x.parquet", target="y")
    model = Perceptron(shuffle=False).fit_stream(source)
    assert (
        model.coef_.tobytes()
        == Perceptron(shuffle=False).fit(np.array([[1.0] * 3000, [-1.0] * 3000]), [0, 1]).coef_.tobytes()
    )


def test_readers_leave_the_memory_pool_of_the_process_alone(tmp_path):
    written(tmp_path / "x.parquet", 10, 5)
    before = pa.default_memory_pool().backend_name
    found = []
    for batches in (open_parquet(tmp_path / "x.parquet", target="y").batches() for _ in range(2)):
        next(batches)  # of two readers that are not done
        found.append(pa.default_memory_pool().backend_name)
    assert found == [before, before]
