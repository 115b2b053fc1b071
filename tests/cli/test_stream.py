"""``train --stream``: the model of ``train --no-shuffle``, from data that is read in blocks."""

import json
from dataclasses import fields
from inspect import signature

import numpy as np
import pytest

from perceptron_rs import Perceptron, load
from perceptron_rs.common.options.groups import options as options_of
from perceptron_rs.io.files import ExampleFiles
from perceptron_rs.io.reading import Reading
from perceptron_rs.io.text.lines import text_blocks
from perceptron_rs.models import describe
from perceptron_rs.stream import fit
from perceptron_rs.stream.options import StreamOptions

from .support import process, svmlight

rng = np.random.default_rng(2)
X = rng.integers(-3, 4, (60, 4)) / 2
X[0] = 1
Y = rng.integers(0, 2, 60)
CSV = "a,b,c,d,y\n" + "".join(
    ",".join(map(repr, [*row, label])) + "\n" for row, label in zip(X.tolist(), Y.tolist(), strict=True)
)
EPOCHS = ("--epochs", 4, "--tol", "none", "--quiet")


@pytest.fixture(name="data", params=["svm from 1", "svm from 0", "csv", "hashed"])
def fixture_data(request, tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "__defaults__", (200,))
    if request.param.startswith("svm"):
        path = tmp_path / "a.svm"
        path.write_text(svmlight(X, Y, first=int(request.param[-1])))
        return (path,)
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    return (path, "--hash-bits", 4) if request.param == "hashed" else (path,)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--scale", "maxabs", "--holdout", 0.3),
        ("--cache", "FILE", "--block-size", 7),
    ],
    ids=str,
)
def test_the_model_is_that_of_all_examples_at_once(call, tmp_path, data, options):
    streamed, whole = tmp_path / "streamed", tmp_path / "whole"
    options = [tmp_path / "cache" if option == "FILE" else option for option in options]
    found = call(
        "train", "averaged", *data, "--stream", "--model", streamed, "--json", *EPOCHS, *options
    ).json
    options = () if "--cache" in options else options
    told = call(
        "train", "averaged", *data, "--no-shuffle", "--model", whole, "--json", *EPOCHS, *options
    ).json
    same = set(told) - {"seconds", "model", "bytes"}
    assert {name: found[name] for name in same} == {name: told[name] for name in same}
    assert load(streamed).coef_.tobytes() == load(whole).coef_.tobytes()
    for part in ("input", "column_base", "feature_names"):
        assert describe(streamed).get(part) == describe(whole).get(part)
    path = data[0]
    scores = [call("predict", model, path, "--scores").out for model in (streamed, whole)]
    assert scores[0] == scores[1]
    records = [describe(model) for model in (streamed, whole)]
    assert records[0]["digests"] == records[1]["digests"]
    assert [record["calls"][0]["method"] for record in records] == ["fit_stream", "fit"]
    again = call("reproduce", streamed, path)
    assert again.out.endswith("reproduced equal to the last bit\n"), again


def test_options_are_the_arguments_of_fit_stream_and_have_their_defaults():
    """`--shuffle` is an option of the learner, which says the order of blocks, too."""
    arguments = signature(Perceptron.fit_stream).parameters
    expected = {name: arguments[name].default for name in arguments.keys() - {"self", "source", "shuffle"}}
    assert {field.name: field.default for field in fields(StreamOptions)} == expected | {"stream": False}


def test_help_says_what_is_done_without_an_option():
    """The size of blocks as it is found then; of files, that there are none, goes without saying."""
    said = {option.parameter: option.help for option in options_of(StreamOptions)}
    ends = {
        "block_size": f" (as many as take about {fit._BYTES >> 20} MB; with --shuffle, {fit._USUAL})",
        "checkpoint_every": f" ({signature(Perceptron.fit_stream).parameters['checkpoint_every'].default:g})",
    }
    assert {name for name, text in said.items() if text.endswith(")")} == ends.keys()
    assert all(said[name].endswith(end) for name, end in ends.items())


def test_the_deviations_of_blocks(call, tmp_path, data):
    """scikit-learn adds them up block by block, so their last bits are not those of all examples at once."""
    for name, how in (("a", "--stream"), ("b", "--no-shuffle")):
        options = (how, "--scale", "standard", "--holdout", 0.3, "--model", tmp_path / name)
        assert call("train", *data, *options, *EPOCHS).status == 0
    ours, theirs = (describe(tmp_path / name)["input"]["scale"] for name in "ab")
    assert np.allclose(ours["scale"], theirs["scale"], rtol=1e-12)
    assert (ours["offset"] is None) == (theirs["offset"] is None)


