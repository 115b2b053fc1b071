"""A process of ours loads late or never what takes long to import; others are left alone."""

import pytest

from .support import script

CODE = """
import sys
from perceptron_rs.cli import main

SLOW = ("scipy.special._ufuncs", "scipy.stats._stats_py", "numpy.f2py.f2py2e", "asyncio.base_events")
SLOW += ("pandas", "psutil", "rich")
assert main() == 0
heavy = {"sklearn", "scipy", "joblib", "numpy.ma", "numpy.random"} & sys.modules.keys()
assert not heavy, heavy
import sklearn.base
loaded = [name for name in SLOW if name in sys.modules]
from sklearn import __version__
assert not loaded or tuple(map(int, __version__.split(".")[:2])) < (1, 9), loaded
import numpy, scipy.special, scipy.stats
assert (scipy.special.expit(0.0), *scipy.stats.rankdata([3, 1])) == (0.5, 2, 1)
numpy.testing.assert_equal(numpy.polynomial.Polynomial([1, 2])(2), 5)
"""
CALLED = """
import gc, sys
from perceptron_rs.cli import main
finders = list(sys.meta_path)
assert main(sys.argv[1:]) == 0 and sys.meta_path == finders and gc.get_freeze_count() == 0
"""
ENDING = """
import gc
from perceptron_rs.cli import main
assert main() == 0 and gc.get_freeze_count() > 10_000
"""


def test_the_end_looks_through_nothing_for_garbage():
    assert script(ENDING, "--version").status == 0


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("a.ft", "__label__a buy now\n__label__b see you\n", ("--tf-idf",)),
        (
            "a.csv",
            "text,n,label\n" + "buy now,1,a\nsee you,2,b\n" * 3,
            ("--text-columns", "text", "--scale", "maxabs", "--holdout", "0.3"),
        ),
    ],
)
def test_training_loads_no_other_learners_nor_pandas(tmp_path, name, data, options):
    (tmp_path / name).write_text(data)
    argv = ["train", tmp_path / name, *options, "--quiet", "--model", tmp_path / "m"]
    done = script(CODE, *map(str, argv))
    assert (done.status, done.err) == (0, "")


def test_a_process_of_somebody_else_imports_as_it_does(tmp_path):
    done = script(CALLED, "--version")
    assert (done.status, done.err) == (0, "")
