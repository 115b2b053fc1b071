"""Does an installed package work? Needs nothing but the package; run it outside of the source tree.

``python smoke.py`` trains both learners with both engines on data made by rule, compares what they learn with
a digest that is the same on every platform, pickles them, and checks what the package must bring with it.
"""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
import sysconfig
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron, _core
from perceptron_rs.engines import ENGINES
from perceptron_rs.testing import assert_parity

LEARNERS = (Perceptron, AveragedPerceptron, VotedPerceptron, partial(PocketPerceptron, check="ratchet"))

#: SHA-256 over what is learnt and predicted below. It changes only with what the changelog marks as [bits].
DIGEST = "5b588d714f43ad548eb138ca7e29b21f1754543a15ad844bc5a3a446e30ad924"


def examples():
    """Return 120 x 9 thirds and sevenths, most of them not exact, and three classes: all by rule."""
    i, j = np.arange(120)[:, None], np.arange(9)
    X = (i * i * 7 + j * j * 13 + i * j * 5) % 31 / 3.0 - (i * 3 + j * 11) % 17 / 7.0
    return X, np.array(["ham", "spam", "eggs"])[(i[:, 0] * 5 + i[:, 0] // 7) % 3]


def digest(engine):
    """Return the digest of everything that all learners learn and predict."""
    X, y = examples()
    found = hashlib.sha256()
    for learner in LEARNERS:
        for rows in (X, sp.csr_matrix(X), X.astype(np.float32), np.round(X).astype(np.int8)):
            model = learner(engine=engine, eta0=0.1, max_iter=4, tol=None, random_state=5).fit(rows, y)
            for name in ("coef_", "intercept_", "mistakes_per_epoch_"):
                values = getattr(model, name)
                found.update(values.astype("<f8" if values.dtype == np.float64 else "<i8").tobytes())
            found.update(model.decision_function(rows).astype("<f8").tobytes())
            again = pickle.loads(pickle.dumps(model))
            assert again.coef_.tobytes() == model.coef_.tobytes()
            assert (again.predict(rows) == model.predict(rows)).all()
    return found.hexdigest()


def check_files():
    """The package has its types, its licences and a version, and is not the one in the source tree."""
    folder = Path(perceptron_rs.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()
    assert perceptron_rs.__version__ == metadata.version("perceptrons")
    files = [path.name for path in metadata.files("perceptrons") or [] if "licenses" in path.parts]
    assert {"LICENSE", "THIRD-PARTY.txt"} <= set(files), files


def check_free_threading():
    """On a free-threaded interpreter, loading the compiled module leaves it free-threaded."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        words = [sys.executable, "-W", "always", "-c", "import perceptron_rs"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert "perceptron_rs._core" not in done.stderr, done.stderr


def check_commands():
    """Each command that the package installs says how it is used."""
    for command in metadata.distribution("perceptrons").entry_points:
        if command.group == "console_scripts":
            words = [Path(sys.executable).parent / command.name, "--help"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done
            assert done.stdout.startswith("usage"), done


def main():
    """Run all checks; any failure is an exception."""
    for engine in ENGINES:
        assert digest(engine) == DIGEST, f"the {engine} engine learns other bits: {digest(engine)}"
    images, digits = load_digits(return_X_y=True)
    for learner in LEARNERS:
        assert_parity(learner(max_iter=3, tol=None), images[:150], digits[:150])
    check_files()
    check_free_threading()
    check_commands()
    print(
        f"perceptrons {perceptron_rs.__version__} works with Python {sys.version.split()[0]}, "
        f"numpy {np.__version__}: {_core.__file__}"
    )


if __name__ == "__main__":
    main()
