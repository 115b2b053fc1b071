"""``parity``: every way is listed with its digest, and the first difference ends the list.

What the ways are is in ``tests/estimators/test_parity.py``.
"""

import re

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs import Perceptron, digest
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
    answer = call("parity", "perceptron", data, "--epochs", 3)
    assert answer.status == 0
    first, *lines, last = answer.out.splitlines()
    assert (first, last.split(":")[0]) == ("examples: all 6, features: 3", f"{len(lines)} ways")
    few = {False: {"max_iter": 3}, True: {"max_iter": 1, "shuffle": False}}
    expected = {of_one: digest(Perceptron(tol=None, **of).fit(X, Y)) for of_one, of in few.items()}
    for line in lines:
        found, way = line.split("  ", 1)
        assert found == expected["partial_fit" in way or "one epoch" in way]
    assert "reference, dense float64, partial_fit by 7" in answer.out


def test_one_bit_ends_it(call, data, monkeypatch):
    fit = all_ways._fit

    def one_bit_off(estimator, path, *rest):
        found, own = fit(estimator, path, *rest)
        if "int64" in str(path) and path.engine == "rust":
            found["coef_"] = np.nextafter(found["coef_"], np.inf)
        return found, own

    monkeypatch.setattr(all_ways, "_fit", one_bit_off)
    answer = call("parity", "perceptron", data)
    assert answer.status == 1
    assert re.fullmatch(
        r"perceptrons: error: \[reference, dense float64\] and "
        rf"\[rust \({BASELINE}\), CSR float64, int64 indices\] "
        r"differ in coef_ at index \(0, 0\): -?0x\S+ != -?0x\S+\n",
        answer.err,
    )
    assert answer.out.endswith(f"rust ({BASELINE}), CSR float64, int64 indices\n")
    as_json = call("parity", "perceptron", data, "--json")
    assert (as_json.status, "differ in coef_" in as_json.json["difference"]) == (1, True)


def test_options_reach_the_fits(call, data):
    plain = call("parity", "perceptron", data, "--json").json["ways"]
    for options in (["--eta0", "0.3"], ["--class-weight", "1=3"], ["--no-intercept"]):
        assert call("parity", "perceptron", data, *options, "--json").json["ways"][0] != plain[0]
    for options in (["--class-weight", "balanced"], ["--early-stopping"]):  # not by partial_fit
        found = call("parity", "perceptron", data, *options, "--json")
        assert (found.status, 0 < len(found.json["ways"]) < len(plain)) == (0, True)


def test_which_rows(call, refused, data, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    A, b = rng.integers(0, 5, (100, 3)), rng.integers(0, 2, 100)
    np.savez(tmp_path / "b.npz", X=A, y=b)
    answer = call("parity", "perceptron", tmp_path / "b.npz", "--rows", 12)
    assert answer.out.startswith("examples: 12 of 100, evenly spaced, features: 3\n")
    kept = np.arange(12) * 9
    model = Perceptron(max_iter=5, tol=None).fit(A[kept], b[kept])
    assert answer.out.splitlines()[1][:64] == digest(model)
    monkeypatch.setattr(parity, "CELLS", 12)
    found = parity.sample(Examples(X, Y), None)
    assert (found.shape, len(found.labels)) == ((4, 3), 4)
    assert parity.sample(Examples(X, Y), 6).X.tolist() == X.tolist()
    monkeypatch.setattr(parity, "CELLS", 5)
    assert "3 features are too many for the dense copies" in refused("parity", data)


def test_weights_of_examples_are_in_the_fits(call, tmp_path):
    lines = '{"x": {"a": 1}, "y": 1, "w": 3}\n{"x": {"a": 2}, "y": 0, "w": 0.5}\n' * 3
    (tmp_path / "a.jsonl").write_text(lines)
    answer = call("parity", "perceptron", tmp_path / "a.jsonl", "--hash-bits", 2, "--epochs", 2)
    hashed = FeatureHasher(4).transform([{"a": 1}, {"a": 2}] * 3)
    model = Perceptron(max_iter=2, tol=None).fit(hashed, [1, 0] * 3, sample_weight=[3, 0.5] * 3)
    assert answer.out.splitlines()[1][:64] == digest(model)