def test_a_run_goes_on_from_its_checkpoint(call, tmp_path):
    path, whole = tmp_path / "a.svm", tmp_path / "whole"
    path.write_text(svmlight(X, Y))
    assert call("train", path, "--stream", "--model", whole, *EPOCHS).status == 0
    kept = ("--stream", "--block-size", 9, "--checkpoint", tmp_path / "kept", "--checkpoint-every", 0)
    some = ("--epochs", 2, "--tol", "none", "--quiet")
    assert call("train", path, *kept, "--model", tmp_path / "half", *some).status == 0
    refused = call("train", path, *kept, "--model", tmp_path / "m", *EPOCHS)
    assert (refused.status, "resume" in refused.err) == (1, True)
    assert call("train", path, *kept, "--resume", "--model", tmp_path / "m", *EPOCHS).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(whole).coef_.tobytes()


@pytest.mark.parametrize("first", [0, 1])
def test_more_features_than_a_stream_has(call, tmp_path, first):
    path = tmp_path / "a.svm"
    path.write_text(svmlight(X, Y, first=first))
    for features in (4, 6):
        argv = ("train", path, "--features", features, *EPOCHS, "--model")
        assert call(*argv, tmp_path / "m", "--stream").status == 0
        assert call(*argv, tmp_path / "n", "--no-shuffle").status == 0
        assert load(tmp_path / "m").coef_.tobytes() == load(tmp_path / "n").coef_.tobytes()
    refused = call("train", path, "--features", 3, "--stream", "--model", tmp_path / "m")
    assert (refused.status, "--features is 3" in refused.err) == (1, True), refused.err


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


def test_standard_input_is_kept_in_a_cache(call, stdin, tmp_path):
    path, whole = tmp_path / "a.svm", tmp_path / "whole"
    path.write_text(svmlight(X, Y))
    assert call("train", path, "--stream", "--model", whole, *EPOCHS).status == 0
    stdin(path.read_bytes())
    options = ("--stream", "--format", "svmlight", "--cache", tmp_path / "cache")
    assert call("train", "-", *options, "--model", tmp_path / "m", *EPOCHS).status == 0
    assert load(tmp_path / "m").coef_.tobytes() == load(whole).coef_.tobytes()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["x.svm", "--cache", "c"], "--cache has no effect without --stream"),
        (["-", "--format", "svmlight", "--stream", "--scale", "maxabs"], "can be read only once"),
    ],
)
def test_wrong_usage(call, tmp_path, options, text):
    answer = call("train", *options, "--model", tmp_path / "m")
    assert (answer.status, text in answer.err) == (2, True), answer.err


def test_a_process_of_its_own_imports_what_options_need(call, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(svmlight(X, Y))
    argv = ["train", "perceptron", path, "--stream", "--epochs", 2, "--threads", 2, "--model"]
    argv += [tmp_path / "m", "--class-weight", "balanced", "--holdout", 0.2]
    found = []
    for run in (process, call):
        told = run(*argv, "--scale", "maxabs").err.splitlines()[-1]
        first = (tmp_path / "m").read_bytes()
        assert run(*argv, "--continue", tmp_path / "m").status == 0
        found.append((told, first, (tmp_path / "m").read_bytes(), run(*argv, "--early-stopping")))
    assert found[0] == found[1]
    assert "maximum of 2 epochs was reached" in found[0][0]
    assert found[0][3].status == 1


def _without_seconds(out: str, model: str) -> list[str]:
    return [line.replace(model, "m") for line in out.splitlines() if not line.startswith("seconds")]


def test_a_second_run_from_a_cache_is_as_the_first(call, tmp_path, monkeypatch):
    """It reads the beginning of the file alone, where no column is 0."""
    monkeypatch.setattr(text_blocks, "__defaults__", (200,))
    path, cache = tmp_path / "late.svm", tmp_path / "cache"
    path.write_text("1 1:1 2:1\n-1 2:-1 3:2\n" * 60 + "1 0:1\n")
    told = []
    for name in ("first", "second"):
        options = ["--stream", "--cache", cache, "--epochs", 2, "--tol", "none", "--json"]
        told.append(json.loads(call("train", "perceptron", path, *options, "--model", tmp_path / name).out))
    assert told[1]["n_samples"] == told[0]["n_samples"] == 121
    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()


def test_parquet_is_read_in_parts(call, tmp_path):
    """A stream holds some rows at a time, and gives what reading all of them gives."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n = 70_000  # rows; a part has 65,536
    random = np.random.default_rng(0)
    table = {"a": random.integers(-4, 5, n) / 2, "b": random.integers(0, 9, n), "y": random.integers(0, 2, n)}
    path, parts = tmp_path / "a.parquet", []
    parquet.write_table(pyarrow.table(table), path)
    parts = [len(data) for data in ExampleFiles([str(path)], Reading(label_kind="i")).parts()]
    assert parts == [65_536, n - 65_536]
    for name, how in (("streamed", "--stream"), ("whole", "--no-shuffle")):
        argv = ("train", path, how, "--model", tmp_path / name, "--epochs", 2, "--tol", "none", "--quiet")
        assert call(*argv).status == 0
    assert load(tmp_path / "streamed").coef_.tobytes() == load(tmp_path / "whole").coef_.tobytes()
    scores = [call("predict", tmp_path / name, path, "--scores").out for name in ("streamed", "whole")]
    assert scores[0] == scores[1]
    assert len(scores[0].splitlines()) == n
