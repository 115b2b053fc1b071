"""A fit over blocks has the bits of the fit in memory, and refuses what needs memory for each example."""

from __future__ import annotations

import tracemalloc
import zlib

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron, _core, digest
from perceptron_rs.engines import get_engine
from perceptron_rs.io import Source, open_arrays, source
from perceptron_rs.io.batches import Batch
from perceptron_rs.reference.order import below
from perceptron_rs.stream import blocks
from perceptron_rs.stream.blocks import checksum, example_arrays

rng = np.random.default_rng(3)
N = 60
WHOLE = rng.integers(-3, 4, (N, 5)).astype(np.int8)
REAL = rng.normal(size=(N, 5))
Y = np.array(["b", "a", "c"])[np.argmax(WHOLE[:, :3] + rng.normal(size=(N, 3)), axis=1)]
TWO = np.where(WHOLE[:, 0] + rng.normal(size=N) > 0, 1, 0)
WEIGHT = rng.integers(0, 3, N) / 4.0
WEIGHT[8:24] = 0  # whole blocks weigh nothing

SHORT = {"max_iter": 6, "shuffle": False, "n_iter_no_change": 2}
LEARNERS = [
    Perceptron(**SHORT),
    Perceptron(**SHORT, penalty="l1", alpha=1e-2),
    Perceptron(**SHORT, penalty="l2", alpha=1e-3),  # shrinks all weights by one factor
    Perceptron(**SHORT, penalty="elasticnet", alpha=0.1, multi_class="joint"),
    AveragedPerceptron(**SHORT, margin_threshold=0.5, tie="positive"),
    AveragedPerceptron(**SHORT, multi_class="joint", joint_update="proportional", class_weight={"a": 3}),
    AveragedPerceptron(**SHORT, class_weight="balanced"),
    AveragedPerceptron(**SHORT, class_weight={"a": 0.0}, fit_intercept=False),
    Perceptron(**SHORT, step="pa1", C=0.1),  # classes end by their loss
    AveragedPerceptron(**SHORT, step="pa2", multi_class="joint"),
    VotedPerceptron(**SHORT),
    VotedPerceptron(**SHORT, max_vectors=4, prediction="random"),
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def batches_of(*arrays, size):
    """Return batches that can be iterated over more than once."""

    class Batches:
        def __iter__(self):
            for first in range(0, N, size):
                yield tuple(array[first : first + size] for array in arrays)

    return Batches()


def malformed(form):
    X = sp.csr_matrix(REAL).asformat(form)
    for name in ("indices", "row"):
        if hasattr(X, name):
            setattr(X, name, getattr(X, name) + 10**7)
    return X


def story(model):
    return (
        digest(model),
        model.n_iter_,
        model.converged_,
        model.mistakes_per_epoch_.tolist(),
        model.n_iter_per_class_.tolist(),
        model.n_mistakes_,
        model.loss_curve_,
    )


@pytest.mark.parametrize(
    ("engine", "size"), [*(("rust", size) for size in (1, 8, N, 100)), ("reference", 13)]
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_blocks_change_no_bit(learner, size, engine):
    model = clone(learner).set_params(engine=engine)
    for X, weight in ((WHOLE, None), (REAL, WEIGHT)):
        expected = clone(model).fit(X, Y, sample_weight=weight)
        found = clone(model).fit_stream((X, Y, weight), block_size=size)
        assert story(found) == story(expected)
        assert vars(found).keys() - {"_calls"} == vars(expected).keys() - {"_calls"}


@pytest.mark.parametrize(
    "give", [sp.csr_matrix, np.asarray, lambda X: X.tolist(), lambda X: X.astype(object)]
)
def test_the_form_of_the_batches_changes_no_bit(give, are_few):
    expected = AveragedPerceptron(**SHORT).fit(WHOLE, TWO)
    for size in (1, 7, N):
        source = batches_of(WHOLE, TWO, size=size)
        given = Source(batches=lambda source=source: ((give(X), y) for X, y in source))
        found = AveragedPerceptron(**SHORT).fit_stream(given, block_size=16)
        assert story(found) == story(expected)


@pytest.mark.parametrize("options", [{}, {"block_size": 4}, {"block_size": 25}, {"cache": "cache"}])
@pytest.mark.parametrize("form", ["dense", "big-endian", "csr", "list"])
@pytest.mark.parametrize("learner", [AveragedPerceptron(**SHORT), VotedPerceptron(**SHORT)])
def test_a_source_may_fill_the_same_arrays_for_each_batch(learner, form, options, are_few, tmp_path):
    X, y, weight = np.empty((10, 5)), np.empty(10, dtype=Y.dtype), np.empty(10)
    X = {"dense": X, "big-endian": X.astype(">f8"), "csr": sp.csr_matrix(np.ones((10, 5))), "list": []}[form]
    values = X.data.reshape(10, 5) if form == "csr" else X

    def batches():
        for first in range(0, N, 10):
            rows = slice(first, first + 10)
            values[:], y[:], weight[:] = REAL[rows].tolist(), Y[rows], WEIGHT[rows] + 0.5
            yield X, y, weight
            values[:], y[:], weight[:] = [[9.0] * 5] * 10, "b", 7

    def between(first, last):
        for part, array in zip(parts, (REAL, Y, WEIGHT + 0.5), strict=True):
            part[: last - first] = array[first:last]
        return tuple(part[: last - first] for part in parts)

    parts = np.empty((N, 5)), np.empty(N, dtype=Y.dtype), np.empty(N)
    options = {name: tmp_path / value if name == "cache" else value for name, value in options.items()}
    expected = story(clone(learner).fit(REAL, Y, sample_weight=WEIGHT + 0.5))
    assert story(clone(learner).fit_stream(Source(batches=batches), **options)) == expected
    source = Source(batches=batches, between=between, n_rows=N, name="by place")
    options |= {"cache": tmp_path / "of places"} if "cache" in options else {}
    assert story(clone(learner).fit_stream(source, **options)) == expected


@pytest.mark.parametrize("size", [7, 30, 100])
@pytest.mark.parametrize("weighted", [0, 1])
def test_batches_without_weights_weigh_1_whatever_the_blocks(weighted, size, are_few):
    """JSON lines have weights where somebody wrote them."""
    halves = [slice(0, 30), slice(30, N)]
    weights, parts = np.ones(N), [(REAL[half], TWO[half]) for half in halves]
    weights[halves[weighted]] = WEIGHT[halves[weighted]]
    parts[weighted] = (*parts[weighted], WEIGHT[halves[weighted]])
    found = AveragedPerceptron(**SHORT).fit_stream(Source(batches=lambda: iter(parts)), block_size=size)
    assert story(found) == story(AveragedPerceptron(**SHORT).fit(REAL, TWO, sample_weight=weights))


def test_labels_of_later_blocks_are_found():
    X, y = np.eye(4), np.array(["a", "a", "a", "longer"])
    model = Perceptron(**SHORT).fit_stream((X, y), block_size=1)
    assert model.classes_.tolist() == ["a", "longer"]
    assert digest(model) == digest(Perceptron(**SHORT).fit(X, y))


def test_warm_start_goes_on():
    warm = {**SHORT, "warm_start": True, "max_iter": 2, "tol": None}
    expected = AveragedPerceptron(**warm).fit(REAL, Y).fit(WHOLE, Y)
    found = (
        AveragedPerceptron(**warm).fit_stream((REAL, Y), block_size=9).fit_stream((WHOLE, Y), block_size=7)
    )
    assert story(found) == story(expected)
    with pytest.raises(ValueError, match="5 features"):
        found.fit_stream((REAL[:, :4], Y))
    with pytest.raises(ValueError, match="warm_start=True is not available"):
        VotedPerceptron(warm_start=True).fit_stream((REAL, Y))


@pytest.mark.parametrize("options", [{}, {"shuffle": "block"}])
def test_one_run_goes_on_from_block_to_block(options, monkeypatch):
    begun, start = [], _core.start
    monkeypatch.setattr(_core, "start", lambda *given: begun.append(given) or start(*given))
    model = AveragedPerceptron(max_iter=3, tol=None).fit_stream((REAL, Y), block_size=10, **options)
    assert (len(begun), model.n_iter_) == (1, 3)


@pytest.mark.parametrize("joint", ["ovr", "joint"])
def test_a_block_takes_no_memory_for_each_example_and_class(joint):
    n, K = 4000, 200
    X, y = np.ones((n, 2), dtype=np.int8), np.arange(n) % K
    model = Perceptron(max_iter=2, tol=None, multi_class=joint)
    tracemalloc.start()
    try:
        model.fit_stream((X, y))
        assert tracemalloc.get_traced_memory()[1] < n * K
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_shuffled_blocks_are_visited_by_rule_7(weight, engine_name):
    size, seed, engine = 8, 5, get_engine(engine_name)
    model = Perceptron(max_iter=3, tol=None, random_state=seed, engine=engine_name)
    model.fit_stream((REAL, TWO, weight), shuffle="block", block_size=size)
    by_hand = Perceptron(engine=engine_name)
    kept = np.arange(N) if weight is None else np.flatnonzero(weight)
    for epoch in range(3):
        for block in engine.permutation(8, seed=seed, epoch=epoch, partition=0).tolist():
            rows = kept[(kept >= block * size) & (kept < (block + 1) * size)]
            own = below(2**64, seed=seed, epoch=2**64 - 2, partition=block)
            rows = rows[engine.permutation(len(rows), seed=own, epoch=epoch, partition=0)]
            if len(rows):
                weights = None if weight is None else weight[rows]
                by_hand.partial_fit(REAL[rows], TWO[rows], classes=[0, 1], sample_weight=weights)
    assert model.coef_.tobytes() == by_hand.coef_.tobytes()


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_shuffled_losses_are_added_in_the_order_of_the_visits(weight):
    """Those of examples that weigh nothing are not among them, and are not counted."""
    told = []
    model = Perceptron(max_iter=2, tol=None, random_state=1, callback=lambda record: told.append(record.loss))
    model.fit_stream((REAL, TWO, weight), shuffle="block", block_size=N)
    own = below(2**64, seed=1, epoch=2**64 - 2, partition=0)
    kept = np.arange(N) if weight is None else np.flatnonzero(weight)
    expected = []
    engine, by_hand = get_engine("rust"), Perceptron()
    for epoch in range(2):
        total = 0.0
        for i in kept[engine.permutation(len(kept), seed=own, epoch=epoch, partition=0)].tolist():
            a = 0.0 if not hasattr(by_hand, "coef_") else float(by_hand.decision_function(REAL[i : i + 1])[0])
            total += max(0.0, -a if TWO[i] else a)
            weights = None if weight is None else weight[i : i + 1]
            by_hand.partial_fit(REAL[i : i + 1], TWO[i : i + 1], classes=[0, 1], sample_weight=weights)
        expected.append(total / len(kept))
    assert told == expected


def test_callbacks_and_verbose_are_told_what_fit_tells(capsys):
    def told(fit):
        found = []

        def callback(record):
            found.append((record.epoch, record.mistakes, record.loss, record.n_examples))
            return len(found) == 3

        fit(AveragedPerceptron(**SHORT, callback=callback, verbose=1))
        printed = [line.rsplit(",", 1)[0] for line in capsys.readouterr().out.splitlines()]
        return found, printed

    expected = told(lambda model: model.fit(REAL, Y, sample_weight=WEIGHT))
    assert told(lambda model: model.fit_stream((REAL, Y, WEIGHT), block_size=7)) == expected


def test_ctrl_c_keeps_what_was_learnt_if_asked():
    def source():
        yield REAL[:20], TWO[:20]
        yield REAL[20:40], TWO[20:40]
        raise KeyboardInterrupt

    options = {"classes": [0, 1], "block_size": 20}
    with pytest.warns(ConvergenceWarning, match="ctrl-c"):
        model = Perceptron(keep_on_interrupt=True).fit_stream(Source(batches=source, n_features=5), **options)
    assert model.coef_.tobytes() == Perceptron().partial_fit(REAL[:40], TWO[:40], [0, 1]).coef_.tobytes()
    with pytest.raises(KeyboardInterrupt):
        Perceptron().fit_stream(Source(batches=source, n_features=5), **options)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"early_stopping": True}, "early_stopping=True is not available with fit_stream"),
        ({"track_mistakes": True}, "set track_mistakes=False"),
        ({"added_feature": 1.0}, "added_feature=1.0"),
        ({"max_mistakes_per_example": 2}, "set max_mistakes_per_example=None"),
        ({"n_partitions": 2}, "n_partitions=2 is not available with fit_stream: a stream is read from its"),
    ],
)
def test_what_needs_all_examples_is_refused(parameters, text):
    model = AveragedPerceptron(**parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=text):
        model.fit_stream((REAL, TWO))
    assert vars(model) == before
    assert not hasattr(PocketPerceptron(), "fit_stream")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"shuffle": True}, ValueError, 'shuffle must be "block" or False'),
        ({"block_size": 0}, ValueError, "block_size must be a whole number"),
        ({"block_size": True}, ValueError, "block_size must be a whole number"),
        ({"checkpoint_every": -1}, ValueError, "checkpoint_every must be"),
        ({"checkpoint_every": -(10**400)}, ValueError, "checkpoint_every must be"),
        ({"resume": True}, ValueError, "resume=True needs checkpoint,"),
        ({"classes": [0]}, ValueError, "greater than one"),
        ({"classes": [0, 2]}, ValueError, "not in classes_ .*; name all in classes, or set warm_start=False"),
        ({"cache": 3}, TypeError, "cache must be a str"),
    ],
)
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        Perceptron().fit_stream((REAL, TWO), **options)


