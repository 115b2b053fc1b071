"""Evidence: files, which must stay as they were, the model, its digests, what computed, and the verdict."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import ARITHMETIC_VERSION, AveragedPerceptron, __version__, _core, digest, load, reproduce
from perceptron_rs.models import describe
from perceptron_rs.rerun.evidence import Evidence

X, Y = np.array([[2.0, 1], [3, 1], [-1, 2], [-2, -1]]), np.array([1, 1, -1, -1])


def test_what_it_holds(tmp_path):
    path, data = tmp_path / "m", tmp_path / "a.npz"
    np.savez(data, X=X, y=Y)
    AveragedPerceptron(audit=True).fit(X, Y).save(path)
    before, model = {file: file.read_bytes() for file in (path, data)}, load(path)
    evidence = Evidence(path, [data])
    answer, description = reproduce(model, X, Y), describe(path)
    found = evidence.of(model, answer)
    assert set(found) == {"evidence_version", "verdict", "model", "data", "digests", "run", "time"}
    assert found["evidence_version"] == 1
    assert found["verdict"] == {"equal": True, "reason": None, "message": "equal to the last bit"}
    sizes = {
        file: {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        for file, text in before.items()
    }
    names = ("format_version", "written_by", "arithmetic_version", "calls")
    own = {"estimator": "AveragedPerceptron", "digest": digest(model), "digest_again": digest(model)}
    assert found["model"] == {
        **{name: description[name] for name in names},
        "starts_from_weights": False,
        "rounded": None,
        "file": "m",
        **sizes[path],
        **own,
    }
    assert found["data"] == [{"file": "a.npz", **sizes[data]}]
    assert found["digests"] == description["digests"]
    run = found["run"]
    assert (run["arithmetic_version"], run["engine"]) == (ARITHMETIC_VERSION, "rust")
    assert run["instruction_set"] in _core._instruction_sets()
    assert (run["perceptron_rs"], run["libraries"]["numpy"]) == (__version__, np.__version__)
    assert set(run["libraries"]) == {"numpy", "scipy", "scikit-learn", "safetensors", "pyarrow"}
    module = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
    assert run["compiled_module"]["sha256"] == module
    assert all(run[name] for name in ("python", "processor", "machine", "system"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["time"]["begun"])
    assert found["time"]["seconds"] >= 0
    data.write_bytes(b"changed meanwhile")
    with pytest.raises(ValueError, match=r"a\.npz: changed while it was read"):
        evidence.of(model, answer)
