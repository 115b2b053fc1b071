"""The commands that predict import neither scikit-learn nor SciPy.

That predictors say what estimators say, to the last bit, is in ``tests/models/test_predictors.py``.
"""

import json

import numpy as np
from safetensors.numpy import save_file

from perceptron_rs import Perceptron, VotedPerceptron

from .support import X, Y, script, svmlight

CODE = """
import sys
from perceptron_rs.cli import main
statuses = [main(line.split()) for line in sys.argv[1:]]
sys.exit([name for name in ("sklearn", "scipy", "joblib") if name in sys.modules] or max(statuses))
"""
ROWS = "".join(
    ",".join([*map(str, row), str(label)]) + "\n" for row, label in zip(X.tolist(), Y, strict=True)
)


def test_probabilities(call, refused, tmp_path):
    y = np.array(["a", "b", "c", "a", "c", "b"])
    np.save(tmp_path / "a.npy", X)
    argv = ("predict", tmp_path / "m", tmp_path / "a.npy", "--probabilities")
    model = VotedPerceptron(max_iter=3, tol=None).fit(X, y)
    model.save(tmp_path / "m")
    shares = model.predict_proba(X).tolist()
    rows = call(*argv).out.splitlines()
    assert [list(map(float, row.split("\t")[1:])) for row in rows] == shares
    assert list(map(json.loads, call(*argv, "--json").out.splitlines())) == [
        {"label": label, "probabilities": row}
        for label, row in zip(model.predict(X).tolist(), shares, strict=True)
    ]
    Perceptron().fit(X, y).save(tmp_path / "m")
    text = refused(*argv, status=2)
    assert text.startswith(f"--probabilities: the Perceptron in {tmp_path / 'm'} has none; ")
    assert "--scores" in text


def test_they_import_little(tmp_path, call):
    """All of them in one process, of data in every format."""
    (tmp_path / "a.svm").write_text(svmlight(X, Y))
    (tmp_path / "a.csv").write_text("a,b,c,y\n" + ROWS)
    (tmp_path / "a.txt").write_text("".join(f"{label}\t{row}\n" for label, row in zip(Y, X, strict=True)))
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "y.npy", Y)
    save_file({"X": X, "y": Y}, tmp_path / "a.safetensors")
    (tmp_path / "a.tsv").write_text("the\tD\ndog\tN\n\nthe\tD\ncat\tN\nruns\tV\n")
    own = {"npy": ("--labels", tmp_path / "y.npy"), "safetensors": ("--target", "y")}
    lines, expected = [], []
    for name in ("svm", "csv", "txt", "npy", "safetensors"):
        data, model, told = tmp_path / f"a.{name}", tmp_path / f"{name}.model", own.get(name, ())
        text = ("--text",) if name == "txt" else ()
        assert call("train", data, *told, *text, "--model", model, "--quiet").status == 0
        lines += [("predict", model, data, "--scores"), ("evaluate", model, data, *told, "--json")]
    for options in ((), ("--hash-columns", 64)):
        data, model = tmp_path / "a.tsv", tmp_path / f"{len(lines)}.model"
        assert call("tag-train", data, "--model", model, "--quiet", *options).status == 0
        lines += [("tag", model, data, "--tag-column", 2), ("tag-evaluate", model, data, "--json")]
    expected = [call(*line).out for line in lines]
    done = script(CODE, *(" ".join(map(str, line)) for line in lines))
    assert (done.status, done.err, done.out) == (0, "", "".join(expected))