@pytest.mark.parametrize(
    ("batches", "error", "text"),
    [
        ([], ValueError, "contains no examples"),
        ([(REAL, TWO[:5])], ValueError, "X has 60 rows, but y has 5"),
        ([(REAL, TWO), (REAL[:, :2], TWO)], ValueError, r"as many columns in each batch, got \[2, 5\]"),
        ([(REAL, TWO), (sp.csr_matrix(REAL), TWO)], ValueError, "dense in all batches"),
        ([(REAL, TWO, WEIGHT - 1)], ValueError, "finite and >= 0, got -1"),
        ([(REAL, TWO, np.where(TWO, np.inf, 1.0))], ValueError, "finite and >= 0, got inf"),
        ([(REAL, TWO, 0 * WEIGHT)], ValueError, "nothing to learn"),
        ([(REAL, TWO, WEIGHT[:4])], ValueError, "a weight for each of 60 examples"),
        ([REAL], TypeError, "must be a tuple"),
        ([()], TypeError, r"must be a tuple \(X, y\).*, got \(\)"),
        ([(REAL[np.newaxis], TWO)], ValueError, "X: Found array with dim 3"),
        ([(REAL, np.zeros(N))], ValueError, "greater than one"),
        ([(REAL, None)], ValueError, "y must hold class labels, got None"),
        ([(REAL, TWO, WEIGHT, [30, 30])], ValueError, "lengths are for a SequencePerceptron"),
        ([(REAL, TWO), (REAL, TWO.astype(str))], ValueError, "are numbers, and others are text"),
        ([(REAL, TWO, WEIGHT.astype(str))], TypeError, "sample_weight must hold real numbers"),
        ([(REAL, TWO, np.ma.MaskedArray(WEIGHT, TWO == 1))], ValueError, "sample_weight is a masked array"),
        (
            [(REAL, TWO), (np.where(np.eye(N, 5, -9) > 0, np.nan, REAL), TWO)],
            ValueError,
            rf"contains NaN in row {N + 9} \(counted from 0\), column 0",
        ),
        ([(REAL * 1e300, TWO)], ValueError, "in epoch 0"),
    ],
)
def test_bad_batches(batches, error, text):
    model = Perceptron()
    with pytest.raises(error, match=text):
        model.fit_stream(Source(batches=lambda: iter(batches)), block_size=100)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("size", [7, 100])
