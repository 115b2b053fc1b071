"""``format.safetensors`` was written by ``model().save``: what a file holds changes with its number alone.

If the first test fails, raise ``FORMAT_VERSION``, and write the file anew:
``python -c "from tests.models.test_format import FILE, model; model().save(FILE)"``.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from perceptron_rs import AveragedPerceptron, load
from perceptron_rs.audit import RECORD
from perceptron_rs.audit.record import calls_of

FILE = Path(__file__).parent / "format.safetensors"


def model():
    values = np.arange(24).reshape(8, 3) % 5 - 2
    X = pd.DataFrame(values, columns=["free", "ü", "hello"])
    y = np.array(["ham", "spam", "eggs", "ham"] * 2)
    learner = AveragedPerceptron(
        shuffle=False, tol=None, max_iter=4, eta0=0.5, class_weight={"ham": 2.0}, track_mistakes=True
    )
    return learner.fit(X, y)


def test_a_file_is_what_it_was(tools, folder):
    """What is written now differs from the kept file by the versions of package and arithmetic at most."""
    old, new = tools.take_apart(FILE.read_bytes()), tools.take_apart(folder.saved(model()))
    for document, _ in (old, new):
        for name in ("written_by", "sha256"):
            del document[name]
    # A parameter that was added later is in new files alone.
    for later, earlier in ((new[0], old[0]), (new[0]["calls"][0], old[0]["calls"][0])):
        later["parameters"] = {name: later["parameters"][name] for name in earlier["parameters"]}
        later["arithmetic_version"] = earlier["arithmetic_version"]
    assert new == old


def test_a_file_that_was_kept_is_read(tools):
    expected, found = model(), load(FILE)
    (call,), (kept,) = calls_of(expected), calls_of(found)
    parameters = {name: call.parameters[name] for name in kept.parameters}
    setattr(expected, RECORD, (replace(call, parameters=parameters, arithmetic=kept.arithmetic),))
    assert tools.contents(found) == tools.contents(expected)
