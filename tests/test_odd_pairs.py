"""Options together, each with a value that it may have: an answer, or an error that names one of them."""

from __future__ import annotations

import copy
import itertools
import random
import re
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from safetensors.numpy import save_file

from perceptron_rs import SequencePerceptron, datasets, digest, io, load, reproduce
from perceptron_rs.cli import main
from perceptron_rs.parameters.groups import group_of
from perceptron_rs.registry import REGISTRY

X, Y = datasets.make_separable(12, 3, seed=1)
W = np.arange(1, 13) / 6
#: Of parameters that are no words: values that are not their defaults.
VALUES = {
    **{
        name: [True]
        for name in ["early_stopping", "warm_start", "keep_on_interrupt", "track_mistakes", "audit"]
    },
    **{name: [True] for name in ["normalize", "transition_features", "verbose"]},
    **{name: [False] for name in ["shuffle", "fit_intercept", "average", "averaged"]},
    **{name: [1, 2] for name in ["max_iter", "n_iter_no_change", "max_mistakes_per_example", "n_jobs"]},
    **{name: [0.5] for name in ["eta0", "C", "alpha", "margin_threshold", "added_feature", "l1_ratio"]},
    "tol": [None, 0.1],
    "validation_fraction": [0.4],
    "random_state": [1, None],
    "audit_key": [b"a" * 32],
    "class_weight": ["balanced", {Y[0]: 2.0}],
    "callback": [bool],
    "n_partitions": [2, [2, 10], [12, 0]],
    "hidden_layer_sizes": [(2,), ()],
    "constraints": ["iob2", [("a", "b")]],
}


def drawn(values, seed, n):
    """Draw options, two or three at a time, each with one of its values."""
    draw = random.Random(seed)
    for _ in range(n):
        names = draw.sample(sorted(values), draw.choice([2, 2, 3]))
        yield copy.deepcopy({name: draw.choice(values[name]) for name in names})


def is_named(error, names):
    """Whether an error is one of this package, and names one of these options."""
    of_arguments = isinstance(error, TypeError | ValueError)
    return of_arguments and any(re.search(rf"\b{name}", str(error)) for name in names)


def calls(kind, options):
    """Yield calls of a new estimator that learn, by their names."""
    usual = {"gamma": 0.5} if "budget" in kind._get_param_names() else {}
    usual |= {"max_iter": 3} if "max_iter" in kind._get_param_names() else {}
    many = {"lengths": [6, 6]} if kind is SequencePerceptron else {}
    classes = {"classes": np.unique(Y)}

    def new():
        return kind(**usual | options)

    yield "fit", lambda: new().fit(X, Y, **many)
    if hasattr(kind, "partial_fit"):
        yield "partial_fit", lambda: new().partial_fit(X, Y, **many | classes)
    if hasattr(kind, "fit_stream"):
        source = [(X, Y, None, np.array([6, 6]))] if many else (X, Y)
        yield "fit_stream", lambda: new().fit_stream(source, block_size=5)
        yield "shuffled", lambda: new().fit_stream((X, Y), block_size=5, shuffle="block")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [learner.kind for learner in REGISTRY.values()])
def test_parameters_together(kind, capsys):
    values = {parameter.name: parameter.metadata["values"] for parameter in fields(group_of(kind))}
    values = {name: VALUES.get(name) or [*getattr(known, "words", ())] for name, known in values.items()}
    values = {name: known for name, known in values.items() if known}
    unnamed = []
    for options in drawn(values, 0, 25):
        for call, learn in calls(kind, options):
            if call == "shuffled" and kind is SequencePerceptron:
                continue
            try:
                model = learn()
                again = load(model.save())
                assert digest(again) == digest(model)
                given = model.get_params()
                if call == "fit" and given.get("random_state") is not None and given.get("callback") is None:
                    many = {"lengths": [6, 6]} if kind is SequencePerceptron else {}
                    assert reproduce(model, X, Y, audit_key=given["audit_key"], **many)
            except Exception as error:
                if not is_named(error, options):
                    unnamed.append((call, options, type(error), str(error)))
    assert not unnamed