@pytest.mark.parametrize("in_batches", [False, True])
@pytest.mark.parametrize("name", ["objects", "frame", "nullable", "strings"])
def test_the_types_that_fit_takes(name, in_batches, size, tmp_path):
    X, y = REAL, TWO
    if name == "objects":
        X = WHOLE.astype(object)
    elif name == "frame":
        X = pd.DataFrame({"a": REAL[:, 0], "b": REAL[:, 1] > 0, "c": WHOLE[:, 2]})
    elif name == "nullable":
        y = pd.Series(TWO, dtype="Int64")
    elif hasattr(getattr(np, "dtypes", None), "StringDType"):  # of NumPy 2
        y = np.array(Y.tolist(), dtype=np.dtypes.StringDType())
    short = Perceptron(**SHORT, tol=None)
    expected = clone(short).fit(X, y)
    parts = [(X[first : first + 25], y[first : first + 25]) for first in range(0, N, 25)]
    for cache in (None, tmp_path / "cache"):
        given = parts if in_batches else (X, y)
        found = clone(short).fit_stream(given, block_size=size, cache=cache)
        assert found.coef_.tobytes() == expected.coef_.tobytes()
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert (name == "frame" and not in_batches) == hasattr(found, "feature_names_in_")
    expected.save(tmp_path / "model")


