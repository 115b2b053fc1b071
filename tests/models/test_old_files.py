"""Files of every format version that was released are read for ever: one of each is kept here.

``version_1.safetensors`` was written by ``model().save``. It is never written anew: a change of what
a file holds raises ``FORMAT_VERSION``, and a file of the new version joins this one.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from perceptron_rs import AveragedPerceptron, load
from perceptron_rs.models import describe
from perceptron_rs.models.container import FORMAT_VERSION

FOLDER = Path(__file__).parent


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
    assert tools.contents(load(path)) == tools.contents(model())
    assert describe(path)["format_version"] == version


def test_the_present_version_is_the_one_that_is_kept(tools, folder):
    """What is written now differs from the kept file by the name of its writer at most."""
    old = tools.take_apart((FOLDER / f"version_{FORMAT_VERSION}.safetensors").read_bytes())
    new = tools.take_apart(folder.saved(model()))
    for document, _ in (old, new):
        for name in ("written_by", "sha256"):
            del document[name]
    # A parameter that was added later is in new files alone.
    new[0]["parameters"] = {name: new[0]["parameters"][name] for name in old[0]["parameters"]}
    assert new == old
