"""Labels of any type and container: none is rounded, and a missing one names its row."""

from __future__ import annotations

import enum
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    SequencePerceptron,
    VotedPerceptron,
    digest,
    load,
    targets,
)
from perceptron_rs.arrays import pieces
from perceptron_rs.io import Source, open_arrow, open_csv, open_examples
from perceptron_rs.targets.distinct import distinct, places
from perceptron_rs.targets.labels import joined_labels, label_array

BIG = 2**53
X = np.array([[1.0], [-1.0], [2.0]])

#: Each makes a column of three labels of what is given.
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda values: np.array(values, dtype=object),
    "pandas": lambda values: pd.Series(values, dtype=object),
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "nullable array": lambda values: pd.Series(values).convert_dtypes().array,
    "nullable frame": lambda values: pd.DataFrame({"y": pd.Series(values).convert_dtypes()}),
    "arrow in pandas": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "category": lambda values: pd.Series(values, dtype=object).astype("category"),
    "arrow": pa.array,
    "arrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "polars": lambda values: pl.Series(values, strict=False),
}
LABELS = {
    "integers": ([BIG, BIG + 1, BIG], "iu"),
    "booleans": ([True, False, True], "b"),
    "strings": (["a", "b", "a"], "OU"),
}


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("learner", "labels"), [*((Perceptron, kind) for kind in LABELS), (KernelPerceptron, "integers")]
)
def test_labels_keep_their_type_and_value(container, labels, learner):
    values, kinds = LABELS[labels]
    model = learner(max_iter=3).fit(X, CONTAINERS[container](values))
    assert model.classes_.dtype.kind in kinds
    assert model.classes_.tolist() == sorted(set(values))
    assert model.score(X, CONTAINERS[container](values)) == model.score(X, values)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("learner", "labels"), [*((Perceptron, kind) for kind in LABELS), (MultilayerPerceptron, "integers")]
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_a_missing_label_names_its_row(container, labels, learner):
    values = LABELS[labels][0]
    y = CONTAINERS[container]([values[0], None, values[1]])
    model = learner()
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"y contains NaN: the label in row 1 \(counted from 0\) is missing"):
        model.fit(X, y)
    assert vars(model) == before
    with pytest.raises(ValueError, match=r"row 1 \(counted from 0\) is missing"):
        model.fit_stream([(X, y)]) if hasattr(model, "fit_stream") else model.partial_fit(
            X, y, classes=values
        )


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("beside", ["a", 1, True])
def test_what_stands_for_nothing(missing, beside):
    for y in ([beside, beside, missing], np.array([beside, beside, missing], dtype=object)):
        with pytest.raises(ValueError, match=r"row 2 \(counted from 0\) is missing"):
            label_array(None, y, 3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, np.int8(2), np.uint64(BIG + 1)], [1, 2, BIG + 1]),
        ([BIG + 1, 1.0, 2], [BIG + 1, 1, 2]),
        ([Decimal(1), Decimal("2.0"), 3], [1, 2, 3]),
        ([2**63 + 5, 2**63 + 6, 1], [2**63 + 5, 2**63 + 6, 1]),
        ([1.0, 2.0, 1.0], [1.0, 2.0, 1.0]),
        ([np.True_, False, True], [True, False, True]),
    ],
)
def test_objects_that_are_numbers(values, expected):
    found = label_array(None, np.array(values, dtype=object), 3)
    assert found.dtype.kind in "iufb"
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, "a", 2], "Unknown label type: y holds objects of the type int and str"),
        ([True, 2, 0], "of the type bool and int"),
        ([date(2020, 1, 1)] * 3, "of the type date"),
        ([1, 2.5, 3], "Unknown label type: continuous: found 2.5"),
        ([2**70, 1, 2], "more than integers of 64 bits hold"),
        ([-1, 2**63, 2], "more than integers of 64 bits hold"),
        ([1, float("inf"), 2], "continuous: found inf"),
        ([{}, {}, {}], "of the type dict"),
        ([[1], [2, 3], [4]], "got lists of labels; make a matrix"),
    ],
)
def test_objects_that_are_no_labels(values, text):
    y = np.empty(3, dtype=object)
    y[:] = values
    with pytest.raises(ValueError, match=text):
        Perceptron().fit(X, y)