@pytest.mark.parametrize(
    ("arrays", "error", "text"),
    [
        ((REAL, None), ValueError, "y must hold class labels, got None"),
        ((REAL, np.ma.MaskedArray(TWO, TWO == 1)), ValueError, "y is a masked array"),
        ((np.ma.MaskedArray(REAL, REAL > 2), TWO), ValueError, "X is a masked array"),
        ((REAL, TWO, 2.0), ValueError, "60 rows, but sample_weight has no entries"),
        ((REAL[:, :0], TWO), ValueError, "X must have at least one feature"),
        ((REAL[:0], TWO[:0]), ValueError, "contains no examples"),
        ((malformed("csc"), TWO), ValueError, r"ind(ices|ex values) must be < 60"),
        ((malformed("coo"), TWO), ValueError, "malformed COO matrix"),
    ],
)
def test_bad_arrays(arrays, error, text):
    with pytest.raises(error, match=text):
        Perceptron().fit_stream(arrays, classes=[0, 1])


def test_many_classes_of_many_examples_raise_no_warning():
    X = np.tile(WHOLE, (20, 1))
    Perceptron(**SHORT, tol=None).fit_stream((X, np.arange(len(X)) % 30))  # a warning would be an error here
    with pytest.warns(UserWarning, match="number of unique classes"):
        Perceptron(**SHORT, tol=None).fit_stream((WHOLE, np.arange(N)))


