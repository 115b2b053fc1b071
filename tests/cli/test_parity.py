"""``parity``: every way is listed with its digest, and the first difference ends the list."""

import re

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs import Perceptron, _core, digest
from perceptron_rs.cli.commands import parity
from perceptron_rs.io.examples import Examples
from perceptron_rs.testing import parity as all_ways
from tests.support import BASELINE

from .support import X, Y


@pytest.fixture
def data(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    return tmp_path / "a.npz"


def test_every_way_has_the_digest_of_the_model(call, data):
    answer = call("parity", data, "--epochs", 3)
    assert answer.status == 0
    model = Perceptron(max_iter=3, tol=None).fit(X, Y)
    one_epoch = Perceptron(max_iter=1, tol=None, shuffle=False).fit(X, Y)
    first, *lines, last = answer.out.splitlines()
    assert first == "examples: all 6, features: 3"
    assert last.startswith(f"{len(lines)} ways: ")
    expected = {True: digest(one_epoch), False: digest(model)}
    assert expected[True] != expected[False]
    for line in lines:
        found, way = line.split("  ", 1)
        assert found == expected["partial_fit" in way or "one epoch" in way]


def test_what_the_ways_are(call, data):
    listed = [entry["way"] for entry in call("parity", data, "--json").json["ways"]]
    assert len(set(listed)) == len(listed)
    for engine in ("reference", *(f"rust ({name})" for name in _core._instruction_sets())):
        for form in (
            "dense float64",
            "dense int8",
            "CSR float32, int32 indices",
            "CSR uint16, int64 indices",
        ):
            assert (f"{engine}, {form}" in listed) == ("uint" not in form)  # X has negative values
    for part in ("2 threads", "rows not in order", "stored zeros", "rust, dense float64, partial_fit by 2"):
        assert any(way.endswith(part) for way in listed), part
    assert "reference, dense float64, partial_fit by 7" in listed


def test_one_bit_ends_it(call, data, monkeypatch):
    fit = all_ways._fit

    def one_bit_off(estimator, path, *rest):
        found, own = fit(estimator, path, *rest)
        if "int64" in str(path) and path.engine == "rust":
            found["coef_"] = np.nextafter(found["coef_"], np.inf)
        return found, own

    monkeypatch.setattr(all_ways, "_fit", one_bit_off)
    answer = call("parity", data)
    assert answer.status == 1
    assert re.fullmatch(
        r"perceptrons: error: \[reference, dense float64\] and "
        rf"\[rust \({BASELINE}\), CSR float64, int64 indices\] "
        r"differ in coef_ at index \(0, 0\): -?0x\S+ != -?0x\S+\n",
        answer.err,
    )
    assert answer.out.endswith(f"rust ({BASELINE}), CSR float64, int64 indices\n")
    as_json = call("parity", data, "--json")
    assert as_json.status == 1
    assert "differ in coef_" in as_json.json["difference"]


def test_options_reach_the_fits(call, data):
    plain = call("parity", data, "--json").json["ways"][0]
    for options in (["--eta0", "0.3"], ["--class-weight", "1=3"], ["--no-intercept"]):
        assert call("parity", data, *options, "--json").json["ways"][0] != plain


def test_evenly_spaced_rows(call, tmp_path):
    rng = np.random.default_rng(0)
    A, b = rng.integers(0, 5, (100, 3)), rng.integers(0, 2, 100)
    np.savez(tmp_path / "a.npz", X=A, y=b)
    answer = call("parity", tmp_path / "a.npz", "--rows", 12)
    assert answer.out.startswith("examples: 12 of 100, evenly spaced, features: 3\n")
    kept = np.arange(12) * 9
    model = Perceptron(max_iter=5, tol=None).fit(A[kept], b[kept])
    assert answer.out.splitlines()[1][:64] == digest(model)


def test_rows_that_fit_into_memory(monkeypatch):
    monkeypatch.setattr(parity, "CELLS", 12)
    found, n = parity.sample(Examples(X, Y), None)
    assert (found.shape, len(found.labels), n) == ((4, 3), 4, 6)
    assert parity.sample(Examples(X, Y), 6)[0].X is X


def test_weights_of_examples_are_in_the_fits(call, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"x": {"a": 1}, "y": 1, "w": 3}\n{"x": {"a": 2}, "y": 0, "w": 0.5}\n' * 3
    )
    answer = call("parity", tmp_path / "a.jsonl", "--hash-bits", 2, "--epochs", 2)
    X, weights = FeatureHasher(4).transform([{"a": 1}, {"a": 2}] * 3), [3, 0.5] * 3
    model = Perceptron(max_iter=2, tol=None).fit(X, [1, 0] * 3, sample_weight=weights)
    assert answer.out.splitlines()[1][:64] == digest(model)


def test_too_wide(refused, data, monkeypatch):
    monkeypatch.setattr(parity, "CELLS", 5)
    assert "3 features are too many for the dense copies" in refused("parity", data)


def test_balanced_weights_leave_batches_out(call, data):
    answer = call("parity", data, "--class-weight", "balanced", "--json")
    assert answer.status == 0
    assert not any("partial_fit" in entry["way"] for entry in answer.json["ways"])