def test_strings_beside_numbers_are_not_made_alike():
    with pytest.raises(ValueError, match="of the type int and str"):
        label_array(None, ["1", 1, 2], 3)


@pytest.mark.parametrize("given", [[True, 0, 1], (1, 0.0, np.True_)])
def test_booleans_beside_numbers_are_not_made_alike(given):
    with pytest.raises(ValueError, match="of the type bool and "):
        Perceptron().fit(X, given)


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("are_first", [True, False])
def test_booleans_in_some_batches_and_numbers_in_others(dtype, are_first):
    """True is no 1, as in one array and in files."""
    y = [np.array([True, False, True]), np.array([0, 1, 0], dtype=dtype)]
    y = y if are_first else y[::-1]
    kinds = ["booleans", "numbers"] if are_first else ["numbers", "booleans"]
    text = f"y: some labels are {kinds[0]}, and others are {kinds[1]}; convert them to one type"
    for classes in (None, [0, 1], [False, True]):
        for size in (None, 2, 6):
            with pytest.raises(ValueError, match=text):
                Perceptron().fit_stream([(X, y[0]), (X, y[1])], classes=classes, block_size=size)
    text = "y: some labels are (booleans|numbers), and others are (booleans|numbers)"
    for learn in (Perceptron.partial_fit, Perceptron.predict_then_learn):
        model = Perceptron()
        learn(model, X, y[0], classes=[0, 1])
        before = model.coef_.tobytes()
        with pytest.raises(ValueError, match=text):
            learn(model, X, y[1])
        assert (model.coef_.tobytes(), model.classes_.dtype) == (before, y[0].dtype)
    model = Perceptron(warm_start=True).fit(X, y[0])
    with pytest.raises(ValueError, match=text):
        model.fit(X, y[1])


def test_labels_of_batches_are_not_rounded():
    parts = (
        [np.array([BIG + 1, 1]), np.array([2.0, 1.0])],
        [np.array([2**63 + 1], dtype=np.uint64), np.array([7])],
    )
    for given, expected in zip(parts, ([BIG + 1, 1, 2, 1], [2**63 + 1, 7]), strict=True):
        assert joined_labels(given).tolist() == expected
    # Where nothing is rounded, they are floats, as in one array.
    assert joined_labels([np.array([1, 2]), np.array([2.0])]).dtype == np.float64
    batches = [(X, np.array([BIG, BIG + 1, 1])), (X, np.array([1.0, 2.0, 1.0]))]
    model = AveragedPerceptron(max_iter=1, tol=None).fit_stream(batches)
    assert model.classes_.tolist() == [1, 2, BIG, BIG + 1]


LEARNERS = [
    Perceptron(),
    AveragedPerceptron(),
    VotedPerceptron(),
    KernelPerceptron(),
    BudgetedKernelPerceptron("linear"),
    MultilayerPerceptron(max_iter=1, tol=None),
    SequencePerceptron(),
]
LISTED = [
    ([1.0, 2.0, 1.0], [1, 2]),
    (np.array([1, 2, 1], dtype=np.int8), [2.0, 1.0]),
    ([True, False, True], [0, 1]),
    (np.array([BIG, BIG + 2, BIG], dtype=np.uint64), [BIG, BIG + 2]),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", LEARNERS, ids=str)
@pytest.mark.parametrize(("y", "classes"), LISTED, ids=str)
def test_the_labels_of_the_data_say_the_type_of_classes_that_are_listed(model, y, classes, tmp_path):
    y = np.asarray(y)
    calls = {"partial_fit": lambda: clone(model).partial_fit(X, y, classes=classes)}
    if hasattr(model, "fit_stream"):
        model = clone(model).set_params(max_iter=1)
        whole, nothing = (X, y), (X[:0], y[:0])
        if isinstance(model, SequencePerceptron):
            whole, nothing = (*whole, None, np.array([3])), (*nothing, None, np.array([], dtype=int))
        once = iter([nothing, whole])
        sources = {"batches": [whole], "arrays": whole, "once": Source(batches=lambda: once, n_features=1)}
        for name, source in sources.items():
            calls[name] = lambda source=source: clone(model).fit_stream(source, classes=classes)
        calls["cache"] = lambda: clone(model).fit_stream([whole], classes=classes, cache=tmp_path / "cache")
    expected = clone(model).fit(X, y).classes_
    for name, call in calls.items():
        found = call().classes_
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist()), name


