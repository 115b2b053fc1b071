"""What a fit to sequences needs beside the encoded sequences themselves."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

# Words as in a language: most are rare, and nearly all have one label. Dense weights of 160,000 columns for
# 60 labels, with their sums and averages, would need 230 MB; the data need 21.
PEAK = """
    import os, sys, traceback
    from pathlib import Path
    import numpy as np
    import scipy.sparse as sp
    from perceptron_rs import SequencePerceptron

    def peak():
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024

    random = np.random.default_rng(0)
    n, words, labels, length = 500_000, 40_000, 60, 20
    word = np.minimum(random.zipf(1.3, n), 10**9) % words
    own = word * 40_503 % words % labels
    y = np.where(random.random(n) < 0.05, (own + np.roll(own, 1)) % labels, own)
    columns = [word, words + np.roll(word, 1), 2 * words + np.roll(word, -1), 3 * words + word // 30]
    columns = np.sort(np.column_stack(columns), axis=1).astype(np.int32)
    width = columns.shape[1]
    X = sp.csr_matrix(
        (np.ones(n * width, dtype=np.int8), columns.ravel(), np.arange(0, n * width + 1, width)),
        shape=(n, 4 * words),
    )
    X.has_canonical_format
    lengths = np.full(n // length, length)
    parts = (X.data, X.indices, X.indptr, y, lengths)
    encoded = sum(part.nbytes for part in parts)
    # What is loaded once is not counted.
    SequencePerceptron(max_iter=1).fit(X[:200], y[:200], lengths=lengths[:10])
    del word, own, columns

    def growth(changes):
        Path("/proc/self/clear_refs").write_text("5")  # what has been the peak is forgotten
        before = peak()
        model = SequencePerceptron(max_iter=2, **changes).fit(X, y, lengths=lengths)
        assert model.sequence_errors_per_epoch_[0] > 1000 and len(model.classes_) == labels
        return (peak() - before) / encoded

    kinds = {"plain": {}, "verbose": {"verbose": 1}, "held_out": {"early_stopping": True}}
    for kind, changes in kinds.items():
        child = os.fork()  # of the same data
        if child == 0:
            try:
                found = growth(changes)
                print("growth", kind, found, flush=True)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, kind
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in Linux's /proc")
def test_a_fit_needs_less_than_its_data_again():
    """With held-out sequences less than twice: the state of the best epoch is there, too."""
    command = [sys.executable, "-c", textwrap.dedent(PEAK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    growth = {line[1]: float(line[2]) for line in lines if line[:1] == ["growth"]}
    for kind, most in {"plain": 1, "verbose": 1, "held_out": 2}.items():
        assert growth[kind] < most, f"{kind}: {growth[kind]:.2f} times the encoded data on top of it"
