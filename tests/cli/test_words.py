"""What the command says names options and commands, and nothing that only Python has."""

from __future__ import annotations

import pickle
import re

import pytest

from perceptron_rs.cli.options import parser
from perceptron_rs.cli.words import text_of
from perceptron_rs.errors import ArgumentError

SVM = "1 1:2 2:1\n1 1:3 3:1\n-1 1:-1 2:2\n-1 1:-2 2:-1\n"
FILES = {
    "a.svm": SVM,
    "three.svm": SVM.replace("-1 1:-1", "2 1:-1"),
    "one.svm": "1 1:2\n1 2:3\n",
    "huge.svm": "1 1:1e308 2:1e308\n-1 1:-1e308 2:1e308\n" * 3,
    "a.tsv": "the\tD\ndog\tN\n\na\tD\ncat\tN\n\n",
    "below.csv": "a,w,k\n1,-1,x\n2,1,y\n",
    "zero.csv": "a,w,k\n1,0,x\n2,0,y\n",
    "other.tsv": "the\tX\ndog\tY\n\n",
}
MODELS = {
    "plain": ("train", "averaged"),
    "balanced": ("train", "averaged", "--class-weight", "balanced"),
    "mixed": ("train", "averaged", "--n-partitions", 2),
    "pocket": ("train", "pocket"),
    "votes": ("train", "voted"),
    "silent": ("train", "averaged", "--no-audit"),
    "kernel": ("train", "kernel"),
    "budget": ("train", "budgeted-kernel"),
    "layers": ("train", "multilayer", "--epochs", 5),
    "tags": ("tag-train",),
}
STREAM = ("train", "averaged", "a.svm", "--stream")
CALLS = [
    *((*STREAM, *options) for options in (
        ("--early-stopping",), ("--shuffle",), ("--added-feature", 1), ("--max-mistakes-per-example", 2),
        ("--n-partitions", 2), ("--resume",), ("--checkpoint", "plain"), ("--checkpoint", "none/x"),
        ("--cache", "plain"), ("--resume", "--checkpoint", "plain"),
    )),
    *(("train", name, "huge.svm") for name in ("averaged", "pocket", "kernel", "multilayer")),
    ("train", "averaged", "huge.svm", "--stream"), ("train", "one.svm"), ("train", "one.svm", "--stream"),
    *(("train", "perceptron", f"{name}.csv", "--sample-weight", "w", *stream)
      for name in ("below", "zero") for stream in ((), ("--stream",))),
    ("train", "below.csv", "--sample-weight", "w", "--target", "w"),
    ("online", "plain", "a.svm", "--save", "a.svm"), ("parity", "one.svm"),
    ("train", "a.svm", "--class-weight", "1=0", "--class-weight", "-1=0"),
    *(("train", "averaged", "three.svm", "--continue", "plain", *stream) for stream in ((), ("--stream",))),
    ("train", "averaged", "a.svm", "--continue", "plain", "--multi-class", "joint"),
    ("train", "averaged", "a.svm", "--step", "pa1", "--eta0", 0.5),
    ("train", "a.svm", "--step", "pa2", "--penalty", "l2"),
    ("train", "averaged", "huge.svm", "--step", "pa2"),
    ("train", "pocket", "three.svm", "--continue", "pocket"),
    ("train", "kernel", "three.svm", "--continue", "kernel"),
    ("train", "kernel", "a.svm", "--continue", "kernel", "--kernel", "poly"),
    ("train", "budgeted-kernel", "a.svm", "--continue", "budget", "--budget", 1),
    ("train", "multilayer", "a.svm", "--continue", "layers", "--hidden-layer-sizes", 7),
    ("train", "multilayer", "three.svm", "--continue", "layers"),
    *(("online", model, "a.svm") for model in ("balanced", "mixed", "layers", "pocket")),
    ("online", "plain", "three.svm"), ("online", "plain", "huge.svm"),
    ("online", "balanced", "a.svm", "--skip-bad"),
    ("train", "voted", "a.svm", "--stream", "--continue", "votes"),
    ("train", "a.svm", "--stream", "--classes", "1,2"), ("train", "a.svm", "--features", 2),
    ("train", "a.svm", "--stream", "--features", 2), ("reproduce", "silent", "three.svm"),
    ("predict", "kernel", "huge.svm"),
    ("predict", "a.svm", "a.svm"), ("predict", "tags", "a.svm"), ("tag", "plain", "a.tsv"),
    ("tag", "tags", "a.tsv"),
    *(("tag-train", "a.tsv", "--min-count", 9, *stream) for stream in ((), ("--stream",))),
    ("tag-train", "a.tsv", "--stream", "--shuffle"), ("tag-train", "a.tsv", "--stream", "--n-partitions", 2),
    ("tag-train", "a.tsv", "--step", "pa1", "--eta0", 0.5),
    *(("tag-train", "other.tsv", "--continue", "tags", *stream) for stream in ((), ("--stream",))),
]  # fmt: skip
#: Names of methods, parameters and variables of Python.
ONLY_PYTHON = re.compile(
    r"\b(?:partial_fit|fit_stream|warm_start|set_params|sample_weight|predict_then_learn|fit_encoded|max_iter"
    r"|n_features|max_ratio|eta0(?<!--eta0)|callback|classes_|estimator|save method)\b"
    r"|\b\w+=(?:True|False|None|'|\Z|[ ,;])|(?<![\w'/-])[Xy](?![\w'/.])|\bfit\b(?! )"
)


