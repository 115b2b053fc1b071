"""The table of learners and features in the documentation is current; assert_parity is for whom it says."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

from perceptron_rs.testing import assert_parity

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the documentation is not here")
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "features.py"))


def test_the_table_is_current():
    assert SCRIPT["TABLE"].read_text(encoding="utf-8") == SCRIPT["text"](), (
        "run python scripts/features.py, and look at what has changed"
    )


@pytest.mark.parametrize("name", SCRIPT["ORDER"])
def test_every_classifier_is_compared_and_others_are_refused(name):
    X = np.array([[0, 1], [1, 0], [1, 1], [6, 7], [7, 6], [9, 9]]) / 8  # whole numbers have more ways
    y = np.array([0, 0, 0, 1, 1, 1])
    model = SCRIPT["made"](name)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=2)
    if name in ("SequencePerceptron", "StructuredPerceptron"):
        with pytest.raises(TypeError, match=f"must be a classifier of this package, .* got {name}"):
            assert_parity(model, X, y)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_parity(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(AssertionError, match="differ in"):
            assert_parity(_wrong(type(model))(**model.get_params()), X, y)


def _wrong(kind):
    """Return the class with one thing about a fit that depends on the engine."""

    class Wrong(kind):
        def fit(self, X, y, **more):
            super().fit(X, y, **more)
            self.other_ = np.array([self.engine == "rust"])
            return self

    return Wrong
