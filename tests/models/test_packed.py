"""Models of many columns: files, pickles, checkpoints hold those that have anything, and predict by them."""

import pickle
import struct
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_rs import (
    AveragedPerceptron,
    MaxMarginClassifier,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    digest,
    load,
)
from perceptron_rs.arrays.named import zeros
from perceptron_rs.distributed.weights import EpochWeights
from perceptron_rs.io import Source
from perceptron_rs.linear.predictor import PackedModel
from perceptron_rs.prediction.hyperplanes import columns_with_weights
from perceptron_rs.schema.columns import COLUMNS, Places, check_columns, packed, unpacked, within

WIDE, N, FEW = 1 << 14, 60, 40
LEARNERS = (Perceptron, AveragedPerceptron, PocketPerceptron, VotedPerceptron)


def examples(classes=3, n=N, d=WIDE, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, FEW, 0.2, "csr", random_state=seed)
    columns = np.sort(rng.choice(d, FEW, replace=False))
    X = sp.csr_matrix((X.data, columns[X.indices].astype(np.int32), X.indptr), shape=(n, d))
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def fitted(learner, classes=3, **options):
    X, y = examples(classes)
    options = {"max_iter": 3} | ({} if learner is MaxMarginClassifier else {"tol": None}) | options
    if learner is MaxMarginClassifier:
        options.pop("max_iter")
        y = np.asarray(X.sum(axis=1)).ravel() > 4
    return learner(**options).fit(X, y)