def options_that_exist():
    """Return all options of all commands."""
    found, places = set(), [parser()]
    while places:
        for action in places.pop()._actions:
            found.update(action.option_strings)
            if isinstance(action.choices, dict):
                places += action.choices.values()
    return found


@pytest.fixture
def there(call, tmp_path, monkeypatch):
    """A folder with data and models."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name, argv in MODELS.items():
        data = "a.tsv" if argv[0] == "tag-train" else "a.svm"
        assert call(*argv, data, "--model", name, "--quiet").status == 0


def test_errors_speak_of_the_command(call, there):
    exist, said = options_that_exist(), {}
    for argv in CALLS:
        out = ("--model", "out") if argv[0] in ("train", "tag-train") else ()
        answer = call(*argv, *out, *(() if "online" in argv else ("--quiet",)))
        assert answer.status in (1, 2), (argv, answer)
        said[argv] = answer.err
    wrong = [(argv, found[0], text) for argv, text in said.items() if (found := ONLY_PYTHON.search(text))]
    for argv, text in said.items():
        unknown = set(re.findall(r"(?<!\S)--[a-z][a-z0-9-]+", text)) - exist
        wrong += [(argv, option, text) for option in unknown]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(
    ("error", "python", "command"),
    [
        (ArgumentError("too much", "lower {eta0}"), "too much; lower eta0", "too much; lower --eta0"),
        (
            ArgumentError("{max_iter} is less than 2", "raise it", values={"max_iter": 1}),
            "max_iter=1 is less than 2; raise it",
            "--epochs 1 is less than 2; raise it",
        ),
        (
            ArgumentError("{shuffle}: {word}", "set {shuffle}", settings={"shuffle": False}, word="{eta0} y"),
            "shuffle: {eta0} y; set shuffle=False",
            "--shuffle: {eta0} y; set --no-shuffle",
        ),
        (
            ArgumentError("{y} is odd", cause="one class").at("x/{max_iter}.svm: "),
            "x/{max_iter}.svm: y is odd",
            "x/{max_iter}.svm: the data is odd; two or more are needed, so check the column of the labels",
        ),
    ],
)
def test_an_error_in_both_words(error, python, command):
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert str(same) == python
        assert text_of(same) == command


def test_the_remedy_for_a_new_label_can_be_followed(call, there):
    """--classes cannot be combined with --continue."""
    again = ("train", "averaged", "three.svm", "--continue", "plain", "--model", "out", "--quiet")
    assert call(*again).err.endswith("; train on all of them, without --continue\n")
    remedy = "; name all in --classes, or, with --continue, train on all of them without it\n"
    assert call(*again, "--stream").err.endswith(remedy)
    fewer = ("train", "three.svm", "--stream", "--classes", "1,2", "--model", "out", "--quiet")
    assert call(*fewer).err.endswith(remedy)
