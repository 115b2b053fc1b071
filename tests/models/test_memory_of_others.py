"""Nobody writes to what a model has learnt, by a pickle's buffers, a mapped file, a view or what is shown."""

import copy
import pickle

import joblib
import numpy as np
import pytest

from perceptron_rs import Perceptron, joint_margin, max_margin, proof, trace
from perceptron_rs.arrays.named import OwnArrays
from perceptron_rs.engines import get_engine
from perceptron_rs.models.comparison import digest
from perceptron_rs.registry import REGISTRY

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
TOKENS = [[["a"], ["b"]], [["b"], ["a"], ["a"]]]
TAGS = [["A", "B"], ["B", "A", "A"]]
KINDS = {
    **{name: [{}] for name in REGISTRY},
    "voted": [{"prediction": "vote"}, {"prediction": "average"}],
    "kernel": [{}, {"kernel": "rbf"}],
    "max-margin": [{}, {"kernel": "rbf"}],
}
CASES = [(name, parameters) for name, kinds in KINDS.items() for parameters in kinds]


def fitted(name, parameters):
    model = REGISTRY[name].kind(**parameters)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=3)
    if name == "sequence":
        return model.fit(TOKENS, TAGS)
    return model.fit(X, Y if name != "max-margin" else np.where(Y == 0, 0, 1))


def answers(model):
    if hasattr(model, "decode_scores"):
        return model.predict(TOKENS)
    return model.decision_function(X).tobytes()


def from_buffers(model, _):
    """Unpickle from buffers that are written to afterwards."""
    buffers = []
    data = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    own = [bytearray(buffer.raw()) for buffer in buffers]
    found = pickle.loads(data, buffers=own)
    for buffer in own:
        buffer[:] = b"\xff" * len(buffer)
    return found


def from_frozen_views(model, _):
    """Unpickle from arrays that look read-only, of memory that is written to afterwards."""
    buffers = []
    data = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    own = [bytearray(buffer.raw()) for buffer in buffers]
    found = pickle.loads(data, buffers=[memoryview(buffer).toreadonly() for buffer in own])
    for buffer in own:
        buffer[:] = b"\xff" * len(buffer)
    return found


def from_mapped(mode):
    def load(model, folder):
        file = folder / "m.joblib"
        joblib.dump(model, file)
        found = joblib.load(file, mmap_mode=mode)
        before = file.read_bytes()
        with file.open("r+b") as opened:
            opened.write(b"\xff" * len(before))
        state = found._model.state() if hasattr(found, "_model") else {}
        assert {type(array) for array in state.values()} <= {np.ndarray}
        return found

    return load


WAYS = {
    "buffers": from_buffers,
    "views": from_frozen_views,
    **{f"mapped {mode}": from_mapped(mode) for mode in ("r", "c", "r+")},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_nobody_writes_to_what_is_unpickled(name, parameters, way, tmp_path):
    model = fitted(name, parameters | ({"inseparable": "warn"} if name == "max-margin" else {}))
    expected = answers(model), digest(model)
    found = WAYS[way](model, tmp_path)
    assert (answers(found), digest(found)) == expected
    assert (answers(copy.deepcopy(found)), digest(pickle.loads(pickle.dumps(found)))) == expected


def arrays_in(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from arrays_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, OwnArrays):
        yield from arrays_in(vars(value))


def everything(model):
    """Return what a model answers, its digest, and its file where it can be saved."""
    if hasattr(model, "decode_scores"):
        found = (model.predict(TOKENS),)
    else:
        found = answers(model), model.predict(X).tobytes(), model.predict_proba(X).tobytes()
    return (*found, digest(model), model.save()) if hasattr(model, "save") else found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_what_is_written_to_arrays_that_are_shown_changes_no_answer(name, parameters, tmp_path):
    from perceptron_rs import load, load_predictor

    model = fitted(name, parameters | ({"inseparable": "warn"} if name == "max-margin" else {}))
    if name != "sequence":
        model.calibrate(X, Y if name != "max-margin" else np.minimum(Y, 1), method="sigmoid")
    model.save(tmp_path / "m")
    for each in (model, load(tmp_path / "m"), load_predictor(tmp_path / "m"), copy.deepcopy(model)):
        expected = everything(each)
        for attribute in dir(each):
            if attribute.startswith("__") or attribute == "_rule":
                continue
            value = getattr(each, attribute, None)
            for array in arrays_in(value):
                while isinstance(array, np.ndarray):  # what it is a view of, too
                    if array.flags.writeable and array.dtype.names is None:
                        array[...] = 7
                    array = array.base
            if isinstance(value, list):
                value.append(7)
        assert everything(each) == expected


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize("learner", ["perceptron", "averaged", "network", "kernel"])
def test_a_frozen_view_of_an_array_is_copied(learner, engine):
    coef = np.ones((2, 3))
    view = coef[:]
    view.flags.writeable = False
    numbers = {"intercept": np.zeros(2), "seen": np.full(2, 4)}
    sums = {"coef_u": view, "intercept_u": np.zeros(2)} if learner == "averaged" else {}
    model = get_engine(engine).Model.from_state(learner, {"coef": view} | numbers | sums)
    coef[:] = np.nan
    assert all(np.isfinite(array).all() for array in model.state().values())


def test_arrays_of_a_result_are_read_only():
    steps = trace(Perceptron(shuffle=False, max_iter=100, tol=None), X, Y > 0)
    for result in (max_margin(X, Y > 0), joint_margin(X, Y), proof(steps)):
        for each in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            arrays = list(arrays_in(each))
            assert arrays
            assert not any(array.flags.writeable for array in arrays)
