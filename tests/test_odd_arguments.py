"""Odd values of each argument of the functions: an answer, or an error that names the argument."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import fractions
import inspect
import random
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import parquet
from safetensors.numpy import save_file

from perceptron_rs import (
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    check_lecture,
    datasets,
    digest,
    hull_weights,
    io,
    is_separable,
    joint_margin,
    kernel_matrix,
    leave_one_out,
    load_predictor,
    margin,
    max_margin,
    mistake_bounds,
    models,
    perceptron_loss,
    proof,
    reproduce,
    trace,
    updates_until_right,
    verify,
)
from perceptron_rs.features import AttributeEncoder, column_attributes, word_attributes, word_shape
from perceptron_rs.metrics import chunk_scores
from perceptron_rs.testing import assert_parity, parity

X, Y = datasets.make_separable(12, 3, seed=1)
MODEL = Perceptron(audit=True, random_state=0).fit(X, Y)
ORDERED = Perceptron(shuffle=False, tol=None, max_iter=9)


def with_one(value):
    """Return a list of labels or weights, and a matrix, with one odd entry each."""
    rows = X.tolist()
    rows[3][1] = value
    return [[value, *Y.tolist()[1:]], rows]


ENTRIES = [
    *(None, float("nan"), float("inf"), "a", "1", b"a", decimal.Decimal("0.5"), fractions.Fraction(1, 3), 1j),
    *(2**70, 10**400, dt.datetime(2020, 1, 1), object(), [1], {}),
]
ODD = [
    *(None, True, 0, 1, -1, 0.5, -0.5, float("nan"), float("inf"), 1e308, 2**70, 10**400, 1j, "", "a", "1"),
    *(b"1", np.bool_(True), np.float32(0.1), np.longdouble("0.1"), decimal.Decimal("0.5")),
    *(fractions.Fraction(1, 3), np.array(0.5), np.array([]), np.array([1]), np.datetime64("2020")),
    *(np.timedelta64(1), dt.timedelta(1), object(), [], (), {}, [1], [[1, 2], [3]], {1}, len, ...),
    *(np.ma.array([1.0, 2, 3], mask=[0, 1, 0]), np.zeros((12, 0)), np.zeros((0, 3)), X.astype("U"), X[None]),
    *(
        X.astype("m8[s]"),
        sp.csr_matrix(X),
        X.astype(np.longdouble),
        [*X.tolist()[:-1], [1]],
        memoryview(b"a"),
    ),
    *(part for entry in ENTRIES for part in with_one(entry)),
]
TWO = {"X": X, "y": Y}
PLANE = TWO | {"coef": [0.5, 1, 2], "intercept": 0.5}
CALLS = {
    max_margin: TWO,
    is_separable: TWO,
    joint_margin: TWO,
    kernel_matrix: {"X": X},
    margin: PLANE,
    mistake_bounds: PLANE,
    leave_one_out: TWO | {"estimator": ORDERED},
    trace: TWO | {"estimator": ORDERED},
    reproduce: TWO | {"model": MODEL},
    verify: TWO | {"result": max_margin(X, Y)},
    hull_weights: TWO | {"result": max_margin(X, Y)},
    proof: {"trace": trace(ORDERED, X, Y)},
    digest: {"model": MODEL},
    perceptron_loss: {"y_true": Y, "pred_decision": MODEL.decision_function(X)},
    updates_until_right: {"x": [1.0, 2.0], "y": 1, "w": [0.0, 0.0], "b": 0.0},
    datasets.make_separable: {},
    datasets.make_noisy: {},
    datasets.two_moons: {},
    datasets.lecture: {"name": "xor"},
}
CASES = [
    (call, name, number)
    for call in CALLS
    for name, argument in inspect.signature(call).parameters.items()
    if name != "audit_key" and argument.kind is not argument.VAR_KEYWORD
    for number in range(len(ODD))
]
#: What is said of numbers that are too large where no single argument is at fault.
ABOUT_SIZE = ("overflowed", "not finite", "memory", "hull_weights", "non_separable")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(4))
def test_an_odd_argument_is_named(part):
    for call, name, number in random.Random(part).sample(CASES, 300):
        try:
            call(**CALLS[call] | {name: ODD[number]})
        except MemoryError:
            pass
        except (TypeError, ValueError) as error:
            text = str(error)
            is_named = name in text or any(words in text for words in ABOUT_SIZE)
            assert is_named, (call.__name__, name, ODD[number], text)


class OnACluster:
    """Values that lie elsewhere; who asks for them has gathered them."""

    def __init__(self, values):
        self.shape, self.ndim, self.dtype = np.shape(values), np.ndim(values), np.asarray(values).dtype

    def __len__(self):
        return self.shape[0]

    def __dask_graph__(self):
        raise AssertionError("computed")

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("gathered")


W, C, L = np.ones(12), np.unique(Y), np.array([6, 6])
WEIGHED = TWO | {"sample_weight": W}
STARTED = WEIGHED | {"coef_init": np.ones((1, 3)), "intercept_init": np.ones(1)}
TAGGED = {"X": X, "y": [Y[:6].tolist(), Y[6:].tolist()], "lengths": L}
GATHERED = {
    **{
        f"{type(model).__name__}.{name}": (getattr(model, name), given)
        for model, name, given in [
            (Perceptron(), "fit", STARTED),
            (Perceptron(), "partial_fit", WEIGHED | {"classes": C}),
            (Perceptron(), "predict_then_learn", WEIGHED | {"classes": C}),
            *((MODEL, name, {"X": X}) for name in ("predict", "decision_function")),
            (MODEL, "score", WEIGHED),
            (copy.copy(MODEL), "calibrate", WEIGHED),
            (KernelPerceptron(), "fit", WEIGHED),
            (MultilayerPerceptron(), "fit", WEIGHED),
            (MaxMarginClassifier(), "fit", TWO),
            (SequencePerceptron(max_iter=1), "fit", TAGGED | {"y": np.arange(2)}),
        ]
    },
    "trace": (trace, STARTED | {"estimator": ORDERED}),
    "assert_parity": (assert_parity, STARTED | {"estimator": ORDERED}),
    "mistake_bounds": (mistake_bounds, PLANE | {"coef_init": np.ones(3), "intercept_init": np.array(0.5)}),
    "updates_until_right": (updates_until_right, CALLS[updates_until_right]),
    **{
        call.__name__: (call, CALLS[call])
        for call in CALLS
        if {"X", "pred_decision"} & CALLS[call].keys() and call not in (trace, mistake_bounds, hull_weights)
    },
}
#: What is one number, or no array.
NUMBERS = ("b", "model", "estimator", "result")


@pytest.mark.parametrize("call", GATHERED)
def test_what_lies_on_a_cluster_is_not_gathered(call):
    function, given = GATHERED[call]
    for name, value in given.items():
        if name in NUMBERS or (call == "updates_until_right" and name == "y"):
            continue
        with pytest.raises(TypeError, match=rf"{name} must hold values, got an OnACluster.*compute\(\)"):
            function(**given | {name: OnACluster(value)})


def test_a_buffer_is_a_matrix():
    for call in (leave_one_out, reproduce):
        assert call(**CALLS[call] | {"X": memoryview(X)}) == call(**CALLS[call])


FILES = {
    "a.csv": "a,b,y\n1,2,u\n3,4,v\n",
    "a.svm": "1 1:1 2:2\n-1 2:3\n",
    "a.txt": "u\tbuy now\nv\tgo away\n",
    "a.tsv": "the\tD\ndog\tN\n\n",
}
TABLE = pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0], "y": ["u", "v"]})
READERS = {
    io.open_csv: ("a.csv", {"target": "y"}),
    io.open_parquet: ("a.parquet", {"target": "y"}),
    io.open_arrow: (None, {"data": TABLE, "target": "y"}),
    io.open_svmlight: ("a.svm", {}),
    io.load_svmlight: ("a.svm", {}),
    io.open_lines: ("a.txt", {}),
    io.open_examples: ("a.txt", {"format": "lines"}),
    io.open_sentences: ("a.tsv", {"attributes": column_attributes}),
    io.open_safetensors: ("a.safetensors", {"target": "y"}),
    io.load_safetensors: ("a.safetensors", {"tensor": "X"}),
    io.open_arrays: (None, {"X": X, "y": Y, "sample_weight": W, "lengths": L}),
}


class Like:
    """Says that it is equal to everything, and has no values."""

    def __eq__(self, other):
        raise RuntimeError("asked whether it is equal")

    __hash__ = object.__hash__


#: Odd in other ways than `ODD`.
MORE = [Like(), ["a", 1], [["a"]], (2, 1), "\0", "zz", np.full((12, 3), np.nan), np.array([None] * 12)]
WORDS = [["a", "b"], ["a"]]
TAGS = [["N", "V"], ["N"]]
TAGGER = SequencePerceptron(max_iter=1).fit([[[word] for word in words] for words in WORDS], TAGS)


def structured(**parameters):
    """Return a structured perceptron of two classes."""
    own = {"joint_feature": lambda x, y: x * y, "inference": lambda x, w: 1 if x @ w >= 0 else -1}
    return StructuredPerceptron(max_iter=2, **own | parameters)


def fitted(kind=Perceptron):
    """Return a model that has learnt, which a call may change."""
    return kind(max_iter=2, tol=None).fit(X, Y)


STREAM = {"source": [(X, Y)], "classes": C}
#: Of each call: what makes the function, what it is given, and which arguments are odd.
METHODS = {
    "fit": (lambda: Perceptron(max_iter=2, tol=None).fit, STARTED, "y coef_init intercept_init"),
    "partial_fit": (lambda: Perceptron().partial_fit, WEIGHED | {"classes": C}, "y classes check_input"),
    "partial_fit, unchecked": (lambda: fitted().partial_fit, TWO | {"check_input": False}, "X y"),
    "calibrate": (lambda: fitted().calibrate, WEIGHED, "y method"),
    "fit_stream": (
        lambda: Perceptron(max_iter=2).fit_stream,
        STREAM,
        "shuffle block_size cache checkpoint checkpoint_every resume",
    ),
    "vectors": (lambda: fitted(VotedPerceptron).vectors, {}, "class_index"),
    "save": (lambda: fitted().save, {}, "dtype prune"),
    "models.save": (lambda: models.save, {"estimator": MODEL}, "estimator"),
    "load_predictor": (lambda: load_predictor, {"path": MODEL.save()}, "engine"),
    "to_onnx": (lambda: MODEL.to_onnx, {}, "exact"),
    "table": (lambda: trace(ORDERED, X, Y).table, {}, "limit"),
    "check_lecture": (lambda: check_lecture, {"path": "none.csv"}, "path tie"),
    "structured fit": (lambda: structured().fit, TWO, "X y"),
    "structured predict": (lambda: structured().fit(X, Y).predict, {"X": X}, "X"),
    "assert_parity": (lambda: assert_parity, TWO | {"estimator": ORDERED}, "batch_sizes threads"),
    "Source": (
        lambda: lambda **given: list(Perceptron(max_iter=1).fit_stream(io.Source(**given), C).classes_),
        {"batches": lambda: iter([(X, Y)])},
        "batches between advise check cut n_rows n_in_batch feature_names files again at_hand",
    ),
    "a batch": (
        lambda: lambda lengths: SequencePerceptron(max_iter=1).fit_stream([(X, Y, None, lengths)]),
        {"lengths": L},
        "lengths",
    ),
    "tagger": (lambda: TAGGER.predict, {"X": [[["a"], ["b"]]]}, "allowed forbidden"),
    "column_attributes": (lambda: column_attributes, {"tokens": [("a", "b")]}, "tokens kind window"),
    "word_attributes": (lambda: word_attributes, {"words": ["a", "b"]}, "words window"),
    "encoder": (
        lambda: lambda **given: AttributeEncoder(**given).fit([["a"], ["b"]]),
        {},
        "min_count n_columns",
    ),
    "encode": (lambda: AttributeEncoder().fit, {"tokens": [["a"]]}, "tokens"),
    "word_shape": (lambda: word_shape, {"word": "a"}, "word"),
    "chunk_scores": (
        lambda: chunk_scores,
        {"y_true": [["B-a"]], "y_pred": [["B-a"]]},
        "y_true y_pred scheme",
    ),
}
#: How a user's own functions may fail.
OF_USERS = re.compile(
    r"matmul|ufunc|multiply|operand|broadcast|inhomog|float|joint_feature|truth|argument|too large"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", METHODS)
def test_an_odd_argument_of_a_method_is_named(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, usual, names = METHODS[call]
    unnamed = []
    for name in names.split():
        for value in (*ODD, *MORE, iter([1])):
            function = make()
            learner = getattr(function, "__self__", None)
            before = vars(learner).get("_learnt") if hasattr(learner, "fit") else None
            try:
                function(**usual | {name: value})
            except (MemoryError, OSError):
                pass
            except Exception as error:
                text = str(error)
                is_named = isinstance(error, TypeError | ValueError) and re.search(
                    rf"\b{name.removesuffix('s')}s?\b", text
                )
                is_of_users = (call.startswith("structured") or callable(value)) and OF_USERS.search(text)
                is_same = before is None or vars(learner)["_learnt"] is before
                if not is_same or not (is_named or is_of_users or any(word in text for word in ABOUT_SIZE)):
                    unnamed.append((name, value, type(error), text))
    assert not unnamed


def test_labels_are_paired_by_place_and_not_by_the_index_of_a_series():
    shuffled = pd.Series(Y, index=np.roll(np.arange(12), 5))
    model = structured().fit(X, shuffled)
    np.testing.assert_array_equal(model.coef_, structured().fit(X, Y).coef_)
    assert model.score(X, shuffled) == model.score(X, Y)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("loss", "1", "loss must return a finite number of at least 0, got '1'"),
        ("loss", [1], "loss must return a finite number"),
        ("loss", 10**400, "loss must return a finite number"),
        ("loss", float("nan"), "loss must return a finite number"),
        ("joint_feature", [[1, 2], [3]], "joint_feature: setting an array element"),
        ("joint_feature", None, "joint_feature"),
        ("joint_feature", {10**400: 1.0}, "joint_feature"),
    ],
)
def test_what_a_users_function_returns_is_named(name, value, text):
    parameters = {"n_features": 3} if isinstance(value, dict) else {}
    odd = structured(**parameters, **{name: lambda *_: value})
    with pytest.raises((TypeError, ValueError), match=text):
        odd.fit(X, Y)
    assert not hasattr(odd, "coef_")


@pytest.mark.parametrize(
    "y", [[[0, [1]]] * 12, [[[1, 0], [0, 1]]] * 12, np.zeros((12, 2, 2)), [[0, 10**400]] * 12]
)
def test_labels_of_more_dimensions_are_refused(y):
    for kind in (Perceptron, MultilayerPerceptron):
        with pytest.raises(ValueError, match=r"y (must hold|has more than|holds)"):
            kind().fit(X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_an_odd_argument_of_a_reader_is_named(reader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    parquet.write_table(TABLE, "a.parquet")
    save_file({"X": X, "y": Y}, "a.safetensors")
    file, usual = READERS[reader]
    usual, unnamed = usual if file is None else usual | {"path": file}, []
    for name in inspect.signature(reader).parameters:
        for value in (*ODD, Like(), ["a", 1], [["a"]], (2, 1), "\0", "zz", iter([1])):
            try:
                found = reader(**usual | {name: value})
                if isinstance(found, io.Source):
                    next(found.batches())
            except (TypeError, ValueError) as error:
                # what a file lacks is said with its name, and so is what cannot be read from it
                is_named = name in str(error) or re.search(rf"^(the table|{file})\b", str(error))
                unnamed += [] if is_named else [(name, value, str(error))]
            except (MemoryError, OSError):
                pass
    assert not unnamed


def test_masked_numbers_are_not_taken_for_what_lies_below_the_mask():
    masked = np.ma.array([[1.0, 2, 3]], mask=[[0, 1, 0]])
    with pytest.raises(ValueError, match="coef_init is a masked array with masked values; fill them"):
        Perceptron().fit(X, Y, coef_init=masked)
    lengths = np.ma.array([6, 6], mask=[0, 1])
    with pytest.raises(ValueError, match="lengths is a masked array"):
        SequencePerceptron().fit(X, Y, lengths=lengths)


@pytest.mark.parametrize("parameters", [{"n_partitions": 2}, {"random_state": None}])
def test_every_way_of_what_has_no_batches_or_no_seed(parameters):
    assert_parity(Perceptron(max_iter=2, tol=None, **parameters), X, Y, threads=(2,))


def test_batches_of_sparse_rows_are_sparse(monkeypatch):
    """A dense row costs as much as it has columns; and a vote is made once for each matrix."""
    calls, known = [], VotedPerceptron.decision_function
    counted = lambda self, X: calls.append(X) or known(self, X)  # noqa: E731
    monkeypatch.setattr(VotedPerceptron, "decision_function", counted)
    found = list(parity.ways(VotedPerceptron(max_iter=1, tol=None), sp.csr_matrix(X), Y, batch_sizes=(7,)))
    assert [way.difference for way in found] == [None] * len(found)
    assert all("CSR" in str(way.path) for way in found if way.path.batches)
    n_fits, kinds = sum(not way.path.batches for way in found), len(VotedPerceptron._predictions)
    assert len(calls) < n_fits * (kinds + 2)


def test_stored_zeros_are_as_many_as_columns_in_use():
    """All of a wide matrix would take as long as a dense one, for each weight vector of a vote."""
    wide = sp.csr_matrix(([1.0, 2.0, 3.0], [5, 70, 70], [0, 2, 3]), shape=(2, 1000))
    (zeros,) = (X for name, X in parity._forms(wide) if name == "CSR, stored zeros")
    assert (zeros != wide).nnz == 0
    assert zeros.indices.tolist() == [0, 5, 70, 999] * 2


def test_the_constructor_of_an_estimator_is_named():
    with pytest.raises(TypeError, match=r"^StructuredPerceptron\.__init__\(\) missing 2 required"):
        StructuredPerceptron()