@pytest.mark.parametrize("learner", [*LEARNERS, MaxMarginClassifier])
def test_files_and_pickles_hold_columns_that_have_anything(tools, learner, tmp_path):
    model, file = fitted(learner), tmp_path / "model"
    model.save(file)
    arrays = 3 if learner in (VotedPerceptron, PocketPerceptron) else 2
    most = 8 * len(model.classes_) * arrays * FEW + 25_000  # with a log
    assert file.stat().st_size < most < 8 * WIDE
    if learner is not MaxMarginClassifier:
        assert len(pickle.dumps(model)) < most
    loaded = load(file)
    assert digest(loaded) == digest(model)
    again = tmp_path / "again"
    load(file).save(again)
    assert again.read_bytes() == file.read_bytes()
    if learner is not MaxMarginClassifier:  # its results compare as objects
        assert tools.contents(loaded) == tools.contents(model)
    assert pickle.loads(pickle.dumps(loaded)).coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_have_the_bits_of_all_columns(engine_name, learner, classes, tmp_path):
    model = fitted(learner, classes)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model").set_params(engine=engine_name)
    X, _ = examples(classes, 50, seed=1)
    # Columns that have weights and those that have none; one row, empty rows, dense rows.
    X = sp.vstack([X, examples(classes, 20)[0], sp.csr_matrix((1, WIDE))]).tocsr()
    for rows in (X, X[:1], X[-1:], X.astype(np.float32), X[:3].toarray()):
        assert loaded.decision_function(rows).tobytes() == model.decision_function(rows).tobytes()
    X.data[-1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        loaded.predict(X)
    everywhere = sp.csr_matrix(([np.nan], ([0], [WIDE - 1])), shape=(1, WIDE))
    with pytest.raises(ValueError, match="NaN"):
        loaded.predict(everywhere)


@pytest.mark.parametrize(
    ("learner", "options"),
    [*((learner, {}) for learner in LEARNERS), (Perceptron, {"penalty": "elasticnet", "alpha": 1e-3})],
)
def test_training_goes_on_with_the_same_bits(engine_name, learner, options, tmp_path):
    model = fitted(learner, engine=engine_name, warm_start=True, **options)
    (X, y), (more, answers) = examples(), examples(seed=1)
    if learner is not PocketPerceptron:
        model.partial_fit(more[:9], answers[:9])  # so that penalties are pending
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    if learner is PocketPerceptron:
        a, b = model.fit(more, answers), loaded.fit(more, answers)
    else:
        for check in (True, False):
            a, b = (each.partial_fit(more, answers, check_input=check) for each in (model, loaded))
            assert (a.n_mistakes_, a.n_iter_) == (b.n_mistakes_, b.n_iter_)
        a, b = model.fit(X, y), loaded.fit(X, y)
    assert digest(a) == digest(b)
    assert a.coef_.tobytes() == b.coef_.tobytes()


@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize(
    ("learner", "options"), [(Perceptron, {"penalty": "l1", "alpha": 1e-3}), (AveragedPerceptron, {})]
)
def test_digests_and_columns_in_use_make_no_zeros(learner, options, is_loaded, tmp_path):
    model = learner(max_iter=3, tol=None, **options).fit(*examples(N // 3, d=32 * WIDE))
    model.save(tmp_path / "model")
    model = load(tmp_path / "model") if is_loaded else model
    tracemalloc.start()
    answers = digest(model), columns_with_weights(model).tolist()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * (N // 3) * 32 * WIDE / 2
    dense = model.set_params(engine="reference")  # which makes all of them
    assert answers == (digest(dense), np.flatnonzero(dense.coef_.any(axis=0)).tolist())


def test_loading_and_predicting_make_no_zeros(tmp_path, monkeypatch):
    fitted(AveragedPerceptron).save(tmp_path / "model")
    monkeypatch.setattr(PackedModel, "whole", property(lambda _: pytest.fail("all columns were made")))
    monkeypatch.setattr(PackedModel, "_shown", lambda *_: pytest.fail("all columns were made"))
    model = load(tmp_path / "model")
    model.predict(examples()[0])
    model.save(tmp_path / "again")
    pickle.dumps(model)


@pytest.mark.parametrize("seed", range(20))
def test_a_state_comes_back_with_every_bit(seed):
    """-0.0 is something; weights of zero between others stay where they are."""
    rng = np.random.default_rng(seed)
    planes, every = rng.integers(1, 4), int(rng.integers(1, 60))
    coef = np.where(rng.random((planes, every)) < 0.1, rng.choice([-0.0, 1.5, -2.0], (planes, every)), 0.0)
    state = {
        "coef": coef,
        "coef_u": np.asfortranarray(coef[:, ::-1] * 0.0 + coef),
        "intercept": np.ones(planes),
    }
    found = packed(state)
    assert sum(array.nbytes for array in found.values()) <= sum(array.nbytes for array in state.values())
    for name, array in unpacked(found).items():
        assert array.tobytes() == state[name].tobytes()


@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("used", [0, 1, 4])
def test_a_state_is_packed_if_that_takes_half_the_numbers_at_most(planes, used):
    """For each column one number more, which says where it is; and one says how many there are."""
    few = (planes + 1) * (used + 1)
    least = -(-2 * few // planes)
    for every, is_packed in ((least, True), (least - 1, False)):
        state = {"coef": np.zeros((planes, every)), "intercept": np.ones(planes)}
        state["coef"][:, :used] = 1.0
        assert (COLUMNS in packed(state)) == is_packed


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_columns_of_stored_rows_are_kept_where_weights_cancel(tools, form, tmp_path):
    """The second mistake takes back the first: all weights are 0, and the vectors between them are not."""
    X = np.zeros((2, WIDE))
    X[:, 5] = 3.0
    model = VotedPerceptron(max_iter=1, tol=None, fit_intercept=False, shuffle=False)
    model.fit(form(X), [1, 0])
    assert not any(array.any() for name, array in model._model.state().items() if "coef" in name)
    model.save(tmp_path / "model")
    assert COLUMNS in packed(dict(model._model.state()))
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert tools.contents(again) == tools.contents(model)


def test_stored_rows_within_columns_that_are_kept():
    """By every choice of four columns."""
    dense = np.array([[0.0, 1, 0, 2], [0, 3, 0, 0]])
    indices = np.array([1, 3, 1], dtype=np.int32)
    for first, second in ((0, 1), (1, 0), (0, 3)):  # one before all that are kept, or behind
        with pytest.raises(ValueError, match="lacks columns"):
            within({"rows_indices": np.array([second])}, np.array([first, 4]))
    for kept in range(1, 16):
        columns = np.array([*(j for j in range(4) if kept >> j & 1), 4])
        if {1, 3} <= {*columns.tolist()}:
            assert within({"rows": dense}, columns)["rows"].tolist() == dense[:, columns[:-1]].tolist()
            found = within({"rows_indices": indices}, columns)["rows_indices"]
            assert columns[found].tolist() == indices.tolist()
            assert found.dtype == np.int32
            continue
        for stored in ({"rows": dense}, {"rows_indices": indices}):
            with pytest.raises(ValueError, match="the tensor columns lacks columns of the stored rows"):
                within(stored, columns)


def test_columns_may_stand_side_by_side_from_the_first():
    for columns in ([0], [5], [0, 1], [0, 1, 2, 9]):
        assert check_columns(np.array(columns)) == columns[-1]


def test_places_keep_lanes_and_order():
    columns = np.sort(np.random.default_rng(0).choice(1000, 100, replace=False))
    places = Places(np.append(columns, 1000))
    assert ((places.places - columns) % 8 == 0).all()
    for lane in range(8):
        assert (np.diff(places.places[columns % 8 == lane]) > 0).all()
    assert len(set(places.places.tolist())) == 100
    assert places.width <= 8 * max(np.bincount(columns % 8))


def integers(*values):
    return "I64", [len(values)], struct.pack(f"<{len(values)}q", *values)


@pytest.mark.parametrize("learner", LEARNERS)
def test_hostile_columns_are_refused(tools, folder, learner):
    document, tensors = tools.take_apart(folder.saved(fitted(learner)))
    columns = np.frombuffer(tensors["columns"][2], dtype="<i8").tolist()
    cases = {
        "out of order": ([columns[1], columns[0], *columns[2:]], "rise"),
        "twice": ([columns[0], *columns[:1], *columns[2:]], "rise"),
        "below 0": ([-1, *columns[1:]], "rise"),
        "beyond all": ([*columns[:-2], WIDE, WIDE], "rise"),
        "of other columns": ([*columns[:-1], WIDE + 1], "ends with"),
        "too few": (columns[1:], "does not match"),
        "none": ([], "one number or more"),
    }
    for values, pattern in cases.values():
        file = tools.put_together(document, tensors | {"columns": integers(*values)})
        assert pattern in folder.refusal(file)
    floats = ("F64", [len(columns)], np.array(columns, dtype=float).tobytes())
    assert "int64" in folder.refusal(tools.put_together(document, tensors | {"columns": floats}))
    in_rows = ("I64", [1, len(columns)], tensors["columns"][2])
    assert "must be a vector" in folder.refusal(tools.put_together(document, tensors | {"columns": in_rows}))
    left = {name: value for name, value in tensors.items() if name != "columns"}
    assert "does not match" in folder.refusal(tools.put_together(document, left))
    if learner is VotedPerceptron:
        shifted = [columns[0] + 1 if columns[0] + 1 < columns[1] else columns[0] - 1, *columns[1:]]
        file = tools.put_together(document, tensors | {"columns": integers(*shifted)})
        assert "lacks columns" in folder.refusal(file)


def test_weights_on_their_way_to_workers(engine_name):
    model = fitted(AveragedPerceptron, engine=engine_name)
    cold = {"coef": zeros((3, WIDE)), "coef_u": np.zeros((3, WIDE)), "seen": np.zeros(3, dtype=np.int64)}
    for state in (dict(model._model.state()), cold):
        sent = pickle.dumps(EpochWeights(state, 4))
        assert len(sent) < 8 * 3 * 2 * FEW + 5_000
        found = pickle.loads(sent)
        assert found.epoch == 4
        assert found.state.keys() == state.keys()
        assert all(found.state[name].tobytes() == state[name].tobytes() for name in state)


def test_columns_of_no_weights_are_refused(tools, folder):
    from perceptron_rs import KernelPerceptron

    X, y = examples(d=50)
    document, tensors = tools.take_apart(folder.saved(KernelPerceptron().fit(X, y)))
    file = tools.put_together(document, tensors | {"columns": integers(50)})
    assert "there are none" in folder.refusal(file)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, PocketPerceptron])
def test_a_file_that_claims_more_columns_than_memory_holds(tools, folder, learner):
    """It predicts: nothing is allocated for what it claims. Only its whole weights are refused."""
    model = fitted(learner)
    document, tensors = tools.take_apart(folder.saved(model))
    huge = 2**52
    document["history"]["n_features"] = huge
    columns = np.frombuffer(tensors["columns"][2], dtype="<i8").tolist()
    found = folder.loaded(tools.put_together(document, tensors | {"columns": integers(*columns[:-1], huge)}))
    X, _ = examples()
    wide = sp.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=(N, huge))
    assert found.decision_function(wide).tobytes() == model.decision_function(X).tobytes()
    with pytest.raises(MemoryError, match=f"{huge} numbers"):
        _ = found.coef_


def test_checkpoints_hold_columns_that_have_anything(engine_name, tmp_path):
    X, y = examples(n=400)
    stops = []

    def between(first, last):
        stops.append(first)
        if len(stops) == 12:  # in the second epoch
            raise RuntimeError
        return X[first:last], y[first:last]

    source = Source(batches=lambda: iter([(X, y)]), between=between, n_rows=400, n_features=WIDE)
    model, file = AveragedPerceptron(max_iter=2, tol=None, engine=engine_name), tmp_path / "checkpoint"
    options = {"block_size": 50, "shuffle": "block", "checkpoint": file, "checkpoint_every": 0}
    with pytest.raises(RuntimeError):
        model.fit_stream(source, **options)
    assert file.stat().st_size < 8 * 3 * 2 * (FEW + 10) + 20_000 < 8 * WIDE
    model.fit_stream(source, resume=True, **options)
    whole = AveragedPerceptron(max_iter=2, tol=None).fit_stream(source, block_size=50, shuffle="block")
    assert digest(model) == digest(whole)


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("scale", [1, 0])  # 0: no weight has changed
def test_what_is_pending_of_a_penalty_goes_on_to_the_last_bit(engine, penalty, scale, tmp_path):
    X, y = examples()
    model = Perceptron(penalty=penalty, alpha=0.01, engine=engine)
    model.partial_fit(X[:40] * scale, y[:40], classes=[0, 1, 2])
    model.save(tmp_path / "model")
    others = [pickle.loads(pickle.dumps(model)), load(tmp_path / "model").set_params(engine=engine)]
    assert all(isinstance(other._model, PackedModel) for other in others)
    for begin in range(40, N, 5):
        for each in (model, *others):
            each.partial_fit(X[begin : begin + 5], y[begin : begin + 5])
    assert [other.coef_.tobytes() for other in others] == [model.coef_.tobytes()] * 2
