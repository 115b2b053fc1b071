"""Files of every format version that was released are read for ever: one of each is kept here.

``version_1.safetensors`` to ``version_5.safetensors`` were written by ``model().save``. They are never
written anew: a change of what a file holds raises ``FORMAT_VERSION``, and a file of the new version joins
these. Version 2 is the first in which reports always have an axis for the classes; files of version 1 that
show the difference are those of ``VERSION_1``. Version 3 is the first with a record of the training.
Version 4 calls some parameters ``joint_update``, ``margin_threshold`` and ``max_steps``. Version 5 is the
first with ``loss_curve_`` of learners that make mistakes.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    load,
)
from perceptron_rs.audit.record import RECORD
from perceptron_rs.models import describe
from perceptron_rs.models.container import FORMAT_VERSION

FOLDER = Path(__file__).parent
#: Their bits are those of today: what has changed since version 1 concerns other learners.
pytestmark = pytest.mark.filterwarnings("ignore:.*learnt by version 1 of the arithmetic:UserWarning")


def model():
    values = np.arange(24).reshape(8, 3) % 5 - 2
    X = pd.DataFrame(values, columns=["free", "\u00fc", "hello"])
    y = np.array(["ham", "spam", "eggs", "ham"] * 2)
    learner = AveragedPerceptron(
        shuffle=False, tol=None, max_iter=4, eta0=0.5, class_weight={"ham": 2.0}, track_mistakes=True
    )
    return learner.fit(X, y)


@pytest.mark.parametrize("version", range(1, FORMAT_VERSION + 1))
def test_a_file_of_each_version(tools, version):
    path = FOLDER / f"version_{version}.safetensors"
    expected, found = model(), load(path)
    assert (RECORD in vars(found)) == (version > 2)
    if version < 3:
        delattr(expected, RECORD)
    else:
        # Parameters that were added later are not in its record.
        (call,), (kept,) = vars(expected)[RECORD], vars(found)[RECORD]
        parameters = {name: call.parameters[name] for name in kept.parameters}
        vars(expected)[RECORD] = [replace(call, parameters=parameters, arithmetic=kept.arithmetic)]
    if version < 5:
        del expected.loss_curve_
    assert tools.contents(found) == tools.contents(expected)
    assert describe(path)["format_version"] == version


def test_the_present_version_is_the_one_that_is_kept(tools, folder):
    """What is written now differs from the kept file by the versions of package and arithmetic at most."""
    old = tools.take_apart((FOLDER / f"version_{FORMAT_VERSION}.safetensors").read_bytes())
    new = tools.take_apart(folder.saved(model()))
    for document, _ in (old, new):
        for name in ("written_by", "sha256"):
            del document[name]
    # A parameter that was added later is in new files alone.
    for later, earlier in ((new[0], old[0]), (new[0]["calls"][0], old[0]["calls"][0])):
        later["parameters"] = {name: later["parameters"][name] for name in earlier["parameters"]}
        later["arithmetic_version"] = earlier["arithmetic_version"]
    assert new == old


DRAWN = np.random.default_rng(5)
X, Y = DRAWN.integers(-9, 10, (40, 3)) / 4, DRAWN.integers(0, 2, 40)
#: In version 1, ``BudgetedKernelPerceptron`` was ``KernelPerceptron`` with ``prediction="last"``, and the
#: reports of one decision had one axis less.
VERSION_1 = {
    "version_1_kernel": KernelPerceptron(gamma=0.5, track_mistakes=True, max_iter=3),
    "version_1_budget": BudgetedKernelPerceptron(gamma=0.5, budget=9, budget_policy="forgetron", max_iter=3),
}


@pytest.mark.parametrize("name", VERSION_1)
def test_what_version_1_wrote_otherwise(tools, tmp_path, name):
    expected, found = VERSION_1[name].fit(X, Y), load(FOLDER / f"{name}.safetensors")
    delattr(expected, RECORD)
    del expected.loss_curve_
    assert type(found) is type(expected)
    assert tools.bits(found.__getstate__()) == tools.bits(expected.__getstate__())
    assert found.mistakes_per_epoch_.shape == (found.n_iter_, 1)
    found.save(tmp_path / "again")
    expected.save(tmp_path / "expected")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "expected").read_bytes()