def test_dense_columns_are_counted_from_0(tmp_path):
    expected = Perceptron(**SHORT).fit(REAL, TWO)
    for cache in (None, tmp_path / "cache"):
        source = Source(batches=lambda: iter([(REAL, TWO)]), is_shifted=None)
        assert story(Perceptron(**SHORT).fit_stream(source, cache=cache)) == story(expected)


def test_mapped_columns_have_no_names_and_are_counted_from_0():
    frame = pd.DataFrame(REAL, columns=list("abcde"))
    found = Perceptron(**SHORT).fit_stream(open_arrays(frame, TWO).mapped(twice, 10))
    assert story(found) == story(Perceptron(**SHORT).fit(np.hstack([REAL, REAL]), TWO))
    assert not hasattr(found, "feature_names_in_")
    X = sp.csr_matrix(REAL)
    X[:, 0] = 0
    X.eliminate_zeros()
    source = Source(batches=lambda: iter([(X, TWO)]), is_shifted=None).mapped(lambda batch: batch, 5)
    assert story(Perceptron(**SHORT).fit_stream(source)) == story(Perceptron(**SHORT).fit(X, TWO))


def twice(batch):
    return batch._replace(X=np.hstack([batch.X, batch.X]))


def test_no_source():
    with pytest.raises(TypeError, match="open_svmlight"):
        Perceptron().fit_stream(3)


