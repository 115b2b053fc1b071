"""How columns are made of data (hashed, scaled, chosen), and that the model keeps it; what is held out.

That columns are those of scikit-learn's hashers is in ``tests/io`` (test_raw_text, test_csv,
test_text_columns), that scaled ones are those of its scalers in ``tests/models/test_scale.py``.
``test_told_once.py`` shows that every command makes the columns of the training.
"""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from perceptron_rs import Perceptron, load

from .support import X, Y, svmlight


@pytest.fixture
def texts(call, tmp_path):
    """A model of words."""

    def trained(lines):
        (tmp_path / "a.txt").write_text(lines)
        assert call("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", "--quiet").status == 0
        return tmp_path / "m"

    return trained


def test_scaled_and_held_out(call, refused, tmp_path):
    """The scaler does not see what is held out."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    path, model = tmp_path / "a.npz", tmp_path / "m"
    np.savez(path, X=A, y=b)
    argv = ("train", "perceptron", path, "--holdout", 0.1, "--scale", "standard", "--model", model, "--quiet")
    found, held = call(*argv, "--json").json["holdout"], np.arange(50) % 10 == 9
    scaler = StandardScaler().fit(A[~held])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = Perceptron().fit(scaler.transform(A[~held]), b[~held])
    errors = int((expected.predict(scaler.transform(A[held])) != b[held]).sum())
    assert found == {"n_samples": 5, "errors": errors, "accuracy": 1 - errors / 5}
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    assert f"holdout   accuracy {1 - errors / 5:.4f}, {errors} errors of 5 examples" in call(*argv).out
    scores = [float(line.split()[1]) for line in call("predict", model, path, "--scores").out.splitlines()]
    assert scores == expected.decision_function(scaler.transform(A)).tolist()
    assert call("reproduce", model, path).status == 0
    for more in ((), ("--stream",)):
        said = refused("train", path, "--holdout", 0.001, "--model", tmp_path / "none", *more, "--quiet")
        assert "of 50 examples it leaves none" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("learner", ["averaged", "multilayer"])
def test_a_model_goes_on(call, tmp_path, learner):
    rng = np.random.default_rng(1)
    path, one, again = tmp_path / "a.npz", tmp_path / "one", tmp_path / "again"
    A, b = rng.integers(-3, 4, (40, 3)), rng.integers(0, 2, 40)
    np.savez(path, X=A, y=b)
    assert call("train", learner, path, "--model", one, "--epochs", 1, "--tol", "none", "--quiet").status == 0
    before = one.read_bytes()
    assert call("train", learner, path, "--continue", one, "--model", again, "--quiet").status == 0
    expected = load(one).set_params(warm_start=True).fit(A, b)
    assert load(again).decision_function(A).tobytes() == expected.decision_function(A).tobytes()
    assert (load(again).max_iter, load(again).warm_start) == (1, False)
    assert one.read_bytes() == before


def test_what_a_line_of_text_is(call, refused, stdin, texts):
    """A text that holds a tab loses nothing; a label is one that the model knows, or that an option names."""
    model = texts("ham\tmilk bread\nspam\twin money\nham\tbread\nspam\tmoney now\n")

    def scores(text, *options):
        stdin(text)
        answer = call("predict", model, "-", "--scores", *options)
        assert answer.status == 0, answer.err
        return answer.out

    plain = scores(b"win money\nmilk\n")
    assert scores(b"ham\twin money\nspam\tmilk\n") == plain
    assert scores(b"?\twin money\n?\tmilk\n", "--labelled") == plain
    assert scores(b"win\tmoney\nmilk\n", "--unlabelled") == plain
    assert scores(b"ham\twin\n", "--unlabelled") == scores(b"ham win\n")
    assert scores(b"ham\twin\tnow\n") == scores(b"win now\n")  # a tab within the text
    for text, options, message in (
        (b"win\tmoney\n", (), "line 1 has a tab, and 'win' before it is none of the model's classes; say"),
        (b"milk\nham\tmoney\n", (), "line 2 has a label, unlike the lines before"),
        (b"ham\tmoney\nmilk\n", (), "line 2 has no label, unlike the lines before"),
        (b"ham\tmoney\nmilk\n", ("--labelled",), "line 2 has no tab"),
    ):
        stdin(text)
        assert message in refused("predict", model, "-", *options)


def test_other_formats_with_and_without_labels(call, stdin, model):
    text = svmlight(X, Y)
    bare = "".join(line.partition(" ")[2] + "\n" for line in text.splitlines())
    rows = "a,b,c\n" + "".join(",".join(map(repr, row)) + "\n" for row in X.tolist())
    pytest.importorskip("pyarrow")

    def predict(given, *options):
        stdin(given.encode())
        return call("predict", model, "-", "--scores", *options)

    expected = predict(text).out
    for given, *options in ((text, "--labelled"), (bare, "--unlabelled"), (bare,)):
        assert predict(given, *options).out == expected
    assert predict(rows, "--format", "csv", "--unlabelled").out == expected
    for given, *options in (
        (text, "--unlabelled"),
        (bare, "--labelled"),
        (rows, "--labelled", "--format", "csv"),
    ):
        assert predict(given, *options).status == 1


def test_raw_text_without_its_option(refused, stdin, model, tmp_path):
    (tmp_path / "a.txt").write_text("ham\tmilk bread\nspam\twin money\n")
    for stream in ((), ("--stream",)):
        said = refused("train", tmp_path / "a.txt", "--model", tmp_path / "m", *stream)
        assert said.startswith(f'{tmp_path}/a.txt, line 1, column 1: "ham" is not a number, as the label of')
        assert "say --text" in said
    stdin((tmp_path / "a.txt").read_bytes())
    assert "say --text" in refused("evaluate", model, "-")


def test_a_model_of_chosen_columns_reads_tables_alone(call, refused, tmp_path):
    """What the columns of another format mean, nobody knows."""
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("c,x,y\nr,1,a\ng,2,b\nr,3,a\ng,4,b\n")
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n")
    argv = ("train", tmp_path / "a.csv", "--hash-bits", 4, "--model", tmp_path / "m", "--quiet")
    assert call(*argv).status == 0
    for command in ("predict", "evaluate", "online", "reproduce"):
        said = refused(command, tmp_path / "m", tmp_path / "a.svm", "--quiet", status=2)
        assert "the columns of the model were chosen from a table, and" in said
