"""``train --stream``: the model of ``train --no-shuffle``, from data that is read in blocks."""

import numpy as np
import pytest

from perceptron_rs import digest, load
from perceptron_rs.io.text.lines import text_blocks
from perceptron_rs.models import describe

from .support import svmlight

rng = np.random.default_rng(2)
X = rng.integers(-3, 4, (60, 4)) / 2
X[0] = 1
Y = rng.integers(0, 2, 60)
CSV = "a,b,c,d,y\n" + "".join(
    ",".join(map(repr, [*row, label])) + "\n" for row, label in zip(X.tolist(), Y.tolist(), strict=True)
)
EPOCHS = ("--epochs", 4, "--tol", "none", "--quiet")


@pytest.fixture(name="data", params=["svm from 1", "hashed"])
def fixture_data(request, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "__defaults__", (200,))
    if request.param.startswith("svm"):
        path = tmp_path / "a.svm"
        path.write_text(svmlight(X, Y, first=int(request.param[-1])))
        return (path,)
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    return (path, "--hash-bits", 4)


def test_classes_that_are_named_can_be_weighed(call, tmp_path, data):
    streamed, whole = tmp_path / "streamed", tmp_path / "whole"
    argv = ("train", "averaged", *data, *EPOCHS, "--class-weight", "0=0.5", "--class-weight", "1=3")
    assert call(*argv, "--stream", "--classes", "1,0", "--model", streamed).status == 0
    assert call(*argv, "--no-shuffle", "--model", whole).status == 0
    assert digest(load(streamed)) == digest(load(whole))
    assert load(streamed).class_weight == {0: 0.5, 1: 3.0}


@pytest.mark.parametrize(
    "options", [(), ("--scale", "maxabs", "--holdout", 0.3), ("--cache", "FILE", "--block-size", 7)], ids=str
)
def test_the_model_is_that_of_all_examples_at_once(call, tmp_path, data, options):
    streamed, whole = tmp_path / "streamed", tmp_path / "whole"
    options = [tmp_path / "cache" if option == "FILE" else option for option in options]
    argv = ("train", "averaged", *data, "--json", *EPOCHS)
    found = call(*argv, "--stream", "--model", streamed, *options).json
    options = () if "--cache" in options else options
    told = call(*argv, "--no-shuffle", "--model", whole, *options).json
    same = set(told) - {"seconds", "model", "bytes"}
    assert {name: found[name] for name in same} == {name: told[name] for name in same}
    assert load(streamed).coef_.tobytes() == load(whole).coef_.tobytes()
    records = [describe(model) for model in (streamed, whole)]
    for part in ("input", "column_base", "feature_names", "digests"):
        assert records[0].get(part) == records[1].get(part)
    assert [record["calls"][0]["method"] for record in records] == ["fit_stream", "fit"]
    again = call("reproduce", streamed, data[0])
    assert again.out.endswith("reproduced equal to the last bit\n"), again


def test_a_run_goes_on_from_its_checkpoint(call, refused, tmp_path):
    path, whole = tmp_path / "a.svm", tmp_path / "whole"
    path.write_text(svmlight(X, Y))
    assert call("train", path, "--stream", "--model", whole, *EPOCHS).status == 0
    kept = ("--stream", "--block-size", 9, "--checkpoint", tmp_path / "kept", "--checkpoint-every", 0)
    some = ("--epochs", 2, "--tol", "none", "--quiet")
    assert call("train", path, *kept, "--model", tmp_path / "half", *some).status == 0
    assert "resume" in refused("train", path, *kept, "--model", tmp_path / "m", *EPOCHS)
    assert call("train", path, *kept, "--resume", "--model", tmp_path / "m", *EPOCHS).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(whole).coef_.tobytes()


def test_a_model_goes_on_with_some_of_its_classes(call, tmp_path):
    """The same in memory and from a stream, also with one class, and with weights of any of the model's."""
    path, few, first = tmp_path / "a.svm", tmp_path / "b.svm", tmp_path / "first"
    path.write_text(svmlight(X, Y))
    few.write_text(svmlight(X[Y == 1], Y[Y == 1]))
    assert call("train", path, "--model", first, *EPOCHS).status == 0
    for options in ((), ("--class-weight", "0=2", "--class-weight", "1=3"), ("--class-weight", "balanced")):
        found = []
        for how in (("--no-shuffle",), ("--stream",)):
            out = ("--continue", first, "--model", tmp_path / "m", "--quiet")
            assert call("train", few, *how, *options, *out).status == 0
            found.append(load(tmp_path / "m"))
        assert found[0].coef_.tobytes() == found[1].coef_.tobytes()
        assert found[0].classes_.tolist() == load(first).classes_.tolist()


def test_what_goes_on_without_a_record_has_none(call, tmp_path):
    path, old = tmp_path / "a.svm", tmp_path / "old"
    path.write_text(svmlight(X, Y))
    assert call("train", path, "--model", old, *EPOCHS).status == 0
    model = load(old).set_params(audit=False)
    model.partial_fit(X, Y).save(old)
    for how in ((), ("--stream",)):
        assert call("train", path, *how, "--continue", old, "--model", tmp_path / "m", "--quiet").status == 0
        assert "calls" not in describe(tmp_path / "m")


def test_a_second_run_from_a_cache_is_as_the_first(call, tmp_path, monkeypatch):
    """It reads the beginning of the file alone, where no column is 0."""
    monkeypatch.setattr(text_blocks, "__defaults__", (200,))
    path, cache = tmp_path / "late.svm", tmp_path / "cache"
    path.write_text("1 1:1 2:1\n-1 2:-1 3:2\n" * 60 + "1 0:1\n")
    told = []
    for name in ("first", "second"):
        options = ["--stream", "--cache", cache, "--epochs", 2, "--tol", "none", "--json"]
        told.append(call("train", path, *options, "--model", tmp_path / name).json)
    assert told[1]["n_samples"] == told[0]["n_samples"] == 121
    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()