def test_an_iterator_is_read_once():
    once = iter(batches_of(REAL, TWO, size=10))
    lacking = r"max_iter=1, classes, n_features of a perceptron_rs\.io\.Source$"
    with pytest.raises(
        ValueError, match=f"read only once.* cache='FILE', or make it one pass, with {lacking}"
    ):
        Perceptron().fit_stream(once)
    assert next(once)  # it is said before anything is read
    once = Source(batches=lambda: iter(batches_of(REAL, TWO, size=10)), n_features=5, again=False)
    model = Perceptron(max_iter=1, tol=None).fit_stream(once, classes=[0, 1])
    assert model.coef_.tobytes() == Perceptron().partial_fit(REAL, TWO, [0, 1]).coef_.tobytes()
    with pytest.raises(ValueError, match="read only once"):
        Perceptron(max_iter=2).fit_stream(once, classes=[0, 1])


@pytest.mark.parametrize("what", ["X", "y", "sample_weight"])
def test_passes_that_differ_are_refused(what, are_few):
    """The first two, of a few examples, which are then kept."""
    passes, wrong = [], 2 if are_few else 3

    def batches():
        passes.append(1)
        batch = {"X": REAL.copy(), "y": TWO.copy(), "sample_weight": np.ones(N)}
        if len(passes) == wrong:
            batch[what][17] = 1 - batch[what][17]
        yield tuple(part[:5] for part in batch.values())
        yield tuple(part[5:] for part in batch.values())

    where = r"batch 1 \(from 5 on\)" if are_few else r"block 1 \(from 10 on\)"
    with pytest.raises(ValueError, match=f"gave other examples in {where}, in pass {wrong}"):
        Perceptron(max_iter=5).fit_stream(Source(batches=batches), block_size=10)


@pytest.mark.parametrize("more", [-1, 1])
def test_passes_of_other_lengths_are_refused(more, are_few):
    passes = []

    def batches():
        passes.append(1)
        for first in range(0, 20 + 10 * more * len(passes), 10):
            yield REAL[first : first + 10], TWO[first : first + 10]

    with pytest.raises(ValueError, match="gave"):
        Perceptron(max_iter=5).fit_stream(Source(batches=batches), block_size=10)


def test_few_examples_are_read_twice_and_kept(are_few):
    """And those whose classes and columns are said are learnt from while they are read."""
    passes, parts = [], batches_of(REAL, TWO, size=7)

    def batches():
        passes.append(1)
        yield from parts

    expected = Perceptron(max_iter=3, shuffle=False, tol=None).fit(REAL, TWO)
    for n_features, n_passes in ((None, 2 if are_few else 4), (5, 3)):
        passes.clear()
        n_rows = None if n_features is None else N
        source = Source(batches=batches, n_features=n_features, n_rows=n_rows)
        classes = None if n_features is None else [0, 1]
        assert story(clone(expected).fit_stream(source, classes)) == story(expected)
        assert len(passes) == n_passes


def test_batches_of_other_widths_in_other_blocks_are_refused():
    batches = [(REAL, TWO), (REAL[:, :2], TWO)]
    with pytest.raises(ValueError, match=r"as many columns in each batch, got \[2, 5\]"):
        Perceptron().fit_stream(Source(batches=lambda: iter(batches)), block_size=N)