OF_TABLES = {"target": ["y", "a"], "sample_weight": ["w"], "columns": [["a"], ["t"]], "drop": [["t"], ["w"]]}
OF_TABLES |= {
    "decimal": [".", ","],
    "delimiter": [";"],
    "header": [False],
    "missing": [[""]],
    "text_columns": [["t"], []],
}
OF_TEXTS = {"hash_bits": [4], "ngrams": [(1, 2)], "lowercase": [False], "strip_accents": ["ascii"]}
OF_TEXTS |= {"analyzer": ["char"], "stop_words": ["english"], "binary": [True], "norm": ["l1", None]}
OF_ANY = {"n_features": [3, 5], "zero_based": [True, False], "multilabel": [True], "labels": ["y.npy"]}
OPTIONS = OF_TABLES | OF_TEXTS | OF_ANY
FILES = [
    "a.csv",
    "a.jsonl",
    "a.parquet",
    "a.npz",
    "a.npy",
    "a.safetensors",
    "a.svm",
    "m.svm",
    "a.txt",
    "a.vw",
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Examples in files of all formats."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{x[0]},{x[1]},word {i},1,{y}" for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    texts = {
        "a.csv": "a,b,t,w,y\n" + "\n".join(rows),
        "p.csv": "a,b,y\n1,2,u\n3,4,v\n",
        "a.jsonl": '{"a": 1, "t": "x y", "w": 1, "y": "u"}\n{"a": 2, "t": "z", "w": 2, "y": "v"}\n',
        "a.svm": "1 1:1 2:2\n-1 2:3\n",
        "m.svm": "1,2 1:1 2:2\n2 2:3\n",
        "a.txt": "u\tbuy now\nv\tgo away\n",
        "a.vw": "1 | a:1 b\n-1 | c\n",
        "a.tsv": "the\tD\ndog\tN\n\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "t": ["x y"] * 12, "w": W, "y": Y})
    parquet.write_table(table, "a.parquet")
    save_file({"X": X, "y": Y}, "a.safetensors")
    np.savez("a.npz", X=X, y=Y)
    np.save("a.npy", X)
    np.save("y.npy", Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", FILES)
def test_options_of_a_file_together(file, files):
    unnamed = []
    pairs = itertools.combinations([(name, value) for name in OPTIONS for value in OPTIONS[name]], 2)
    for pair in pairs:
        options = dict(pair)
        try:
            next(io.open_examples(file, **options).batches())
        except ValueError as error:  # what a file lacks, or holds instead of numbers, is said with its name
            if not (is_named(error, options) or str(error).startswith(file)):
                unnamed.append((options, str(error)))
        except TypeError as error:
            unnamed.append((options, str(error)))
    assert not unnamed


OF_FORMATS = ["--format csv", "--format lines", "--format vw", "--text", "--multilabel", "--delimiter ;"]
OF_FORMATS += ["--no-header", "--target y", "--columns a", "--drop b", "--zero-based yes", "--labels y.npy"]
COMMANDS = {
    "predict": ["--labelled", "--unlabelled", "--skip-bad", "--scores", "--probabilities", "--json"],
    "evaluate": ["--json", "--threads 2"],
    "reproduce": ["--tag-column 1", "--engine reference", "--sample-weight w", "--json"],
    "online": ["--save o.model", "--save-every 1", "--skip-bad", "--no-audit"],
}
#: What a name says of words that nobody wrote, or hides behind another library's text.
STRANGE = re.compile(r"NoneType|object (is|has)|keyword|Traceback|262144|_[a-z]+\(|Error")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("data", ["p.csv", "a.svm"])
def test_options_of_a_command_together(command, data, files, capsys):
    assert main(["train", "averaged", data, "--model", "m.model", "--quiet"]) == 0
    pairs = [*itertools.combinations(OF_FORMATS + COMMANDS[command], 2)]
    for options in random.Random(0).sample(pairs, 60):
        capsys.readouterr()
        status = main([command, "m.model", data, "--quiet", *" ".join(options).split()])
        error = capsys.readouterr().err
        assert status in (0, 1, 2), (options, error)
        assert not STRANGE.search(error), (options, error)


def test_words_are_not_hashed_for_a_model_of_columns(files, capsys):
    assert main(["train", "averaged", "p.csv", "--model", "m.model", "--quiet"]) == 0
    assert main(["predict", "m.model", "p.csv", "--text"]) == 2
    said = (
        "p.csv is lines, whose words become columns by hashing, and the model learnt from csv without hashing"
    )
    assert said in capsys.readouterr().err


def test_labels_of_a_file_exclude_lists_of_labels(files):
    with pytest.raises(ValueError, match="labels has one label for each example, multilabel lists of them"):
        io.open_examples("a.vw", multilabel=True, labels="y.npy")
