"""What `load_predictor` makes of a file: the bits of the estimator, of any thread, without scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import perceptron_rs
from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    VotedPerceptron,
    load,
    load_predictor,
)
from perceptron_rs.registry import REGISTRY

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # fits of few epochs

_rng = np.random.default_rng(5)
X, Y = _rng.integers(-9, 10, (24, 4)) / 4, np.arange(24) % 3
NEW = np.vstack([_rng.integers(-9, 10, (40, 4)) / 4, np.zeros((1, 4))])
SPARSE, NEW_SPARSE = sp.csr_matrix(X), sp.csr_matrix(NEW)
TEXT = np.array(["ham", "spam", "wurst"])[Y]
FEW = {"max_iter": 3}
SENTENCES = [[{"bias": True, f"w={(i * j) % 5}": 0.1 * j} for j in range(1, 4)] for i in range(6)]
TAGS = [[("a", "b")[(i + j) % 2] for j in range(1, 4)] for i in range(6)]
ASKED = [*SENTENCES, [], [{"unknown": 1.0}, {"bias", "w=1"}, ["w=1", "w=1", "w=2"]]]

#: Estimators with all ways to predict, what they learn from, and what they are asked.
KINDS = [
    *[(learner(**FEW), y, X, NEW) for learner in (Perceptron, AveragedPerceptron, PocketPerceptron)
      for y in (Y, Y > 0, TEXT)],
    *[(learner(**FEW, multi_class="joint"), y, X, NEW) for learner in (Perceptron, AveragedPerceptron)
      for y in (Y, Y > 0)],
    (Perceptron(**FEW, tie="positive"), Y > 0, X, NEW),
    (Perceptron(**FEW, penalty="elasticnet", alpha=0.01), TEXT, SPARSE, NEW_SPARSE),
    *[(VotedPerceptron(**FEW, prediction=how), y, rows, NEW)
      for how in perceptron_rs.linear.voted.VOTED_PREDICTIONS
      for y, rows in ((Y, SPARSE), (Y > 0, X.astype(np.float32)))],
    *[(KernelPerceptron(kernel, **FEW, prediction=how, multi_class=decision), y, X, NEW_SPARSE)
      for kernel, how, decision in (("rbf", "vote", "ovr"), ("poly", "average", "joint"),
                                    ("sigmoid", "random", "ovr"), ("linear", "vote", "joint"))
      for y in (Y, Y > 0)],
    (KernelPerceptron("poly", **FEW, prediction="last", normalize=True), Y, SPARSE, NEW),
    (KernelPerceptron("precomputed", **FEW), Y, X @ X.T, NEW @ X.T),
    (KernelPerceptron("precomputed", **FEW), Y, sp.csr_matrix(X @ X.T), sp.csr_matrix(NEW @ X.T)),
    *[(BudgetedKernelPerceptron(budget=5, budget_policy=policy, **FEW), Y, SPARSE, NEW)
      for policy in ("oldest", "random", "forgetron", "projectron")],
    (BudgetedKernelPerceptron(budget=5, multi_class="joint", **FEW), Y, X, NEW),
    *[(MultilayerPerceptron((3, 2), activation=how, **FEW), y, X, NEW)
      for how, y in (("relu", Y), ("tanh", Y > 0), ("logistic", TEXT))],
    (MaxMarginClassifier(inseparable="warn", max_steps=50), Y > 1, X, NEW),
    (MaxMarginClassifier(inseparable="warn", max_steps=50, kernel="rbf"), TEXT, X, NEW_SPARSE),
    (MaxMarginClassifier(inseparable="warn", max_steps=50, kernel="precomputed"), Y, X @ X.T, NEW @ X.T),
    (SequencePerceptron(**FEW), TAGS, SENTENCES, ASKED),
    (SequencePerceptron(**FEW, averaged=False, decode="beam", beam_width=1), TAGS, SENTENCES, ASKED),
    (SequencePerceptron(**FEW, hash_columns=5, transition_features=True), TAGS, SENTENCES, ASKED),
]  # fmt: skip
METHODS = ("predict", "decision_function", "predict_proba", "decode_scores")


def answers(model, asked):
    """Return all that a model says, by method; arrays as bytes."""
    found = {name: getattr(model, name)(asked) for name in METHODS if hasattr(model, name)}
    return {
        name: (value.dtype.str, value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else list(value)
        for name, value in found.items()
    }


@pytest.mark.parametrize("engine", ["rust", "reference"])
@pytest.mark.parametrize(("model", "y", "rows", "asked"), KINDS, ids=lambda value: repr(value)[:60])
def test_a_predictor_says_what_the_estimator_says(model, y, rows, asked, engine, tmp_path):
    model.fit(rows, y).save(tmp_path / "model")
    predictor = load_predictor(tmp_path / "model", engine=engine)
    assert answers(predictor, asked) == answers(load(tmp_path / "model"), asked) == answers(model, asked)
    assert answers(predictor, asked) == answers(model, asked), "a second time"
    assert answers(pickle.loads(pickle.dumps(predictor)), asked) == answers(model, asked)


def test_every_learner_is_among_them():
    kinds = {type(model) for model, *_ in KINDS}
    assert kinds == {learner.kind for learner in REGISTRY.values()}
    for learner in REGISTRY.values():
        for name in METHODS:
            assert getattr(learner.kind, name, None) is getattr(learner.predictor, name, None), "one place"


@pytest.fixture(name="predictor")
def fixture_predictor(tmp_path):
    AveragedPerceptron(max_iter=3).fit(pd.DataFrame(X, columns=list("abcd")), TEXT).save(tmp_path / "m")
    return load_predictor(tmp_path / "m")


def test_what_x_may_be(predictor):
    expected = predictor.predict(NEW)
    for given in (
        NEW.tolist(),
        tuple(map(tuple, NEW.tolist())),
        NEW.astype(object),
        np.asfortranarray(NEW),
        pd.DataFrame(NEW, columns=list("abcd")),
        NEW_SPARSE,
        sp.csc_array(NEW),
        sp.coo_matrix(NEW),
    ):
        assert predictor.predict(given).tolist() == expected.tolist(), type(given)
    assert predictor.feature_names_in_.tolist() == list("abcd")
    assert repr(predictor) == "<AveragedPerceptronPredictor: 4 features, 3 classes>"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([1, 2, 3, 4], "must have two dimensions"),
        ([[1, 2, 3]], "has 3 features, but .* is expecting 4"),
        ([[1, 2], [3]], "X has inhomogeneous rows: row 1"),
        ([], "must have two dimensions"),
        (np.zeros((0, 4)), "one example or more"),
        ([["a", "b", "c", "d"]], "must hold real numbers"),
        ([[1, 2, 3, 1j]], "Complex"),
        ([[1, 2, 3, np.nan]], "NaN"),
        ([[1, 2, 3, np.inf]], "infinity"),
        (pd.DataFrame(NEW, columns=list("dcba")), "columns of the fit in order, .*'a', 'b', 'c', 'd'"),
        ("text", "X must be 2D, examples by features, got 'text'"),
        (None, "X must be 2D, examples by features, got None"),
        (
            {"a": 1, "b": 2, "c": 3, "d": 4},
            r"examples by features, .*one example of named columns, write \[X\]",
        ),
        ({1, 2}, r"X must be 2D, examples by features, got \{1, 2\}"),
    ],
)
def test_what_x_may_not_be(predictor, given, text):
    with pytest.raises((ValueError, TypeError), match=text):
        predictor.predict(given)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"engine": "gpu"}, ValueError, "engine must be one of"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be a whole number or None, got 1.5"),
    ],
)
def test_arguments_that_are_refused(tmp_path, arguments, error, text):
    Perceptron().fit(X, Y).save(tmp_path / "m")
    with pytest.raises(error, match=text):
        load_predictor(tmp_path / "m", **arguments)
    assert load_predictor(tmp_path / "m", n_jobs=2).predict(NEW).tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tie", "never"),
        ("tie", None),
        ("multi_class", "both"),
        ("engine", 1),
        ("max_iter", 0),
        ("eta0", "much"),
        ("warm_start", 1),
        ("colour", "red"),
        ("multi_class", {"a": 1}),
    ],
)
def test_parameters_of_hostile_files(tools, folder, name, value):
    file = folder.saved(AveragedPerceptron(max_iter=3).fit(X, Y))
    document, tensors = tools.take_apart(file)
    document["parameters"][name] = value
    changed = tools.put_together(document, tensors)
    assert "cannot load" in folder.refusal(changed)
    with pytest.raises(ValueError, match=rf"cannot load .*{name}"):
        load_predictor(folder.path / "given.safetensors")


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Perceptron(multi_class="joint"), {"tie": "positive"}),
        (KernelPerceptron(multi_class="joint"), {"normalize": True}),
    ],
)
def test_parameters_that_predict_nothing_together(tools, folder, model, changes):
    document, tensors = tools.take_apart(folder.saved(model.fit(X, Y)))
    document["parameters"] |= changes
    folder.refusal(tools.put_together(document, tensors))
    with pytest.raises(ValueError, match=r"cannot load .*is not available with"):
        load_predictor(folder.path / "given.safetensors")


def test_files_that_load_refuses(tools, folder):
    """The same texts: a predictor reads a file by the same functions."""
    file = folder.saved(tools.fitted())
    document, tensors = tools.take_apart(file)
    kind, shape, numbers = tensors["coef"]
    for changed in (
        file[:-1],
        b"",
        tools.put_together(document | {"estimator": "oracle"}, tensors),
        tools.put_together(document | {"arithmetic_version": 10**6}, tensors),
        tools.put_together(document | {"classes": {"type": "int64", "values": [1, 0]}}, tensors),
        tools.put_together(document, tensors | {"coef": (kind, shape[::-1], numbers)}),
        tools.put_together(document, {name: t for name, t in tensors.items() if name != "intercept"}),
        tools.put_together(document, tensors | {"more": (kind, shape, numbers)}),
    ):
        text = folder.refusal(changed)
        with pytest.raises(ValueError, match="cannot load") as caught:
            load_predictor(folder.path / "given.safetensors")
        assert str(caught.value) == text


def test_threads_share_a_predictor(tmp_path):
    VotedPerceptron(max_iter=5, prediction="average").fit(X, Y).save(tmp_path / "m")
    predictor = load_predictor(tmp_path / "m")
    expected = [predictor.decision_function(NEW[i : i + 3]).tobytes() for i in range(30)]
    fresh, wrong = load_predictor(tmp_path / "m"), []
    start = threading.Barrier(8)

    def ask():
        start.wait()
        for _ in range(10):
            found = [fresh.decision_function(NEW[i : i + 3]).tobytes() for i in range(30)]
            if found != expected:
                wrong.append(found)

    workers = [threading.Thread(target=ask) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


_CODE = """
import sys
from perceptron_rs import load_predictor
predictor = load_predictor(sys.argv[1])
print(predictor.predict([[1, 2, 3, 4]] if sys.argv[2] == "rows" else [[["w=1"], {"w": "2", "n": 0.5}]]))
print([name for name in ("sklearn", "scipy", "joblib", "pandas") if name in sys.modules])
# The largest size of this process alone, where the system tells it.
status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: 0 kB"
print(int(status.split("VmHWM:")[1].split()[0]) / 1000)
"""


#: Of each learner the last that is no matrix of a kernel's values, and those that draw.
NEW_PROCESSES = {
    (type(model), model.get_params().get("prediction") == "random"): (model, y, rows)
    for model, y, rows, _ in KINDS
    if model.get_params().get("kernel") != "precomputed"
}


@pytest.mark.parametrize(("model", "y", "rows"), NEW_PROCESSES.values(), ids=lambda value: repr(value)[:60])
def test_a_new_process_imports_little(model, y, rows, tmp_path):
    model.fit(rows, y).save(tmp_path / "m")
    kind = "tokens" if isinstance(model, SequencePerceptron) else "rows"
    folder = str(Path(perceptron_rs.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {folder!r}){_CODE}"
    argv = [sys.executable, "-c", code, tmp_path / "m", kind]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    *_, modules, megabytes = done.stdout.splitlines()
    assert modules == "[]"
    assert float(megabytes) < 80, "with NumPy and the core alone it is 36"


#: What no first answer needs: modules that take long to import.
_SLOW = ("argparse", "concurrent.futures", "decimal", "logging", "pathlib", "random", "secrets", "tempfile")
_OF_TRAINING = (
    "audit.digests",
    "audit.record",
    "cli",
    "targets.labels",
    "targets.weights",
    "io",
    "models.exporting",
    "recipe.recipe",
    "models.training_record",
    "models.writer",
    "stream",
)
_FAMILIES = ("linear", "kernel", "sequence", "multilayer", "margins")


@pytest.mark.parametrize(
    ("model", "family", "others"),
    [
        (AveragedPerceptron(), "linear", ("features", "linear.vectors", "settings")),
        (VotedPerceptron(), "linear", ("features", "settings")),
        (KernelPerceptron(), "kernel", ("features",)),
        (MultilayerPerceptron((3,), max_iter=2, tol=None), "multilayer", ("features", "settings")),
        (MaxMarginClassifier(), "margins", ("features",)),
    ],
)
def test_a_first_answer_imports_what_it_needs(model, family, others, tmp_path):
    model.fit([[1.0], [-1.0]], [1, 0]).save(tmp_path / "m")
    code = (
        "import sys, numpy\nknown = set(sys.modules)\nfrom perceptron_rs import load_predictor\n"
        f"print(load_predictor({str(tmp_path / 'm')!r}).predict([[2.0]])[0])\n"
        "print(*sorted(set(sys.modules) - known))"
    )
    folder = str(Path(perceptron_rs.__file__).parents[1])
    argv = [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\n{code}"]
    answer, modules = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    assert answer == "1"
    own = {*_OF_TRAINING, *others, *_FAMILIES} - {family}
    assert not {*_SLOW, *(f"perceptron_rs.{name}" for name in own)} & set(modules.split())
    assert f"perceptron_rs.{family}.predictor" in modules.split()
