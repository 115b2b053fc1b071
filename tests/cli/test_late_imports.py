"""A process of ours loads late or never what takes long to import; others are left alone."""

import json
import sys

import pytest

from .support import X, Y, process, script, svmlight

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
EACH = """
import json, sys
from perceptron_rs.cli import main
for argv in json.loads(sys.argv[1]):
    sys.argv[1:] = argv
    print(main())
"""
#: Commands that make estimators, and what they refuse of these.
COMMANDS = """
train averaged a.svm --scale standard --holdout 0.3 --calibrate 0.2 --model m --quiet
train a.svm --model n --quiet
train perceptron a.svm --early-stopping --max-iter 0 --model o --quiet
train perceptron a.svm --early-stopping --validation-fraction 0.4 --class-weight balanced --model o --quiet
train perceptron a.svm --step pa1 --stream --model o --quiet
train multilayer a.svm --batch-size 2 --model p --quiet
train kernel a.svm --kernel rbf --gamma 0.5 --model q --quiet
train averaged a.svm --continue m --quiet
predict m a.svm --probabilities
predict p a.svm
evaluate q a.svm
online n a.svm --quiet
inspect m
reproduce n a.svm
separable a.svm
margin a.svm
tag-train a.tsv --model t --quiet
tag-evaluate t a.tsv
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


def test_a_process_of_ours_answers_as_the_function_does(call, tmp_path, monkeypatch):
    argvs = [line.split() for line in COMMANDS.split("\n") if line]
    folders = [tmp_path / name for name in ("function", "process")]
    for folder in folders:
        folder.mkdir()
        (folder / "a.svm").write_text(svmlight(X, Y) * 3)
        (folder / "a.tsv").write_text("The\tD\ndog\tN\n\nA\tD\ncat\tN\n" * 2)
    done = process(line=[sys.executable, "-c", EACH, json.dumps(argvs)], cwd=folders[1])
    monkeypatch.chdir(folders[0])
    answers = [call(*argv) for argv in argvs]
    out = "".join(f"{answer.out}{answer.status:d}\n" for answer in answers)
    told, said = (
        [line for line in text.splitlines() if not line.startswith("seconds")] for text in (done.out, out)
    )
    assert (told, done.err) == (said, "".join(answer.err for answer in answers))
    assert {answer.status for answer in answers} == {0, 2}
    files = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert files[0] == files[1]
    assert len(files[0]) > 8