def test_classes_that_the_type_of_the_labels_does_not_hold_stay_as_they_were_listed():
    y = np.array([1, 2, 1], dtype=np.int8)
    for call in (Perceptron().partial_fit, lambda X, y, classes: Perceptron().fit_stream([(X, y)], classes)):
        found = call(X, y, classes=[1, 2, 300]).classes_
        assert found.tolist() == [1, 2, 300]


@pytest.mark.parametrize("kinds", [(object, "U1"), ("U1", object)])
def test_strings_and_objects_that_are_strings_are_the_same_labels(kinds):
    y = np.array(["a", "b", "a"])
    model = Perceptron().partial_fit(X, y.astype(kinds[0]), classes=np.array(["a", "b"], dtype=kinds[1]))
    assert model.partial_fit(X, y.astype(kinds[1])).score(X, y) == 1


def test_a_label_within_a_range_that_no_class_has_is_refused_among_many():
    """Many labels are looked up in a table, where a gap is no class."""
    rows, y = np.ones((600, 1)), np.arange(600) % 2 * 2
    model = Perceptron().partial_fit(rows, y, classes=[0, 2, 4])
    y[7] = 3
    with pytest.raises(ValueError, match=r"y contains labels that are not in classes_ \[0, 2, 4\]: 3"):
        model.partial_fit(rows, y)


@pytest.mark.parametrize("classes", [[0, BIG + 1], [-BIG - 1, 0], [-BIG - 1, 0, 1], [0, 1, BIG + 1]])
def test_a_float_beside_classes_of_which_one_is_beyond_floats(classes):
    """NumPy compares it with the class as floats, which are equal."""
    rows = np.eye(len(classes))
    model = Perceptron().partial_fit(rows, classes, classes=classes)
    with pytest.raises(ValueError, match="y contains labels that are not in classes_"):
        model.partial_fit(rows, [float(label) for label in classes])


def test_an_integer_beside_classes_that_are_floats():
    model = Perceptron().partial_fit(X[:2], [0.0, float(BIG)], classes=[0.0, float(BIG)])
    model.partial_fit(X[:2], [0, BIG])
    with pytest.raises(ValueError, match="y contains labels that are not in classes_"):
        model.partial_fit(X[:2], [0, BIG + 1])


class Looked(np.ndarray):
    """Labels that note how many of them are looked at in one call."""

    def __array_finalize__(self, other):
        self.sizes = getattr(other, "sizes", [])

    def tolist(self):
        self.sizes.append(len(self))
        return super().tolist()


