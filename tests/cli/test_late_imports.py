"""A process of ours loads late what scikit-learn hardly ever calls; other processes are left alone."""

from .support import script

CODE = """
import sys
from importlib.util import find_spec
from perceptron_rs.cli import main

SLOW = ("scipy.special._ufuncs", "scipy.stats._stats_py", "pandas.core")
assert main() == 0
loaded = [name for name in SLOW if name in sys.modules]
from sklearn import __version__
assert not loaded or tuple(map(int, __version__.split(".")[:2])) < (1, 9), loaded
import scipy.special, scipy.stats
assert (scipy.special.expit(0.0), *scipy.stats.rankdata([3, 1])) == (0.5, 2, 1)
if find_spec("pandas"):
    from sklearn.utils.fixes import pd
    assert pd.DataFrame({"a": [1]}).shape == (1, 1)
"""
CALLED = """
import sys
from perceptron_rs.cli import main
finders = list(sys.meta_path)
assert main(sys.argv[1:]) == 0 and sys.meta_path == finders
"""


def test_training_texts_loads_neither_statistics_nor_pandas(tmp_path):
    (tmp_path / "a.ft").write_text("__label__a buy now\n__label__b see you\n")
    argv = ["train", tmp_path / "a.ft", "--tf-idf", "--quiet", "--model", tmp_path / "m"]
    done = script(CODE, *map(str, argv))
    assert (done.status, done.err) == (0, "")


def test_a_process_of_somebody_else_imports_as_it_does(tmp_path):
    done = script(CALLED, "--version")
    assert (done.status, done.err) == (0, "")
