"""The reference is a lecture: NumPy alone, a short loop, a short path, and one place for each option."""

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs import AveragedPerceptron, reference

from .test_contract import code_of

REFERENCE = Path(reference.__file__).parent
LINEAR = REFERENCE / "linear"

ALONE = """
    import sys

    for name in ("perceptron_rs._core", "scipy", "sklearn"):
        sys.modules[name] = None  # an import of it fails

    import numpy as np

    known = set(sys.modules)  # NumPy's own, too
    from perceptron_rs import reference
    from perceptron_rs.settings import Data, Linear

    X = reference.dense_rows(np.array([[1.0, 2.0], [2.0, -1.0]]))
    zeros = reference.Model("averaged", 1, 2)
    positive, weights = np.array([1], dtype=np.uint32), np.ones((1, 2))
    settings = Linear(learner="averaged", positive=positive, class_weight=weights, eta0=1.0)
    run = reference.start(Data(X, np.array([1, 0], dtype=np.uint32)), zeros, settings)
    print(run.epoch(0).mistakes.tolist(), run.state()["coef"].tolist())
    kin = {name.partition(".")[0] for name, module in sys.modules.items() if module and name not in known}
    print(sorted(kin - sys.stdlib_module_names))
"""


def test_it_needs_numpy_and_the_standard_library_alone():
    command = [sys.executable, "-c", textwrap.dedent(ALONE)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines[0] == "[2] [[-1.0, 3.0]]"
    assert set(ast.literal_eval(lines[1])) <= {"numpy", "perceptron_rs"}, lines[1]


def entered(call):
    """Return the files of the reference in which a call enters a function."""
    files = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(REFERENCE)):
            files.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def test_the_path_of_an_averaged_fit_is_short():
    rng = np.random.default_rng(0)
    model = AveragedPerceptron(engine="reference", max_iter=3, tol=None)
    files = entered(lambda: model.fit(rng.standard_normal((20, 3)), rng.integers(0, 3, 20)))
    lines = {
        file.relative_to(REFERENCE).as_posix(): len(file.read_text("utf-8").splitlines()) for file in files
    }
    assert {"linear/perceptron.py", "linear/averaged.py", "linear/run.py", "order.py"} <= set(lines)
    assert len(lines) <= 8, lines
    assert np.sum(list(lines.values())) <= 1026, lines


SLIDES = ["linear/perceptron.py:learn", "linear/joint.py:learn_jointly", "mlp/train.py:learn"]
SLIDES += ["structured/chain.py:learn", "structured/chain.py:update", "structured/lattice.py:search"]


@pytest.mark.parametrize("name", SLIDES)
def test_a_loop_fits_on_a_slide(name):
    file, function = name.split(":")
    tree = ast.parse((REFERENCE / file).read_text("utf-8"))
    (found,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    body = found.body[1:]  # without the docstring
    assert body[-1].end_lineno - body[0].lineno < 25


#: The files of linear learners that know of an option; ``run.py`` hands it on.
OPTIONS = {
    "joint": {"run.py", "joint.py"},
    "added_feature": {"run.py"},
    "max_mistakes_per_example": {"run.py"},
    "delta": {"run.py", "noise.py"},
    "most": {"run.py", "noise.py"},
    "penalty": {"run.py", "penalty.py", "model.py"},
    "C": {"run.py", "aggressive.py"},
    "l1": {"penalty.py"},
    "check": {"pocket.py"},
    "tie": {"run.py", "pocket.py", "voted.py"},
    "margin_threshold": {"run.py"},
    "sample_weight": {"run.py", "model.py"},
    "class_weight": {"run.py"},
    "seed": {"run.py", "model.py"},
    "keep_on_interrupt": {"run.py"},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_has_one_place(option):
    files = [file for file in LINEAR.glob("*.py") if file.name != "__init__.py"]
    found = {file.name for file in files if re.search(rf"\b{option}\b", "\n".join(code_of(file)))}
    assert found == OPTIONS[option]


@pytest.mark.parametrize("word", ["threads", "block", "cache", "callback", "tol", "max_iter", "on_epoch"])
def test_what_is_not_the_algorithm_is_elsewhere(word):
    names = ("perceptron", "averaged", "pocket", "joint", "noise", "penalty", "run")
    files = [LINEAR / f"{name}.py" for name in names]
    files += [REFERENCE / "structured" / name for name in ("chain.py", "lattice.py", "prefix.py", "run.py")]
    files += [REFERENCE / "mlp" / name for name in ("train.py", "run.py")]
    for file in files:
        assert not re.search(rf"\b{word}\b", "\n".join(code_of(file))), file