@pytest.mark.parametrize("dtype", ["U5", object, np.int64, np.uint64, np.float32])
def test_labels_are_looked_at_in_pieces_with_what_numpy_finds_in_all(dtype, monkeypatch):
    monkeypatch.setattr(targets.distinct, "COST", pieces.NUMBERS // 70)
    y = (np.random.default_rng(0).integers(0, 99, 700) * 1000).astype("U5").astype(dtype).view(Looked)
    classes, index = distinct(y)
    expected = np.unique(np.asarray(y), return_inverse=True)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(index, expected[1])
    found = places(y, classes[::2])
    np.testing.assert_array_equal(found, np.where(index % 2, len(classes[::2]), index // 2))
    assert classes.dtype == y.dtype
    assert y.sizes == [70] * 20


@pytest.mark.parametrize("K", [1, 2, 3, 90])
@pytest.mark.parametrize(
    ("dtype", "first"),
    [
        (np.int8, -40),
        (np.int64, 2**63 - 200),
        (np.uint64, 2**64 - 200),
        (np.float16, -40),
        (np.float64, 2**40),
    ],
)
def test_numbers_that_are_near_each_other_are_not_looked_at_one_by_one(dtype, first, K):
    index = np.random.default_rng(0).integers(0, K, 600)
    y = np.array([first + k for k in range(K)], dtype=dtype)[index].view(Looked)
    classes, found = distinct(y)
    assert y.sizes == []
    np.testing.assert_array_equal(classes, np.unique(np.asarray(y)))
    np.testing.assert_array_equal(found, index)
    assert classes.dtype == y.dtype


def test_a_label_that_ends_with_nul_is_refused():
    for container in (list, pl.Series, pa.array, pd.Series, lambda y: np.array(y, dtype=object)):
        for y in (["a\0", "a"], ["a", "a\0"]):
            with pytest.raises(ValueError, match="ends with NUL, which NumPy drops"):
                Perceptron().fit([[1], [2]], container(y))
    with pytest.raises(ValueError, match="ends with NUL"):
        SequencePerceptron().fit([[["w"], ["v"]]], [["a\0", "a"]])


def test_a_file_whose_label_ends_with_nul_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,a\0\n")
    (tmp_path / "a.ft").write_text("__label__a one\n__label__a\0 two\n")
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "a\0"]})
    for read, text in (
        (lambda: open_csv(tmp_path / "a.csv", target="y"), r"row 2: .* 'y' is 'a.x00'; leave out the NUL"),
        (lambda: open_arrow(table, target="y"), r"row 2: the label in column 'y' is 'a.x00'"),
        (lambda: open_examples(tmp_path / "a.ft"), r"the label 'a.x00' ends with NUL"),
    ):
        with pytest.raises(ValueError, match=text):
            Perceptron().fit_stream(read())


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("learner", [Perceptron, KernelPerceptron, MultilayerPerceptron])
def test_strings_have_one_digest_whatever_stores_them(learner, tmp_path):
    """A stream makes `str` of what a fit leaves as objects; predictions are the same strings."""
    names, digests = ["a", "bb", "a"], set()
    for container in (*CONTAINERS.values(), np.array, lambda y: np.array(y, np.dtypes.StringDType())):
        model = learner(max_iter=2, tol=None).fit(X, container(names))
        model.save(tmp_path / "model")
        digests |= {digest(model), digest(load(tmp_path / "model"))}
        if learner is Perceptron:
            model = learner(max_iter=2, tol=None, shuffle=False)
            digests.add(digest(model.fit_stream((X, container(names)))))
    assert len(digests) == 1
    assert digest(learner(max_iter=2, tol=None).fit(X, ["a", "b", "a"])) not in digests


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_a_class_is_no_negative_zero(dtype):
    y = np.array([-0.0, 1.0, 0.0], dtype=dtype)
    models = [Perceptron().fit(X, labels) for labels in (y, y[::-1].copy()[[2, 1, 0]], np.abs(y))]
    models += [Perceptron().partial_fit(X, y, classes=y[:2]), Perceptron(shuffle=False).fit_stream((X, y))]
    assert {model.classes_.tobytes() for model in models} == {np.array([0.0, 1.0], dtype=dtype).tobytes()}
    assert len({digest(model) for model in models[:3]}) == 1


def test_numbers_beyond_integers_are_no_labels():
    with pytest.raises(ValueError, match=r"from 1\.0 to 1e\+300 are more than integers of 64 bits hold"):
        Perceptron().fit([[1], [2]], [1e300, 1.0])


def test_keys_of_weights_and_classes_are_shown_as_they_are():
    model = Perceptron(class_weight={"False": 1, "True": 2})
    with pytest.raises(ValueError, match=r"\[False, True\], are not in class_weight, .*'False', 'True'"):
        model.fit([[1], [2]], [True, False])
    assert model.set_params(class_weight={False: 1, True: 2}).fit([[1], [2]], [True, False])


@pytest.mark.parametrize("weights", [[Decimal(1), Fraction(2)], [1, np.float16(2)]])
def test_weights_of_examples_are_numbers_of_any_kind(weights):
    found = Perceptron().fit([[1], [2]], [0, 1], sample_weight=weights)
    assert found.coef_.tolist() == Perceptron().fit([[1], [2]], [0, 1], sample_weight=[1, 2]).coef_.tolist()


class Mail(str, enum.Enum):  # noqa: UP042  whose `str` is its value
    SPAM, HAM = "spam", "ham"


@pytest.mark.parametrize("container", [list, tuple, lambda values: np.array(values, dtype=object)])
def test_members_of_an_enumeration_are_their_words(container):
    """NumPy makes the names of members of these, cut to the length of the words."""
    y = container([Mail.SPAM, Mail.HAM, Mail.HAM])
    model = Perceptron().fit([[1.0], [-1.0], [-2.0]], y)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.score([[1.0], [-1.0], [-2.0]], y) == 1
