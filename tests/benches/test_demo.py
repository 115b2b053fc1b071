"""The demo runs, says what it compared, and fails when a bit differs."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

spec = importlib.util.spec_from_file_location("demo", Path(__file__).parents[2] / "benches" / "demo.py")
demo = importlib.util.module_from_spec(spec)
sys.modules["demo"] = demo  # where dataclasses look
spec.loader.exec_module(demo)


def test_all_bits_are_equal(capsys, monkeypatch):
    few = [replace(data, X=data.X[::4], y=data.y[::4]) for data in demo.data_sets()]
    monkeypatch.setattr(demo, "data_sets", lambda: few)
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert re.search(r"^[\d,]{9,} bits compared: all are equal", out, re.MULTILINE)
    assert out.count("mistakes per epoch") == 2 * len(demo.data_sets())
    assert "rust, CSR uint8" in out
    assert "rust, dense float32" in out
    assert max(map(len, out.splitlines())) <= 100


def test_one_bit_fails(capsys, monkeypatch):
    learnt = demo.learnt

    def one_bit_off(model, X):
        arrays = learnt(model, X)
        if model.engine == "rust":
            arrays["coef_"] = np.nextafter(arrays["coef_"], np.inf)
        return arrays

    cells = demo.data_sets()[1]
    monkeypatch.setattr(demo, "data_sets", lambda: [cells])
    monkeypatch.setattr(demo, "learnt", one_bit_off)
    assert demo.main() == 1
    assert " DIFFER" in capsys.readouterr().out


@pytest.mark.parametrize("data", demo.data_sets(), ids=lambda data: data.narrow)
def test_the_storages_hold_the_same_values(data):
    for X in demo.storages(data.X, data.narrow).values():
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        assert np.array_equal(dense.astype(np.float64), data.X)


def test_compare_counts_bits():
    a = {"x": np.array([1.0, 0.0]), "n": np.array([3])}
    b = {"x": np.array([1.0, -0.0]), "n": np.array([2])}
    assert demo.compare(a, a) == (192, 0)
    assert demo.compare(a, b) == (192, 2)
    assert demo.compare(a, {"x": a["x"], "n": np.array([3, 3])}) == (256, 64)