def test_a_source_of_which_any_block_can_be_had_is_counted():
    with pytest.raises(ValueError, match="n_rows must be given with between"):
        Source(batches=lambda: iter([(REAL, TWO)]), between=lambda a, b: (REAL[a:b], TWO[a:b]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_checksum_is_of_all_that_a_batch_holds(form):
    X, y, weights, lengths = form(REAL[:9]), TWO[:9], WEIGHT[:9], np.array([4, 5])
    arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    expected = zlib.crc32(b"".join(array.tobytes() for array in (*arrays, y, weights, lengths)))
    assert checksum(example_arrays(Batch(X, y, weights, lengths))) == expected


NAMES = ["a", "b", "c", "d", "e"]
SWAPPED = ["b", "a", "c", "d", "e"]


def frames(*orders):
    """Data frames whose columns come in these orders."""
    parts = zip(np.array_split(REAL, len(orders)), np.array_split(TWO, len(orders)), orders, strict=True)
    batches = [(pd.DataFrame(X, columns=NAMES)[order], y) for X, y, order in parts]
    return Source(batches=lambda: iter(batches))


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (SWAPPED, "X has 'b' as column 0, and not 'a' as in the first batch"),
        (NAMES[:-1], "X has 4 columns, and not 5 as in the first batch"),
    ],
)
def test_data_frames_with_other_columns_are_refused(columns, text, cache, engine_name, tmp_path):
    options = {"cache": tmp_path / "cache"} if cache else {}
    with pytest.raises(ValueError, match=text):
        Perceptron(engine=engine_name).fit_stream(frames(NAMES, columns), **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("learner", [Perceptron, VotedPerceptron])
def test_balanced_weights_count_what_weighs_something(learner, engine_name):
    """A class without an example has the weight 1, which none has."""
    weights = np.ones(len(TWO))
    weights[np.flatnonzero(TWO == 1)[2:]] = 0.0
    counts = np.bincount(TWO, weights).astype(int)
    by_hand = {k: counts.sum() / (3 * counts[k]) for k in range(2)}
    found = [
        learner(class_weight=given, engine=engine_name, **SHORT).fit_stream(
            (REAL, TWO, weights), classes=[0, 1, 2], block_size=7
        )
        for given in ("balanced", by_hand)
    ]
    assert found[0].coef_.tobytes() == found[1].coef_.tobytes()


def test_names_of_columns_are_those_of_fit_and_a_fit_that_goes_on_has_the_same():
    frame, learner = pd.DataFrame(REAL, columns=NAMES), AveragedPerceptron(**SHORT, warm_start=True)
    model = clone(learner).fit_stream((frame, TWO))
    expected = clone(learner).fit(frame, TWO).feature_names_in_
    assert (model.feature_names_in_.dtype, model.feature_names_in_.tolist()) == (expected.dtype, NAMES)
    model.fit_stream((frame, TWO)).fit_stream((REAL, TWO))
    text = r"goes on from, in their order, but the names are \['b', 'a', .*, and not \['a', 'b', .*warm_start"
    with pytest.raises(ValueError, match=text):
        model.fit_stream((frame[SWAPPED], TWO))
    assert model.feature_names_in_.tolist() == NAMES
    clone(learner).fit(REAL, TWO).fit_stream((frame[SWAPPED], TWO))


def test_labels_in_memory_are_looked_at_as_a_whole(monkeypatch, tmp_path):
    """But for checksums of blocks: to look at each of many takes longer than to learn from it."""
    X, y, looks = np.eye(8), np.arange(8) % 2, []
    survey = blocks.survey_labels
    monkeypatch.setattr(blocks, "survey_labels", lambda *given: looks.append(len(given[0])) or survey(*given))
    models = [
        Perceptron(max_iter=3, tol=None).fit_stream((X, y), block_size=3, **options)
        for options in ({}, {"checkpoint": tmp_path / "run"})
    ]
    assert looks == [8, 3, 3, 2]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_examples_in_memory_are_looked_at_as_a_whole(form, monkeypatch):
    """Each block is a part of them, of which no matrix of SciPy is made: that takes longer."""
    X, y, looks, made = form(np.eye(8)), np.arange(8) % 2, [], []
    look, make = blocks.array_batch, source._csr_as_it_is
    monkeypatch.setattr(blocks, "array_batch", lambda given: looks.append(1) or look(given))
    monkeypatch.setattr(source, "_csr_as_it_is", lambda *given: made.append(1) or make(*given))
    Perceptron(max_iter=3, tol=None).fit_stream((X, y), block_size=3)
    assert (looks, made) == ([1], [])
    assert isinstance(next(open_arrays(X, y).batches()).X, type(X))  # who reads the source has what was given
    assert all(isinstance(part().X, type(X)) for part in open_arrays(X, y).cut(2))
